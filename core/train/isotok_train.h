/* isotok_train.h: counting words and training BPE vocabularies. Native only: it is no part of
 * isotok.wasm. Unlike the core it allocates (malloc).
 *
 *   isotok_counts *counts = isotok_counts_new(model);   // of a compiled pre-tokenizer
 *   isotok_counts_add_text(counts, text, size, &error); // … each text
 *   isotok_bpe_options options = isotok_bpe_options_new();
 *   isotok_bpe *bpe = isotok_bpe_new(&options, counts, &error);
 *   isotok_bpe_run(bpe, 16000, NULL, NULL, &error);     // until there are 16,000 tokens
 *   isotok_bpe_merges(bpe, &merges);
 *
 * The result depends on the words and their counts only, not on their order. An object belongs
 * to one call at a time. Counts are exact int64; no sum overflows silently. */
#ifndef ISOTOK_TRAIN_H
#define ISOTOK_TRAIN_H

#include "isotok.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum isotok_train_status {
    ISOTOK_TRAIN_OK = 0,
    ISOTOK_TRAIN_EXHAUSTED = 1,   /* no pair is left, or none that the options allow */
    ISOTOK_TRAIN_STOPPED = 2,     /* by the progress callback; the next call goes on */
    ISOTOK_TRAIN_E_MEMORY = -1,   /* no memory */
    ISOTOK_TRAIN_E_OVERFLOW = -2, /* a count, or a sum of them, is above 2^63 - 1 */
    ISOTOK_TRAIN_E_ARGUMENT = -3,
    ISOTOK_TRAIN_E_EMPTY = -4,  /* there are no words */
    ISOTOK_TRAIN_E_TARGET = -5, /* fewer tokens are wanted than there are already */
    ISOTOK_TRAIN_E_UTF8 = -6,   /* Unicode units: a word is not UTF-8 */
    ISOTOK_TRAIN_E_LIMIT = -7   /* more than 2^32 symbols or words */
} isotok_train_status;

/* What went wrong: a sentence that does not end, and the word, merge or number it is about. */
typedef struct isotok_train_error {
    isotok_train_status status;
    const char *message; /* static, in English */
    uint64_t index;
} isotok_train_error;

/* ---- Words and how often they occur ---- */

typedef struct isotok_counts isotok_counts;

/* An empty table. Texts are cut by the pre-tokenizer of `model`, which must outlive it; with NULL
 * a text is one word. NULL: no memory, or the model has no pre-tokenizer. */
ISOTOK_API(isotok_counts_new)
isotok_counts *isotok_counts_new(const isotok_model *model);

ISOTOK_API(isotok_counts_free)
void isotok_counts_free(isotok_counts *counts);

/* Counts the words of a text, which is UTF-8. No word spans two texts. */
ISOTOK_API(isotok_counts_add_text)
isotok_train_status isotok_counts_add_text(isotok_counts *counts, const uint8_t *text, size_t size,
                                           isotok_train_error *out_error);

/* Adds a word that occurs `count` times, count >= 1. */
ISOTOK_API(isotok_counts_add_word)
isotok_train_status isotok_counts_add_word(isotok_counts *counts, const uint8_t *word, size_t size,
                                           int64_t count, isotok_train_error *out_error);

/* Adds all of `other`. After an error some of it has been added. */
ISOTOK_API(isotok_counts_merge)
isotok_train_status isotok_counts_merge(isotok_counts *counts, const isotok_counts *other,
                                        isotok_train_error *out_error);

/* Number of different words, their bytes, and bytes of memory in use. */
ISOTOK_API(isotok_counts_size)
uint32_t isotok_counts_size(const isotok_counts *counts);
ISOTOK_API(isotok_counts_bytes)
uint64_t isotok_counts_bytes(const isotok_counts *counts);
ISOTOK_API(isotok_counts_memory)
uint64_t isotok_counts_memory(const isotok_counts *counts);

