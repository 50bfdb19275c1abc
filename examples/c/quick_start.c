/* Maps a model into memory, encodes a text and decodes its ids.
 * quick_start MODEL.isotok TEXT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "isotok.h"

static isotok_error error = {.size = sizeof error};

static void check(isotok_status status)
{
    if (status >= ISOTOK_OK) return;
    fprintf(stderr, "%s (%s)\n", isotok_name(ISOTOK_NAME_WHAT, (int32_t)error.what),
            isotok_name(ISOTOK_NAME_STATUS, status));
    exit(1);
}

/* Only for a long stretch that cannot be cut: moves the session to as much memory as it asks for. */
static void grow(isotok_session **session, void **memory)
{
    void *larger = aligned_alloc(64, (size_t)(error.need + 63) & ~(size_t)63);
    check(isotok_session_move(*session, larger, (size_t)error.need, session, &error));
    free(*memory);
    *memory = larger;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: quick_start MODEL.isotok TEXT\n");
        return 2;
    }
    int file = open(argv[1], O_RDONLY);
    struct stat stat;
    if (file < 0 || fstat(file, &stat) != 0) {
        perror(argv[1]);
        return 1;
    }

    /* The model stays in the file: opening reads it once, allocates nothing, and any bytes are
     * safe to open. */
    size_t blob_size = (size_t)stat.st_size;
    void *blob = mmap(NULL, blob_size, PROT_READ, MAP_PRIVATE, file, 0);
    void *view = malloc(isotok_model_size());
    const isotok_model *model;
    check(isotok_model_open(blob, blob_size, ISOTOK_VERIFY_SAFE, view, isotok_model_size(), &model,
                            &error));

    /* A session is the working memory of one thread. */
    isotok_info info = {.size = sizeof info};
    check(isotok_model_info(model, &info));
    void *memory = aligned_alloc(64, info.session_size);
    isotok_session *session;
    check(isotok_session_init(model, memory, info.session_size, &session, &error));

    /* A text of n bytes has at most n * max_expansion + 16 ids. */
    const uint8_t *text = (const uint8_t *)argv[2];
    uint32_t text_end = (uint32_t)strlen(argv[2]), id_end;
    isotok_output output = {.capacity = (size_t)text_end * info.max_expansion + 16};
    size_t texts_done = 0;
    output.ids = malloc(output.capacity * sizeof *output.ids);
    isotok_status status;
    do {
        status = isotok_encode_batch(session, NULL, text, &text_end, 1, &texts_done, &output,
                                     &id_end, &error);
        check(status);
        if (status == ISOTOK_NEED_SCRATCH) grow(&session, &memory);
    } while (status != ISOTOK_OK);
    printf("ids:");
    for (size_t i = 0; i < output.count; i++) printf(" %u", output.ids[i]);

    /* Decoding hands the text out as the buffer fills. */
    char buffer[64];
    size_t consumed = 0, size;
    printf("\ntext: ");
    check(isotok_decode_begin(session, 0, &error));
    do {
        status = isotok_decode_step(session, output.ids, output.count, &consumed, 1,
                                    (uint8_t *)buffer, sizeof buffer, &size, &error);
        check(status);
        fwrite(buffer, 1, size, stdout);
        if (status == ISOTOK_NEED_SCRATCH) grow(&session, &memory);
    } while (status != ISOTOK_OK);
    printf("\n");

    free(output.ids);
    free(memory);
    free(view);
    munmap(blob, blob_size);
    return 0;
}
