/* L2: where internal text may be cut: between two characters that are adjacent inside no
 * piece (FORMAT.md §6). The set may hold more pairs than occur; a missed cut only costs
 * time. */
#ifndef ISOTOK_CUTS_H
#define ISOTOK_CUTS_H

#include "blob.h"
#include "utf8.h"

#define ISOTOK__NO_CHAR 0xFFFFFFFFu /* in front of the first: not ASCII */

/* A character as the number of its bytes, big-endian. */
static inline ISOTOK_COLD uint32_t isotok__char_key(const uint8_t *text, uint32_t size)
{
    uint32_t key = text[0], i;
    for (i = 1; i < size; i++) key = key << 8 | text[i];
    return key;
}

/* isotok__char_key without a loop: four bytes are readable. */
ISOTOK_INLINE uint32_t isotok__char_key_at(const uint8_t *text, uint32_t size)
{
    const uint32_t key =
        (uint32_t)text[0] << 24 | (uint32_t)text[1] << 16 | (uint32_t)text[2] << 8 | text[3];
    return key >> (32 - 8 * size);
}

/* Whether the pair (a, b) may occur inside a piece. */
ISOTOK_INLINE bool isotok__pair_occurs(const uint64_t *set, uint32_t shift, uint32_t a, uint32_t b)
{
    uint32_t h;
    if ((a | b) < 0x80) {
        h = a << 7 | b;
    } else {
        h = (a * 0x9E3779B1u) ^ (b * 0x85EBCA77u);
        h = (h ^ h >> 15) * 0x2C1B3C6Du;
        h = (ISOTOK_PAIR_ASCII_WORDS << 6) + (h >> shift);
    }
    return set[h >> 6] >> (h & 63) & 1;
}

/* The same, for what need not be fast. */
static inline ISOTOK_COLD bool isotok__may_join(const isotok_model *model, uint32_t a, uint32_t b)
{
    return isotok__pair_occurs(model->blob.pair_set, model->pair_shift, a, b);
}

/* The last cut in text[0..size) after its first character, or 0 if there is none; `size` is
 * the end of a character. It is known that no position below `searched` is a cut: without that, a
 * long stretch without one would be searched again for every part of a stream. */
uint32_t isotok__last_cut(const isotok_model *model, const uint8_t *text, uint32_t size,
                          uint32_t searched);

#endif
