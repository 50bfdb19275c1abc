/* What on_the_fly.c, threads.c, cache.c and train.c share: errors, memory, files, and encode and
 * decode with sessions that grow. quick_start.c shows the same calls without it. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isotok.h"

/* A tokenizer of one thread. */
typedef struct tokenizer {
    const isotok_model *model; /* may be shared */
    isotok_session *session;
    void *memory; /* of the session */
    uint32_t *ids;
    size_t count, capacity;
} tokenizer;

static inline void check(isotok_status status, const isotok_error *error)
{
    if (status >= ISOTOK_OK) return;
    fprintf(stderr, "%s, byte %llu (%s)\n", isotok_name(ISOTOK_NAME_WHAT, (int32_t)error->what),
            (unsigned long long)error->offset, isotok_name(ISOTOK_NAME_STATUS, status));
    exit(1);
}

/* Memory of at least `size` bytes, 64-aligned as models, sessions and caches want it. */
static inline void *aligned_memory(size_t size)
{
    void *memory = aligned_alloc(64, (size + 64) & ~(size_t)63);
    if (memory == NULL) {
        fprintf(stderr, "no memory: %zu bytes\n", size);
        exit(1);
    }
    return memory;
}

static inline void *read_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    long size = file != NULL && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0) {
        perror(path);
        exit(1);
    }
    rewind(file);
    void *data = aligned_memory((size_t)size);
    *out_size = fread(data, 1, (size_t)size, file);
    fclose(file);
    return data;
}

/* The view of a blob; both are freed by the caller when no session uses them any more. */
static inline const isotok_model *open_model(const void *blob, size_t size)
{
    isotok_error error = {.size = sizeof error};
    const isotok_model *model;
    check(isotok_model_open(blob, size, ISOTOK_VERIFY_SAFE, aligned_memory(isotok_model_size()),
                            isotok_model_size(), &model, &error),
          &error);
    return model;
}

static inline void grow_ids(tokenizer *t)
{
    t->capacity = 2 * t->capacity + 64;
    t->ids = (uint32_t *)realloc(t->ids, t->capacity * sizeof *t->ids);
    if (t->ids == NULL) exit(1);
}

static inline void tokenizer_open(tokenizer *t, const isotok_model *model)
{
    isotok_error error = {.size = sizeof error};
    isotok_info info = {.size = sizeof info};
    check(isotok_model_info(model, &info), &error);
    *t = (tokenizer){.model = model, .memory = aligned_memory(info.session_size)};
    check(isotok_session_init(model, t->memory, info.session_size, &t->session, &error), &error);
    grow_ids(t);
}

static inline void tokenizer_close(tokenizer *t)
{
    free(t->memory);
    free(t->ids);
}

static inline void grow_session(tokenizer *t, isotok_error *error)
{
    void *memory = aligned_memory((size_t)error->need);
    check(isotok_session_move(t->session, memory, (size_t)error->need, &t->session, error), error);
    free(t->memory);
    t->memory = memory;
}

/* Encodes `text` to t->ids[0..t->count). */
static inline void encode(tokenizer *t, const void *text, size_t size)
{
    isotok_error error = {.size = sizeof error};
    isotok_input input = {.text = (const uint8_t *)text, .size = size, .part = ISOTOK_PART_LAST};
    isotok_status status;
    t->count = 0;
    check(isotok_encode_begin(t->session, NULL, &error), &error);
    do {
        isotok_output output = {.ids = t->ids + t->count, .capacity = t->capacity - t->count};
        status = isotok_encode_step(t->session, &input, &output, &error);
        check(status, &error);
        t->count += output.count;
        if (status == ISOTOK_NEED_OUTPUT) grow_ids(t);
        if (status == ISOTOK_NEED_SCRATCH) grow_session(t, &error);
    } while (status != ISOTOK_OK);
}

/* Prints the ids and the text that they decode to. */
static inline void print_tokens(tokenizer *t)
{
    isotok_error error = {.size = sizeof error};
    isotok_status status;
    uint8_t buffer[64];
    size_t consumed = 0, size;
    printf("ids:");
    for (size_t i = 0; i < t->count; i++) printf(" %u", t->ids[i]);
    printf("\ntext: ");
    check(isotok_decode_begin(t->session, 0, &error), &error);
    do {
        status = isotok_decode_step(t->session, t->ids, t->count, &consumed, 1, buffer,
                                    sizeof buffer, &size, &error);
        check(status, &error);
        fwrite(buffer, 1, size, stdout);
        if (status == ISOTOK_NEED_SCRATCH) grow_session(t, &error);
    } while (status != ISOTOK_OK);
    printf("\n");
}

#endif
