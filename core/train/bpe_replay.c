/* Going on from merges that are known: each word is merged on its own, by rank. See bpe.h. */
#include <stdlib.h>

#include "bpe.h"

struct rank {
    uint64_t key;
    uint32_t rank, made;
};

struct ranks {
    struct rank *slots;
    uint32_t mask;
};

static const struct rank *find_rank(const struct ranks *ranks, uint64_t key)
{
    uint32_t at = isotok__hash_key(key) & ranks->mask;
    while (ranks->slots[at].key != 0 && ranks->slots[at].key != key) at = (at + 1) & ranks->mask;
    return &ranks->slots[at];
}

/* The merge of two neighbours that comes first, or NULL. */
static const struct rank *first_merge(const struct ranks *ranks, const uint32_t *word)
{
    const uint32_t *s = word + ISOTOK__WORD_HEAD;
    const struct rank *best = NULL;
    uint32_t i;
    for (i = 0; i + 1 < word[0]; i++) {
        const struct rank *one = find_rank(ranks, ISOTOK__KEY(s[i], s[i + 1]));
        if (one->key != 0 && (best == NULL || one->rank < best->rank)) best = one;
    }
    return best;
}

static void merge_word(const struct ranks *ranks, uint32_t *word)
{
    uint32_t *s = word + ISOTOK__WORD_HEAD;
    const struct rank *merge;
    while ((merge = first_merge(ranks, word)) != NULL) {
        const uint32_t left = isotok__key_left(merge->key), right = isotok__key_right(merge->key);
        uint32_t i, j = 0;
        for (i = 0; i < word[0]; j++) {
            const bool here = i + 1 < word[0] && s[i] == left && s[i + 1] == right;
            s[j] = here ? merge->made : s[i];
            i += here ? 2 : 1;
        }
        word[0] = j;
    }
}

/* Merges all words, and closes the gaps that this leaves. */
static void merge_words(struct isotok_bpe *t, const struct ranks *ranks)
{
    size_t at, end = 0;
    uint32_t room;
    for (at = 0; at < t->arena_count; at += ISOTOK__WORD_HEAD + (size_t)room) {
        uint32_t *word = t->arena + at;
        room = word[0];
        merge_word(ranks, word);
        if (word[0] < 2) continue;
        memmove(t->arena + end, word, (ISOTOK__WORD_HEAD + (size_t)word[0]) * sizeof *word);
        end += ISOTOK__WORD_HEAD + (size_t)t->arena[end];
    }
    t->arena_count = end;
}

static isotok_train_status add_tokens(struct isotok_bpe *t, const isotok_bpe_texts *tokens,
                                      const uint8_t *is_made, isotok_train_error *error)
{
    uint32_t i, symbol;
    for (i = 0; i < tokens->count; i++) {
        const uint64_t begin = i ? tokens->ends[i - 1] : 0;
        const uint8_t *text = tokens->pool + begin;
        const uint32_t size = (uint32_t)(tokens->ends[i] - begin);
        symbol = is_made[i] ? ISOTOK_BPE_NO_TOKEN : isotok__bpe_find_character(t, text, size);
        if (isotok__bpe_find_text(t, text, size) != ISOTOK_BPE_NO_TOKEN)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                      "a token to go on from exists already", i);
        if (!is_made[i]) t->tokens_of_characters++;
        if (symbol == ISOTOK_BPE_NO_TOKEN) symbol = isotok__bpe_add_symbol(t, text, size);
        if (symbol == ISOTOK_BPE_NO_TOKEN || !isotok__bpe_add_token(t, symbol))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for tokens", i);
    }
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status check(const struct isotok_bpe *t, const isotok_bpe_merge *merges,
                                 uint32_t count, uint32_t tokens, uint8_t *is_made,
                                 isotok_train_error *error)
{
    const size_t all = t->token_count + tokens;
    uint32_t i;
    if (t->threshold != 0 || t->merge_count != 0)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                  "a run that has begun cannot go on from another", 0);
    for (i = 0; i < count; i++) {
        const isotok_bpe_merge *one = &merges[i];
        if (one->left >= all || one->right >= all || one->made >= all)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                      "a merge to go on from has a token that does not exist", i);
        if (one->made >= t->token_count) is_made[one->made - t->token_count] = 1;
    }
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status rank_merges(struct isotok_bpe *t, const isotok_bpe_merge *merges,
                                       uint32_t count, isotok_train_error *error)
{
    struct ranks ranks;
    size_t slots = 16;
    uint32_t i;
    while (slots < count * (size_t)2 + 2) slots *= 2;
    ranks.slots = calloc(slots, sizeof *ranks.slots);
    ranks.mask = (uint32_t)(slots - 1);
    if (ranks.slots == NULL ||
        !isotok__train_grow(&t->merges, &t->merges_capacity, count + 1u, sizeof *t->merges)) {
        free(ranks.slots);
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for merges", count);
    }
    for (i = 0; i < count; i++) {
        const uint64_t key = ISOTOK__KEY(t->tokens[merges[i].left], t->tokens[merges[i].right]);
        struct rank *slot = ranks.slots + (find_rank(&ranks, key) - ranks.slots);
        if (slot->key == 0) *slot = (struct rank){key, i, t->tokens[merges[i].made]};
        t->merges[i] = merges[i];
    }
    t->merge_count = count;
    if (count != 0) t->last_count = merges[count - 1].count;
    merge_words(t, &ranks);
    free(ranks.slots);
    return ISOTOK_TRAIN_OK;
}

isotok_train_status isotok_bpe_replay(isotok_bpe *t, const isotok_bpe_texts *tokens,
                                      const isotok_bpe_merge *merges, uint32_t count,
                                      isotok_train_error *error)
{
    uint8_t *is_made = calloc((size_t)tokens->count + 1, 1);
    isotok_train_status status;
    if (is_made == NULL)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for tokens", 0);
    status = check(t, merges, count, tokens->count, is_made, error);
    if (status == ISOTOK_TRAIN_OK) status = add_tokens(t, tokens, is_made, error);
    free(is_made);
    return status == ISOTOK_TRAIN_OK ? rank_merges(t, merges, count, error) : status;
}
