/* L2: the segmentation of one short chunk, with the range of carried scores for which it is
 * the one that the float32 arithmetic of the whole text finds. */
#ifndef ISOTOK_CERTIFY_H
#define ISOTOK_CERTIFY_H

#include "blob.h"
#include "cache.h"

/* Segments text[0..size), size <= ISOTOK__CACHE_KEY, a chunk of a narrow unigram model. Fills tokens,
 * weights, count and valid_to of `entry` (not its key). valid_to < 0: not certified at all;
 * count 0: more tokens than an entry holds. */
void isotok__certify(const isotok_model *model, const uint8_t *text, uint32_t size,
                     struct isotok__cache_entry *entry);

#endif
