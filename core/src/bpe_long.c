/* L3: BPE over chunks of any length, by a priority queue of pairs. See bpe.c, bpe_queue.h.
 *
 * An UNUSED piece may be made by merges but is split back into the two symbols that were
 * last recorded for its text, recursively; the records live in a hash table keyed by id
 * for the whole text, as the original keeps them. */
#include "bpe_long.h"

#include "bpe.h"
#include "philox.h"
#include "special.h"
#include "utf8.h"

#define MAX_SPLIT_DEPTH 100u /* up to 0.2.1 there is no limit */
#define NONE 0xFFFFFFFFu

/* Whether a torn piece may span the boundary in front of text[p]. */
static bool is_joint(const uint64_t *joints, const uint8_t *text, uint32_t p, uint32_t size)
{
    const uint32_t pair = p == 0 || p == size ? 0 : (uint32_t)text[p - 1] << 8 | text[p];
    return joints[pair >> 6] >> (pair & 63) & 1;
}

uint32_t isotok__bpe_symbol(const isotok_model *model, const uint8_t *text, uint32_t p,
                            uint32_t size, bool whole, uint32_t *out_length)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    const uint64_t *joints = ISOTOK_SENTENCEPIECE_ONLY ? NULL : model->blob.char_joints;
    uint32_t point, slot, length = 1;
    *out_length = ISOTOK__HAS(model->byte_level) ? 1 : isotok__char_end(text, p, size) - p;
    *out_length += ISOTOK__HAS(model->affixes) & (uint32_t)(p + *out_length + 1 == size);
    if (whole && joints != NULL && text[p] >= 0xC2)
        length = isotok__scalar(text + p, size - p, &point);
    if (length > 1 && (p + length == size || (text[p + length] & 0xC0) != 0x80) &&
        !is_joint(joints, text, p, size) && !is_joint(joints, text, p + length, size)) {
        slot = isotok__trie_walk(trie, 0, text + p, length);
        if (slot != ISOTOK_NO_SLOT && !(trie[slot].value & ISOTOK__NOT_DIRECT)) {
            *out_length = length;
            return slot;
        }
    }
    return isotok__trie_walk(trie, p != 0 ? ISOTOK__HAS(model->continuation) : 0, text + p,
                             *out_length);
}

struct merger {
    const isotok_model *model;
    const uint8_t *text;
    struct isotok__bpe_work *w;
    uint32_t size;
};

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
 * explicit stack, in the memory of the queue, holds where right halves begin (each ends where
 * the one below begins) << 32 | the depth of the original's recursion. */
static void push_split(const isotok_model *model, const struct isotok__bpe_work *w,
                       const uint8_t *text, uint32_t begin, uint32_t end, uint32_t slot,
                       struct isotok__tokens *tokens)
{
    const uint32_t deepest = model->is_0_2_1 ? UINT32_MAX : MAX_SPLIT_DEPTH;
    uint64_t *stack = w->queue.entries;
    uint32_t top = 0, depth = 0, stop = end;
    for (;;) {
        uint32_t id = slot == ISOTOK_NO_SLOT ? ISOTOK_NO_TOKEN : model->blob.trie_ids[slot];
        const uint32_t *entry = NULL;
        if (id != ISOTOK_NO_TOKEN && model->blob.types[id] == ISOTOK_UNUSED && depth <= deepest) {
            entry = w->splits_mask != 0 ? split_entry(w, id) : NULL;
            if (entry != NULL && entry[0] == id + 1 && entry[1] > 0 && entry[1] < end - begin) {
                end = begin + entry[1];
                stack[top++] = (uint64_t)end << 32 | ++depth;
                slot = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
                continue;
            }
            if (!model->is_0_2_1) id = ISOTOK_NO_TOKEN; /* UNUSED and never merged */
        }
        isotok__push(tokens, id == ISOTOK_NO_TOKEN ? ISOTOK_UNK_SLOT : slot, end - begin);
        if (top == 0) return;
        begin = end;
        depth = (uint32_t)stack[--top];
        end = top == 0 ? stop : (uint32_t)(stack[top - 1] >> 32);
        slot = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
    }
}

void isotok__bpe_token(const isotok_model *model, const uint8_t *text, uint32_t begin, uint32_t end,
                       uint32_t node, struct isotok__tokens *tokens)
{
    if (node == ISOTOK__FROZEN)
        node = isotok__trie_walk(model->blob.trie, 0, text + begin, end - begin);
    if (node != ISOTOK_NO_SLOT && model->blob.trie_ids[node] == ISOTOK_NO_TOKEN)
        node = ISOTOK_NO_SLOT;
    isotok__push_long(tokens, node == ISOTOK_NO_SLOT ? ISOTOK_UNK_SLOT : node, end - begin);
}

