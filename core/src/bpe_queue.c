/* L2: the priority queue of long BPE chunks. See bpe_queue.h. */
#include "bpe_queue.h"

#define NONE 0xFFFFFFFFu
#define NO_LISTS 0xFFFFFFFFu /* lists_used: they are not used, and need not be clear */

/* ---- The heap ----------------------------------------------------------------------- */

/* With the root at index 3 four siblings share a cache line. Children of i: 4 * (i - 2) .. + 3. */
#define HEAP_ROOT 3u

static void heap_push(struct isotok__queue *q, uint64_t entry)
{
    uint64_t *heap = q->entries;
    uint32_t i = q->heap_end++;
    while (i > HEAP_ROOT) {
        uint32_t parent = i / 4 + 2;
        if (heap[parent] <= entry) break;
        heap[i] = heap[parent];
        i = parent;
    }
    heap[i] = entry;
}

static void heap_pop(struct isotok__queue *q)
{
    uint64_t *heap = q->entries, last = heap[--q->heap_end];
    uint32_t i = HEAP_ROOT, child, k;
    while ((child = 4 * (i - 2)) < q->heap_end) {
        uint32_t best = child, stop = q->heap_end - child < 4 ? q->heap_end : child + 4;
        for (k = child + 1; k < stop; k++) best = heap[k] < heap[best] ? k : best;
        if (heap[best] >= last) break;
        heap[i] = heap[best];
        i = best;
    }
    heap[i] = last;
}

/* ---- Lists by rank ------------------------------------------------------------------ */

static struct isotok__queue_item *item_at(const struct isotok__queue *q, uint32_t index)
{
    return (struct isotok__queue_item *)(void *)(q->entries + q->capacity - 1 - index);
}

/* The list of `rank`, made if there is room; else NULL. */
static struct isotok__queue_list *find_list(struct isotok__queue *q, uint32_t rank)
{
    uint32_t i = rank * 0x9E3779B1u >> 8;
    if (q->lists_used == NO_LISTS) return NULL;
    for (;; i++) {
        struct isotok__queue_list *list = &q->lists[i % ISOTOK__QUEUE_LISTS];
        if (list->key == rank + 1) return list;
        if (list->key != 0) continue;
        if (q->lists_used == ISOTOK__QUEUE_LISTS / 2) return NULL;
        list->key = rank + 1;
        list->front = list->head = NONE;
        q->lists_used++;
        return list;
    }
}

static void append(struct isotok__queue *q, struct isotok__queue_list *list, uint32_t symbol)
{
    uint32_t index = q->free_item;
    struct isotok__queue_item *item;
    if (index == NONE) index = q->items_used++;
    item = item_at(q, index);
    if (index == q->free_item) q->free_item = item->next;
    item->symbol = symbol;
    item->next = NONE;
    *(list->head == NONE ? &list->head : &item_at(q, list->tail)->next) = index;
    list->tail = index;
}

/* The entry in the heap was popped: the next one takes its place there. */
static void advance(struct isotok__queue *q, struct isotok__queue_list *list)
{
    const uint32_t index = list->head;
    struct isotok__queue_item *item = item_at(q, index);
    list->front = NONE;
    if (index == NONE) return;
    list->front = item->symbol;
    list->head = item->next;
    item->next = q->free_item;
    q->free_item = index;
    heap_push(q, (uint64_t)(list->key - 1) << 32 | list->front);
}

/* ---- Both ----------------------------------------------------------------------------- */

void isotok__queue_begin(struct isotok__queue *q, uint32_t symbols)
{
    q->heap_end = HEAP_ROOT;
    q->items_used = 0;
    q->free_item = NONE;
    q->lists_used = NO_LISTS;
    if (symbols >= ISOTOK__QUEUE_LONG) {
        memset(q->lists, 0, ISOTOK__QUEUE_LISTS * sizeof *q->lists);
        q->lists_used = 0;
    }
}

void isotok__queue_push(struct isotok__queue *q, uint32_t rank, uint32_t symbol)
{
    struct isotok__queue_list *list = find_list(q, rank);
    if (list != NULL && list->front != NONE &&
        symbol > (list->head == NONE ? list->front : item_at(q, list->tail)->symbol)) {
        append(q, list, symbol);
        return;
    }
    if (list != NULL && list->front == NONE) list->front = symbol;
    heap_push(q, (uint64_t)rank << 32 | symbol);
}

bool isotok__queue_pop(struct isotok__queue *q, uint64_t *out_entry)
{
    struct isotok__queue_list *list;
    if (q->heap_end == HEAP_ROOT) return false;
    *out_entry = q->entries[HEAP_ROOT];
    heap_pop(q);
    list = find_list(q, (uint32_t)(*out_entry >> 32));
    if (list != NULL && list->front == (uint32_t)*out_entry) advance(q, list);
    return true;
}
