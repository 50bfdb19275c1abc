/* Protocol Buffers wire format: see protobuf.h. */
#include "protobuf.h"

/* Reads a varint of at most `limit` bytes; false leaves pb->at where it began. */
static bool read_varint(isotok__pb *pb, unsigned limit, uint64_t *value)
{
    const uint8_t *p = pb->at;
    uint64_t v = 0;
    for (unsigned i = 0; i < limit && p < pb->end; i++, p++) {
        v |= (uint64_t)(*p & 0x7F) << (7 * i);
        if (*p < 0x80) {
            *value = v;
            pb->at = p + 1;
            return true;
        }
    }
    return false;
}

static bool read_tag(isotok__pb *pb, uint32_t *number, uint32_t *wire)
{
    uint64_t tag;
    const uint8_t *start = pb->at;
    if (!read_varint(pb, 5, &tag)) {
        return false;
    }
    *number = (uint32_t)tag >> 3;
    *wire = (uint32_t)tag & 7;
    if (*number == 0) {
        pb->at = start;
        return false;
    }
    return true;
}

/* A length must be below 2^31 - 16, as in the C++ library, and inside the message. */
static bool read_bytes(isotok__pb *pb, isotok__pb_field *field)
{
    const uint8_t *start = pb->at;
    uint64_t size;
    if (!read_varint(pb, 5, &size) || size > 0x7FFFFFFFu - 16 ||
        size > (size_t)(pb->end - pb->at)) {
        pb->at = start;
        return false;
    }
    field->data = pb->at;
    field->size = (size_t)size;
    pb->at += field->size;
    return true;
}

static bool read_fixed(isotok__pb *pb, unsigned size, uint64_t *value)
{
    if ((size_t)(pb->end - pb->at) < size) {
        return false;
    }
    *value = size == 8 ? isotok__load_u64(pb->at) : isotok__load_u32(pb->at);
    pb->at += size;
    return true;
}

/* The content of a field that is not a group. */
static bool read_content(isotok__pb *pb, isotok__pb_field *field)
{
    switch (field->wire) {
    case ISOTOK__PB_VARINT: return read_varint(pb, 10, &field->value);
    case ISOTOK__PB_FIXED64: return read_fixed(pb, 8, &field->value);
    case ISOTOK__PB_BYTES: return read_bytes(pb, field);
    case ISOTOK__PB_FIXED32: return read_fixed(pb, 4, &field->value);
    default: return false;
    }
}

/* Skips the rest of a group whose start tag was read. */
static bool skip_group(isotok__pb *pb, uint32_t number)
{
    uint32_t open[ISOTOK__PB_DEPTH];
    uint32_t depth = 0;
    if (pb->depth == 0) {
        return false;
    }
    open[depth++] = number;
    while (depth > 0) {
        isotok__pb_field field;
        if (!read_tag(pb, &field.number, &field.wire)) {
            return false;
        }
        if (field.wire == ISOTOK__PB_GROUP) {
            if (depth >= pb->depth || depth >= ISOTOK__PB_DEPTH) {
                return false;
            }
            open[depth++] = field.number;
        } else if (field.wire == ISOTOK__PB_GROUP_END) {
            if (open[--depth] != field.number) {
                return false;
            }
        } else if (!read_content(pb, &field)) {
            return false;
        }
    }
    return true;
}

int isotok__pb_next(isotok__pb *pb, isotok__pb_field *field)
{
    if (pb->at >= pb->end) {
        return 0;
    }
    if (!read_tag(pb, &field->number, &field->wire)) {
        return -1;
    }
    if (field->wire == ISOTOK__PB_GROUP) {
        return skip_group(pb, field->number) ? 1 : -1;
    }
    return read_content(pb, field) ? 1 : -1;
}
