/* Any bytes as a model file (`.model` or packed). What the compiler accepts must open with
 * full verification and work; the packed form must give the same blob. */
#include <stdlib.h>
#include <string.h>

#include "blob_gen.h"
#include "exercise.h"
#include "make_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_same_through_packed(const uint8_t *data, size_t size)
{
    isotok_error error;
    uint8_t *packed = NULL, *direct = NULL, *through = NULL;
    size_t packed_size, direct_size, through_size;
    REQUIRE(build_source(data, size, ISOTOK_FORM_PACKED, &packed, &packed_size, &error) ==
            ISOTOK_OK);
    REQUIRE(build_source(data, size, ISOTOK_FORM_BLOB, &direct, &direct_size, &error) == ISOTOK_OK);
    REQUIRE(build_source(packed, packed_size, ISOTOK_FORM_BLOB, &through, &through_size, &error) ==
            ISOTOK_OK);
    REQUIRE(direct_size == through_size && memcmp(direct, through, direct_size) == 0);
    free(packed);
    free(direct);
    free(through);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    isotok_error error;
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
    if (exercise_source(source, size, &error) == ISOTOK_OK) {
        require_same_through_packed(source, size);
    }
    free(source);
    return 0;
}
