/* Words and their counts: a hash table over an arena. See isotok_train.h.
 *
 * A slot is 8 bytes: the upper half of the hash and the number of the word + 1. Words lie in the
 * arena at multiples of 8 bytes, with zeros behind, so that they are compared 8 bytes at a time.
 * Texts are cut in batches; the slots of a batch are fetched before they are asked. */
#include <stdlib.h>

#include "base.h"
#include "bigrams.h"
#include "counts.h"
#include "session.h"

#define WINDOW (1u << 16) /* bytes of text that are cut at a time, more if a word is longer */
#define PADDING 64u       /* behind them: may be read */
#define ENDS 128u
#define MAX_WORD 0x7FFFFF00u

isotok_train_status isotok__train_fail(isotok_train_error *error, isotok_train_status status,
                                       const char *message, uint64_t index)
{
    if (error != NULL) *error = (isotok_train_error){status, message, index};
    return status;
}

bool isotok__train_grow(void *array, size_t *capacity, size_t wanted, size_t element)
{
    void *old, *bigger;
    size_t room = *capacity + *capacity / 2;
    if (wanted <= *capacity) return true;
    if (room < wanted) room = wanted;
    if (room < 16) room = 16;
    if (room > SIZE_MAX / element) return false;
    memcpy(&old, array, sizeof old);
    bigger = realloc(old, room * element);
    if (bigger == NULL) return false;
    memcpy(array, &bigger, sizeof bigger);
    *capacity = room;
    return true;
}

struct isotok_counts {
    const isotok_model *model;
    uint64_t *slots; /* [mask + 1] */
    uint32_t mask, count;
    struct isotok__word *words;
    size_t words_capacity;
    uint8_t *arena;
    size_t used, capacity; /* of the arena */
    uint64_t bytes;
    uint8_t *window, *symbols; /* [window_size + PADDING] */
    size_t window_size;
    struct isotok__cutter cutter;
    struct isotok__shape *shape; /* or NULL */
};

isotok_counts *isotok_counts_new(const isotok_model *model)
{
    isotok_counts *c;
    if (model != NULL && model->pretokenizer.count == 0) return NULL;
    c = calloc(1, sizeof *c);
    if (c != NULL) c->model = model;
    return c;
}

void isotok_counts_clear(isotok_counts *c)
{
    free(c->slots);
    free(c->words);
    free(c->arena);
    free(c->window);
    free(c->symbols);
    *c = (struct isotok_counts){.model = c->model, .shape = c->shape};
}

void isotok_counts_free(isotok_counts *c)
{
    if (c == NULL) return;
    isotok_counts_clear(c);
    isotok__shape_free(c->shape);
    free(c);
}

isotok_train_status isotok_counts_cut(isotok_counts *c, const uint64_t *keys, uint32_t count,
                                      int mixed, isotok_train_error *error)
{
    struct isotok__shape *shape = isotok__shape_new(keys, count, mixed != 0);
    if (shape == NULL)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for bigrams", count);
    isotok__shape_free(c->shape);
    c->shape = shape;
    return ISOTOK_TRAIN_OK;
}

uint32_t isotok_counts_size(const isotok_counts *c)
{
    return c->count;
}

uint64_t isotok_counts_bytes(const isotok_counts *c)
{
    return c->bytes;
}

uint64_t isotok_counts_memory(const isotok_counts *c)
{
    return sizeof *c + (c->slots ? ((uint64_t)c->mask + 1) * 8 : 0) +
           c->words_capacity * sizeof *c->words + c->capacity +
           c->window_size * (c->symbols ? 2u : 1u);
}

const uint8_t *isotok_counts_word(const isotok_counts *c, uint32_t index, uint32_t *out_size,
                                  int64_t *out_count)
{
    *out_size = c->words[index].size;
    *out_count = c->words[index].count;
    return c->arena + (size_t)c->words[index].at * 8;
}

/* ---- The table ---- */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

/* The last bytes of a word, zeros above; 8 bytes may be read. */
static uint64_t tail(const uint8_t *p, uint32_t size)
{
    return isotok__load_u64(p) & (((uint64_t)1 << size * 8) - 1);
}

