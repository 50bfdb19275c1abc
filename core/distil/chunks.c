/* Cutting texts into the chunks of a Unigram model. See isotok_distil.h. */
#include <stdlib.h>

#include "chunk.h"
#include "distil.h"
#include "encode.h"
#include "options.h"

#define SESSION (1u << 20) /* bytes: windows of some 50 KB */

struct isotok_chunks {
    const isotok_model *model;
    isotok_session *session;
    void *memory;
};

isotok_train_status isotok__no_memory(isotok_train_error *error)
{
    return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory to distil", 0);
}

void isotok_chunks_free(isotok_chunks *c)
{
    if (c == NULL) return;
    free(c->memory);
    free(c);
}

isotok_chunks *isotok_chunks_new(const isotok_model *model)
{
    const size_t least = isotok__session_minimum(model);
    const size_t size = (least > SESSION ? least : SESSION) + ISOTOK_ALIGN - 1;
    isotok_chunks *c;
    if (model->blob.algorithm != ISOTOK_UNIGRAM || model->pretokens || model->wide ||
        model->whole_text || model->is_0_2_1)
        return NULL;
    c = calloc(1, sizeof *c);
    if (c == NULL) return NULL;
    c->model = model;
    c->memory = aligned_alloc(ISOTOK_ALIGN, size / ISOTOK_ALIGN * ISOTOK_ALIGN);
    if (c->memory == NULL ||
        isotok_session_init(model, c->memory, size / ISOTOK_ALIGN * ISOTOK_ALIGN, &c->session,
                            NULL) != ISOTOK_OK) {
        isotok_chunks_free(c);
        return NULL;
    }
    return c;
}

/* window[0..size) begins and ends at cuts. */
static isotok_train_status count_window(isotok_chunks *c, isotok_counts *counts, uint32_t size,
                                        isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t p = 0;
    while (p < size && status == ISOTOK_TRAIN_OK) {
        const uint8_t *text = c->session->window.text + p;
        const uint32_t n = isotok__first_chunk(c->model, text, size - p);
        status = isotok_counts_add_word(counts, text, n, 1, error);
        p += n;
    }
    return status;
}

/* Bytes of the window that can be counted now. A chunk that fills the window is cut anywhere. */
static uint32_t ready(isotok_session *s, size_t settled, bool full)
{
    uint32_t cut;
    if (s->normalizer.finished) return (uint32_t)s->window.size;
    cut = isotok__last_cut(s->model, s->window.text, (uint32_t)settled, s->searched);
    s->searched = cut == 0 ? (uint32_t)settled : 0;
    return cut == 0 && full ? (uint32_t)settled : cut;
}

isotok_train_status isotok_chunks_add_text(isotok_chunks *c, isotok_counts *counts,
                                           const uint8_t *text, size_t size,
                                           isotok_train_error *error)
{
    const isotok_encode_options options = {.size = sizeof options,
                                           .flags = ISOTOK_NO_SPECIAL | ISOTOK_NO_TEMPLATE};
    isotok_input input = {text, size, 0, ISOTOK_PART_LAST};
    isotok_session *s = c->session;
    isotok_train_status status = ISOTOK_TRAIN_OK;
    if (isotok_encode_begin(s, &options, NULL) != ISOTOK_OK)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT, "the model encodes no text", 0);
    while (status == ISOTOK_TRAIN_OK) {
        size_t settled;
        bool full;
        uint32_t n;
        if (isotok__fill(s, &input, &settled, &full, NULL) != ISOTOK_OK)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT, "the text is refused", 0);
        n = ready(s, settled, full);
        if (n == 0) break;
        status = count_window(c, counts, n, error);
        isotok__window_drop(s, n);
    }
    s->mode = ISOTOK__IDLE;
    return status;
}
