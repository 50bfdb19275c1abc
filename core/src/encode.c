/* L4: encode_begin, encode_step, encode_batch: normalizer -> window -> segmenter -> emission.
 * Wiring only. */
#include "bpe.h"
#include "cuts.h"
#include "emit.h"
#include "encode.h"
#include "greedy.h"
#include "normalized.h"
#include "options.h"
#include "pretokens.h"
#include "special_tokens.h"
#include "unigram.h"
#include "unigram_sample.h"
#include "words.h"

#define SAMPLING (ISOTOK_SAMPLE | ISOTOK_GUMBEL | ISOTOK_DROPOUT)
#define UNCACHED (SAMPLING | ISOTOK_PRETOKENS)

/* At most one kind, and one that the algorithm has. Noise of 0 is none. */
static isotok_status begin_sampling(struct isotok_session *s, isotok_error *error)
{
    const uint32_t kind = s->options.flags & SAMPLING, algorithm = s->model->blob.algorithm;
    s->bpe.dropout.alpha = 0.0;
    if (kind == 0) return ISOTOK_OK;
    if ((kind & (kind - 1)) != 0) return isotok__argument(error, ISOTOK_WHAT_OPTION, kind);
    if (algorithm != (kind == ISOTOK_DROPOUT ? ISOTOK_BPE : ISOTOK_UNIGRAM) ||
        (kind != ISOTOK_DROPOUT && s->model->pretokens))
        return isotok__argument(error, ISOTOK_WHAT_SAMPLING, kind);
    if (kind != ISOTOK_SAMPLE && s->options.alpha == 0.0) s->options.flags &= ~kind;
    if (kind == ISOTOK_DROPOUT) {
        s->bpe.dropout.alpha = s->options.alpha;
        s->bpe.dropout.seed = s->options.seed;
    }
    return ISOTOK_OK;
}

/* Special tokens and the template, where the caller leaves them to the model: tokenizers looks for
 * the ones and applies the other. */
static void choose_defaults(const isotok_model *model, uint32_t *flags)
{
    const bool hf = model->parity == ISOTOK_PARITY_HF;
    if (hf && !(*flags & ISOTOK_NO_SPECIAL)) *flags |= ISOTOK_SPECIAL;
    if (hf && !(*flags & ISOTOK_NO_TEMPLATE)) *flags |= ISOTOK_TEMPLATE;
    if (!((uint32_t)model->features >> ISOTOK__FEATURE_CONTROL_PIECES & 1))
        *flags &= ~(uint32_t)ISOTOK_NO_CONTROL;
}

isotok_status isotok_encode_begin(isotok_session *s, const isotok_encode_options *options,
                                  isotok_error *error)
{
    const uint32_t known = ISOTOK_BOS | ISOTOK_EOS | ISOTOK_OFFSETS | ISOTOK_NORM_SPANS |
                           ISOTOK_COUNT_ONLY | ISOTOK_NORMALIZED | SAMPLING | ISOTOK_SPECIAL |
                           ISOTOK_NO_SPECIAL | ISOTOK_TEMPLATE | ISOTOK_NO_TEMPLATE |
                           ISOTOK_PRETOKENS | ISOTOK_NO_CONTROL;
    isotok_status status = isotok__begin(s, options, known, error);
    if (status != ISOTOK_OK) return status;
    if ((s->options.flags & ISOTOK_BOS) && s->model->blob.bos_id == ISOTOK_NO_TOKEN)
        return isotok__argument(error, ISOTOK_WHAT_NO_SUCH_END, ISOTOK_BOS);
    if ((s->options.flags & ISOTOK_EOS) && s->model->blob.eos_id == ISOTOK_NO_TOKEN)
        return isotok__argument(error, ISOTOK_WHAT_NO_SUCH_END, ISOTOK_EOS);
    choose_defaults(s->model, &s->options.flags);
    status = begin_sampling(s, error);
    if (status != ISOTOK_OK) return status;
    isotok__text_begin(s, false);
    s->window.map = s->options.flags & ISOTOK_OFFSETS ? s->map_memory : NULL;
    isotok__bpe_forget(&s->bpe);
    isotok__special_begin(s);
    s->mode = ISOTOK__ENCODING;
    return ISOTOK_OK;
}

static void sample(struct isotok_session *s, uint32_t size)
{
    const struct isotok__sampler sampler = {s->options.alpha, s->options.seed, s->place,
                                            s->options.flags & ISOTOK_GUMBEL};
    isotok__unigram_sample(s->model, s->window.text, size, &sampler, &s->unigram, &s->tokens);
}