static uint64_t hash_word(const uint8_t *p, uint32_t size)
{
    uint64_t h = size * 0xD6E8FEB86659FD93u;
    for (; size >= 8; size -= 8, p += 8) h = mix(h, isotok__load_u64(p));
    if (size) h = mix(h, tail(p, size));
    return mix(h, h >> 32);
}

static bool same_word(const uint8_t *kept, const uint8_t *p, uint32_t size)
{
    for (; size >= 8; size -= 8, p += 8, kept += 8)
        if (isotok__load_u64(kept) != isotok__load_u64(p)) return false;
    return size == 0 || isotok__load_u64(kept) == tail(p, size);
}

static bool resize(isotok_counts *c, size_t slots)
{
    uint64_t *made = calloc(slots, sizeof *made);
    const uint32_t mask = (uint32_t)(slots - 1);
    size_t i;
    if (made == NULL) return false;
    for (i = 0; i < c->count; i++) {
        const uint64_t h = hash_word(c->arena + (size_t)c->words[i].at * 8, c->words[i].size);
        uint32_t at = (uint32_t)h & mask;
        while (made[at] != 0) at = (at + 1) & mask;
        made[at] = (h & 0xFFFFFFFF00000000u) | (i + 1);
    }
    free(c->slots);
    c->slots = made;
    c->mask = mask;
    return true;
}

/* Room for one word more. */
static isotok_train_status reserve(isotok_counts *c, uint32_t size, isotok_train_error *error)
{
    const size_t wanted = c->used + ((size_t)size + 7) / 8 * 8 + 8;
    if (c->count >= 0x7FFFFFFFu || c->used / 8 >= 0xFFFFFFF0u)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_LIMIT, "too many words", c->count);
    if ((c->slots == NULL && !resize(c, 1024)) ||
        (c->count >= (c->mask >> 2) * 3u && !resize(c, ((size_t)c->mask + 1) * 2)) ||
        !isotok__train_grow(&c->words, &c->words_capacity, c->count + 1u, sizeof *c->words) ||
        !isotok__train_grow(&c->arena, &c->capacity, wanted, 1))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for words", c->count);
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status insert(isotok_counts *c, const uint8_t *p, uint32_t size, uint64_t hash,
                                  int64_t count, isotok_train_error *error)
{
    const isotok_train_status status = reserve(c, size, error);
    uint32_t at;
    if (status != ISOTOK_TRAIN_OK) return status;
    at = (uint32_t)hash & c->mask;
    while (c->slots[at] != 0) at = (at + 1) & c->mask;
    c->words[c->count] = (struct isotok__word){count, (uint32_t)(c->used / 8), size};
    memset(c->arena + c->used + size / 8 * 8, 0, 8);
    memcpy(c->arena + c->used, p, size);
    c->used += ((size_t)size + 7) / 8 * 8;
    c->bytes += size;
    c->slots[at] = (hash & 0xFFFFFFFF00000000u) | ++c->count;
    return ISOTOK_TRAIN_OK;
}

/* Adds a word behind which 8 bytes may be read. */
static isotok_train_status add(isotok_counts *c, const uint8_t *p, uint32_t size, uint64_t hash,
                               int64_t count, isotok_train_error *error)
{
    uint32_t at = (uint32_t)hash & c->mask;
    uint64_t slot;
    if (ISOTOK_UNLIKELY(c->slots == NULL)) return insert(c, p, size, hash, count, error);
    for (; (slot = c->slots[at]) != 0; at = (at + 1) & c->mask) {
        struct isotok__word *word;
        if ((slot ^ hash) >> 32 != 0) continue;
        word = &c->words[(uint32_t)slot - 1];
        if (word->size != size || !same_word(c->arena + (size_t)word->at * 8, p, size)) continue;
        if (ISOTOK_UNLIKELY(word->count > INT64_MAX - count))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_OVERFLOW,
                                      "the count of a word is above 2^63 - 1", (uint32_t)slot - 1);
        word->count += count;
        return ISOTOK_TRAIN_OK;
    }
    return insert(c, p, size, hash, count, error);
}

