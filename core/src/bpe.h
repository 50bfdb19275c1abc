/* L3: the BPE segmenter. */
#ifndef ISOTOK_BPE_H
#define ISOTOK_BPE_H

#include "session.h"

/* Segments text[0..size), which begins and ends at cuts, appending to `tokens`. */
void isotok__bpe(const isotok_model *model, const uint8_t *text, uint32_t size,
                 struct isotok__bpe_work *work, struct isotok__tokens *tokens);

/* The same, for models that may be cut: all chunks, or only the first, whose end is returned. */
void isotok__bpe_chunks(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__bpe_work *work, struct isotok__tokens *tokens);
uint32_t isotok__bpe_first(const isotok_model *model, const uint8_t *text, uint32_t size,
                           struct isotok__bpe_work *work, struct isotok__tokens *tokens);

/* Segments a pre-token: a piece as a whole, or merged from its symbols. If not `whole` it is a part
 * of one, and is no piece that its merges do not make. */
void isotok__bpe_pretoken(const isotok_model *model, const uint8_t *text, uint32_t size, bool whole,
                          struct isotok__bpe_work *work, struct isotok__tokens *tokens);

/* The end of the first part of a pre-token of a model with char_joints that no piece leaves, so that
 * parts are segmented on their own: in front of a character that no piece joins to the one before
 * it. Between two of ASCII it is not looked for. */
uint32_t isotok__bpe_first_part(const isotok_model *model, const uint8_t *text, uint32_t size);

/* Forgets the merges of UNUSED pieces: call at the start of a text. */
void isotok__bpe_forget(const struct isotok__bpe_work *work);

#endif
