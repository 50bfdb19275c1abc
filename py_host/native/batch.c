/* batch.c: many texts -> flat ids and the end of each text in them; many ids -> texts. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

#define EXPECTED_BYTES 2048 /* of a text; the rest comes by itself */

/* Signals are looked at after so many bytes. */
#define BYTES_PER_CHECK (4u << 20)

typedef struct {
    text_view *texts;
    size_t count;
    size_t size; /* bytes in all */
} text_list;

static void texts_release(text_list *list)
{
    for (size_t i = 0; i < list->count; i++) text_release(&list->texts[i]);
    free(list->texts);
}

/* The views stay valid without the lock: `tuple` and the views own what they point to. */
static bool texts_get(module_state *state, PyObject *tuple, text_list *out)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    *out = (text_list){0};
    if (count < 0) return false;
    out->texts = calloc((size_t)count + 1, sizeof *out->texts);
    if (out->texts == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (text_get(state, PyTuple_GetItem(tuple, i), &out->texts[i]) < 0) {
            texts_release(out);
            return false;
        }
        out->count++;
        out->size += out->texts[i].size;
    }
    return true;
}

/* Room in the box for the ids of one more text behind `total` ids, at first guess. */
static bool reserve(session_box *box, size_t total, size_t text_size)
{
    size_t wanted = total + text_size / 4 + 64;
    if (wanted <= box->ids_capacity) return true;
    return box_grow_ids(box, wanted > 2 * box->ids_capacity ? wanted : 2 * box->ids_capacity);
}

