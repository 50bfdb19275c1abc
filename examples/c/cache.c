/* A token cache: the session remembers how it segmented what lies between two cuts. Encodes a
 * file twice with it and once without; the ids are always the same.
 * cache MODEL.isotok FILE */
#include "example.h"

#define CACHE_SIZE ((size_t)1 << 20)

static void print_counts(const char *what, const tokenizer *t)
{
    isotok_error error = {.size = sizeof error};
    isotok_cache_info info = {.size = sizeof info};
    check(isotok_session_cache_info(t->session, &info), &error);
    printf("%s: %zu ids; %llu of %llu chunks from the cache, %u fit\n", what, t->count,
           (unsigned long long)info.hits, (unsigned long long)info.probes, info.entries);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: cache MODEL.isotok FILE\n");
        return 2;
    }
    isotok_error error = {.size = sizeof error};
    size_t blob_size, text_size;
    void *blob = read_file(argv[1], &blob_size), *text = read_file(argv[2], &text_size);
    const isotok_model *model = open_model(blob, blob_size);
    tokenizer cached, plain;
    tokenizer_open(&cached, model);
    tokenizer_open(&plain, model);

    /* All zero at first; from then on it belongs to the session and outlives its moves. */
    void *cache = memset(aligned_memory(CACHE_SIZE), 0, CACHE_SIZE);
    check(isotok_session_cache(cached.session, cache, CACHE_SIZE, &error), &error);

    encode(&cached, text, text_size);
    print_counts("first", &cached);
    encode(&cached, text, text_size);
    print_counts("again", &cached);
    encode(&plain, text, text_size);
    int same = plain.count == cached.count &&
               memcmp(plain.ids, cached.ids, plain.count * sizeof *plain.ids) == 0;
    printf("without: %zu ids, %s\n", plain.count, same ? "the same" : "DIFFERENT");

    tokenizer_close(&plain);
    tokenizer_close(&cached);
    free(cache);
    free((void *)model);
    free(text);
    free(blob);
    return same ? 0 : 1;
}