/* ---- Texts ---- */

static bool reserve_window(isotok_counts *c, size_t size)
{
    uint8_t *window, *symbols;
    if (c->window_size >= size) return true;
    window = realloc(c->window, size + PADDING);
    if (window == NULL) return false;
    c->window = window;
    if (c->model != NULL && c->model->pretokenizer.reverses) {
        symbols = realloc(c->symbols, size + PADDING);
        if (symbols == NULL) return false;
        c->symbols = symbols;
    }
    c->window_size = size;
    return true;
}

isotok_train_status isotok_counts_add_word(isotok_counts *c, const uint8_t *word, size_t size,
                                           int64_t count, isotok_train_error *error)
{
    if (count < 1 || size == 0)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                  "a word is empty or its count is below 1", c->count);
    if (size > MAX_WORD)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_LIMIT, "a word is too long", c->count);
    if (!reserve_window(c, size > WINDOW ? size : WINDOW))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for a word", c->count);
    memcpy(c->window, word, size);
    memset(c->window + size, 0, 8);
    return add(c, c->window, (uint32_t)size, hash_word(c->window, (uint32_t)size), count, error);
}

isotok_train_status isotok_counts_merge(isotok_counts *c, const isotok_counts *other,
                                        isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t i;
    if (c == other)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT, "counts merged with themselves",
                                  0);
    for (i = 0; i < other->count && status == ISOTOK_TRAIN_OK; i++) {
        const struct isotok__word *word = &other->words[i];
        const uint8_t *text = other->arena + (size_t)word->at * 8; /* 8 bytes more are there */
        status = add(c, text, word->size, hash_word(text, word->size), word->count, error);
    }
    return status;
}

/* Adds the words that end at ends[0..count), the first one beginning at *begin. */
static isotok_train_status add_ends(isotok_counts *c, uint32_t *begin, const uint32_t *ends,
                                    uint32_t count, isotok_train_error *error)
{
    uint64_t hashes[ENDS];
    uint32_t i, at = *begin;
    for (i = 0; i < count; i++) {
        const uint32_t end = ends[i] & ~ISOTOK__DROPPED;
        hashes[i] = hash_word(c->window + at, end - at);
        if (c->slots) ISOTOK_PREFETCH(&c->slots[(uint32_t)hashes[i] & c->mask]);
        at = end;
    }
    for (i = 0; i < count; i++) {
        const uint32_t end = ends[i] & ~ISOTOK__DROPPED;
        if (end == ends[i] && end != *begin) {
            const isotok_train_status status =
                add(c, c->window + *begin, end - *begin, hashes[i], 1, error);
            if (status != ISOTOK_TRAIN_OK) return status;
        }
        *begin = end;
    }
    return ISOTOK_TRAIN_OK;
}

/* The same; words are cut further by their bigrams. */
static isotok_train_status add_parts(isotok_counts *c, uint32_t *begin, const uint32_t *ends,
                                     uint32_t count, isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t parts[ENDS], n = 0, i = 0, at = *begin;
    while (i < count && status == ISOTOK_TRAIN_OK) {
        const uint32_t end = ends[i] & ~ISOTOK__DROPPED;
        at = end == ends[i] ? isotok__shape_next(c->shape, c->window, at, end) : end;
        parts[n++] = at == end ? ends[i++] : at;
        if (n < ENDS && i < count) continue;
        status = add_ends(c, begin, parts, n, error);
        n = 0;
    }
    return status;
}

/* Cuts window[0..size) as far as it is known; *out_rest: where the first open word begins. */
static isotok_train_status cut(isotok_counts *c, uint32_t size, bool is_end, uint32_t *out_rest,
                               isotok_train_error *error)
{
    uint32_t ends[ENDS], n;
    isotok_train_status status = ISOTOK_TRAIN_OK;
    *out_rest = 0;
    while (status == ISOTOK_TRAIN_OK &&
           (n = isotok__pretokenize(&c->model->pretokenizer, &c->cutter, c->window, size, is_end,
                                    c->symbols, ends, ENDS)) != 0)
        status = (c->shape ? add_parts : add_ends)(c, out_rest, ends, n, error);
    return status;
}

