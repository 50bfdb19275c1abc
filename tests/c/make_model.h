/* For the C tests: counted checks, SentencePiece models made byte by byte, and a build
 * that retries until its memory is large enough. */
#ifndef ISOTOK_TEST_MAKE_MODEL_H
#define ISOTOK_TEST_MAKE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isotok_build.h"

/* Counts; a failure prints file, line and condition. */
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
bool test_check(bool ok, const char *file, int line, const char *text);
/* Prints "N passed, N failed"; the exit code. */
int test_result(void);

/* A growing file of protobuf fields. */
typedef struct maker {
    uint8_t *data;
    size_t size, capacity;
} maker;

void maker_free(maker *m);
void put_raw(maker *m, const void *data, size_t size);
void put_varint(maker *m, uint64_t value);
void put_number(maker *m, uint32_t field, uint64_t value);
void put_bytes(maker *m, uint32_t field, const void *data, size_t size);
void put_float(maker *m, uint32_t field, float value);
/* One entry of ModelProto.pieces. */
void put_piece(maker *m, const char *text, float score, uint32_t type);
void put_piece_bytes(maker *m, const void *text, size_t size, float score, uint32_t type);
/* <unk>, <s>, </s>. */
void put_specials(maker *m);
/* <0x00> .. <0xFF>. */
void put_byte_pieces(maker *m);
void put_trainer(maker *m, uint32_t model_type, bool byte_fallback);
/* normalizer_spec with a charsmap. */
void put_charsmap(maker *m, const void *data, size_t size);

/* Builds `form` from a source; the blob is 64-aligned and the caller's to free. */
isotok_status build_source(const void *source, size_t size, uint32_t form, uint8_t **out_blob,
                           size_t *out_size, isotok_error *error);
/* The same with a kind of source (ISOTOK_SOURCE_…). */
isotok_status build_source_as(uint32_t kind, const void *source, size_t size, uint32_t form,
                              uint8_t **out_blob, size_t *out_size, isotok_error *error);
/* Memory of a size for a build, 64-aligned. */
void *aligned_memory(size_t size);

#endif
