/* The FlatBuffer of a blob: see write_flatbuffer.h. */
#define ISOTOK__BLOB_FIELDS
#include "write_flatbuffer.h"

/* Positions that do not depend on the model. */
enum {
    FIELDS = ISOTOK__BLOB_FIELD_COUNT,
    VTABLE = 8,
    VTABLE_SIZE = 4 + 2 * FIELDS,
    TABLE = (VTABLE + VTABLE_SIZE + 3) & ~3,
    TABLE_SIZE = 4 + 4 * FIELDS,
    VECTORS = TABLE + TABLE_SIZE
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

uint64_t isotok__flatbuffer_size(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT])
{
    uint64_t at = VECTORS;
    for (uint32_t field = 0; field < FIELDS; field++) {
        if (ISOTOK__BLOB_IS_VECTOR(field) && sections[field].count > 0) {
            at = elements_at(at) + vector_bytes(&sections[field], field);
        }
    }
    return (at + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
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

void isotok__flatbuffer_write(const isotok__section sections[ISOTOK__BLOB_FIELD_COUNT],
                              uint8_t *out)
{
    uint64_t at = VECTORS;
    memset(out, 0, VECTORS);
    store_u32(out, TABLE);
    store_u32(out + 4, ISOTOK__MAGIC);
    write_vtable(sections, out);
    store_u32(out + TABLE, TABLE - VTABLE);
    for (uint32_t field = 0; field < FIELDS; field++) {
        uint32_t inside = TABLE + 4 + 4 * field;
        if (!ISOTOK__BLOB_IS_VECTOR(field)) {
            store_u32(out + inside, sections[field].bits);
        } else if (sections[field].count > 0) {
            uint64_t elements = elements_at(at);
            uint64_t bytes = vector_bytes(&sections[field], field);
            memset(out + at, 0, (size_t)(elements - at));
            store_u32(out + elements - 4, sections[field].count);
            store_u32(out + inside, (uint32_t)(elements - 4 - inside));
            memcpy(out + elements, sections[field].data, (size_t)bytes);
            at = elements + bytes;
        }
    }
    memset(out + at, 0, (size_t)(isotok__flatbuffer_size(sections) - at));
}
