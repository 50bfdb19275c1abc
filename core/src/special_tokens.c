/* L4: special tokens in raw text, see special_tokens.h.
 *
 * ALGORITHM   A walk down the trie of their texts from each byte that begins one; leftmost first,
 *             the longest of those. What is left of the input is searched as far as it fits the
 *             window, so that nothing is searched twice.
 * COMPLEXITY  O(bytes x longest special token), and O(bytes) where few bytes begin one. */
#include "special_tokens.h"

#include "emit.h"
#include "trie.h"

void isotok__special_begin(struct isotok_session *s)
{
    memset(&s->cutter, 0, sizeof s->cutter);
    s->special_size = 0;
}

/* Longest special token at text[0..size): its bytes, or 0. *open: more text might give a longer
 * one. */
static uint32_t match(const isotok_model *model, const uint8_t *text, size_t size, uint32_t *out_id,
                      bool *open)
{
    const struct isotok__trie_node *trie = model->blob.special_trie;
    const uint32_t longest = model->blob.max_piece_bytes;
    const uint32_t limit = size < longest ? (uint32_t)size : longest;
    uint32_t slot = 0, best = 0, i;
    for (i = 0; i < limit; i++) {
        slot = isotok__trie_step(trie, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) break;
        if (trie[slot].value != 0) {
            best = i + 1;
            *out_id = trie[slot].value - 1;
        }
    }
    *open = i == size;
    return best;
}

size_t isotok__special_stop(struct isotok_session *s, const isotok_input *input, bool *last)
{
    /* a little more than there is room for: who finds nothing to read would not say so */
    const size_t room = s->window.capacity - s->window.size + 64;
    const size_t rest = input->size - input->consumed;
    const size_t end = input->consumed + (rest < room ? rest : room);
    size_t p;
    s->special_size = 0;
    if (!(s->options.flags & ISOTOK_SPECIAL) || s->model->blob.special_trie == NULL)
        return input->size;
    for (p = input->consumed; p < end; p++) {
        bool open;
        const uint32_t size =
            match(s->model, input->text + p, input->size - p, &s->special_id, &open);
        if (open && !*last) return p;
        if (size == 0) continue;
        s->special_size = size;
        *last = true;
        return p;
    }
    *last = *last && end == input->size;
    return end;
}

isotok_status isotok__special_emit(struct isotok_session *s, isotok_input *input,
                                   isotok_output *output)
{
    const uint8_t *text = input->text + input->consumed;
    struct isotok__normalizer *n = &s->normalizer;
    uint64_t units = 0;
    uint32_t i;
    isotok_status status;
    for (i = 0; i < s->special_size; i++) {
        units += n->unit == ISOTOK_UNIT_BYTE || (text[i] & 0xC0) != 0x80;
        units += n->unit == ISOTOK_UNIT_UTF16 && text[i] >= 0xF0;
    }
    status =
        isotok__emit_special(s, output, s->special_id, n->consumed, n->consumed + units);
    if (status != ISOTOK_OK) return status;
    input->consumed += s->special_size;
    units += n->consumed;
    isotok__text_begin(s, false);
    n->consumed = s->window.map_base = units;
    isotok__special_begin(s);
    return ISOTOK_OK;
}
