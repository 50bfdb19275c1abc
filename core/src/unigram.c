/* L3: the Unigram segmenter: the path of pieces with the largest sum of scores.
 *
 * ALGORITHM   Viterbi from left to right over a double-array trie. Scores are summed in
 *             float32 exactly as sentencepiece 0.2.3 does: one addition per candidate, the
 *             sum carried over the whole text and re-centred to 0 wherever it leaves
 *             +-100,000; the first of equal candidates (smallest start) wins. The text
 *             may be cut where no piece spans the position: there every path meets.
 * COMPLEXITY  O(characters x longest piece).
 * SOURCE      Kudo 2018 (arXiv:1804.10959); arithmetic: semantics of `EncodeOptimized`.
 * INVARIANTS  The opener has checked that |weights| <= 1e30 (narrow), so that every sum is
 *             finite and larger than the initial -inf. */
#include "unigram.h"

#include "lattice.h"
#include "trie.h"
#include "utf8.h"

#define RESET_AT 100000.0f

ISOTOK_INLINE float score_of(uint32_t bits)
{
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
}

ISOTOK_INLINE bool must_reset(float score)
{
    return score < -RESET_AT || score > RESET_AT;
}

/* ---- Narrow: token = slot << 8 | length, "unreached" = -inf ---------------------- */

static ISOTOK_NOINLINE void reset_narrow(float *best, uint32_t first, uint32_t last, float base)
{
    uint32_t k;
    for (k = first; k <= last; k++) best[k] -= base;
}

/* The pieces that begin at one position, on the way down the trie. */
struct chain {
    uint64_t node; /* label, link and weight of the node `slot` */
    uint32_t slot;
    uint32_t start;
    float base; /* score at the start */
};

/* Steps to the child for `c`; false if there is none. */
ISOTOK_INLINE bool step_chain(const struct isotok__trie_node *trie, struct chain *chain, uint8_t c)
{
    chain->slot = ((uint32_t)chain->node >> 8) ^ c;
    memcpy(&chain->node, &trie[chain->slot], 8);
    return (uint8_t)chain->node == c;
}

/* Offers the piece that ends at `end`, if one does: the weight of others is -inf. */
ISOTOK_INLINE void offer_piece(const struct chain *chain, uint32_t end, float *best, uint32_t *back)
{
    const float candidate = chain->base + score_of((uint32_t)(chain->node >> 32));
    if (candidate > best[end]) {
        best[end] = candidate;
        back[end] = chain->slot << 8 | (end - chain->start);
    }
}

/* Offers the one-character candidate: a piece, or the unknown character. */
ISOTOK_INLINE void offer_character(const struct chain *chain, bool known, uint32_t end,
                                   float unknown, float *best, uint32_t *back)
{
    const float none = score_of(ISOTOK_VALUE_NONE_SCORE);
    const float weight = known ? score_of((uint32_t)(chain->node >> 32)) : none;
    const bool piece = weight != none;
    const float candidate = chain->base + (piece ? weight : unknown);
    if (candidate > best[end]) {
        best[end] = candidate;
        back[end] = (piece ? chain->slot << 8 : ISOTOK_UNK_SLOT << 8) | (end - chain->start);
    }
}

/* All that is left of a chain. */
static ISOTOK_NOINLINE void finish_chain(const struct isotok__trie_node *trie, struct chain *chain,
                                         const uint8_t *text, uint32_t k, uint32_t limit,
                                         float *best, uint32_t *back)
{
    while (k < limit && step_chain(trie, chain, text[k])) offer_piece(chain, ++k, best, back);
}

#define LONGEST_RUN (255u - 4u) /* bytes: a character more still fits a token's length */

/* Whether no piece begins with the character text[p..end). */
ISOTOK_INLINE bool begins_none(const struct isotok__trie_node *trie, const struct chain *root,
                               const uint8_t *text, uint32_t p, uint32_t end)
{
    struct chain chain = *root;
    while (p < end)
        if (!step_chain(trie, &chain, text[p++])) return true;
    return false;
}

/* Passes a run of characters that begin no piece and end none: emission makes one token of it.
 * Returns its end, where `*base` is the score; text[p..middle) is the first of them. */
