/* The trie of a distilled model: pieces and exceptions. See FORMAT.md, section 19. */
#include <stdlib.h>

#include "distil.h"
#include "trie.h"

#define MOST_KEY 256u

/* Keys while they are collected, in ascending order. */
struct keys {
    uint8_t *text;
    size_t text_count, text_capacity;
    uint32_t *ends;
    uint32_t (*values)[2]; /* id, and 1 + number of the exception, or 0 */
    size_t count, ends_capacity, values_capacity;
};

struct walk {
    const struct isotok_distil *d;
    const struct isotok__exception *exceptions;
    uint32_t count, next; /* of the exceptions */
    struct keys keys;
    uint8_t text[MOST_KEY];
};

static bool add_key(struct keys *keys, const uint8_t *text, uint32_t size, uint32_t id,
                    uint32_t exception)
{
    if (!isotok__train_grow(&keys->text, &keys->text_capacity, keys->text_count + size, 1) ||
        !isotok__train_grow(&keys->ends, &keys->ends_capacity, keys->count + 1,
                            sizeof *keys->ends) ||
        !isotok__train_grow(&keys->values, &keys->values_capacity, keys->count + 1,
                            sizeof *keys->values))
        return false;
    memcpy(keys->text + keys->text_count, text, size);
    keys->text_count += size;
    keys->ends[keys->count] = (uint32_t)keys->text_count;
    keys->values[keys->count][0] = id;
    keys->values[keys->count++][1] = exception;
    return true;
}

static int compare(const uint8_t *a, uint32_t a_size, const uint8_t *b, uint32_t b_size)
{
    const int order = memcmp(a, b, isotok__min(a_size, b_size));
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* Adds the exceptions in front of the text, and the piece with it. */
static bool add_piece(struct walk *w, uint32_t size, uint32_t id)
{
    for (; w->next < w->count; w->next++) {
        const struct isotok__exception *e = &w->exceptions[w->next];
        const uint8_t *text = isotok__exception_text(w->d, e);
        const int order = id == ISOTOK_NO_TOKEN ? -1 : compare(text, e->size, w->text, size);
        if (order > 0) break;
        if (order == 0) return add_key(&w->keys, w->text, size, id, ++w->next);
        if (!add_key(&w->keys, text, e->size, ISOTOK_NO_TOKEN, w->next + 1)) return false;
    }
    return id == ISOTOK_NO_TOKEN || add_key(&w->keys, w->text, size, id, 0);
}

/* All pieces in ascending order. At most 254 calls deep: pieces are no longer. */
static bool add_below(struct walk *w, uint32_t slot, uint32_t size) /* NOLINT(misc-no-recursion) */
{
    const struct isotok__blob *b = &w->d->model->blob;
    uint32_t byte;
    if (size >= MOST_KEY - 1) return true;
    for (byte = 1; byte < 256; byte++) {
        const uint32_t child = isotok__trie_step(b->trie, slot, (uint8_t)byte);
        if (child == ISOTOK_NO_SLOT) continue;
        w->text[size] = (uint8_t)byte;
        if (b->trie_ids[child] != ISOTOK_NO_TOKEN && !add_piece(w, size + 1, b->trie_ids[child]))
            return false;
        if (!add_below(w, child, size + 1)) return false;
    }
    return true;
}

void isotok__keys_trie_free(struct isotok__keys_trie *trie)
{
    free(trie->memory);
    *trie = (struct isotok__keys_trie){0};
}

/* Keys to nodes: their values are numbers of keys until here. */
static isotok_train_status build(const struct keys *keys, struct isotok__keys_trie *out,
                                 isotok_train_error *error)
{
    const isotok__keys sorted = {keys->text, keys->ends, (uint32_t)keys->count};
    size_t size = ((size_t)1 << 20) + 64 * keys->text_count;
    isotok_status status = ISOTOK_NEED_SCRATCH;
    isotok__trie trie = {0};
    while (status == ISOTOK_NEED_SCRATCH) {
        isotok__work work;
        isotok__keys_trie_free(out);
        out->memory = aligned_alloc(ISOTOK_ALIGN, size);
        if (out->memory == NULL) return isotok__no_memory(error);
        isotok__work_init(&work, out->memory, size);
        status = isotok__double_array_build(&work, &sorted, &trie);
        if (status == ISOTOK_OK) out->ids = ISOTOK__KEEP(&work, uint32_t, trie.slots);
        if (out->ids == NULL && status == ISOTOK_OK) status = ISOTOK_NEED_SCRATCH;
        size *= 2;
    }
    if (status != ISOTOK_OK)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_LIMIT, "too many exceptions", keys->count);
    out->nodes = trie.nodes;
    out->slots = trie.slots;
    for (uint32_t i = 0; i < trie.slots; i++) {
        const uint32_t key = trie.nodes[i].value;
        out->ids[i] = key == ISOTOK__NO_INDEX ? ISOTOK_NO_TOKEN : keys->values[key][0];
        trie.nodes[i].value = key == ISOTOK__NO_INDEX ? ISOTOK_VALUE_NONE : keys->values[key][1];
    }
    return ISOTOK_TRAIN_OK;
}

isotok_train_status isotok__keys_trie_make(const struct isotok_distil *d,
                                           const struct isotok__exception *exceptions,
                                           uint32_t count, struct isotok__keys_trie *out,
                                           isotok_train_error *error)
{
    struct walk walk = {.d = d, .exceptions = exceptions, .count = count};
    isotok_train_status status;
    if (add_below(&walk, 0, 0) && add_piece(&walk, 0, ISOTOK_NO_TOKEN))
        status = build(&walk.keys, out, error);
    else
        status = isotok__no_memory(error);
    free(walk.keys.text);
    free(walk.keys.ends);
    free(walk.keys.values);
    return status;
}
