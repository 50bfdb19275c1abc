/* XXH64 in steps: see hash_parts.h.
 *
 * SOURCE  As core/src/xxh64.c. Bytes that are no whole stripe wait for those of the next part; the
 *         core, which hashes a blob that is in one piece, needs none of this. */
#include "hash_parts.h"

#define PRIME1 0x9E3779B185EBCA87u
#define PRIME2 0xC2B2AE3D27D4EB4Fu
#define PRIME3 0x165667B19E3779F9u
#define PRIME4 0x85EBCA77C2B2AE63u
#define PRIME5 0x27D4EB2F165667C5u

enum { STRIPE = 32 };

typedef struct hasher {
    uint64_t lanes[4];
    uint64_t total;
    uint8_t held[STRIPE]; /* the last total % STRIPE bytes */
} hasher;

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline uint64_t take(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME2, 31) * PRIME1;
}

static void take_stripe(hasher *h, const uint8_t *at)
{
    for (unsigned i = 0; i < 4; i++) {
        h->lanes[i] = take(h->lanes[i], isotok__load_u64(at + 8 * (size_t)i));
    }
}

static void add(hasher *h, const uint8_t *at, size_t size)
{
    size_t held = h->total % STRIPE;
    h->total += size;
    if (held != 0) {
        size_t more = isotok__min(size, STRIPE - held);
        memcpy(h->held + held, at, more);
        if (held + more < STRIPE) {
            return;
        }
        take_stripe(h, h->held);
        at += more;
        size -= more;
    }
    for (; size >= STRIPE; size -= STRIPE, at += STRIPE) {
        take_stripe(h, at);
    }
    memcpy(h->held, at, size);
}

static uint64_t merged(const hasher *h)
{
    const uint64_t *l = h->lanes;
    uint64_t hash = rotate(l[0], 1) + rotate(l[1], 7) + rotate(l[2], 12) + rotate(l[3], 18);
    for (unsigned i = 0; i < 4; i++) {
        hash = (hash ^ take(0, l[i])) * PRIME1 + PRIME4;
    }
    return hash;
}

static uint64_t finish(const hasher *h)
{
    uint64_t hash = (h->total >= STRIPE ? merged(h) : PRIME5) + h->total;
    const uint8_t *at = h->held;
    const uint8_t *end = at + h->total % STRIPE;
    for (; end - at >= 8; at += 8) {
        hash = rotate(hash ^ take(0, isotok__load_u64(at)), 27) * PRIME1 + PRIME4;
    }
    if (end - at >= 4) {
        hash = rotate(hash ^ isotok__load_u32(at) * PRIME1, 23) * PRIME2 + PRIME3;
        at += 4;
    }
    for (; at < end; at++) {
        hash = rotate(hash ^ *at * PRIME5, 11) * PRIME1;
    }
    hash = (hash ^ hash >> 33) * PRIME2;
    hash = (hash ^ hash >> 29) * PRIME3;
    return hash ^ hash >> 32;
}

uint64_t isotok__hash_parts(const isotok_build_part *parts, size_t count, size_t skip)
{
    hasher h = {{PRIME1 + PRIME2, PRIME2, 0, 0 - PRIME1}, 0, {0}};
    for (size_t i = 0; i < count; i++, skip = 0) {
        add(&h, (const uint8_t *)parts[i].data + skip, parts[i].size - skip);
    }
    return finish(&h);
}
