/* For the C tests and the fuzz targets: drives the begin/step calls the way a difficult caller
 * would. Texts come in parts, outputs are small, sessions start small and are moved. Every
 * part and every output lies in memory of exactly its size, so that a sanitizer sees a step
 * beyond. Results are collected, to be compared between plans. */
#ifndef ISOTOK_TEST_DRIVE_H
#define ISOTOK_TEST_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isotok.h"

typedef struct drive_model {
    uint8_t *blob;
    size_t blob_size;
    void *memory;
    const isotok_model *model;
    isotok_info info;
} drive_model;

typedef struct drive_plan {
    size_t capacity; /* elements of each output; 0 = 4,096 */
    size_t part;     /* bytes (or ids) of each part; 0 = all at once */
    bool small;      /* session_min instead of session_size bytes */
    bool move;       /* move the session between any two steps too */
    void *cache;     /* of tokens: zeros, or what a call with the same model left there; or NULL */
    size_t cache_size;
    isotok_cache_info *cache_info; /* or NULL; each call adds to its counts */
} drive_plan;

typedef struct drive_tokens {
    uint32_t *ids, *begin, *end, *norm_begin, *norm_end;
    size_t count, room;
    uint64_t counted; /* with COUNT_ONLY */
} drive_tokens;

typedef struct drive_bytes {
    uint8_t *data;
    uint32_t *map; /* normalize: [size + 1] */
    size_t size, room;
} drive_bytes;

/* Opens a blob (64-aligned, owned by the model from then on). */
isotok_status drive_open(drive_model *m, uint8_t *blob, size_t size, uint32_t verify,
                         isotok_error *error);
/* Builds a `.model` file's bytes and opens the blob. */
isotok_status drive_open_source(drive_model *m, const void *source, size_t size,
                                isotok_error *error);
/* The same for a file; false if it cannot be read or opened. */
bool drive_open_file(drive_model *m, const char *path);
void drive_close(drive_model *m);

/* All of a file, in memory of exactly its size; NULL if it cannot be read. */
uint8_t *drive_read(const char *path, size_t *out_size);

/* OK or AT_LIMIT, or the error; results are freed by the caller. */
isotok_status drive_encode(const drive_model *m, const drive_plan *plan,
                           const isotok_encode_options *options, const uint8_t *text, size_t size,
                           drive_tokens *out, isotok_error *error);
isotok_status drive_normalize(const drive_model *m, const drive_plan *plan, uint32_t unit,
                              const uint8_t *text, size_t size, drive_bytes *out,
                              isotok_error *error);
isotok_status drive_decode(const drive_model *m, const drive_plan *plan, uint32_t flags,
                           const uint32_t *ids, size_t count, drive_bytes *out,
                           isotok_error *error);
/* `pieces` end to end, `sizes` bytes each. */
isotok_status drive_decode_pieces(const drive_model *m, const drive_plan *plan,
                                  const uint8_t *pieces, const size_t *sizes, size_t count,
                                  drive_bytes *out, isotok_error *error);

void drive_tokens_free(drive_tokens *tokens);
void drive_bytes_free(drive_bytes *bytes);
bool drive_tokens_equal(const drive_tokens *a, const drive_tokens *b);

#endif
