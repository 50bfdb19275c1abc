/* L3: BPE over chunks of any length, by a binary heap. See bpe.c.
 *
 * An UNUSED piece may be made by merges but is split back into the two symbols that were
 * last recorded for its text, recursively; the records live in a hash table keyed by id
 * for the whole text, as the original keeps them. */
#include "bpe_long.h"

#include "bpe.h"
#include "special.h"
#include "utf8.h"

#define MAX_SPLIT_DEPTH 100u
#define NONE 0xFFFFFFFFu

uint32_t isotok__bpe_symbol(const isotok_model *model, const uint8_t *text, uint32_t size,
                            uint32_t *out_length)
{
    uint32_t user = isotok__user_match_internal(model, text, size);
    *out_length = user != 0 ? user : isotok__char_size(text, size);
    if (user != 0) return ISOTOK__FROZEN;
    return isotok__trie_walk(model->blob.trie, 0, text, *out_length);
}

/* ---- The heap: smallest rank, then leftmost, on top ------------------------------- */

struct merger {
    const isotok_model *model;
    const uint8_t *text;
    const struct isotok__bpe_work *w;
    uint32_t size, heap_count;
};

static void heap_push(struct merger *m, uint64_t entry)
{
    uint64_t *heap = m->w->heap;
    uint32_t i = m->heap_count++;
    while (i > 0 && heap[(i - 1) / 2] > entry) {
        heap[i] = heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    heap[i] = entry;
}

static uint64_t heap_pop(struct merger *m)
{
    uint64_t *heap = m->w->heap, top = heap[0], last = heap[--m->heap_count];
    uint32_t i = 0, child;
    while ((child = 2 * i + 1) < m->heap_count) {
        if (child + 1 < m->heap_count && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= last) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = last;
    return top;
}

/* ---- Records of UNUSED merges ------------------------------------------------------ */

void isotok__bpe_forget(const struct isotok__bpe_work *work)
{
    if (work->splits_mask != 0)
        memset(work->splits, 0, ((size_t)work->splits_mask + 1) * 2 * sizeof(uint32_t));
}

/* Entry of `id`: {id + 1, bytes of the left symbol}; the table has twice as many entries as
 * there are UNUSED pieces, so a free one is always found. */
static uint32_t *split_entry(const struct isotok__bpe_work *w, uint32_t id)
{
    uint32_t i = id * 0x9E3779B1u;
    for (;; i++) {
        uint32_t *entry = w->splits + (size_t)(i & w->splits_mask) * 2;
        if (entry[0] == id + 1 || entry[0] == 0) return entry;
    }
}

static void record_split(const struct merger *m, uint32_t slot, uint32_t left_size)
{
    uint32_t id = m->model->blob.trie_ids[slot], *entry;
    if (m->w->splits_mask == 0 || m->model->blob.types[id] != ISOTOK_UNUSED) return;
    entry = split_entry(m->w, id);
    entry[0] = id + 1;
    entry[1] = left_size;
}

/* Token of text[begin..end) whose slot is `slot`, splitting UNUSED pieces back. The
 * explicit stack holds right halves; the depth is that of the original's recursion. */
static void push_split(const isotok_model *model, const struct isotok__bpe_work *w,
                       const uint8_t *text, uint32_t begin, uint32_t end, uint32_t slot,
                       struct isotok__tokens *tokens)
{
    struct { uint32_t begin, end, depth; } stack[MAX_SPLIT_DEPTH + 2];
    uint32_t top = 0, depth = 0;
    for (;;) {
        uint32_t id = slot == ISOTOK_NO_SLOT ? ISOTOK_NO_TOKEN : model->blob.trie_ids[slot];
        const uint32_t *entry = NULL;
        if (id != ISOTOK_NO_TOKEN && model->blob.types[id] == ISOTOK_UNUSED &&
            depth <= MAX_SPLIT_DEPTH) {
            entry = w->splits_mask != 0 ? split_entry(w, id) : NULL;
            if (entry != NULL && entry[0] == id + 1 && entry[1] > 0 && entry[1] < end - begin) {
                depth++;
                stack[top].begin = begin + entry[1];
                stack[top].end = end;
                stack[top++].depth = depth;
                end = begin + entry[1];
                slot = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
                continue;
            }
            id = ISOTOK_NO_TOKEN; /* UNUSED and never merged */
        }
        isotok__push_token(tokens, id == ISOTOK_NO_TOKEN ? ISOTOK_UNK_SLOT : slot, end - begin);
        if (top == 0) return;
        top--;
        begin = stack[top].begin;
        end = stack[top].end;
        depth = stack[top].depth;
        slot = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
    }
}

void isotok__bpe_token(const isotok_model *model, const uint8_t *text, uint32_t begin, uint32_t end,
                       uint32_t node, struct isotok__tokens *tokens)
{
    if (node == ISOTOK__FROZEN) node = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
    if (node != ISOTOK_NO_SLOT && model->blob.trie_ids[node] == ISOTOK_NO_TOKEN) node = ISOTOK_NO_SLOT;
    isotok__push_token(tokens, node == ISOTOK_NO_SLOT ? ISOTOK_UNK_SLOT : node, end - begin);
}

/* ---- Merging ----------------------------------------------------------------------- */

static void offer_pair(struct merger *m, uint32_t left)
{
    const struct isotok__bpe_work *w = m->w;
    uint32_t right, rank, merged = 0;
    if (left == NONE || (right = w->next[left]) == NONE) return;
    rank = isotok__bpe_rank(m->model, m->text, w->node[left], w->position[left], w->node[right],
                            w->position[right],
                            w->next[right] == NONE ? m->size : w->position[w->next[right]], &merged);
    if (rank == ISOTOK__NO_RANK) return;
    heap_push(m, (uint64_t)rank << 32 | left);
    record_split(m, merged, w->position[right] - w->position[left]);
}

/* Whether the popped entry is still what its pair is worth; then the merged slot. */
static bool still_valid(const struct merger *m, uint32_t left, uint32_t rank, uint32_t *out_merged)
{
    const struct isotok__bpe_work *w = m->w;
    uint32_t right;
    if (w->position[left] == NONE || (right = w->next[left]) == NONE) return false;
    return isotok__bpe_rank(m->model, m->text, w->node[left], w->position[left], w->node[right],
                            w->position[right],
                            w->next[right] == NONE ? m->size : w->position[w->next[right]],
                            out_merged) == rank;
}

static uint32_t split_long(struct merger *m)
{
    const struct isotok__bpe_work *w = m->w;
    uint32_t count = 0, p = 0;
    while (p < m->size) {
        uint32_t length;
        w->node[count] = isotok__bpe_symbol(m->model, m->text + p, m->size - p, &length);
        w->position[count] = p;
        w->previous[count] = count == 0 ? NONE : count - 1;
        w->next[count] = count + 1;
        count++;
        p += length;
    }
    w->next[count - 1] = NONE;
    return count;
}

void isotok__bpe_long(const isotok_model *model, const uint8_t *text, uint32_t size,
                      const struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    struct merger m = {model, text, work, size, 0};
    uint32_t count = split_long(&m), i, merged = 0;
    for (i = 0; i + 1 < count; i++) offer_pair(&m, i);
    while (m.heap_count > 0) {
        uint64_t top = heap_pop(&m);
        uint32_t left = (uint32_t)top, right;
        if (!still_valid(&m, left, (uint32_t)(top >> 32), &merged)) continue;
        right = work->next[left];
        work->node[left] = merged;
        work->next[left] = work->next[right];
        if (work->next[left] != NONE) work->previous[work->next[left]] = left;
        work->position[right] = NONE;
        offer_pair(&m, work->previous[left]);
        offer_pair(&m, left);
    }
    for (i = 0; i != NONE; i = work->next[i]) {
        uint32_t end = work->next[i] == NONE ? size : work->position[work->next[i]];
        if (model->unused_count == 0 || work->node[i] == ISOTOK__FROZEN)
            isotok__bpe_token(model, text, work->position[i], end, work->node[i], tokens);
        else
            push_split(model, work, text, work->position[i], end, work->node[i], tokens);
    }
}
