/* On a big-endian host: opening a blob and starting a build are refused by name, before
 * anything is read as a number. */
#include <stdlib.h>
#include <string.h>

#include "make_model.h"

static void check_open(void)
{
    uint8_t *blob = aligned_memory(4096);
    size_t view_size = isotok_model_size();
    void *view = aligned_memory(view_size);
    const isotok_model *model = NULL;
    isotok_error error = {.size = sizeof error};

    /* A header as a little-endian machine writes it. */
    memset(blob, 0, 4096);
    memcpy(blob, "ISTK\x01\0\0\0\0\x10\0\0\0\0\0\0", 16);
    CHECK(isotok_model_open(blob, 4096, ISOTOK_VERIFY_SAFE, view, view_size, &model, &error) ==
          ISOTOK_E_UNSUPPORTED);
    CHECK(error.what == ISOTOK_WHAT_ENDIAN);
    CHECK(strlen(isotok_name(ISOTOK_NAME_WHAT, (int32_t)error.what)) > 20);
    free(view);
    free(blob);
}

static void check_build(void)
{
    void *memory = aligned_memory(1u << 16);
    isotok_build *build = NULL;
    isotok_error error = {.size = sizeof error};

    CHECK(isotok_build_init(memory, 1u << 16, &build, &error) == ISOTOK_E_UNSUPPORTED);
    CHECK(error.what == ISOTOK_WHAT_ENDIAN);
    free(memory);
}

int main(void)
{
    check_open();
    check_build();
    return test_result();
}