/* A text that no pre-tokenizer cuts. */
static isotok_train_status add_whole(isotok_counts *c, const uint8_t *text, size_t size,
                                     isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t at = 0, end;
    if (c->shape == NULL || size > MAX_WORD) return isotok_counts_add_word(c, text, size, 1, error);
    for (; at < size && status == ISOTOK_TRAIN_OK; at = end) {
        end = isotok__shape_next(c->shape, text, at, (uint32_t)size);
        status = isotok_counts_add_word(c, text + at, end - at, 1, error);
    }
    return status;
}

isotok_train_status isotok_counts_add_text(isotok_counts *c, const uint8_t *text, size_t size,
                                           isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    uint32_t held = 0, rest;
    if (size == 0) return ISOTOK_TRAIN_OK;
    if (c->model == NULL) return add_whole(c, text, size, error);
    memset(&c->cutter, 0, sizeof c->cutter);
    while (status == ISOTOK_TRAIN_OK && size > 0) {
        size_t room = held < WINDOW / 2 ? WINDOW : (size_t)held * 2, n;
        if (room > MAX_WORD)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_LIMIT, "a word is too long", c->count);
        if (!reserve_window(c, room))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for text", 0);
        n = isotok__min(size, room - held);
        memcpy(c->window + held, text, n);
        memset(c->window + held + n, 0, PADDING);
        text += n;
        size -= n;
        held += (uint32_t)n;
        status = cut(c, held, size == 0, &rest, error);
        if (size == 0) break;
        isotok__pretok_move(&c->model->pretokenizer, &c->cutter, rest);
        held -= rest;
        memmove(c->window, c->window + rest, held);
        if (c->symbols) memmove(c->symbols, c->symbols + rest, held);
    }
    return status;
}

/* ---- Order ---- */

struct key {
    uint64_t prefix; /* first 8 bytes, big-endian */
    uint32_t index;
};

static bool comes_after(const isotok_counts *c, const struct key *a, const struct key *b)
{
    const struct isotok__word *x = &c->words[a->index], *y = &c->words[b->index];
    int order;
    if (a->prefix != b->prefix) return a->prefix > b->prefix;
    order = memcmp(c->arena + (size_t)x->at * 8, c->arena + (size_t)y->at * 8,
                   isotok__min(x->size, y->size));
    return order != 0 ? order > 0 : x->size > y->size;
}

static void merge_runs(const isotok_counts *c, const struct key *from, struct key *to, size_t begin,
                       size_t middle, size_t end)
{
    size_t a = begin, b = middle, i;
    for (i = begin; i < end; i++)
        to[i] =
            b == end || (a < middle && !comes_after(c, &from[a], &from[b])) ? from[a++] : from[b++];
}

isotok_train_status isotok_counts_sort(const isotok_counts *c, uint32_t *order,
                                       isotok_train_error *error)
{
    const size_t n = c->count;
    struct key *memory = malloc((n + 1) * 2 * sizeof *memory), *from = memory, *to, *other;
    size_t i, width;
    if (memory == NULL)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory to sort words", n);
    to = memory + n;
    for (i = 0; i < n; i++) {
        uint64_t word = isotok__load_u64(c->arena + (size_t)c->words[i].at * 8), prefix = 0;
        uint32_t k;
        if (c->words[i].size < 8) word &= ((uint64_t)1 << c->words[i].size * 8) - 1;
        for (k = 0; k < 8; k++) prefix = prefix << 8 | (word >> k * 8 & 0xFF);
        from[i] = (struct key){prefix, (uint32_t)i};
    }
    for (width = 1; width < n; width *= 2) {
        for (i = 0; i < n; i += width * 2)
            merge_runs(c, from, to, i, isotok__min(i + width, n), isotok__min(i + width * 2, n));
        other = from;
        from = to;
        to = other;
    }
    for (i = 0; i < n; i++) order[i] = from[i].index;
    free(memory);
    return ISOTOK_TRAIN_OK;
}
