/* L3: carving a session out of the caller's memory, and moving it. See session.h. */
#include "session.h"

#include "trie.h"

#define USUAL_CAPACITY 6144u
#define LEAST_CAPACITY 256u
#define PADDING 32u /* bytes readable after the window's text */

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

/* Which models have an array. */
enum {
    ALL,
    PROGRAM,
    CHARSMAP,
    UNIGRAM,
    UNIGRAM_CUT,
    UNIGRAM_WIDE,
    WIDE,
    REVERSES,
    BPE,
    DENORMALIZER
};
/* What the number of its elements grows with. */
enum { WINDOW, FIXED, HALF, QUEUE, MASSES, SPLITS };

struct array {
    uint16_t member; /* the pointer, in struct isotok_session */
    uint16_t more;   /* elements beside what `grows` says */
    uint8_t element; /* bytes */
    uint8_t grows, models;
    uint8_t kept; /* what is in it outlives a call */
};

#define ARRAY(models, type, member, grows, more, kept)                                   \
    {                                                                                    \
        offsetof(struct isotok_session, member), more, sizeof(type), grows, models, kept \
    }

/* In the order in which they lie behind the session. */
static const struct array arrays[] = {
    ARRAY(ALL, uint8_t, window.text, WINDOW, PADDING, 1),
    ARRAY(ALL, uint32_t, map_memory, WINDOW, 1, 1),
    ARRAY(PROGRAM, struct isotok__char, unicode.unit, HALF, 0, 1),
    ARRAY(PROGRAM, struct isotok__char, unicode.work[0], HALF, 0, 0),
    ARRAY(PROGRAM, struct isotok__char, unicode.work[1], HALF, 0, 0),
    ARRAY(PROGRAM, struct isotok__char, unicode.work[2], HALF, 0, 0),
    ARRAY(CHARSMAP, uint64_t, unicode.late, HALF, 0, 1),
    ARRAY(UNIGRAM_CUT, float, unigram.best, WINDOW, 1, 0),
    ARRAY(UNIGRAM, uint32_t, unigram.back, WINDOW, 1, 0),
    ARRAY(UNIGRAM_WIDE, uint32_t, unigram.start, WINDOW, 1, 0),
    ARRAY(UNIGRAM, struct isotok__mass, unigram.masses, MASSES, 0, 0),
    ARRAY(REVERSES, uint8_t, symbols, WINDOW, 0, 1),
    ARRAY(ALL, uint32_t, tokens_memory, WINDOW, ISOTOK__CACHE_TOKENS, 0),
    ARRAY(WIDE, uint32_t, tokens.lengths, WINDOW, 1, 1),
    ARRAY(BPE, struct isotok__symbol, bpe.symbols, WINDOW, 1, 0),
    ARRAY(BPE, uint64_t, bpe.queue.entries, QUEUE, 0, 0),
    ARRAY(BPE, struct isotok__queue_list, bpe.queue.lists, FIXED, ISOTOK__QUEUE_LISTS, 0),
    ARRAY(BPE, uint64_t, bpe.splits, SPLITS, 0, 1),
    ARRAY(DENORMALIZER, uint8_t, raw, WINDOW, 0, 1),
};

/* Bytes of an array for a window of `n` bytes: 64 bits on every host, a probe must not wrap
 * around. */
static uint64_t array_size(const struct isotok_model *model, const struct array *array, uint64_t n)
{
    switch (array->grows) {
    case FIXED: n = 0; break;
    case HALF: n /= 2; break; /* most units are one character */
    case QUEUE: n = isotok__queue_entries((size_t)n); break;
    case MASSES: n = masses_size(model); break;
    case SPLITS: n = splits_size(model); break;
    default: break;
    }
    return (n + array->more) * array->element;
}

/* Sets every array of `s` for a window of `n` bytes, with what outlives a call as it is in
 * `from`; returns the bytes used. `s` may be NULL, then it only counts, `from` too. */
