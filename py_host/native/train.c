/* train.c: see train.h. */
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