static uint32_t join_unknown(const struct isotok__trie_node *trie, const struct chain *root,
                             const uint8_t *text, uint32_t p, uint32_t middle, uint32_t size,
                             float unknown, const float *best, float *base)
{
    while (middle < size && middle - p <= LONGEST_RUN &&
           best[middle] == score_of(ISOTOK_VALUE_NONE_SCORE) && !must_reset(*base)) {
        const uint32_t end = middle + isotok__char_size(text + middle, size - middle);
        if (!begins_none(trie, root, text, middle, end)) break;
        *base += unknown;
        middle = end;
    }
    return middle;
}

/* Two neighbouring positions walk the trie side by side, so that one's loads do not wait for the
 * other's; at each end the first of them offers first. */
static float viterbi_narrow(const isotok_model *model, const uint8_t *text, uint32_t size,
                            float carried, float *best, uint32_t *back)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    const float unknown = model->blob.unk_score;
    const uint32_t longest = model->blob.max_piece_bytes;
    const bool joins = model->blob.byte_ids == NULL;
    struct chain root, a, b;
    uint32_t p = 0, k;
    memcpy(&root.node, &trie[0], 8);
    root.slot = 0;
    root.base = carried;
    for (k = 0; k <= size; k++) best[k] = score_of(ISOTOK_VALUE_NONE_SCORE);
    while (p < size) {
        const uint32_t limit = size - p < longest ? size : p + longest;
        uint32_t middle = p + isotok__char_size(text + p, size - p);
        uint32_t end;
        bool a_goes_on = true, b_goes_on = true;
        a = root;
        a.start = p;
        if (ISOTOK_UNLIKELY(must_reset(a.base))) {
            reset_narrow(best, p + 1, limit, a.base);
            a.base = 0.0f;
        }
        /* to the end of the character; pieces that end inside it are on no path */
        for (k = p; k < middle && a_goes_on; k++) a_goes_on = step_chain(trie, &a, text[k]);
        if (!a_goes_on) {
            a.base += unknown;
            if (ISOTOK_EXTRAS && joins)
                middle = join_unknown(trie, &root, text, p, middle, size, unknown, best, &a.base);
            if (a.base > best[middle]) {
                best[middle] = a.base;
                back[middle] = ISOTOK_UNK_SLOT << 8 | (middle - p);
            }
            root.base = best[middle];
            p = middle;
            continue;
        }
        offer_character(&a, true, middle, unknown, best, back);
        root.base = best[middle];
        p = middle;
        if (middle == size || must_reset(root.base)) { /* that takes all of a's offers */
            finish_chain(trie, &a, text, middle, limit, best, back);
            continue;
        }
        end = middle + isotok__char_size(text + middle, size - middle);
        b = root;
        b.start = middle;
        for (k = middle; k < end; k++) {
            const uint8_t c = text[k];
            a_goes_on = a_goes_on && k < limit && step_chain(trie, &a, c);
            b_goes_on = b_goes_on && step_chain(trie, &b, c);
            if (a_goes_on) offer_piece(&a, k + 1, best, back);
        }
        offer_character(&b, b_goes_on, end, unknown, best, back);
        root.base = best[end];
        p = end;
        while (a_goes_on && b_goes_on && k < limit) {
            const uint8_t c = text[k++];
            a_goes_on = step_chain(trie, &a, c);
            b_goes_on = step_chain(trie, &b, c);
            if (a_goes_on) offer_piece(&a, k, best, back);
            if (b_goes_on) offer_piece(&b, k, best, back);
        }
        if (a_goes_on) finish_chain(trie, &a, text, k, limit, best, back);
        if (b_goes_on) /* alone, or a was at its longest */
            finish_chain(trie, &b, text, k, size - b.start < longest ? size : b.start + longest,
                         best, back);
    }
    return root.base;
}

/* Walks back from the end; the tokens take the place of the scores, last one last. */
static void backtrack_narrow(const uint32_t *back, uint32_t size, uint32_t *slots_end,
                             struct isotok__tokens *tokens)
{
    uint32_t *out = slots_end, e = size;
    while (e > 0) {
        const uint32_t token = back[e];
        ISOTOK_ASSERT((token & 0xFF) != 0 && (token & 0xFF) <= e);
        *--out = token;
        e -= token & 0xFFu;
    }
    tokens->slots = out;
    tokens->count = (uint32_t)(slots_end - out);
}

