/* For the fuzz targets and replay.c: memory between guard pages, headers that fit their
 * blob again after a mutation, and everything that one can do with an opened model. */
#ifndef ISOTOK_FUZZ_EXERCISE_H
#define ISOTOK_FUZZ_EXERCISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isotok.h"

/* Memory whose end (rounded up to `alignment`) is followed by a page that cannot be
 * touched, and its first page preceded by one. */
typedef struct guarded {
    uint8_t *data;
    size_t size;
    void *pages;
    size_t pages_size;
} guarded;

/* `data` NULL: zeros. */
guarded guarded_copy(const void *data, size_t size, size_t alignment);
void guarded_free(guarded *g);

/* Sets total size and checksum, so that a mutated blob gets past its header. */
void fix_header(uint8_t *blob, size_t size);

/* Encodes, normalizes and decodes hostile texts with an opened model, with small outputs and
 * parts; looks all pieces up. Aborts if a result breaks a promise of the interface; of a
 * `complete` (fully verified) model, also if results depend on the parts. */
void exercise_model(const isotok_model *model, uint32_t seed, bool complete);

/* Opens `size` bytes as a blob. OK, or the refusal, which must be explained. */
isotok_status exercise_blob(const uint8_t *data, size_t size, uint32_t verify, isotok_error *error);
/* Builds a source into a blob, which must then open with full verification. */
isotok_status exercise_source(const uint8_t *data, size_t size, uint32_t kind, isotok_error *error);

/* Prints the condition and aborts, so that the fuzzer keeps the input. */
#define REQUIRE(condition) ((condition) ? (void)0 : broken(__FILE__, __LINE__, #condition))
void broken(const char *file, int line, const char *condition);

/* The models of tests/vectors/models, and each for sentencepiece 0.2.1, opened once; NULL past the
 * last. */
struct drive_model;
const struct drive_model *seed_model(size_t index);
size_t seed_model_count(void);

#endif