static isotok_status text_run(native_call *call, const text_view *text,
                              const isotok_encode_options *options, size_t *total)
{
    session_box *box = call->box;
    isotok_input input = {text->data, text->size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_encode_begin(box->session, options, &call->error);
    while (status >= 0) {
        isotok_output output = {.ids = box->ids + *total, .capacity = box->ids_capacity - *total};
        status = isotok_encode_step(box->session, &input, &output, &call->error);
        *total += output.count;
        if (status == ISOTOK_OK || status == ISOTOK_AT_LIMIT) return ISOTOK_OK;
        if (status == ISOTOK_NEED_SCRATCH)
            status = box_grow_session(box, &call->error);
        else if (status == ISOTOK_NEED_OUTPUT && !box_grow_ids(box, box->ids_capacity * 2))
            status = ISOTOK_E_TOO_LARGE;
    }
    return status;
}

/* Texts lie anywhere in memory: the next one is on its way while this one is encoded. */
static void expect(const text_view *text)
{
#if defined(__GNUC__)
    const size_t most = text->size < EXPECTED_BYTES ? text->size : EXPECTED_BYTES;
    for (size_t at = 0; at < most; at += 64) __builtin_prefetch(text->data + at);
#else
    (void)text;
#endif
}

/* On an error, error.offset is the number of the text. */
static isotok_status batch_run(native_call *call, const text_list *list,
                               const isotok_encode_options *options, uint64_t *ends)
{
    const bool counting = (options->flags & ISOTOK_COUNT_ONLY) != 0;
    size_t total = 0, unchecked = 0;
    for (size_t i = 0; i < list->count; i++) {
        const text_view *text = &list->texts[i];
        isotok_status status = ISOTOK_E_TOO_LARGE;
        if (i + 1 < list->count) expect(text + 1);
        if (counting || reserve(call->box, total, text->size))
            status = text_run(call, text, options, &total);
        call->error.offset = i;
        if (status < 0) return status;
        ends[i] = total;
        unchecked += text->size + 1024;
        if (unchecked < BYTES_PER_CHECK) continue;
        if (!box_signals(call->box)) return ISOTOK_E_STATE;
        unchecked = 0;
    }
    return ISOTOK_OK;
}

static PyObject *lists_of(model_object *self, const uint32_t *ids, const uint64_t *ends,
                          size_t count)
{
    PyObject *result = PyList_New((Py_ssize_t)count);
    size_t begin = 0;
    for (size_t i = 0; i < count && result != NULL; i++) {
        PyObject *list = list_of_ids(self, ids + begin, (size_t)ends[i] - begin);
        if (list == NULL)
            Py_CLEAR(result);
        else
            PyList_SetItem(result, (Py_ssize_t)i, list);
        begin = (size_t)ends[i];
    }
    return result;
}

/* Whether the arrays are what encode_batch returns. */
static bool lists_fit(const model_object *self, const Py_buffer *ids, const Py_buffer *ends)
{
    const uint32_t *numbers = ids->buf;
    const uint64_t *bounds = ends->buf;
    size_t total = (size_t)ids->len / sizeof *numbers, begin = 0;
    for (size_t i = 0; i < (size_t)ends->len / sizeof *bounds; i++) {
        if (bounds[i] < begin || bounds[i] > total) return false;
        begin = (size_t)bounds[i];
    }
    for (size_t i = 0; i < total; i++)
        if (numbers[i] >= self->info.vocab_size) return false;
    return true;
}

/* lists(ids, ends) -> list[list[int]] of what encode_batch returned: for one thread, while others
 * go on. (Where each makes its own, their processors fight over the shared ints.) */
PyObject *model_lists(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    model_object *self = (model_object *)op;
    Py_buffer ids, ends;
    if (!arguments("lists", count, 2) || PyObject_GetBuffer(args[0], &ids, PyBUF_C_CONTIGUOUS) < 0)
        return NULL;
    PyObject *result = NULL;
    if (PyObject_GetBuffer(args[1], &ends, PyBUF_C_CONTIGUOUS) == 0) {
        if (lists_fit(self, &ids, &ends))
            result = lists_of(self, ids.buf, ends.buf, (size_t)ends.len / sizeof(uint64_t));
        else
            PyErr_SetString(PyExc_ValueError, "the arrays are not those of a batch");
        PyBuffer_Release(&ends);
    }
    PyBuffer_Release(&ids);
    return result;
}

enum result { FLAT, LISTS, COUNTS };

/* (Buffer of ids, Buffer of ends), or a list of lists, or the Buffer of ends alone. */
static PyObject *batch_result(native_call *call, PyObject *ends_buffer, const uint64_t *ends,
                              size_t count, enum result kind)
{
    if (kind == COUNTS) {
        Py_INCREF(ends_buffer);
        return ends_buffer;
    }
    if (kind == LISTS) return lists_of(call->self, call->box->ids, ends, count);
    size_t total = count == 0 ? 0 : (size_t)ends[count - 1];
    PyObject *ids = take_ids(state_of((PyObject *)call->self), call->box, total);
    PyObject *result = ids == NULL ? NULL : PyTuple_Pack(2, ids, ends_buffer);
    Py_XDECREF(ids);
    return result;
}

static PyObject *encode_texts(PyObject *self, const text_list *list,
                              const isotok_encode_options *options, enum result kind)
{
    void *ends;
    native_call call;
    PyObject *buffer = buffer_new(state_of(self), list->count * sizeof(uint64_t), &ends);
    if (buffer == NULL) return NULL;
    PyObject *result = NULL;
    if (call_open(&call, self, list->size) &&
        call_hold(&call, batch_run(&call, list, options, ends), "texts")) {
        result = batch_result(&call, buffer, ends, list->count, kind);
        call_close(&call);
    }
    Py_DECREF(buffer);
    return result;
}

/* encode_batch(texts, flags, limit, as_lists): `texts` is a tuple of str or bytes.
 * Returns (Buffer of uint32 ids, Buffer of uint64 ends) or list[list[int]]. */
PyObject *model_encode_batch(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    if (!arguments("encode_batch", count, 4) || !argument_flags(args[1], &options) ||
        !argument_u64(args[2], &options.limit))
        return NULL;
    bool as_lists;
    text_list list;
    if (!argument_bool(args[3], &as_lists) || !texts_get(state_of(self), args[0], &list))
        return NULL;
    PyObject *result = encode_texts(self, &list, &options, as_lists ? LISTS : FLAT);
    texts_release(&list);
    return result;
}

/* count_batch(texts, flags) -> Buffer of uint64: numbers of ids of the texts 0..i. */
PyObject *model_count_batch(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    text_list list;
    if (!arguments("count_batch", count, 2) || !argument_flags(args[1], &options) ||
        !texts_get(state_of(self), args[0], &list))
        return NULL;
    options.flags |= ISOTOK_COUNT_ONLY;
    PyObject *result = encode_texts(self, &list, &options, COUNTS);
    texts_release(&list);
    return result;
}

/* ---- Decode -------------------------------------------------------------------------- */

typedef struct {
    ids_view *ids;
    size_t *ends; /* of each text in the output */
    size_t count;
    size_t size; /* ids in all */
} ids_list;

static void ids_list_release(ids_list *list)
{
    for (size_t i = 0; i < list->count; i++) ids_release(&list->ids[i]);
    free(list->ids);
    free(list->ends);
}

static bool ids_list_get(PyObject *self, PyObject *tuple, ids_list *out)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    *out = (ids_list){0};
    if (count < 0) return false;
    out->ids = calloc((size_t)count + 1, sizeof *out->ids);
    out->ends = calloc((size_t)count + 1, sizeof *out->ends);
    if (out->ids == NULL || out->ends == NULL) PyErr_NoMemory();
    while (!PyErr_Occurred() && out->count < (size_t)count) {
        ids_view *view = &out->ids[out->count];
        if (!ids_get(self, PyTuple_GetItem(tuple, (Py_ssize_t)out->count), view)) break;
        out->size += view->count;
        out->count++;
    }
    if (!PyErr_Occurred()) return true;
    ids_list_release(out);
    return false;
}

