/* Darts arrays, as SentencePiece Lite reads them: 32-bit units, bits 0-7 label, 8 "a key ends
 * here", 9 "offset times 256", 10-30 offset, 31 value unit. Child of slot p by byte c: slot
 * p ^ offset ^ c, if its label is c and it is no value; value of p: the unit at p ^ offset. */
#ifndef ISOTOK_BUILD_DARTS_H
#define ISOTOK_BUILD_DARTS_H

#include "double_array.h"

#define ISOTOK__DARTS_VALUE 0x80000000u

typedef struct isotok__darts {
    uint32_t *units;
    uint32_t count; /* a multiple of 256; 0 without keys */
} isotok__darts;

/* `keys`: sorted, distinct, without NUL bytes; key i has values[i] < 2^31 (NULL: 0). Its value
 * unit is at isotok__darts_leaf. */
isotok_status isotok__darts_build(isotok__work *work, const isotok__keys *keys,
                                  const uint32_t *values, isotok__darts *out);

/* Slot that `text` leads to from the root; 0 if it leads to none. */
uint32_t isotok__darts_walk(const isotok__darts *darts, const uint8_t *text, size_t size);

/* Slot of the value of the key that ends at `slot`. */
static inline uint32_t isotok__darts_leaf(const isotok__darts *darts, uint32_t slot)
{
    return slot ^ isotok__darts_offset(darts->units[slot]);
}

#endif
