/* A training run, see isotok_train.h.
 *
 * ALGORITHM  Words lie in one arena of symbols and shrink in place. Only *hot* pairs are in the
 * table: those that occur at least `threshold` times. For each the words that it is in are known.
 * A count can only fall, but for pairs with the symbol that was just made, which are all known
 * from the words that changed. So a pair that is not hot stays below the threshold, and the hot
 * pair with the highest count is the pair with the highest count. When no hot pair is left, all
 * words are read again (hydrate), with a lower threshold.
 *
 * A merge that makes a token that exists may raise the count of a pair that is not hot. It gets an
 * upper bound of its count, and no places; when the bound is the highest, it is counted (resolve).
 *
 * Symbols: characters of the words beyond ASCII, by code point (Unicode units), then tokens. So
 * the order of pairs is that of their symbols. */
#ifndef ISOTOK_BPE_TRAIN_H
#define ISOTOK_BPE_TRAIN_H

#include "base.h"
#include "counts.h"

#define ISOTOK__NO_LIST 0xFFFFFFFFu
#define ISOTOK__WORD_HEAD 2u          /* of a word in the arena: number of symbols, count */
#define ISOTOK__BIG_COUNT 0x80000000u /* or'ed to an index of big_counts */

#define ISOTOK__GAP 0xFFFFFFFFu /* behind a word that became shorter; no number of symbols */

struct isotok__pair {
    uint64_t key; /* left << 32 | right, + 1; 0: empty */
    int64_t count;
    uint32_t list; /* NO_LIST: count is an upper bound */
    uint32_t unused;
};

struct isotok__places {
    uint32_t *words; /* where they begin in the arena */
    size_t count, capacity;
};

struct isotok__candidate {
    int64_t count;
    uint64_t key; /* as of a pair */
};

struct isotok__symbol_text {
    uint64_t at;
    uint32_t size;
    uint32_t token;   /* its id, NO_TOKEN: a character without one */
    uint32_t blocked; /* in no merge */
    uint32_t character;
};

/* Changes of a merge, by the neighbour of the pair. */
struct isotok__change {
    int64_t less, more; /* of the old pair, of the new one */
    uint32_t last;      /* the last word with the new pair, + 1 */
    uint32_t places;    /* words with the new pair */
    uint32_t list;      /* while places are handed out */
    uint32_t touched;
};

struct isotok__event {
    uint32_t neighbour, word;
};

/* One side of the pair. */
struct isotok__side {
    struct isotok__change *changes; /* [symbols_capacity] */
    uint32_t *touched;              /* neighbours, [symbols_capacity] */
    size_t touched_count;
    struct isotok__event *events;
    size_t events_count, events_capacity;
};

struct isotok_bpe {
    isotok_bpe_options options;
    uint32_t byte_ids[256];
    /* words */
    uint32_t *arena;
    size_t arena_count;
    int64_t *big_counts;
    size_t big_count, big_capacity;
    /* symbols and tokens */
    uint32_t chars; /* symbols that are characters */
    struct isotok__symbol_text *symbols;
    size_t symbol_count, symbols_capacity;
    uint8_t *pool;
    size_t pool_size, pool_capacity;
    uint32_t *tokens; /* symbols of ids */
    size_t token_count, tokens_capacity;
    uint32_t *texts; /* hash table: symbols + 1 of tokens, by text */
    uint32_t texts_mask;
    /* characters that may become tokens, most frequent first */
    struct isotok__candidate *characters;
    int64_t *character_counts; /* by symbol */
    uint32_t next_character, tokens_of_characters;
    /* pairs */
    int64_t threshold; /* 0: not hydrated */
    struct isotok__pair *pairs;
    uint32_t pairs_mask, pairs_used;
    struct isotok__places *lists;
    size_t list_count, lists_capacity;
    uint32_t *free_lists;
    size_t free_count, free_capacity;
    struct isotok__candidate *heap;
    size_t heap_count, heap_capacity;
    struct isotok__side left, right;
    /* forbidden pairs whose tokens exist, a hash set of keys */
    uint64_t *forbidden;
    uint32_t forbidden_mask;
    uint8_t *forbidden_texts; /* copies of options.forbidden */
    uint64_t *forbidden_ends;
    /* results */
    isotok_bpe_merge *merges;
    size_t merge_count, merges_capacity;
    int64_t last_count;
    isotok_bpe_stats stats;
};

