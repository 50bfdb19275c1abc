/* distil.c: distilling Unigram models, see core/distil/isotok_distil.h.
 *
 * distil(model: Model, counts: WordCounts) -> Distil   `counts` of this model's chunks; they must not
 *                                                      change any more
 * Distil.memo(size)                      at most so many bytes; 0: none
 * Distil.learn(most, least)              exceptions to longest match
 * Distil.frequencies() -> buffer         of int64, one for each piece
 * Distil.stats() -> dict[str, int]
 * Distil.blob(algorithm, priorities) -> bytes   a buffer of float32 for ISOTOK_PRIORITY, else None */
#include "train.h"

typedef struct {
    PyObject_HEAD isotok_distil *distil;
    model_object *model;
    PyObject *counts;
    atomic_flag busy;
} distil_object;

static void distil_dealloc(PyObject *op)
{
    distil_object *self = (distil_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    isotok_distil_free(self->distil);
    Py_XDECREF((PyObject *)self->model);
    Py_XDECREF(self->counts);
    PyObject_Free(op);
    Py_DECREF(type);
}

PyObject *module_distil(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    module_state *state = PyModule_GetState(module);
    isotok_train_error error = {0};
    if (!arguments("distil", count, 2)) return NULL;
    if (!PyObject_TypeCheck(args[0], state->model_type) ||
        !PyObject_TypeCheck(args[1], state->counts_type)) {
        PyErr_SetString(PyExc_TypeError, "distil() takes a Model and WordCounts");
        return NULL;
    }
    counts_object *counts = (counts_object *)args[1];
    if (counts->chunks == NULL || counts->model->model != ((model_object *)args[0])->model)
        return train_fail(state, "the counts are not of this model's chunks");
    distil_object *self = PyObject_New(distil_object, state->distil_type);
    if (self == NULL) return NULL;
    atomic_flag_clear(&self->busy);
    self->model = (model_object *)Py_NewRef(args[0]);
    self->counts = Py_NewRef(args[1]);
    self->distil = NULL;
    if (train_take(args[1], &counts->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        self->distil = isotok_distil_new(self->model->model, counts->counts, &error);
        PyEval_RestoreThread(released);
        /* stays busy, if it is used: what is made of it points into it */
        if (self->distil != NULL) return (PyObject *)self;
        atomic_flag_clear(&counts->busy);
        train_fail_with(state, &error);
    }
    Py_DECREF(self);
    return NULL;
}

static PyObject *distil_memo(PyObject *op, PyObject *size)
{
    distil_object *self = (distil_object *)op;
    isotok_train_error error = {0};
    const size_t bytes = PyLong_AsSize_t(size);
    if (PyErr_Occurred() || !train_take(op, &self->busy)) return NULL;
    PyThreadState *released = PyEval_SaveThread();
    isotok_distil_memo(self->distil, bytes, &error);
    PyEval_RestoreThread(released);
    atomic_flag_clear(&self->busy);
    return error.status < 0 ? train_fail_with(state_of(op), &error) : Py_NewRef(Py_None);
}

static PyObject *distil_learn(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    distil_object *self = (distil_object *)op;
    isotok_train_error error = {0};
    uint32_t most, least;
    if (!arguments("learn", count, 2) || !argument_u32(args[0], &most) ||
        !argument_u32(args[1], &least) || !train_take(op, &self->busy))
        return NULL;
    PyThreadState *released = PyEval_SaveThread();
    isotok_distil_learn(self->distil, most, least, &error);
    PyEval_RestoreThread(released);
    atomic_flag_clear(&self->busy);
    return error.status < 0 ? train_fail_with(state_of(op), &error) : Py_NewRef(Py_None);
}

static PyObject *distil_frequencies(PyObject *op, PyObject *unused)
{
    distil_object *self = (distil_object *)op;
    isotok_info info = {.size = sizeof info};
    void *frequencies;
    (void)unused;
    isotok_model_info(self->model->model, &info);
    PyObject *buffer = buffer_new(state_of(op), info.vocab_size * sizeof(int64_t), &frequencies);
    if (buffer != NULL) isotok_distil_frequencies(self->distil, frequencies);
    return buffer;
}

static PyObject *distil_stats(PyObject *op, PyObject *unused)
{
    distil_object *self = (distil_object *)op;
    isotok_distil_stats s;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    isotok_distil_get_stats(self->distil, &s);
    atomic_flag_clear(&self->busy);
    return Py_BuildValue(
        "{sK sK sK sL sK sK sL sK sK sL sL}", "chunks", s.chunks, "bytes", s.bytes, "tokens",
        s.tokens, "occurrences", s.occurrences, "memo_sets", s.memo_sets, "memo_chunks",
        s.memo_chunks, "memo_occurrences", s.memo_occurrences, "exceptions", s.exceptions,
        "exception_words", s.exception_words, "repaired", s.repaired, "broken", s.broken);
}

static PyObject *make_blob(PyObject *op, uint32_t algorithm, const float *priorities)
{
    distil_object *self = (distil_object *)op;
    isotok_train_error error = {0};
    const void *data = NULL;
    size_t size = 0;
    if (!train_take(op, &self->busy)) return NULL;
    PyThreadState *released = PyEval_SaveThread();
    isotok_distil_blob(self->distil, algorithm, priorities, &data, &size, &error);
    PyEval_RestoreThread(released);
    PyObject *bytes = error.status < 0 ? train_fail_with(state_of(op), &error)
                                       : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
    atomic_flag_clear(&self->busy);
    return bytes;
}

static PyObject *distil_blob(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    distil_object *self = (distil_object *)op;
    isotok_info info = {.size = sizeof info};
    uint32_t algorithm;
    Py_buffer view;
    if (!arguments("blob", count, 2) || !argument_u32(args[0], &algorithm)) return NULL;
    if (algorithm != ISOTOK_PRIORITY) return make_blob(op, algorithm, NULL);
    if (!view_get(args[1], &view, sizeof(float), "priorities")) return NULL;
    isotok_model_info(self->model->model, &info);
    PyObject *blob = NULL;
    if ((size_t)view.len == info.vocab_size * sizeof(float))
        blob = make_blob(op, algorithm, view.buf);
    else
        PyErr_SetString(PyExc_ValueError, "priorities: one for each piece");
    PyBuffer_Release(&view);
    return blob;
}

static PyMethodDef distil_methods[] = {
    {"memo", distil_memo, METH_O, "memo(size)"},
    {"learn", __extension__(PyCFunction)(void *) distil_learn, METH_FASTCALL,
     "learn(most, least)"},
    {"frequencies", distil_frequencies, METH_NOARGS, "frequencies() -> buffer"},
    {"stats", distil_stats, METH_NOARGS, "stats() -> dict"},
    {"blob", __extension__(PyCFunction)(void *) distil_blob, METH_FASTCALL,
     "blob(algorithm, priorities) -> bytes"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot distil_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A Unigram model that is being distilled."},
    {Py_tp_dealloc, __extension__(void *) distil_dealloc},
    {Py_tp_methods, distil_methods},
    {0, NULL},
};

PyType_Spec distil_spec = {
    .name = "isotok._native.Distil",
    .basicsize = sizeof(distil_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = distil_slots,
};
