/* L0: sixteen bytes at a time, where the processor can look bytes up in a table of sixteen. */
#ifndef ISOTOK_VECTOR_H
#define ISOTOK_VECTOR_H

#include "base.h"

#if !defined(ISOTOK_GNU)
#define ISOTOK_VECTORS 0
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define ISOTOK_VECTORS 1
#elif defined(__SSSE3__)
#include <immintrin.h>
#define ISOTOK_VECTORS 1
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>
#define ISOTOK_VECTORS 1
#else
#define ISOTOK_VECTORS 0
#endif

#if ISOTOK_VECTORS
typedef uint8_t isotok__vector __attribute__((vector_size(16)));

ISOTOK_INLINE isotok__vector isotok__vector_load(const uint8_t *bytes)
{
    isotok__vector v;
    memcpy(&v, bytes, 16);
    return v;
}

ISOTOK_INLINE isotok__vector isotok__vector_of(uint8_t byte)
{
    isotok__vector v;
    memset(&v, byte, 16);
    return v;
}

/* table[index] for each index; all are below 16. */
ISOTOK_INLINE isotok__vector isotok__vector_look_up(isotok__vector table, isotok__vector index)
{
#if defined(__wasm__)
    return (isotok__vector)wasm_i8x16_swizzle((v128_t)table, (v128_t)index);
#elif defined(__SSSE3__)
    return (isotok__vector)_mm_shuffle_epi8((__m128i)table, (__m128i)index);
#else
    return (isotok__vector)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)index);
#endif
}

/* The last byte of `before` and all of `v` but its last. */
ISOTOK_INLINE isotok__vector isotok__vector_behind(isotok__vector before, isotok__vector v)
{
#if defined(__wasm__)
    return (isotok__vector)wasm_i8x16_shuffle((v128_t)before, (v128_t)v, 15, 16, 17, 18, 19, 20, 21,
                                              22, 23, 24, 25, 26, 27, 28, 29, 30);
#elif defined(__SSSE3__)
    return (isotok__vector)_mm_alignr_epi8((__m128i)v, (__m128i)before, 15);
#else
    return (isotok__vector)vextq_u8((uint8x16_t)before, (uint8x16_t)v, 15);
#endif
}

/* A bit for each byte from 0x80 on, the first one lowest. */
ISOTOK_INLINE uint64_t isotok__vector_high(isotok__vector v)
{
#if defined(__wasm__)
    return wasm_i8x16_bitmask((v128_t)v);
#elif defined(__SSSE3__)
    return (uint32_t)_mm_movemask_epi8((__m128i)v);
#else
    static const uint8_t places[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8(vcltzq_s8((int8x16_t)v), vld1q_u8(places));
    return vaddv_u8(vget_low_u8(bits)) | (uint32_t)vaddv_u8(vget_high_u8(bits)) << 8;
#endif
}
#endif

#endif
