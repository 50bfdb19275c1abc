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

/* Appends the entry's tokens; the sums are those of the segmenter, in its order. Behind the last
 * weight are zeros, which are added too: how many there are is hard to predict. */
ISOTOK_INLINE float take(const isotok_model *model, const struct isotok__cache_entry *entry,
                         float carried, uint32_t *slots)
{
    uint32_t i;
    memcpy(slots, entry->tokens, sizeof entry->tokens / 2); /* there is room, see session.c */
    for (i = 0; i < ISOTOK__CACHE_TOKENS / 2; i++) carried += weight(entry, i);
    isotok__prefetch_ids(model, entry->tokens);
    return carried;
}

static ISOTOK_NOINLINE void miss(struct state *s, const uint8_t *text,
                                 const struct isotok__cache_query *query,
                                 const struct isotok__cache_entry *found)
{
    struct isotok__cache_entry entry;
    if (found != NULL || (ISOTOK__DISTILLED && s->cache->count == 0)) {
        s->cache->uncertified += found != NULL;
        segment_plain(s, text, query->size);
        return;
    }
    if (!isotok__cache_missed_before(&query->set[0].missed, &query->set[1].missed,
                                     isotok__cache_tag(&query->key))) {
        segment_plain(s, text, query->size);
        return;
    }
    memset(&entry, 0, sizeof entry);
    isotok__certify(s->model, text, query->size, &entry);
    entry.key = query->key;
    entry.size = (uint8_t)query->size;
    isotok__cache_put(query->set, &entry);
    s->cache->period_made++;
    if (is_certified(&entry, s->carried)) {
        s->carried = take(s->model, &entry, s->carried, s->tokens->slots + s->tokens->count);
        s->tokens->count += entry.count;
    } else {
        segment_plain(s, text, query->size);
    }
}

#if ISOTOK__DISTILLED
/* What the memo has of a chunk that is not in the cache; then it is. */
static ISOTOK_NOINLINE const struct isotok__cache_entry *recall(
    const struct isotok__cache *cache, const struct isotok__cache_query *query)
{
    const uint64_t set = isotok__cache_hash(&query->key) >> cache->memo_shift;
    const struct isotok__cache_entry *entry = NULL;
    if (cache->count != 0)
        entry = isotok__cache_find(cache->memo + 2 * set, &query->key, query->size, true);
    if (entry != NULL) isotok__cache_put(query->set, entry);
    return entry;
}
#endif

/* Answers the queries of text; the score and the number of tokens are kept out of memory as
 * long as the cache answers. Returns the end of the last. */
static uint32_t look_up(struct state *s, const uint8_t *text,
                        const struct isotok__cache_query *queries, uint32_t count)
{
    const isotok_model *model = s->model;
    uint32_t *slots = s->tokens->slots + s->tokens->count;
    float carried = s->carried;
    uint32_t p = 0, hits = 0, i;
    for (i = 0; i < count; i++) {
        const uint32_t size = queries[i].size;
        const struct isotok__cache_entry *entry =
            isotok__cache_find(queries[i].set, &queries[i].key, size, ISOTOK__DISTILLED && s->cache->count == 0);
        bool answers;
#if ISOTOK__DISTILLED
        if (ISOTOK_UNLIKELY(entry == NULL) && s->cache->memo != NULL)
            entry = recall(s->cache, &queries[i]);
#endif
        answers = entry != NULL && is_certified(entry, carried);
        hits += answers;
        if (ISOTOK_LIKELY(answers)) {
            carried = take(model, entry, carried, slots);
            slots += entry->count;
        } else {
            s->carried = carried;
            s->tokens->count = (uint32_t)(slots - s->tokens->slots);
            miss(s, text + p, &queries[i], entry);
            carried = s->carried;
            slots = s->tokens->slots + s->tokens->count;
        }
        p += size;
    }
    s->carried = carried;
    s->tokens->count = (uint32_t)(slots - s->tokens->slots);
    isotok__cache_count(s->cache, count, hits, p);
    return p;
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

/* Text that is not looked up, because of a bypass, or a long chunk: its end. */
static ISOTOK_NOINLINE uint32_t pass(struct state *s, const uint8_t *text, uint32_t p,
                                     uint32_t size, const struct isotok__cache_query *chunk)
{
    uint32_t n;
    if (s->cache->bypass != 0) {
        n = bypassed(s->model, text + p, size - p, s->cache);
    } else {
        n = chunk->size;
        s->cache->bypassed += n;
        isotok__cache_count(s->cache, 1, 0, 0); /* no bytes: it may be made of single characters */
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
        uint32_t count = 0;
        if (ISOTOK_LIKELY(cache->bypass == 0))
            count = isotok__first_queries(model, cache, text + p, size - p, queries);
        p += look_up(&s, text + p, queries, count);
        if (ISOTOK_UNLIKELY(count < ISOTOK__CACHE_BATCH && p < size))
            p = pass(&s, text, p, size, &queries[count]);
    }
    *carried = s.carried;
}
