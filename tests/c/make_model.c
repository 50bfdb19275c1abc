/* Helpers of the C tests: see make_model.h. */
#include "make_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned passed, failed;

bool test_check(bool ok, const char *file, int line, const char *text)
{
    if (ok) {
        passed++;
    } else {
        failed++;
        fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
    }
    return ok;
}

int test_result(void)
{
    printf("%u passed, %u failed, 0 skipped\n", passed, failed);
    return failed == 0 ? 0 : 1;
}

/* A test without memory cannot go on. */
static void *must(void *p)
{
    if (p == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return p;
}

void *aligned_memory(size_t size)
{
    return must(aligned_alloc(64, (size + 63) & ~(size_t)63));
}

void maker_free(maker *m)
{
    free(m->data);
    memset(m, 0, sizeof *m);
}

void put_raw(maker *m, const void *data, size_t size)
{
    if (m->size + size > m->capacity) {
        m->capacity = 2 * (m->size + size) + 64;
        m->data = must(realloc(m->data, m->capacity));
    }
    if (size > 0) {
        memcpy(m->data + m->size, data, size);
    }
    m->size += size;
}

void put_varint(maker *m, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    for (; value > 0x7F; value >>= 7) {
        bytes[n++] = (uint8_t)(value | 0x80);
    }
    bytes[n++] = (uint8_t)value;
    put_raw(m, bytes, n);
}

void put_number(maker *m, uint32_t field, uint64_t value)
{
    put_varint(m, (uint64_t)field << 3);
    put_varint(m, value);
}

void put_bytes(maker *m, uint32_t field, const void *data, size_t size)
{
    put_varint(m, (uint64_t)field << 3 | 2);
    put_varint(m, size);
    put_raw(m, data, size);
}

void put_float(maker *m, uint32_t field, float value)
{
    put_varint(m, (uint64_t)field << 3 | 5);
    put_raw(m, &value, 4);
}

void put_piece_bytes(maker *m, const void *text, size_t size, float score, uint32_t type)
{
    maker piece = {0};
    put_bytes(&piece, 1, text, size);
    put_float(&piece, 2, score);
    put_number(&piece, 3, type);
    put_bytes(m, 1, piece.data, piece.size);
    maker_free(&piece);
}

void put_piece(maker *m, const char *text, float score, uint32_t type)
{
    put_piece_bytes(m, text, strlen(text), score, type);
}

void put_specials(maker *m)
{
    put_piece(m, "<unk>", 0, ISOTOK_UNKNOWN);
    put_piece(m, "<s>", 0, ISOTOK_CONTROL);
    put_piece(m, "</s>", 0, ISOTOK_CONTROL);
}

void put_byte_pieces(maker *m)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char text[8];
        snprintf(text, sizeof text, "<0x%02X>", byte);
        put_piece(m, text, 0, ISOTOK_BYTE);
    }
}

void put_trainer(maker *m, uint32_t model_type, bool byte_fallback)
{
    maker trainer = {0};
    put_number(&trainer, 3, model_type);
    put_number(&trainer, 35, byte_fallback);
    put_bytes(m, 2, trainer.data, trainer.size);
    maker_free(&trainer);
}

void put_charsmap(maker *m, const void *data, size_t size)
{
    maker normalizer = {0};
    put_bytes(&normalizer, 2, data, size);
    put_bytes(m, 3, normalizer.data, normalizer.size);
    maker_free(&normalizer);
}

/* One attempt with `memory_size` bytes. */
static isotok_status attempt(uint32_t kind, const void *source, size_t size, uint32_t form,
                             void *memory, size_t memory_size, uint8_t **out_blob, size_t *out_size,
                             isotok_error *error)
{
    isotok_build *build;
    isotok_status status = isotok_build_init(memory, memory_size, &build, error);
    if (status == ISOTOK_OK) {
        status = isotok_build_source(build, kind, source, size, error);
    }
    if (status == ISOTOK_OK) {
        status = isotok_build_finish(build, form, NULL, 0, out_size, error);
    }
    if (status == ISOTOK_NEED_OUTPUT) {
        *out_blob = aligned_memory(*out_size);
        status = isotok_build_finish(build, form, *out_blob, *out_size, out_size, error);
    }
    return status;
}

isotok_status build_source(const void *source, size_t size, uint32_t form, uint8_t **out_blob,
                           size_t *out_size, isotok_error *error)
{
    return build_source_as(ISOTOK_SOURCE_AUTO, source, size, form, out_blob, out_size, error);
}

isotok_status build_source_as(uint32_t kind, const void *source, size_t size, uint32_t form,
                              uint8_t **out_blob, size_t *out_size, isotok_error *error)
{
    size_t memory_size = 4096;
    isotok_status status;
    *out_blob = NULL;
    for (;;) {
        void *memory = aligned_memory(memory_size);
        memset(error, 0, sizeof *error);
        error->size = sizeof *error;
        status = attempt(kind, source, size, form, memory, memory_size, out_blob, out_size, error);
        free(memory);
        if (status != ISOTOK_NEED_SCRATCH) {
            return status;
        }
        if (!CHECK(error->need >= 2 * (uint64_t)memory_size - 4096)) {
            return status;
        }
        memory_size = ((size_t)error->need + 63) & ~(size_t)63;
    }
}
