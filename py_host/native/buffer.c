/* buffer.c: Buffer, 64-aligned memory that Python sees as bytes. numpy.frombuffer and
 * memoryview read it without a copy. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

typedef struct {
    PyObject_HEAD void *memory;
    void *raw; /* as malloc returned it */
    size_t size;
} buffer_object;

/* The next multiple of 64 in memory that has 64 bytes to spare. */
void *align_up(void *memory)
{
    return (char *)memory + (64 - ((uintptr_t)memory & 63));
}

/* malloc with an alignment of 64 and without aligned_alloc, which Windows lacks. */
void *aligned_malloc(size_t size, void **out_raw)
{
    if (size > SIZE_MAX - 64) return NULL;
    char *raw = malloc(size + 64);
    if (raw == NULL) return NULL;
    *out_raw = raw;
    return align_up(raw);
}

static PyObject *buffer_wrap(module_state *state, void *raw, void *memory, size_t size)
{
    buffer_object *self = PyObject_New(buffer_object, state->buffer_type);
    if (self == NULL) {
        free(raw);
        return NULL;
    }
    self->raw = raw;
    self->memory = memory;
    self->size = size;
    return (PyObject *)self;
}

/* A Buffer of `size` bytes, not initialized. */
PyObject *buffer_new(module_state *state, size_t size, void **out_memory)
{
    void *raw;
    void *memory = aligned_malloc(size, &raw);
    if (memory == NULL) return PyErr_NoMemory();
    *out_memory = memory;
    return buffer_wrap(state, raw, memory, size);
}

/* Makes malloc'd memory a Buffer (which need not be aligned then). Takes it over even
 * if it fails. */
PyObject *buffer_adopt(module_state *state, void *raw, size_t size)
{
    return buffer_wrap(state, raw, raw, size);
}

/* Gives back what is behind the first `size` bytes. Only before anyone else has seen the Buffer. */
void buffer_truncate(PyObject *self, size_t size)
{
    buffer_object *buffer = (buffer_object *)self;
    size_t offset = (size_t)((char *)buffer->memory - (char *)buffer->raw);
    char *raw = realloc(buffer->raw, size + 64);
    buffer->size = size;
    if (raw == NULL) return; /* then it stays as it was */
    buffer->raw = raw;
    buffer->memory = align_up(raw);
    memmove(buffer->memory, raw + offset, size); /* nothing to do unless it moved elsewhere */
}

static int buffer_get(PyObject *self, Py_buffer *view, int flags)
{
    buffer_object *buffer = (buffer_object *)self;
    return PyBuffer_FillInfo(view, self, buffer->memory, (Py_ssize_t)buffer->size, 0, flags);
}

static Py_ssize_t buffer_length(PyObject *self)
{
    return (Py_ssize_t)((buffer_object *)self)->size;
}

static void buffer_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    free(((buffer_object *)self)->raw);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyType_Slot buffer_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "64-aligned memory; read it with memoryview or numpy."},
    {Py_tp_dealloc, __extension__(void *) buffer_dealloc},
    {Py_bf_getbuffer, __extension__(void *) buffer_get},
    {Py_sq_length, __extension__(void *) buffer_length},
    {0, NULL},
};

PyType_Spec buffer_spec = {
    .name = "isotok._native.Buffer",
    .basicsize = sizeof(buffer_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = buffer_slots,
};
