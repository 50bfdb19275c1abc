/* The memo: certified answers for frequent chunks. See isotok_distil.h and certify.h.
 *
 * Chunks come in the order of what they save: occurrences times the work of the search, which goes
 * with the bytes; a fixed part stands for what any chunk costs. A chunk whose set is full stays
 * outside. */
#include <stdlib.h>

#include "certify.h"
#include "distil.h"

#define CHUNK_COST 4 /* bytes that are searched in the time that a look-up saves besides */

#define LEAST_BITS 4u /* of sets: the section is checked in blocks of them */

struct ranked {
    double saved;
    uint32_t chunk;
};

static int by_saved(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->saved != y->saved) return x->saved < y->saved ? 1 : -1;
    return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

/* All chunks that fit an entry, best first; *out_count of them. NULL: no memory. */
static struct ranked *rank_chunks(const struct isotok_distil *d, uint32_t *out_count)
{
    struct ranked *ranked = malloc(((size_t)d->count + 1) * sizeof *ranked);
    uint32_t i, size, n = 0;
    if (ranked == NULL) return NULL;
    for (i = 0; i < d->count; i++) {
        int64_t count;
        isotok_counts_word(d->counts, i, &size, &count);
        if (size == 0 || size > ISOTOK__CACHE_KEY ||
            d->ends[i + 1] - d->ends[i] > ISOTOK__CACHE_TOKENS / 2)
            continue;
        ranked[n++] = (struct ranked){(double)count * (size + CHUNK_COST), i};
    }
    qsort(ranked, n, sizeof *ranked, by_saved);
    *out_count = n;
    return ranked;
}

static void put(struct isotok_distil *d, uint32_t chunk, uint32_t shift)
{
    uint8_t text[ISOTOK__CACHE_KEY + ISOTOK__TEXT_PADDING] = {0};
    struct isotok__cache_entry entry, *set;
    uint32_t size;
    int64_t count;
    const uint8_t *word = isotok_counts_word(d->counts, chunk, &size, &count);
    memcpy(text, word, size);
    memset(&entry, 0, sizeof entry);
    entry.key = isotok__cache_key(text, size);
    set = d->memo + 2 * (isotok__cache_hash(&entry.key) >> shift);
    if (set[0].size != 0 && set[1].size != 0) return;
    isotok__certify(d->model, text, size, &entry);
    if (entry.valid_to < 0 || entry.count == 0) return;
    entry.size = (uint8_t)size;
    set[set[0].size != 0] = entry;
    d->stats.memo_chunks++;
    d->stats.memo_occurrences += count;
}

isotok_train_status isotok_distil_memo(isotok_distil *d, size_t size, isotok_train_error *error)
{
    struct ranked *ranked;
    uint32_t bits = 0, count = 0, i;
    free(d->memo);
    d->memo = NULL;
    d->stats.memo_sets = d->stats.memo_chunks = 0;
    d->stats.memo_occurrences = 0;
    while (bits < 24 && size >= (size_t)256 << bits) bits++;
    if (bits < LEAST_BITS) return ISOTOK_TRAIN_OK;
    ranked = rank_chunks(d, &count);
    d->memo = calloc((size_t)2 << bits, sizeof *d->memo);
    if (ranked == NULL || d->memo == NULL) {
        free(ranked);
        return isotok__no_memory(error);
    }
    d->stats.memo_sets = (uint64_t)1 << bits;
    for (i = 0; i < count && d->stats.memo_chunks < (uint64_t)2 << bits; i++)
        put(d, ranked[i].chunk, 64 - bits);
    free(ranked);
    return ISOTOK_TRAIN_OK;
}
