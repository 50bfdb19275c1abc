/* L2: user-defined pieces in internal text. */
#ifndef ISOTOK_SPECIAL_H
#define ISOTOK_SPECIAL_H

#include "blob.h"

/* Longest user-defined piece that prefixes internal text[0..size) (of the first 64 that
 * do): bytes of internal text, or 0. */
uint32_t isotok__user_match_internal(const isotok_model *model, const uint8_t *text, size_t size);

#endif
