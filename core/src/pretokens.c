/* L4: pre-tokens, or chunks of a SentencePiece BPE model, are looked up in batches; what the cache
 * does not know is segmented. How a pre-token is segmented depends on nothing else, so an
 * answer holds wherever it stands. See pretokens.h. */
#include "pretokens.h"

#include "bpe.h"
#include "bpe_long.h"
#include "cache_bucket.h"
#include "chunk.h"
#include "unigram_exact.h"
#include "wordpiece.h"

#define ENDS 192u /* of pre-tokens that are found together */

/* Segments a pre-token of bpe. With a suffix its last symbol takes the byte behind the text, which
 * is no part of the token. */
static void segment_bpe(struct isotok_session *s, const uint8_t *text, uint32_t size, bool whole)
{
    const uint32_t suffix = ISOTOK__HAS(s->model->affixes) & ISOTOK__AFFIX_SUFFIX;
    uint8_t *end = s->window.text + (text - s->window.text) + size;
    const uint8_t kept = *end;
    *end |= (uint8_t)(0u - suffix); /* 0xFF */
    isotok__bpe_pretoken(s->model, text, size + suffix, whole, &s->bpe, &s->tokens);
    *end = kept;
    s->tokens.slots[s->tokens.count - 1] -= suffix;
}

/* Segments a pre-token, or if not `whole` a part of one that is on its own, and names its tokens. */
static ISOTOK_NOINLINE ISOTOK_SMALL void segment_part(struct isotok_session *s, const uint8_t *text,
                                                      uint32_t size, bool whole)
{
    const isotok_model *model = s->model;
    struct isotok__tokens *tokens = &s->tokens;
    uint32_t i = tokens->count;
    if (!ISOTOK__HAS(model->pretokens)) {
        isotok__bpe_chunks(model, text, size, &s->bpe, tokens);
    } else {
        switch (model->blob.algorithm) {
        case ISOTOK_BPE: segment_bpe(s, text, size, whole); break;
        case ISOTOK_UNIGRAM: isotok__unigram_exact(model, text, size, &s->unigram, tokens); break;
        default: isotok__wordpiece(model, text, size, tokens); break;
        }
    }
    tokens->slots[tokens->count] = 0;
    for (; i < tokens->count; i++) {
        uint32_t slot = tokens->slots[i] >> 8;
        if (slot < ISOTOK_JOIN_SLOT)
            slot = model->blob.trie_ids[slot];
        else if (ISOTOK__HAS(model->affixes) & ISOTOK__AFFIX_UNKNOWN && slot == ISOTOK_UNK_SLOT)
            slot = model->affixes & ISOTOK__AFFIX_FUSED && tokens->slots[i + 1] >> 8 == slot
                       ? ISOTOK_JOIN_SLOT /* a run is one token */
                       : model->blob.unk_id;
        tokens->slots[i] = slot << 8 | (tokens->slots[i] & 0xFFu);
    }
}

static uint32_t answer(struct isotok_session *s, const uint8_t *text,
                       const struct isotok__cache_query *queries, uint32_t count, bool parts,
                       uint32_t *out_hits);

/* A part of a pre-token: a piece, or by the cache. A piece that merges do not make is something else
 * as a pre-token, which the cache would not tell from the part. */
static ISOTOK_COLD void cached_part(struct isotok_session *s, const uint8_t *text, uint32_t size)
{
    const struct isotok__trie_node *trie = s->model->blob.trie;
    struct isotok__cache_query query;
    uint32_t hits;
    const uint32_t slot = isotok__find_slot(s->model, text, size);
    if (slot != ISOTOK_NO_SLOT && !(trie[slot].value & ISOTOK__NOT_DIRECT)) {
        isotok__push_long(&s->tokens, s->model->blob.trie_ids[slot], size);
    } else if (size > ISOTOK__BUCKET_KEY ||
               (slot != ISOTOK_NO_SLOT && trie[slot].value != ISOTOK_VALUE_NONE)) {
        segment_part(s, text, size, false);
    } else {
        isotok__bucket_ask(&s->cache, text, size, &query);
        answer(s, text, &query, 1, true, &hits);
    }
}

