/* L3: the Unigram segmenter. */
#ifndef ISOTOK_UNIGRAM_H
#define ISOTOK_UNIGRAM_H

#include "cache.h"
#include "session.h"

/* Segments text[0..size), which begins and ends at cuts, into `tokens`; size > 0.
 * `*carried` is the float32 score of the whole text's best path up to here and becomes
 * the one at the end. */
void isotok__unigram(const isotok_model *model, const uint8_t *text, uint32_t size, float *carried,
                     const struct isotok__unigram_work *work, struct isotok__tokens *tokens);

/* Tokens of the path that `work` leads back from `size`: back, and start where it is wide. */
void isotok__unigram_backtrack(const isotok_model *model, uint32_t size,
                               const struct isotok__unigram_work *work,
                               struct isotok__tokens *tokens);

/* The same, through a cache; appends to `tokens`. Narrow models that may be cut. */
void isotok__unigram_cached(const isotok_model *model, const uint8_t *text, uint32_t size,
                            float *carried, const struct isotok__unigram_work *work,
                            struct isotok__cache *cache, struct isotok__tokens *tokens);

#endif
