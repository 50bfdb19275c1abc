/* L3: the Unigram segmenter of tokenizers, for one pre-token. */
#ifndef ISOTOK_UNIGRAM_EXACT_H
#define ISOTOK_UNIGRAM_EXACT_H

#include "session.h"

/* Segments text[0..size), size > 0, appending to `tokens`. */
void isotok__unigram_exact(const isotok_model *model, const uint8_t *text, uint32_t size,
                           const struct isotok__unigram_work *work, struct isotok__tokens *tokens);

#endif
