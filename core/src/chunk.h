/* L2, above cuts.h: walking internal text chunk by chunk, from the front. A chunk ends at a cut (cuts.h);
 * any subset of the cuts may be used, so runs of lower-case ASCII letters are passed eight
 * at a time without a look at their pairs. */
#ifndef ISOTOK_CHUNK_H
#define ISOTOK_CHUNK_H

#include "cache.h"
#include "cuts.h"
#include "vector.h"

/* Bytes readable after the text: a look-ahead never ends at its end. */
#define ISOTOK__CHUNK_PADDING 24u

/* Emission will ask for the ids of an entry's first tokens. */
ISOTOK_INLINE void isotok__prefetch_ids(const isotok_model *model, const uint32_t *tokens)
{
    ISOTOK_PREFETCH(&model->blob.trie_ids[tokens[0] >> 8]);
    ISOTOK_PREFETCH(&model->blob.trie_ids[tokens[1] >> 8]);
}

/* How many of the LOWER bytes at `text` are a-z, from the first on. */
#if ISOTOK_VECTORS && defined(__wasm__)
#define ISOTOK__LOWER 16u
ISOTOK_INLINE uint32_t isotok__lower_run(const uint8_t *text)
{
    const isotok__vector place = isotok__vector_load(text) - isotok__vector_of('a');
    return isotok__trailing_zeros(isotok__vector_high((isotok__vector)(place >= 26)) | 1u << 16);
}
#else
#define ISOTOK__LOWER 8u
ISOTOK_INLINE uint32_t isotok__lower_run(const uint8_t *text)
{
    const uint64_t ones = 0x0101010101010101u, high = ones << 7;
    const uint64_t x = isotok__load_u64(text), low = x & ~high;
    const uint64_t from_a = low + (0x80 - 'a') * ones, past_z = low + (0x7F - 'z') * ones;
    const uint64_t other = ~(from_a & ~past_z & ~x) & high;
    return other != 0 ? isotok__trailing_zeros(other) >> 3 : 8;
}
#endif

/* Bytes of the first chunk of text[0..size), size > 0. */
ISOTOK_SHARED uint32_t isotok__first_chunk(const isotok_model *model, const uint8_t *text,
                                           uint32_t size)
{
    const uint64_t *pairs = model->blob.pair_set;
    uint32_t p = text[0] < 0x80, left = p != 0 ? text[0] : ISOTOK__NO_CHAR;
    while (p < size) {
        const uint8_t c = text[p];
        if ((left | c) < 0x80) {
            const uint32_t pair = left << 7 | c;
            uint32_t run;
            if (!(pairs[pair >> 6] >> (pair & 63) & 1)) break;
            p++;
            do {
                run = isotok__lower_run(text + p);
                p += run;
            } while (run == ISOTOK__LOWER && p < size);
            if (p >= size) return size; /* the run may have gone on behind the end */
            left = text[p - 1];
        } else {
            const uint32_t n = isotok__char_size(text + p, size - p);
            const uint32_t right = isotok__char_key_at(text + p, n);
            if (p != 0 && !isotok__pair_occurs(pairs, model->pair_shift, left, right)) break;
            left = right;
            p += n;
        }
    }
    return p;
}

/* The first chunks of text[0..size), as far as they are short enough for the cache, at most
 * ISOTOK__CACHE_BATCH of them. Returns how many. If it was a longer one that stopped it, its size
 * is that of the next entry of `out`. */
uint32_t isotok__first_queries(const isotok_model *model, const struct isotok__cache *cache,
                               const uint8_t *text, uint32_t size, struct isotok__cache_query *out);

#endif
