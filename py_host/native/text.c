/* text.c: UTF-8 bytes of a str or bytes argument, without a copy where Python allows. */
#include "native.h"

/* CPython keeps the UTF-8 of a non-ASCII str for the str's lifetime. Above this length
 * that would double the memory of large texts, so they get a passing copy instead. */
#define KEEP_UTF8_UP_TO 65536

static int bytes_get(PyObject *object, text_view *out)
{
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(object, &data, &size) < 0) return -1;
    out->data = (const uint8_t *)data;
    out->size = (size_t)size;
    return 0;
}

static int owned_get(PyObject *bytes, text_view *out)
{
    if (bytes == NULL) return -1;
    if (bytes_get(bytes, out) < 0) {
        Py_DECREF(bytes);
        return -1;
    }
    out->owner = bytes;
    return 0;
}

static bool is_ascii(PyObject *text)
{
    PyObject *answer = PyObject_CallMethod(text, "isascii", NULL);
    bool result = answer == Py_True;
    Py_XDECREF(answer);
    PyErr_Clear();
    return result;
}

static int str_get(module_state *state, PyObject *text, text_view *out)
{
    Py_ssize_t size;
    if (PyUnicode_GetLength(text) > KEEP_UTF8_UP_TO && !is_ascii(text)) {
        PyObject *bytes = PyUnicode_AsUTF8String(text);
        if (bytes != NULL) return owned_get(bytes, out);
    } else {
        const char *data = PyUnicode_AsUTF8AndSize(text, &size);
        if (data != NULL) {
            out->data = (const uint8_t *)data;
            out->size = (size_t)size;
            return 0;
        }
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return -1;
    PyErr_Clear();
    return owned_get(PyObject_CallFunctionObjArgs(state->to_utf8, text, NULL), out);
}

int text_get(module_state *state, PyObject *object, text_view *out)
{
    out->owner = NULL;
    if (PyUnicode_Check(object)) return str_get(state, object, out);
    if (PyBytes_Check(object)) return bytes_get(object, out);
    PyErr_Format(PyExc_TypeError, "text must be str or bytes, not %R", Py_TYPE(object));
    return -1;
}

void text_release(text_view *text)
{
    Py_CLEAR(text->owner);
}
