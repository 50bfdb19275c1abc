/* L2: a program as a stream: units, images of single characters, blocks. See unicode.h.
 *
 * ALGORITHM   Printable ASCII that no operation touches is copied in blocks; any other character
 *             waits until the next one shows whether there is a boundary behind it. A unit of one
 *             character has an image in its row of the tables, others go through the operations.
 * COMPLEXITY  O(characters x operations), each character once, no allocation. */
#include "unicode.h"

#include "utf8.h"

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

/* Appends characters to the window, which has room for four bytes of each. */
static void write(const struct isotok_model *model, const struct isotok__unicode *u,
                  const struct isotok__char *chars, uint32_t count, struct isotok__window *w)
{
    const uint32_t shift = (uint32_t)(u->base - w->map_base) << 3;
    uint32_t i, k;
    for (i = 0; i < count; i++) {
        const uint32_t point = chars[i].point & ISOTOK__UNI_POINT;
        uint32_t length = 1;
        if (point == 0x2581 && model->space_size == 1)
            w->text[w->size] = 0x20;
        else
            length = isotok__put_scalar(point, w->text + w->size);
        if (w->map != NULL)
            for (k = 0; k < length; k++) w->map[w->size + k] = chars[i].origin + shift;
        w->size += length;
        if (!(chars[i].point & ISOTOK__UNI_CUT)) w->settled = w->size;
    }
}

/* Appends the text of a code; false: no room. */
static bool put_image(const struct isotok__program *program, uint32_t code, const uint8_t *self,
                      uint32_t self_size, uint32_t origin, struct isotok__window *w)
{
    const uint8_t *image = program->text + 2 * (size_t)code;
    uint32_t size = code != 0 ? *image++ : 1, i, k;
    if (w->capacity - w->size < 4 * (size_t)size) return false;
    if (code == 0 && w->map == NULL) { /* four bytes are there to read, and room to write */
        memcpy(w->text + w->size, self, 4);
        w->size += self_size;
        return true;
    }
    for (i = 0; i < size; i++) {
        const bool copied = code == 0 || image[i] == 0xFF;
        for (k = 0; k < (copied ? self_size : 1); k++) {
            if (w->map != NULL) w->map[w->size] = origin;
            w->text[w->size++] = copied ? self[k] : image[i];
        }
    }
    return true;
}

/* Whether single characters have the images that their rows say. */
ISOTOK_INLINE bool is_usual(const struct isotok__program *program, const struct isotok__unicode *u)
{
    return u->begun == program->stateful && u->late_count == 0;
}

/* Sends the unit to the window; false: no room, nothing happened. */
static bool flush(const struct isotok_model *model, struct isotok__unicode *u,
                  struct isotok__window *w)
{
    const struct isotok__program *program = &model->program;
    const uint32_t begun = u->begun, gap = u->gap;
    uint32_t count, tries = is_usual(program, u) ? 1 : 2;
    struct isotok__char *chars = NULL;
    if (u->count == 0) return true;
    if (tries == 1 && u->count == 1 && !(u->flags & ISOTOK__UNI_NOT_PLAIN) &&
        !(u->gap && program->splits != 0)) {
        uint8_t self[4];
        const uint32_t point = u->unit[0].point, size = isotok__put_scalar(point, self);
        const uint32_t origin = u->unit[0].origin + ((uint32_t)(u->base - w->map_base) << 3);
        if (!put_image(program, isotok__unicode_cell(program, point, 1), self, size, origin, w))
            return false;
        w->settled = w->size;
        u->count = 0;
        return true;
    }
    for (; tries != 0; tries--) {
        u->trying = tries == 2; /* the ring must not move in vain */
        u->begun = begun;
        u->gap = gap;
        chars = isotok__unicode_apply(model, u, &count);
        if (chars == NULL || 4 * (size_t)count > w->capacity - w->size) {
            u->begun = begun;
            u->gap = gap;
            return false;
        }
    }
    write(model, u, chars, count, w);
    u->count = 0;
    return true;
}

