/* list.c: token ids -> Python list.
 *
 * Making int objects costs more than finding the ids of a short text. So a model keeps
 * one int object per id, made when the id first occurs: building a list is then one
 * load and one reference count per id. On 2 KB documents and 250K pieces a list of 500
 * ids costs 2 to 4 us so, and 7 to 12 us with new ints, of some 38 us in all. Storing to
 * the list's items without PyList_SetItem was not faster.
 * Free-threaded builds make new ints: shared objects would make threads fight over
 * their reference counts.
 */
#include <stdlib.h>

#include "native.h"

/* Appends ids to a list; false with an exception. */
bool list_extend(model_object *self, PyObject *list, const uint32_t *ids, size_t count)
{
    PyObject *part = list_of_ids(self, ids, count);
    if (part == NULL) return false;
    Py_ssize_t end = PyList_Size(list);
    int result = PyList_SetSlice(list, end, end, part);
    Py_DECREF(part);
    return result == 0;
}

#ifdef Py_GIL_DISABLED

PyObject *list_of_ids(model_object *self, const uint32_t *ids, size_t count)
{
    (void)self;
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list == NULL) return NULL;
    for (size_t i = 0; i < count; i++) {
        PyObject *number = PyLong_FromUnsignedLong(ids[i]);
        if (number == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        PyList_SetItem(list, (Py_ssize_t)i, number);
    }
    return list;
}

void ints_free(model_object *self)
{
    (void)self;
}

#else

static PyObject *int_make(model_object *self, uint32_t id)
{
    PyObject *number = PyLong_FromUnsignedLong(id);
    if (number != NULL) self->ints[id] = number;
    return number;
}

PyObject *list_of_ids(model_object *self, const uint32_t *ids, size_t count)
{
    if (self->ints == NULL) {
        self->ints = calloc(self->info.vocab_size, sizeof(PyObject *));
        if (self->ints == NULL) return PyErr_NoMemory();
    }
    PyObject *list = PyList_New((Py_ssize_t)count);
    if (list == NULL) return NULL;
    PyObject **ints = self->ints;
    for (size_t i = 0; i < count; i++) {
        PyObject *number = ints[ids[i]]; /* in range: the core's ids are < vocab_size */
        if (i + 16 < count) {
            __builtin_prefetch(&ints[ids[i + 16]]);
            __builtin_prefetch(ints[ids[i + 8]]);
        }
        if (number == NULL && (number = int_make(self, ids[i])) == NULL) {
            Py_DECREF(list);
            return NULL;
        }
        Py_INCREF(number);
        PyList_SetItem(list, (Py_ssize_t)i, number);
    }
    return list;
}

void ints_free(model_object *self)
{
    if (self->ints == NULL) return;
    for (uint32_t id = 0; id < self->info.vocab_size; id++) Py_XDECREF(self->ints[id]);
    free(self->ints);
    self->ints = NULL;
}

#endif
