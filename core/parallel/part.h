/* A part of a text that is encoded on its own. See isotok_parallel.h.
 *
 * The ids of a unigram model hold for certain scores carried to them only. So they come in
 * blocks, each with the largest |score| for which it is right, and with the weights that
 * move the score on. A block begins and ends where no piece can span (a joint). */
#ifndef ISOTOK_PART_H
#define ISOTOK_PART_H

#include "isotok_parallel.h"
#include "session.h"

struct isotok__block {
    float valid_to;  /* right where |carried| <= this; negative: never certain */
    uint32_t size;   /* bytes of internal text */
    uint32_t tokens; /* weights */
    uint32_t ids;
};

struct isotok_part {
    uint32_t *ids;
    size_t ids_count, ids_capacity;
    /* of a unigram model */
    struct isotok__block *blocks;
    size_t blocks_count, blocks_capacity;
    float *weights;
    size_t weights_count, weights_capacity;
    uint8_t *text; /* internal */
    size_t text_size, text_capacity;
    /* of the last block, while it grows: how far its tokens may move the score; valid_to */
    double drift, valid_to;
    bool block_open;
    /* while it is joined: what comes next */
    size_t block, id, weight, position;
};

/* What a block may hold, so that little is segmented again where one does not hold. */
#define ISOTOK__BLOCK_TOKENS 32u

/* Room behind the internal text that may be read. */
#define ISOTOK__PART_PADDING 32u

/* Whether texts of this model are cut at all. */
bool isotok__part_cuttable(const isotok_model *model);

/* The array with room for `wanted` elements; NULL without memory, and it stays as it is. */
void *isotok__part_grow(void *array, size_t *capacity, size_t wanted, size_t element);

/* Ids of one token, at most 3 for each byte of internal text, to out[0..*count), which they
 * make longer. A run of unknowns is one id. */
void isotok__part_emit(const isotok_model *model, const uint8_t *text, uint32_t slot, uint32_t size,
                       uint32_t *out, size_t *count);

/* Segments text[0..size), which begins and ends at joints and has ISOTOK__PART_PADDING bytes
 * behind it, into blocks of `part`, with the session's cache. E_TOO_LARGE without memory. */
isotok_status isotok__certain(isotok_session *session, struct isotok_part *part,
                              const uint8_t *text, uint32_t size);

#endif