/* A pre-token that the cache does not know. */
static ISOTOK_NOINLINE ISOTOK_SMALL void segment_pretoken(struct isotok_session *s,
                                                          const uint8_t *text, uint32_t size,
                                                          bool divide)
{
    const bool parts = divide && ISOTOK__HAS(s->model->blob.char_joints != NULL);
    uint32_t n = parts ? isotok__bpe_first_part(s->model, text, size) : size;
    const bool whole = n == size;
    while (ISOTOK__HAS(n < size)) {
        cached_part(s, text, n);
        text += n;
        size -= n;
        n = isotok__bpe_first_part(s->model, text, size);
    }
    segment_part(s, text, size, whole);
}

/* What is not in the first slot of its bucket. Returns whether the cache knew it. */
static ISOTOK_NOINLINE ISOTOK_SMALL bool look_further(struct isotok_session *s, const uint8_t *text,
                                                      const struct isotok__cache_query *query,
                                                      bool part)
{
    struct isotok__tokens *tokens = &s->tokens;
    const uint32_t first = tokens->count;
    tokens->count += isotok__bucket_take(query, text, tokens->slots + first);
    if (tokens->count != first) return true;
    if (part)
        segment_part(s, text, query->size, false);
    else
        segment_pretoken(s, text, query->size, true);
    if (!tokens->failed)
        isotok__bucket_put(query, isotok__cache_tag(&query->key), text, tokens->slots + first,
                           tokens->count - first);
    return false;
}

/* Answers the queries of text, which are pre-tokens or `parts`; the number of tokens is kept out of memory as long as the cache
 * answers. Returns the end of the last. */
static uint32_t answer(struct isotok_session *s, const uint8_t *text,
                       const struct isotok__cache_query *queries, uint32_t count, bool parts,
                       uint32_t *out_hits)
{
    struct isotok__tokens *tokens = &s->tokens;
    uint32_t *slots = tokens->slots + tokens->count;
    /* who asks where tokens are, or may spell one in bytes, needs the dropped text between them */
    const uint32_t asks = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS | ISOTOK_NO_CONTROL;
    const bool keeps = (s->options.flags & asks) != 0 || s->model->blob.byte_ids != NULL;
    uint32_t p = 0, misses = 0, i;
    for (i = 0; i < count; i++) {
        const uint32_t size = queries[i].size;
        const struct isotok__cache_slot *slot = isotok__bucket_of(&queries[i]);
        if (ISOTOK_LIKELY(isotok__slot_is(slot, &queries[i]))) {
            memcpy(slots, slot->tokens, 16); /* there is room, see session.c */
            slots += slot->count;
        } else {
            tokens->count = (uint32_t)(slots - tokens->slots);
            misses += !look_further(s, text + p, &queries[i], parts);
            slots = tokens->slots + tokens->count;
        }
        p += size;
        if (ISOTOK__HAS(queries[i].skip != 0)) {
            if (keeps) *slots++ = ISOTOK_SKIP_SLOT << 8 | queries[i].skip;
            p += queries[i].skip;
        }
    }
    tokens->count = (uint32_t)(slots - tokens->slots);
    *out_hits = count - misses;
    return p;
}

static ISOTOK_SMALL uint32_t look_up(struct isotok_session *s, const uint8_t *text,
                                     const struct isotok__cache_query *queries, uint32_t count)
{
    uint32_t hits;
    const uint32_t end = answer(s, text, queries, count, false, &hits);
    isotok__cache_count(&s->cache, count, hits, end);
    return end;
}

ISOTOK_SMALL void isotok__bpe_cached(struct isotok_session *s, uint32_t size)
{
    const uint8_t *text = s->window.text;
    struct isotok__cache_query queries[ISOTOK__CACHE_BATCH];
    uint32_t p = 0;
    s->tokens.named = 1;
    while (p < size) {
        uint32_t count = 0;
        if (ISOTOK_LIKELY(s->cache.bypass == 0))
            count = isotok__first_queries(s->model, &s->cache, text + p, size - p, queries);
        p += look_up(s, text + p, queries, count);
        if (ISOTOK_UNLIKELY(count < ISOTOK__CACHE_BATCH && p < size)) { /* a long one, or bypass */
            const uint32_t n = isotok__first_chunk(s->model, text + p, size - p);
            segment_part(s, text + p, n, true);
            isotok__cache_passed(&s->cache, n);
            p += n;
        }
    }
}

