/* L4: beginning an operation, and moving the window. See options.h. */
#include "options.h"

#include <float.h>

ISOTOK_INLINE isotok_status read_options(const isotok_encode_options *options, uint32_t known_flags,
                                         isotok_encode_options *out, isotok_error *error)
{
    const uint8_t *bytes = (const uint8_t *)options;
    uint32_t i;
    memset(out, 0, sizeof *out);
    if (options == NULL) return ISOTOK_OK;
    if (options->size < 8 || options->size > 4096)
        return isotok__needs(error, ISOTOK_E_ABI, ISOTOK_WHAT_STRUCT_SIZE, sizeof *out);
    /* a newer caller's additional fields must be unset */
    for (i = sizeof *out; i < options->size; i++)
        if (bytes[i] != 0)
            return isotok__fail(error, ISOTOK_E_ABI, ISOTOK_WHAT_STRUCT_SIZE, i, 0, sizeof *out);
    memcpy(out, options, isotok__min(options->size, sizeof *out));
    if ((out->flags & ~known_flags) != 0)
        return isotok__argument(error, ISOTOK_WHAT_OPTION, out->flags & ~known_flags);
    if (!(out->alpha >= 0.0 && out->alpha <= DBL_MAX))
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0,
                            offsetof(isotok_encode_options, alpha), 0);
    if (out->alpha > ISOTOK__MOST_ALPHA) out->alpha = ISOTOK__MOST_ALPHA;
    if (out->offset_unit > ISOTOK_UNIT_UTF16)
        return isotok__argument(error, ISOTOK_WHAT_OPTION, out->offset_unit);
    return ISOTOK_OK;
}

isotok_status isotok__begin(isotok_session *s, const isotok_encode_options *options,
                            uint32_t known_flags, isotok_error *error)
{
    isotok_status status;
    if (s == NULL) return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    s->mode = ISOTOK__IDLE;
    s->batch_running = 0;
    status = read_options(options, known_flags, &s->options, error);
    if (status != ISOTOK_OK) return status;
    memset(&s->emitter, 0, /* and the decoder, and the next few */
           offsetof(struct isotok_session, map_memory) - offsetof(struct isotok_session, emitter));
    s->window.size = 0;
    s->window.map_base = 0;
    s->window.map = NULL;
    s->tokens.count = 0;
    s->ready = 0;
    s->window.settled = 0;
    return ISOTOK_OK;
}

isotok_status isotok__check_input(const struct isotok_session *s, const isotok_input *input,
                                  const void *output, uint32_t mode, isotok_error *error)
{
    if (s == NULL || input == NULL || output == NULL || (input->text == NULL && input->size != 0))
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (s->mode != mode) return isotok__needs(error, ISOTOK_E_STATE, ISOTOK_WHAT_NOT_BEGUN, 0);
    if (input->consumed > input->size || (input->part & ~(uint32_t)ISOTOK_PART_LAST) != 0)
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0, input->consumed, 0);
    return ISOTOK_OK;
}

void isotok__window_drop(struct isotok_session *s, size_t size)
{
    struct isotok__window *w = &s->window;
    size_t rest = w->size - size, i;
    if (size == 0) return;
    if (w->map != NULL) {
        /* re-base, so that entries stay small however long the text is */
        const uint32_t bits = isotok__map_shift(s);
        const uint32_t shift = rest > 0 ? w->map[size] >> bits : 0;
        for (i = 0; i < rest; i++) w->map[i] = w->map[size + i] - (shift << bits);
        w->map_base += shift;
        if (rest == 0)
            w->map_base = bits != 0 ? isotok__unicode_floor(&s->normalizer, &s->unicode)
                                    : s->normalizer.consumed;
    }
    memmove(w->text, w->text + size, rest);
    w->size = rest;
    s->place += size;
    w->settled -= isotok__min(w->settled, size);
}
