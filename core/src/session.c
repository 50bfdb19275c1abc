/* L3: carving a session out of the caller's memory, and moving it. See session.h. */
#include "session.h"

#include "trie.h"

#define SESSION_MAGIC 0x6E6F69737365736Bu
#define USUAL_CAPACITY 6144u
#define LEAST_CAPACITY 256u
#define PADDING 32u /* bytes readable after the window's text */

/* Hands out 64-aligned arrays; with memory == NULL it only counts. */
struct carver {
    uint8_t *memory;
    uint64_t used; /* 64 bits on every host: a probe must not wrap around */
};

static void *carve(struct carver *c, uint64_t count, uint64_t element)
{
    void *result = c->memory != NULL ? c->memory + (size_t)c->used : NULL;
    c->used += (count * element + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
    return result;
}

#define CARVE(carver, type, count) ((type *)carve((carver), (count), sizeof(type)))

static uint32_t splits_size(const struct isotok_model *model)
{
    uint32_t size = 4;
    if (model->unused_count == 0) return 0;
    while (size < 2 * model->unused_count) size *= 2;
    return size;
}

/* Positions that edges of one character may lead to, and those on the way. */
static uint32_t masses_size(const struct isotok_model *model)
{
    uint32_t size = 16;
    while (size < model->blob.max_piece_bytes + 8) size *= 2;
    return size;
}

static void carve_bpe(struct isotok_session *s, struct carver *c, size_t n, uint32_t splits)
{
    s->bpe.symbols = CARVE(c, struct isotok__symbol, n);
    s->bpe.queue.capacity = (uint32_t)isotok__queue_entries(n);
    s->bpe.queue.entries = CARVE(c, uint64_t, isotok__queue_entries(n));
    s->bpe.queue.lists = CARVE(c, struct isotok__queue_list, ISOTOK__QUEUE_LISTS);
    s->bpe.queue.order = CARVE(c, uint32_t, ISOTOK__QUEUE_LISTS / 2 + 2);
    s->bpe.splits = CARVE(c, uint32_t, (size_t)splits * 2);
    s->bpe.splits_mask = splits ? splits - 1 : 0;
}

/* Most units are one character. */
static void carve_unicode(const struct isotok_model *model, struct isotok__unicode *u,
                          struct carver *c, size_t n)
{
    const size_t capacity = n / 2;
    uint32_t i;
    u->capacity = (uint32_t)capacity;
    u->unit = CARVE(c, struct isotok__char, capacity);
    for (i = 0; i < 3; i++) u->work[i] = CARVE(c, struct isotok__char, capacity);
    u->late = model->blob.charsmap_trie != NULL ? CARVE(c, uint64_t, capacity) : NULL;
}

/* Sets every array of `s` for a window of `n` bytes; returns the bytes used. */
static uint64_t carve_all(const struct isotok_model *model, struct isotok_session *s,
                          uint8_t *memory, size_t n)
{
    struct carver c = {memory, 0};
    bool unigram = model->blob.algorithm == ISOTOK_UNIGRAM;
    carve(&c, 1, sizeof *s);
    s->window.text = CARVE(&c, uint8_t, n + PADDING);
    s->map_memory = CARVE(&c, uint32_t, n + 1);
    if (model->program.on) carve_unicode(model, &s->unicode, &c, n);
    if (unigram) {
        s->unigram.best = CARVE(&c, float, model->pretokens ? 0 : n + 1);
        s->unigram.back = CARVE(&c, uint32_t, n + 1);
        s->unigram.start = model->wide ? CARVE(&c, uint32_t, n + 1) : NULL;
        s->unigram.masses = CARVE(&c, struct isotok__mass, masses_size(model));
        s->unigram.masses_mask = masses_size(model) - 1;
    }
    s->symbols = model->pretokenizer.reverses ? CARVE(&c, uint8_t, n) : NULL;
    s->tokens_memory = CARVE(&c, uint32_t, n + ISOTOK__CACHE_TOKENS);
    s->tokens.slots = s->tokens_memory;
    s->tokens.lengths = model->wide ? CARVE(&c, uint32_t, n + 1) : NULL;
    if (model->blob.algorithm == ISOTOK_BPE) carve_bpe(s, &c, n, splits_size(model));
    s->raw = model->has_denormalizer ? CARVE(&c, uint8_t, n) : NULL;
    return c.used;
}

uint64_t isotok__session_memory(const struct isotok_model *model, size_t capacity)
{
    struct isotok_session probe;
    return carve_all(model, &probe, NULL, capacity);
}

static size_t least_capacity(const struct isotok_model *model)
{
    size_t least = 2 * (size_t)model->longest_output + 64;
    return least > LEAST_CAPACITY ? least : LEAST_CAPACITY;
}

size_t isotok__session_minimum(const struct isotok_model *model)
{
    return (size_t)isotok__session_memory(model, least_capacity(model));
}

size_t isotok__session_usual(const struct isotok_model *model)
{
    size_t least = least_capacity(model);
    return (size_t)isotok__session_memory(model, least > USUAL_CAPACITY ? least : USUAL_CAPACITY);
}

/* Largest window that fits into `size` bytes. */
static size_t capacity_for(const struct isotok_model *model, size_t size)
{
    size_t low = least_capacity(model), high = size;
    if (high > 0x7FFFFFFFu) high = 0x7FFFFFFFu;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (isotok__session_memory(model, middle) <= size)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

isotok_status isotok__need_scratch(const struct isotok_session *session, isotok_error *error)
{
    size_t capacity = (size_t)session->capacity * 2 + 64;
    if (capacity > 0x7FFFFFFFu)
        return isotok__fail(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_TEXT_SIZE, 0, 0, capacity);
    return isotok__fail(error, ISOTOK_NEED_SCRATCH, ISOTOK_WHAT_SESSION_MEMORY, 0, 0,
                        isotok__session_memory(session->model, capacity));
}

static isotok_status check_memory(const struct isotok_model *model, const void *memory, size_t size,
                                  size_t least, isotok_session **out_session, isotok_error *error)
{
    if (model == NULL || memory == NULL || out_session == NULL)
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0, 0, 0);
    if (!isotok__is_aligned(memory, ISOTOK_ALIGN))
        return isotok__fail(error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_SESSION_MEMORY, 0, 0,
                            ISOTOK_ALIGN);
    if (size < least)
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_SESSION_MEMORY, 0, 0, least);
    return ISOTOK_OK;
}