static uint64_t carve_all(const struct isotok_model *model, struct isotok_session *s, size_t n,
                          const struct isotok_session *from)
{
    const bool unigram = model->blob.algorithm == ISOTOK_UNIGRAM,
               program = ISOTOK__HAS(model->program.on) != 0;
    const uint32_t has = 1u << ALL | (uint32_t)program << PROGRAM |
                         (uint32_t)(program && model->blob.charsmap_trie != NULL) << CHARSMAP |
                         (uint32_t)unigram << UNIGRAM |
                         (uint32_t)(unigram && !model->pretokens) << UNIGRAM_CUT |
                         (uint32_t)(unigram && model->wide) << UNIGRAM_WIDE | model->wide << WIDE |
                         (uint32_t)(model->pretokenizer.reverses != 0) << REVERSES |
                         (uint32_t)(model->blob.algorithm == ISOTOK_BPE) << BPE |
                         model->has_denormalizer << DENORMALIZER;
    uint64_t used = sizeof *s;
    uint32_t i;
    for (i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        const struct array *array = &arrays[i];
        if (!(has >> array->models & 1)) continue;
        used = (used + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
        if (s != NULL) {
            void *memory = (uint8_t *)s + used, *old;
            memcpy((uint8_t *)s + array->member, &memory, sizeof memory);
            if (from != NULL && array->kept) {
                memcpy(&old, (const uint8_t *)from + array->member, sizeof old);
                memcpy(memory, old, (size_t)array_size(model, array, from->capacity));
            }
        }
        used += array_size(model, array, n);
    }
    return (used + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
}

uint64_t isotok__session_memory(const struct isotok_model *model, size_t capacity)
{
    return carve_all(model, NULL, capacity, NULL);
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
        return isotok__needs(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_TEXT_SIZE, capacity);
    return isotok__needs(error, ISOTOK_NEED_SCRATCH, ISOTOK_WHAT_SESSION_MEMORY,
                         isotok__session_memory(session->model, capacity));
}

static isotok_status check_memory(const struct isotok_model *model, const void *memory, size_t size,
                                  size_t least, isotok_session **out_session, isotok_error *error)
{
    if (model == NULL || memory == NULL || out_session == NULL)
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (!isotok__is_aligned(memory, ISOTOK_ALIGN))
        return isotok__needs(error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_SESSION_MEMORY, ISOTOK_ALIGN);
    if (size < least)
        return isotok__needs(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_SESSION_MEMORY, least);
    return ISOTOK_OK;
}

static void carve_session(struct isotok_session *s, const isotok_model *model, size_t memory_size,
                          const struct isotok_session *from)
{
    const size_t capacity = capacity_for(model, memory_size);
    const uint32_t splits = splits_size(model);
    carve_all(model, s, capacity, from);
    s->model = model;
    s->memory_size = memory_size;
    s->capacity = (uint32_t)capacity;
    s->window.capacity = capacity;
    s->tokens.slots = s->tokens_memory;
    s->unicode.capacity = (uint32_t)(capacity / 2);
    s->unigram.masses_mask = masses_size(model) - 1;
    s->bpe.queue.capacity = (uint32_t)isotok__queue_entries(capacity);
    s->bpe.splits_mask = splits ? splits - 1 : 0;
}

isotok_status isotok_session_init(const isotok_model *model, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error)
{
    size_t least = model != NULL ? isotok__session_minimum(model) : 0;
    isotok_status status = check_memory(model, memory, memory_size, least, out_session, out_error);
    struct isotok_session *s = (struct isotok_session *)memory;
    if (status != ISOTOK_OK) return status;
    memset(s, 0, sizeof *s);
    carve_session(s, model, memory_size, NULL);
#if ISOTOK__DISTILLED
    isotok__session_memo(s);
#endif
    if (s->bpe.splits_mask != 0)
        memset(s->bpe.splits, 0, ((size_t)s->bpe.splits_mask + 1) * sizeof(uint64_t));
    *out_session = s;
    return ISOTOK_OK;
}

ISOTOK_NOINLINE void isotok__push(struct isotok__tokens *tokens, uint32_t slot, uint32_t size)
{
    isotok__push_token(tokens, slot, size);
}

ISOTOK_NOINLINE void isotok__push_long(struct isotok__tokens *tokens, uint32_t slot, uint32_t size)
{
    do {
        /* of a wide model it is one */
        const uint32_t part = size < 255 || tokens->lengths != NULL ? size : 255;
        size -= part;
        isotok__push(tokens, size == 0 ? slot : ISOTOK_JOIN_SLOT, part);
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

/* Only what outlives a call is copied: arrays that are kept, and the tokens not yet emitted. */
isotok_status isotok_session_move(isotok_session *from, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error)
{
    struct isotok_session *s = (struct isotok_session *)memory;
    isotok_status status;
    if (from == NULL) return isotok__argument(out_error, ISOTOK_WHAT_NULL_POINTER, 0);
    status =
        check_memory(from->model, memory, memory_size, from->memory_size, out_session, out_error);
    if (status != ISOTOK_OK) return status;
    memcpy(s, from, sizeof *s);
    carve_session(s, from->model, memory_size, from);
    if (from->window.map != NULL) s->window.map = s->map_memory;
    memcpy(s->tokens.slots, from->tokens.slots, from->tokens.count * sizeof(uint32_t));
    *out_session = s;
    return ISOTOK_OK;
}

isotok_status isotok__give_info(void *out, uint32_t least, const void *info, uint32_t info_size)
{
    uint32_t size;
    memcpy(&size, out, sizeof size);
    if (size < least || size > 4096) return ISOTOK_E_ABI;
    memset(out, 0, size);
    memcpy(out, info, isotok__min(size, info_size));
    memcpy(out, &size, sizeof size);
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
    if (!ISOTOK__HAS(s->model->program.on))
        return isotok__normalizer_run(&s->normalizer, text, size, position, last, &s->window);
    return isotok__unicode_run(s->model, &s->normalizer, &s->unicode, text, size, position, last,
                               &s->window);
}

size_t isotok__text_settled(struct isotok_session *s)
{
    return ISOTOK__HAS(s->model->program.on)
               ? s->window.settled
               : isotok__normalizer_settled(&s->normalizer, &s->window);
}
