/* L0: random numbers without state: the generator Philox4x32-10.
 *
 * ALGORITHM   Ten rounds of two 32 x 32 -> 64 bit products turn a 128-bit counter under a 64-bit
 *             key into 128 random bits. A draw is named, not next in a row: the key is
 *             the seed, the counter says which decision it is for. So draws do not depend on
 *             how a text is cut into windows, parts or threads, or on other draws.
 * SOURCE      Salmon, Moraes, Dror, Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3". */
#ifndef ISOTOK_PHILOX_H
#define ISOTOK_PHILOX_H

#include "base.h"

enum {                           /* what a draw decides; place and detail of each */
       ISOTOK__DRAW_SAMPLE = 0,  /* a token: its first byte, its bytes */
       ISOTOK__DRAW_GUMBEL = 1,  /* the same */
       ISOTOK__DRAW_DROPOUT = 2, /* a merge: first byte, bytes of the left << 16 | of the right */
       ISOTOK__DRAW_NBEST = 3    /* a path: its position among the n best, 0 */
};

/* The name of a draw: the key, and the words of the counter. */
struct isotok__draw {
    uint64_t seed, place;
    uint32_t detail, purpose;
};

void isotok__philox(uint64_t key, const uint32_t counter[4], uint32_t out[4]);

/* One of the 2^52 numbers (k + 1/2) / 2^52, all equally likely; never 0 or 1. k is the upper 52
 * bits of the first two words, of which the second is the upper one. */
double isotok__draw(const struct isotok__draw *draw);

#endif