/* ---- Pre-tokens -------------------------------------------------------------------- */

/* Pre-tokens from the first of `ends` on, at most ISOTOK__CACHE_BATCH, that are short enough for the cache,
 * with what is dropped behind them; *out_used: how many ends that takes. */
static uint32_t pretoken_queries(const struct isotok__cache *in, const uint8_t *text,
                                 uint32_t begin, const uint32_t *ends, uint32_t count,
                                 struct isotok__cache_query *out, uint32_t *out_used)
{
    struct isotok__cache cache = {0}; /* what the compiler may keep out of memory */
    uint32_t i, n = 0;
    cache.entries = in->entries;
    cache.shift = in->shift;
    for (i = 0; i < count; i++) {
        const uint32_t size = ends[i] - begin; /* large if DROPPED */
        if (ISOTOK_UNLIKELY(size > ISOTOK__BUCKET_KEY)) {
            const uint32_t skip = size & ~ISOTOK__DROPPED;
            if (size < ISOTOK__DROPPED || n == 0 || out[n - 1].skip + skip > 255) break;
            out[n - 1].skip += skip;
            begin += skip;
            continue;
        }
        isotok__bucket_ask(&cache, text + begin, size, &out[n]);
        begin = ends[i];
        n++;
    }
    *out_used = i;
    return n;
}

/* A pre-token that is not looked up, or dropped text. */
static ISOTOK_COLD void segment_one(struct isotok_session *s, const uint8_t *text, uint32_t size,
                                    bool dropped, bool cached)
{
    if (dropped | (s->options.flags & ISOTOK_PRETOKENS))
        isotok__push_long(&s->tokens, dropped ? ISOTOK_SKIP_SLOT : 0, size);
    else
        segment_pretoken(s, text, size, cached);
    if (cached) isotok__cache_passed(&s->cache, size);
}

/* Segments the pre-tokens from `begin` on that end at ends[0..count); returns the last end. */
static ISOTOK_SMALL uint32_t segment(struct isotok_session *s, uint32_t begin, const uint32_t *ends,
                                     uint32_t count, bool cached)
{
    const uint8_t *text = s->window.text;
    struct isotok__cache_query queries[ISOTOK__CACHE_BATCH];
    uint32_t i = 0, used;
    while (i < count) {
        if (ISOTOK_LIKELY(cached && s->cache.bypass == 0)) {
            const uint32_t most = (uint32_t)isotok__min(count - i, ISOTOK__CACHE_BATCH);
            const uint32_t n =
                pretoken_queries(&s->cache, text, begin, ends + i, most, queries, &used);
            begin += look_up(s, text + begin, queries, n);
            i += used;
            if (used == most) continue;
        }
        if (i < count) {
            const uint32_t end = ends[i] & ~ISOTOK__DROPPED;
            segment_one(s, text + begin, end - begin, ends[i] != end, cached);
            begin = end;
            i++;
        }
    }
    return begin;
}

/* The next ends; without a pre-tokenizer that of the text. */
static ISOTOK_SMALL uint32_t next_ends(struct isotok_session *s, uint32_t settled, uint32_t *ends,
                                       uint32_t capacity)
{
    const bool finished = s->normalizer.finished != 0;
    if (ISOTOK__HAS(s->model->pretokenizer.count) != 0)
        return isotok__pretokenize(&s->model->pretokenizer, &s->cutter, s->window.text, settled,
                                   finished, s->symbols, ends, capacity);
    ends[0] = settled;
    return finished && s->ready < settled;
}

ISOTOK_SMALL void isotok__pretokens(struct isotok_session *s, uint32_t settled, bool cached)
{
    uint32_t ends[ENDS], count;
    s->tokens.count = s->tokens.failed = 0;
    s->tokens.named = 1;
    s->tokens.slots = s->tokens_memory;
    s->bpe.dropout.place = s->place;
    s->ready = 0;
    while ((count = next_ends(s, settled, ends, ENDS)) != 0)
        s->ready = segment(s, s->ready, ends, count, cached);
    s->emitter.token = 0;
    s->emitter.position = 0;
}
