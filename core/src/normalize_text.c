/* L4: normalize_begin and normalize_step: the normalizer's window delivered as canonical text. */
#include "options.h"

static const uint8_t space_symbol[3] = {0xE2, 0x96, 0x81};

isotok_status isotok_normalize_begin(isotok_session *s, const isotok_encode_options *options,
                                     isotok_error *error)
{
    isotok_status status = isotok__begin(s, options, ISOTOK_KEEP_ILL_FORMED, error);
    if (status != ISOTOK_OK) return status;
    isotok__text_begin(s, (s->options.flags & ISOTOK_KEEP_ILL_FORMED) != 0);
    s->window.map = s->map_memory;
    s->mode = ISOTOK__NORMALIZING;
    return ISOTOK_OK;
}

/* Delivers window bytes [drained, settled); false if the output is full. A space symbol
 * is delivered whole or, byte by byte, from s->emitter.byte on. */
ISOTOK_INLINE bool drain(isotok_session *s, size_t settled, uint8_t *out, uint32_t *out_map,
                         size_t capacity, size_t *count)
{
    const struct isotok__window *w = &s->window;
    bool compact = s->model->space_size == 1;
    const uint32_t shift = isotok__map_shift(s);
    while (s->drained < settled) {
        uint8_t byte = w->text[s->drained];
        bool symbol = compact && byte == 0x20;
        if (*count == capacity) return false;
        out[*count] = symbol ? space_symbol[s->emitter.byte] : byte;
        if (out_map != NULL)
            out_map[*count] = (uint32_t)(w->map_base + (w->map[s->drained] >> shift));
        ++*count;
        if (symbol && ++s->emitter.byte < 3) continue;
        s->emitter.byte = 0;
        s->drained++;
    }
    return true;
}

isotok_status isotok_normalize_step(isotok_session *s, isotok_input *input, uint8_t *out,
                                    uint32_t *out_map, size_t capacity, size_t *out_count,
                                    uint32_t *out_end, isotok_error *error)
{
    isotok_status status = isotok__check_input(s, input, out_count, ISOTOK__NORMALIZING, error);
    bool last;
    if (status != ISOTOK_OK) return status;
    if (out == NULL && capacity != 0) return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    *out_count = 0;
    last = (input->part & ISOTOK_PART_LAST) != 0;
    for (;;) {
        int state = isotok__text_run(s, input->text, input->size, &input->consumed, last);
        size_t settled = isotok__text_settled(s);
        if (!drain(s, settled, out, out_map, capacity, out_count))
            return isotok__needs(error, ISOTOK_NEED_OUTPUT, ISOTOK_WHAT_NOTHING,
                                 3 * (settled - s->drained));
        if (settled == 0 && state == ISOTOK__NORM_FULL) return isotok__need_scratch(s, error);
        isotok__window_drop(s, settled);
        s->drained = 0;
        if (state == ISOTOK__NORM_DONE) break;
    }
    if (out_end != NULL) *out_end = (uint32_t)s->normalizer.consumed;
    if (s->normalizer.finished) s->mode = ISOTOK__ENDED;
    return ISOTOK_OK;
}
