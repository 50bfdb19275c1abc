/* parallel.c: LongText, one text that several threads encode: see isotok_parallel.h. Parts are
 * encoded by any thread; they are joined by one at a time, in text order. */
#include "isotok_parallel.h"

#include <stdlib.h>

#include "native.h"

#define PART_NAME "isotok_part"
#define SEARCHED 4096u /* bytes behind a place that isotok_part_cut looks at */

typedef struct {
    PyObject_HEAD model_object *model;
    PyObject *bytes;  /* the text */
    session_box *box; /* for joining; not before the first part is joined: others need one first */
    atomic_flag busy;
    isotok_joint joint;
    size_t count; /* ids in box->ids */
} long_text;

static void long_dealloc(PyObject *op)
{
    long_text *self = (long_text *)op;
    PyTypeObject *type = Py_TYPE(op);
    if (self->box != NULL) box_give(self->model, self->box);
    Py_DECREF(self->model);
    Py_DECREF(self->bytes);
    PyObject_Free(op);
    Py_DECREF(type);
}

/* long_text(text) -> LongText; `text` is bytes */
PyObject *model_long_text(PyObject *op, PyObject *bytes)
{
    if (!PyBytes_Check(bytes)) {
        PyErr_SetString(PyExc_TypeError, "the text must be bytes");
        return NULL;
    }
    long_text *self = PyObject_New(long_text, state_of(op)->long_type);
    if (self == NULL) return NULL;
    Py_INCREF(op);
    Py_INCREF(bytes);
    self->model = (model_object *)op;
    self->bytes = bytes;
    self->joint = (isotok_joint){0};
    self->count = 0;
    self->box = NULL;
    atomic_flag_clear(&self->busy);
    return (PyObject *)self;
}

static text_view text_of(const long_text *self)
{
    return (text_view){(const uint8_t *)PyBytes_AsString(self->bytes),
                       (size_t)PyBytes_Size(self->bytes), NULL};
}

/* The next cut `wanted` bytes or more behind `at`; the end of the text if there is none. */
static isotok_status next_cut(const long_text *self, const text_view *text, size_t wanted,
                              size_t *at, isotok_error *error)
{
    size_t from = *at;
    isotok_status status = ISOTOK_OK;
    *at = text->size;
    while (status == ISOTOK_OK && *at == text->size && wanted < text->size - from) {
        from += wanted;
        status = isotok_part_cut(self->model->model, text->data, text->size, from, at, error);
        if (wanted < SEARCHED) wanted = SEARCHED; /* none is near: the part becomes larger */
    }
    return status;
}

/* cuts(size) -> list[int]: ends of parts of about `size` bytes, the last one's is the text's */
static PyObject *long_cuts(PyObject *op, PyObject *number)
{
    long_text *self = (long_text *)op;
    text_view text = text_of(self);
    uint64_t wanted;
    if (!argument_u64(number, &wanted)) return NULL;
    if (wanted == 0) wanted = 1;
    if (wanted > text.size) wanted = text.size;
    PyObject *list = PyList_New(0);
    for (size_t at = 0; list != NULL && at < text.size;) {
        isotok_error error = error_new();
        error.status = next_cut(self, &text, (size_t)wanted, &at, &error);
        if (error.status != ISOTOK_OK) {
            Py_DECREF(list);
            return raise_error(state_of(op), &error, "text");
        }
        PyObject *end = PyLong_FromSize_t(at);
        if (end == NULL || PyList_Append(list, end) < 0) Py_CLEAR(list);
        Py_XDECREF(end);
    }
    return list;
}

static void free_capsule(PyObject *capsule)
{
    isotok_part_free(PyCapsule_GetPointer(capsule, PART_NAME));
}

static isotok_status encode_range(native_call *call, text_view text, size_t begin, size_t end,
                                  isotok_part **part)
{
    isotok_status status = ISOTOK_NEED_SCRATCH;
    while (status == ISOTOK_NEED_SCRATCH) {
        status = isotok_part_encode(call->box->session, text.data, text.size, begin, end, part,
                                    &call->error);
        if (status == ISOTOK_NEED_SCRATCH && box_grow_session(call->box, &call->error) < 0)
            return ISOTOK_E_TOO_LARGE;
    }
    return status;
}

