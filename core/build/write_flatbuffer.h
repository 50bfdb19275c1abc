/* The FlatBuffer of a blob, front to back: root offset, identifier, vtable, table, then the vectors
 * in the order of their fields, elements at multiples of 64; only those that have elements. It is
 * made as parts end to end, of which the elements of vectors stay where they are. */
#ifndef ISOTOK_BUILD_WRITE_FLATBUFFER_H
#define ISOTOK_BUILD_WRITE_FLATBUFFER_H

#include "blob_gen.h"
#include "isotok_build.h"
#include "work.h"

#define ISOTOK__ABSENT 1u

typedef struct isotok__section {
    const void *data; /* of a vector; NULL = absent */
    uint32_t count;   /* of a vector; of a scalar: 0, or ISOTOK__ABSENT */
    uint32_t bits;    /* of a scalar */
} isotok__section;

enum {
    ISOTOK__FLAT_TABLE = (8 + 4 + 2 * ISOTOK__BLOB_FIELD_COUNT + 3) / 4 * 4,
    ISOTOK__FLAT_VECTORS = ISOTOK__FLAT_TABLE + 4 + 4 * ISOTOK__BLOB_FIELD_COUNT,
    ISOTOK__FLAT_GAP = ISOTOK_ALIGN + 4 /* at most, in front of a vector's elements */
};

/* A blob in parts: its header with what the FlatBuffer begins with, vectors, and what is between
 * them. */
typedef struct isotok__parts {
    uint8_t head[ISOTOK__HEADER_SIZE + ISOTOK__FLAT_VECTORS];
    uint8_t gaps[ISOTOK__BLOB_FIELD_COUNT + 1][ISOTOK__FLAT_GAP];
    isotok_build_part list[2 * ISOTOK__BLOB_FIELD_COUNT + 2];
    uint32_t count;
    uint64_t size; /* of all, a multiple of 64 */
} isotok__parts;

/* All but the header, whose bytes are zero. `sections` by field id. */
void isotok__flatbuffer_parts(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT],
                              isotok__parts *out);

#endif
