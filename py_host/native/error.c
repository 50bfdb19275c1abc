/* error.c: isotok_error -> isotok.errors.TokenizerError. */
#include "native.h"

isotok_error error_new(void)
{
    return (isotok_error){.size = sizeof(isotok_error)};
}

/* `subject` says what error.offset counts in: "model", "text", "ids" … */
PyObject *raise_error(module_state *state, const isotok_error *error, const char *subject)
{
    PyObject *exception = PyObject_CallFunction(
        state->make_error, "isIsIKKs", (int)error->status,
        isotok_build_name(ISOTOK_NAME_STATUS, error->status), (unsigned int)error->what,
        isotok_build_name(ISOTOK_NAME_WHAT, (int32_t)error->what), (unsigned int)error->index,
        (unsigned long long)error->offset, (unsigned long long)error->need, subject);
    if (exception != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}
