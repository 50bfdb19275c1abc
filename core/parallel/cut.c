/* Where raw text may be cut, see isotok_parallel.h.
 *
 * ALGORITHM  A place is a cut if (1) no step of the normalizer spans it, wherever steps begin:
 *            no key and no user-defined piece that begins before it is alive at it, and it is
 *            no continuation byte; (2) what the normalizer writes just before it is there and
 *            ends with no space, so that its state there is known; (3) what it writes just
 *            after it begins with a character that forms no pair with that end (cuts.h). Then
 *            the normalizer may begin anew at the cut, in the middle of a text, and no piece
 *            spans it.
 * COMPLEXITY O(SEARCHED x longest key^2) at most, mostly a few characters. */
#include "cuts.h"
#include "normalize.h"
#include "part.h"
#include "trie.h"

#define SEARCHED 4096u   /* bytes behind `from` */
#define LONGEST_KEY 256u /* models with longer ones are not cut */
#define LOOKAHEAD 32u    /* bytes of raw text that show what comes after the cut */

/* Whether a key of the charsmap that begins at text[0] may be longer than `size` bytes. */
static bool rule_spans(const struct isotok__rules *rules, const uint8_t *text, size_t size)
{
    uint32_t at;
    size_t i;
    if (rules->units == NULL) return false;
    at = isotok__darts_offset(rules->units[0]);
    for (i = 0; i <= size; i++) {
        uint32_t unit;
        at ^= text[i];
        unit = rules->units[at];
        if ((unit & 0x800000FFu) != text[i]) return false;
        at ^= isotok__darts_offset(unit);
    }
    return true;
}

/* Whether a step of the normalizer may span text[p], p < size. */
static bool is_spanned(const struct isotok__rules *rules, const uint8_t *text, size_t p)
{
    size_t q = p < rules->max_key_bytes ? 0 : p - rules->max_key_bytes;
    if ((text[p] & 0xC0) == 0x80) return true;
    for (; q < p; q++) {
        if (rule_spans(rules, text + q, p - q)) return true;
        if (rules->user != NULL &&
            isotok__trie_walk(rules->user, 0, text + q, p - q + 1) != ISOTOK_NO_SLOT)
            return true;
    }
    return false;
}

/* What the normalizer writes for text[begin..end), in the middle of a text; `end` is not spanned
 * and has as many bytes behind it as the longest key. False: it is too much to look at. */
static bool normalize_between(const struct isotok__rules *rules, const uint8_t *text, size_t begin,
                              size_t end, struct isotok__normalizer *n, struct isotok__window *w)
{
    size_t position = 0;
    isotok__normalizer_begin(n, rules, ISOTOK_UNIT_BYTE, false);
    n->started = 1;
    n->after_space = 0;
    w->size = 0;
    w->settled = 0;
    return isotok__normalizer_run(n, text + begin, end - begin + rules->max_key_bytes, &position,
                                  false, w) == ISOTOK__NORM_DONE;
}

static uint32_t last_key(const uint8_t *text, size_t size)
{
    size_t begin = size - 1;
    while (begin > 0 && size - begin < 4 && (text[begin] & 0xC0) == 0x80) begin--;
    return isotok__char_key(text + begin, (uint32_t)(size - begin));
}

/* Whether text[p] is a cut; text[r] is the place before it that no step spans. */
static bool is_cut(const isotok_model *model, const uint8_t *text, size_t r, size_t p)
{
    const struct isotok__rules *rules = &model->normalizer;
    const uint32_t space = model->space_size == 1 ? 0x20 : 0xE29681;
    uint8_t memory[512];
    struct isotok__window w;
    struct isotok__normalizer n;
    uint32_t left, right;
    memset(&w, 0, sizeof w);
    w.text = memory;
    w.capacity = sizeof memory - 32;
    if (!normalize_between(rules, text, r, p, &n, &w) || w.size == 0 || n.after_space) return false;
    left = last_key(w.text, w.size);
    if (left == 0x20 || left == space) return false;
    /* any end of what is looked at will do: only its first character counts */
    normalize_between(rules, text, p, p + LOOKAHEAD, &n, &w);
    if (w.size == 0) return false;
    right = isotok__char_key(w.text, isotok__char_size(w.text, w.size));
    if (model->blob.algorithm == ISOTOK_WORD) return right == space;
    return !isotok__pair_occurs(model->blob.pair_set, model->pair_shift, left, right);
}

bool isotok__part_cuttable(const isotok_model *model)
{
    if (model->whole_text || model->program.on || model->normalizer.max_key_bytes > LONGEST_KEY) return false;
    return model->blob.algorithm != ISOTOK_UNIGRAM || !model->wide;
}

isotok_status isotok_part_cut(const isotok_model *model, const uint8_t *text, size_t size,
                              size_t from, size_t *out_cut, isotok_error *error)
{
    size_t room, end, r = 0, p;
    if (model == NULL || out_cut == NULL || (text == NULL && size != 0))
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0, 0, 0);
    if (from > size) return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0, from, 0);
    *out_cut = size;
    room = LOOKAHEAD + 2 * (size_t)model->normalizer.max_key_bytes;
    if (!isotok__part_cuttable(model) || size < room) return ISOTOK_OK;
    end = size - room; /* steps there see all that they may see in the whole text */
    if (end - isotok__min(from, end) > SEARCHED) end = from + SEARCHED;
    for (p = from; p < end; p++) {
        if (p == 0 || is_spanned(&model->normalizer, text, p)) continue;
        if (r != 0 && is_cut(model, text, r, p)) {
            *out_cut = p;
            return ISOTOK_OK;
        }
        r = p;
    }
    return ISOTOK_OK;
}
