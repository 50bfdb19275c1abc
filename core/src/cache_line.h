/* L1: the token cache where no weights are kept with the tokens. See cache.h.
 *
 * A set is one cache line of two slots, so that a look-up waits for memory once. A chunk of at most
 * 16 bytes and 3 tokens takes a slot, another one both. */
#ifndef ISOTOK_CACHE_LINE_H
#define ISOTOK_CACHE_LINE_H

#include "cache.h"

#define ISOTOK__SLOT_KEY 16u
#define ISOTOK__SLOT_TOKENS 3u
#define ISOTOK__SLOT_WIDE 0x80u /* of `size`: the other slot holds the rest */

struct isotok__cache_slot {
    uint64_t key[2];
    uint32_t tokens[ISOTOK__SLOT_TOKENS];
    uint8_t size;    /* bytes of the chunk; 0: the slot is free, or the rest of the one before */
    uint8_t count;   /* tokens; 0: too many */
    uint16_t missed; /* as in struct isotok__cache_entry */
};

/* The rest: the key's last eight bytes, then five tokens. */
#define ISOTOK__REST_TOKENS (sizeof(struct isotok__cache_slot) + 8u)

_Static_assert(sizeof(struct isotok__cache_slot) == 32, "a set is one cache line");

ISOTOK_INLINE bool isotok__line_is(const struct isotok__cache_slot *slot,
                                   const struct isotok__cache_key *key, uint32_t size)
{
    return ((slot->key[0] ^ key->words[0]) | (slot->key[1] ^ key->words[1]) |
            (slot->size ^ size)) == 0;
}

/* The slot of a chunk where it is not the first one of its set; NULL: it is not there. */
const struct isotok__cache_slot *isotok__line_find_other(struct isotok__cache_slot *line,
                                                         const struct isotok__cache_key *key,
                                                         uint32_t size);

/* The slot of a chunk, or NULL. */
ISOTOK_INLINE const struct isotok__cache_slot *isotok__line_find(
    struct isotok__cache_slot *line, const struct isotok__cache_key *key, uint32_t size)
{
    if (ISOTOK_LIKELY(isotok__line_is(line, key, size))) return line;
    return isotok__line_find_other(line, key, size);
}

/* Copies the tokens, and more: there must be room for ISOTOK__CACHE_TOKENS. Returns how many. */
ISOTOK_INLINE uint32_t isotok__line_take(const struct isotok__cache_slot *slot, uint32_t *tokens)
{
    memcpy(tokens, slot->tokens, 16);
    if (ISOTOK_UNLIKELY(slot->size & ISOTOK__SLOT_WIDE))
        memcpy(tokens + ISOTOK__SLOT_TOKENS, (const uint8_t *)slot + ISOTOK__REST_TOKENS, 20);
    return slot->count;
}

/* Keeps a chunk's tokens if it was missed before, by its tag; more than ISOTOK__CACHE_TOKENS of them are
 * only noted. */
void isotok__line_put(const struct isotok__cache_query *query, uint16_t tag, const uint32_t *tokens,
                      uint32_t count);

#endif
