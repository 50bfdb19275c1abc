/* L2: the priority queue of long BPE chunks: smallest rank first, leftmost among equals.
 *
 * ALGORITHM   A heap with four children per entry. Text that repeats itself (a megabyte of one letter)
 *             offers the same few ranks over and over, from left to right: those go to one
 *             first-in-first-out list per rank instead, of which only the first entry is in the
 *             heap: that stays small, where a heap of millions of entries misses the cache at
 *             every level. What does not fit this pattern (an earlier position, too many
 *             ranks) goes to the heap.
 * COMPLEXITY  O(log n) a push or pop. */
#ifndef ISOTOK_BPE_QUEUE_H
#define ISOTOK_BPE_QUEUE_H

#include "base.h"

#define ISOTOK__QUEUE_LISTS 4096u /* slots of the hash table of lists */
#define ISOTOK__QUEUE_LONG 2048u  /* fewer symbols than this use the heap alone */

/* The entries of one rank, of ascending symbols: `front` is in the heap, what follows it are
 * items; 0xFFFFFFFF: none. */
struct isotok__queue_list {
    uint32_t key; /* rank + 1; 0: a free list */
    uint32_t front, head, tail;
};

/* An entry of a list. Free ones are linked too. */
struct isotok__queue_item {
    uint32_t symbol, next;
};

struct isotok__queue {
    uint64_t *entries; /* heap from the front, list items from the back */
    uint32_t capacity; /* entries */
    uint32_t heap_end;
    uint32_t items_used, free_item;
    struct isotok__queue_list *lists; /* [ISOTOK__QUEUE_LISTS] by hash of the rank */
    uint32_t lists_used;
};

/* Entries that a chunk of `symbols` can need: at most 3 * symbols are ever pushed. */
static inline size_t isotok__queue_entries(size_t symbols)
{
    return 3 * symbols + 8;
}

/* Empties the queue for a chunk of `symbols`. Lists are used only for long chunks. */
void isotok__queue_begin(struct isotok__queue *queue, uint32_t symbols);
void isotok__queue_push(struct isotok__queue *queue, uint32_t rank, uint32_t symbol);
/* Pops the first entry as rank << 32 | symbol; false if there is none. */
bool isotok__queue_pop(struct isotok__queue *queue, uint64_t *out_entry);

#endif
