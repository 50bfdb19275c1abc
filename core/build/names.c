/* Texts for numbers, from the lists in isotok.h and blob_gen.h. */
#include "blob_gen.h"
#include "isotok_build.h"

static const char *status_name(int32_t number)
{
    switch (number) {
#define ISOTOK_X(name, value, text) \
    case value: return text;
        ISOTOK_STATUS_MAP(ISOTOK_X)
    default: return "";
    }
}

static const char *what_name(int32_t number)
{
    switch (number) {
        ISOTOK_WHAT_MAP(ISOTOK_X)
    default: return "";
    }
}
#undef ISOTOK_X

static const char *feature_name(int32_t number)
{
    switch (number) {
#define ISOTOK_X(name, value, text) \
    case value: return text;
        ISOTOK__FEATURE_MAP(ISOTOK_X)
#undef ISOTOK_X
    default: return "";
    }
}

const char *isotok_build_name(uint32_t kind, int32_t number)
{
    switch (kind) {
    case ISOTOK_NAME_STATUS: return status_name(number);
    case ISOTOK_NAME_WHAT: return what_name(number);
    case ISOTOK_NAME_FEATURE: return feature_name(number);
    default: return "";
    }
}
