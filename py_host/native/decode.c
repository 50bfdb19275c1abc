/* decode.c: ids or piece texts -> text. */
#include <stdlib.h>

#include "native.h"

typedef struct {
    uint8_t *text;
    size_t capacity;
    size_t size;
} text_output;

static isotok_status text_grow(text_output *output)
{
    size_t capacity = output->capacity * 2;
    uint8_t *text = realloc(output->text, capacity);
    if (text == NULL) return ISOTOK_E_TOO_LARGE;
    output->text = text;
    output->capacity = capacity;
    return ISOTOK_OK;
}

/* After a step that is neither done nor failed: what it needs. */
static isotok_status provide(native_call *call, text_output *output, isotok_status status)
{
    if (status == ISOTOK_NEED_SCRATCH) return box_grow_session(call->box, &call->error);
    return status == ISOTOK_NEED_OUTPUT ? text_grow(output) : status;
}

static isotok_status decode_run(native_call *call, const uint32_t *ids, size_t count,
                                uint32_t flags, text_output *output)
{
    isotok_status status = isotok_decode_begin(call->box->session, flags, &call->error);
    size_t consumed = 0;
    while (status >= 0) {
        size_t written = 0;
        status = isotok_decode_step(call->box->session, ids, count, &consumed, 1,
                                    output->text + output->size, output->capacity - output->size,
                                    &written, &call->error);
        output->size += written;
        if (status == ISOTOK_OK) return status;
        status = provide(call, output, status);
    }
    return status;
}

/* str, with U+FFFD where a model's own pieces are ill-formed; or the bytes. */
static PyObject *output_object(const text_output *output, bool as_bytes)
{
    const char *text = (const char *)output->text;
    if (as_bytes) return PyBytes_FromStringAndSize(text, (Py_ssize_t)output->size);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)output->size, "replace");
}

static bool output_open(text_output *output, size_t capacity)
{
    *output = (text_output){malloc(capacity), capacity, 0};
    if (output->text == NULL) PyErr_NoMemory();
    return output->text != NULL;
}

static PyObject *decode_ids(PyObject *self, const uint32_t *ids, size_t count, bool raw)
{
    native_call call;
    text_output output;
    if (!output_open(&output, count * 4 + 64)) return NULL;
    PyObject *result = NULL;
    if (call_open(&call, self, count)) {
        uint32_t flags = raw ? ISOTOK_RAW_BYTES : 0;
        if (call_hold(&call, decode_run(&call, ids, count, flags, &output), "ids")) {
            result = output_object(&output, raw);
            call_close(&call);
        }
    }
    free(output.text);
    return result;
}

/* A number that is no uint32 is the same mistake as one that is no token id. */
static bool id_of(PyObject *self, PyObject *number, Py_ssize_t index, uint32_t *out)
{
    long long value = PyLong_AsLongLong(number);
    if (value == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
        PyErr_Clear();
    }
    if (value >= 0 && value < (long long)ISOTOK_NO_TOKEN) {
        *out = (uint32_t)value;
        return true;
    }
    isotok_error error = error_new();
    error.status = ISOTOK_E_ID_RANGE;
    error.what = ISOTOK_WHAT_TOKEN_ID;
    error.index = (uint32_t)index;
    raise_error(state_of(self), &error, "ids");
    return false;
}

/* An item with a reference of ours; NULL with an exception if the list became shorter. */
static PyObject *list_item(PyObject *list, Py_ssize_t index)
{
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(list, index);
#else
    PyObject *item = PyList_GetItem(list, index);
    Py_XINCREF(item);
    return item;
#endif
}

static PyObject *decode_list(PyObject *self, PyObject *list, bool raw)
{
    Py_ssize_t count = PyList_Size(list);
    uint32_t *ids = malloc(((size_t)count + 1) * sizeof(uint32_t));
    if (ids == NULL) return PyErr_NoMemory();
    PyObject *result = NULL;
    Py_ssize_t i = 0;
    for (; i < count; i++) {
        PyObject *item = list_item(list, i);
        if (item == NULL) break;
        bool good = id_of(self, item, i, &ids[i]);
        Py_DECREF(item);
        if (!good) break;
    }
    if (i == count) result = decode_ids(self, ids, (size_t)count, raw);
    free(ids);
    return result;
}

/* decode(ids, raw) -> str, or bytes if raw; `ids` is a list of int or contiguous uint32
 * memory. */
PyObject *model_decode(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    if (!arguments("decode", count, 2)) return NULL;
    bool raw;
    if (!argument_bool(args[1], &raw)) return NULL;
    if (PyList_Check(args[0])) return decode_list(self, args[0], raw);
    Py_buffer view;
    if (PyObject_GetBuffer(args[0], &view, PyBUF_C_CONTIGUOUS) < 0) return NULL;
    PyObject *result = NULL;
    if (view.len != 0 && (uintptr_t)view.buf % sizeof(uint32_t) != 0)
        PyErr_SetString(PyExc_ValueError, "the ids are not aligned to 4 bytes");
    else
        result = decode_ids(self, view.buf, (size_t)view.len / sizeof(uint32_t), raw);
    PyBuffer_Release(&view);
    return result;
}

static isotok_status piece_run(native_call *call, const text_view *piece, uint32_t last,
                               text_output *output)
{
    size_t consumed = 0;
    isotok_status status;
    do {
        size_t written = 0;
        status = isotok_decode_piece(call->box->session, piece->data, piece->size, &consumed, last,
                                     output->text + output->size, output->capacity - output->size,
                                     &written, &call->error);
        output->size += written;
        if (status == ISOTOK_OK) return status;
        status = provide(call, output, status);
    } while (status >= 0);
    return status;
}

static isotok_status pieces_run(native_call *call, PyObject *tuple, text_output *output)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    module_state *state = state_of((PyObject *)call->self);
    isotok_status status = isotok_decode_begin(call->box->session, 0, &call->error);
    for (Py_ssize_t i = 0; i < count && status >= 0; i++) {
        text_view piece;
        if (text_get(state, PyTuple_GetItem(tuple, i), &piece) < 0)
            return ISOTOK_E_STATE; /* with an exception */
        status = piece_run(call, &piece, 0, output);
        text_release(&piece);
    }
    static const text_view nothing = {(const uint8_t *)"", 0, NULL};
    return status < 0 ? status : piece_run(call, &nothing, 1, output);
}

/* decode_pieces(pieces) -> str; `pieces` is a tuple of str or bytes. */
PyObject *model_decode_pieces(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    native_call call;
    text_output output;
    if (!arguments("decode_pieces", count, 1) || !output_open(&output, 1024)) return NULL;
    PyObject *result = NULL;
    if (call_open(&call, self, 0)) {
        if (call_hold(&call, pieces_run(&call, args[0], &output), "pieces")) {
            result = output_object(&output, false);
            call_close(&call);
        }
    }
    free(output.text);
    return result;
}
