/* Training runs: the public functions. See isotok_train.h and bpe.h.
 *
 * A failed call leaves the run consistent only where the status is no E_MEMORY: after that it must
 * be freed. */
#include <stdlib.h>

#include "bpe.h"

#define PROGRESS 64u /* tokens between two calls back */

isotok_bpe_options isotok_bpe_options_new(void)
{
    return (isotok_bpe_options){.min_frequency = 1, .limit_alphabet = UINT32_MAX};
}

static isotok_train_status copy_forbidden(struct isotok_bpe *t, isotok_train_error *error)
{
    const isotok_bpe_texts *texts = &t->options.forbidden;
    size_t slots = 16, size;
    if (texts->count == 0) return ISOTOK_TRAIN_OK;
    if (texts->count % 2 != 0)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                  "forbidden pairs are an odd number of texts", texts->count);
    size = (size_t)texts->ends[texts->count - 1];
    while (slots < texts->count * (size_t)4) slots *= 2;
    t->forbidden = calloc(slots, sizeof *t->forbidden);
    t->forbidden_mask = (uint32_t)(slots - 1);
    t->forbidden_texts = malloc(size + 1);
    t->forbidden_ends = malloc(texts->count * sizeof *t->forbidden_ends);
    if (t->forbidden == NULL || t->forbidden_texts == NULL || t->forbidden_ends == NULL)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for forbidden pairs",
                                  texts->count);
    memcpy(t->forbidden_texts, texts->pool, size);
    memcpy(t->forbidden_ends, texts->ends, texts->count * sizeof *t->forbidden_ends);
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status check_options(const isotok_bpe_options *options,
                                         isotok_train_error *error)
{
    const char *message = options->unit > ISOTOK_BPE_UNICODE             ? "unit is unknown"
                          : options->tie_break > ISOTOK_BPE_LARGEST_TEXT ? "tie_break is unknown"
                          : options->min_frequency < 0 ? "min_frequency is below 0"
                                                       : NULL;
    if (message == NULL) return ISOTOK_TRAIN_OK;
    return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT, message, 0);
}

isotok_bpe *isotok_bpe_new(const isotok_bpe_options *options, const isotok_counts *counts,
                           isotok_train_error *error)
{
    struct isotok_bpe *t;
    if (check_options(options, error) != ISOTOK_TRAIN_OK) return NULL;
    if (isotok_counts_size(counts) == 0) {
        isotok__train_fail(error, ISOTOK_TRAIN_E_EMPTY, "there are no words to train on", 0);
        return NULL;
    }
    if ((t = calloc(1, sizeof *t)) == NULL) {
        isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory", 0);
        return NULL;
    }
    t->options = *options;
    if (t->options.min_frequency < 1) t->options.min_frequency = 1;
    if (copy_forbidden(t, error) == ISOTOK_TRAIN_OK &&
        isotok__bpe_load(t, counts, error) == ISOTOK_TRAIN_OK) {
        t->options.base = t->options.forbidden =
            (isotok_bpe_texts){.count = t->options.forbidden.count};
        t->options.byte_ids = NULL;
        return t;
    }
    isotok_bpe_free(t);
    return NULL;
}

static void free_side(struct isotok__side *side)
{
    free(side->changes);
    free(side->touched);
    free(side->events);
}

void isotok_bpe_free(isotok_bpe *t)
{
    if (t == NULL) return;
    isotok__bpe_drop_pairs(t);
    free_side(&t->left);
    free_side(&t->right);
    free(t->arena);
    free(t->big_counts);
    free(t->symbols);
    free(t->pool);
    free(t->tokens);
    free(t->texts);
    free(t->characters);
    free(t->character_counts);
    free(t->lists);
    free(t->free_lists);
    free(t->forbidden);
    free(t->forbidden_texts);
    free(t->forbidden_ends);
    free(t->merges);
    free(t);
}

/* ---- What comes next ---- */

/* The most frequent character without a token, or NULL. */
static const struct isotok__candidate *next_character(struct isotok_bpe *t)
{
    for (; t->next_character < t->chars; t->next_character++) {
        const struct isotok__candidate *one = &t->characters[t->next_character];
        const struct isotok__symbol_text *symbol = &t->symbols[isotok__key_left(one->key)];
        if (symbol->token == ISOTOK_BPE_NO_TOKEN && !symbol->blocked) return one;
    }
    return NULL;
}

/* The hot pair with the highest count, or NULL. */
static isotok_train_status next_pair(struct isotok_bpe *t, struct isotok__pair **out,
                                     isotok_train_error *error)
{
    isotok_train_status status;
    *out = NULL;
    while (t->heap_count != 0) {
        const struct isotok__candidate top = t->heap[0];
        struct isotok__pair *pair = isotok__bpe_find(t, top.key);
        bool again = false;
        if (pair != NULL && pair->count >= t->threshold && pair->list == ISOTOK__NO_LIST &&
            pair->count == top.count) {
            status = isotok__bpe_resolve(t, pair, error);
            if (status != ISOTOK_TRAIN_OK) return status;
        }
        if (pair != NULL && pair->count == top.count && pair->list != ISOTOK__NO_LIST &&
            !isotok__bpe_refused(t, top.key)) {
            *out = pair;
            return ISOTOK_TRAIN_OK;
        }
        again = pair != NULL && pair->count >= t->threshold && pair->count < top.count;
        isotok__bpe_pop(t);
        if (again && !isotok__bpe_push(t, top.key, pair->count))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for pairs",
                                      t->token_count);
    }
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status add_character(struct isotok_bpe *t, uint32_t symbol,
                                         isotok_train_error *error)
{
    if (!isotok__bpe_add_token(t, symbol))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for a token",
                                  t->token_count);
    t->tokens_of_characters++;
    return ISOTOK_TRAIN_OK;
}

