/* Small things about piece text: well-formedness, the internal form. */
#ifndef ISOTOK_BUILD_TEXT_H
#define ISOTOK_BUILD_TEXT_H

#include "utf8.h"

/* Unicode table 3-7: no overlong form, no surrogate, at most U+10FFFF. */
bool isotok__well_formed(const uint8_t *text, size_t size);

/* Copies a piece to `out` in internal text; with `compact`, U+2581 becomes 0x20.
 * Returns the bytes written, at most `size`. */
size_t isotok__to_internal(const uint8_t *piece, size_t size, bool compact, uint8_t *out);

#endif
