/* L3: the Unigram segmenter with a token cache: chunk by chunk, each answered from the cache
 * where its answer is certified for the score carried so far, else by the segmenter itself, started
 * from that score. Either way the ids and the carried score are those of the whole text.
 *
 * Text of characters of three and more bytes (kana, Han, Hangul, Thai …) is not looked up: its
 * chunks hardly repeat. It is segmented in one go up to the next cut before an ASCII
 * character; where most text is of that kind, whole windows are. */
#include "certify.h"
#include "chunk.h"
#include "unigram.h"

/* After a window of which less than a quarter was looked up. */
#define WIDE_BYPASS 16384u

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
    s->tokens->count += entry->count;
}

static ISOTOK_NOINLINE void miss(struct state *s, const uint8_t *text, uint32_t size,
                                 const struct isotok__cache_place *place,
                                 const struct isotok__cache_key *key)
{
    struct isotok__cache_entry entry;
    if (!isotok__cache_missed_before(place)) {
        segment_plain(s, text, size);
        return;
    }
    memset(&entry, 0, sizeof entry);
    isotok__certify(s->model, text, size, &entry);
    entry.key = *key;
    entry.size = (uint8_t)size;
    isotok__cache_put(place->set, &entry);
    if (is_certified(&entry, s->carried))
        take(s, &entry);
    else
        segment_plain(s, text, size);
}

static void look_up(struct state *s, const uint8_t *text, uint32_t size)
{
    const struct isotok__cache_key key = isotok__cache_key(text, size);
    const struct isotok__cache_place place = isotok__cache_place(s->cache, &key);
    const struct isotok__cache_entry *entry = isotok__cache_find(place.set, &key, size);
    isotok__cache_count(s->cache, entry != NULL);
    if (ISOTOK_UNLIKELY(entry == NULL)) {
        miss(s, text, size, &place, &key);
    } else if (ISOTOK_LIKELY(is_certified(entry, s->carried))) {
        take(s, entry);
    } else {
        s->cache->uncertified++;
        segment_plain(s, text, size);
    }
}

/* Whether a chunk at `text` is one of a script that is not looked up; a space before it does not
 * count. The padding is readable. */
ISOTOK_INLINE bool is_wide(const isotok_model *model, const uint8_t *text)
{
    if (model->space_size == 1) return text[text[0] == 0x20] >= 0xE0;
    return text[memcmp(text, "\xE2\x96\x81", 3) == 0 ? 3 : 0] >= 0xE0;
}

/* The first cut before an ASCII character (or U+2581) behind `p` that begins other text; the text is
 * well-formed, so an ASCII byte is a character. */
static ISOTOK_NOINLINE uint32_t end_of_wide(const isotok_model *model, const uint8_t *text,
                                            uint32_t p, uint32_t size)
{
    const bool is_long_space = model->space_size == 3;
    p += isotok__char_size(text + p, size - p);
    while (p < size) {
        const uint8_t c = text[p];
        if (c < 0x80 || (is_long_space && c == 0xE2 && memcmp(text + p, "\xE2\x96\x81", 3) == 0)) {
            uint32_t left = p - 1;
            while ((text[left] & 0xC0) == 0x80) left--;
            if (!isotok__pair_occurs(model->blob.pair_set, model->pair_shift,
                                     isotok__char_key(text + left, p - left),
                                     isotok__char_key(text + p, c < 0x80 ? 1 : 3)) &&
                !is_wide(model, text + p))
                return p;
            p += c < 0x80 ? 1 : 3;
        } else {
            p += isotok__char_size(text + p, size - p);
        }
    }
    return size;
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

void isotok__unigram_cached(const isotok_model *model, const uint8_t *text, uint32_t size,
                            float *carried, const struct isotok__unigram_work *work,
                            struct isotok__cache *cache, struct isotok__tokens *tokens)
{
    struct state s = {model, work, cache, tokens, *carried};
    uint32_t p = 0, wide = 0;
    if (cache->bypass >= size) { /* without a copy of the tokens */
        isotok__unigram(model, text, size, carried, work, tokens);
        isotok__cache_passed(cache, size);
        return;
    }
    while (p < size) {
        uint32_t n;
        if (ISOTOK_UNLIKELY(cache->bypass != 0)) {
            n = bypassed(model, text + p, size - p, cache);
            segment_plain(&s, text + p, n);
        } else if (ISOTOK_UNLIKELY(is_wide(model, text + p))) {
            n = end_of_wide(model, text, p, size) - p;
            cache->bypassed += n;
            wide += n;
            segment_plain(&s, text + p, n);
        } else {
            n = isotok__first_chunk(model, text + p, size - p);
            if (ISOTOK_LIKELY(n <= ISOTOK__CACHE_KEY))
                look_up(&s, text + p, n);
            else
                segment_plain(&s, text + p, n);
        }
        p += n;
    }
    if (wide > size / 4 * 3 && cache->bypass == 0) cache->bypass = WIDE_BYPASS;
    *carried = s.carried;
}