static void lower(uint8_t *text)
{
    uint32_t i;
    for (i = 0; i < 16; i++) text[i] |= (uint8_t)((uint8_t)(text[i] - 'A') < 26) << 5;
}

/* Copies blocks of ASCII from text[p..size); returns the new position. */
static size_t copy_blocks(const struct isotok_model *model, struct isotok__normalizer *n,
                          const uint8_t *text, size_t size, size_t p, struct isotok__window *w)
{
    const struct isotok__program *program = &model->program;
    const bool collapse = (program->flags & ISOTOK__UNI_COLLAPSE) != 0;
    uint32_t count = 16, i;
    while (count == 16 && size - p > 16 && w->capacity - w->size >= 16) {
        uint8_t *out = w->text + w->size;
        count = isotok__plain_run(&model->normalizer, text, p, collapse);
        if (count != 0 && (text[p + count] >= 0x80 ||
                           ((program->flags & ISOTOK__UNI_JOINED) &&
                            isotok__unicode_cell(program, text[p + count], 0) & ISOTOK__UNI_LEFT)))
            count--; /* what follows may join it */
        if (collapse && count != 0 && text[p + count - 1] == 0x20) count--;
        memcpy(out, text + p, 16);
        if (program->flags & ISOTOK__UNI_LOWER) lower(out);
        if (w->map != NULL) {
            uint32_t *map = w->map + w->size, origin = (uint32_t)(n->consumed - w->map_base);
            for (i = 0; i < 16; i++) map[i] = (origin + i) << 3 | 1;
            for (i = 0; program->splits != 0 && i < count; i++)
                map[i] += (uint32_t)(text[p + i] == 0x20) << 3; /* as the word behind it */
        }
        w->size += count;
        p += count;
        n->consumed += count;
        if (count != 0) w->settled = w->size;
    }
    return p;
}

/* Copies the images of characters that join nothing, but printable ASCII; returns the new
 * position. */
static size_t copy_plain(const struct isotok__program *program, struct isotok__normalizer *n,
                         const uint8_t *text, size_t size, size_t p, struct isotok__window *w)
{
    const size_t begin = p;
    size_t before = p, out = w->size;
    uint32_t point = 0, length, units = 0;
    const uint16_t *row;
    bool joined = true;
    while (size != p && (length = isotok__scalar(text + p, size - p, &point)) != 0) {
        row = isotok__unicode_row(program, point);
        joined = (row[0] & ISOTOK__UNI_LEFT) != 0;
        if (point - 0x20 < 0x5F || size - p < 4 || (row[0] & ISOTOK__UNI_NOT_PLAIN)) break;
        units = isotok__scalar_units(n->unit, length);
        before = p;
        out = w->size;
        if (!put_image(program, row[1], text + p, length,
                       (uint32_t)(n->consumed - w->map_base) << 3 | units, w))
            break;
        n->consumed += units;
        p += length;
        joined = true;
    }
    if (joined && p != before) { /* what follows may join the last one */
        n->consumed -= units;
        w->size = out;
        p = before;
    }
    if (p != begin) w->settled = w->size;
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
            if (!last && text[p] >= 0xC2 && size - p < isotok__announced(text[p])) break;
            length = 1;
        } else {
            units = isotok__scalar_units(n->unit, length);
        }
        flags = isotok__unicode_row(program, point)[0];
        if (u->count == u->capacity || (is_boundary(u->flags, flags) && !flush(model, u, w))) {
            *position = p;
            return ISOTOK__NORM_FULL;
        }
        if (u->count == 0 && is_usual(program, u) && !(u->gap && program->splits)) {
            const size_t before = p;
            if (point - 0x20 >= 0x5F)
                p = copy_plain(program, n, text, size, p, w);
            else if (p > 0 && (program->flags & ISOTOK__UNI_BLOCKS))
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
