/* L3: the path of pieces with the largest sum of scores, as tokenizers finds it: sums in
 * float64 from the front of a pre-token, the first of equal candidates (smallest start) wins.
 *
 * ALGORITHM   Viterbi from left to right over the trie. A character that is no piece weighs 10 less
 *             than the lowest score. A node keeps only where its best edge begins: what the edge
 *             is, the trie says again on the way back. Neighbouring edges that are the unknown
 *             piece are one text, which is looked up once more: it may be a piece after all, or
 *             it is spelled in bytes, if all of them are pieces, or it is unknown.
 * COMPLEXITY  O(characters x longest piece).
 * SOURCE      Kudo 2018 (arXiv:1804.10959); tokenizers 0.23.3. */
#include "unigram_exact.h"

#include "trie.h"
#include "utf8.h"

#define NOWHERE 0xFFFFFFFFu
#define UNKNOWN_PENALTY 10.0

/* Score `id`, or with vocab_size the lowest of all. */
static double exact_score(const isotok_model *model, uint32_t id)
{
    double score;
    memcpy(&score, &model->blob.exact_scores[id], sizeof score);
    return score;
}

static double score_of(const isotok_model *model, uint32_t slot)
{
    float score;
    if (model->blob.exact_scores != NULL) return exact_score(model, model->blob.trie_ids[slot]);
    memcpy(&score, &model->blob.trie[slot].value, sizeof score);
    return score;
}

/* Whether the candidate is taken. */
static bool offer(const struct isotok__unigram_work *work, uint32_t begin, uint32_t end,
                  double score)
{
    const double sum = score + work->exact[begin];
    if (work->back[end] != NOWHERE && !(sum > work->exact[end])) return false;
    work->exact[end] = sum;
    work->back[end] = begin;
    return true;
}

/* All edges from one character on: its bytes. */
static uint32_t offer_edges(const isotok_model *model, const uint8_t *text, uint32_t size,
                            uint32_t p, const struct isotok__unigram_work *work,
                            struct isotok__tokens *tokens)
{
    const struct isotok__blob *b = &model->blob;
    const uint32_t n = isotok__char_size(text + p, size - p);
    const uint32_t limit = p + (uint32_t)isotok__min(size - p, b->max_piece_bytes);
    bool single = false;
    uint32_t slot = 0, k;
    for (k = p; k < limit;) {
        slot = isotok__trie_step(b->trie, slot, text[k++]);
        if (slot == ISOTOK_NO_SLOT) break;
        if (b->trie[slot].value == ISOTOK_VALUE_NONE_SCORE) continue;
        offer(work, p, k, score_of(model, slot));
        single |= k == p + n;
    }
    if (!single) {
        const double lowest =
            b->exact_scores != NULL ? exact_score(model, b->vocab_size) : (double)b->unk_score;
        /* tokenizers fails here, whether or not the best path comes this way */
        if (offer(work, p, p + n, lowest - UNKNOWN_PENALTY))
            tokens->failed |= model->unk_slot == ISOTOK_UNK_SLOT;
    }
    return n;
}

/* Slot of the piece with this text; of none, 0, which no piece ends at. */
static uint32_t find(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    if (size > model->blob.max_piece_bytes) return 0;
    return isotok__trie_walk(model->blob.trie, 0, text, size);
}

static bool is_unknown(const isotok_model *model, uint32_t slot)
{
    const uint32_t id = model->blob.trie_ids[slot];
    return id == ISOTOK_NO_TOKEN || id == model->blob.unk_id;
}

/* Neighbouring unknown characters. */
static void push_run(const isotok_model *model, const uint8_t *text, uint32_t size,
                     struct isotok__tokens *tokens)
{
    const uint32_t *bytes = model->blob.byte_ids, slot = find(model, text, size);
    uint32_t i = 0;
    if (model->blob.trie_ids[slot] != ISOTOK_NO_TOKEN) {
        isotok__push_long(tokens, slot, size);
        return;
    }
    while (bytes != NULL && i < size && bytes[text[i]] != ISOTOK_NO_TOKEN) i++;
    if (i == size)
        isotok__push_long(tokens, ISOTOK_UNK_SLOT, size);
    else
        isotok__push_unknown(model, size, tokens);
}

/* Turns the edges that lead back from the end into edges that lead on from the front. */
static uint32_t reverse(uint32_t *back, uint32_t size)
{
    uint32_t end = size, next = 0;
    while (end != 0) {
        const uint32_t begin = back[end];
        back[end] = next;
        next = end;
        end = begin;
    }
    return next;
}

void isotok__unigram_exact(const isotok_model *model, const uint8_t *text, uint32_t size,
                           const struct isotok__unigram_work *work, struct isotok__tokens *tokens)
{
    uint32_t *back = work->back;
    uint32_t p = 0, end, run = 0;
    memset(back, 0xFF, ((size_t)size + 1) * sizeof *back);
    work->exact[0] = 0.0;
    while (p < size) p += offer_edges(model, text, size, p, work, tokens);
    end = reverse(back, size);
    for (p = 0; p < size; p = end, end = back[end]) {
        const uint32_t slot = find(model, text + p, end - p);
        if (is_unknown(model, slot)) continue;
        if (run < p) push_run(model, text + run, p - run, tokens);
        isotok__push_long(tokens, slot, end - p);
        run = end;
    }
    if (run < size) push_run(model, text + run, size - run, tokens);
}
