/* The blob of a distilled model: the teacher's sections, but for what is new. */
#include <stdlib.h>

#define ISOTOK__BLOB_FIELDS
#include "distil.h"
#include "hash_parts.h"
#include "trie.h"
#include "write_flatbuffer.h"

/* What takes the place of the teacher's sections. */
struct changed {
    struct isotok__blob blob;
    struct isotok__keys_trie trie;
    struct isotok__trie_node *nodes; /* priority: the teacher's trie with other values */
    uint64_t features;
    uint32_t parity;
};

static void sections_of(const struct isotok__blob *b, isotok__section *sections)
{
    const uint8_t *scalar = (const uint8_t *)b, *vector = scalar + ISOTOK__BLOB_FIRST_VECTOR;
    const uint8_t *count = scalar + ISOTOK__BLOB_FIRST_COUNT;
    uint32_t field;
    memset(sections, 0, ISOTOK__BLOB_FIELD_COUNT * sizeof *sections);
    for (field = 0; field < ISOTOK__BLOB_FIELD_COUNT; field++) {
        if (ISOTOK__BLOB_IS_VECTOR(field)) {
            memcpy(&sections[field].data, vector, sizeof sections[field].data);
            memcpy(&sections[field].count, count, sizeof sections[field].count);
            vector += sizeof sections[field].data;
            count += sizeof sections[field].count;
        } else {
            memcpy(&sections[field].bits, scalar, sizeof sections[field].bits);
            scalar += sizeof sections[field].bits;
        }
    }
}

