/* L2: a program as a stream: units, images of single characters, blocks. See unicode.h.
 *
 * ALGORITHM   Printable ASCII that no operation touches is copied in blocks; any other character
 *             waits until the next one shows whether there is a boundary behind it. A unit of one
 *             character has an image in its row of the tables, others go through the operations.
 * COMPLEXITY  O(characters x operations), each character once, no allocation. */
#include "unicode.h"

#include "utf8.h"

#define GAP ISOTOK__UNI_GAP

void isotok__unicode_begin(struct isotok__unicode *u)
{
    u->count = u->flags = u->begun = u->late_count = u->late_at = 0;
    u->gap = 1;
}

uint64_t isotok__unicode_floor(const struct isotok__normalizer *n, const struct isotok__unicode *u)
{
    if (u->late_count != 0) return u->late[u->late_at] >> 3;
    return u->count != 0 ? u->base : n->consumed;
}

ISOTOK_INLINE bool is_boundary(uint32_t before, uint32_t after)
{
    return !((after & ISOTOK__UNI_LEFT) | (before & ISOTOK__UNI_RIGHT) |
             (before & after & ISOTOK__UNI_SOFT));
}

/* Appends characters to the window, all or none. */
static bool write(const struct isotok_model *model, const struct isotok__unicode *u,
                  const struct isotok__char *chars, uint32_t count, struct isotok__window *w)
{
    const uint32_t shift = (uint32_t)(u->base - w->map_base) << 3;
    size_t size = w->size, firm = w->settled;
    uint32_t i, k;
    for (i = 0; i < count; i++) {
        const uint32_t point = chars[i].point & ISOTOK__UNI_POINT;
        uint32_t length = 1;
        if (w->capacity - size < 4) return false;
        if (point == 0x2581 && model->space_size == 1)
            w->text[size] = 0x20;
        else
            length = isotok__put_scalar(point, w->text + size);
        if (w->map != NULL)
            for (k = 0; k < length; k++) w->map[size + k] = chars[i].origin + shift;
        size += length;
        if (!(chars[i].point & ISOTOK__UNI_CUT)) firm = size;
    }
    w->size = size;
    w->settled = firm;
    return true;
}

/* The image of the one character that the unit is; NULL: there is no room. */
static struct isotok__char *image(const struct isotok_model *model, struct isotok__unicode *u,
                                  uint32_t *out_count)
{
    const struct isotok__program *program = &model->program;
    struct isotok__char self = u->unit[0], *out = u->work[0];
    const uint32_t code = isotok__unicode_row(program, self.point)[1];
    const uint8_t *text = program->text + 2 * (size_t)program->splits;
    uint32_t count = 0;
    if (u->gap && program->splits != 0 && !(u->flags & GAP))
        count = isotok__unicode_text(text + 1, text[0], self, out, count, u->capacity);
    u->gap = (u->flags & GAP) != 0;
    if (u->flags & ISOTOK__UNI_LOOSE) self.point |= ISOTOK__UNI_CUT;
    text = program->text + 2 * (size_t)code;
    if (code != 0)
        count = isotok__unicode_text(text + 1, text[0], self, out, count, u->capacity);
    else if (count < u->capacity)
        out[count++] = self;
    *out_count = count;
    return count <= u->capacity ? out : NULL;
}

/* Sends the unit to the window; false: no room, nothing happened. */
static bool flush(const struct isotok_model *model, struct isotok__unicode *u,
                  struct isotok__window *w)
{
    const struct isotok__program *program = &model->program;
    const uint32_t begun = u->begun, gap = u->gap;
    const bool usual = begun == program->stateful && u->late_count == 0;
    uint32_t count;
    struct isotok__char *chars;
    if (u->count == 0) return true;
    if (!usual) { /* the ring must not move in vain */
        const uint64_t room = (uint64_t)program->expansion * u->count;
        if (room > u->capacity || 4 * room > w->capacity - w->size) return false;
    }
    chars = usual && u->count == 1 && !(u->flags & ISOTOK__UNI_SLOW)
                ? image(model, u, &count)
                : isotok__unicode_apply(model, u, &count);
    if (chars == NULL || !write(model, u, chars, count, w)) {
        u->begun = begun;
        u->gap = gap;
        return false;
    }
    u->count = 0;
    return true;
}

