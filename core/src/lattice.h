/* L2: the lattice of a unigram model: the pieces that may begin at a position, one by one.
 *
 * SOURCE  `PopulateNodes` of sentencepiece 0.2.3, which differs from its encoder in two ways:
 *         a user-defined piece of L *characters* (not bytes) weighs 0.1 * (L - 1); and a
 *         piece that ends inside a character takes all of it. 0.2.1 counts them likewise. */
#ifndef ISOTOK_LATTICE_H
#define ISOTOK_LATTICE_H

#include "blob.h"

/* Weight of a user-defined piece of `length` units up to sentencepiece 0.2.1; `score` is the value
 * of its slot. A float32 product, then a double difference. */
ISOTOK_INLINE double isotok__user_weight_0_2_1(float score, uint32_t length)
{
    return (double)((float)length * score) - 0.1;
}

/* A token that may be used, at [begin, end) of the text. */
struct isotok__edge {
    uint32_t slot; /* of the trie, or ISOTOK_UNK_SLOT */
    uint32_t end;  /* end of a character */
    uint32_t size; /* bytes of the piece: no two edges of one position have the same */
    float weight;
};

struct isotok__edges {
    const struct isotok_model *model;
    const uint8_t *text;
    uint32_t size;
    uint32_t begin, at, limit; /* the walk has read text[begin..at) */
    uint32_t slot;
    uint32_t character_end, characters; /* of the character that holds text[at - 1] */
    uint32_t single;                    /* an edge of one character was found */
};

/* Starts at text[begin], the first byte of a character; begin < size. */
void isotok__edges_begin(struct isotok__edges *edges, const struct isotok_model *model,
                         const uint8_t *text, uint32_t size, uint32_t begin);

/* The next edge, shortest piece first; where none is a single character, the unknown character
 * comes last. So every position has an edge to the next one. */
bool isotok__edges_next(struct isotok__edges *edges, struct isotok__edge *out);

#endif
