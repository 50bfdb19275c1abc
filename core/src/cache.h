/* L1: the token cache: how chunks of internal text were segmented.
 *
 * Sets of two entries of 64 bytes, in the caller's memory. The whole key is compared, so an
 * answer is never another chunk's, whatever texts an attacker chooses; what he can do is
 * to make every look-up miss, and then it steps aside for a while.
 * It belongs to one session and so to one model: there is nothing to become stale. */
#ifndef ISOTOK_CACHE_H
#define ISOTOK_CACHE_H

#include "base.h"

#define ISOTOK__CACHE_KEY 24u   /* longest chunk, bytes */
#define ISOTOK__CACHE_TOKENS 8u /* most tokens of an entry; half as many with weights */

struct isotok__cache_key {
    uint64_t words[3]; /* the chunk, padded with zeros */
};

struct isotok__cache_entry {
    struct isotok__cache_key key;
    uint32_t tokens[ISOTOK__CACHE_TOKENS]; /* as in struct isotok__tokens; unigram: the upper
                                            * half are the weights, float32 bits */
    float valid_to;  /* unigram: right where |carried| <= this, see certify.h */
    uint8_t size;    /* bytes of the chunk; 0: the entry is free */
    uint8_t count;   /* tokens */
    uint16_t missed; /* hash of a chunk that was missed once; of the set, not of this entry */
};

struct isotok__cache {
    struct isotok__cache_entry *entries; /* NULL: no cache */
    uint32_t count;                      /* entries; 0: `entries` are the memo's */
    uint32_t shift;                      /* 64 - log2(sets) */
    uint32_t period_probes, period_hits; /* of the running period */
    uint32_t period_bytes;               /* looked up; where single characters do not pay */
    uint32_t least_bytes;                /* of a period, else the next text goes without */
    uint32_t period_made;                /* entries, where that is more work than a miss */
    uint32_t bad_periods;                /* in a row */
    uint32_t bypass;                     /* bytes still to go without look-ups */
    uint64_t probes, hits, uncertified, bypassed;
#if ISOTOK__DISTILLED
    struct isotok__cache_entry *memo; /* of the blob, never written: for what the cache misses */
    uint32_t memo_shift;              /* as `shift` */
#endif
};

_Static_assert(sizeof(struct isotok__cache_entry) == 64, "an entry is one cache line");

/* text[0..size), size <= ISOTOK__CACHE_KEY; as many bytes as that are readable. */
ISOTOK_INLINE struct isotok__cache_key isotok__cache_key(const uint8_t *text, uint32_t size)
{
    static const uint8_t masks[2 * ISOTOK__CACHE_KEY] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255,
                                                         255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t *mask = masks + ISOTOK__CACHE_KEY - size;
    struct isotok__cache_key key;
    key.words[0] = isotok__load_u64(text) & isotok__load_u64(mask);
    key.words[1] = isotok__load_u64(text + 8) & isotok__load_u64(mask + 8);
    key.words[2] = 0;
    if (ISOTOK_UNLIKELY(size > 16))
        key.words[2] = isotok__load_u64(text + 16) & isotok__load_u64(mask + 16);
    return key;
}

/* Chunks that are looked up together: their sets come from memory meanwhile. */
#define ISOTOK__CACHE_BATCH 40u

/* The highest bits depend on all of the key. */
ISOTOK_INLINE uint64_t isotok__cache_hash(const struct isotok__cache_key *key)
{
    return key->words[0] * 0x9E3779B97F4A7C15u + key->words[1] * 0xC2B2AE3D27D4EB4Fu +
           key->words[2] * 0x165667B19E3779F9u;
}

/* What a set notes of a key that was missed; never 0. */
ISOTOK_INLINE uint16_t isotok__cache_tag(const struct isotok__cache_key *key)
{
    return (uint16_t)(isotok__cache_hash(key) >> 24 | 1);
}

#define ISOTOK__MEMO_WORDS 16u /* of 8 bytes, in a set */

/* 128 bytes where a key belongs: two entries, or a bucket of cache_bucket.h. */
ISOTOK_INLINE struct isotok__cache_entry *isotok__cache_set(const struct isotok__cache *cache,
                                                            const struct isotok__cache_key *key)
{
    return (struct isotok__cache_entry *)(void *)((uint8_t *)cache->entries +
                                                  ((size_t)(isotok__cache_hash(key) >> cache->shift)
                                                   << 7));
}

/* A chunk that is to be looked up. */
struct isotok__cache_query {
    struct isotok__cache_key key;
    struct isotok__cache_entry *set;
    uint32_t size;
    uint32_t skip; /* bytes behind it that lie in no pre-token */
};

ISOTOK_SHARED void isotok__cache_ask(const struct isotok__cache *cache, const uint8_t *text,
                                     uint32_t size, struct isotok__cache_query *out)
{
    const struct isotok__cache_key key = isotok__cache_key(text, size);
    struct isotok__cache_entry *set = isotok__cache_set(cache, &key);
    ISOTOK_PREFETCH(set);
    out->key = key;
    out->set = set;
    out->size = size;
    out->skip = 0;
}

ISOTOK_INLINE bool isotok__cache_is(const struct isotok__cache_entry *entry,
                                    const struct isotok__cache_key *key, uint32_t size)
{
    return ((entry->key.words[0] ^ key->words[0]) | (entry->key.words[1] ^ key->words[1]) |
            (entry->key.words[2] ^ key->words[2]) | (entry->size ^ size)) == 0;
}

/* Puts the second entry of a set first. */
void isotok__cache_promote(struct isotok__cache_entry *set);

/* The entry of a chunk, or NULL. Entries that were found once more come first in their set
 * and are not the next to go; `fixed`: the set stays as it is. */
ISOTOK_INLINE const struct isotok__cache_entry *isotok__cache_find(
    struct isotok__cache_entry *set, const struct isotok__cache_key *key, uint32_t size, bool fixed)
{
    if (ISOTOK_LIKELY(isotok__cache_is(&set[0], key, size))) return &set[0];
    if (!isotok__cache_is(&set[1], key, size)) return NULL;
    if (fixed) return &set[1];
    isotok__cache_promote(set);
    return &set[0];
}

/* Whether a chunk was missed here not long ago, probably; it was now. Most chunks that come
 * only once are told by this, and so neither cost the work that an entry is nor drive one out. What a
 * set notes is in the `missed` of its two entries. */
bool isotok__cache_missed_before(uint16_t *first, uint16_t *second, uint16_t tag);

/* Takes the place of the entry of the set that is the next to go. */
void isotok__cache_put(struct isotok__cache_entry *set, const struct isotok__cache_entry *entry);

/* Bytes of text that went without a look-up. */
ISOTOK_INLINE void isotok__cache_passed(struct isotok__cache *cache, uint32_t size)
{
    cache->bypass -= size < cache->bypass ? size : cache->bypass;
    cache->bypassed += size;
}

void isotok__cache_end_period(struct isotok__cache *cache);

#define ISOTOK__CACHE_PERIOD 256u /* look-ups, at least */

/* Counts look-ups. Where few of them are answered, the next bytes go without. */
ISOTOK_INLINE void isotok__cache_count(struct isotok__cache *cache, uint32_t probes, uint32_t hits,
                                       uint32_t bytes)
{
    cache->period_hits += hits;
    cache->period_bytes += bytes;
    cache->period_probes += probes;
    if (ISOTOK_UNLIKELY(cache->period_probes >= ISOTOK__CACHE_PERIOD))
        isotok__cache_end_period(cache);
}

#endif