static void lower(uint8_t *text, uint32_t size)
{
    uint32_t i;
    for (i = 0; i < size; i++) text[i] |= (uint8_t)((uint8_t)(text[i] - 'A') < 26) << 5;
}

/* Copies blocks of ASCII from text[p..size); returns the new position. */
static size_t copy_blocks(const struct isotok_model *model, struct isotok__normalizer *n,
                          const uint8_t *text, size_t size, size_t p, struct isotok__window *w)
{
    const struct isotok__program *program = &model->program;
    const bool collapse = (program->flags & ISOTOK__UNI_COLLAPSE) != 0;
    uint32_t count = 16, i, origin;
    while (count == 16 && size - p > 16 && w->capacity - w->size >= 16) {
        uint8_t *out = w->text + w->size;
        count = isotok__plain_run(&model->normalizer, text, p, collapse);
        if (count != 0 && (text[p + count] >= 0x80 ||
                           (isotok__unicode_row(program, text[p + count])[0] & ISOTOK__UNI_LEFT)))
            count--; /* what follows may join it */
        if (collapse && count != 0 && text[p + count - 1] == 0x20) count--;
        memcpy(out, text + p, 16);
        if (program->flags & ISOTOK__UNI_LOWER) lower(out, 16);
        if (w->map != NULL) {
            origin = (uint32_t)(n->consumed - w->map_base) << 3 | 1;
            for (i = 0; i < count; i++)
                w->map[w->size + i] =
                    origin + 8 * (i + (text[p + i] == 0x20 && (program->flags & ISOTOK__UNI_NEXT)));
        }
        w->size += count;
        p += count;
        n->consumed += count;
        if (count != 0) w->settled = w->size;
    }
    return p;
}

int isotok__unicode_run(const struct isotok_model *model, struct isotok__normalizer *n,
                        struct isotok__unicode *u, const uint8_t *text, size_t size,
                        size_t *position, bool last, struct isotok__window *w)
{
    const struct isotok__program *program = &model->program;
    size_t p = *position;
    while (p < size) {
        uint32_t point = 0xFFFDu, length = isotok__scalar(text + p, size - p, &point), units = 1;
        uint32_t flags;
        if (length == 0) {
            if (!last && text[p] >= 0xC2 && size - p < isotok__lead_size(text[p])) break;
            length = 1;
        } else if (n->unit != ISOTOK_UNIT_CODEPOINT) {
            units = n->unit == ISOTOK_UNIT_BYTE ? length : 1u + (length == 4);
        }
        flags = isotok__unicode_row(program, point)[0];
        if (u->count == u->capacity ||
            (is_boundary(u->flags, flags) && !flush(model, u, w))) {
            *position = p;
            return ISOTOK__NORM_FULL;
        }
        if (point < 0x80 && p > 0 && u->count == 0 && (program->flags & ISOTOK__UNI_BLOCKS) &&
            !u->gap && u->begun == program->stateful && u->late_count == 0) {
            const size_t before = p;
            p = copy_blocks(model, n, text, size, p, w);
            if (p != before) {
                u->flags = 0;
                continue;
            }
        }
        if (u->count == 0) u->base = n->consumed;
        u->unit[u->count].point = point;
        u->unit[u->count++].origin = (uint32_t)(n->consumed - u->base) << 3 | units;
        u->flags = flags;
        n->consumed += units;
        p += length;
    }
    *position = p;
    if (!last) return ISOTOK__NORM_DONE;
    if (!flush(model, u, w)) return ISOTOK__NORM_FULL;
    w->size = w->settled;
    n->finished = 1;
    return ISOTOK__NORM_DONE;
}