#define ISOTOK__KEY(left, right) (((uint64_t)(left) << 32 | (right)) + 1)

ISOTOK_INLINE uint32_t isotok__key_left(uint64_t key)
{
    return (uint32_t)((key - 1) >> 32);
}

ISOTOK_INLINE uint32_t isotok__key_right(uint64_t key)
{
    return (uint32_t)(key - 1);
}

ISOTOK_INLINE uint32_t isotok__hash_key(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    key ^= key >> 32;
    key *= 0xD6E8FEB86659FD93u;
    return (uint32_t)(key >> 32);
}

ISOTOK_INLINE int64_t isotok__word_count(const struct isotok_bpe *t, const uint32_t *word)
{
    return word[1] < ISOTOK__BIG_COUNT ? word[1] : t->big_counts[word[1] - ISOTOK__BIG_COUNT];
}

/* bpe_words.c: words to symbols. */
isotok_train_status isotok__bpe_load(struct isotok_bpe *t, const isotok_counts *counts,
                                     isotok_train_error *error);

/* bpe_symbols.c. A symbol with a text; ISOTOK_BPE_NO_TOKEN without memory. */
uint32_t isotok__bpe_add_symbol(struct isotok_bpe *t, const uint8_t *text, uint32_t size);
uint32_t isotok__bpe_find_text(const struct isotok_bpe *t, const uint8_t *text, uint32_t size);
bool isotok__bpe_add_token(struct isotok_bpe *t, uint32_t symbol);
/* The symbol of a merge's text, new if there is no such token. */
uint32_t isotok__bpe_made(struct isotok_bpe *t, uint32_t left, uint32_t right, bool *out_new);
bool isotok__bpe_refused(const struct isotok_bpe *t, uint64_t key);
int isotok__bpe_compare_texts(const struct isotok_bpe *t, uint32_t a, uint32_t b);
/* The symbol of a character of the words, by its text. */
uint32_t isotok__bpe_find_character(const struct isotok_bpe *t, const uint8_t *text, uint32_t size);
uint32_t isotok__utf8(uint32_t character, uint8_t out[4]);

/* bpe_pairs.c */
struct isotok__pair *isotok__bpe_find(const struct isotok_bpe *t, uint64_t key);
struct isotok__pair *isotok__bpe_insert(struct isotok_bpe *t, uint64_t key);
uint32_t isotok__bpe_new_list(struct isotok_bpe *t);
/* Makes room for so many places, more than there are. */
bool isotok__bpe_grow_places(struct isotok_bpe *t, struct isotok__places *list, size_t capacity);
void isotok__bpe_drop_list(struct isotok_bpe *t, struct isotok__pair *pair);
void isotok__bpe_drop_pairs(struct isotok_bpe *t);
bool isotok__bpe_push(struct isotok_bpe *t, uint64_t key, int64_t count);
void isotok__bpe_pop(struct isotok_bpe *t);
bool isotok__bpe_before(const struct isotok_bpe *t, const struct isotok__candidate *a,
                        const struct isotok__candidate *b);
void isotok__bpe_account(struct isotok_bpe *t, int64_t more);

/* bpe_hydrate.c: all pairs that occur at least `least` times, or those that occur most often. */
isotok_train_status isotok__bpe_hydrate(struct isotok_bpe *t, int64_t least,
                                        isotok_train_error *error);
isotok_train_status isotok__bpe_prune(struct isotok_bpe *t, isotok_train_error *error);
/* The count and places of a pair that has only a bound. */
isotok_train_status isotok__bpe_resolve(struct isotok_bpe *t, struct isotok__pair *pair,
                                        isotok_train_error *error);

/* bpe_merge.c */
isotok_train_status isotok__bpe_merge(struct isotok_bpe *t, struct isotok__pair *pair,
                                      isotok_train_error *error);

#endif