/* ---- Merging ----------------------------------------------------------------------- */

/* Rank of the pair that begins with the symbol at `left`, or ISOTOK__NO_RANK. */
static uint32_t pair_rank(const struct merger *m, uint32_t left, uint32_t *out_merged)
{
    const struct isotok__symbol *symbols = m->w->symbols;
    uint32_t right = left + symbols[left].size;
    if (symbols[left].node == ISOTOK__GONE || right >= m->size) return ISOTOK__NO_RANK;
    {
        const uint32_t node[2] = {symbols[left].node, symbols[right].node};
        const uint32_t position[3] = {left, right, right + symbols[right].size};
        return isotok__bpe_rank(m->model, m->text, node, position, out_merged);
    }
}

/* Whether the pair at `left` is dropped. Symbols only grow, so a pair arises at most once: one
 * draw for each is what a draw for each merge would be. */
static bool is_dropped(const struct merger *m, uint32_t left)
{
    const struct isotok__dropout *dropout = &m->w->dropout;
    const struct isotok__symbol *symbols = m->w->symbols;
    const uint32_t size = symbols[left].size;
    struct isotok__draw draw;
    if (dropout->alpha == 0.0) return false;
    draw.seed = dropout->seed;
    draw.place = dropout->place + left;
    draw.detail = size << 16 | symbols[left + size].size;
    draw.purpose = ISOTOK__DRAW_DROPOUT;
    return isotok__draw(&draw) < dropout->alpha;
}

static void offer_pair(struct merger *m, uint32_t left)
{
    uint32_t merged = 0, rank = pair_rank(m, left, &merged);
    if (rank == ISOTOK__NO_RANK) return;
    record_split(m, merged, m->w->symbols[left].size); /* even if it is dropped */
    if (!is_dropped(m, left)) isotok__queue_push(&m->w->queue, rank, left);
}

static void set_symbol(struct merger *m, uint32_t begin, uint32_t size, uint32_t node)
{
    m->w->symbols[begin + size - 1].size = size;
    m->w->symbols[begin].size = size;
    m->w->symbols[begin].node = node;
}

/* Merges the symbol at `left` with the next one into the piece at slot `merged`. */
static void merge(struct merger *m, uint32_t left, uint32_t merged)
{
    struct isotok__symbol *symbols = m->w->symbols;
    uint32_t right = left + symbols[left].size;
    uint32_t size = symbols[left].size + symbols[right].size;
    symbols[right].node = ISOTOK__GONE;
    set_symbol(m, left, size, merged);
    if (left > 0) offer_pair(m, left - symbols[left - 1].size);
    offer_pair(m, left);
}

/* Splits the text into symbols; returns how many. */
static uint32_t split_long(struct merger *m, bool user)
{
    const bool whole = m->w->dropout.alpha == 0.0;
    uint32_t count = 0, p = 0, length;
    for (; p < m->size; p += length, count++) {
        uint32_t node = ISOTOK__FROZEN;
        length = user ? isotok__user_match_internal(m->model, m->text + p, m->size - p) : 0;
        if (length == 0) node = isotok__bpe_symbol(m->model, m->text, p, m->size, whole, &length);
        set_symbol(m, p, length, node);
    }
    return count;
}

void isotok__bpe_long(const isotok_model *model, const uint8_t *text, uint32_t size, bool user,
                      struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    struct merger m = {model, text, work, size};
    const struct isotok__symbol *symbols = work->symbols;
    uint32_t p, merged = 0;
    uint64_t top;
    isotok__queue_begin(&work->queue, split_long(&m, user));
    for (p = 0; p < size; p += symbols[p].size) offer_pair(&m, p);
    while (isotok__queue_pop(&work->queue, &top)) {
        /* an entry is stale unless its pair is still worth the same */
        if (pair_rank(&m, (uint32_t)top, &merged) == (uint32_t)(top >> 32) &&
            !is_dropped(&m, (uint32_t)top))
            merge(&m, (uint32_t)top, merged);
    }
    for (p = 0; p < size; p += symbols[p].size) {
        if (model->unused_count == 0 || symbols[p].node == ISOTOK__FROZEN)
            isotok__bpe_token(model, text, p, p + symbols[p].size, symbols[p].node, tokens);
        else
            push_split(model, work, text, p, p + symbols[p].size, symbols[p].node, tokens);
    }
}
