/* L2: text that is normalized already (flag NORMALIZED): canonical text in, the same window of
 * internal text and offset map out as the normalizer gives.
 *
 * Where the model can be cut or writes U+2581 as one byte, the text must be what the normalizer
 * writes: well-formed, and without the byte 0x20 where that is the internal U+2581. Else
 * (pieces or replacements that are ill-formed: never cut) any bytes are taken as they are. */
#ifndef ISOTOK_NORMALIZED_H
#define ISOTOK_NORMALIZED_H

#include "normalize.h"

/* Beside ISOTOK__NORM_DONE and ISOTOK__NORM_FULL. */
enum { ISOTOK__NORM_REFUSED = 2 };

/* Bytes of the character at canonical text[0..size), size > 0; 0: no model text has it. */
uint32_t isotok__canonical_size(const struct isotok_model *model, const uint8_t *text, size_t size);

/* Whether the `size` bytes of a character are U+2581 and internal text has them as 0x20. */
static inline bool isotok__is_compacted(const struct isotok_model *model, const uint8_t *text,
                                        uint32_t size)
{
    return size == 3 && model->space_size == 1 && memcmp(text, "\xE2\x96\x81", 3) == 0;
}

/* As isotok__normalizer_run, in `n` after isotok__normalizer_begin. Unless `last`, a character
 * that is not complete stays unread. REFUSED: n->bytes is where the text cannot be read. All
 * of the window is settled. */
int isotok__normalized_run(const struct isotok_model *model, struct isotok__normalizer *n,
                           const uint8_t *text, size_t size, size_t *position, bool last,
                           struct isotok__window *window);

#endif
