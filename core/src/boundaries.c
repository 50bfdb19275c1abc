/* L4: boundaries: where canonical text may be cut without changing how it is segmented. The
 * rule of cuts.h, read forwards.
 *
 * COMPLEXITY  O(bytes), whatever the capacity: a chunk is looked at when there is room for it. */
#include "cuts.h"
#include "normalized.h"

/* A character as internal text has it. */
static uint32_t internal_key(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    return isotok__is_compacted(model, text, size) ? 0x20 : isotok__char_key(text, size);
}

static bool is_cut(const isotok_model *model, uint32_t left, uint32_t right)
{
    if (model->blob.algorithm == ISOTOK_WORD)
        return right == (model->space_size == 1 ? 0x20 : 0xE29681);
    return !isotok__may_join(model, left, right);
}

/* End of the chunk that begins at text[begin], begin < size; false: *out_end cannot be read. */
static bool chunk_end(const isotok_model *model, const uint8_t *text, size_t size, size_t begin,
                      size_t *out_end)
{
    uint32_t left = 0;
    size_t p = model->whole_text ? size : begin;
    bool ok = true;
    while (ok && p < size) {
        uint32_t length = isotok__canonical_size(model, text + p, size - p), right;
        ok = length != 0;
        if (!ok) break;
        right = internal_key(model, text + p, length);
        if (p != begin && is_cut(model, left, right)) break;
        left = right;
        p += length;
    }
    *out_end = p;
    return ok;
}

isotok_status isotok_boundaries(const isotok_model *model, const uint8_t *text, size_t size,
                                size_t *position, uint32_t *out, size_t capacity, size_t *out_count,
                                isotok_error *error)
{
    size_t end;
    if (model == NULL || position == NULL || out_count == NULL || (text == NULL && size != 0) ||
        (out == NULL && capacity != 0))
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (size > 0xFFFFFFFFu)
        return isotok__needs(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_TEXT_SIZE, size);
    if (*position > size)
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0, *position, 0);
    for (*out_count = 0; *position < size; *position = end) {
        if (*out_count == capacity)
            return isotok__fail(error, ISOTOK_NEED_OUTPUT, ISOTOK_WHAT_NOTHING, 0, *position,
                                size - *position);
        if (!chunk_end(model, text, size, *position, &end))
            return isotok__fail(error, ISOTOK_E_TEXT, ISOTOK_WHAT_NORMALIZED_TEXT, 0, end, 0);
        out[(*out_count)++] = (uint32_t)end;
    }
    return ISOTOK_OK;
}
