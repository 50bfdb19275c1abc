/* decode.c: ids or piece texts -> text. */
#include <stdlib.h>

#include "native.h"

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
isotok_status text_provide(native_call *call, text_output *output, isotok_status status)
{
    if (status == ISOTOK_NEED_SCRATCH) return box_grow_session(call->box, &call->error);
    return status == ISOTOK_NEED_OUTPUT ? text_grow(output) : status;
}

/* Decodes all ids, appending to the output; may run without the lock. */
isotok_status decode_run(native_call *call, const uint32_t *ids, size_t count, uint32_t flags,
                         text_output *output)
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
        status = text_provide(call, output, status);
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

bool text_open(text_output *output, size_t capacity)
{
    *output = (text_output){malloc(capacity), capacity, 0};
    if (output->text == NULL) PyErr_NoMemory();
    return output->text != NULL;
}

static PyObject *decode_ids(PyObject *self, const uint32_t *ids, size_t count, bool raw,
                            uint32_t flags)
{
    native_call call;
    text_output output;
    if (!text_open(&output, count * 4 + 64)) return NULL;
    PyObject *result = NULL;
    if (call_open(&call, self, count)) {
        if (raw) flags |= ISOTOK_RAW_BYTES;
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
    if (value >= 0 && value <= (long long)UINT32_MAX) {
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

static bool ids_of_list(PyObject *self, PyObject *list, ids_view *out)
{
    Py_ssize_t count = PyList_Size(list);
    out->ids = out->owned = malloc(((size_t)count + 1) * sizeof(uint32_t));
    if (out->owned == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = list_item(list, i);
        bool good = item != NULL && id_of(self, item, i, &out->owned[i]);
        Py_XDECREF(item);
        if (!good) return false;
    }
    out->count = (size_t)count;
    return true;
}

static bool ids_of_memory(PyObject *object, ids_view *out)
{
    if (PyObject_GetBuffer(object, &out->view, PyBUF_C_CONTIGUOUS) < 0) return false;
    out->ids = out->view.buf;
    out->count = (size_t)out->view.len / sizeof(uint32_t);
    if (out->count == 0 || (uintptr_t)out->view.buf % sizeof(uint32_t) == 0) return true;
    PyErr_SetString(PyExc_ValueError, "the ids are not aligned to 4 bytes");
    return false;
}

/* `self` is an object of the module. */
bool ids_get(PyObject *self, PyObject *object, ids_view *out)
{
    *out = (ids_view){0};
    if (PyList_Check(object) ? ids_of_list(self, object, out) : ids_of_memory(object, out))
        return true;
    ids_release(out);
    return false;
}

void ids_release(ids_view *ids)
{
    free(ids->owned);
    if (ids->view.obj != NULL) PyBuffer_Release(&ids->view);
}

/* decode(ids, raw, flags) -> str, or bytes if raw; `ids` is a list of int or contiguous uint32
 * memory. */
PyObject *model_decode(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    bool raw;
    uint32_t flags;
    ids_view ids;
    if (!arguments("decode", count, 3) || !argument_bool(args[1], &raw) ||
        !argument_u32(args[2], &flags) || !ids_get(self, args[0], &ids))
        return NULL;
    PyObject *result = decode_ids(self, ids.ids, ids.count, raw, flags);
    ids_release(&ids);
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
        status = text_provide(call, output, status);
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
    if (!arguments("decode_pieces", count, 1) || !text_open(&output, 1024)) return NULL;
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
