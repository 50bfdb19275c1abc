/* Model fields given one by one as arrays (isotok_build_set) -> ModelSpec. */
#ifndef ISOTOK_BUILD_READ_ARRAYS_H
#define ISOTOK_BUILD_READ_ARRAYS_H

#include "spec.h"

/* Fields as they were given; NULL where not. */
typedef struct isotok__arrays {
    isotok__span piece_text;
    const uint8_t *piece_sizes; /* uint16[piece_count], any alignment */
    const uint8_t *scores;      /* float[score_count] */
    const uint8_t *types;
    size_t piece_count, score_count, type_count;
} isotok__arrays;

/* Takes one field (ISOTOK_FIELD_…); scalars go into the spec at once. */
isotok_status isotok__arrays_set(isotok__work *work, isotok__arrays *arrays, isotok__spec *spec,
                                 uint32_t field, const void *data, size_t count);

/* Copies the arrays into the spec when all are there. */
isotok_status isotok__arrays_finish(isotok__work *work, const isotok__arrays *arrays,
                                    isotok__spec *spec);

/* Whether the source is fields in one (ISOTOK_SOURCE_FIELDS), and reads them all. */
bool isotok__is_fields(isotok__span source);
isotok_status isotok__read_fields(isotok__work *work, isotok__arrays *arrays, isotok__spec *spec,
                                  isotok__span source);

#endif
