/* word_counts.c: counting words, see train.h.
 *
 * word_counts(model: Model | None) -> WordCounts     with the pre-tokenizer of a model; chunks of
 *                                                    a Unigram model; None: a text is a word
 * WordCounts.add_texts(texts: list[str | bytes])     no word spans two texts
 * WordCounts.add_table(pool, ends, counts)           word i is pool[ends[i-1]:ends[i]]; buffers of
 *                                                    bytes, uint64 and int64
 * WordCounts.cut(keys, mixed)   Words of texts are cut where no pair of the buffer of uint64 is
 * WordCounts.merge(other: WordCounts)
 * WordCounts.arrays() -> (pool, ends, counts)        Buffers like those; words ascending by bytes
 * WordCounts.size() -> int, .bytes() -> int, .memory() -> int, .clear() */
#include <stdlib.h>
#include <string.h>

#include "train.h"

static void counts_dealloc(PyObject *op)
{
    counts_object *self = (counts_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    isotok_counts_free(self->counts);
    isotok_chunks_free(self->chunks);
    Py_XDECREF((PyObject *)self->model);
    PyObject_Free(op);
    Py_DECREF(type);
}

PyObject *module_word_counts(PyObject *module, PyObject *model)
{
    module_state *state = PyModule_GetState(module);
    if (model != Py_None && !PyObject_TypeCheck(model, state->model_type)) {
        PyErr_SetString(PyExc_TypeError, "word_counts() takes a Model or None");
        return NULL;
    }
    counts_object *self = PyObject_New(counts_object, state->counts_type);
    if (self == NULL) return NULL;
    self->model = model == Py_None ? NULL : (model_object *)Py_NewRef(model);
    atomic_flag_clear(&self->busy);
    const isotok_model *cuts = self->model ? self->model->model : NULL;
    self->chunks = cuts ? isotok_chunks_new(cuts) : NULL;
    self->counts = isotok_counts_new(self->chunks ? NULL : cuts);
    if (self->counts == NULL) {
        Py_DECREF(self);
        return train_fail(state, "the model has no pre-tokenizer, and is no Unigram model that can be cut");
    }
    return (PyObject *)self;
}

static isotok_train_status add_text(void *object, text_view *view, isotok_train_error *error)
{
    const counts_object *self = object;
    if (self->chunks != NULL)
        return isotok_chunks_add_text(self->chunks, self->counts, view->data, view->size, error);
    return isotok_counts_add_text(self->counts, view->data, view->size, error);
}

static PyObject *counts_add_texts(PyObject *op, PyObject *list)
{
    counts_object *self = (counts_object *)op;
    return train_add_texts(op, &self->busy, list, add_text, self);
}

static PyObject *counts_cut(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    Py_buffer keys;
    uint32_t mixed;
    if (!arguments("cut", count, 2) || !argument_u32(args[1], &mixed) ||
        !view_get(args[0], &keys, sizeof(uint64_t), "keys"))
        return NULL;
    if (train_take(op, &self->busy)) {
        const size_t pairs = (size_t)keys.len / sizeof(uint64_t);
        isotok_counts_cut(self->counts, keys.buf, (uint32_t)pairs, mixed != 0, &error);
        atomic_flag_clear(&self->busy);
        if (error.status < 0) train_fail_with(state_of(op), &error);
    }
    PyBuffer_Release(&keys);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static isotok_train_status add_rows(counts_object *self, const isotok_bpe_texts *texts,
                                    const int64_t *counts, isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    for (uint32_t i = 0; i < texts->count && status == ISOTOK_TRAIN_OK; i++) {
        const uint64_t begin = i ? texts->ends[i - 1] : 0;
        status = isotok_counts_add_word(self->counts, texts->pool + begin,
                                        (size_t)(texts->ends[i] - begin), counts[i], error);
    }
    return status;
}

static PyObject *counts_add_table(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    texts_view view;
    Py_buffer numbers;
    if (!arguments("add_table", count, 3) || !texts_get(args[0], args[1], &view)) return NULL;
    if (!view_get(args[2], &numbers, sizeof(int64_t), "counts")) {
        texts_release(&view);
        return NULL;
    }
    if (numbers.len != view.ends.len) {
        PyErr_SetString(PyExc_ValueError, "ends and counts differ in length");
    } else if (train_take(op, &self->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        add_rows(self, &view.texts, numbers.buf, &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&self->busy);
        if (error.status < 0) train_fail_with(state_of(op), &error);
    }
    PyBuffer_Release(&numbers);
    texts_release(&view);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *counts_merge(PyObject *op, PyObject *argument)
{
    counts_object *self = (counts_object *)op, *other = (counts_object *)argument;
    isotok_train_error error = {0};
    if (!PyObject_TypeCheck(argument, state_of(op)->counts_type)) {
        PyErr_SetString(PyExc_TypeError, "merge() takes WordCounts");
        return NULL;
    }
    if (!train_take(op, &self->busy)) return NULL;
    if (train_take(argument, &other->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        isotok_counts_merge(self->counts, other->counts, &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&other->busy);
        if (error.status < 0) train_fail_with(state_of(op), &error);
    }
    atomic_flag_clear(&self->busy);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static isotok_train_status export_rows(const isotok_counts *counts, uint8_t *pool, uint64_t *ends,
                                       int64_t *numbers, isotok_train_error *error)
{
    const uint32_t n = isotok_counts_size(counts);
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    uint64_t at = 0;
    if (order == NULL) return error->status = ISOTOK_TRAIN_E_MEMORY;
    if (isotok_counts_sort(counts, order, error) == ISOTOK_TRAIN_OK) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t size;
            const uint8_t *word = isotok_counts_word(counts, order[i], &size, &numbers[i]);
            memcpy(pool + at, word, size);
            ends[i] = at += size;
        }
    }
    free(order);
    return error->status;
}

static PyObject *counts_arrays(PyObject *op, PyObject *unused)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    void *pool, *ends, *numbers;
    PyObject *result = NULL;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    const size_t n = isotok_counts_size(self->counts);
    PyObject *a = buffer_new(state_of(op), (size_t)isotok_counts_bytes(self->counts), &pool);
    PyObject *b = a ? buffer_new(state_of(op), n * sizeof(uint64_t), &ends) : NULL;
    PyObject *c = b ? buffer_new(state_of(op), n * sizeof(int64_t), &numbers) : NULL;
    if (c != NULL) {
        PyThreadState *released = PyEval_SaveThread();
        export_rows(self->counts, pool, ends, numbers, &error);
        PyEval_RestoreThread(released);
        if (error.status < 0)
            train_fail_with(state_of(op), &error);
        else
            result = PyTuple_Pack(3, a, b, c);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *counts_size(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(isotok_counts_size(((counts_object *)op)->counts));
}

static PyObject *counts_bytes(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(isotok_counts_bytes(((counts_object *)op)->counts));
}

static PyObject *counts_memory(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(isotok_counts_memory(((counts_object *)op)->counts));
}

static PyObject *counts_clear(PyObject *op, PyObject *unused)
{
    counts_object *self = (counts_object *)op;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    isotok_counts_clear(self->counts);
    atomic_flag_clear(&self->busy);
    return Py_NewRef(Py_None);
}

static PyMethodDef counts_methods[] = {
    {"add_texts", counts_add_texts, METH_O, "add_texts(texts)"},
    {"add_table", (PyCFunction)(void (*)(void))counts_add_table, METH_FASTCALL,
     "add_table(pool, ends, counts)"},
    {"cut", (PyCFunction)(void (*)(void))counts_cut, METH_FASTCALL, "cut(keys, mixed)"},
    {"merge", counts_merge, METH_O, "merge(other)"},
    {"arrays", counts_arrays, METH_NOARGS, "arrays() -> (pool, ends, counts), sorted"},
    {"size", counts_size, METH_NOARGS, "size() -> int: different words"},
    {"bytes", counts_bytes, METH_NOARGS, "bytes() -> int: of all different words"},
    {"memory", counts_memory, METH_NOARGS, "memory() -> int: bytes in use"},
    {"clear", counts_clear, METH_NOARGS, "clear()"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot counts_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "Words and their counts."},
    {Py_tp_dealloc, __extension__(void *) counts_dealloc},
    {Py_tp_methods, counts_methods},
    {0, NULL},
};

PyType_Spec counts_spec = {
    .name = "isotok._native.WordCounts",
    .basicsize = sizeof(counts_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = counts_slots,
};
