/* Any bytes as a blob. The first byte chooses the level of checks; the header's size and
 * checksum are made to fit, so that mutations reach what lies behind. A blob that opens must
 * survive everything one can do with it. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    isotok_error error;
    if (size < 2) {
        return 0;
    }
    uint8_t *blob = malloc(size - 1);
    if (blob == NULL) {
        return 0;
    }
    memcpy(blob, data + 1, size - 1);
    if ((data[0] & 2) == 0) {
        fix_header(blob, size - 1);
    }
    exercise_blob(blob, size - 1, data[0] & 1 ? ISOTOK_VERIFY_FULL : ISOTOK_VERIFY_SAFE, &error);
    free(blob);
    return 0;
}
