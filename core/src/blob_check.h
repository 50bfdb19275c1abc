/* L1: the checks of the sections' lengths and contents (FORMAT.md §9). */
#ifndef ISOTOK_BLOB_CHECK_H
#define ISOTOK_BLOB_CHECK_H

#include "blob.h"

/* Scalars, lengths and operation lists: O(1). */
isotok_status isotok__check_shape(const struct isotok_model *model, const uint8_t *data,
                                  isotok_error *error);

/* Every id, link and bound: one pass over each section. */
isotok_status isotok__check_contents(const struct isotok_model *model, const uint8_t *data,
                                     isotok_error *error);

/* Longest run without NUL in text[0..size), at least `least`; a space counts `space`
 * bytes (3 where it becomes U+2581). */
uint32_t isotok__longest_run(const uint8_t *text, uint32_t size, uint32_t space, uint32_t least);

#endif
