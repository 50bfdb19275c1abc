/* The FlatBuffer of a blob: see write_flatbuffer.h. */
#define ISOTOK__BLOB_FIELDS
#include "write_flatbuffer.h"

/* Positions that do not depend on the model. */
enum {
    FIELDS = ISOTOK__BLOB_FIELD_COUNT,
    VTABLE = 8,
    VTABLE_SIZE = 4 + 2 * FIELDS,
    TABLE = ISOTOK__FLAT_TABLE,
    TABLE_SIZE = 4 + 4 * FIELDS,
    VECTORS = ISOTOK__FLAT_VECTORS
};

static void store_u16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void store_u32(uint8_t *at, uint32_t value)
{
    store_u16(at, value);
    store_u16(at + 2, value >> 16);
}

static bool is_present(const isotok__section *section, uint32_t field)
{
    return ISOTOK__BLOB_IS_VECTOR(field) ? section->count > 0 : section->count != ISOTOK__ABSENT;
}

/* Where a vector's elements begin if the free space begins at `at`: after its length. */
static uint64_t elements_at(uint64_t at)
{
    return (at + 4 + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
}

static uint64_t vector_bytes(const isotok__section *section, uint32_t field)
{
    return (uint64_t)section->count * isotok__blob_elements[field];
}

/* A field's place in the table is 4 + 4 * id. */
static void write_vtable(const isotok__section *sections, uint8_t *out)
{
    store_u16(out + VTABLE, VTABLE_SIZE);
    store_u16(out + VTABLE + 2, TABLE_SIZE);
    for (uint32_t field = 0; field < FIELDS; field++) {
        if (is_present(&sections[field], field)) {
            store_u16(out + VTABLE + 4 + 2 * field, 4 + 4 * field);
        }
    }
}

static void add_part(isotok__parts *parts, const void *data, uint64_t size)
{
    if (size != 0) {
        parts->list[parts->count++] = (isotok_build_part){data, (size_t)size};
    }
}

void isotok__flatbuffer_parts(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT],
                              isotok__parts *out)
{
    uint8_t *flat = out->head + ISOTOK__HEADER_SIZE;
    uint64_t at = VECTORS;
    memset(out, 0, sizeof *out);
    add_part(out, out->head, sizeof out->head);
    store_u32(flat, TABLE);
    store_u32(flat + 4, ISOTOK__MAGIC);
    write_vtable(sections, flat);
    store_u32(flat + TABLE, TABLE - VTABLE);
    for (uint32_t field = 0; field < FIELDS; field++) {
        uint32_t inside = TABLE + 4 + 4 * field;
        if (!ISOTOK__BLOB_IS_VECTOR(field)) {
            store_u32(flat + inside, sections[field].bits);
        } else if (sections[field].count > 0) {
            uint64_t elements = elements_at(at);
            store_u32(out->gaps[field] + (elements - at) - 4, sections[field].count);
            store_u32(flat + inside, (uint32_t)(elements - 4 - inside));
            add_part(out, out->gaps[field], elements - at);
            add_part(out, sections[field].data, vector_bytes(&sections[field], field));
            at = elements + vector_bytes(&sections[field], field);
        }
    }
    uint64_t end = (at + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
    add_part(out, out->gaps[FIELDS], end - at);
    out->size = ISOTOK__HEADER_SIZE + end;
}
