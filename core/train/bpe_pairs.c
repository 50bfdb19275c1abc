/* Hot pairs, the lists of their places, and the heap. See bpe.h. */
#include <stdlib.h>

#include "bpe.h"

void isotok__bpe_account(struct isotok_bpe *t, int64_t more)
{
    t->stats.memory += (uint64_t)more;
    if (t->stats.memory > t->stats.peak_memory) t->stats.peak_memory = t->stats.memory;
}

struct isotok__pair *isotok__bpe_find(const struct isotok_bpe *t, uint64_t key)
{
    uint32_t at = isotok__hash_key(key) & t->pairs_mask;
    if (t->pairs == NULL) return NULL;
    while (t->pairs[at].key != 0) {
        if (t->pairs[at].key == key) return &t->pairs[at];
        at = (at + 1) & t->pairs_mask;
    }
    return NULL;
}

static bool resize(struct isotok_bpe *t)
{
    size_t i, alive = 0, slots = 1024, old = t->pairs ? (size_t)t->pairs_mask + 1 : 0;
    struct isotok__pair *made;
    for (i = 0; i < old; i++) alive += t->pairs[i].key != 0 && t->pairs[i].count > 0;
    while (slots < alive * 3) slots *= 2;
    if (slots > 0x80000000u || (made = calloc(slots, sizeof *made)) == NULL) return false;
    for (i = 0; i < old; i++) {
        uint32_t at = isotok__hash_key(t->pairs[i].key) & (uint32_t)(slots - 1);
        if (t->pairs[i].key == 0 || t->pairs[i].count <= 0) continue;
        while (made[at].key != 0) at = (at + 1) & (uint32_t)(slots - 1);
        made[at] = t->pairs[i];
    }
    free(t->pairs);
    isotok__bpe_account(t, ((int64_t)slots - (int64_t)old) * (int64_t)sizeof *made);
    t->pairs = made;
    t->pairs_mask = (uint32_t)(slots - 1);
    t->pairs_used = (uint32_t)alive;
    return true;
}

struct isotok__pair *isotok__bpe_insert(struct isotok_bpe *t, uint64_t key)
{
    uint32_t at;
    if ((t->pairs == NULL || t->pairs_used >= t->pairs_mask / 3u * 2u) && !resize(t)) return NULL;
    at = isotok__hash_key(key) & t->pairs_mask;
    while (t->pairs[at].key != 0 && t->pairs[at].key != key) at = (at + 1) & t->pairs_mask;
    if (t->pairs[at].key == 0) {
        t->pairs[at] = (struct isotok__pair){key, 0, ISOTOK__NO_LIST, 0};
        t->pairs_used++;
    }
    return &t->pairs[at];
}

uint32_t isotok__bpe_new_list(struct isotok_bpe *t)
{
    uint32_t list;
    if (t->free_count != 0) {
        list = t->free_lists[--t->free_count];
    } else {
        if (!isotok__train_grow(&t->lists, &t->lists_capacity, t->list_count + 1,
                                sizeof *t->lists) ||
            !isotok__train_grow(&t->free_lists, &t->free_capacity, t->list_count + 1,
                                sizeof *t->free_lists))
            return ISOTOK__NO_LIST;
        list = (uint32_t)t->list_count++;
    }
    t->lists[list] = (struct isotok__places){0};
    if (++t->stats.pairs > t->stats.peak_pairs) t->stats.peak_pairs = t->stats.pairs;
    return list;
}

bool isotok__bpe_grow_places(struct isotok_bpe *t, struct isotok__places *list, size_t capacity)
{
    uint32_t *words = realloc(list->words, capacity * sizeof *words);
    if (words == NULL) return false;
    isotok__bpe_account(t, (int64_t)((capacity - list->capacity) * sizeof *words));
    list->words = words;
    list->capacity = capacity;
    return true;
}

void isotok__bpe_drop_list(struct isotok_bpe *t, struct isotok__pair *pair)
{
    struct isotok__places *list;
    if (pair->list == ISOTOK__NO_LIST) return;
    list = &t->lists[pair->list];
    isotok__bpe_account(t, -(int64_t)(list->capacity * sizeof *list->words));
    t->stats.places -= list->count;
    free(list->words);
    list->words = NULL;
    t->free_lists[t->free_count++] = pair->list; /* there is room, see new_list */
    pair->list = ISOTOK__NO_LIST;
    t->stats.pairs--;
}

void isotok__bpe_drop_pairs(struct isotok_bpe *t)
{
    size_t i;
    for (i = 0; t->pairs != NULL && i <= t->pairs_mask; i++)
        if (t->pairs[i].key != 0) isotok__bpe_drop_list(t, &t->pairs[i]);
    if (t->pairs != NULL)
        isotok__bpe_account(t, -((int64_t)t->pairs_mask + 1) * (int64_t)sizeof *t->pairs);
    free(t->pairs);
    free(t->heap);
    t->pairs = NULL;
    t->pairs_used = t->pairs_mask = 0;
    t->heap = NULL;
    t->heap_count = t->heap_capacity = 0;
    t->list_count = t->free_count = 0;
    t->threshold = 0;
}

/* ---- The heap ---- */

bool isotok__bpe_before(const struct isotok_bpe *t, const struct isotok__candidate *a,
                        const struct isotok__candidate *b)
{
    int order;
    if (a->count != b->count) return a->count > b->count;
    if (t->options.tie_break == ISOTOK_BPE_SMALLEST_IDS || a->key == b->key) return a->key < b->key;
    order = isotok__bpe_compare_texts(t, isotok__key_left(a->key), isotok__key_left(b->key));
    if (order == 0)
        order = isotok__bpe_compare_texts(t, isotok__key_right(a->key), isotok__key_right(b->key));
    return order != 0 ? order > 0 : a->key < b->key;
}

bool isotok__bpe_push(struct isotok_bpe *t, uint64_t key, int64_t count)
{
    const struct isotok__candidate made = {count, key};
    size_t at = t->heap_count;
    if (!isotok__train_grow(&t->heap, &t->heap_capacity, at + 1, sizeof *t->heap)) return false;
    t->heap_count++;
    while (at > 0 && isotok__bpe_before(t, &made, &t->heap[(at - 1) / 4])) {
        t->heap[at] = t->heap[(at - 1) / 4];
        at = (at - 1) / 4;
    }
    t->heap[at] = made;
    return true;
}

void isotok__bpe_pop(struct isotok_bpe *t)
{
    const struct isotok__candidate last = t->heap[--t->heap_count];
    size_t at = 0, child, best, i;
    while ((child = at * 4 + 1) < t->heap_count) {
        best = child;
        for (i = child + 1; i < isotok__min(child + 4, t->heap_count); i++)
            if (isotok__bpe_before(t, &t->heap[i], &t->heap[best])) best = i;
        if (!isotok__bpe_before(t, &t->heap[best], &last)) break;
        t->heap[at] = t->heap[best];
        at = best;
    }
    if (t->heap_count) t->heap[at] = last;
}
