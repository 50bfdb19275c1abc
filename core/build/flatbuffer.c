/* FlatBuffers, checked: see flatbuffer.h. */
#include "flatbuffer.h"

static uint32_t load_u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

/* Whether [at, at + bytes) is inside. */
static bool is_inside(uint64_t size, uint64_t at, uint64_t bytes)
{
    return at <= size && bytes <= size - at;
}

bool isotok__fb_table(const uint8_t *base, uint64_t size, uint64_t position, isotok__fb *out)
{
    if (!is_inside(size, position, 4)) {
        return false;
    }
    uint64_t table = position + isotok__load_u32(base + position);
    if (!is_inside(size, table, 4)) {
        return false;
    }
    int64_t vtable = (int64_t)table - (int32_t)isotok__load_u32(base + table);
    if (vtable < 4 || !is_inside(size, (uint64_t)vtable, 4)) {
        return false;
    }
    *out = (isotok__fb){base, size, table, (uint64_t)vtable, 0, 0};
    out->vtable_size = load_u16(base + out->vtable);
    out->table_size = load_u16(base + out->vtable + 2);
    return out->vtable_size >= 4 && is_inside(size, out->vtable, out->vtable_size) &&
           out->table_size >= 4 && is_inside(size, table, out->table_size);
}

bool isotok__fb_field(const isotok__fb *fb, uint32_t field, uint32_t bytes, uint64_t *out_at)
{
    uint32_t slot = 4 + 2 * field;
    uint32_t inside = slot + 2 <= fb->vtable_size ? load_u16(fb->base + fb->vtable + slot) : 0;
    *out_at = inside == 0 ? 0 : fb->table + inside;
    return inside == 0 || (inside >= 4 && inside + bytes <= fb->table_size);
}

bool isotok__fb_follow(const isotok__fb *fb, uint64_t position, uint32_t element_size,
                       isotok__fb_vector *out)
{
    uint64_t at = position + isotok__load_u32(fb->base + position);
    if (!is_inside(fb->size, at, 4)) {
        return false;
    }
    out->count = isotok__load_u32(fb->base + at);
    out->at = at + 4;
    out->data = fb->base + out->at;
    return is_inside(fb->size, out->at, (uint64_t)out->count * element_size);
}

bool isotok__fb_read(const isotok__fb *fb, uint32_t field, uint32_t element_size,
                     isotok__fb_vector *out)
{
    uint64_t at;
    *out = (isotok__fb_vector){fb->base, 0, 0};
    return isotok__fb_field(fb, field, 4, &at) &&
           (at == 0 || isotok__fb_follow(fb, at, element_size, out));
}