/* ---- Wide: explicit starts, any finite weights, any lengths, any generation ------- */

#define NO_START 0xFFFFFFFFu

/* Score of the path that goes on with a piece. Up to 0.2.1 it is compared before it is rounded. */
static double add_piece(const isotok_model *model, uint32_t slot, float base)
{
    const float weight = score_of(model->blob.trie[slot].value);
    const uint32_t id = model->blob.trie_ids[slot];
    uint32_t size;
    if (!model->is_0_2_1) return weight + base;
    if (model->blob.types[id] != ISOTOK_USER_DEFINED) return (double)weight + base;
    isotok__piece_text(model, id, &size);
    return isotok__user_weight_0_2_1(weight, size) + base;
}

static void offer(const struct isotok__unigram_work *w, uint32_t end, uint32_t start, uint32_t slot,
                  double candidate)
{
    if (w->start[end] != NO_START && !(candidate > w->best[end])) return;
    w->best[end] = (float)candidate;
    w->start[end] = start;
    w->back[end] = slot;
}

static void reset_wide(const struct isotok__unigram_work *w, uint32_t p, uint32_t frontier)
{
    const float base = w->best[p];
    uint32_t k;
    w->best[p] -= base;
    for (k = p + 1; k <= frontier; k++)
        if (w->start[k] != NO_START) w->best[k] -= base;
}

static void viterbi_wide(const isotok_model *model, const uint8_t *text, uint32_t size,
                         float carried, const struct isotok__unigram_work *w)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t p = 0, frontier = 0, k;
    for (k = 0; k <= size; k++) {
        w->best[k] = 0.0f;
        w->start[k] = NO_START;
    }
    w->best[0] = carried;
    while (p < size) {
        const uint32_t character = isotok__char_end(text, p, size) - p;
        const uint32_t limit = size - p < b->max_piece_bytes ? size : p + b->max_piece_bytes;
        float base = w->best[p];
        uint32_t slot = 0;
        bool single = false;
        if (must_reset(base) && !model->is_0_2_1) {
            reset_wide(w, p, frontier);
            base = 0.0f;
        }
        for (k = p; k < limit;) {
            slot = isotok__trie_step(b->trie, slot, text[k++]);
            if (slot == ISOTOK_NO_SLOT) break;
            if (b->trie_ids[slot] == ISOTOK_NO_TOKEN) continue;
            if (k > frontier) frontier = k;
            offer(w, k, p, slot, add_piece(model, slot, base));
            single |= k - p == character;
        }
        if (!single) {
            if (p + character > frontier) frontier = p + character;
            offer(w, p + character, p, ISOTOK_UNK_SLOT, b->unk_score + base);
        }
        p += character;
    }
}

static void backtrack_wide(const struct isotok__unigram_work *w, uint32_t size,
                           struct isotok__tokens *tokens)
{
    uint32_t *slots_end = (uint32_t *)(void *)w->best + size, *lengths = tokens->lengths;
    uint32_t *out = slots_end, e, i = 0;
    for (e = size; e > 0; e = w->start[e]) i++;
    tokens->count = i;
    for (e = size; e > 0; e = w->start[e]) {
        ISOTOK_ASSERT(w->start[e] < e);
        *--out = w->back[e];
        lengths[--i] = e - w->start[e];
    }
    tokens->slots = out;
}

void isotok__unigram_backtrack(const isotok_model *model, uint32_t size,
                               const struct isotok__unigram_work *work,
                               struct isotok__tokens *tokens)
{
    if (model->wide)
        backtrack_wide(work, size, tokens);
    else
        backtrack_narrow(work->back, size, (uint32_t *)(void *)work->best + size, tokens);
}

void isotok__unigram(const isotok_model *model, const uint8_t *text, uint32_t size, float *carried,
                     const struct isotok__unigram_work *work, struct isotok__tokens *tokens)
{
    if (model->wide) {
        viterbi_wide(model, text, size, *carried, work);
        *carried = work->best[size];
    } else {
        *carried = viterbi_narrow(model, text, size, *carried, work->best, work->back);
    }
    isotok__unigram_backtrack(model, size, work, tokens);
}
