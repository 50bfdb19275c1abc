/* L3: the WORD and CHAR segmenters: look-ups without search. */
#ifndef ISOTOK_WORDS_H
#define ISOTOK_WORDS_H

#include "session.h"

/* Both segment text[0..size), appending to `tokens`. */
void isotok__words(const isotok_model *model, const uint8_t *text, uint32_t size,
                   struct isotok__tokens *tokens);
void isotok__characters(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__tokens *tokens);

#endif
