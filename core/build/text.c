/* Piece text: see text.h. */
#include "text.h"

bool isotok__well_formed(const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        uint32_t point;
        uint32_t scalar = isotok__scalar(text + i, size - i, &point);
        if (scalar == 0) {
            return false;
        }
        i += scalar;
    }
    return true;
}

size_t isotok__to_internal(const uint8_t *piece, size_t size, bool compact, uint8_t *out)
{
    size_t written = 0;
    for (size_t i = 0; i < size;) {
        if (compact && piece[i] == 0xE2 && size - i >= 3 && piece[i + 1] == 0x96 &&
            piece[i + 2] == 0x81) {
            out[written++] = 0x20;
            i += 3;
        } else {
            out[written++] = piece[i++];
        }
    }
    return written;
}
