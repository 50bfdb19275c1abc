/* One text of any length through two sessions, with a token cache and without: are their ids the
 * same to the last?
 *
 *     cache_stream MODEL CACHE_BYTES <TEXT
 *
 * Prints "name value" lines. The text is one: the score is carried through all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "drive.h"
#include "make_model.h"

#define PART (1u << 20)
#define IDS (1u << 18)

typedef struct stream {
    isotok_session *session;
    void *memory;
    size_t memory_size;
    uint32_t ids[IDS];
    size_t count; /* ids of this part */
    double seconds;
} stream;

static double now(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static stream *stream_new(const drive_model *m)
{
    stream *s = calloc(1, sizeof *s);
    if (s == NULL) {
        exit(2);
    }
    s->memory_size = m->info.session_size;
    s->memory = aligned_memory(s->memory_size);
    if (isotok_session_init(m->model, s->memory, s->memory_size, &s->session, NULL) != ISOTOK_OK) {
        exit(2);
    }
    return s;
}

static void grow(stream *s, size_t size)
{
    void *memory = aligned_memory(size);
    if (isotok_session_move(s->session, memory, size, &s->session, NULL) != ISOTOK_OK) {
        exit(2);
    }
    free(s->memory);
    s->memory = memory;
    s->memory_size = size;
}

/* Ids until the buffer is full or the part is consumed; the status says which. */
static isotok_status run(stream *s, isotok_input *input)
{
    const double begin = now();
    isotok_status status;
    s->count = 0;
    do {
        isotok_error error = {.size = sizeof error};
        isotok_output output = {.ids = s->ids + s->count, .capacity = IDS - s->count};
        status = isotok_encode_step(s->session, input, &output, &error);
        s->count += output.count;
        if (status == ISOTOK_NEED_SCRATCH) {
            grow(s, (size_t)error.need);
        }
    } while (status == ISOTOK_NEED_SCRATCH);
    s->seconds += now() - begin;
    if (status < 0) {
        fprintf(stderr, "status %d\n", status);
        exit(2);
    }
    return status;
}

int main(int argc, char **argv)
{
    drive_model m;
    isotok_cache_info info = {.size = sizeof info};
    uint64_t bytes = 0, tokens = 0, parts = 0, differing = 0;
    size_t kept = 0;
    if (argc != 3 || !drive_open_file(&m, argv[1])) {
        return 2;
    }
    stream *streams[2] = {stream_new(&m), stream_new(&m)};
    const size_t cache_size = strtoul(argv[2], NULL, 10);
    void *cache = aligned_memory(cache_size);
    memset(cache, 0, cache_size);
    if (isotok_session_cache(streams[0]->session, cache, cache_size, NULL) != ISOTOK_OK) {
        return 2;
    }
    uint8_t *text = aligned_memory(PART + m.info.max_key_bytes);
    isotok_encode_begin(streams[0]->session, NULL, NULL);
    isotok_encode_begin(streams[1]->session, NULL, NULL);
    for (bool last = false; !last;) {
        const size_t got = fread(text + kept, 1, PART, stdin);
        isotok_input inputs[2];
        isotok_status status;
        last = got < PART;
        bytes += got;
        inputs[0] = (isotok_input){text, kept + got, 0, last ? ISOTOK_PART_LAST : 0};
        inputs[1] = inputs[0];
        do {
            status = run(streams[0], &inputs[0]);
            if (run(streams[1], &inputs[1]) != status || streams[0]->count != streams[1]->count ||
                memcmp(streams[0]->ids, streams[1]->ids, streams[0]->count * 4) != 0) {
                differing++;
            }
            tokens += streams[0]->count;
            parts++;
        } while (status == ISOTOK_NEED_OUTPUT);
        kept = inputs[0].size - inputs[0].consumed;
        if (inputs[1].consumed != inputs[0].consumed) {
            differing++;
        }
        memmove(text, text + inputs[0].consumed, kept);
    }
    if (isotok_session_cache_info(streams[0]->session, &info) != ISOTOK_OK) {
        return 2;
    }
    printf("bytes %llu\ntokens %llu\nparts %llu\ndiffering %llu\n", (unsigned long long)bytes,
           (unsigned long long)tokens, (unsigned long long)parts, (unsigned long long)differing);
    printf("probes %llu\nhits %llu\nuncertified %llu\nbypassed %llu\n",
           (unsigned long long)info.probes, (unsigned long long)info.hits,
           (unsigned long long)info.uncertified, (unsigned long long)info.bypassed);
    printf("cached_seconds %.3f\nseconds %.3f\n", streams[0]->seconds, streams[1]->seconds);
    return differing != 0;
}
