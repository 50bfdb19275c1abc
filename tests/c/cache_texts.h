/* For the tests of the token cache: memory for caches, models of known chunks, and texts whose
 * words come again. */
#ifndef ISOTOK_TEST_CACHE_TEXTS_H
#define ISOTOK_TEST_CACHE_TEXTS_H

#include "drive.h"
#include "make_model.h"

typedef struct cache_text {
    uint8_t *data;
    size_t size, room;
} cache_text;

void text_put(cache_text *t, const void *data, size_t size);
void text_free(cache_text *t);

/* Zeros, 64-aligned, exactly so many bytes. */
void *cache_new(size_t size);

/* A number below `limit`; the same series for every run. */
uint32_t text_random(uint32_t limit);

/* At least `size` bytes of words that are made of the model's pieces, some often, most seldom,
 * with spaces, unknown characters, NUL bytes and bytes that are no UTF-8 between them. */
void text_of_words(const isotok_model *model, uint32_t vocab_size, size_t size, cache_text *out);

/* Letters a to h and A to H with all pairs of each. Unigram: every letter of a to h is a token (a
 * pair is worth less than its letters) but for the pieces of 24 and of 25 a; of A to H,
 * every pair. Bpe: no two letters merge. A run of letters is one chunk, and a space another. */
bool open_letters(drive_model *m, uint32_t algorithm);

#endif
