/* A model as Google's `.spm.fb` holds it, for SentencePiece Lite: its tries and marks, and
 * refusal of what the file cannot say or its runtime would do differently. */
#ifndef ISOTOK_BUILD_EXPORT_SPM_FB_H
#define ISOTOK_BUILD_EXPORT_SPM_FB_H

#include "darts.h"
#include "plan.h"

typedef struct isotok__spm_fb {
    isotok__spec spec;         /* the model; pieces that are one NUL byte have a name */
    isotok__darts pieces;      /* all pieces -> id */
    isotok__darts user;        /* USER_DEFINED pieces -> id */
    isotok__darts pairs;       /* adjacent characters -> slot of the second one's own path */
    const int32_t *int_scores; /* [vocab_size] bpe only */
    const uint8_t *is_direct;  /* [vocab_size] bpe only, NULL if all are */
    bool has_direct;
} isotok__spm_fb;

isotok_status isotok__spm_fb_make(isotok__work *work, const isotok__spec *spec,
                                  const isotok__plan *plan, isotok__spm_fb *out);

/* Writes the file; NEED_OUTPUT with *out_size where `capacity` is too small. */
isotok_status isotok__spm_fb_write(isotok__work *work, const isotok__spm_fb *model, uint8_t *out,
                                   size_t capacity, size_t *out_size);

#endif
