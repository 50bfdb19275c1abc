/* L2: the normalizer. See normalize.h.
 *
 * ALGORITHM   Runs of printable ASCII that no rule can touch are copied in blocks of 16
 *             bytes; a character that cannot start a rule (start_set) is copied after a
 *             well-formedness check; only the rest looks rules up.
 * COMPLEXITY  O(bytes x longest key), one pass, no allocation. */
#include "normalize.h"

#include "special.h"
#include "trie.h"
#include "utf8.h"

#if defined(ISOTOK_GNU) && defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif defined(ISOTOK_GNU) && defined(__SSE2__)
#include <emmintrin.h>
#endif

#define MAX_RULE_MATCHES 32u /* the original looks at the first 32 keys that match */

static const uint8_t replacement[3] = {0xEF, 0xBF, 0xBD};

void isotok__normalizer_begin(struct isotok__normalizer *n, const struct isotok__rules *rules,
                              uint32_t unit, bool keep_ill_formed)
{
    memset(n, 0, sizeof *n);
    n->rules = rules;
    n->unit = unit;
    n->after_space = (rules->flags & ISOTOK_NORM_REMOVE_EXTRA) != 0;
    n->keep_ill_formed = keep_ill_formed;
}

/* Whether a rule or a user-defined piece may start with this code point. */
ISOTOK_INLINE bool may_start_rule(const struct isotok__rules *rules, uint32_t point)
{
    return point >= 0x20000 || (rules->start_set[point >> 6] >> (point & 63) & 1);
}

/* What one step of the normalizer reads and writes: `raw_size` bytes of input become
 * out[0..out_size). */
struct step {
    const uint8_t *out;
    uint32_t out_size;
    uint32_t raw_size;
    bool ill_formed;
};

static bool find_rule(const struct isotok__rules *rules, const uint8_t *text, size_t size,
                      struct step *step)
{
    const uint32_t *units = rules->units;
    uint32_t at = isotok__darts_offset(units[0]), matches = 0, value = 0, i;
    uint32_t limit = size < rules->max_key_bytes ? (uint32_t)size : rules->max_key_bytes;
    step->raw_size = 0;
    for (i = 0; i < limit; i++) {
        uint32_t unit;
        at ^= text[i];
        unit = units[at];
        if ((unit & 0x800000FFu) != text[i]) break;
        at ^= isotok__darts_offset(unit);
        if (unit & 0x100u) {
            step->raw_size = i + 1;
            value = units[at] & 0x7FFFFFFFu;
            if (++matches == MAX_RULE_MATCHES) break;
        }
    }
    if (step->raw_size == 0) return false;
    step->out = rules->replacements + value;
    step->out_size = 0;
    while (step->out[step->out_size] != 0) step->out_size++; /* the pool ends with NUL */
    return true;
}

/* A character that is not of two or three bytes. */
static ISOTOK_COLD uint32_t other_scalar(const uint8_t *text, size_t size, uint32_t *out_point)
{
    return isotok__scalar(text, size, out_point);
}

/* The step at text[0..size): user-defined piece, else longest rule, else one character,
 * else U+FFFD for one ill-formed byte. */
static void next_step(const struct isotok__normalizer *n, const uint8_t *text, size_t size,
                      struct step *step)
{
    const struct isotok__rules *rules = n->rules;
    uint32_t point = text[0], scalar = point < 0x80 ? 1 : other_scalar(text, size, &point);
    step->ill_formed = scalar == 0;
    if (scalar == 0 || rules->start_set == NULL || may_start_rule(rules, point)) {
        if (rules->user != NULL) {
            uint32_t user =
                isotok__user_match(rules->user, rules->max_key_bytes, false, text, size);
            if (user != 0) {
                step->out = text;
                step->out_size = step->raw_size = user;
                return;
            }
        }
        if (rules->units != NULL && find_rule(rules, text, size, step)) return;
    }
    step->out = text;
    step->out_size = step->raw_size = scalar;
    if (scalar == 0) {
        step->raw_size = 1;
        step->out = n->keep_ill_formed ? text : replacement;
        step->out_size = n->keep_ill_formed ? 1 : 3;
    }
}

