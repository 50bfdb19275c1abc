/* L0: integers, alignment, unaligned loads, debug assertions. Adding to this file is an
 * anti-pattern: a thing that only one layer needs belongs there. */
#ifndef ISOTOK_BASE_H
#define ISOTOK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "exact.h"
#include "isotok.h"

/* The compiler knows what gcc and clang know. ISOTOK_PORTABLE: standard C alone, for tests. */
#if defined(__GNUC__) && !defined(ISOTOK_PORTABLE)
#define ISOTOK_GNU
#endif

#if defined(ISOTOK_DEBUG) && defined(ISOTOK_GNU)
#define ISOTOK_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define ISOTOK_ASSERT(condition) ((void)0)
#endif

#if defined(ISOTOK_GNU)
#define ISOTOK_LIKELY(x) __builtin_expect(!!(x), 1)
#define ISOTOK_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ISOTOK_NOINLINE __attribute__((noinline))
#define ISOTOK_INLINE static inline __attribute__((always_inline))
#define ISOTOK_PREFETCH(address) __builtin_prefetch(address)
#else
#define ISOTOK_LIKELY(x) (x)
#define ISOTOK_UNLIKELY(x) (x)
#define ISOTOK_NOINLINE
#define ISOTOK_INLINE static inline
#define ISOTOK_PREFETCH(address) ((void)(address))
#endif

/* A function of a file of which the rest must be fast: small in WebAssembly; COLD, which is seldom
 * called, also apart. SHARED: hot loops hold a copy, but in WebAssembly they call it. */
#if defined(ISOTOK_GNU) && defined(__wasm__)
#define ISOTOK_SHARED static inline __attribute__((noinline))
#define ISOTOK_SMALL __attribute__((minsize))
#define ISOTOK_COLD __attribute__((noinline, minsize))
#else
#define ISOTOK_SHARED ISOTOK_INLINE
#define ISOTOK_SMALL
#define ISOTOK_COLD
#endif

/* 0: WebAssembly goes without what makes single kinds of text some per cent faster: the general way
 * does the same, and what a page downloads stays below 64 KiB. */
#if defined(__wasm__)
#define ISOTOK_EXTRAS 0
#else
#define ISOTOK_EXTRAS 1
#endif

/* 1: a smaller core that opens models of SentencePiece alone, and refuses others by the feature
 * that it does not have. What only those need is behind ISOTOK__HAS, which is 0 then. */
#ifndef ISOTOK_SENTENCEPIECE_ONLY
#define ISOTOK_SENTENCEPIECE_ONLY 0
#endif
#if ISOTOK_SENTENCEPIECE_ONLY
#define ISOTOK__HAS(field) 0u
#else
#define ISOTOK__HAS(field) (field)
#endif

/* Distilled models: where size comes first, memos are left alone and greedy models refused. */
#define ISOTOK__DISTILLED (ISOTOK_EXTRAS && !ISOTOK_SENTENCEPIECE_ONLY)

/* Blob and memory alignment, in bytes. */
#define ISOTOK_ALIGN 64u

static inline bool isotok__is_aligned(const void *p, size_t alignment)
{
    return ((uintptr_t)p & (alignment - 1)) == 0;
}

static inline uint32_t isotok__load_u32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}

static inline uint64_t isotok__load_u64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}

/* Zero bits below the lowest one of x, which is not 0. */
static inline uint32_t isotok__trailing_zeros(uint64_t x)
#if defined(ISOTOK_GNU)
{
    return (uint32_t)__builtin_ctzll(x);
}
#else
{
    uint32_t count = 0, step;
    for (step = 32; step > 0; step >>= 1) {
        if (x & (((uint64_t)1 << step) - 1)) continue;
        x >>= step;
        count += step;
    }
    return count;
}
#endif

static inline size_t isotok__min(size_t a, size_t b)
{
    return a < b ? a : b;
}

#endif
