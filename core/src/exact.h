/* L0: floating point as the ids need it, however a caller compiles: every sum and product is
 * rounded once, to its own type, in the order in which it is written. */
#ifndef ISOTOK_EXACT_H
#define ISOTOK_EXACT_H

#include <float.h>

#if defined(__FAST_MATH__)
#error "isotok: -ffast-math (-Ofast) changes ids; compile this file without it"
#endif
#if FLT_EVAL_METHOD == 2
#error "isotok: x87 arithmetic changes ids; compile with -msse2 -mfpmath=sse"
#endif

/* No fused multiply-add, which rounds once where two operations round twice. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && defined(__FP_FAST_FMA)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

#endif
