/* What the files of core/distil share. */
#ifndef ISOTOK_DISTIL_PARTS_H
#define ISOTOK_DISTIL_PARTS_H

#include "blob.h"
#include "cache.h"
#include "counts.h"
#include "double_array.h"
#include "isotok_distil.h"

#define ISOTOK__TEXT_PADDING 32u

/* A text of several tokens: text[p..q) of a chunk and the teacher's tokens there. */
struct isotok__exception {
    uint32_t chunk;
    uint32_t begin;
    uint8_t size, count; /* bytes, tokens */
    size_t tokens;       /* the first, in isotok_distil.tokens */
    int64_t good, bad;   /* occurrences that it repairs and breaks */
};

/* A trie of pieces and exceptions. */
struct isotok__keys_trie {
    void *memory;
    struct isotok__trie_node *nodes; /* value: FORMAT.md, section 19, for longest match; but 1 + the
                                      * exception's number where it is not made for a blob */
    uint32_t *ids;
    uint32_t slots;
};

struct isotok_distil {
    const isotok_model *model;
    const isotok_counts *counts;
    uint32_t count;     /* of chunks */
    size_t *ends;       /* [count + 1] of the tokens of chunk i - 1 */
    uint32_t *tokens;   /* id << 8 | bytes; ISOTOK_UNK_SLOT: unknown */
    size_t tokens_capacity;
    int64_t *frequencies;
    struct isotok__cache_entry *memo;
    struct isotok__exception *exceptions; /* sorted by text */
    uint32_t exceptions_count;
    uint32_t *words; /* `exceptions` of the blob */
    size_t words_count;
    void *blob;
    isotok_distil_stats stats;
};

/* Chunk i of the counts. */
ISOTOK_INLINE const uint8_t *isotok__chunk(const struct isotok_distil *d, uint32_t i,
                                           uint32_t *out_size)
{
    int64_t count;
    return isotok_counts_word(d->counts, i, out_size, &count);
}

isotok_train_status isotok__no_memory(isotok_train_error *error);

ISOTOK_INLINE const uint8_t *isotok__exception_text(const struct isotok_distil *d,
                                                    const struct isotok__exception *e)
{
    uint32_t size;
    return isotok__chunk(d, e->chunk, &size) + e->begin;
}

/* The trie of all pieces and of exceptions[0..count), which are sorted by text and differ in it. */
isotok_train_status isotok__keys_trie_make(const struct isotok_distil *d,
                                           const struct isotok__exception *exceptions,
                                           uint32_t count, struct isotok__keys_trie *out,
                                           isotok_train_error *error);
void isotok__keys_trie_free(struct isotok__keys_trie *trie);

#endif
