/* Reading FlatBuffers that nobody trusts: every offset is checked, nothing needs alignment.
 *
 * A table is found through its vtable: the place of each field, by its number, or none. */
#ifndef ISOTOK_BUILD_FLATBUFFER_H
#define ISOTOK_BUILD_FLATBUFFER_H

#include "base.h"

/* A table in the buffer [base, base + size). */
typedef struct isotok__fb {
    const uint8_t *base;
    uint64_t size;
    uint64_t table, vtable; /* positions */
    uint32_t table_size, vtable_size;
} isotok__fb;

/* `count` elements inside the buffer; at position 0 the vector is absent. */
typedef struct isotok__fb_vector {
    const uint8_t *data;
    uint32_t count;
    uint64_t at; /* position of the elements */
} isotok__fb_vector;

/* The table that the offset at `position` leads to; false: it is not inside. */
bool isotok__fb_table(const uint8_t *base, uint64_t size, uint64_t position, isotok__fb *out);

/* Position of the `bytes` bytes of a field, 0 = absent; false: outside of the table. */
bool isotok__fb_field(const isotok__fb *fb, uint32_t field, uint32_t bytes, uint64_t *out_at);

/* The vector (or string) that the offset at `position` leads to; false: not inside. */
bool isotok__fb_follow(const isotok__fb *fb, uint64_t position, uint32_t element_size,
                       isotok__fb_vector *out);

/* A field that is a vector or a string; absent: no elements, position 0. */
bool isotok__fb_read(const isotok__fb *fb, uint32_t field, uint32_t element_size,
                     isotok__fb_vector *out);

#endif
