/* L2: the priority queue of long BPE chunks. See bpe_queue.h. */
#include "bpe_queue.h"

#define NONE 0xFFFFFFFFu

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
    if (q->lists == NULL) return NULL;
    for (;; i++) {
        struct isotok__queue_list *list = &q->lists[i % ISOTOK__QUEUE_LISTS];
        if (list->used && list->rank == rank) return list;
        if (list->used) continue;
        if (q->lists_used == ISOTOK__QUEUE_LISTS / 2) return NULL;
        list->used = 1;
        list->rank = rank;
        list->head = list->tail = NONE;
        q->lists_used++;
        return list;
    }
}

static uint32_t rank_of(const struct isotok__queue *q, uint32_t order)
{
    return q->lists[q->order[order]].rank;
}

static void order_add(struct isotok__queue *q, uint32_t list)
{
    uint32_t i = ++q->order_count, rank = q->lists[list].rank;
    while (i > 1 && rank_of(q, i / 2) > rank) {
        q->order[i] = q->order[i / 2];
        i /= 2;
    }
    q->order[i] = list;
}

static void order_remove_first(struct isotok__queue *q)
{
    uint32_t last = q->order[q->order_count--], i = 1, child, rank = q->lists[last].rank;
    while ((child = 2 * i) <= q->order_count) {
        if (child < q->order_count && rank_of(q, child + 1) < rank_of(q, child)) child++;
        if (rank_of(q, child) >= rank) break;
        q->order[i] = q->order[child];
        i = child;
    }
    q->order[i] = last;
}

static uint32_t new_item(struct isotok__queue *q, uint32_t symbol)
{
    uint32_t index = q->free_item;
    if (index != NONE)
        q->free_item = item_at(q, index)->next;
    else
        index = q->items_used++;
    item_at(q, index)->symbol = symbol;
    item_at(q, index)->next = NONE;
    return index;
}

static bool list_push(struct isotok__queue *q, uint32_t rank, uint32_t symbol)
{
    struct isotok__queue_list *list = find_list(q, rank);
    uint32_t index;
    if (list == NULL) return false;
    if (list->head != NONE && item_at(q, list->tail)->symbol >= symbol) return false;
    index = new_item(q, symbol);
    if (list->head == NONE) {
        list->head = index;
        order_add(q, (uint32_t)(list - q->lists));
    } else {
        item_at(q, list->tail)->next = index;
    }
    list->tail = index;
    return true;
}

static void list_pop(struct isotok__queue *q)
{
    struct isotok__queue_list *list = &q->lists[q->order[1]];
    struct isotok__queue_item *item = item_at(q, list->head);
    uint32_t index = list->head;
    list->head = item->next;
    item->next = q->free_item;
    q->free_item = index;
    if (list->head == NONE) order_remove_first(q);
}

/* ---- Both ----------------------------------------------------------------------------- */

void isotok__queue_begin(struct isotok__queue *q, uint32_t symbols)
{
    q->heap_end = HEAP_ROOT;
    q->items_used = q->order_count = 0;
    q->free_item = NONE;
    /* lists_used > half: no list is made, and the table need not be clear */
    q->lists_used = ISOTOK__QUEUE_LISTS;
    if (symbols >= ISOTOK__QUEUE_LONG) {
        memset(q->lists, 0, ISOTOK__QUEUE_LISTS * sizeof *q->lists);
        q->lists_used = 0;
    }
}

void isotok__queue_push(struct isotok__queue *q, uint32_t rank, uint32_t symbol)
{
    if (q->lists_used != ISOTOK__QUEUE_LISTS && list_push(q, rank, symbol)) return;
    heap_push(q, (uint64_t)rank << 32 | symbol);
}

bool isotok__queue_pop(struct isotok__queue *q, uint64_t *out_entry)
{
    uint64_t first = UINT64_MAX, top = UINT64_MAX;
    if (q->heap_end > HEAP_ROOT) top = q->entries[HEAP_ROOT];
    if (q->order_count > 0)
        first = (uint64_t)rank_of(q, 1) << 32 | item_at(q, q->lists[q->order[1]].head)->symbol;
    *out_entry = first < top ? first : top;
    if (*out_entry == UINT64_MAX) return false;
    if (first < top)
        list_pop(q);
    else
        heap_pop(q);
    return true;
}
