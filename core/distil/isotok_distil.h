/* isotok: distilling a Unigram model into a blob that segments faster.
 *
 *     isotok_chunks *chunks = isotok_chunks_new(teacher);
 *     isotok_counts *counts = isotok_counts_new(NULL);
 *     isotok_chunks_add_text(chunks, counts, text, size, &error);      as often as there are texts
 *     isotok_distil *distil = isotok_distil_new(teacher, counts, &error);
 *     isotok_distil_memo(distil, 1 << 20, &error);                     or isotok_distil_learn
 *     isotok_distil_blob(distil, ISOTOK_UNIGRAM, NULL, &blob, &blob_size, &error);
 *
 * A chunk is text between two cuts (core/format/FORMAT.md, section 6): no piece crosses its ends, so
 * how it is segmented depends on it alone, apart from ties between float32 sums. What is
 * given (model, counts) must outlive what is made of it. Not thread-safe. */
#ifndef ISOTOK_DISTIL_H
#define ISOTOK_DISTIL_H

#include "isotok_train.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isotok_chunks isotok_chunks;
typedef struct isotok_distil isotok_distil;

/* What cuts texts into the chunks of a Unigram model. NULL: no memory, or the model is none of
 * SentencePiece's Unigram models, or one that is never cut. */
ISOTOK_API(isotok_chunks_new)
isotok_chunks *isotok_chunks_new(const isotok_model *model);
ISOTOK_API(isotok_chunks_free)
void isotok_chunks_free(isotok_chunks *chunks);

/* Normalizes a text and counts its chunks, as internal text. `counts` cuts nothing itself. */
ISOTOK_API(isotok_chunks_add_text)
isotok_train_status isotok_chunks_add_text(isotok_chunks *chunks, isotok_counts *counts,
                                           const uint8_t *text, size_t size,
                                           isotok_train_error *out_error);

/* Segments all chunks with the teacher. NULL: an error. */
ISOTOK_API(isotok_distil_new)
isotok_distil *isotok_distil_new(const isotok_model *teacher, const isotok_counts *counts,
                                 isotok_train_error *out_error);
ISOTOK_API(isotok_distil_free)
void isotok_distil_free(isotok_distil *distil);

/* How often each piece was chosen, to frequencies[0..vocab_size). */
ISOTOK_API(isotok_distil_frequencies)
void isotok_distil_frequencies(const isotok_distil *distil, int64_t *frequencies);

/* Makes a memo of at most `size` bytes, a power of two from 2,048 on (else the next below), of the
 * chunks that save most. Less: none. */
ISOTOK_API(isotok_distil_memo)
isotok_train_status isotok_distil_memo(isotok_distil *distil, size_t size,
                                       isotok_train_error *out_error);

/* Learns at most `most` exceptions to longest match that repair more than they break. Each repairs at
 * least `least` more occurrences than it breaks. 0: none. */
ISOTOK_API(isotok_distil_learn)
isotok_train_status isotok_distil_learn(isotok_distil *distil, uint32_t most, int64_t least,
                                        isotok_train_error *out_error);

/* What has been made. */
typedef struct isotok_distil_stats {
    uint64_t chunks, bytes, tokens;  /* of the counts: different ones, their bytes and tokens … */
    int64_t occurrences;             /* … and how many in all */
    uint64_t memo_sets, memo_chunks; /* of the memo */
    int64_t memo_occurrences;        /* of chunks in the memo */
    uint64_t exceptions, exception_words;
    int64_t repaired, broken; /* by the exceptions, in the counts */
} isotok_distil_stats;

ISOTOK_API(isotok_distil_get_stats)
void isotok_distil_get_stats(const isotok_distil *distil, isotok_distil_stats *out_stats);

/* The blob. ISOTOK_UNIGRAM: the teacher with the memo. ISOTOK_LONGEST: longest match with the
 * exceptions. ISOTOK_PRIORITY: by priorities[0..vocab_size), finite. *out_data is the distil's, until
 * its next call. */
ISOTOK_API(isotok_distil_blob)
isotok_train_status isotok_distil_blob(isotok_distil *distil, uint32_t algorithm,
                                       const float *priorities, const void **out_data,
                                       size_t *out_size, isotok_train_error *out_error);

#ifdef __cplusplus
}
#endif
#endif
