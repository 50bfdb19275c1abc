/* Sorts byte strings by their bytes, a prefix before what it begins; equal texts by
 * id. ALGORITHM: the first eight bytes of each string as one big-endian number; bottom-up
 * merge sort over (number, rest, id), so O(n log n) comparisons on any input, no
 * recursion. The strings must not hold NUL bytes (a short one is padded with them). */
#ifndef ISOTOK_BUILD_SORT_H
#define ISOTOK_BUILD_SORT_H

#include "work.h"

typedef struct isotok__sort_item {
    uint64_t prefix;    /* first eight bytes, big-endian, NUL-padded */
    uint32_t begin;     /* of the string in the pool */
    uint32_t id;
} isotok__sort_item;

static inline uint64_t isotok__prefix_of(const uint8_t *text, size_t size)
{
    uint64_t prefix = 0;
    for (size_t i = 0; i < 8 && i < size; i++) {
        prefix |= (uint64_t)text[i] << (56 - 8 * i);
    }
    return prefix;
}

/* Sorts `items` in place; `spare` has room for as many. String of an item =
 * pool[begin .. ends[id]). */
void isotok__sort(isotok__sort_item *items, isotok__sort_item *spare, size_t count,
                  const uint8_t *pool, const uint32_t *ends);

/* Whether two items are the same string. */
bool isotok__sort_same(const isotok__sort_item *a, const isotok__sort_item *b,
                       const uint8_t *pool, const uint32_t *ends);

#endif