static void segment(struct isotok_session *s, uint32_t size)
{
    const isotok_model *model = s->model;
    const bool cached = s->cache.entries != NULL && !(s->options.flags & UNCACHED);
    s->tokens.count = s->tokens.named = 0;
    s->tokens.slots = s->tokens_memory;
    switch (s->options.flags & ISOTOK_PRETOKENS ? 0 : model->blob.algorithm) {
    case 0: isotok__push_long(&s->tokens, 0, size); break;
    case ISOTOK_UNIGRAM:
        if (s->options.flags & SAMPLING)
            sample(s, size);
        else if (cached)
            isotok__unigram_cached(model, s->window.text, size, &s->carried, &s->unigram, &s->cache,
                                   &s->tokens);
        else
            isotok__unigram(model, s->window.text, size, &s->carried, &s->unigram, &s->tokens);
        break;
    case ISOTOK_BPE:
        s->bpe.dropout.place = s->place;
        if (cached)
            isotok__bpe_cached(s, size);
        else
            isotok__bpe(model, s->window.text, size, &s->bpe, &s->tokens);
        break;
    case ISOTOK_WORD: isotok__words(model, s->window.text, size, &s->tokens); break;
#if ISOTOK__DISTILLED
    case ISOTOK_LONGEST:
    case ISOTOK_PRIORITY: isotok__greedy(model, s->window.text, size, &s->tokens); break;
#endif
    default: isotok__characters(model, s->window.text, size, &s->tokens); break;
    }
    s->ready = size;
    s->emitter.token = 0;
    s->emitter.position = 0;
}

/* Tokens before the limit are all that is needed. */
static void drop_emitted(struct isotok_session *s)
{
    isotok__window_drop(s, s->ready);
    if (ISOTOK__HAS(s->model->pretokenizer.count) != 0)
        isotok__pretok_move(&s->model->pretokenizer, &s->cutter, s->ready);
    s->ready = 0;
    s->tokens.count = 0;
    s->emitter.token = 0;
}

isotok_status isotok__fill(struct isotok_session *s, isotok_input *input, size_t *out_settled,
                           bool *out_full, isotok_error *error)
{
    bool last = (input->part & ISOTOK_PART_LAST) != 0;
    int state;
    if (s->options.flags & ISOTOK_NORMALIZED) {
        state = isotok__normalized_run(s->model, &s->normalizer, input->text, input->size,
                                       &input->consumed, last, &s->window);
        *out_settled = s->window.size;
    } else {
        const size_t before = input->consumed, end = isotok__special_stop(s, input, &last);
        state = isotok__text_run(s, input->text, end, &input->consumed, last);
        isotok__special_passed(s, input, before);
        *out_settled = isotok__text_settled(s);
    }
    *out_full = state == ISOTOK__NORM_FULL;
    if (state != ISOTOK__NORM_REFUSED) return ISOTOK_OK;
    s->mode = ISOTOK__IDLE;
    return isotok__fail(error, ISOTOK_E_TEXT, ISOTOK_WHAT_NORMALIZED_TEXT, 0, s->normalizer.bytes,
                        0);
}

/* Segments the pre-tokens whose ends are known. *out_end: there is no text any more. */
static isotok_status segment_pretokens(struct isotok_session *s, size_t settled, bool full,
                                       bool *out_end, isotok_error *error)
{
    isotok__pretokens(s, (uint32_t)settled,
                      s->cache.entries != NULL && !(s->options.flags & UNCACHED));
    if (s->tokens.failed) {
        s->mode = ISOTOK__IDLE;
        return isotok__needs(error, ISOTOK_E_TEXT, ISOTOK_WHAT_NO_UNKNOWN, 0);
    }
    *out_end = s->ready == 0;
    return *out_end && full ? isotok__need_scratch(s, error) : ISOTOK_OK;
}

/* Fills the window and segments up to the last cut. *out_end: the text is used up. */
static isotok_status advance(struct isotok_session *s, isotok_input *input, bool *out_end,
                             isotok_error *error)
{
    size_t settled;
    bool full;
    isotok_status status = isotok__fill(s, input, &settled, &full, error);
    uint32_t ready;
    *out_end = false;
    if (status != ISOTOK_OK) return status;
    if (ISOTOK__HAS(s->model->pretokens))
        return segment_pretokens(s, settled, full, out_end, error);
    if (s->normalizer.finished) {
        ready = (uint32_t)s->window.size;
        if (ready == 0) *out_end = true;
    } else {
        ready = isotok__last_cut(s->model, s->window.text, (uint32_t)settled, s->searched);
        s->searched = ready == 0 ? (uint32_t)settled : 0;
        if (ready == 0 && full) return isotok__need_scratch(s, error);
        if (ready == 0) *out_end = true;
    }
    if (ready != 0) segment(s, ready);
    return ISOTOK_OK;
}

isotok_status isotok__check_output(const struct isotok_session *s, const isotok_output *output,
                                   isotok_error *error)
{
    const bool counting = (s->options.flags & ISOTOK_COUNT_ONLY) != 0;
    if (!counting && ((output->ids == NULL && output->capacity != 0) ||
                      ((s->options.flags & ISOTOK_OFFSETS) && output->capacity != 0 &&
                       (output->begin == NULL || output->end == NULL)) ||
                      ((s->options.flags & ISOTOK_NORM_SPANS) && output->capacity != 0 &&
                       (output->norm_begin == NULL || output->norm_end == NULL))))
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 1);
    return ISOTOK_OK;
}