static void carve_session(struct isotok_session *s, const isotok_model *model, void *memory,
                          size_t memory_size)
{
    size_t capacity = capacity_for(model, memory_size);
    carve_all(model, s, (uint8_t *)memory, capacity);
    s->model = model;
    s->memory_size = memory_size;
    s->capacity = (uint32_t)capacity;
    s->window.capacity = capacity;
    s->magic = SESSION_MAGIC;
}

isotok_status isotok_session_init(const isotok_model *model, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error)
{
    size_t least = model != NULL ? isotok__session_minimum(model) : 0;
    isotok_status status = check_memory(model, memory, memory_size, least, out_session, out_error);
    struct isotok_session *s = (struct isotok_session *)memory;
    if (status != ISOTOK_OK) return status;
    memset(s, 0, sizeof *s);
    carve_session(s, model, memory, memory_size);
    if (s->bpe.splits_mask != 0)
        memset(s->bpe.splits, 0, ((size_t)s->bpe.splits_mask + 1) * 2 * sizeof(uint32_t));
    *out_session = s;
    return ISOTOK_OK;
}

ISOTOK_NOINLINE void isotok__push_long(struct isotok__tokens *tokens, uint32_t slot, uint32_t size)
{
    do {
        const uint32_t part = size < 255 ? size : 255;
        size -= part;
        isotok__push_token(tokens, size == 0 ? slot : ISOTOK_JOIN_SLOT, part);
    } while (size != 0);
}

void isotok__push_unknown(const isotok_model *model, uint32_t size, struct isotok__tokens *tokens)
{
    const uint32_t slot = isotok__word_rule(model, ISOTOK__RULE_UNK);
    tokens->failed |= slot == ISOTOK_UNK_SLOT;
    isotok__push_long(tokens, slot, size);
}

uint32_t isotok__find_slot(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    if (size > model->blob.max_piece_bytes) return 0;
    return isotok__trie_walk(model->blob.trie, 0, text, size);
}

/* Only what outlives a call is copied: the window, its map, the tokens not yet emitted, the
 * splits and the text in front of the denormalizer. The other arrays are work space. */
isotok_status isotok_session_move(isotok_session *from, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error)
{
    struct isotok_session *s = (struct isotok_session *)memory;
    isotok_status status;
    if (from == NULL)
        return isotok__fail(out_error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0, 0, 0);
    status =
        check_memory(from->model, memory, memory_size, from->memory_size, out_session, out_error);
    if (status != ISOTOK_OK) return status;
    memcpy(s, from, sizeof *s);
    carve_session(s, from->model, memory, memory_size);
    memcpy(s->window.text, from->window.text, from->window.size);
    if (from->window.map != NULL) {
        s->window.map = s->map_memory;
        memcpy(s->window.map, from->window.map, from->window.size * sizeof(uint32_t));
    }
    memcpy(s->tokens.slots, from->tokens.slots, from->tokens.count * sizeof(uint32_t));
    if (s->tokens.lengths != NULL)
        memcpy(s->tokens.lengths, from->tokens.lengths, from->tokens.count * sizeof(uint32_t));
    if (s->bpe.splits_mask != 0)
        memcpy(s->bpe.splits, from->bpe.splits,
               ((size_t)s->bpe.splits_mask + 1) * 2 * sizeof(uint32_t));
    memcpy(s->unicode.unit, from->unicode.unit, from->unicode.count * sizeof *s->unicode.unit);
    if (from->unicode.late_count != 0)
        memcpy(s->unicode.late, from->unicode.late, from->unicode.late_count * sizeof(uint64_t));
    if (s->symbols != NULL) memcpy(s->symbols, from->symbols, from->window.size);
    if (s->raw != NULL) memcpy(s->raw, from->raw, from->decoder.raw_count);
    *out_session = s;
    return ISOTOK_OK;
}

void isotok__text_begin(struct isotok_session *s, bool keep_ill_formed)
{
    isotok__normalizer_begin(&s->normalizer, &s->model->normalizer, s->options.offset_unit,
                             keep_ill_formed);
    isotok__unicode_begin(&s->unicode);
}

int isotok__text_run(struct isotok_session *s, const uint8_t *text, size_t size, size_t *position,
                     bool last)
{
    if (!s->model->program.on)
        return isotok__normalizer_run(&s->normalizer, text, size, position, last, &s->window);
    return isotok__unicode_run(s->model, &s->normalizer, &s->unicode, text, size, position, last,
                               &s->window);
}

size_t isotok__text_settled(struct isotok_session *s)
{
    return s->model->program.on ? s->window.settled
                                : isotok__normalizer_settled(&s->normalizer, &s->window);
}
