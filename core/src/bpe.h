/* L3: SentencePiece's BPE segmenter. */
#ifndef ISOTOK_BPE_H
#define ISOTOK_BPE_H

#include "session.h"

/* Segments text[0..size), which begins and ends at cuts, appending to `tokens`. */
void isotok__bpe(const isotok_model *model, const uint8_t *text, uint32_t size,
                 struct isotok__bpe_work *work, struct isotok__tokens *tokens);

/* The same, through a cache. Narrow models that may be cut and have no UNUSED merges. */
void isotok__bpe_cached(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__bpe_work *work, struct isotok__cache *cache,
                        struct isotok__tokens *tokens);

/* Segments the pre-tokens of text that end at ends[0..count), the first begins at `begin`;
 * appends to `tokens`, and returns the last end. cache: or NULL. Byte-level models. */
uint32_t isotok__bpe_pretokens(const isotok_model *model, const uint8_t *text, uint32_t begin,
                               const uint32_t *ends, uint32_t count, struct isotok__bpe_work *work,
                               struct isotok__cache *cache, struct isotok__tokens *tokens);

/* Forgets the merges of UNUSED pieces: call at the start of a text. */
void isotok__bpe_forget(const struct isotok__bpe_work *work);

#endif
