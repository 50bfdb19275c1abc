/* Counts heap allocations: opening a mapped blob of 256K pieces takes less than 2,048 bytes
 * (the caller's view of the model), encoding and decoding take none once a session is there.
 * Builds its own large model. Skipped under a sanitizer, which has an allocator of its own,
 * and where the tests are linked statically for an emulator. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drive.h"
#include "make_model.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif

#if defined(SANITIZED) || !defined(__GLIBC__) || !defined(__x86_64__)

int main(void)
{
    puts("skipped test_heap: the allocator cannot be counted in this build");
    puts("0 passed, 0 failed, 1 skipped");
    return 0;
}

#else

static size_t allocations, allocated;

/* The C library's own, which these stand in front of. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count(size_t size)
{
    allocations++;
    allocated += size;
}

void *malloc(size_t size)
{
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size)
{
    count(size);
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    count(size);
    return __libc_memalign(alignment, size);
}

enum { PIECES = 262144 };

/* Words of four letters out of 23, each a piece. */
static void make_large_model(maker *m)
{
    put_specials(m);
    put_byte_pieces(m);
    for (unsigned i = 0; i + 259 < PIECES; i++) {
        char text[8];
        unsigned rest = i;
        for (unsigned k = 0; k < 4; k++, rest /= 23) {
            text[k] = (char)('a' + rest % 23);
        }
        put_piece_bytes(m, text, 4, -1.0f - (float)(i % 1000) / 100, ISOTOK_NORMAL);
    }
    put_trainer(m, ISOTOK_UNIGRAM, true);
}

/* The blob in a file that is then mapped. */
static void *map_blob(const uint8_t *blob, size_t size)
{
    FILE *file = tmpfile();
    void *mapped = MAP_FAILED;
    if (file != NULL && fwrite(blob, 1, size, file) == size && fflush(file) == 0) {
        mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        fclose(file);
    }
    return mapped;
}

static void fill_text(uint8_t *text, size_t size)
{
    uint32_t state = 1;
    for (size_t i = 0; i < size; i++) {
        state = state * 1664525u + 1013904223u;
        text[i] = (state >> 28) == 0   ? ' '
                  : (state >> 28) == 1 ? 0xE3
                                       : (uint8_t)('a' + (state >> 20) % 26);
    }
}

static void check_use(const isotok_model *model)
{
    enum { TEXT = 100000, ROOM = 300000 };
    isotok_info info = {.size = sizeof info};
    CHECK(isotok_model_info(model, &info) == ISOTOK_OK);
    uint8_t *text = aligned_memory(TEXT), *out = aligned_memory(ROOM);
    uint32_t *ids = aligned_memory(ROOM * sizeof *ids);
    void *memory = aligned_memory(info.session_size);
    isotok_session *session = NULL;
    isotok_error error = {.size = sizeof error};
    fill_text(text, TEXT);
    size_t before = allocations;
    CHECK(isotok_session_init(model, memory, info.session_size, &session, &error) == ISOTOK_OK);
    for (int round = 0; round < 3; round++) {
        isotok_input input = {text, TEXT, 0, ISOTOK_PART_LAST};
        isotok_output output = {.ids = ids, .capacity = ROOM};
        size_t consumed = 0, written = 0;
        CHECK(isotok_encode_begin(session, NULL, &error) == ISOTOK_OK);
        CHECK(isotok_encode_step(session, &input, &output, &error) == ISOTOK_OK);
        CHECK(output.count > TEXT / 4 / 2);
        CHECK(isotok_decode_begin(session, 0, &error) == ISOTOK_OK);
        CHECK(isotok_decode_step(session, ids, output.count, &consumed, 1, out, ROOM, &written,
                                 &error) == ISOTOK_OK);
        CHECK(written >= TEXT / 2);
    }
    CHECK(allocations == before);
    free(text);
    free(out);
    free(ids);
    free(memory);
}

int main(void)
{
    maker m = {0};
    uint8_t *blob = NULL;
    size_t size = 0;
    isotok_error error = {.size = sizeof error};
    make_large_model(&m);
    CHECK(build_source(m.data, m.size, ISOTOK_FORM_BLOB, &blob, &size, &error) == ISOTOK_OK);
    void *mapped = map_blob(blob, size);
    if (!CHECK(mapped != MAP_FAILED)) {
        return test_result();
    }
    free(blob);
    maker_free(&m);

    const isotok_model *model = NULL;
    size_t count_before = allocations, bytes_before = allocated;
    void *view = malloc(isotok_model_size());
    CHECK(isotok_model_open(mapped, size, ISOTOK_VERIFY_SAFE, view, isotok_model_size(), &model,
                            &error) == ISOTOK_OK);
    CHECK(allocations - count_before == 1); /* which also shows that counting works */
    CHECK(allocated - bytes_before < 2048);
    printf("%u pieces, blob of %lu bytes: %lu bytes of heap\n", (unsigned)PIECES,
           (unsigned long)size, (unsigned long)(allocated - bytes_before));
    check_use(model);
    free(view);
    munmap(mapped, size);
    return test_result();
}

#endif
