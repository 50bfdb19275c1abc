/* spans.c: text -> ids with the ranges of text they came from. */
#include <stdlib.h>

#include "native.h"

/* Parallel arrays in one piece of memory. They are drained after every step. */
enum { IDS, BEGIN, END, NORM_BEGIN, NORM_END, COLUMNS };
#define SPAN_CAPACITY 1024u

/* The unit of ranges in the normalized text, in bytes; the core has none. */
#define UNIT_NORMALIZED 3u

/* What the call returns, and the number of tokens in it so far. */
typedef struct {
    PyObject *ids, *offsets, *unknown;
    size_t count;
    bool normalized; /* the offsets are in the normalized text */
} span_lists;

static int append_stolen(PyObject *list, PyObject *item)
{
    if (item == NULL) return -1;
    int result = PyList_Append(list, item);
    Py_DECREF(item);
    return result;
}

/* Token i of the step: its range, and for an unknown one where its text is. */
static int append_token(span_lists *lists, const isotok_output *step, size_t i, uint32_t unk)
{
    const bool normalized = lists->normalized;
    const uint64_t base = normalized ? step->norm_base : step->base;
    const uint32_t begin = normalized ? step->norm_begin[i] : step->begin[i];
    const uint32_t end = normalized ? step->norm_end[i] : step->end[i];
    PyObject *range =
        Py_BuildValue("(KK)", (unsigned long long)(base + begin), (unsigned long long)(base + end));
    if (append_stolen(lists->offsets, range) < 0) return -1;
    if (step->ids[i] != unk) return 0;
    PyObject *item = Py_BuildValue("(nKK)", (Py_ssize_t)(lists->count + i),
                                   (unsigned long long)(step->norm_base + step->norm_begin[i]),
                                   (unsigned long long)(step->norm_base + step->norm_end[i]));
    return append_stolen(lists->unknown, item);
}

static bool append_step(native_call *call, span_lists *lists, const isotok_output *step)
{
    int result = list_extend(call->self, lists->ids, step->ids, step->count) ? 0 : -1;
    for (size_t i = 0; i < step->count && result == 0; i++)
        result = append_token(lists, step, i, call->self->info.unk);
    lists->count += step->count;
    return result == 0;
}

/* One step, without the lock where it is long; the lock is held afterwards. */
static isotok_status span_step(native_call *call, isotok_input *input, uint32_t *memory,
                               isotok_output *step)
{
    *step = (isotok_output){.ids = memory + IDS * SPAN_CAPACITY,
                            .begin = memory + BEGIN * SPAN_CAPACITY,
                            .end = memory + END * SPAN_CAPACITY,
                            .norm_begin = memory + NORM_BEGIN * SPAN_CAPACITY,
                            .norm_end = memory + NORM_END * SPAN_CAPACITY,
                            .capacity = SPAN_CAPACITY};
    PyThreadState *released =
        input->size - input->consumed > RELEASE_GIL_ABOVE ? PyEval_SaveThread() : NULL;
    isotok_status status = isotok_encode_step(call->box->session, input, step, &call->error);
    if (released != NULL) PyEval_RestoreThread(released);
    return status;
}

static isotok_status spans_run(native_call *call, const isotok_encode_options *options,
                               uint32_t *memory, span_lists *lists)
{
    isotok_input input = {call->text.data, call->text.size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_encode_begin(call->box->session, options, &call->error);
    while (status >= 0) {
        isotok_output step;
        status = span_step(call, &input, memory, &step);
        if (status < 0) return status;
        if (!append_step(call, lists, &step) || PyErr_CheckSignals() < 0)
            return ISOTOK_E_STATE; /* with an exception */
        if (status == ISOTOK_OK || status == ISOTOK_AT_LIMIT) return status;
        if (status == ISOTOK_NEED_SCRATCH) status = box_grow_session(call->box, &call->error);
    }
    return status;
}

static PyObject *spans_result(PyObject *self, PyObject *text, const isotok_encode_options *options,
                              span_lists *lists)
{
    native_call call;
    uint32_t *memory = malloc(COLUMNS * SPAN_CAPACITY * sizeof(uint32_t));
    if (memory == NULL) return PyErr_NoMemory();
    PyObject *result = NULL;
    if (call_open_text(&call, self, text)) {
        call_hold(&call, ISOTOK_OK, NULL); /* spans_run releases the lock by itself */
        isotok_status status = spans_run(&call, options, memory, lists);
        if (call_hold(&call, status, "text")) {
            result = PyTuple_Pack(3, lists->ids, lists->offsets, lists->unknown);
            call_close(&call);
        }
    }
    free(memory);
    return result;
}

/* encode_spans(text, flags, unit[, alpha, seed]) -> (ids, [(begin, end) of each token, in `unit`],
 * [(position, begin, end in the normalized text) of each unknown token]) */
PyObject *model_encode_spans(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    if (!arguments("encode_spans", count, count == 5 ? 5 : 3) ||
        !argument_flags(args[1], &options) || !argument_u32(args[2], &options.offset_unit))
        return NULL;
    if (count == 5 &&
        (!argument_double(args[3], &options.alpha) || !argument_u64(args[4], &options.seed)))
        return NULL;
    span_lists lists = {PyList_New(0), PyList_New(0), PyList_New(0), 0,
                        options.offset_unit == UNIT_NORMALIZED};
    if (lists.normalized) options.offset_unit = ISOTOK_UNIT_BYTE;
    options.flags |= ISOTOK_OFFSETS | ISOTOK_NORM_SPANS;
    PyObject *result = NULL;
    if (lists.ids != NULL && lists.offsets != NULL && lists.unknown != NULL)
        result = spans_result(self, args[0], &options, &lists);
    Py_XDECREF(lists.ids);
    Py_XDECREF(lists.offsets);
    Py_XDECREF(lists.unknown);
    return result;
}
