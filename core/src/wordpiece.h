/* L3: pre-tokens that are looked up: as a whole, or as the longest pieces from the left. */
#ifndef ISOTOK_WORDPIECE_H
#define ISOTOK_WORDPIECE_H

#include "session.h"

/* Both segment one pre-token, text[0..size), appending to `tokens`. */
void isotok__whole_word(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__tokens *tokens);
void isotok__wordpiece(const isotok_model *model, const uint8_t *text, uint32_t size,
                       struct isotok__tokens *tokens);

#endif
