/* sample.c: text -> ids of a sample, or of the n best segmentations. */
#include <stdlib.h>

#include "native.h"

#define FIRST_WORK_SIZE (1u << 18) /* bytes that a search for the n best begins with */

/* sample(text, flags, alpha, seed) -> list[int] */
PyObject *model_sample(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    if (!arguments("sample", count, 4) || !argument_u32(args[1], &options.flags) ||
        !argument_double(args[2], &options.alpha) || !argument_u64(args[3], &options.seed))
        return NULL;
    native_call call;
    size_t total;
    if (!call_open_text(&call, self, args[0])) return NULL;
    if (!call_hold(&call, encode_run(&call, &options, &total), "text")) return NULL;
    PyObject *list = list_of_ids(call.self, call.box->ids, total);
    call_close(&call);
    return list;
}

/* The n best paths: where they go, and the search's work space. */
typedef struct {
    uint32_t n;
    uint32_t *ends; /* [n] */
    float *scores;  /* [n] */
    size_t count;
    void *work, *raw; /* 64-aligned, inside what malloc returned */
    size_t work_size;
} nbest_lists;

static isotok_status grow_work(nbest_lists *lists, uint64_t need)
{
    free(lists->raw);
    lists->raw = NULL;
    lists->work_size = 0;
    lists->work = need <= SIZE_MAX / 2 ? aligned_malloc((size_t)need, &lists->raw) : NULL;
    if (lists->work == NULL) return ISOTOK_E_TOO_LARGE;
    lists->work_size = (size_t)need;
    return ISOTOK_OK;
}

/* Provides what `status` says is missing. */
static isotok_status provide(native_call *call, nbest_lists *lists, isotok_status status)
{
    if (status == ISOTOK_NEED_OUTPUT)
        return box_grow_ids(call->box, (size_t)call->error.need) ? ISOTOK_OK : ISOTOK_E_TOO_LARGE;
    if (call->error.what == ISOTOK_WHAT_NBEST_MEMORY) return grow_work(lists, call->error.need);
    return box_grow_session(call->box, &call->error);
}

static isotok_status nbest_run(native_call *call, const isotok_encode_options *options,
                               nbest_lists *lists)
{
    isotok_status status = grow_work(lists, FIRST_WORK_SIZE);
    while (status >= 0) {
        isotok_output output = {.ids = call->box->ids, .capacity = call->box->ids_capacity};
        status = isotok_nbest(call->box->session, options, call->text.data, call->text.size,
                              lists->n, lists->work, lists->work_size, &output, lists->ends,
                              lists->scores, &lists->count, &call->error);
        if (status <= ISOTOK_OK) return status;
        status = provide(call, lists, status);
    }
    return status;
}

/* ([ids of each path], [score of each path]) */
static PyObject *nbest_result(const native_call *call, const nbest_lists *lists)
{
    PyObject *ids = PyList_New((Py_ssize_t)lists->count);
    PyObject *scores = PyList_New((Py_ssize_t)lists->count);
    bool good = ids != NULL && scores != NULL;
    for (size_t i = 0; i < lists->count && good; i++) {
        uint32_t begin = i > 0 ? lists->ends[i - 1] : 0;
        PyObject *path = list_of_ids(call->self, call->box->ids + begin, lists->ends[i] - begin);
        PyObject *score = PyFloat_FromDouble((double)lists->scores[i]);
        good = path != NULL && score != NULL;
        /* both are stolen, NULL too */
        PyList_SetItem(ids, (Py_ssize_t)i, path);
        PyList_SetItem(scores, (Py_ssize_t)i, score);
    }
    PyObject *result = good ? PyTuple_Pack(2, ids, scores) : NULL;
    Py_XDECREF(ids);
    Py_XDECREF(scores);
    return result;
}

static PyObject *nbest(PyObject *self, PyObject *text, const isotok_encode_options *options,
                       nbest_lists *lists)
{
    native_call call;
    if (!call_open_text(&call, self, text)) return NULL;
    if (!call_hold(&call, nbest_run(&call, options, lists), "text")) return NULL;
    PyObject *result = nbest_result(&call, lists);
    call_close(&call);
    return result;
}

/* nbest(text, flags, n, alpha, seed) -> (list[list[int]], list[float]) */
PyObject *model_nbest(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    nbest_lists lists = {0};
    if (!arguments("nbest", count, 5) || !argument_u32(args[1], &options.flags) ||
        !argument_u32(args[2], &lists.n) || !argument_double(args[3], &options.alpha) ||
        !argument_u64(args[4], &options.seed))
        return NULL;
    lists.ends = calloc((size_t)lists.n + 1, sizeof *lists.ends);
    lists.scores = calloc((size_t)lists.n + 1, sizeof *lists.scores);
    PyObject *result = NULL;
    if (lists.ends != NULL && lists.scores != NULL)
        result = nbest(self, args[0], &options, &lists);
    else
        PyErr_NoMemory();
    free(lists.ends);
    free(lists.scores);
    free(lists.raw);
    return result;
}
