/* One model, a session for each thread: encodes the lines of a file in two or more threads.
 * threads MODEL.isotok FILE [THREADS] */
#include <pthread.h>

#include "example.h"

enum { MOST_THREADS = 64 };

typedef struct job {
    const isotok_model *model;
    const char *text;
    size_t size, first, step; /* lines first, first + step, … */
    size_t ids;               /* result: how many … */
    uint64_t hash;            /* … and a sum over them, which shows a wrong one */
} job;

static void *work(void *argument)
{
    job *j = (job *)argument;
    const char *end = j->text + j->size, *line, *next;
    size_t number = 0;
    tokenizer t;
    tokenizer_open(&t, j->model);
    for (line = j->text; line < end; line = next, number++) {
        next = (const char *)memchr(line, '\n', (size_t)(end - line));
        next = next != NULL ? next + 1 : end;
        if (number % j->step != j->first) continue;
        encode(&t, line, (size_t)(next - line));
        j->ids += t.count;
        for (size_t i = 0; i < t.count; i++) j->hash += (number + 1) * (i + 1) * (t.ids[i] + 1);
    }
    tokenizer_close(&t);
    return NULL;
}

int main(int argc, char **argv)
{
    size_t threads = argc == 4 ? strtoul(argv[3], NULL, 10) : 2;
    if (argc < 3 || threads < 1 || threads > MOST_THREADS) {
        fprintf(stderr, "usage: threads MODEL.isotok FILE [THREADS, 1 to %d]\n", MOST_THREADS);
        return 2;
    }
    size_t blob_size, text_size, i;
    void *blob = read_file(argv[1], &blob_size), *text = read_file(argv[2], &text_size);
    const isotok_model *model = open_model(blob, blob_size);
    pthread_t thread[MOST_THREADS];
    job jobs[MOST_THREADS], sum = {0}, whole = {model, (const char *)text, text_size, 0, 1, 0, 0};
    for (i = 0; i < threads; i++) {
        jobs[i] = whole;
        jobs[i].first = i;
        jobs[i].step = threads;
        if (pthread_create(&thread[i], NULL, work, &jobs[i]) != 0) return 1;
    }
    for (i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum.ids += jobs[i].ids;
        sum.hash += jobs[i].hash;
    }
    work(&whole); /* the same in one thread */
    printf("%zu threads: %zu ids, one: %zu, %s\n", threads, sum.ids, whole.ids,
           sum.hash == whole.hash ? "the same" : "DIFFERENT");
    free(text);
    free((void *)model);
    free(blob);
    return sum.hash == whole.hash ? 0 : 1;
}
