/* L3: WordPiece and WordLevel of tokenizers, for one pre-token. */
#ifndef ISOTOK_WORDPIECE_H
#define ISOTOK_WORDPIECE_H

#include "session.h"

/* Segments text[0..size), appending to `tokens`. */
void isotok__wordpiece(const isotok_model *model, const uint8_t *text, uint32_t size,
                       struct isotok__tokens *tokens);

#endif
