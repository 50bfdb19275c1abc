/* L1: the token cache where no weights are kept with the tokens. See cache.h.
 *
 * A set is a bucket of four slots of 32 bytes, two cache lines, the newest entry first: most look-ups
 * end in the first line. A chunk of at most 16 bytes and 3 tokens takes a slot. The bytes and the
 * tokens of a longer one, such as a clause of a script without spaces, lie one after the other in
 * as many slots as they need. */
#ifndef ISOTOK_CACHE_BUCKET_H
#define ISOTOK_CACHE_BUCKET_H

#include "cache.h"

#define ISOTOK__SLOT_KEY 16u
#define ISOTOK__SLOT_TOKENS 3u
#define ISOTOK__SLOT_FLAT 0x80u /* of `size`: bytes and tokens lie one after the other */
#define ISOTOK__BUCKET_SLOTS 4u
#define ISOTOK__BUCKET_KEY 96u /* longest chunk, bytes */

struct isotok__cache_slot {
    uint64_t key[2]; /* the chunk, padded with zeros */
    uint32_t tokens[ISOTOK__SLOT_TOKENS];
    uint8_t size;    /* bytes of the chunk; 0: the slot is free */
    uint8_t count;   /* tokens */
    uint16_t missed; /* as in struct isotok__cache_entry, in a bucket's first two slots */
};

#define ISOTOK__SLOT_BYTES offsetof(struct isotok__cache_slot, size) /* for bytes and tokens */
#define ISOTOK__BUCKET_BYTES (ISOTOK__BUCKET_SLOTS * ISOTOK__SLOT_BYTES)

_Static_assert(sizeof(struct isotok__cache_slot) == 32, "two slots are one cache line");

/* As isotok__cache_ask, for size <= ISOTOK__BUCKET_KEY. The key of a long chunk is made of sums. */
ISOTOK_SHARED void isotok__bucket_ask(const struct isotok__cache *cache, const uint8_t *text,
                                      uint32_t size, struct isotok__cache_query *out)
{
    uint64_t sum;
    uint32_t i;
    if (ISOTOK_LIKELY(size <= ISOTOK__CACHE_KEY)) {
        isotok__cache_ask(cache, text, size, out);
        return;
    }
    sum = isotok__load_u64(text);
    for (i = 8; i + 8 < size; i += 8)
        sum = (sum ^ sum >> 32) * 0x9E3779B97F4A7C15u + isotok__load_u64(text + i);
    out->key.words[0] = sum ^ sum >> 32;
    out->key.words[1] = isotok__load_u64(text + size - 8);
    out->key.words[2] = size;
    out->set = isotok__cache_set(cache, &out->key);
    ISOTOK_PREFETCH(out->set);
    ISOTOK_PREFETCH((uint8_t *)out->set + 64);
    out->size = size;
    out->skip = 0;
}

ISOTOK_INLINE struct isotok__cache_slot *isotok__bucket_of(const struct isotok__cache_query *query)
{
    return (struct isotok__cache_slot *)(void *)query->set;
}

/* Whether a slot holds the chunk, as one of a single slot. */
ISOTOK_INLINE bool isotok__slot_is(const struct isotok__cache_slot *slot,
                                   const struct isotok__cache_query *query)
{
    return ((slot->key[0] ^ query->key.words[0]) | (slot->key[1] ^ query->key.words[1]) |
            (slot->size ^ query->size)) == 0;
}

/* Copies the tokens of a chunk, text[0..query->size), that the first slot does not hold so; there must be
 * room for ISOTOK__SLOT_TOKENS. Returns how many; 0: it is not there. */
uint32_t isotok__bucket_take(const struct isotok__cache_query *query, const uint8_t *text,
                             uint32_t *tokens);

/* Keeps a chunk's tokens if it was missed before, by its tag, and there are not too many. */
void isotok__bucket_put(const struct isotok__cache_query *query, uint16_t tag, const uint8_t *text,
                        const uint32_t *tokens, uint32_t count);

#endif
