/* L2, above cuts.h: walking internal text chunk by chunk, from the front. A chunk ends at a cut (cuts.h);
 * any subset of the cuts may be used, so runs of lower-case ASCII letters are passed eight
 * at a time without a look at their pairs. */
#ifndef ISOTOK_CHUNK_H
#define ISOTOK_CHUNK_H

#include "cache.h"
#include "cuts.h"

/* Bytes readable after the text: a look-ahead never ends at its end. */
#define ISOTOK__CHUNK_PADDING 24u

/* Emission will ask for the ids of an entry's first tokens. */
ISOTOK_INLINE void isotok__prefetch_ids(const isotok_model *model, const uint32_t *tokens)
{
    ISOTOK_PREFETCH(&model->blob.trie_ids[tokens[0] >> 8]);
    ISOTOK_PREFETCH(&model->blob.trie_ids[tokens[1] >> 8]);
}

/* Bytes of the first chunk of text[0..size), size > 0. */
uint32_t isotok__first_chunk(const isotok_model *model, const uint8_t *text, uint32_t size);

/* The first chunks of text[0..size), as far as they are short enough for the cache, at most
 * ISOTOK__CACHE_BATCH of them. Returns how many. If it was a longer one that stopped it, its size
 * is that of the next entry of `out`. */
uint32_t isotok__first_queries(const isotok_model *model, const struct isotok__cache *cache,
                               const uint8_t *text, uint32_t size, struct isotok__cache_query *out);

#endif
