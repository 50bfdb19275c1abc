/* L3: drawing a segmentation of a unigram model. */
#ifndef ISOTOK_UNIGRAM_SAMPLE_H
#define ISOTOK_UNIGRAM_SAMPLE_H

#include "philox.h"
#include "session.h"

struct isotok__sampler {
    double alpha; /* <= ISOTOK__MOST_ALPHA, so that products are finite */
    uint64_t seed;
    uint64_t place; /* bytes of internal text in front of what is segmented */
    uint32_t gumbel;
};

/* As isotok__unigram, but the path is drawn: with P ~ exp(alpha * sum of the weights), or
 * (gumbel) as the best one with alpha * Gumbel noise added to every weight. */
void isotok__unigram_sample(const isotok_model *model, const uint8_t *text, uint32_t size,
                            const struct isotok__sampler *sampler,
                            const struct isotok__unigram_work *work, struct isotok__tokens *tokens);

/* Adds the mass exp(x) to `mass` (all zero at first). True: of all offered so far, this one is
 * drawn, with P = its mass / all mass. */
bool isotok__mass_offer(struct isotok__mass *mass, double x, const struct isotok__draw *draw);

#endif
