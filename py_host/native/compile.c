/* compile.c: runs the model compiler (core/build). */
#include <stdlib.h>
#if defined __GLIBC__
#include <malloc.h>
#endif

#include "isotok_build.h"
#include "native.h"

typedef struct {
    const Py_buffer *source;
    char *added; /* for isotok_build_added, or NULL */
    Py_ssize_t added_size;
    uint32_t kind, form;
    void *arena; /* 64-aligned inside `raw` */
    void *raw;
    size_t arena_size;
    isotok_build *build;
    isotok_error error;
} compile_job;

static bool arena_new(compile_job *job, size_t size)
{
    free(job->raw);
    job->raw = NULL;
    job->arena = aligned_malloc(size, &job->raw);
    job->arena_size = size;
    return job->arena != NULL;
}

static isotok_status read_source(compile_job *job)
{
    isotok_status status = isotok_build_init(job->arena, job->arena_size, &job->build, &job->error);
    if (status != ISOTOK_OK) return status;
    status = isotok_build_source(job->build, job->kind, job->source->buf, (size_t)job->source->len,
                                 &job->error);
    if (status != ISOTOK_OK || job->added_size == 0) return status;
    return isotok_build_added(job->build, job->added, (size_t)job->added_size, &job->error);
}

/* Untouched memory costs nothing, so the first arena is generous. */
static size_t first_arena(const compile_job *job)
{
    return ((size_t)job->source->len * 16) + ((size_t)4 << 20);
}

/* One attempt with the arena as it is. NEED_OUTPUT does not come out of it. */
static isotok_status compile_try(compile_job *job, module_state *state, PyObject **out_buffer)
{
    size_t capacity = (size_t)job->source->len * 4 + 65536, size = 0;
    PyThreadState *released = PyEval_SaveThread();
    isotok_status status = read_source(job);
    PyEval_RestoreThread(released);
    while (status == ISOTOK_OK) {
        void *memory;
        PyObject *buffer = buffer_new(state, capacity, &memory);
        if (buffer == NULL) return ISOTOK_E_TOO_LARGE;
        released = PyEval_SaveThread();
        status = isotok_build_finish(job->build, job->form, memory, capacity, &size, &job->error);
        PyEval_RestoreThread(released);
        if (status == ISOTOK_OK) {
            buffer_truncate(buffer, size);
            *out_buffer = buffer;
            return status;
        }
        Py_DECREF(buffer);
        if (status == ISOTOK_NEED_OUTPUT && size > capacity) {
            capacity = size;
            status = ISOTOK_OK;
        }
    }
    return status;
}

/* Reading a file in Python has freed several times its size: it need not be resident beside the
 * arena. */
static void give_back(size_t source_size)
{
#if defined __GLIBC__
    if (source_size > (1u << 18)) malloc_trim(0);
#else
    (void)source_size;
#endif
}

static PyObject *compile_source(module_state *state, compile_job *job)
{
    PyObject *buffer = NULL;
    size_t size = first_arena(job);
    isotok_status status;
    do {
        if (!arena_new(job, size)) return PyErr_NoMemory();
        status = compile_try(job, state, &buffer);
        size = job->error.need > 2 * size ? (size_t)job->error.need : 2 * size;
    } while (status == ISOTOK_NEED_SCRATCH);
    if (status == ISOTOK_OK || PyErr_Occurred()) return buffer;
    job->error.status = status;
    return raise_error(state, &job->error, "source");
}

/* compile(source, kind, form[, added]) -> Buffer; see isotok_build.h. `added` is bytes. */
PyObject *module_compile(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    Py_buffer source;
    compile_job job = {.source = &source, .error = error_new()};
    if (!arguments("compile", count, count == 4 ? 4 : 3) || !argument_u32(args[1], &job.kind) ||
        !argument_u32(args[2], &job.form) ||
        (count == 4 && PyBytes_AsStringAndSize(args[3], &job.added, &job.added_size) < 0))
        return NULL;
    if (PyObject_GetBuffer(args[0], &source, PyBUF_SIMPLE) < 0) return NULL;
    give_back((size_t)source.len);
    PyObject *buffer = compile_source(PyModule_GetState(module), &job);
    free(job.raw);
    PyBuffer_Release(&source);
    return buffer;
}
