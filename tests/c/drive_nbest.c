/* See drive_nbest.h. */
#include "drive_nbest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_model.h"

typedef struct nbest_memory {
    isotok_session *session;
    void *session_memory, *work;
    size_t session_size, work_size, capacity;
} nbest_memory;

static void require_more(bool more)
{
    if (!more) {
        fputs("nbest asks for no more than there is\n", stderr);
        abort();
    }
}

static isotok_status grow_session(nbest_memory *memory, isotok_error *error)
{
    size_t size = (size_t)error->need;
    void *larger = aligned_memory(size);
    isotok_status status;
    require_more(size > memory->session_size);
    memset(larger, 0x5A, size);
    status = isotok_session_move(memory->session, larger, size, &memory->session, error);
    memset(memory->session_memory, 0xDD, memory->session_size);
    free(memory->session_memory);
    memory->session_memory = larger;
    memory->session_size = size;
    return status;
}

static void set_work(nbest_memory *memory, size_t size)
{
    free(memory->work);
    memory->work = size > 0 ? aligned_memory(size) : NULL;
    memory->work_size = size;
    if (size > 0) {
        memset(memory->work, 0xA5, size);
    }
}

/* Encodes the text in the session first: nothing of that must be left in it. */
static isotok_status use_session(nbest_memory *memory, const uint8_t *text, size_t size,
                                 isotok_error *error)
{
    const isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_COUNT_ONLY};
    isotok_input input = {text, size, 0, ISOTOK_PART_LAST};
    isotok_output output = {0};
    isotok_status status = isotok_encode_begin(memory->session, &options, error);
    while (status == ISOTOK_OK || status == ISOTOK_NEED_SCRATCH) {
        status = isotok_encode_step(memory->session, &input, &output, error);
        if (status == ISOTOK_OK) {
            break;
        }
        if (status == ISOTOK_NEED_SCRATCH) {
            status = grow_session(memory, error);
        }
    }
    return status;
}

/* Provides what is missing; false: `*status` is final. */
static bool provide(nbest_memory *memory, drive_paths *out, isotok_status *status,
                    isotok_error *error)
{
    if (*status == ISOTOK_NEED_OUTPUT) {
        out->outputs++;
        require_more(error->need > memory->capacity);
        memory->capacity = (size_t)error->need;
        free(out->ids);
        out->ids = aligned_memory(memory->capacity * sizeof(uint32_t));
        return true;
    }
    if (*status == ISOTOK_NEED_SCRATCH && error->what == ISOTOK_WHAT_NBEST_MEMORY) {
        out->works++;
        require_more(error->need > memory->work_size);
        set_work(memory, (size_t)error->need);
        return true;
    }
    if (*status == ISOTOK_NEED_SCRATCH) {
        out->moves++;
        *status = grow_session(memory, error);
        return *status == ISOTOK_OK;
    }
    return false;
}

isotok_status drive_nbest(const drive_model *m, const isotok_encode_options *options,
                          const uint8_t *text, size_t size, uint32_t n, size_t work_size,
                          drive_paths *out, isotok_error *error)
{
    nbest_memory memory = {.session_size = m->info.session_min};
    isotok_output output;
    isotok_status status;
    memset(out, 0, sizeof *out);
    error->size = sizeof *error;
    memory.session_memory = aligned_memory(memory.session_size);
    set_work(&memory, work_size);
    status = isotok_session_init(m->model, memory.session_memory, memory.session_size,
                                 &memory.session, error);
    if (status == ISOTOK_OK) {
        status = use_session(&memory, text, size, error);
    }
    do {
        if (status < 0) {
            break;
        }
        output = (isotok_output){.ids = out->ids, .capacity = memory.capacity};
        status = isotok_nbest(memory.session, options, text, size, n, memory.work, memory.work_size,
                              &output, out->ends, out->scores, &out->count, error);
    } while (provide(&memory, out, &status, error));
    if (status == ISOTOK_OK &&
        (out->count < 1 || out->count > n || output.count != out->ends[out->count - 1])) {
        fputs("nbest: counts do not fit\n", stderr);
        abort();
    }
    free(memory.session_memory);
    free(memory.work);
    return status;
}

void drive_paths_free(drive_paths *paths)
{
    free(paths->ids);
    memset(paths, 0, sizeof *paths);
}
