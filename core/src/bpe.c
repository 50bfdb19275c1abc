/* L3: SentencePiece's BPE: the adjacent pair whose concatenation is the piece with the
 * highest score is merged first, leftmost first among equals.
 *
 * ALGORITHM   The text is cut where no piece can span (cuts.h). A chunk that is a piece
 *             which its own merges rebuild (the blob's *direct* bit, computed offline by
 *             running them) is one token. Else: short chunks scan for the best pair in
 *             an array; long ones keep a priority queue (bpe_queue.h), whose entries are
 *             checked when popped. A symbol keeps the trie slot of its text, so that a
 *             pair costs one walk over the right symbol's bytes.
 * COMPLEXITY  O(n log n) for a chunk of n bytes, times the longest piece for hostile tries.
 * SOURCE      Sennrich 2016 (arXiv:1508.07909); rules of sentencepiece 0.2.3. */
#include "bpe.h"

#include "bpe_long.h"
#include "cuts.h"
#include "special.h"
#include "trie.h"
#include "utf8.h"

#define SHORT_SYMBOLS 40u

/* A chunk of at most SHORT_SYMBOLS symbols; entry i of rank and merged is the pair (i, i+1). */
struct chunk {
    const isotok_model *model;
    const uint8_t *text;
    uint32_t count;
    uint32_t rank[SHORT_SYMBOLS + 1];
    uint32_t merged[SHORT_SYMBOLS + 1];   /* slot of the concatenation */
    uint32_t node[SHORT_SYMBOLS + 1];     /* ISOTOK_NO_SLOT: in no piece */
    uint32_t position[SHORT_SYMBOLS + 2]; /* of the symbols; then the end */
};

ISOTOK_INLINE void rank_pair(struct chunk *c, uint32_t i)
{
    c->rank[i] = isotok__bpe_rank(c->model, c->text, &c->node[i], &c->position[i], &c->merged[i]);
}

static void remove_symbol(struct chunk *c, uint32_t i)
{
    uint32_t k;
    c->count--;
    for (k = i; k < c->count; k++) {
        c->rank[k] = c->rank[k + 1];
        c->merged[k] = c->merged[k + 1];
        c->node[k] = c->node[k + 1];
        c->position[k] = c->position[k + 1];
    }
    c->position[c->count] = c->position[c->count + 1];
}

static void merge_short(struct chunk *c)
{
    uint32_t i = 0, last = c->count, best;
    while (c->count > 1) {
        for (; i <= last && i + 1 < c->count; i++) rank_pair(c, i);
        best = 0;
        for (i = 1; i + 1 < c->count; i++)
            if (c->rank[i] < c->rank[best]) best = i;
        if (c->rank[best] == ISOTOK__NO_RANK) break;
        c->node[best] = c->merged[best];
        c->rank[best] = c->rank[best + 1];
        c->merged[best] = c->merged[best + 1];
        remove_symbol(c, best + 1);
        i = best - (best > 0);
        last = best;
    }
}

static void emit_short(const struct chunk *c, struct isotok__tokens *tokens)
{
    uint32_t i;
    for (i = 0; i < c->count; i++)
        isotok__bpe_token(c->model, c->text, c->position[i], c->position[i + 1], c->node[i],
                          tokens);
}

/* Splits text[0..size) into symbols; false if there are too many. */
static bool split_short(struct chunk *c, uint32_t size)
{
    uint32_t p = 0;
    c->count = 0;
    while (p < size) {
        uint32_t length;
        if (c->count == SHORT_SYMBOLS) return false;
        c->node[c->count] = isotok__bpe_symbol(c->model, c->text, p, size, true, &length);
        c->position[c->count++] = p;
        p += length;
    }
    c->position[c->count] = size;
    return true;
}

/* Text without user-defined pieces. */
static void segment_plain(const isotok_model *model, const uint8_t *text, uint32_t size,
                          struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    struct chunk c;
    c.model = model;
    c.text = text;
    if (split_short(&c, size)) {
        merge_short(&c);
        emit_short(&c, tokens);
    } else {
        isotok__bpe_long(model, text, size, false, work, tokens);
    }
}

/* A user-defined piece is never merged, so what lies between two of them is on its own; only
 * the records of UNUSED merges must be made in the order of the whole text. */