/* Units (bytes, code points, UTF-16) of raw text that make up one step. */
static ISOTOK_COLD uint32_t count_units(uint32_t unit, const uint8_t *text, const struct step *step)
{
    uint32_t units = 0, i;
    if (unit == ISOTOK_UNIT_BYTE) return step->raw_size;
    if (step->ill_formed) return 1;
    for (i = 0; i < step->raw_size; i++) units += isotok__byte_units(unit, text[i]);
    return units;
}

ISOTOK_INLINE void put(const struct isotok__normalizer *n, struct isotok__window *w, uint8_t byte)
{
    w->text[w->size] = byte;
    if (w->map != NULL) w->map[w->size] = (uint32_t)(n->consumed - w->map_base);
    w->size++;
}

static ISOTOK_COLD void put_space(const struct isotok__normalizer *n, struct isotok__window *w)
{
    static const uint8_t spaces[4] = {0xE2, 0x96, 0x81, 0x20};
    const bool symbol = (n->rules->flags & ISOTOK_NORM_ESCAPE) && !n->rules->compact;
    uint32_t i = symbol ? 0 : 3;
    const uint32_t end = symbol ? 3 : 4;
    while (i < end) put(n, w, spaces[i++]);
}

/* Appends a step's output: spaces become the space symbol; in compact form so does a
 * U+2581 that the text itself holds. */
static void put_step(struct isotok__normalizer *n, struct isotok__window *w, const uint8_t *out,
                     uint32_t size)
{
    uint32_t i = 0;
    while (i < size) {
        if (out[i] == 0x20) {
            put_space(n, w);
            i++;
        } else if (n->rules->compact && out[i] == 0xE2 && isotok__is_symbol(out + i, size - i)) {
            put_space(n, w);
            i += 3;
        } else {
            put(n, w, out[i++]);
        }
    }
}

/* Whether a rule applies at text[0..size). Kana and letters start many keys (with a mark behind
 * them) but are rarely followed by the rest of one. */
ISOTOK_INLINE bool rule_applies(const struct isotok__rules *rules, const uint8_t *text, size_t size)
{
    const uint32_t *units = rules->units;
    uint32_t at, i;
    uint32_t limit = size < rules->max_key_bytes ? (uint32_t)size : rules->max_key_bytes;
    if (rules->user != NULL && isotok__trie_step(rules->user, 0, text[0]) != ISOTOK_NO_SLOT)
        return true; /* perhaps a user-defined piece: next_step looks */
    if (units == NULL) return false;
    at = isotok__darts_offset(units[0]);
    for (i = 0; i < limit; i++) {
        const uint32_t unit = units[at ^ text[i]];
        if ((unit & 0x800000FFu) != text[i]) return false;
        if (unit & 0x100u) return true;
        at ^= text[i] ^ isotok__darts_offset(unit);
    }
    return false;
}

/* A character that no rule touches; false if there is no room. */
ISOTOK_INLINE bool put_ascii(struct isotok__normalizer *n, struct isotok__window *w, uint8_t c,
                             bool collapse)
{
    if (w->capacity - w->size < 3) return false; /* the size of a space, at most */
    if (c != 0x20)
        put(n, w, c);
    else if (!n->after_space)
        put_space(n, w);
    n->after_space = c == 0x20 && collapse;
    n->consumed++;
    return true;
}

/* Copies a run of characters to which no rule applies: any but the space, and behind it those of
 * two to four bytes. They begin before text[size]; up to text[readable] it is known what follows
 * them. Stops at U+2581, which may have another internal form. */
