/* train.c: see train.h. */
#include <stdlib.h>

#include "train.h"

PyObject *train_fail(module_state *state, const char *text)
{
    PyErr_SetString(state->train_error, text);
    return NULL;
}

PyObject *train_fail_with(module_state *state, const isotok_train_error *error)
{
    if (error->status == ISOTOK_TRAIN_E_MEMORY) return PyErr_NoMemory();
    return PyErr_Format(state->train_error, "%s (at %llu)", error->message,
                        (unsigned long long)error->index);
}

bool train_take(PyObject *self, atomic_flag *busy)
{
    if (!atomic_flag_test_and_set(busy)) return true;
    train_fail(state_of(self), "another thread works with this object");
    return false;
}

static Py_ssize_t take_texts(PyObject *self, PyObject *list, PyObject **texts, text_view *views)
{
    const Py_ssize_t count = PyList_Size(list);
    Py_ssize_t got = 0;
    for (; got < count; got++) {
        /* a strong reference: another thread may change the list */
        texts[got] = Py_XNewRef(PyList_GetItem(list, got));
        if (texts[got] == NULL) break;
        if (text_get(state_of(self), texts[got], &views[got]) < 0) {
            Py_DECREF(texts[got]);
            break;
        }
    }
    return got;
}

PyObject *train_add_texts(PyObject *self, atomic_flag *busy, PyObject *list, train_add add,
                          void *to)
{
    isotok_train_error error = {0};
    Py_ssize_t got = 0;
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "add_texts() takes a list");
        return NULL;
    }
    if (!train_take(self, busy)) return NULL;
    PyObject **texts = calloc((size_t)PyList_Size(list) + 1, sizeof *texts);
    text_view *views = calloc((size_t)PyList_Size(list) + 1, sizeof *views);
    if (texts == NULL || views == NULL)
        PyErr_NoMemory();
    else
        got = take_texts(self, list, texts, views);
    if (!PyErr_Occurred()) {
        PyThreadState *released = PyEval_SaveThread();
        for (Py_ssize_t i = 0; i < got && error.status >= 0; i++)
            error.status = add(to, &views[i], &error);
        PyEval_RestoreThread(released);
        if (error.status < 0) train_fail_with(state_of(self), &error);
    }
    while (got-- > 0) {
        text_release(&views[got]);
        Py_DECREF(texts[got]);
    }
    free(texts);
    free(views);
    atomic_flag_clear(busy);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

bool view_get(PyObject *object, Py_buffer *view, size_t unit, const char *name)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS) < 0) return false;
    if ((size_t)view->len % unit == 0) return true;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes are no whole number of elements", name,
                 view->len);
    PyBuffer_Release(view);
    return false;
}

void texts_release(texts_view *view)
{
    if (view->pool.obj != NULL) PyBuffer_Release(&view->pool);
    if (view->ends.obj != NULL) PyBuffer_Release(&view->ends);
}

bool texts_get(PyObject *pool, PyObject *ends, texts_view *view)
{
    uint64_t before = 0;
    *view = (texts_view){0};
    if (!view_get(pool, &view->pool, 1, "pool")) return false;
    if (!view_get(ends, &view->ends, sizeof(uint64_t), "ends")) {
        texts_release(view);
        return false;
    }
    view->texts = (isotok_bpe_texts){view->pool.buf, view->ends.buf,
                                     (uint32_t)((size_t)view->ends.len / sizeof(uint64_t))};
    for (uint32_t i = 0; i < view->texts.count; i++) {
        const uint64_t end = view->texts.ends[i];
        if (end < before || end > (uint64_t)view->pool.len || end - before > INT32_MAX) {
            PyErr_Format(PyExc_ValueError, "ends[%u]: not inside the pool, or descending", i);
            texts_release(view);
            return false;
        }
        before = end;
    }
    return true;
}
