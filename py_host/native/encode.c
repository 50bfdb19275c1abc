/* encode.c: text -> ids, as a list, as a Buffer, into the caller's buffer, or counted. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

/* From this many ids on, signals are looked at whenever the output has to grow. */
#define CHECK_SIGNALS_ABOVE (1u << 20)

static isotok_status grow_output(session_box *box, size_t total)
{
    if (total < box->ids_capacity) return ISOTOK_OK;
    if (total >= CHECK_SIGNALS_ABOVE && !box_signals(box)) return ISOTOK_E_STATE;
    return box_grow_ids(box, total * 2) ? ISOTOK_OK : ISOTOK_E_TOO_LARGE;
}

/* Encodes the whole text into box->ids, which grows; may run without the lock. Returns
 * OK, AT_LIMIT or an error. */
isotok_status encode_run(native_call *call, const isotok_encode_options *options, size_t *total)
{
    session_box *box = call->box;
    isotok_input input = {call->text.data, call->text.size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_encode_begin(box->session, options, &call->error);
    *total = 0;
    while (status >= 0) {
        isotok_output output = {.ids = box->ids + *total, .capacity = box->ids_capacity - *total};
        status = isotok_encode_step(box->session, &input, &output, &call->error);
        *total += output.count;
        if (status == ISOTOK_OK || status == ISOTOK_AT_LIMIT) return status;
        if (status == ISOTOK_NEED_SCRATCH)
            status = box_grow_session(box, &call->error);
        else if (status == ISOTOK_NEED_OUTPUT)
            status = grow_output(box, *total);
    }
    return status;
}

/* Opens the call and encodes; false with an exception. On success the lock is held and
 * the call must be closed. */
static bool encode_open(native_call *call, PyObject *self, PyObject *text,
                        const isotok_encode_options *options, size_t *total, isotok_status *status)
{
    if (!call_open_text(call, self, text)) return false;
    *status = encode_run(call, options, total);
    return call_hold(call, *status, "text");
}

/* Encodes a long text, without the lock, into a list that grows with it. */
static isotok_status run_into_list(native_call *call, const isotok_encode_options *options,
                                   PyObject *list)
{
    session_box *box = call->box;
    isotok_input input = {call->text.data, call->text.size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_encode_begin(box->session, options, &call->error);
    while (status >= 0) {
        isotok_output output = {.ids = box->ids, .capacity = box->ids_capacity};
        status = isotok_encode_step(box->session, &input, &output, &call->error);
        if (status < 0) return status;
        PyEval_RestoreThread(box->released);
        bool good =
            list_extend(call->self, list, box->ids, output.count) && PyErr_CheckSignals() == 0;
        box->released = PyEval_SaveThread();
        if (!good) return ISOTOK_E_STATE; /* with an exception */
        if (status == ISOTOK_OK || status == ISOTOK_AT_LIMIT) return status;
        if (status == ISOTOK_NEED_SCRATCH) status = box_grow_session(box, &call->error);
    }
    return status;
}

static PyObject *encode_list(native_call *call, const isotok_encode_options *options)
{
    PyObject *list = NULL;
    size_t total;
    if (call->text.size <= LONG_TEXT) {
        if (!call_hold(call, encode_run(call, options, &total), "text")) return NULL;
        list = list_of_ids(call->self, call->box->ids, total);
    } else {
        PyEval_RestoreThread(call->box->released);
        list = PyList_New(0);
        call->box->released = PyEval_SaveThread();
        isotok_status status = list == NULL ? ISOTOK_E_STATE : run_into_list(call, options, list);
        if (!call_hold(call, status, "text")) {
            Py_XDECREF(list);
            return NULL;
        }
    }
    call_close(call);
    return list;
}

/* encode(text, flags, limit) -> list[int] */
PyObject *model_encode(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (!arguments("encode", count, 3)) return NULL;
    isotok_encode_options options = options_of(0);
    if (!argument_flags(args[1], &options)) return NULL;
    if (!argument_u64(args[2], &options.limit)) return NULL;
    native_call call;
    return call_open_text(&call, self, args[0]) ? encode_list(&call, &options) : NULL;
}

/* Moves the ids out of the box where copying them would cost memory. */
PyObject *take_ids(module_state *state, session_box *box, size_t total)
{
    if (total <= KEPT_IDS_CAPACITY) {
        void *memory;
        PyObject *buffer = buffer_new(state, total * sizeof(uint32_t), &memory);
        if (buffer != NULL) memcpy(memory, box->ids, total * sizeof(uint32_t));
        return buffer;
    }
    uint32_t *ids = realloc(box->ids, total * sizeof(uint32_t));
    if (ids == NULL) ids = box->ids;
    box->ids = NULL; /* box_give makes a new one */
    return buffer_adopt(state, ids, total * sizeof(uint32_t));
}

static bool flags_and_limit(PyObject *const *args, isotok_encode_options *options)
{
    *options = options_of(0);
    return argument_flags(args[1], options) && argument_u64(args[2], &options->limit);
}

/* encode_ids(text, flags, limit) -> Buffer of uint32 */
PyObject *model_encode_ids(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options;
    if (!arguments("encode_ids", count, 3) || !flags_and_limit(args, &options)) return NULL;
    native_call call;
    size_t total;
    isotok_status status;
    if (!encode_open(&call, self, args[0], &options, &total, &status)) return NULL;
    PyObject *buffer = take_ids(state_of(self), call.box, total);
    call_close(&call);
    return buffer;
}

/* count(text, flags, limit) -> int, or -1 where the text has more than `limit` tokens */
PyObject *model_count(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options;
    if (!arguments("count", count, 3) || !flags_and_limit(args, &options)) return NULL;
    options.flags |= ISOTOK_COUNT_ONLY;
    native_call call;
    size_t total;
    isotok_status status;
    if (!encode_open(&call, self, args[0], &options, &total, &status)) return NULL;
    call_close(&call);
    return status == ISOTOK_AT_LIMIT ? PyLong_FromLong(-1) : PyLong_FromSize_t(total);
}

/* The buffer is full: counts the text's ids anew, so that the error can say the need. */
static isotok_status count_need(native_call *call, isotok_encode_options options)
{
    size_t total;
    options.flags |= ISOTOK_COUNT_ONLY;
    isotok_status status = encode_run(call, &options, &total);
    call->error.need = total;
    return status < 0 ? status : ISOTOK_NEED_OUTPUT;
}

static isotok_status run_into(native_call *call, const Py_buffer *view,
                              const isotok_encode_options *options, size_t *total)
{
    isotok_input input = {call->text.data, call->text.size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_encode_begin(call->box->session, options, &call->error);
    size_t capacity = (size_t)view->len / sizeof(uint32_t);
    *total = 0;
    while (status >= 0) {
        isotok_output output = {.ids = (uint32_t *)view->buf + *total,
                                .capacity = capacity - *total};
        status = isotok_encode_step(call->box->session, &input, &output, &call->error);
        *total += output.count;
        if (status == ISOTOK_OK) return status;
        if (status == ISOTOK_NEED_OUTPUT) return count_need(call, *options);
        if (status == ISOTOK_NEED_SCRATCH) status = box_grow_session(call->box, &call->error);
    }
    return status;
}

static PyObject *encode_into(PyObject *self, PyObject *text, const Py_buffer *view,
                             const isotok_encode_options *options)
{
    native_call call;
    size_t total;
    if (!call_open_text(&call, self, text)) return NULL;
    isotok_status status = run_into(&call, view, options, &total);
    if (!call_hold(&call, status, "text")) return NULL;
    call.error.status = status;
    PyObject *result = status == ISOTOK_OK ? PyLong_FromSize_t(total)
                                           : raise_error(state_of(self), &call.error, "buffer");
    call_close(&call);
    return result;
}

/* encode_into(text, flags, buffer) -> int; `buffer` is writable, contiguous, 4-aligned */
PyObject *model_encode_into(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    Py_buffer view;
    if (!arguments("encode_into", count, 3) || !argument_flags(args[1], &options)) return NULL;
    if (PyObject_GetBuffer(args[2], &view, PyBUF_WRITABLE | PyBUF_C_CONTIGUOUS) < 0) return NULL;
    PyObject *result = NULL;
    if (view.len != 0 && (uintptr_t)view.buf % sizeof(uint32_t) != 0)
        PyErr_SetString(PyExc_ValueError, "the buffer is not aligned to 4 bytes");
    else
        result = encode_into(self, args[0], &view, &options);
    PyBuffer_Release(&view);
    return result;
}
