/* Sorts byte strings by their bytes, a prefix before what it begins, and equal ones by their ids.
 *
 * ALGORITHM   Quick sort by the first eight bytes as one big-endian number, then by the others;
 *   the median of three, and a heap where that does badly. In place: the items of a vocabulary
 *   are a large part of what compiling it takes.
 * COMPLEXITY  O(n log n) comparisons. */
#ifndef ISOTOK_BUILD_SORT_H
#define ISOTOK_BUILD_SORT_H

#include "work.h"

typedef struct isotok__sort_item {
    uint64_t number; /* for the sort only */
    uint32_t begin;  /* of the string in the pool */
    uint32_t id;
} isotok__sort_item;

/* Sorts `items` by pool[begin .. ends[id]). */
void isotok__sort(isotok__sort_item *items, uint32_t count, const uint8_t *pool,
                  const uint32_t *ends);

#endif
