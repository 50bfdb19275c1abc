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

struct path {
    const isotok_model *model;
    const struct isotok__unigram_work *work; /* sums are in the ring of `masses` */
    uint32_t reached;                        /* the farthest end so far; back[] ends there */
};

static double *sum_at(const struct path *path, uint32_t position)
{
    return &path->work->masses[position & path->work->masses_mask].sum;
}

/* Offers an edge: a piece, or for slot 0 an unknown character. Whether it is taken. */
static ISOTOK_NOINLINE bool offer(struct path *path, uint32_t begin, uint32_t end, uint32_t slot)
{
    uint32_t *back = path->work->back;
    const struct isotok__blob *b = &path->model->blob;
    float rounded = b->unk_score;
    double score;
    if (slot != 0) memcpy(&rounded, &b->trie[slot].value, sizeof rounded);
    score = rounded;
    if (b->exact_scores != NULL)
        memcpy(&score, &b->exact_scores[slot != 0 ? b->trie_ids[slot] : b->vocab_size],
               sizeof score);
    if (slot == 0) score -= UNKNOWN_PENALTY;
    score += *sum_at(path, begin);
    while (path->reached < end) back[++path->reached] = NOWHERE;
    if (back[end] != NOWHERE && !(score > *sum_at(path, end))) return false;
    *sum_at(path, end) = score;
    back[end] = begin;
    return true;
}

static void find_path(struct path *path, const uint8_t *text, uint32_t size,
                      struct isotok__tokens *tokens)
{
    const struct isotok__blob *b = &path->model->blob;
    uint32_t p, next, k, slot;
    *sum_at(path, 0) = 0.0;
    for (p = 0; p < size; p = next) {
        const uint32_t limit = p + (uint32_t)isotok__min(size - p, b->max_piece_bytes);
        bool single = false;
        next = isotok__char_end(text, p, size);
        for (k = p, slot = 0; k < limit;) {
            slot = isotok__trie_step(b->trie, slot, text[k++]);
            if (slot == ISOTOK_NO_SLOT) break;
            if (b->trie[slot].value == ISOTOK_VALUE_NONE_SCORE) continue;
            offer(path, p, k, slot);
            single |= k == next;
        }
        /* without an unknown token tokenizers fails here, even if the best path is another */
        if (!single && offer(path, p, next, 0))
            tokens->failed |= isotok__word_rule(path->model, ISOTOK__RULE_UNK) == ISOTOK_UNK_SLOT;
    }
}

/* Neighbouring unknown characters. */
static void push_run(const isotok_model *model, const uint8_t *text, uint32_t size,
                     struct isotok__tokens *tokens)
{
    const uint32_t *bytes = model->blob.byte_ids;
    uint32_t slot = isotok__find_slot(model, text, size), i = 0;
    if (size == 0) return;
    if (model->blob.trie_ids[slot] == ISOTOK_NO_TOKEN) {
        while (bytes != NULL && i < size && bytes[text[i]] != ISOTOK_NO_TOKEN) i++;
        slot = ISOTOK_UNK_SLOT;
        if (i < size) {
            isotok__push_unknown(model, size, tokens);
            return;
        }
    }
    isotok__push_long(tokens, slot, size);
}

void isotok__unigram_exact(const isotok_model *model, const uint8_t *text, uint32_t size,
                           const struct isotok__unigram_work *work, struct isotok__tokens *tokens)
{
    struct path path = {model, work, 0};
    uint32_t *back = work->back;
    uint32_t end = size, next = 0, run = 0, p;
    find_path(&path, text, size, tokens);
    while (end != 0) { /* edges that lead back become edges that lead on */
        const uint32_t begin = back[end];
        back[end] = next;
        next = end;
        end = begin;
    }
    for (p = 0; p < size; p = next, next = back[next]) {
        const uint32_t slot = isotok__find_slot(model, text + p, next - p);
        const uint32_t id = model->blob.trie_ids[slot];
        if (id == ISOTOK_NO_TOKEN || id == model->blob.unk_id) continue;
        push_run(model, text + run, p - run, tokens);
        isotok__push_long(tokens, slot, next - p);
        run = next;
    }
    push_run(model, text + run, size - run, tokens);
}
