/* L2: user-defined pieces in raw and internal text. */
#ifndef ISOTOK_SPECIAL_H
#define ISOTOK_SPECIAL_H

#include "blob.h"

/* Longest user-defined piece that prefixes text[0..size), of at most `most` bytes (of the first 64
 * that do, as the original keeps them): bytes, or 0. `compact`: the text has U+2581 as a space. */
uint32_t isotok__user_match(const struct isotok__trie_node *user, uint32_t most, bool compact,
                            const uint8_t *text, size_t size);

/* Longest user-defined piece that prefixes internal text[0..size) (of the first 64 that
 * do): bytes of internal text, or 0. */
uint32_t isotok__user_match_internal(const isotok_model *model, const uint8_t *text, size_t size);

#endif
