/* L2: normalized text into the window. See normalized.h. */
#include "normalized.h"

#include "utf8.h"

uint32_t isotok__canonical_size(const struct isotok_model *model, const uint8_t *text, size_t size)
{
    uint32_t point;
    if (model->space_size == 1) {
        if (text[0] == 0x20) return 0;
    } else if (model->whole_text) {
        return 1;
    }
    return isotok__scalar(text, size, &point);
}

/* Units of the given text in a character that starts with `lead` (or, where bytes are taken as
 * they are, in that byte). */
static uint32_t count_units(uint32_t unit, uint8_t lead, uint32_t size)
{
    return unit == ISOTOK_UNIT_BYTE ? size : isotok__byte_units(unit, lead);
}

/* Copies a run of ASCII that is the same in internal text; returns the new position. */
static size_t copy_ascii(const struct isotok_model *model, struct isotok__normalizer *n,
                         const uint8_t *text, size_t size, size_t p, struct isotok__window *w)
{
    const uint8_t space = model->space_size == 1 ? 0x20 : 0x80; /* 0x80: none */
    uint8_t *out = w->text + w->size;
    size_t count = isotok__min(size - p, w->capacity - w->size), i;
    for (i = 0; i < count; i++) {
        uint8_t c = text[p + i];
        if (c >= 0x80 || c == space) break;
        out[i] = c;
    }
    if (w->map != NULL) {
        uint32_t offset = (uint32_t)(n->consumed - w->map_base);
        for (count = 0; count < i; count++) w->map[w->size + count] = offset++;
    }
    w->size += i;
    n->consumed += i;
    return p + i;
}

int isotok__normalized_run(const struct isotok_model *model, struct isotok__normalizer *n,
                           const uint8_t *text, size_t size, size_t *position, bool last,
                           struct isotok__window *w)
{
    size_t p = *position;
    int state = ISOTOK__NORM_DONE;
    while ((p = copy_ascii(model, n, text, size, p, w)) < size) {
        uint32_t length = isotok__canonical_size(model, text + p, size - p), i;
        uint32_t written = isotok__is_compacted(model, text + p, length) ? 1 : length;
        if (length == 0) {
            if (last || size - p >= isotok__announced(text[p])) state = ISOTOK__NORM_REFUSED;
            break;
        }
        if (w->capacity - w->size < length) {
            state = ISOTOK__NORM_FULL;
            break;
        }
        for (i = 0; i < written; i++) {
            w->text[w->size + i] = written == length ? text[p + i] : 0x20;
            if (w->map != NULL) w->map[w->size + i] = (uint32_t)(n->consumed - w->map_base);
        }
        w->size += written;
        n->consumed += count_units(n->unit, text[p], length);
        p += length;
    }
    n->bytes += p - *position;
    *position = p;
    n->finished = last && state == ISOTOK__NORM_DONE;
    return state;
}
