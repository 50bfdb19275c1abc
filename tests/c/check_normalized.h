/* For the C tests: what must hold between a text, its normalized text and the boundaries in it. */
#ifndef ISOTOK_TEST_CHECK_NORMALIZED_H
#define ISOTOK_TEST_CHECK_NORMALIZED_H

#include "drive.h"

/* Encoding the normalized text gives `expected` (with spans in bytes, of the text), and its
 * spans are those in the normalized text. */
bool normalized_gives(const drive_model *m, const drive_plan *plan, const drive_bytes *normalized,
                      const drive_tokens *expected);

/* The boundaries ascend to the end, no token but a run of unknowns spans one, and (unless
 * unigram) the chunks' ids are `expected` once runs of unknowns are fused. They are the same
 * for every capacity. */
bool boundaries_hold(const drive_model *m, const drive_bytes *normalized,
                     const drive_tokens *expected);

#endif