static isotok_status check_io(const isotok_session *s, const isotok_input *input,
                              const isotok_output *output, isotok_error *error)
{
    const isotok_status status = isotok__check_input(s, input, output, ISOTOK__ENCODING, error);
    return status == ISOTOK_OK ? isotok__check_output(s, output, error) : status;
}

/* Emits and advances until the input is used up; output->count grows. */
static isotok_status run(isotok_session *s, isotok_input *input, isotok_output *output,
                         isotok_error *error)
{
    isotok_status status = isotok__emit_begin(s, output);
    bool end = false;
    size_t before;
    while (status == ISOTOK_OK && !end) {
        status = isotok__emit_tokens(s, output);
        if (status != ISOTOK_OK) break;
        drop_emitted(s);
        before = input->consumed;
        status = advance(s, input, &end, error);
        /* what was read may have vanished, such as white space */
        if (input->consumed != before && input->consumed != input->size) end = false;
        if (status == ISOTOK_OK && end && s->normalizer.finished &&
            ISOTOK__HAS(s->special_size) != 0) {
            status = isotok__special_emit(s, input, output);
            end = false;
        }
    }
    if (status == ISOTOK_OK && s->normalizer.finished) {
        status = isotok__emit_end(s, output);
        if (status == ISOTOK_OK) s->mode = ISOTOK__ENDED;
    }
    if (status == ISOTOK_AT_LIMIT) s->mode = ISOTOK__ENDED;
    if (status == ISOTOK_NEED_OUTPUT)
        isotok__needs(error, status, ISOTOK_WHAT_NOTHING, s->tokens.count - s->emitter.token + 2u);
    if (status == ISOTOK_AT_LIMIT)
        isotok__needs(error, status, ISOTOK_WHAT_NOTHING, s->options.limit);
    return status;
}

isotok_status isotok_encode_step(isotok_session *s, isotok_input *input, isotok_output *output,
                                 isotok_error *error)
{
    isotok_status status = check_io(s, input, output, error);
    if (status != ISOTOK_OK) return status;
    output->count = 0;
    /* spans are 32-bit: relative to the start of the current 2 GiB of text */
    output->base = s->window.map_base & ~(uint64_t)0x7FFFFFFF;
    if (s->emitter.unknown_open && s->emitter.unknown_begin < output->base)
        output->base = s->emitter.unknown_begin;
    output->norm_base = s->emitter.norm_position & ~(uint64_t)0x7FFFFFFF;
    if (s->emitter.unknown_open && s->emitter.unknown_norm_begin < output->norm_base)
        output->norm_base = s->emitter.unknown_norm_begin;
    return run(s, input, output, error);
}

static isotok_status check_batch(const isotok_session *s, const uint8_t *text,
                                 const uint32_t *text_ends, size_t text_count,
                                 const size_t *texts_done, const isotok_output *output,
                                 const uint32_t *id_ends, isotok_error *error)
{
    size_t i;
    if (s == NULL || texts_done == NULL || output == NULL ||
        (text_count != 0 && (text_ends == NULL || id_ends == NULL)) ||
        (text == NULL && text_count != 0 && text_ends[text_count - 1] != 0))
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    for (i = 1; i < text_count; i++)
        if (text_ends[i] < text_ends[i - 1])
            return isotok__argument(error, ISOTOK_WHAT_TEXT_ENDS, (uint32_t)i);
    return ISOTOK_OK;
}

isotok_status isotok_encode_batch(isotok_session *s, const isotok_encode_options *options,
                                  const uint8_t *text, const uint32_t *text_ends, size_t text_count,
                                  size_t *texts_done, isotok_output *output, uint32_t *id_ends,
                                  isotok_error *error)
{
    isotok_status status =
        check_batch(s, text, text_ends, text_count, texts_done, output, id_ends, error);
    if (status != ISOTOK_OK) return status;
    if (*texts_done == 0 && output->count == 0) s->batch_running = 0; /* a new batch */
    while (*texts_done < text_count) {
        size_t begin = *texts_done == 0 ? 0 : text_ends[*texts_done - 1];
        isotok_input input = {text + begin, text_ends[*texts_done] - begin, s->batch_consumed,
                              ISOTOK_PART_LAST};
        if (!s->batch_running) {
            status = isotok_encode_begin(s, options, error);
            if (status != ISOTOK_OK) return status;
            s->batch_running = 1;
            input.consumed = 0;
        }
        status = check_io(s, &input, output, error);
        if (status != ISOTOK_OK) return status;
        output->base = output->norm_base = 0;
        status = run(s, &input, output, error);
        s->batch_consumed = input.consumed;
        if (status != ISOTOK_OK && status != ISOTOK_AT_LIMIT) return status;
        id_ends[*texts_done] = (uint32_t)output->count;
        s->batch_running = 0;
        ++*texts_done;
    }
    return ISOTOK_OK;
}
