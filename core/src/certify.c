/* L2: certified answers for the token cache, see certify.h and docs/decisions/0004.
 *
 * ALGORITHM   Viterbi over the chunk in float64 with the runner-up of every node. Let P be the
 *             best path, K the chunk's characters, A the largest |weight| of its edges, S the
 *             score carried to its start. The float32 sums of the whole text err by at most
 *             e = 2^(L-24) an addition while |S| + K (A + 0.01) <= 2^(L+1). Where another path
 *             leaves P and comes back, both together take at most K + 1 additions in
 *             between. So P wins in float32 too if each of its nodes is ahead of its
 *             runner-up by more than (K + 1) e; or, tighter, if P still wins when its edges
 *             are worth e less and all others e more. No re-centring (at 100,000) may fall
 *             into the chunk: |S| <= 99,999 - max |best| - 0.01 K.
 * COMPLEXITY  O(edges), with at most ISOTOK__CACHE_KEY^2 / 2 edges.
 * INVARIANTS  float64 rounding is below 1e-9 here: K <= 24, K (A + 0.01) < 30,000. */
#include "certify.h"

#include "trie.h"
#include "utf8.h"

/* The tests make these wrong, to see that they would notice. */
#ifndef ISOTOK__CERTIFY_ERROR
#define ISOTOK__CERTIFY_ERROR (1.0 / 256) /* of one addition at the highest level */
#endif
#ifndef ISOTOK__CERTIFY_FARTHEST
#define ISOTOK__CERTIFY_FARTHEST 99999.0 /* a re-centring falls behind 100,000 */
#endif

#define ROUNDING 1e-9
#define MOST_EDGES (ISOTOK__CACHE_KEY * (ISOTOK__CACHE_KEY + 1) / 2)
#define HIGHEST_LEVEL 16 /* |S| <= 100,000 < 2^17 */
#define LOWEST_LEVEL 8
#define ON_PATH 1u

struct edge {
    float weight;
    uint8_t start, end, flags;
};

struct node {
    double best, second;
    uint32_t back;      /* token: slot << 8 | length */
    uint16_t back_edge; /* of edges[] */
    bool on_path;
};

struct lattice {
    uint32_t edges_count, characters, tokens_count;
    double largest; /* |weight| */
    struct node nodes[ISOTOK__CACHE_KEY + 1];
    struct edge edges[MOST_EDGES];
};

static const double lowest = -1e300;

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static void add_edge(struct lattice *l, uint32_t start, uint32_t end, float weight, uint32_t slot)
{
    const double candidate = l->nodes[start].best + (double)weight;
    struct edge *edge = &l->edges[l->edges_count];
    struct node *node = &l->nodes[end];
    edge->weight = weight;
    edge->start = (uint8_t)start;
    edge->end = (uint8_t)end;
    edge->flags = 0;
    if (magnitude((double)weight) > l->largest) l->largest = magnitude((double)weight);
    if (candidate > node->best) {
        node->second = node->best;
        node->best = candidate;
        node->back = slot << 8 | (end - start);
        node->back_edge = (uint16_t)l->edges_count;
    } else if (candidate > node->second) {
        node->second = candidate;
    }
    l->edges_count++;
}

static float weight_of(uint32_t bits)
{
    float weight;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

static void add_pieces(struct lattice *l, const isotok_model *model, const uint8_t *text,
                       uint32_t size, uint32_t start)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    const uint32_t character = isotok__char_end(text, start, size) - start;
    const uint32_t longest = model->blob.max_piece_bytes;
    /* a damaged blob may hold a character that is longer than `longest` */
    const uint32_t most = longest < character ? character : longest;
    const uint32_t limit = size - start < most ? size : start + most;
    uint32_t slot = 0, k;
    bool single = false;
    for (k = start; k < limit;) {
        slot = isotok__trie_step(trie, slot, text[k++]);
        if (slot == ISOTOK_NO_SLOT) break;
        /* a piece that ends inside a character is on no path, but its node would be */
        if (trie[slot].value == ISOTOK_VALUE_NONE_SCORE || k - start < character) continue;
        single |= k - start == character;
        add_edge(l, start, k, weight_of(trie[slot].value), slot);
    }
    if (!single) add_edge(l, start, start + character, model->blob.unk_score, ISOTOK_UNK_SLOT);
    l->characters++;
}

static void build(struct lattice *l, const isotok_model *model, const uint8_t *text, uint32_t size)
{
    uint32_t p;
    l->edges_count = l->characters = l->tokens_count = 0;
    l->largest = 0;
    for (p = 0; p <= size; p++) {
        l->nodes[p].best = l->nodes[p].second = lowest;
        l->nodes[p].on_path = false;
    }
    l->nodes[0].best = 0;
    for (p = 0; p < size; p = isotok__char_end(text, p, size)) add_pieces(l, model, text, size, p);
}

