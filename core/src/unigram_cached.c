/* L3: the Unigram segmenter with a token cache: chunk by chunk, each answered from the cache
 * where its answer is certified for the score carried so far, else by the segmenter itself, started
 * from that score. Either way the ids and the carried score are those of the whole text.
 */
#include "certify.h"
#include "chunk.h"
#include "unigram.h"

struct state {
    const isotok_model *model;
    const struct isotok__unigram_work *work;
    struct isotok__cache *cache;
    struct isotok__tokens *tokens;
    float carried;
};

static ISOTOK_NOINLINE void segment_plain(struct state *s, const uint8_t *text, uint32_t size)
{
    struct isotok__tokens part;
    isotok__unigram(s->model, text, size, &s->carried, s->work, &part);
    memcpy(s->tokens->slots + s->tokens->count, part.slots, part.count * sizeof(uint32_t));
    s->tokens->count += part.count;
}

ISOTOK_INLINE float weight(const struct isotok__cache_entry *entry, uint32_t i)
{
    float result;
    memcpy(&result, &entry->tokens[ISOTOK__CACHE_TOKENS / 2 + i], sizeof result);
    return result;
}

ISOTOK_INLINE bool is_certified(const struct isotok__cache_entry *entry, float carried)
{
    return carried <= entry->valid_to && -carried <= entry->valid_to;
}

/* Appends the entry's tokens; the sums are those of the segmenter, in its order. */
ISOTOK_INLINE void take(struct state *s, const struct isotok__cache_entry *entry)
{
    uint32_t *out = s->tokens->slots + s->tokens->count, i;
    float carried = s->carried + weight(entry, 0);
    memcpy(out, entry->tokens, sizeof entry->tokens / 2); /* there is room for all */
    for (i = 1; i < entry->count; i++) carried += weight(entry, i);
    s->carried = carried;
    isotok__prefetch_ids(s->model, entry->tokens);
    s->tokens->count += entry->count;
}

static ISOTOK_NOINLINE void miss(struct state *s, const uint8_t *text,
                                 const struct isotok__cache_query *query)
{
    struct isotok__cache_entry entry;
    if (!isotok__cache_missed_before(&query->place)) {
        segment_plain(s, text, query->size);
        return;
    }
    memset(&entry, 0, sizeof entry);
    isotok__certify(s->model, text, query->size, &entry);
    entry.key = query->key;
    entry.size = (uint8_t)query->size;
    isotok__cache_put(query->place.set, &entry);
    s->cache->period_made++;
    if (is_certified(&entry, s->carried))
        take(s, &entry);
    else
        segment_plain(s, text, query->size);
}

ISOTOK_INLINE void look_up(struct state *s, const uint8_t *text,
                           const struct isotok__cache_query *query)
{
    const struct isotok__cache_entry *entry =
        isotok__cache_find(query->place.set, &query->key, query->size);
    const bool answers = entry != NULL && is_certified(entry, s->carried);
    isotok__cache_count(s->cache, answers);
    if (ISOTOK_LIKELY(answers)) {
        take(s, entry);
    } else if (entry == NULL) {
        miss(s, text, query);
    } else {
        s->cache->uncertified++;
        segment_plain(s, text, query->size);
    }
}

/* Bytes of the text that go without look-ups now: up to a cut, or all. */
static ISOTOK_NOINLINE uint32_t bypassed(const isotok_model *model, const uint8_t *text,
                                         uint32_t size, struct isotok__cache *cache)
{
    uint32_t end = size < cache->bypass ? size : cache->bypass, cut;
    if (end < size) {
        while (end > 0 && (text[end] & 0xC0) == 0x80) end--;
        cut = isotok__last_cut(model, text, end, 0);
        end = cut != 0 ? cut : size;
    }
    isotok__cache_passed(cache, end);
    return end;
}

/* Text that is not looked up: its end. */
static ISOTOK_NOINLINE uint32_t pass(struct state *s, const uint8_t *text, uint32_t p,
                                     uint32_t size)
{
    uint32_t n;
    if (s->cache->bypass != 0) {
        n = bypassed(s->model, text + p, size - p, s->cache);
    } else { /* a long chunk */
        n = isotok__first_chunk(s->model, text + p, size - p);
        s->cache->bypassed += n;
        isotok__cache_count(s->cache, false);
    }
    segment_plain(s, text + p, n);
    return p + n;
}

void isotok__unigram_cached(const isotok_model *model, const uint8_t *text, uint32_t size,
                            float *carried, const struct isotok__unigram_work *work,
                            struct isotok__cache *cache, struct isotok__tokens *tokens)
{
    struct state s = {model, work, cache, tokens, *carried};
    struct isotok__cache_query queries[ISOTOK__CACHE_BATCH];
    uint32_t p = 0;
    if (cache->bypass >= size) { /* without a copy of the tokens */
        isotok__unigram(model, text, size, carried, work, tokens);
        isotok__cache_passed(cache, size);
        return;
    }
    while (p < size) {
        uint32_t count = 0, i;
        if (ISOTOK_LIKELY(cache->bypass == 0))
            count = isotok__first_queries(model, cache, text + p, size - p, queries);
        for (i = 0; i < count; i++) {
            cache->period_bytes += queries[i].size;
            look_up(&s, text + p, &queries[i]);
            p += queries[i].size;
        }
        if (ISOTOK_UNLIKELY(count < ISOTOK__CACHE_BATCH && p < size)) p = pass(&s, text, p, size);
    }
    *carried = s.carried;
}