static size_t copy_wide(struct isotok__normalizer *n, const uint8_t *text, size_t size,
                        size_t readable, size_t p, struct isotok__window *w)
{
    const struct isotok__rules *rules = n->rules;
    const bool look_up = rules->units != NULL || rules->user != NULL;
    const size_t begin = p;
    size_t out = w->size;
    if (look_up && rules->start_set == NULL) return p;
    while (size - p >= 4 && (text[p] >= 0xC2 || p == begin) && w->capacity - out >= 4) {
        uint32_t point, length, i;
        if ((text[p] & 0xF0) == 0xE0 && (text[p + 1] & 0xC0) == 0x80 &&
            (text[p + 2] & 0xC0) == 0x80) {
            point = (text[p] & 0xFu) << 12 | (text[p + 1] & 0x3Fu) << 6 | (text[p + 2] & 0x3Fu);
            length = 3;
            if (point < 0x800 || (point >> 11) == 0x1B || point == 0x2581) break;
        } else if (!ISOTOK_SENTENCEPIECE_ONLY && (uint8_t)(text[p] - 0xC2) < 0x1E &&
                   (text[p + 1] & 0xC0) == 0x80) {
            point = (text[p] & 0x1Fu) << 6 | (text[p + 1] & 0x3Fu);
            length = 2;
        } else if (text[p] < 0x80) {
            point = text[p];
            length = 1;
        } else {
            length = other_scalar(text + p, size - p, &point);
            if (length == 0) break;
        }
        if (look_up && may_start_rule(rules, point) && rule_applies(rules, text + p, readable - p))
            break;
        memcpy(w->text + out, text + p, 4);
        if (w->map != NULL)
            for (i = 0; i < 4; i++) w->map[out + i] = (uint32_t)(n->consumed - w->map_base);
        n->consumed += isotok__scalar_units(n->unit, length);
        out += length;
        p += length;
    }
    if (out != w->size) n->after_space = 0;
    w->size = out;
    return p;
}

#if defined(ISOTOK_GNU)
typedef uint8_t block __attribute__((vector_size(16)));

/* Index of the first byte of `b` that is set (the others are 0); 16 if none is. */
ISOTOK_INLINE uint32_t first_set(block b)
{
#if defined(__wasm_simd128__)
    const uint32_t mask = wasm_i8x16_bitmask((v128_t)b);
    return mask != 0 ? isotok__trailing_zeros(mask) : 16;
#elif defined(__SSE2__)
    const uint32_t mask = (uint32_t)_mm_movemask_epi8((__m128i)b);
    return mask != 0 ? isotok__trailing_zeros(mask) : 16;
#else
    uint64_t half[2];
    memcpy(half, &b, 16);
    if (half[0] != 0) return isotok__trailing_zeros(half[0]) >> 3;
    if (half[1] != 0) return 8 + (isotok__trailing_zeros(half[1]) >> 3);
    return 16;
#endif
}

/* How many of the 16 bytes at text[position], from the first on, are `least` or more, ASCII, need no
 * rule and are no space after a space. */
ISOTOK_SHARED uint32_t plain_run(const struct isotok__rules *rules, const uint8_t *text,
                                 size_t position, uint8_t least, bool collapse)
{
    block b, stop;
    uint32_t i;
    memcpy(&b, text + position, 16);
    stop = (block)((b < least) | (b > 0x7E));
    for (i = 0; i < rules->hard_count; i++) stop |= (block)(b == rules->hard_printable[i]);
    if (collapse) {
        block before;
        memcpy(&before, text + position - 1, 16);
        stop |= (block)(b == 0x20) & (block)(before == 0x20);
    }
    return first_set(stop);
}
#else
static uint32_t plain_run(const struct isotok__rules *rules, const uint8_t *text, size_t position,
                          uint8_t least, bool collapse)
{
    uint32_t i, k;
    for (i = 0; i < 16; i++) {
        const uint8_t c = text[position + i];
        if (c < least || c > 0x7E) return i;
        if (collapse && c == 0x20 && text[position + i - 1] == 0x20) return i;
        for (k = 0; k < rules->hard_count; k++)
            if (c == rules->hard_printable[k]) return i;
    }
    return 16;
}
#endif

uint32_t isotok__plain_run(const struct isotok__rules *rules, const uint8_t *text, size_t position,
                           bool collapse)
{
    return plain_run(rules, text, position, 0x20, collapse);
}

/* Copies ASCII, printable if there are rules, from text[position..size) that needs no rule and no
 * space handling, up to 16 bytes at a time; returns the new position. text[position - 1] is a byte
 * that was passed unchanged. The byte before a non-ASCII one is left, see hard_before_wide. */
