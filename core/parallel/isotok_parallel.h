/* isotok_parallel.h: one long text in several threads, with the ids of isotok_encode_step,
 * bit for bit. Native only: it is no part of isotok.wasm.
 *
 * The text is cut into parts (isotok_part_cut); the parts are encoded in any order by any
 * threads, each with a session of its own (isotok_part_encode); then, in text order, each is
 * joined to those before it (isotok_part_join), which is quick: for a unigram model it adds
 * the scores of the pieces up, in float32, as the whole text would have, and segments again
 * where that sum could have decided otherwise (docs/decisions/0005). The threads are the
 * caller's.
 *
 * Unlike the core, parts are allocated (malloc). Conventions as in isotok.h. */
#ifndef ISOTOK_PARALLEL_H
#define ISOTOK_PARALLEL_H

#include "isotok.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A part of a text, encoded and not yet joined. */
typedef struct isotok_part isotok_part;

/* How far a text has been joined. All zero for a new text. */
typedef struct isotok_joint {
    float carried;        /* unigram: score of the text so far */
    uint32_t unknown;     /* it ends with an unknown token, which goes on */
    uint64_t bytes;       /* unigram: bytes of internal text joined so far … */
    uint64_t bytes_again; /* … and how many of them were segmented again */
} isotok_joint;

/* Finds the first place in text[from..size) where the raw text may be cut, at most 4 KB behind
 * `from`. *out_cut = size: there is none, perhaps further behind (some models have none at all). */
ISOTOK_API(isotok_part_cut)
isotok_status isotok_part_cut(const isotok_model *model, const uint8_t *text, size_t size,
                              size_t from, size_t *out_cut, isotok_error *out_error);

/* Encodes text[begin..end) of text[0..size); begin and end are cuts, 0 or size.
 * NEED_SCRATCH  isotok_session_move, then call again: it starts anew.
 * E_TOO_LARGE   no memory for the part. */
ISOTOK_API(isotok_part_encode)
isotok_status isotok_part_encode(isotok_session *session, const uint8_t *text, size_t size,
                                 size_t begin, size_t end, isotok_part **out_part,
                                 isotok_error *out_error);

/* Joins a part to what `joint` has of the parts before it, writing to ids[0..capacity).
 * OK            all of it is joined.
 * NEED_OUTPUT   take *out_count ids, call again with room for error.need at least.
 * NEED_SCRATCH  take *out_count ids, isotok_session_move, call again. */
ISOTOK_API(isotok_part_join)
isotok_status isotok_part_join(isotok_session *session, isotok_part *part, isotok_joint *joint,
                               uint32_t *ids, size_t capacity, size_t *out_count,
                               isotok_error *out_error);

/* Frees a part; NULL is fine. */
ISOTOK_API(isotok_part_free)
void isotok_part_free(isotok_part *part);

#ifdef __cplusplus
}
#endif
#endif
