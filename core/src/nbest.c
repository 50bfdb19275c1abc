/* L4: isotok_nbest: normalizer -> window -> n best paths -> emission. Wiring only. */
#include "best_paths.h"
#include "emit.h"
#include "encode.h"
#include "options.h"
#include "unigram_sample.h"

#define MOST_PATHS 512u /* as in sentencepiece */

/* Where results go. */
struct results {
    isotok_output *output;
    uint32_t *ends;
    float *scores;
    size_t count;
    struct isotok__mass mass; /* SAMPLE: of the paths so far */
};

static isotok_status check(const isotok_session *s, const uint8_t *text, size_t size, uint32_t n,
                           const void *memory, const isotok_output *output, isotok_error *error)
{
    const uint32_t unknown = s->options.flags & (ISOTOK_GUMBEL | ISOTOK_COUNT_ONLY);
    if (text == NULL && size != 0) return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (s->model->blob.algorithm != ISOTOK_UNIGRAM || s->model->pretokens)
        return isotok__argument(error, ISOTOK_WHAT_SAMPLING, 0);
    if (unknown != 0 || n == 0 || n > MOST_PATHS)
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_OPTION, unknown, 0, MOST_PATHS);
    if (!isotok__is_aligned(memory, ISOTOK_ALIGN))
        return isotok__needs(error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_NBEST_MEMORY, ISOTOK_ALIGN);
    return isotok__check_output(s, output, error);
}

/* Reads all of the text into the window. */
static isotok_status read_text(isotok_session *s, const uint8_t *text, size_t size,
                               isotok_error *error)
{
    isotok_input input = {text, size, 0, ISOTOK_PART_LAST};
    size_t settled;
    isotok_status status;
    bool full;
    status = isotok__fill(s, &input, &settled, &full, error);
    if (status != ISOTOK_OK) return status;
    return full ? isotok__need_scratch(s, error) : ISOTOK_OK;
}

/* The session's tokens to ids; where there is no room they are only counted. */
static isotok_status emit_once(isotok_session *s, isotok_output *o)
{
    isotok_status status = isotok__emit_begin(s, o);
    if (status == ISOTOK_OK) status = isotok__emit_tokens(s, o);
    return status == ISOTOK_OK ? isotok__emit_end(s, o) : status;
}

static void take(isotok_session *s, struct results *r, float score)
{
    memset(&s->emitter, 0, sizeof s->emitter);
    if (emit_once(s, r->output) == ISOTOK_NEED_OUTPUT) {
        s->options.flags |= ISOTOK_COUNT_ONLY;
        emit_once(s, r->output);
    }
    r->ends[r->count] = (uint32_t)r->output->count;
    r->scores[r->count++] = score;
}

static void drop_all(isotok_session *s, struct results *r)
{
    s->options.flags &= ~(uint32_t)ISOTOK_COUNT_ONLY;
    r->output->count = 0;
    r->count = 0;
}

/* Takes one path of the search, which is number `rank` of the best. */
static void take_path(isotok_session *s, struct results *r, const struct isotok__paths *paths,
                      uint32_t path, float score, uint32_t rank)
{
    if (s->options.flags & ISOTOK_SAMPLE) {
        const struct isotok__draw draw = {s->options.seed, rank, 0, ISOTOK__DRAW_NBEST};
        if (!isotok__mass_offer(&r->mass, s->options.alpha * (double)score, &draw)) return;
        drop_all(s, r);
    }
    isotok__paths_tokens(paths, path, &s->tokens);
    take(s, r, score);
}

static isotok_status search(isotok_session *s, struct results *r, uint32_t n, void *memory,
                            size_t memory_size, uint64_t *out_need)
{
    struct isotok__paths paths;
    enum isotok__paths_result result = ISOTOK__PATHS_GIVE_UP;
    uint32_t path, rank = 0;
    float score;
    if (!isotok__paths_begin(&paths, s->model, s->window.text, (uint32_t)s->window.size, n, memory,
                             memory_size, out_need))
        return ISOTOK_NEED_SCRATCH;
    while (n > 1 && rank < n) {
        result = isotok__paths_next(&paths, &path, &score);
        if (result != ISOTOK__PATH_FOUND) break;
        take_path(s, r, &paths, path, score, rank++);
    }
    if (result == ISOTOK__PATHS_FULL) return ISOTOK_NEED_SCRATCH;
    if (result == ISOTOK__PATHS_GIVE_UP) {
        path = isotok__paths_viterbi(&paths, &score);
        drop_all(s, r);
        isotok__paths_tokens(&paths, path, &s->tokens);
        take(s, r, score);
    }
    return ISOTOK_OK;
}

isotok_status isotok_nbest(isotok_session *s, const isotok_encode_options *options,
                           const uint8_t *text, size_t size, uint32_t n, void *memory,
                           size_t memory_size, isotok_output *output, uint32_t *ends, float *scores,
                           size_t *out_count, isotok_error *error)
{
    struct results r = {output, ends, scores, 0, {0.0, 0.0}};
    uint64_t need = 0;
    isotok_status status;
    if (s == NULL || output == NULL || ends == NULL || scores == NULL || out_count == NULL ||
        (memory == NULL && memory_size != 0))
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    output->count = *out_count = 0;
    output->base = output->norm_base = 0;
    status = isotok_encode_begin(s, options, error);
    s->mode = ISOTOK__IDLE;
    if (status == ISOTOK_OK) status = check(s, text, size, n, memory, output, error);
    if (status == ISOTOK_OK) status = read_text(s, text, size, error);
    if (status != ISOTOK_OK) return status;
    s->tokens.slots = s->tokens_memory; /* an earlier call may have moved it */
    if (s->window.size == 0)
        take(s, &r, 0.0f);
    else
        status = search(s, &r, n, memory, memory_size, &need);
    if (need > SIZE_MAX && status != ISOTOK_OK)
        return isotok__needs(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_NBEST_MEMORY, need);
    if (status != ISOTOK_OK) return isotok__needs(error, status, ISOTOK_WHAT_NBEST_MEMORY, need);
    if (s->options.flags & ISOTOK_COUNT_ONLY) {
        need = output->count;
        output->count = 0;
        return isotok__needs(error, ISOTOK_NEED_OUTPUT, ISOTOK_WHAT_NOTHING, need);
    }
    *out_count = r.count;
    return ISOTOK_OK;
}
