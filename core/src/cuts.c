/* L2: looking for a cut from the end of a window. See cuts.h. */
#include "cuts.h"

/* Start of the last character of text[0..end), by lead bytes: characters are cut from the
 * front, so step back over at most three continuation bytes to a byte that announces
 * exactly what follows. Text of the normalizer is well-formed, so this is unambiguous;
 * models whose pieces are not are never cut (feature whole_text). */
static uint32_t last_character(const uint8_t *text, uint32_t end)
{
    uint32_t begin = end - 1;
    while (begin > 0 && end - begin < 4 && (text[begin] & 0xC0) == 0x80) begin--;
    return begin;
}

uint32_t isotok__last_cut(const isotok_model *model, const uint8_t *text, uint32_t size,
                          uint32_t searched)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t end, p = size, right = 0;
    if (size == 0 || model->whole_text) return 0;
    if (b->algorithm == ISOTOK_WORD) { /* words begin at U+2581 and nowhere else */
        for (end = size; end > searched; end--)
            if (model->space_size == 1 ? text[end - 1] == 0x20
                                       : isotok__is_symbol(text + end - 1, size - end + 1))
                return end - 1;
        return 0;
    }
    do {
        const uint32_t begin = last_character(text, p);
        const uint32_t left = isotok__char_key(text + begin, p - begin);
        if (p != size && !isotok__may_join(model, left, right)) return p;
        right = left;
        p = begin;
    } while (p > 0 && p >= searched);
    return 0;
}
