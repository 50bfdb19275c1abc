/* Compiles a SentencePiece `.model` (or a `.spm.fb`) in memory and uses it; with a third argument
 * writes the compiled model to that file, for quick_start.
 * on_the_fly FILE.model TEXT [MODEL.isotok] */
#include "example.h"
#include "isotok_build.h"

/* The compiler names its errors itself. */
static void check_build(isotok_status status, const isotok_error *error)
{
    if (status >= ISOTOK_OK) return;
    fprintf(stderr, "%s, byte %llu (%s)\n",
            isotok_build_name(ISOTOK_NAME_WHAT, (int32_t)error->what),
            (unsigned long long)error->offset, isotok_build_name(ISOTOK_NAME_STATUS, status));
    exit(1);
}

/* The blob, in memory of exactly its size, which is the caller's. */
static void *compile(const void *source, size_t source_size, size_t *out_size)
{
    isotok_error error = {.size = sizeof error};
    isotok_build *build;
    isotok_status status;
    size_t size = 1 << 20;
    void *arena = aligned_memory(size), *blob;
    for (;;) {
        status = isotok_build_init(arena, size, &build, &error);
        if (status == ISOTOK_OK)
            status = isotok_build_source(build, ISOTOK_SOURCE_AUTO, source, source_size, &error);
        if (status == ISOTOK_OK)
            status = isotok_build_finish(build, ISOTOK_FORM_BLOB, NULL, 0, out_size, &error);
        check_build(status, &error);
        if (status != ISOTOK_NEED_SCRATCH) break;
        free(arena); /* too small: start over with what it needs */
        size = (size_t)error.need;
        arena = aligned_memory(size);
    }
    /* NEED_OUTPUT: now the size is known. */
    blob = aligned_memory(*out_size);
    status = isotok_build_finish(build, ISOTOK_FORM_BLOB, blob, *out_size, out_size, &error);
    check_build(status, &error);
    free(arena);
    return blob;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: on_the_fly FILE.model TEXT [MODEL.isotok]\n");
        return 2;
    }
    size_t source_size, blob_size;
    void *source = read_file(argv[1], &source_size);
    void *blob = compile(source, source_size, &blob_size);
    free(source);

    const isotok_model *model = open_model(blob, blob_size);
    tokenizer t;
    tokenizer_open(&t, model);
    encode(&t, argv[2], strlen(argv[2]));
    print_tokens(&t);
    tokenizer_close(&t);
    free((void *)model);

    if (argc == 4) {
        FILE *file = fopen(argv[3], "wb");
        if (file == NULL || fwrite(blob, 1, blob_size, file) != blob_size || fclose(file) != 0) {
            perror(argv[3]);
            return 1;
        }
    }
    free(blob);
    return 0;
}
