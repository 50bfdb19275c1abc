/* L3: the n best paths through a unigram model's lattice, best first.
 *
 * ALGORITHM   A* from the end: an agenda of partial paths, ordered by f = (score of the part,
 *             from the end) + (best score of anything in front of it), which is exact after a
 *             Viterbi pass. Scores are float32, added in sentencepiece's order; the agenda
 *             is a binary heap that breaks ties as the heap of its C++ library does; limits
 *             are its own. So the paths, their order and their scores are the same.
 * SOURCE      `Lattice::NBest` of sentencepiece 0.2.3, without its clock. */
#ifndef ISOTOK_BEST_PATHS_H
#define ISOTOK_BEST_PATHS_H

#include "session.h"

/* A token of the lattice. Those that end at e lie together, in order of their begin. */
struct isotok__node {
    uint32_t begin, slot;
    float score;
    float best; /* score of the best path that ends with this token */
};

/* A partial path: a token and what follows it. */
struct isotok__hypothesis {
    uint32_t node; /* index, or NODE_BEGIN, NODE_END of best_paths.c */
    uint32_t next; /* a hypothesis made earlier */
    float f, g;
};

struct isotok__paths {
    const struct isotok_model *model;
    const uint8_t *text;
    uint32_t size;
    uint32_t keep;   /* hypotheses that a shrunk agenda keeps */
    uint32_t *first; /* [size + 2]: tokens that end at e: nodes[first[e] .. first[e + 1]) */
    float *best;     /* [size + 1] best of those */
    struct isotok__node *nodes;
    struct isotok__hypothesis *hypotheses;
    uint32_t *moved;  /* where a hypothesis went when the agenda was shrunk */
    uint32_t *agenda; /* heap */
    uint32_t capacity, count, agenda_count;
    uint32_t made, shrunk, shrink_at; /* counts for the limits */
};

enum isotok__paths_result {
    ISOTOK__PATH_FOUND = 0,
    ISOTOK__PATHS_END,     /* there are no more */
    ISOTOK__PATHS_GIVE_UP, /* past a limit: all that is left is isotok__paths_viterbi */
    ISOTOK__PATHS_FULL     /* memory is too small for the search */
};

/* Builds the lattice of text[0..size), size > 0, in `memory`. *out_need: the memory to give if
 * it is too small, which is so if the answer is false or the search becomes FULL. */
bool isotok__paths_begin(struct isotok__paths *paths, const struct isotok_model *model,
                         const uint8_t *text, uint32_t size, uint32_t n, void *memory,
                         uint64_t memory_size, uint64_t *out_need);

/* The next best path, as the hypothesis of its beginning; its score. */
enum isotok__paths_result isotok__paths_next(struct isotok__paths *paths, uint32_t *out_path,
                                             float *out_score);

/* The best path alone; ends the search. */
uint32_t isotok__paths_viterbi(struct isotok__paths *paths, float *out_score);

/* Tokens of a path. */
void isotok__paths_tokens(const struct isotok__paths *paths, uint32_t path,
                          struct isotok__tokens *tokens);

#endif
