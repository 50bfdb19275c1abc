/* Writes the FlatBuffer of a blob, front to back: root offset, identifier, vtable, table,
 * then the vectors in the order of their fields, elements at multiples of 64; only those that have
 * elements. */
#ifndef ISOTOK_BUILD_WRITE_FLATBUFFER_H
#define ISOTOK_BUILD_WRITE_FLATBUFFER_H

#include "blob_gen.h"
#include "work.h"

#define ISOTOK__ABSENT 1u

typedef struct isotok__section {
    const void *data; /* of a vector; NULL = absent */
    uint32_t count;   /* of a vector; of a scalar: 0, or ISOTOK__ABSENT */
    uint32_t bits;    /* of a scalar */
} isotok__section;

/* Bytes that isotok__flatbuffer_write writes, a multiple of 64. `sections` by field id. */
uint64_t isotok__flatbuffer_size(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT]);

/* `out` is 64-aligned and the buffer starts there. */
void isotok__flatbuffer_write(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT],
                              uint8_t *out);

#endif