static ISOTOK_NOINLINE size_t copy_blocks(struct isotok__normalizer *n, const uint8_t *text,
                                          size_t size, size_t position, struct isotok__window *w)
{
    const struct isotok__rules *rules = n->rules;
    const bool collapse = (rules->flags & ISOTOK_NORM_REMOVE_EXTRA) != 0;
    /* a constant where copy_unchanged takes the text without rules */
    const uint8_t least = ISOTOK_EXTRAS || rules->units != NULL || rules->user != NULL ? 0x20 : 1;
    uint32_t count = 16, i;
    while (count == 16 && size - position > 16 && text[position] < 0x80 &&
           w->capacity - w->size >= 16) {
        count = plain_run(rules, text, position, least, collapse);
        if (count > 0 && least != 1 && (uint8_t)(text[position + count] - 1) >= 0x7F) count--;
        if (count == 0) break;
        memcpy(w->text + w->size, text + position, 16);
        if (w->map != NULL)
            for (i = 0; i < 16; i++)
                w->map[w->size + i] = (uint32_t)(n->consumed - w->map_base) + i;
        w->size += count;
        position += count;
        n->consumed += count;
        n->after_space = collapse && text[position - 1] == 0x20;
    }
    return position;
}

/* Bytes of the well-formed character of two or three that four bytes begin with; else 0. */
ISOTOK_INLINE uint32_t unchanged_size(uint32_t bytes)
{
    const uint32_t special = bytes & 0x200Fu; /* E0 needs bit 5 in the second byte, ED must not */
    if ((bytes & 0x00C0C0F0u) == 0x008080E0u && special != 0 && special != 0x200Du) return 3;
    return (bytes & 0xC0E0u) == 0x80C0u && (bytes & 0x1Eu) != 0 ? 2 : 0;
}

/* Copies well-formed text where no character is changed, eight bytes at a time, up to a place near
 * the end of what may be read or of the room; returns the new position. */
static ISOTOK_NOINLINE size_t copy_unchanged(struct isotok__normalizer *n, const uint8_t *text,
                                             size_t size, size_t p, struct isotok__window *w)
{
    const uint64_t high = 0x8080808080808080u;
    const size_t begin = p, room = isotok__min(size - p, w->capacity - w->size);
    uint8_t *out = w->text + w->size;
    uint32_t point, length, wide = 0; /* units fewer than bytes */
    size_t stop;
    if (room < 16) return p;
    stop = p + room - 16;
    while (p < stop) {
        const uint64_t word = isotok__load_u64(text + p), marks = word & high;
        memcpy(out, &word, 8);
        length = marks == 0 ? 8 : isotok__trailing_zeros(marks) >> 3;
        p += length;
        out += length;
        if (marks == 0) continue;
        do {
            length = unchanged_size(isotok__load_u32(text + p));
            if (length == 0) length = other_scalar(text + p, 8, &point);
            if (length == 0) goto out;
            memcpy(out, text + p, 4);
            p += length;
            out += length;
            wide += length - isotok__scalar_units(n->unit, length);
        } while (text[p] >= 0x80 && p < stop);
    }
out:
    w->size += p - begin;
    n->consumed += p - begin - wide;
    return p;
}

static ISOTOK_COLD void cut_trailing(struct isotok__normalizer *n, struct isotok__window *w)
{
    size_t settled = isotok__normalizer_settled(n, w);
    if (settled < w->size && w->map != NULL) n->consumed = w->map_base + w->map[settled];
    w->size = settled;
}

/* Room that the end of the text may need: the whitespace suffix. */
static ISOTOK_COLD bool finish(struct isotok__normalizer *n, struct isotok__window *w)
{
    uint32_t suffix = ISOTOK_NORM_SUFFIX | ISOTOK_NORM_DUMMY_PREFIX;
    if (n->started) {
        if (w->capacity - w->size < 3) return false;
        if (n->rules->flags & ISOTOK_NORM_REMOVE_EXTRA) cut_trailing(n, w);
        if ((n->rules->flags & suffix) == suffix) put_space(n, w);
    }
    n->finished = 1;
    return true;
}

/* Drops leading spaces and puts the prefix; false if there is no room. */
static ISOTOK_COLD bool begin_text(struct isotok__normalizer *n, const uint8_t *text, size_t size,
                                   size_t *position, size_t tail, struct isotok__window *w)
{
    if (w->capacity - w->size < 3) return false;
    while (size - *position > tail) {
        struct step step = {NULL, 0, 0, false};
        if (n->rules->flags & ISOTOK_NORM_REMOVE_EXTRA)
            next_step(n, text + *position, size - *position, &step);
        if (step.out_size != 1 || step.out[0] != 0x20) {
            n->started = 1;
            if ((n->rules->flags & (ISOTOK_NORM_DUMMY_PREFIX | ISOTOK_NORM_SUFFIX)) ==
                ISOTOK_NORM_DUMMY_PREFIX)
                put_space(n, w);
            break;
        }
        n->consumed += count_units(n->unit, text + *position, &step);
        *position += step.raw_size;
    }
    return true;
}