/* Word number `index`, in the order in which they were first seen. */
ISOTOK_API(isotok_counts_word)
const uint8_t *isotok_counts_word(const isotok_counts *counts, uint32_t index, uint32_t *out_size,
                                  int64_t *out_count);

/* Numbers of all words to order[0..size), ascending by their bytes. */
ISOTOK_API(isotok_counts_sort)
isotok_train_status isotok_counts_sort(const isotok_counts *counts, uint32_t *order,
                                       isotok_train_error *out_error);

ISOTOK_API(isotok_counts_clear)
void isotok_counts_clear(isotok_counts *counts);

/* ---- Pairs of characters of scripts without spaces ---- */

#define ISOTOK_BIGRAM_SHIFT 21 /* a pair as a number: left << 21 | right */

typedef struct isotok_bigrams isotok_bigrams;

/* An empty table of pairs of neighbouring characters of Han, Kana, Hangul, Thai, Lao, Khmer and
 * Myanmar. NULL: no memory. */
ISOTOK_API(isotok_bigrams_new)
isotok_bigrams *isotok_bigrams_new(void);
ISOTOK_API(isotok_bigrams_free)
void isotok_bigrams_free(isotok_bigrams *bigrams);

/* Counts the pairs of a text, which is UTF-8. */
ISOTOK_API(isotok_bigrams_add_text)
isotok_train_status isotok_bigrams_add_text(isotok_bigrams *bigrams, const uint8_t *text,
                                            size_t size, isotok_train_error *out_error);

/* Number of different pairs; all of them with their counts, in no order. */
ISOTOK_API(isotok_bigrams_size)
uint32_t isotok_bigrams_size(const isotok_bigrams *bigrams);
ISOTOK_API(isotok_bigrams_items)
void isotok_bigrams_items(const isotok_bigrams *bigrams, uint64_t *keys, int64_t *counts);

ISOTOK_API(isotok_bigrams_clear)
void isotok_bigrams_clear(isotok_bigrams *bigrams);

/* From now on words of texts are cut between two characters of those scripts whose pair is not
 * among keys[0..count), which differ; with `mixed` also where only one is of them. */
ISOTOK_API(isotok_counts_cut)
isotok_train_status isotok_counts_cut(isotok_counts *counts, const uint64_t *keys, uint32_t count,
                                      int mixed, isotok_train_error *out_error);

/* ---- Training ---- */

enum { ISOTOK_BPE_BYTES = 0, ISOTOK_BPE_UNICODE = 1 };             /* unit */
enum { ISOTOK_BPE_SMALLEST_IDS = 0, ISOTOK_BPE_LARGEST_TEXT = 1 }; /* tie_break */

#define ISOTOK_BPE_NO_TOKEN 0xFFFFFFFFu

/* Texts end to end: text i is pool[ends[i - 1]..ends[i]). */
typedef struct isotok_bpe_texts {
    const uint8_t *pool;
    const uint64_t *ends;
    uint32_t count;
} isotok_bpe_texts;

/* How merges are chosen: the pair with the highest count; of equal ones that of the smallest ids
 * (left, then right), as Hugging Face does, or that of the largest text (left, then right).
 * A merge whose text is a token already makes that token. */
typedef struct isotok_bpe_options {
    uint32_t unit;
    uint32_t tie_break;
    isotok_bpe_texts base;      /* tokens 0, 1, … that exist; count 0: the 256 bytes */
    const uint32_t *byte_ids;   /* [256] token of each byte, NO_TOKEN: it is left out of words;
                               * NULL: by the text of the base tokens */
    int64_t min_frequency;      /* no pair with a lower count is merged; 0 is 1 */
    uint32_t max_token_bytes;   /* of tokens that merges make; 0: any */
    uint32_t limit_alphabet;    /* Unicode: most characters beyond ASCII that become tokens */
    isotok_bpe_texts forbidden; /* pairs that are never merged: left, right, left, right, … */
    uint32_t window;            /* pairs whose places are known at a time; 0: a good number. Changes
                              * memory and time, never the result */
} isotok_bpe_options;

