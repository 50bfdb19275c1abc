/* Any bytes as a model file (`.model`, `.spm.fb` or packed), of odd sizes for sentencepiece 0.2.1.
 * What the compiler accepts must open with full verification and work; the other forms must give a
 * blob again, and those that lose nothing the same. */
#include <stdlib.h>
#include <string.h>

#include "blob_gen.h"
#include "exercise.h"
#include "make_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The kind of source that gives this blob again. */
static uint32_t kind_of(const uint8_t *blob)
{
    bool is_0_2_1 = blob[ISOTOK__HEADER_FEATURES + ISOTOK__FEATURE_SENTENCEPIECE_0_2_1 / 8] >>
                        ISOTOK__FEATURE_SENTENCEPIECE_0_2_1 % 8 &
                    1;
    return ISOTOK_SOURCE_AUTO | (is_0_2_1 ? (uint32_t)ISOTOK_SOURCE_0_2_1 : 0);
}

/* The blob by way of another form; `same`: as `direct`. */
static void require_through(const uint8_t *data, size_t size, uint32_t form, const uint8_t *direct,
                            size_t direct_size, bool same)
{
    uint32_t kind = kind_of(direct);
    isotok_error error = {.size = sizeof error};
    uint8_t *other = NULL, *through = NULL;
    size_t other_size = 0, through_size = 0;
    isotok_status status = build_source_as(kind, data, size, form, &other, &other_size, &error);
    if (status == ISOTOK_OK) {
        status = build_source_as(kind, other, other_size, ISOTOK_FORM_BLOB, &through, &through_size,
                                 &error);
        REQUIRE(status == ISOTOK_OK);
        REQUIRE(!same ||
                (direct_size == through_size && memcmp(direct, through, direct_size) == 0));
    } else {
        REQUIRE(status == ISOTOK_E_UNSUPPORTED && form != ISOTOK_FORM_PACKED);
        REQUIRE(isotok_build_name(ISOTOK_NAME_WHAT, (int32_t)error.what)[0] != 0);
    }
    free(other);
    free(through);
}

static void require_same_through_forms(const uint8_t *data, size_t size, uint32_t kind)
{
    isotok_error error = {.size = sizeof error};
    uint8_t *direct = NULL;
    size_t direct_size;
    REQUIRE(build_source_as(kind, data, size, ISOTOK_FORM_BLOB, &direct, &direct_size, &error) ==
            ISOTOK_OK);
    bool keeps_parity = direct[ISOTOK__HEADER_PARITY] == ISOTOK_PARITY_SENTENCEPIECE;
    require_through(data, size, ISOTOK_FORM_PACKED, direct, direct_size, true);
    require_through(data, size, ISOTOK_FORM_SENTENCEPIECE, direct, direct_size, keeps_parity);
    require_through(data, size, ISOTOK_FORM_SPM_FB, direct, direct_size, false);
    require_through(direct, direct_size, ISOTOK_FORM_BLOB, direct, direct_size, true);
    free(direct);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    isotok_error error;
    uint32_t kind = ISOTOK_SOURCE_AUTO | (size % 2 != 0 ? (uint32_t)ISOTOK_SOURCE_0_2_1 : 0);
    uint8_t *source = malloc(size > 0 ? size : 1);
    if (source == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(source, data, size);
    }
    if (size >= ISOTOK__HEADER_SIZE && memcmp(source, "ISTK", 4) == 0) {
        fix_header(source, size);
    }
    if (exercise_source(source, size, kind, &error) == ISOTOK_OK) {
        require_same_through_forms(source, size, kind);
    }
    free(source);
    return 0;
}
