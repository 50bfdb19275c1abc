/* L3: the segmenters of distilled models: longest match, and highest priority. */
#ifndef ISOTOK_GREEDY_H
#define ISOTOK_GREEDY_H

#include "session.h"

/* Segments text[0..size), which begins and ends at cuts, into `tokens`. */
void isotok__greedy(const isotok_model *model, const uint8_t *text, uint32_t size,
                    struct isotok__tokens *tokens);

#endif
