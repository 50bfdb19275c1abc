/* L2, above cuts.h: see chunk.h. */
#include "chunk.h"

uint32_t isotok__first_queries(const isotok_model *model, const struct isotok__cache *cache,
                               const uint8_t *text, uint32_t size, struct isotok__cache_query *out)
{
    uint32_t p = 0, i;
    for (i = 0; i < ISOTOK__CACHE_BATCH && p < size; i++) {
        const uint32_t n = isotok__first_chunk(model, text + p, size - p);
        out[i].size = n;
        if (n > ISOTOK__CACHE_KEY) break;
        isotok__cache_ask(cache, text + p, n, &out[i]);
        p += n;
    }
    return i;
}