/* Marks the best path; returns the least lead of its nodes over their runners-up. */
static double mark_path(struct lattice *l, uint32_t size)
{
    double gap = 1e300;
    uint32_t p = size;
    while (p > 0) {
        struct node *node = &l->nodes[p];
        const double lead = node->best - node->second;
        if (lead < gap) gap = lead;
        node->on_path = true;
        l->edges[node->back_edge].flags = ON_PATH;
        l->tokens_count++;
        p -= node->back & 0xFFu;
    }
    l->nodes[0].on_path = true;
    return gap;
}

/* Whether the path still wins with its edges worth `e` less and all others `e` more. Edges
 * come by ascending start, so the sums of their starts are complete. */
static bool wins_perturbed(const struct lattice *l, uint32_t size, double e)
{
    struct {
        double sum, path;
    } at[ISOTOK__CACHE_KEY + 1];
    uint32_t i;
    for (i = 0; i <= size; i++) at[i].sum = lowest;
    at[0].sum = at[0].path = 0;
    for (i = 0; i < l->edges_count; i++) /* of the path alone, in order */
        if (l->edges[i].flags == ON_PATH)
            at[l->edges[i].end].path = at[l->edges[i].start].path + (double)l->edges[i].weight - e;
    for (i = 0; i < l->edges_count; i++) {
        const struct edge *edge = &l->edges[i];
        double candidate;
        if (edge->flags == ON_PATH) {
            at[edge->end].sum = at[edge->end].path;
            continue;
        }
        candidate = at[edge->start].sum + (double)edge->weight + e;
        if (l->nodes[edge->end].on_path) {
            if (candidate >= at[edge->end].path - ROUNDING) return false;
        } else if (candidate > at[edge->end].sum) {
            at[edge->end].sum = candidate;
        }
    }
    return true;
}

/* The largest |S| for which the path is certain; negative if there is none. */
static double certified_to(const struct lattice *l, uint32_t size, double gap)
{
    const double k = (double)l->characters, extent = k * (l->largest + 0.01);
    double farthest = 0, limit, e = ISOTOK__CERTIFY_ERROR, reach = 131072; /* of level 16 */
    uint32_t p;
    int level;
    if (extent >= 30000) return -1;
    for (p = 0; p < size; p++)
        if (l->nodes[p].best > lowest && magnitude(l->nodes[p].best) > farthest)
            farthest = magnitude(l->nodes[p].best);
    limit = ISOTOK__CERTIFY_FARTHEST - farthest - 0.01 * k;
    if (limit <= 0) return -1;
    if (gap > (k + 1) * e + ROUNDING) return limit;
    for (level = HIGHEST_LEVEL; level >= LOWEST_LEVEL; level--, e /= 2, reach /= 2) {
        if (reach - extent <= 0) return -1;
        /* a path that leaves P and comes back takes three additions at least, with P's */
        if (gap > 3 * e && wins_perturbed(l, size, e))
            return limit < reach - extent ? limit : reach - extent;
    }
    return -1;
}

/* As float32, rounded toward 0. */
static float toward_zero(double x)
{
    float result = (float)x;
    uint32_t bits;
    if (x <= 0 || (double)result <= x) return result;
    memcpy(&bits, &result, sizeof bits);
    bits--;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static void copy_path(const struct lattice *l, uint32_t size, struct isotok__cache_entry *entry)
{
    uint32_t p = size, i = l->tokens_count;
    entry->count = (uint8_t)i;
    while (p > 0) {
        const struct node *node = &l->nodes[p];
        i--;
        entry->tokens[i] = node->back;
        memcpy(&entry->tokens[ISOTOK__CACHE_TOKENS / 2 + i], &l->edges[node->back_edge].weight, 4);
        p -= node->back & 0xFFu;
    }
}

void isotok__certify(const isotok_model *model, const uint8_t *text, uint32_t size,
                     struct isotok__cache_entry *entry)
{
    struct lattice l;
    double gap;
    build(&l, model, text, size);
    gap = mark_path(&l, size);
    memset(entry->tokens, 0, sizeof entry->tokens);
    entry->count = 0;
    entry->valid_to = -1;
    if (l.tokens_count > ISOTOK__CACHE_TOKENS / 2) return;
    copy_path(&l, size, entry);
    entry->valid_to = toward_zero(certified_to(&l, size, gap));
}
