/* ModelSpec -> SentencePiece `.model`. What a blob does not keep (how the model was trained, the
 * name of the normalizer) is left at its default. */
#ifndef ISOTOK_BUILD_WRITE_SENTENCEPIECE_H
#define ISOTOK_BUILD_WRITE_SENTENCEPIECE_H

#include "spec.h"

/* NEED_OUTPUT with *out_size where `capacity` is too small. */
isotok_status isotok__sentencepiece_write(isotok__work *work, const isotok__spec *spec,
                                          uint8_t *out, size_t capacity, size_t *out_size);

#endif