/* encode(begin, end) -> part: any thread; a session of its own */
static PyObject *long_encode(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    long_text *self = (long_text *)op;
    uint64_t begin, end;
    isotok_part *part = NULL;
    native_call call;
    if (!arguments("encode", count, 2) || !argument_u64(args[0], &begin) ||
        !argument_u64(args[1], &end) || !call_open(&call, (PyObject *)self->model, end - begin))
        return NULL;
    isotok_status status = encode_range(&call, text_of(self), (size_t)begin, (size_t)end, &part);
    if (!call_hold(&call, status, "text")) return NULL;
    call_close(&call);
    PyObject *capsule = PyCapsule_New(part, PART_NAME, free_capsule);
    if (capsule == NULL) isotok_part_free(part);
    return capsule;
}

static isotok_status join_part(long_text *self, native_call *call, isotok_part *part)
{
    session_box *box = self->box;
    isotok_status status = ISOTOK_NEED_OUTPUT;
    while (status > 0) {
        size_t written = 0;
        status = isotok_part_join(box->session, part, &self->joint, box->ids + self->count,
                                  box->ids_capacity - self->count, &written, &call->error);
        self->count += written;
        if (status == ISOTOK_NEED_SCRATCH && box_grow_session(box, &call->error) < 0)
            return ISOTOK_E_TOO_LARGE;
        if (status == ISOTOK_NEED_OUTPUT &&
            !box_grow_ids(box, 2 * self->count + (size_t)call->error.need))
            return ISOTOK_E_TOO_LARGE;
    }
    return status;
}

/* join(part): the next part in text order; it is empty afterwards */
static PyObject *long_join(PyObject *op, PyObject *capsule)
{
    long_text *self = (long_text *)op;
    isotok_part *part = PyCapsule_GetPointer(capsule, PART_NAME);
    if (part == NULL) return NULL;
    if (atomic_flag_test_and_set_explicit(&self->busy, memory_order_acquire)) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is joining parts");
        return NULL;
    }
    native_call call = {.self = self->model, .error = error_new()};
    if (self->box == NULL) self->box = box_take(self->model, &call.error);
    if (self->box != NULL) {
        PyThreadState *released = PyEval_SaveThread();
        call.error.status = join_part(self, &call, part);
        PyEval_RestoreThread(released);
    }
    atomic_flag_clear_explicit(&self->busy, memory_order_release);
    if (call.error.status != ISOTOK_OK) return raise_error(state_of(op), &call.error, "text");
    Py_RETURN_NONE;
}

/* ids() -> Buffer of uint32: of all parts that were joined, which are gone then */
static PyObject *long_ids(PyObject *op, PyObject *unused)
{
    long_text *self = (long_text *)op;
    (void)unused;
    if (self->box == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "no part has been joined");
        return NULL;
    }
    PyObject *ids = take_ids(state_of(op), self->box, self->count);
    self->count = 0;
    if (!box_trim_ids(self->box)) self->box->ids_capacity = 0; /* grows when it is needed */
    return ids;
}

/* again() -> (bytes of internal text joined, bytes of it segmented again); for tests */
static PyObject *long_again(PyObject *op, PyObject *unused)
{
    const isotok_joint *joint = &((long_text *)op)->joint;
    (void)unused;
    return Py_BuildValue("(KK)", (unsigned long long)joint->bytes,
                         (unsigned long long)joint->bytes_again);
}

static PyMethodDef long_methods[] = {
    {"cuts", long_cuts, METH_O, "cuts(size) -> list[int]"},
    {"encode", (PyCFunction)(void (*)(void))long_encode, METH_FASTCALL,
     "encode(begin, end) -> part"},
    {"join", long_join, METH_O, "join(part)"},
    {"ids", long_ids, METH_NOARGS, "ids() -> Buffer"},
    {"again", long_again, METH_NOARGS, "again() -> (bytes, bytes segmented again)"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot long_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "One text in several threads; see isotok._long."},
    {Py_tp_dealloc, __extension__(void *) long_dealloc},
    {Py_tp_methods, long_methods},
    {0, NULL},
};

PyType_Spec long_spec = {
    .name = "isotok._native.LongText",
    .basicsize = sizeof(long_text),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = long_slots,
};
