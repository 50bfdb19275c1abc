/* Learning where longest match goes wrong. See isotok_distil.h.
 *
 * ALGORITHM  In rounds: segment every chunk with the exceptions so far. Where longest match stands
 *            at a boundary of the teacher's and goes another way, the text from there to the
 *            teacher's first boundary behind it, with the teacher's tokens, is a candidate: it
 *            is longer than what was matched, or overrides it. An exception that was taken where
 *            the longest piece alone would have been right breaks something. Those that repair
 *            most in all stay.
 * COMPLEXITY O(rounds * bytes of all chunks). */
#include <stdlib.h>

#include "distil.h"
#include "trie.h"
#include "utf8.h"

#define ROUNDS 6u
#define MOST_BYTES 96u /* of an exception */
#define MOST_TOKENS 32u

struct candidate {
    const uint8_t *text;
    const uint32_t *tokens;
    struct isotok__exception exception; /* good: how often it is wanted */
};

struct learning {
    struct isotok_distil *d;
    struct isotok__keys_trie trie;
    struct candidate *candidates;
    size_t count, capacity;
};

/* What begins at a position: the longest key, and the longest piece. */
struct step {
    uint32_t size, piece_size, exception; /* 1 + number; 0: none */
};

static struct step step_at(const struct isotok__keys_trie *trie, const uint8_t *text, uint32_t size)
{
    struct step step = {0, 0, 0};
    uint32_t slot = 0, p = 0;
    const uint32_t character = isotok__char_size(text, size);
    while (p < size) {
        slot = isotok__trie_step(trie->nodes, slot, text[p++]);
        if (slot == ISOTOK_NO_SLOT) break;
        if (trie->nodes[slot].value == ISOTOK_VALUE_NONE) continue;
        step.size = p;
        step.exception = trie->nodes[slot].value;
        if (trie->ids[slot] != ISOTOK_NO_TOKEN) step.piece_size = p;
    }
    if (step.size == 0) step.size = character;
    if (step.piece_size == 0) step.piece_size = character;
    return step;
}

/* A chunk, and where its teacher stands. */
struct place {
    uint32_t chunk, size, boundary; /* in front of `token` */
    const uint8_t *text;
    size_t token, last;
    int64_t count;
};

static bool add_candidate(struct learning *l, const struct place *at, uint32_t p, uint32_t reach)
{
    const struct isotok_distil *d = l->d;
    uint32_t end = p;
    size_t token = at->token;
    struct candidate *made;
    while (end < reach) end += d->tokens[token++] & 0xFFu;
    if (end - p > MOST_BYTES || token - at->token > MOST_TOKENS) return true;
    if (memchr(at->text + p, 0, end - p) != NULL) return true; /* keys hold none */
    if (!isotok__train_grow(&l->candidates, &l->capacity, l->count + 1, sizeof *l->candidates))
        return false;
    made = &l->candidates[l->count++];
    made->text = at->text + p;
    made->tokens = d->tokens + at->token;
    made->exception = (struct isotok__exception){at->chunk,
                                                 p,
                                                 (uint8_t)(end - p),
                                                 (uint8_t)(token - at->token),
                                                 at->token,
                                                 at->count,
                                                 0};
    return true;
}

static bool is_right(const struct isotok_distil *d, const struct place *at,
                     const struct isotok__exception *e)
{
    return at->token + e->count <= at->last &&
           memcmp(d->tokens + e->tokens, d->tokens + at->token, e->count * sizeof *d->tokens) == 0;
}

/* One step of longest match at p, which the teacher has as a boundary. */
static bool judge(struct learning *l, const struct place *at, uint32_t p, const struct step *step)
{
    struct isotok_distil *d = l->d;
    const bool plain_right = step->piece_size == (d->tokens[at->token] & 0xFFu);
    bool right = plain_right;
    if (step->exception != 0) {
        struct isotok__exception *e = &d->exceptions[step->exception - 1];
        right = is_right(d, at, e);
        if (right && !plain_right) e->good += at->count;
        if (!right && plain_right) e->bad += at->count;
    }
    return right || add_candidate(l, at, p, p + step->size);
}

static bool judge_chunk(struct learning *l, uint32_t chunk)
{
    const struct isotok_distil *d = l->d;
    struct place at = {.chunk = chunk, .token = d->ends[chunk], .last = d->ends[chunk + 1]};
    uint32_t p = 0;
    at.text = isotok_counts_word(d->counts, chunk, &at.size, &at.count);
    while (p < at.size) {
        const struct step step = step_at(&l->trie, at.text + p, at.size - p);
        while (at.boundary < p) at.boundary += d->tokens[at.token++] & 0xFFu;
        if (at.boundary == p && !judge(l, &at, p, &step)) return false;
        p += step.size;
    }
    return true;
}

static isotok_train_status judge_all(struct learning *l, isotok_train_error *error)
{
    struct isotok_distil *d = l->d;
    uint32_t i;
    isotok_train_status status;
    l->count = 0;
    for (i = 0; i < d->exceptions_count; i++) d->exceptions[i].good = d->exceptions[i].bad = 0;
    status = isotok__keys_trie_make(d, d->exceptions, d->exceptions_count, &l->trie, error);
    for (i = 0; i < d->count && status == ISOTOK_TRAIN_OK; i++)
        if (!judge_chunk(l, i)) status = isotok__no_memory(error);
    isotok__keys_trie_free(&l->trie);
    return status;
}

