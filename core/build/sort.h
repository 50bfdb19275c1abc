/* Sorts byte strings by their bytes, a prefix before what it begins; equal strings stay
 * in the order they came in.
 *
 * ALGORITHM   Eight bytes of each string at a time as one big-endian number. A run of
 *   strings is sorted by that number (radix sort, insertion sort where short); then each
 *   run of equal numbers is sorted by the next eight bytes. Runs wait in a list: no
 *   recursion.
 * COMPLEXITY  O(bytes of all strings), whatever they are; each string's bytes are read once.
 * The strings must not hold NUL bytes (a short one is padded with them). */
#ifndef ISOTOK_BUILD_SORT_H
#define ISOTOK_BUILD_SORT_H

#include "work.h"

typedef struct isotok__sort_item {
    uint64_t number; /* for the sort only */
    uint32_t begin;  /* of the string in the pool */
    uint32_t id;
} isotok__sort_item;

/* Bytes of temp memory that sorting so many takes. */
size_t isotok__sort_memory(uint32_t count);

/* Sorts `items` by pool[begin .. ends[id]). NEED_SCRATCH where `work` is too small. */
isotok_status isotok__sort(isotok__work *work, isotok__sort_item *items, uint32_t count,
                           const uint8_t *pool, const uint32_t *ends);

#endif