/* The exceptions as words of the section, and their places as values of the trie. */
static isotok_train_status write_exceptions(struct isotok_distil *d,
                                            struct isotok__keys_trie *trie,
                                            isotok_train_error *error)
{
    uint32_t *slots = calloc(d->model->blob.vocab_size, sizeof *slots);
    uint32_t *places = malloc(((size_t)d->exceptions_count + 1) * sizeof *places);
    size_t total = 0, n = 0;
    uint32_t i, k;
    for (i = 0; i < d->exceptions_count; i++) total += 1u + d->exceptions[i].count;
    free(d->words);
    d->words = malloc((total + 1) * sizeof *d->words);
    d->words_count = total;
    d->stats.exception_words = total;
    if (slots == NULL || places == NULL || d->words == NULL) {
        free(slots);
        free(places);
        return isotok__no_memory(error);
    }
    for (i = 0; i < trie->slots; i++)
        if (trie->ids[i] != ISOTOK_NO_TOKEN) slots[trie->ids[i]] = i;
    for (i = 0; i < d->exceptions_count; i++) {
        const struct isotok__exception *e = &d->exceptions[i];
        places[i] = (uint32_t)n + 1;
        d->words[n++] = (uint32_t)e->count << 8 | e->size;
        for (k = 0; k < e->count; k++) {
            const uint32_t token = d->tokens[e->tokens + k], id = token >> 8;
            d->words[n++] = (id == ISOTOK_UNK_SLOT ? id : slots[id]) << 8 | (token & 0xFFu);
        }
    }
    for (i = 0; i < trie->slots; i++)
        if (trie->nodes[i].value - 1 < d->exceptions_count)
            trie->nodes[i].value = places[trie->nodes[i].value - 1];
    free(slots);
    free(places);
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status make_longest(struct isotok_distil *d, struct changed *c,
                                        isotok_train_error *error)
{
    isotok_train_status status =
        isotok__keys_trie_make(d, d->exceptions, d->exceptions_count, &c->trie, error);
    if (status == ISOTOK_TRAIN_OK) status = write_exceptions(d, &c->trie, error);
    c->blob.trie = c->trie.nodes;
    c->blob.trie_ids = c->trie.ids;
    c->blob.trie_count = c->blob.trie_ids_count = c->trie.slots;
    c->blob.exceptions = d->words;
    c->blob.exceptions_count = (uint32_t)d->words_count;
    return status;
}

static isotok_train_status make_priority(struct isotok_distil *d, struct changed *c,
                                         const float *priorities, isotok_train_error *error)
{
    const struct isotok__blob *b = &d->model->blob;
    uint32_t i;
    c->nodes = malloc(b->trie_count * sizeof *c->nodes);
    if (c->nodes == NULL) return isotok__no_memory(error);
    for (i = 0; i < b->trie_count; i++) {
        c->nodes[i] = b->trie[i];
        if (b->trie_ids[i] != ISOTOK_NO_TOKEN)
            memcpy(&c->nodes[i].value, &priorities[b->trie_ids[i]], sizeof(float));
    }
    c->blob.trie = c->nodes;
    c->blob.scores = priorities;
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status write_parts(struct isotok_distil *d, const struct changed *c,
                                       size_t *out_size, isotok_train_error *error)
{
    isotok__section sections[ISOTOK__BLOB_FIELD_COUNT];
    isotok__parts *parts = malloc(sizeof *parts);
    uint8_t *out = NULL, *to;
    const uint32_t magic = ISOTOK__MAGIC, format = ISOTOK_FORMAT_VERSION;
    uint64_t checksum;
    uint32_t i;
    sections_of(&c->blob, sections);
    if (parts != NULL) {
        isotok__flatbuffer_parts(sections, parts);
        memcpy(parts->head + ISOTOK__HEADER_MAGIC, &magic, 4);
        memcpy(parts->head + ISOTOK__HEADER_FORMAT, &format, 4);
        memcpy(parts->head + ISOTOK__HEADER_TOTAL_SIZE, &parts->size, 8);
        memcpy(parts->head + ISOTOK__HEADER_FEATURES, &c->features, 8);
        memcpy(parts->head + ISOTOK__HEADER_PARITY, &c->parity, 4);
        checksum = isotok__hash_parts(parts->list, parts->count, ISOTOK__HEADER_FEATURES);
        memcpy(parts->head + ISOTOK__HEADER_CHECKSUM, &checksum, 8);
        if (parts->size <= INT32_MAX) out = aligned_alloc(ISOTOK_ALIGN, (size_t)parts->size);
    }
    free(d->blob);
    d->blob = to = out;
    for (i = 0; out != NULL && i < parts->count; i++) {
        memcpy(to, parts->list[i].data, parts->list[i].size);
        to += parts->list[i].size;
    }
    *out_size = (size_t)(to - out);
    free(parts);
    return out != NULL ? ISOTOK_TRAIN_OK : isotok__no_memory(error);
}

isotok_train_status isotok_distil_blob(isotok_distil *d, uint32_t algorithm,
                                       const float *priorities, const void **out_data,
                                       size_t *out_size, isotok_train_error *error)
{
    struct changed c = {.blob = d->model->blob,
                        .features = d->model->features,
                        .parity = d->model->parity};
    isotok_train_status status = ISOTOK_TRAIN_OK;
    c.blob.memo = NULL;
    c.blob.memo_count = 0;
    c.features &= ~ISOTOK_FEATURE(MEMO);
    if (algorithm == ISOTOK_UNIGRAM) {
        if (d->memo != NULL) {
            c.blob.memo = (const uint64_t *)(const void *)d->memo;
            c.blob.memo_count = (uint32_t)(d->stats.memo_sets * ISOTOK__MEMO_WORDS);
            c.features |= ISOTOK_FEATURE(MEMO);
        }
    } else {
        c.blob.algorithm = algorithm;
        c.features = (c.features & ~ISOTOK_FEATURE(UNIGRAM)) | ISOTOK_FEATURE(GREEDY);
        c.parity = ISOTOK_PARITY_DISTILLED;
        status = algorithm == ISOTOK_LONGEST ? make_longest(d, &c, error)
                                             : make_priority(d, &c, priorities, error);
    }
    if (status == ISOTOK_TRAIN_OK) status = write_parts(d, &c, out_size, error);
    *out_data = d->blob;
    isotok__keys_trie_free(&c.trie);
    free(c.nodes);
    return status;
}
