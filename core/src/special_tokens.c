/* L4: special and added tokens in raw text, see special_tokens.h.
 *
 * ALGORITHM   A walk down the trie of their texts from each byte that begins one; leftmost first,
 *             the longest of those. A match that does not count (a special token that was not
 *             asked for, a part of a word) is passed as a whole; those that a set of allowed ones
 *             leaves out do not exist. What was searched is not
 *             searched again: `special_clear` bytes behind input->consumed begin no token.
 * COMPLEXITY  O(bytes x longest token), and O(bytes) where few bytes begin one.
 * SOURCE      `find_matches` of tokenizers 0.23 (leftmost-longest, lstrip, rstrip, single_word);
 *             `allowed_special` of tiktoken 0.14. */
#include "special_tokens.h"

#include "emit.h"
#include "trie.h"
#include "utf8.h"
#include "vector.h"

void isotok__special_begin(struct isotok_session *s)
{
    memset(&s->cutter, 0, sizeof s->cutter);
    s->special_size = 0;
    s->special_clear = 0;
    s->special_word = 0;
}

/* White_Space of Unicode. */
static bool is_space(uint32_t point)
{
    const uint32_t general = point - 0x2000; /* 0 … A, 28, 29, 2F */
    if (point < 0x21) return (0x100003E00u >> point & 1) != 0;
    if (general < 0x30) return (0x8300000007FFu >> general & 1) != 0;
    return point == 0x85 || point == 0xA0 || point == 0x1680 || point == 0x205F || point == 0x3000;
}

/* Whether ranges hold the number: they begin and end in turn at `ends`, ascending. */
static bool is_inside(const uint32_t *ends, uint32_t count, uint32_t number)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (ends[middle] <= number)
            low = middle + 1;
        else
            high = middle;
    }
    return low & 1;
}

static bool is_word(const isotok_model *model, uint32_t point)
{
    return is_inside(model->blob.word_ranges, model->blob.word_ranges_count, point);
}

/* The well-formed character that ends at text[p]: its first byte, or p. */
static size_t character_before(const uint8_t *text, size_t least, size_t p, uint32_t *out_point)
{
    size_t q = p;
    while (q > least && p - q < 4 && (text[--q] & 0xC0) == 0x80) {}
    return q < p && isotok__scalar(text + q, p - q, out_point) == p - q ? q : p;
}

/* Where the white space that ends at text[p] begins. */
static size_t space_begin(const uint8_t *text, size_t least, size_t p)
{
    uint32_t point = 0;
    size_t q;
    while ((q = character_before(text, least, p, &point)) < p && is_space(point)) p = q;
    return p;
}

/* Where the white space that begins at text[p] ends; `size` if more text may belong to it. */
static size_t space_end(const uint8_t *text, size_t p, size_t size, bool last)
{
    uint32_t point = 0, n;
    while (p < size && (n = isotok__scalar(text + p, size - p, &point)) != 0 && is_space(point))
        p += n;
    return !last && p < size && size - p < isotok__announced(text[p]) ? size : p;
}

/* A token at one place of the text. */
struct match {
    uint32_t value; /* of the trie: id + 1 | ISOTOK__ADDED_…; 0: none */
    uint32_t size;  /* 1 if there is none */
    bool open;      /* more text might give a longer one, or none */
};

/* Whether the caller's set has a token; those that are not special are in every set. */
static bool is_allowed(const isotok_encode_options *o, uint32_t value)
{
    return o->allowed == NULL || (value & (ISOTOK_ADDED_PLAIN | ISOTOK_ADDED_NOT)) ||
           is_inside(o->allowed, o->allowed_count, (value & ISOTOK__ADDED_ID) - 1);
}

static void find_longest(const struct isotok_session *s, const uint8_t *text, size_t size,
                         struct match *m)
{
    const struct isotok__trie_node *trie = s->model->blob.special_trie;
    const size_t limit = isotok__min(size, 4 * (size_t)s->model->blob.max_piece_bytes);
    uint32_t slot = 0, i;
    m->value = 0;
    m->size = 1;
    for (i = 0; i < limit; i++) {
        slot = isotok__trie_child(trie, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) break;
        if (trie[slot].value != 0 && is_allowed(&s->options, trie[slot].value)) {
            m->value = trie[slot].value;
            m->size = m->value & ISOTOK_ADDED_NOT ? 1 : i + 1;
        }
    }
    m->open = i == size;
}

/* Whether text[0..size) begins with a character of a word; *open: it is not all there. */
static bool begins_word(const isotok_model *model, const uint8_t *text, size_t size, bool *open)
{
    uint32_t point = 0;
    *open = size == 0 || size < isotok__announced(text[0]);
    return size != 0 && isotok__scalar(text, size, &point) != 0 && is_word(model, point);
}

static bool ends_word(const struct isotok_session *s, const uint8_t *text, size_t p)
{
    uint32_t point = 0;
    if (p == 0) return s->special_word != 0;
    return character_before(text, 0, p, &point) < p && is_word(s->model, point);
}

/* Whether the match at text[p] is taken. */
static bool is_taken(const struct isotok_session *s, const isotok_input *input, size_t p,
                     struct match *m)
{
    bool open = false,
         taken = ((s->options.flags & ISOTOK_SPECIAL) || (m->value & ISOTOK_ADDED_PLAIN)) &&
                 !(m->value & ISOTOK_ADDED_NOT);
    if (taken && (m->value & ISOTOK_ADDED_SINGLE_WORD))
        taken =
            !begins_word(s->model, input->text + p + m->size, input->size - p - m->size, &open) &&
            !ends_word(s, input->text, p);
    m->open |= open;
    return taken;
}

