/* What the files of core/train share. */
#ifndef ISOTOK_COUNTS_H
#define ISOTOK_COUNTS_H

#include <stdbool.h>

#include "isotok_train.h"

struct isotok__word {
    int64_t count;
    uint32_t at; /* in the arena, in units of 8 bytes */
    uint32_t size;
};

/* Fills in an error, returns its status. */
isotok_train_status isotok__train_fail(isotok_train_error *error, isotok_train_status status,
                                       const char *message, uint64_t index);

/* Makes room for `wanted` elements at the pointer that `array` is the address of. */
bool isotok__train_grow(void *array, size_t *capacity, size_t wanted, size_t element);

#endif