static void segment_chunk(const isotok_model *model, const uint8_t *text, uint32_t size,
                          struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    uint32_t p = 0, begin = 0;
    if (model->unused_count != 0) {
        isotok__bpe_long(model, text, size, true, work, tokens);
        return;
    }
    while (model->blob.user_trie != NULL && p < size) {
        uint32_t user = isotok__user_match_internal(model, text + p, size - p);
        if (user == 0) {
            p = isotok__char_end(text, p, size);
            continue;
        }
        if (begin < p) segment_plain(model, text + begin, p - begin, work, tokens);
        isotok__bpe_token(model, text, p, p + user, ISOTOK__FROZEN, tokens);
        p += user;
        begin = p;
    }
    if (begin < size) segment_plain(model, text + begin, size - begin, work, tokens);
}

/* Walks one chunk: its end, and the slot of its text in the trie (or ISOTOK_NO_SLOT). */
static uint32_t walk_chunk(const isotok_model *model, const uint8_t *text, uint32_t size,
                           uint32_t *out_slot)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    const uint64_t *pairs = model->blob.pair_set;
    uint32_t p = 0, left = ISOTOK__NO_CHAR, slot = 0;
    while (p < size) {
        const uint8_t c = text[p];
        if (ISOTOK_EXTRAS && (left | c) < 0x80) { /* two ASCII characters: an exact bit, one step */
            const uint32_t pair = left << 7 | c;
            if (!(pairs[pair >> 6] >> (pair & 63) & 1)) break;
            if (slot != ISOTOK_NO_SLOT) slot = isotok__trie_step(trie, slot, c);
            left = c;
            p++;
        } else {
            const uint32_t n = isotok__char_size(text + p, size - p);
            const uint32_t right = isotok__char_key_at(text + p, n);
            if (p != 0 && !isotok__may_join(model, left, right)) break;
            if (p == 0 || slot != ISOTOK_NO_SLOT) slot = isotok__trie_walk(trie, slot, text + p, n);
            left = right;
            p += n;
        }
    }
    *out_slot = slot;
    return p;
}

uint32_t isotok__bpe_first(const isotok_model *model, const uint8_t *text, uint32_t size,
                           struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    uint32_t slot, n = walk_chunk(model, text, size, &slot);
    /* the length is checked because a trie may loop, whatever it spells */
    if (slot != ISOTOK_NO_SLOT && n <= model->blob.max_piece_bytes &&
        !(model->blob.trie[slot].value & ISOTOK__NOT_DIRECT))
        isotok__push_token(tokens, slot, n);
    else
        segment_chunk(model, text, n, work, tokens);
    return n;
}

void isotok__bpe_chunks(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    uint32_t p = 0;
    while (p < size) p += isotok__bpe_first(model, text + p, size - p, work, tokens);
}

void isotok__bpe(const isotok_model *model, const uint8_t *text, uint32_t size,
                 struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    if (work->dropout.alpha > 0.0) { /* cold: all in one, without short cuts */
        isotok__bpe_long(model, text, size, model->blob.user_trie != NULL, work, tokens);
        return;
    }
    if (model->whole_text) {
        segment_chunk(model, text, size, work, tokens);
        return;
    }
    isotok__bpe_chunks(model, text, size, work, tokens);
}

uint32_t isotok__bpe_first_part(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    const uint64_t *joints = model->blob.char_joints;
    uint32_t p = 0, left = 0;
    while (p < size) { /* text may be ill-formed: a character ends where its bytes do not go on */
        const uint32_t most = isotok__char_size(text + p, size - p);
        uint32_t right = text[p], n = 1;
        const uint32_t joint = p == 0 ? 0 : (uint32_t)text[p - 1] << 8 | right;
        while (n < most && (text[p + n] & 0xC0) == 0x80) right = right << 8 | text[p + n++];
        if (p != 0 && (left | right) >= 0x80 && (text[p] & 0xC0) != 0x80 &&
            !(joints[joint >> 6] >> (joint & 63) & 1) && !isotok__may_join(model, left, right))
            break;
        left = right;
        p += n;
    }
    return p;
}

void isotok__bpe_pretoken(const isotok_model *model, const uint8_t *text, uint32_t size, bool whole,
                          struct isotok__bpe_work *work, struct isotok__tokens *tokens)
{
    const uint32_t limit = whole && model->features & ISOTOK_FEATURE(WHOLE_PIECES)
                               ? ISOTOK_VALUE_NONE
                               : ISOTOK__NOT_DIRECT;
    uint32_t slot;
    if (work->dropout.alpha != 0.0) {
        isotok__bpe_long(model, text, size, false, work, tokens);
        return;
    }
    slot = isotok__find_slot(model, text, size);
    if (slot != ISOTOK_NO_SLOT && model->blob.trie[slot].value < limit)
        isotok__push_long(tokens, slot, size);
    else
        segment_plain(model, text, size, work, tokens);
}
