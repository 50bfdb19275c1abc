/* Reader of the Protocol Buffers wire format: just what a ModelProto needs.
 *
 * It walks one message and hands out its fields in order; the caller picks the numbers
 * it knows and ignores the others. Accepts what the C++ library accepts: varints of up
 * to ten bytes, tags and lengths of up to five, groups (skipped) nested up to its limit. */
#ifndef ISOTOK_BUILD_PROTOBUF_H
#define ISOTOK_BUILD_PROTOBUF_H

#include "base.h"

enum {
    ISOTOK__PB_VARINT = 0,
    ISOTOK__PB_FIXED64 = 1,
    ISOTOK__PB_BYTES = 2,
    ISOTOK__PB_GROUP = 3,
    ISOTOK__PB_GROUP_END = 4,
    ISOTOK__PB_FIXED32 = 5
};

/* One message: bytes still to read. `depth` = how many levels may nest inside it. */
typedef struct isotok__pb {
    const uint8_t *at;
    const uint8_t *end;
    uint32_t depth;
} isotok__pb;

typedef struct isotok__pb_field {
    uint32_t number;
    uint32_t wire;       /* ISOTOK__PB_… */
    uint64_t value;      /* VARINT, FIXED64, FIXED32 */
    const uint8_t *data; /* BYTES: content */
    size_t size;         /* BYTES */
} isotok__pb_field;

#define ISOTOK__PB_DEPTH 100u

/* 1: *field is the next field; 0: the message ends; -1: malformed at pb->at. */
int isotok__pb_next(isotok__pb *pb, isotok__pb_field *field);

/* The message inside a BYTES field. */
static inline isotok__pb isotok__pb_inside(const isotok__pb *pb, const isotok__pb_field *field)
{
    isotok__pb inner = {field->data, field->data + field->size, pb->depth - 1};
    return inner;
}

#endif