static isotok_status decode_all(native_call *call, const ids_list *list, uint32_t flags,
                                text_output *output)
{
    size_t unchecked = 0;
    for (size_t i = 0; i < list->count; i++) {
        isotok_status status =
            decode_run(call, list->ids[i].ids, list->ids[i].count, flags, output);
        if (status < 0) return status;
        list->ends[i] = output->size;
        unchecked += list->ids[i].count + 256;
        if (unchecked < BYTES_PER_CHECK) continue;
        if (!box_signals(call->box)) return ISOTOK_E_STATE;
        unchecked = 0;
    }
    return ISOTOK_OK;
}

static PyObject *texts_of(const ids_list *list, const text_output *output)
{
    PyObject *result = PyList_New((Py_ssize_t)list->count);
    size_t begin = 0;
    for (size_t i = 0; i < list->count && result != NULL; i++) {
        PyObject *text = PyUnicode_DecodeUTF8((char *)output->text + begin,
                                              (Py_ssize_t)(list->ends[i] - begin), "replace");
        if (text == NULL)
            Py_CLEAR(result);
        else
            PyList_SetItem(result, (Py_ssize_t)i, text);
        begin = list->ends[i];
    }
    return result;
}

/* decode_batch(ids, flags) -> list[str]; `ids` is a tuple of what decode takes. */
PyObject *model_decode_batch(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    ids_list list;
    text_output output;
    native_call call;
    PyObject *result = NULL;
    uint32_t flags;
    if (!arguments("decode_batch", count, 2) || !argument_u32(args[1], &flags) ||
        !ids_list_get(self, args[0], &list))
        return NULL;
    if (text_open(&output, list.size * 4 + 64)) {
        if (call_open(&call, self, list.size) &&
            call_hold(&call, decode_all(&call, &list, flags, &output), "ids")) {
            result = texts_of(&list, &output);
            call_close(&call);
        }
        free(output.text);
    }
    ids_list_release(&list);
    return result;
}