/* One step at text[0..size), whatever it is: how much it reads, or 0: there is no room. */
ISOTOK_INLINE uint32_t take_step(struct isotok__normalizer *n, const uint8_t *text, size_t size,
                                 struct isotok__window *w)
{
    struct step step;
    next_step(n, text, size, &step);
    if ((size_t)step.out_size * 3 > w->capacity - w->size) return 0;
    while (n->after_space && step.out_size > 0 && step.out[0] == 0x20) step.out++, step.out_size--;
    if (step.out_size > 0) {
        put_step(n, w, step.out, step.out_size);
        n->after_space = (n->rules->flags & ISOTOK_NORM_REMOVE_EXTRA) != 0 &&
                         step.out[step.out_size - 1] == 0x20;
    }
    n->consumed += count_units(n->unit, text, &step);
    return step.raw_size;
}

int isotok__normalizer_run(struct isotok__normalizer *n, const uint8_t *text, size_t size,
                           size_t *position, bool last, struct isotok__window *w)
{
    const struct isotok__rules *rules = n->rules;
    bool collapse = (rules->flags & ISOTOK_NORM_REMOVE_EXTRA) != 0;
    bool blocks = rules->hard_count <= 8 && !(rules->hard[0] >> 0x20 & 1) &&
                  (rules->compact || !(rules->flags & ISOTOK_NORM_ESCAPE));
    size_t p, tail = last ? 0 : rules->max_key_bytes;
    uint32_t taken;
    bool fits = true, unchanged;
    if (n->finished) return ISOTOK__NORM_DONE;
    if (!n->started && !begin_text(n, text, size, position, tail, w)) fits = false;
    p = *position;
    unchanged = ISOTOK_EXTRAS && ISOTOK__HAS(rules->flags == 0 && rules->units == NULL &&
                                             rules->user == NULL && w->map == NULL);
    while (fits && n->started && size - p > tail) {
        uint8_t c = text[p];
        if (unchanged) {
            const size_t before = p;
            p = copy_unchanged(n, text, size - tail, p, w);
            if (p != before) continue;
        }
        if (c < 0x80) {
            const uint64_t *hard = size - p > 1 && (uint8_t)(text[p + 1] - 1) < 0x7F
                                       ? rules->hard
                                       : rules->hard_before_wide;
            if (!(hard[c >> 6] >> (c & 63) & 1)) {
                fits = put_ascii(n, w, c, collapse);
                if (!fits) break;
                p++;
                if (blocks) p = copy_blocks(n, text, size - tail, p, w);
                continue;
            }
        }
        if (c > 0x20) {
            const size_t before = p;
            p = copy_wide(n, text, size - tail, size, p, w);
            if (!ISOTOK_EXTRAS && p != before && blocks && size - p > tail)
                p = copy_blocks(n, text, size - tail, p, w);
            if (p != before) continue;
        }
        taken = take_step(n, text + p, size - p, w);
        fits = taken != 0;
        p += taken;
        /* a rule may have read some of what is held back */
        if (blocks && !collapse && size - p >= tail) p = copy_blocks(n, text, size - tail, p, w);
    }
    *position = p;
    return fits && (!last || finish(n, w)) ? ISOTOK__NORM_DONE : ISOTOK__NORM_FULL;
}

size_t isotok__normalizer_settled(const struct isotok__normalizer *n, struct isotok__window *w)
{
    size_t size = w->size;
    bool symbol = (n->rules->flags & ISOTOK_NORM_ESCAPE) && !n->rules->compact;
    if (!(n->rules->flags & ISOTOK_NORM_REMOVE_EXTRA) || n->finished) return size;
    if (symbol)
        while (size >= w->settled + 3 && isotok__is_symbol(w->text + size - 3, 3)) size -= 3;
    else
        while (size > w->settled && w->text[size - 1] == 0x20) size--;
    w->settled = size;
    return size;
}
