/* bigrams.c: counting pairs of characters, see train.h.
 *
 * bigrams() -> Bigrams                  isotok_bigrams of isotok_train.h
 * Bigrams.add_texts(texts: list[str])
 * Bigrams.arrays() -> (keys, counts)    Buffers of uint64 (left << 21 | right) and int64, no order
 * Bigrams.size() -> int, .clear() */
#include "train.h"

typedef struct {
    PyObject_HEAD isotok_bigrams *bigrams;
    atomic_flag busy;
} bigrams_object;

static void bigrams_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    isotok_bigrams_free(((bigrams_object *)op)->bigrams);
    PyObject_Free(op);
    Py_DECREF(type);
}

PyObject *module_bigrams(PyObject *module, PyObject *unused)
{
    module_state *state = PyModule_GetState(module);
    bigrams_object *self = PyObject_New(bigrams_object, state->bigrams_type);
    (void)unused;
    if (self == NULL) return NULL;
    atomic_flag_clear(&self->busy);
    self->bigrams = isotok_bigrams_new();
    if (self->bigrams != NULL) return (PyObject *)self;
    Py_DECREF(self);
    return PyErr_NoMemory();
}

static isotok_train_status add_text(void *bigrams, text_view *view, isotok_train_error *error)
{
    return isotok_bigrams_add_text(bigrams, view->data, view->size, error);
}

static PyObject *bigrams_add_texts(PyObject *op, PyObject *list)
{
    bigrams_object *self = (bigrams_object *)op;
    return train_add_texts(op, &self->busy, list, add_text, self->bigrams);
}

static PyObject *bigrams_arrays(PyObject *op, PyObject *unused)
{
    bigrams_object *self = (bigrams_object *)op;
    void *keys, *counts;
    PyObject *result = NULL;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    const size_t n = isotok_bigrams_size(self->bigrams);
    PyObject *a = buffer_new(state_of(op), n * sizeof(uint64_t), &keys);
    PyObject *b = a ? buffer_new(state_of(op), n * sizeof(int64_t), &counts) : NULL;
    if (b != NULL) {
        isotok_bigrams_items(self->bigrams, keys, counts);
        result = PyTuple_Pack(2, a, b);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *bigrams_size(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(isotok_bigrams_size(((bigrams_object *)op)->bigrams));
}

static PyObject *bigrams_clear(PyObject *op, PyObject *unused)
{
    bigrams_object *self = (bigrams_object *)op;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    isotok_bigrams_clear(self->bigrams);
    atomic_flag_clear(&self->busy);
    return Py_NewRef(Py_None);
}

static PyMethodDef bigrams_methods[] = {
    {"add_texts", bigrams_add_texts, METH_O, "add_texts(texts)"},
    {"arrays", bigrams_arrays, METH_NOARGS, "arrays() -> (keys, counts)"},
    {"size", bigrams_size, METH_NOARGS, "size() -> int: different pairs"},
    {"clear", bigrams_clear, METH_NOARGS, "clear()"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bigrams_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "Pairs of characters and their counts."},
    {Py_tp_dealloc, __extension__(void *) bigrams_dealloc},
    {Py_tp_methods, bigrams_methods},
    {0, NULL},
};

PyType_Spec bigrams_spec = {
    .name = "isotok._native.Bigrams",
    .basicsize = sizeof(bigrams_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = bigrams_slots,
};