/* By text, then by tokens. */
static int by_text(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    const uint32_t n = x->exception.size, m = y->exception.size;
    int order = memcmp(x->text, y->text, n < m ? n : m);
    if (order == 0) order = (n > m) - (n < m);
    if (order == 0) order = x->exception.count - y->exception.count;
    return order ? order : memcmp(x->tokens, y->tokens, x->exception.count * sizeof *x->tokens);
}

static int64_t gain(const struct candidate *candidate)
{
    return candidate->exception.good - candidate->exception.bad;
}

static void sort(struct learning *l, int (*compare)(const void *, const void *))
{
    if (l->count != 0) qsort(l->candidates, l->count, sizeof *l->candidates, compare);
}

static int by_gain(const void *a, const void *b)
{
    const int64_t m = gain(a), n = gain(b);
    return m != n ? (m < n ? 1 : -1) : by_text(a, b);
}

static bool same_text(const struct candidate *a, const struct candidate *b)
{
    return a->exception.size == b->exception.size &&
           memcmp(a->text, b->text, a->exception.size) == 0;
}

/* Adds up equal candidates. */
static void sum_equal(struct learning *l)
{
    size_t i, n = 0;
    sort(l, by_text);
    for (i = 0; i < l->count; i++) {
        struct candidate *c = &l->candidates[i];
        if (n > 0 && by_text(&l->candidates[n - 1], c) == 0)
            l->candidates[n - 1].exception.good += c->exception.good;
        else
            l->candidates[n++] = *c;
    }
    l->count = n;
}

/* Keeps of each text what repairs most, if that is enough. */
static void keep_best(struct learning *l, int64_t least)
{
    size_t i, n = 0;
    sort(l, by_text);
    for (i = 0; i < l->count; i++) {
        struct candidate *c = &l->candidates[i];
        if (gain(c) < least) continue;
        if (n == 0 || !same_text(&l->candidates[n - 1], c))
            l->candidates[n++] = *c;
        else if (gain(c) > gain(&l->candidates[n - 1]))
            l->candidates[n - 1] = *c;
    }
    l->count = n;
}

/* Makes the first `count` candidates the exceptions. */
static isotok_train_status choose(struct learning *l, size_t count, isotok_train_error *error)
{
    struct isotok_distil *d = l->d;
    struct isotok__exception *made = malloc((count + 1) * sizeof *made);
    size_t i;
    if (made == NULL) return isotok__no_memory(error);
    l->count = count;
    sort(l, by_text);
    for (i = 0; i < count; i++) made[i] = l->candidates[i].exception;
    free(d->exceptions);
    d->exceptions = made;
    d->exceptions_count = (uint32_t)count;
    return ISOTOK_TRAIN_OK;
}

/* Replaces the exceptions by the best of them and of the candidates. */
static isotok_train_status renew(struct learning *l, uint32_t most, int64_t least,
                                 isotok_train_error *error)
{
    struct isotok_distil *d = l->d;
    size_t i;
    sum_equal(l);
    if (!isotok__train_grow(&l->candidates, &l->capacity, l->count + d->exceptions_count + 1,
                            sizeof *l->candidates))
        return isotok__no_memory(error);
    for (i = 0; i < d->exceptions_count; i++) {
        const struct isotok__exception *e = &d->exceptions[i];
        l->candidates[l->count++] =
            (struct candidate){isotok__exception_text(d, e), d->tokens + e->tokens, *e};
    }
    keep_best(l, least);
    sort(l, by_gain);
    return choose(l, l->count < most ? l->count : most, error);
}

/* Only what was seen to repair more than it breaks. */
static void drop_bad(struct isotok_distil *d, int64_t least)
{
    uint32_t i, n = 0;
    d->stats.repaired = d->stats.broken = 0;
    for (i = 0; i < d->exceptions_count; i++) {
        const struct isotok__exception e = d->exceptions[i];
        if (e.good - e.bad < least) continue;
        d->stats.repaired += e.good;
        d->stats.broken += e.bad;
        d->exceptions[n++] = e;
    }
    d->exceptions_count = n;
    d->stats.exceptions = n;
}

isotok_train_status isotok_distil_learn(isotok_distil *d, uint32_t most, int64_t least,
                                        isotok_train_error *error)
{
    struct learning l = {.d = d};
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t round;
    free(d->exceptions);
    d->exceptions = NULL;
    d->exceptions_count = 0;
    for (round = 0; most != 0 && round < ROUNDS && status == ISOTOK_TRAIN_OK; round++) {
        status = judge_all(&l, error);
        if (status == ISOTOK_TRAIN_OK) status = renew(&l, most, least, error);
    }
    if (most != 0 && status == ISOTOK_TRAIN_OK) status = judge_all(&l, error);
    if (status == ISOTOK_TRAIN_OK) drop_bad(d, least);
    free(l.candidates);
    return status;
}
