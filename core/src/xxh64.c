/* L1: XXH64.
 *
 * ALGORITHM  Four lanes take 8 bytes each of every 32-byte stripe (multiply, rotate,
 *            multiply); the lanes are folded into one number, then the rest of the input,
 *            8, 4 and 1 bytes at a time; a final mix spreads every bit.
 * COMPLEXITY O(size).
 * SOURCE     "xxHash fast digest algorithm", specification version 0.1.1, by Yann Collet:
 *            XXH64, written here from its text. */
#include "xxh64.h"

#define PRIME1 0x9E3779B185EBCA87u
#define PRIME2 0xC2B2AE3D27D4EB4Fu
#define PRIME3 0x165667B19E3779F9u
#define PRIME4 0x85EBCA77C2B2AE63u
#define PRIME5 0x27D4EB2F165667C5u

static inline uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static inline ISOTOK_COLD uint64_t take(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * PRIME2, 31) * PRIME1;
}

static inline ISOTOK_COLD uint64_t fold(uint64_t hash, uint64_t lane)
{
    return (hash ^ take(0, lane)) * PRIME1 + PRIME4;
}

/* All whole stripes; *p moves behind them. */
static uint64_t stripes(const uint8_t **p, const uint8_t *end, uint64_t seed)
{
    uint64_t a = seed + PRIME1 + PRIME2, b = seed + PRIME2, c = seed, d = seed - PRIME1;
    uint64_t hash;
    const uint8_t *at = *p;
    for (; end - at >= 32; at += 32) {
        a = take(a, isotok__load_u64(at));
        b = take(b, isotok__load_u64(at + 8));
        c = take(c, isotok__load_u64(at + 16));
        d = take(d, isotok__load_u64(at + 24));
    }
    *p = at;
    hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
    return fold(fold(fold(fold(hash, a), b), c), d);
}

static uint64_t tail(uint64_t hash, const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 8; at += 8)
        hash = rotate(hash ^ take(0, isotok__load_u64(at)), 27) * PRIME1 + PRIME4;
    if (end - at >= 4) {
        hash = rotate(hash ^ isotok__load_u32(at) * PRIME1, 23) * PRIME2 + PRIME3;
        at += 4;
    }
    for (; at < end; at++) hash = rotate(hash ^ *at * PRIME5, 11) * PRIME1;
    return hash;
}

uint64_t isotok__xxh64(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *at = (const uint8_t *)data;
    const uint8_t *end = at + size;
    uint64_t hash = size >= 32 ? stripes(&at, end, seed) : seed + PRIME5;
    hash = tail(hash + size, at, end);
    hash = (hash ^ hash >> 33) * PRIME2;
    hash = (hash ^ hash >> 29) * PRIME3;
    return hash ^ hash >> 32;
}
