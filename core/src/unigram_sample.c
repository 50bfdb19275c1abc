/* L3: drawing a segmentation of a unigram model.
 *
 * ALGORITHM   Forward filtering, backward sampling, in one pass from left to right. A node (end of
 *             a character) sums the probability mass that its edges bring and keeps the edge
 *             to go back by, chosen as the edges arrive: a new one replaces the kept one with
 *             probability (its mass) / (mass so far), so in the end each was kept with
 *             probability proportional to its mass. Choices at different nodes are
 *             independent, hence following them back from the end draws a path with
 *             P ~ exp(alpha * sum of weights): no lattice is stored. Masses are kept as
 *             sum * exp(top), top the largest logarithm. Every draw is named by the edge
 *             (philox.h). Where no piece spans a position all paths meet and the logarithm
 *             starts again at 0, so that a result does not depend on what is in front.
 *             Gumbel: the maximum instead of the sum.
 * COMPLEXITY  O(characters x longest piece); masses of the longest piece in a ring.
 * SOURCE      Kudo 2018 (arXiv:1804.10959) section 3.1; SentencePiece Lite for Gumbel noise on
 *             every edge, which is not the same distribution. */
#include "unigram_sample.h"

#include "cuts.h"
#include "exp_log.h"
#include "lattice.h"
#include "unigram.h"

struct sampling {
    const isotok_model *model;
    const struct isotok__sampler *sampler;
    const struct isotok__unigram_work *work;
};

static struct isotok__mass *mass_at(const struct sampling *s, uint32_t position)
{
    return &s->work->masses[position & s->work->masses_mask];
}

/* Adds the mass exp(x) of an edge; its share of the mass so far, both up to one factor. */
static double add_mass(struct isotok__mass *mass, double x)
{
    double share;
    if (x > mass->top) {
        mass->sum = mass->sum * isotok__exp(mass->top - x) + 1.0;
        mass->top = x;
        return 1.0;
    }
    share = isotok__exp(x - mass->top);
    mass->sum += share;
    return share;
}

bool isotok__mass_offer(struct isotok__mass *mass, double x, const struct isotok__draw *draw)
{
    double share;
    if (mass->sum == 0.0) {
        mass->top = x;
        mass->sum = 1.0;
        return true;
    }
    share = add_mass(mass, x);
    return isotok__draw(draw) * mass->sum < share;
}

static bool offer_best(struct isotok__mass *mass, double x)
{
    if (mass->sum != 0.0 && !(x > mass->top)) return false;
    mass->top = x;
    mass->sum = 1.0;
    return true;
}

static void offer(const struct sampling *s, uint32_t begin, const struct isotok__edge *edge,
                  double base)
{
    struct isotok__mass *mass = mass_at(s, edge->end);
    struct isotok__draw draw = {s->sampler->seed, s->sampler->place + begin, edge->size,
                                ISOTOK__DRAW_SAMPLE};
    double noise;
    bool taken;
    if (s->sampler->gumbel) {
        draw.purpose = ISOTOK__DRAW_GUMBEL;
        noise = -isotok__log(-isotok__log(isotok__draw(&draw)));
        taken = offer_best(mass, base + ((double)edge->weight + s->sampler->alpha * noise));
    } else {
        taken = isotok__mass_offer(mass, base + s->sampler->alpha * (double)edge->weight, &draw);
    }
    if (!taken) return;
    if (s->model->wide) {
        s->work->back[edge->end] = edge->slot;
        s->work->start[edge->end] = begin;
    } else {
        s->work->back[edge->end] = edge->slot << 8 | (edge->end - begin);
    }
}

/* Logarithm of the mass at a node that all edges have reached; frees its place in the ring. */
static double settle(const struct sampling *s, uint32_t position)
{
    struct isotok__mass *mass = mass_at(s, position);
    const double result = mass->top + isotok__log(mass->sum);
    mass->sum = 0.0;
    return result;
}

static void forward(const struct sampling *s, const uint8_t *text, uint32_t size)
{
    const isotok_model *model = s->model;
    uint32_t p = 0, left = 0;
    memset(s->work->masses, 0, ((size_t)s->work->masses_mask + 1) * sizeof *s->work->masses);
    while (p < size) {
        const uint32_t n = isotok__char_end(text, p, size) - p;
        const uint32_t right = isotok__char_key(text + p, n);
        double base = p > 0 ? settle(s, p) : 0.0;
        struct isotok__edges edges;
        struct isotok__edge edge;
        if (!model->whole_text && p > 0 && !isotok__may_join(model, left, right)) base = 0.0;
        isotok__edges_begin(&edges, model, text, size, p);
        while (isotok__edges_next(&edges, &edge)) offer(s, p, &edge, base);
        left = right;
        p += n;
    }
}

void isotok__unigram_sample(const isotok_model *model, const uint8_t *text, uint32_t size,
                            const struct isotok__sampler *sampler,
                            const struct isotok__unigram_work *work, struct isotok__tokens *tokens)
{
    const struct sampling s = {model, sampler, work};
    forward(&s, text, size);
    isotok__unigram_backtrack(model, size, work, tokens);
}