/* The first byte from text[p] on that may begin a token; `end`: none. */
static size_t next_first(const isotok_model *model, const uint8_t *text, size_t p, size_t end)
{
    for (; p < end; p++) {
#if ISOTOK_VECTORS && ISOTOK_EXTRAS
        const isotok__vector low = isotok__vector_load(model->special_low);
        const isotok__vector high = isotok__vector_load(model->special_high);
        for (; p + 16 <= end; p += 16) {
            const isotok__vector v = isotok__vector_load(text + p);
            const isotok__vector found = isotok__vector_look_up(low, v & isotok__vector_of(15)) &
                                         isotok__vector_look_up(high, v >> isotok__vector_of(4));
            const uint64_t places = isotok__vector_high((isotok__vector)(found != 0));
            if (places == 0) continue;
            p += isotok__trailing_zeros(places);
            break;
        }
        if (p == end) break;
#endif
        if (model->special_first[text[p] >> 6] >> (text[p] & 63) & 1) break;
    }
    return p;
}

/* Searches from what is clear on to `end`, and past it as long as white space goes on that a
 * token behind it might take. */
static void search(struct isotok_session *s, const isotok_input *input, size_t end, bool last)
{
    const isotok_model *model = s->model;
    const uint8_t *text = input->text;
    const size_t size = input->size, begin = input->consumed;
    const bool left = (model->special_flags & ISOTOK_ADDED_LSTRIP) != 0;
    size_t p = begin + s->special_clear, n;
    if (left && end < size) {
        while (end > p && (text[end] & 0xC0) == 0x80) end--;
        if (space_begin(text, begin, end) < end)
            end = isotok__min(space_end(text, end, size, last) + 1, size);
    }
    for (n = 1; left && !last && end == size && n <= end - p && n < 4; n++)
        if (isotok__announced(text[end - n]) > n) end -= n; /* the rest of a character is to come */
    while ((p = next_first(model, text, p, end)) < end) {
        struct match m;
        bool taken;
        find_longest(s, text + p, size - p, &m);
        taken = m.value != 0 && is_taken(s, input, p, &m);
        if (m.open && !last) break;
        if (taken) {
            const size_t start = m.value & ISOTOK_ADDED_LSTRIP ? space_begin(text, begin, p) : p;
            size_t stop = p + m.size;
            if (m.value & ISOTOK_ADDED_RSTRIP) stop = space_end(text, stop, size, last);
            if (stop == size && !last && (m.value & ISOTOK_ADDED_RSTRIP)) break;
            s->special_clear = start - begin;
            s->special_size = stop - start;
            s->special_id = (m.value & ISOTOK__ADDED_ID) - 1;
            return;
        }
        p += m.size;
    }
    if (left && !(last && p == size)) p = space_begin(text, begin, p);
    s->special_clear = p - begin;
}

size_t isotok__special_stop(struct isotok_session *s, const isotok_input *input, bool *last)
{
    /* a little more than there is room for: who finds nothing to read would not say so */
    const size_t room = s->window.capacity - s->window.size + 64;
    size_t end = input->consumed + isotok__min(input->size - input->consumed, room);
    if (ISOTOK_SENTENCEPIECE_ONLY || s->model->blob.special_trie == NULL ||
        !((s->options.flags & ISOTOK_SPECIAL) || (s->model->special_flags & ISOTOK_ADDED_PLAIN)))
        return input->size;
    if (s->special_size == 0 && input->consumed + s->special_clear < end)
        search(s, input, end, *last);
    if (s->special_size != 0 && s->special_clear <= room) {
        *last = true;
        return input->consumed + s->special_clear;
    }
    end = isotok__min(end, input->consumed + s->special_clear);
    *last = *last && end == input->size;
    return end;
}

void isotok__special_passed(struct isotok_session *s, const isotok_input *input, size_t before)
{
    const size_t size = input->consumed - before;
    if (ISOTOK_SENTENCEPIECE_ONLY) return;
    s->special_clear -= isotok__min(s->special_clear, size);
    if (size != 0 && (s->model->special_flags & ISOTOK_ADDED_SINGLE_WORD))
        s->special_word = ends_word(s, input->text, input->consumed);
}

/* Units of offsets in text[0..size). */
static uint32_t count_units(uint32_t unit, const uint8_t *text, size_t size)
{
    uint32_t units = 0;
    while (size > 0) units += isotok__byte_units(unit, text[--size]);
    return units;
}

isotok_status isotok__special_emit(struct isotok_session *s, isotok_input *input,
                                   isotok_output *output)
{
    const uint8_t *text = input->text + input->consumed;
    const size_t before = input->consumed;
    struct isotok__normalizer *n = &s->normalizer;
    const size_t size = s->special_size;
    const size_t lead = space_end(text, 0, size, true), trail = space_begin(text, 0, size);
    const uint64_t consumed = n->consumed + count_units(n->unit, text, size);
    uint64_t begin = n->consumed, end = consumed;
    isotok_status status;
    if (ISOTOK__HAS(s->model->trim))
        isotok__trim(s, &begin, &end, count_units(n->unit, text, lead),
                     count_units(n->unit, text + trail, size - trail),
                     lead == isotok__lead_size(text[0]));
    status = isotok__emit_special(s, output, s->special_id, begin, end);
    if (status != ISOTOK_OK) return status;
    input->consumed += size;
    isotok__text_begin(s, false);
    n->consumed = s->window.map_base = consumed;
    isotok__special_begin(s);
    isotok__special_passed(s, input, before);
    return ISOTOK_OK;
}
