/* The teacher's answers. See isotok_distil.h. */
#include <stdlib.h>

#include "distil.h"
#include "unigram.h"

void isotok_distil_free(isotok_distil *d)
{
    if (d == NULL) return;
    free(d->ends);
    free(d->tokens);
    free(d->frequencies);
    free(d->memo);
    free(d->exceptions);
    free(d->words);
    free(d->blob);
    free(d);
}

static uint32_t longest_chunk(const isotok_counts *counts)
{
    uint32_t longest = 0, size, i;
    int64_t count;
    for (i = 0; i < isotok_counts_size(counts); i++) {
        isotok_counts_word(counts, i, &size, &count);
        if (size > longest) longest = size;
    }
    return longest;
}

/* Appends the tokens of chunk i as ids. */
static bool take_tokens(struct isotok_distil *d, uint32_t i, const struct isotok__tokens *tokens,
                        int64_t count)
{
    const size_t begin = d->ends[i];
    uint32_t k;
    if (!isotok__train_grow(&d->tokens, &d->tokens_capacity, begin + tokens->count,
                            sizeof *d->tokens))
        return false;
    for (k = 0; k < tokens->count; k++) {
        const uint32_t slot = tokens->slots[k] >> 8;
        const uint32_t id = slot == ISOTOK_UNK_SLOT ? slot : d->model->blob.trie_ids[slot];
        d->tokens[begin + k] = id << 8 | (tokens->slots[k] & 0xFFu);
        if (slot != ISOTOK_UNK_SLOT) d->frequencies[id] += count;
    }
    d->ends[i + 1] = begin + tokens->count;
    d->stats.tokens += tokens->count;
    return true;
}

static bool teach(struct isotok_distil *d, const struct isotok__unigram_work *work, uint8_t *padded)
{
    uint32_t i, size;
    for (i = 0; i < d->count; i++) {
        struct isotok__tokens tokens = {0};
        int64_t count;
        float carried = 0;
        const uint8_t *text = isotok_counts_word(d->counts, i, &size, &count);
        d->ends[i + 1] = d->ends[i];
        d->stats.occurrences += count;
        d->stats.bytes += size;
        if (size == 0) continue;
        memcpy(padded, text, size);
        memset(padded + size, 0, ISOTOK__TEXT_PADDING);
        isotok__unigram(d->model, padded, size, &carried, work, &tokens);
        if (!take_tokens(d, i, &tokens, count)) return false;
    }
    return true;
}

isotok_distil *isotok_distil_new(const isotok_model *model, const isotok_counts *counts,
                                 isotok_train_error *error)
{
    const size_t longest = longest_chunk(counts);
    struct isotok__unigram_work work = {0};
    uint8_t *padded = malloc(longest + ISOTOK__TEXT_PADDING);
    isotok_distil *d = calloc(1, sizeof *d);
    bool done = false;
    work.best = malloc((longest + 1) * sizeof *work.best);
    work.back = malloc((longest + 1) * sizeof *work.back);
    if (d != NULL) {
        d->model = model;
        d->counts = counts;
        d->count = isotok_counts_size(counts);
        d->stats.chunks = d->count;
        d->ends = calloc((size_t)d->count + 1, sizeof *d->ends);
        d->frequencies = calloc(model->blob.vocab_size, sizeof *d->frequencies);
        done = padded && work.best && work.back && d->ends && d->frequencies &&
               teach(d, &work, padded);
    }
    free(padded);
    free(work.best);
    free(work.back);
    if (done && d->count != 0) return d;
    isotok_distil_free(d);
    if (done)
        isotok__train_fail(error, ISOTOK_TRAIN_E_EMPTY, "no text was counted", 0);
    else
        isotok__no_memory(error);
    return NULL;
}

void isotok_distil_frequencies(const isotok_distil *d, int64_t *frequencies)
{
    memcpy(frequencies, d->frequencies, d->model->blob.vocab_size * sizeof *frequencies);
}

void isotok_distil_get_stats(const isotok_distil *d, isotok_distil_stats *out)
{
    *out = d->stats;
}
