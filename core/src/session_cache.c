/* L2: attaching a token cache to a session. */
#include "cache_bucket.h"
#include "session.h"

/* 3.25 a look-up: runs of characters that are in no piece are segmented as fast */
#define LEAST_BYTES (ISOTOK__CACHE_PERIOD * 13 / 4)

#define LEAST_MEMORY 4096u
#define MOST_MEMORY ((size_t)1 << 30)

/* The segmenters that look chunks up need cuts, tokens of one word, and chunks that do not
 * depend on each other. */
static bool applies(const isotok_model *model)
{
    if (model->wide || model->unused_count != 0) return false;
    if (ISOTOK__HAS(model->pretokens)) return true;
    return !model->whole_text &&
           (model->blob.algorithm == ISOTOK_UNIGRAM || model->blob.algorithm == ISOTOK_BPE);
}

#if ISOTOK__DISTILLED
/* The entries are read only: nothing is put into a cache of `count` 0. */
void isotok__session_memo(struct isotok_session *s)
{
    const isotok_model *model = s->model;
    struct isotok__cache *c = &s->cache;
    if (model->blob.memo == NULL || !applies(model)) return;
    if (model->blob.algorithm != ISOTOK_UNIGRAM || model->pretokens) return;
    c->memo = (struct isotok__cache_entry *)(uintptr_t)model->blob.memo;
    c->memo_shift = 64 - isotok__trailing_zeros(model->blob.memo_count / ISOTOK__MEMO_WORDS);
    c->entries = c->memo;
    c->shift = c->memo_shift;
    c->least_bytes = LEAST_BYTES;
}
#endif

isotok_status isotok_session_cache(isotok_session *s, void *memory, size_t memory_size,
                                   isotok_error *out_error)
{
    size_t sets = 1;
    uint32_t bits = 0;
    if (s == NULL || (memory == NULL && memory_size != 0))
        return isotok__argument(out_error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (s->mode != ISOTOK__IDLE && s->mode != ISOTOK__ENDED)
        return isotok__needs(out_error, ISOTOK_E_STATE, ISOTOK_WHAT_CACHE_MEMORY, 0);
    if (memory_size != 0 && memory_size < LEAST_MEMORY)
        return isotok__needs(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_CACHE_MEMORY, LEAST_MEMORY);
    if (memory_size != 0 && !isotok__is_aligned(memory, ISOTOK_ALIGN))
        return isotok__needs(out_error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_CACHE_MEMORY, ISOTOK_ALIGN);
    memset(&s->cache, 0, sizeof s->cache);
#if ISOTOK__DISTILLED
    isotok__session_memo(s);
#endif
    if (memory_size == 0 || !applies(s->model)) return ISOTOK_OK;
    if (memory_size > MOST_MEMORY) memory_size = MOST_MEMORY;
    for (; sets * 256u <= memory_size; sets *= 2) bits++;
    s->cache.entries = (struct isotok__cache_entry *)memory;
    s->cache.count = (uint32_t)(ISOTOK__BUCKET_SLOTS * sets);
    if (s->model->blob.algorithm == ISOTOK_UNIGRAM && !ISOTOK__HAS(s->model->pretokens)) {
        s->cache.least_bytes = LEAST_BYTES;
        s->cache.count = (uint32_t)(2 * sets);
    }
    s->cache.shift = 64 - bits;
    return ISOTOK_OK;
}

isotok_status isotok_session_cache_info(const isotok_session *s, isotok_cache_info *out_info)
{
    isotok_cache_info info;
    if (s == NULL || out_info == NULL) return ISOTOK_E_ARGUMENT;
    memset(&info, 0, sizeof info);
    info.entries = s->cache.count;
    info.probes = s->cache.probes + s->cache.period_probes;
    info.hits = s->cache.hits + s->cache.period_hits;
    info.uncertified = s->cache.uncertified;
    info.bypassed = s->cache.bypassed;
    return isotok__give_info(out_info, 8, &info, sizeof info);
}