ISOTOK_API(isotok_bpe_options_new)
isotok_bpe_options isotok_bpe_options_new(void);

typedef struct isotok_bpe isotok_bpe;

/* A token that training made of two. */
typedef struct isotok_bpe_merge {
    uint32_t left, right, made;
    uint32_t unused;
    int64_t count; /* of the pair, when it was merged */
} isotok_bpe_merge;

typedef struct isotok_bpe_stats {
    uint64_t words, symbols;      /* of the words, at the beginning and … */
    uint64_t hydration_scans;     /* reads of all words to find the places of pairs */
    uint64_t hydrated_entries;    /* places found by them */
    uint64_t peak_pairs, pairs;   /* whose places are known */
    uint64_t places;              /* in memory now */
    uint64_t memory, peak_memory; /* bytes, of arrays */
} isotok_bpe_stats;

/* Returns nonzero to stop. */
typedef int (*isotok_bpe_progress)(void *context, uint64_t done, uint64_t total);

/* A training run over words, which are copied. NULL: see out_error. */
ISOTOK_API(isotok_bpe_new)
isotok_bpe *isotok_bpe_new(const isotok_bpe_options *options, const isotok_counts *counts,
                           isotok_train_error *out_error);

ISOTOK_API(isotok_bpe_free)
void isotok_bpe_free(isotok_bpe *bpe);

/* Adds tokens until there are `target`. Unicode units: a character that becomes a token is one. */
ISOTOK_API(isotok_bpe_run)
isotok_train_status isotok_bpe_run(isotok_bpe *bpe, uint32_t target, isotok_bpe_progress progress,
                                   void *context, isotok_train_error *out_error);

/* Adds one merge or character, whatever min_frequency is. EXHAUSTED: there is none. */
ISOTOK_API(isotok_bpe_step)
isotok_train_status isotok_bpe_step(isotok_bpe *bpe, isotok_train_error *out_error);

/* Goes on from tokens (behind the base) and merges of another run, before any of its own. The
 * merges need not be of these words. */
ISOTOK_API(isotok_bpe_replay)
isotok_train_status isotok_bpe_replay(isotok_bpe *bpe, const isotok_bpe_texts *tokens,
                                      const isotok_bpe_merge *merges, uint32_t count,
                                      isotok_train_error *out_error);

/* Unicode units: gives a character a token now. It need not occur. */
ISOTOK_API(isotok_bpe_add_character)
isotok_train_status isotok_bpe_add_character(isotok_bpe *bpe, uint32_t character,
                                             isotok_train_error *out_error);

/* Unicode units: characters without a token never get one, nor does a pair with them. Their
 * number; isotok_bpe_frozen tells which, ascending, and how often they occur. */
ISOTOK_API(isotok_bpe_freeze)
uint32_t isotok_bpe_freeze(isotok_bpe *bpe);
ISOTOK_API(isotok_bpe_frozen)
uint32_t isotok_bpe_frozen(const isotok_bpe *bpe, uint32_t *out_characters, int64_t *out_counts);

/* Results so far; they live until the next call that changes `bpe`. */
ISOTOK_API(isotok_bpe_merges)
uint32_t isotok_bpe_merges(const isotok_bpe *bpe, const isotok_bpe_merge **out_merges);
ISOTOK_API(isotok_bpe_tokens)
uint32_t isotok_bpe_tokens(const isotok_bpe *bpe);
ISOTOK_API(isotok_bpe_token)
const uint8_t *isotok_bpe_token(const isotok_bpe *bpe, uint32_t id, uint32_t *out_size);
ISOTOK_API(isotok_bpe_last_count)
int64_t isotok_bpe_last_count(const isotok_bpe *bpe);
ISOTOK_API(isotok_bpe_get_stats)
isotok_bpe_stats isotok_bpe_get_stats(const isotok_bpe *bpe);

#ifdef __cplusplus
}
#endif
#endif