/* Adds a merge or a character. Pairs below `least` are looked at only to know whether one of them
 * comes before the next character: that is where training ends. */
static isotok_train_status advance(struct isotok_bpe *t, int64_t least, isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    while (status == ISOTOK_TRAIN_OK) {
        const struct isotok__candidate *character = next_character(t);
        const int64_t count = character ? character->count : INT64_MAX;
        struct isotok__pair *pair = NULL;
        if (character != NULL && t->tokens_of_characters >= t->options.limit_alphabet) {
            isotok_bpe_freeze(t);
            continue;
        }
        if (t->threshold != 0) status = next_pair(t, &pair, error);
        if (status != ISOTOK_TRAIN_OK) return status;
        if (pair != NULL && (character == NULL || pair->count > count)) {
            if (pair->count < least) return ISOTOK_TRAIN_EXHAUSTED;
            status = isotok__bpe_merge(t, pair, error);
            return status == ISOTOK_TRAIN_OK ? isotok__bpe_prune(t, error) : status;
        }
        /* pairs that are not hot are below the threshold */
        if (character != NULL && t->threshold != 0 && count >= t->threshold - 1) {
            t->last_count = count;
            return add_character(t, isotok__key_left(character->key), error);
        }
        if (t->threshold != 0 && t->threshold <= (count < least ? count : least))
            return ISOTOK_TRAIN_EXHAUSTED;
        status = isotok__bpe_hydrate(t, count < least ? count : least, error);
    }
    return status;
}

isotok_train_status isotok_bpe_run(isotok_bpe *t, uint32_t target, isotok_bpe_progress progress,
                                   void *context, isotok_train_error *error)
{
    size_t next = t->token_count;
    isotok_train_status status = ISOTOK_TRAIN_OK;
    if (target < t->token_count)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_TARGET,
                                  "fewer tokens are wanted than there are already", t->token_count);
    while (status == ISOTOK_TRAIN_OK && t->token_count < target) {
        if (progress != NULL && t->token_count >= next) {
            if (progress(context, t->token_count, target)) return ISOTOK_TRAIN_STOPPED;
            next = t->token_count + PROGRESS;
        }
        status = advance(t, t->options.min_frequency, error);
    }
    return status;
}

isotok_train_status isotok_bpe_step(isotok_bpe *t, isotok_train_error *error)
{
    return advance(t, 1, error);
}

/* ---- Characters ---- */

uint32_t isotok_bpe_freeze(isotok_bpe *t)
{
    uint32_t i, count = 0;
    for (i = 0; i < t->chars; i++) {
        if (t->symbols[i].token != ISOTOK_BPE_NO_TOKEN) continue;
        t->symbols[i].blocked = 1;
        count++;
    }
    return count;
}

uint32_t isotok_bpe_frozen(const isotok_bpe *t, uint32_t *out_characters, int64_t *out_counts)
{
    uint32_t i, count = 0;
    for (i = 0; i < t->chars; i++) {
        if (!t->symbols[i].blocked) continue;
        if (out_characters != NULL) out_characters[count] = t->symbols[i].character;
        if (out_counts != NULL) out_counts[count] = t->character_counts[i];
        count++;
    }
    return count;
}

isotok_train_status isotok_bpe_add_character(isotok_bpe *t, uint32_t character,
                                             isotok_train_error *error)
{
    uint8_t text[4];
    uint32_t symbol, size;
    if (t->options.unit != ISOTOK_BPE_UNICODE || character < 0x80 || character > 0x10FFFF)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                  "only characters beyond ASCII of Unicode units become tokens",
                                  character);
    size = isotok__utf8(character, text);
    if (isotok__bpe_find_text(t, text, size) != ISOTOK_BPE_NO_TOKEN) return ISOTOK_TRAIN_OK;
    symbol = isotok__bpe_find_character(t, text, size);
    if (symbol == ISOTOK_BPE_NO_TOKEN) symbol = isotok__bpe_add_symbol(t, text, size);
    if (symbol == ISOTOK_BPE_NO_TOKEN || !isotok__bpe_add_token(t, symbol))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for a token",
                                  t->token_count);
    t->tokens_of_characters++;
    return ISOTOK_TRAIN_OK;
}

/* ---- Results ---- */

uint32_t isotok_bpe_merges(const isotok_bpe *t, const isotok_bpe_merge **out)
{
    *out = t->merges;
    return (uint32_t)t->merge_count;
}

uint32_t isotok_bpe_tokens(const isotok_bpe *t)
{
    return (uint32_t)t->token_count;
}

const uint8_t *isotok_bpe_token(const isotok_bpe *t, uint32_t id, uint32_t *out_size)
{
    const struct isotok__symbol_text *symbol = &t->symbols[t->tokens[id]];
    *out_size = symbol->size;
    return t->pool + symbol->at;
}

int64_t isotok_bpe_last_count(const isotok_bpe *t)
{
    return t->last_count;
}

isotok_bpe_stats isotok_bpe_get_stats(const isotok_bpe *t)
{
    return t->stats;
}
