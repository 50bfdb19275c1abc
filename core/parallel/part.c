/* Encoding one part of a text: normalizer -> window -> segmenter -> ids, as encode.c does it,
 * but from the middle of a text and into arrays that grow. See part.h. */
#include "part.h"

#include <stdlib.h>

#include "bpe.h"
#include "cuts.h"
#include "options.h"
#include "pretokens.h"
#include "greedy.h"
#include "unigram.h"
#include "words.h"

void *isotok__part_grow(void *array, size_t *capacity, size_t wanted, size_t element)
{
    void *larger;
    if (wanted <= *capacity) return array;
    wanted += wanted / 2;
    larger = wanted < SIZE_MAX / 16 ? realloc(array, wanted * element) : NULL;
    if (larger != NULL) *capacity = wanted;
    return larger;
}

void isotok__part_emit(const isotok_model *model, const uint8_t *text, uint32_t slot, uint32_t size,
                       uint32_t *out, size_t *count)
{
    static const uint8_t space_symbol[3] = {0xE2, 0x96, 0x81};
    const struct isotok__blob *b = &model->blob;
    uint32_t i, k;
    if (slot != ISOTOK_UNK_SLOT) {
        out[(*count)++] = b->trie_ids[slot];
    } else if (b->byte_ids == NULL) {
        if (*count == 0 || out[*count - 1] != b->unk_id) out[(*count)++] = b->unk_id;
    } else {
        for (i = 0; i < size; i++) {
            const bool symbol = model->space_size == 1 && text[i] == 0x20;
            for (k = 0; k < (symbol ? 3u : 1u); k++)
                out[(*count)++] = b->byte_ids[symbol ? space_symbol[k] : text[i]];
        }
    }
}

/* The window's tokens as ids. */
static isotok_status emit_window(const isotok_session *s, struct isotok_part *part, uint32_t size)
{
    uint32_t *ids = (uint32_t *)isotok__part_grow(
        part->ids, &part->ids_capacity, part->ids_count + 3 * (size_t)size, sizeof *part->ids);
    uint32_t position = 0, i;
    if (ids == NULL) return ISOTOK_E_TOO_LARGE;
    part->ids = ids;
    for (i = 0; i < s->tokens.count; i++) {
        const bool wide = s->tokens.lengths != NULL;
        const uint32_t token = s->tokens.slots[i];
        const uint32_t slot = wide ? token : token >> 8;
        const uint32_t length = wide ? s->tokens.lengths[i] : token & 0xFFu;
        if (ISOTOK_LIKELY(slot != ISOTOK_UNK_SLOT))
            ids[part->ids_count++] = s->tokens.named ? slot : s->model->blob.trie_ids[slot];
        else
            isotok__part_emit(s->model, s->window.text + position, slot, length, ids,
                              &part->ids_count);
        position += length;
    }
    return ISOTOK_OK;
}

static isotok_status segment(isotok_session *s, struct isotok_part *part, uint32_t size)
{
    const isotok_model *model = s->model;
    s->tokens.count = s->tokens.named = 0;
    s->tokens.slots = s->tokens_memory;
    switch (model->blob.algorithm) {
    case ISOTOK_UNIGRAM:
        if (isotok__part_cuttable(model)) return isotok__certain(s, part, s->window.text, size);
        /* all of the text is one part, and so the score is known */
        isotok__unigram(model, s->window.text, size, &s->carried, &s->unigram, &s->tokens);
        break;
    case ISOTOK_BPE:
        if (s->cache.entries != NULL)
            isotok__bpe_cached(s, size);
        else
            isotok__bpe(model, s->window.text, size, &s->bpe, &s->tokens);
        break;
    case ISOTOK_WORD: isotok__words(model, s->window.text, size, &s->tokens); break;
    case ISOTOK_LONGEST:
    case ISOTOK_PRIORITY: isotok__greedy(model, s->window.text, size, &s->tokens); break;
    default: isotok__characters(model, s->window.text, size, &s->tokens); break;
    }
    return emit_window(s, part, size);
}

/* Begins in front of the text, or in its middle: behind a cut no space is collapsed. */
static isotok_status begin_part(isotok_session *s, size_t begin, isotok_error *error)
{
    isotok_status status = isotok__begin(s, NULL, 0, error);
    if (status != ISOTOK_OK) return status;
    isotok__normalizer_begin(&s->normalizer, &s->model->normalizer, ISOTOK_UNIT_BYTE, false);
    if (begin != 0) {
        s->normalizer.started = 1;
        s->normalizer.after_space = 0;
    }
    isotok__bpe_forget(&s->bpe);
    s->bpe.dropout.alpha = 0.0;
    return ISOTOK_OK;
}

/* Bytes of the window that can be segmented now; 0: its memory is too small. */
static uint32_t ready(isotok_session *s, bool done)
{
    uint32_t settled, cut;
    if (done) return (uint32_t)s->window.size;
    settled = (uint32_t)isotok__normalizer_settled(&s->normalizer, &s->window);
    cut = isotok__last_cut(s->model, s->window.text, settled, s->searched);
    s->searched = cut == 0 ? settled : 0;
    return cut;
}

static isotok_status encode(isotok_session *s, struct isotok_part *part, const uint8_t *text,
                            size_t size, bool last, isotok_error *error)
{
    /* the normalizer leaves as much as a key unread: exactly what lies behind the part */
    const size_t visible = size + (last ? 0 : s->model->normalizer.max_key_bytes);
    size_t position = 0;
    bool done = false;
    while (!done) {
        int state =
            isotok__normalizer_run(&s->normalizer, text, visible, &position, last, &s->window);
        uint32_t count;
        isotok_status status = ISOTOK_OK;
        done = state == ISOTOK__NORM_DONE;
        count = ready(s, done);
        if (count == 0 && !done) return isotok__need_scratch(s, error);
        if (count != 0) status = segment(s, part, count);
        if (status != ISOTOK_OK)
            return isotok__fail(error, status, ISOTOK_WHAT_NOTHING, 0, position, 0);
        isotok__window_drop(s, count);
    }
    ISOTOK_ASSERT(position == size);
    return ISOTOK_OK;
}

isotok_status isotok_part_encode(isotok_session *s, const uint8_t *text, size_t size, size_t begin,
                                 size_t end, isotok_part **out_part, isotok_error *error)
{
    struct isotok_part *part;
    isotok_status status;
    if (s == NULL || out_part == NULL || (text == NULL && size != 0))
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0, 0, 0);
    if (begin > end || end > size ||
        (end != size && size - end < s->model->normalizer.max_key_bytes))
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, 0, end, 0);
    *out_part = NULL;
    if (s->model->pretokens) /* isotok_part_cut never cuts their texts */
        return isotok__fail(error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_ALGORITHM, 0, 0, 0);
    status = begin_part(s, begin, error);
    if (status != ISOTOK_OK) return status;
    part = (struct isotok_part *)calloc(1, sizeof *part);
    if (part == NULL) return isotok__fail(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_NOTHING, 0, 0, 0);
    status = encode(s, part, text + begin, end - begin, end == size, error);
    if (status == ISOTOK_OK)
        *out_part = part;
    else
        isotok_part_free(part);
    return status;
}

void isotok_part_free(isotok_part *part)
{
    if (part == NULL) return;
    free(part->ids);
    free(part->blocks);
    free(part->weights);
    free(part->text);
    free(part);
}
