/* stream.c: EncoderStream and DecoderStream, texts and ids that come in parts. Each holds a
 * session of its own from its first part to close() or its last reference.
 *
 * One thread at a time: a second one gets an exception, whether there is a lock of the
 * interpreter or not. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

/* Bytes of a chunk that are encoded before their ids go to the list. */
#define SLICE (1u << 18)

/* Bytes that are joined to a tail, beside those that the core may leave. */
#define JOIN 1024u

typedef struct {
    PyObject_HEAD model_object *model;
    session_box *box; /* NULL: closed */
    atomic_flag busy;
    bool begun;    /* a text is under way */
    uint8_t *tail; /* of the text so far, what the core has not consumed */
    size_t tail_size, tail_capacity;
    size_t least; /* bytes of tail and chunk together that are worth another step */
    isotok_encode_options options; /* of a decoder: its flags */
    PyObject *flags;               /* what `options` was read from, and points into */
} stream_object;

/* ---- Life ---------------------------------------------------------------------------- */

static void stream_let_go(stream_object *self)
{
    if (self->box != NULL) box_give(self->model, self->box);
    self->box = NULL;
    free(self->tail);
    self->tail = NULL;
    self->tail_size = self->tail_capacity = 0;
}

static void stream_dealloc(PyObject *op)
{
    stream_object *self = (stream_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    stream_let_go(self);
    Py_DECREF(self->model);
    Py_DECREF(self->flags);
    PyObject_Free(op);
    Py_DECREF(type);
}

static PyObject *stream_new(PyObject *model, PyTypeObject *type, PyObject *flags)
{
    isotok_encode_options options = options_of(0);
    isotok_error error = error_new();
    if (!argument_flags(flags, &options)) return NULL;
    stream_object *self = PyObject_New(stream_object, type);
    if (self == NULL) return NULL;
    Py_INCREF(model);
    Py_INCREF(flags);
    self->model = (model_object *)model;
    self->box = box_take(self->model, &error);
    atomic_flag_clear(&self->busy);
    self->begun = false;
    self->tail = NULL;
    self->tail_size = self->tail_capacity = self->least = 0;
    self->options = options;
    self->flags = flags;
    if (self->box != NULL) return (PyObject *)self;
    Py_DECREF(self);
    return raise_error(state_of(model), &error, "session");
}

/* encoder(flags) -> EncoderStream */
PyObject *model_encoder(PyObject *self, PyObject *flags)
{
    return stream_new(self, state_of(self)->encoder_type, flags);
}

/* decoder(flags) -> DecoderStream */
PyObject *model_decoder(PyObject *self, PyObject *flags)
{
    return stream_new(self, state_of(self)->decoder_type, flags);
}

/* False with an exception: another thread is in it, or it is closed. */
static bool stream_enter(stream_object *self)
{
    if (atomic_flag_test_and_set_explicit(&self->busy, memory_order_acquire)) {
        PyErr_SetString(PyExc_RuntimeError, "another thread is using this stream");
        return false;
    }
    if (self->box != NULL) return true;
    atomic_flag_clear_explicit(&self->busy, memory_order_release);
    PyErr_SetString(PyExc_RuntimeError, "the stream is closed");
    return false;
}

static void stream_leave(stream_object *self)
{
    atomic_flag_clear_explicit(&self->busy, memory_order_release);
}

/* close(): gives the session back; closing twice is fine. */
static PyObject *stream_close(PyObject *op, PyObject *unused)
{
    stream_object *self = (stream_object *)op;
    (void)unused;
    if (self->box == NULL) Py_RETURN_NONE;
    if (!stream_enter(self)) return NULL;
    stream_let_go(self);
    stream_leave(self);
    Py_RETURN_NONE;
}

/* The frame of a call in the stream's own session. */
static native_call stream_call(stream_object *self, size_t size)
{
    native_call call = {.self = self->model, .box = self->box, .error = error_new()};
    self->box->released = size > RELEASE_GIL_ABOVE ? PyEval_SaveThread() : NULL;
    return call;
}

/* Takes the lock back. False with an exception if `status` is an error: the text has ended. */
static bool stream_held(stream_object *self, native_call *call, isotok_status status,
                        const char *subject)
{
    if (self->box->released != NULL) PyEval_RestoreThread(self->box->released);
    self->box->released = NULL;
    if (status >= 0) return true;
    self->begun = false;
    self->tail_size = 0;
    call->error.status = status;
    raise_error(state_of((PyObject *)self), &call->error, subject);
    return false;
}

/* ---- Encode -------------------------------------------------------------------------- */

/* Encodes a part, appending to box->ids; *consumed is how much of it the core took. */
static isotok_status encode_part(native_call *call, const uint8_t *text, size_t size, bool last,
                                 size_t *total, size_t *consumed)
{
    session_box *box = call->box;
    isotok_input input = {text, size, 0, last ? ISOTOK_PART_LAST : 0};
    isotok_status status = ISOTOK_OK;
    while (status >= 0) {
        isotok_output output = {.ids = box->ids + *total, .capacity = box->ids_capacity - *total};
        status = isotok_encode_step(box->session, &input, &output, &call->error);
        *total += output.count;
        *consumed = input.consumed;
        if (status == ISOTOK_OK) return status;
        if (status == ISOTOK_NEED_SCRATCH)
            status = box_grow_session(box, &call->error);
        else if (status == ISOTOK_NEED_OUTPUT && !box_grow_ids(box, box->ids_capacity * 2 + 64))
            status = ISOTOK_E_TOO_LARGE;
    }
    return status;
}

/* Appends to the tail. */
static bool tail_add(stream_object *self, const uint8_t *text, size_t size)
{
    size_t wanted = self->tail_size + size;
    if (wanted > self->tail_capacity) {
        uint8_t *tail = realloc(self->tail, wanted);
        if (tail == NULL) return false;
        self->tail = tail;
        self->tail_capacity = wanted;
    }
    if (size != 0) memcpy(self->tail + self->tail_size, text, size);
    self->tail_size = wanted;
    return true;
}

/* Encodes the tail with what follows it, so much that the core gets past the tail, or once more of
 * a tail of white space that a token may take along. Moves *position to where the text goes on:
 * behind what was joined, or back into it. */
static isotok_status encode_tail(stream_object *self, native_call *call, const uint8_t *text,
                                 size_t size, bool last, size_t *total, size_t *position)
{
    size_t joined = (size_t)self->model->info.max_key_bytes + JOIN, before = self->tail_size;
    size_t consumed = 0;
    if (joined < before) joined = before;
    if (joined > size - *position) joined = size - *position;
    if (!tail_add(self, text + *position, joined)) return ISOTOK_E_TOO_LARGE;
    *position += joined;
    isotok_status status =
        encode_part(call, self->tail, self->tail_size, last && *position == size, total, &consumed);
    if (status != ISOTOK_OK) return status;
    if (consumed >= before) {
        *position -= self->tail_size - consumed;
        consumed = self->tail_size;
    }
    self->tail_size -= consumed;
    memmove(self->tail, self->tail + consumed, self->tail_size);
    return status;
}

/* Encodes the next bytes of the text; ids are appended to box->ids. */
static isotok_status encode_bytes(stream_object *self, native_call *call, const uint8_t *text,
                                  size_t size, bool last, size_t *total)
{
    size_t position = 0, consumed = 0;
    isotok_status status = ISOTOK_OK;
    bool done = false; /* encoded, or in the tail */
    if (!last && self->tail_size + size < self->least)
        return tail_add(self, text, size) ? status : ISOTOK_E_TOO_LARGE;
    while (status == ISOTOK_OK && self->tail_size != 0 && !done) {
        status = encode_tail(self, call, text, size, last, total, &position);
        done = position == size;
    }
    if (status == ISOTOK_OK && !done) {
        status = encode_part(call, text + position, size - position, last, total, &consumed);
        position += consumed;
    }
    if (status != ISOTOK_OK || last) return status;
    if (!tail_add(self, text + position, size - position)) return ISOTOK_E_TOO_LARGE;
    /* what the core holds for long is not shown to it with each chunk, but each time it doubled */
    self->least = self->tail_size > JOIN ? 2 * self->tail_size : 0;
    return status;
}

static isotok_status encode_begin(stream_object *self, native_call *call)
{
    if (self->begun) return ISOTOK_OK;
    self->begun = true;
    self->tail_size = self->least = 0;
    return isotok_encode_begin(self->box->session, &self->options, &call->error);
}

/* A step's ids as the list or behind it; false with an exception. */
static bool take_list(stream_object *self, PyObject **list, size_t total)
{
    if (*list != NULL) return list_extend(self->model, *list, self->box->ids, total);
    *list = list_of_ids(self->model, self->box->ids, total);
    return *list != NULL;
}

static PyObject *encode_slices(stream_object *self, const text_view *text, bool last)
{
    PyObject *list = NULL;
    size_t position = 0;
    do {
        size_t size = text->size - position, total = 0;
        bool is_last = size <= SLICE;
        if (!is_last) size = SLICE;
        native_call call = stream_call(self, size);
        isotok_status status = encode_begin(self, &call);
        if (status == ISOTOK_OK)
            status =
                encode_bytes(self, &call, text->data + position, size, last && is_last, &total);
        if (!stream_held(self, &call, status, "text") || !take_list(self, &list, total) ||
            (!is_last && PyErr_CheckSignals() != 0)) {
            self->begun = false; /* ids were lost: the text cannot go on */
            Py_CLEAR(list);
            break;
        }
        position += size;
    } while (position < text->size);
    if (last) self->begun = false;
    return list;
}

/* push(text, last) -> list[int]: the ids that are final by now. After `last` another text
 * begins. */
static PyObject *encoder_push(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    stream_object *self = (stream_object *)op;
    text_view text;
    bool last;
    if (!arguments("push", count, 2) || !argument_bool(args[1], &last) ||
        text_get(state_of(op), args[0], &text) < 0)
        return NULL;
    PyObject *list = NULL;
    if (stream_enter(self)) {
        list = encode_slices(self, &text, last);
        box_trim_ids(self->box);
        stream_leave(self);
    }
    text_release(&text);
    return list;
}

/* ---- Decode -------------------------------------------------------------------------- */

static isotok_status decode_part(native_call *call, const ids_view *ids, bool last,
                                 text_output *output)
{
    isotok_status status = ISOTOK_OK;
    size_t consumed = 0;
    while (status >= 0) {
        size_t written = 0;
        status = isotok_decode_step(call->box->session, ids->ids, ids->count, &consumed, last,
                                    output->text + output->size, output->capacity - output->size,
                                    &written, &call->error);
        output->size += written;
        if (status == ISOTOK_OK) return status;
        status = text_provide(call, output, status);
    }
    return status;
}

static PyObject *decode_ids(stream_object *self, const ids_view *ids, bool last)
{
    text_output output;
    if (!text_open(&output, ids->count * 4 + 64)) return NULL;
    native_call call = stream_call(self, ids->count);
    isotok_status status = ISOTOK_OK;
    if (!self->begun) status = isotok_decode_begin(self->box->session, self->options.flags, &call.error);
    self->begun = true;
    if (status == ISOTOK_OK) status = decode_part(&call, ids, last, &output);
    PyObject *result = NULL;
    if (stream_held(self, &call, status, "ids"))
        result = PyBytes_FromStringAndSize((char *)output.text, (Py_ssize_t)output.size);
    if (last || result == NULL) self->begun = false;
    free(output.text);
    return result;
}

/* push(ids, last) -> bytes: the text that is certain by now. error.index is the position in
 * these ids. */
static PyObject *decoder_push(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    stream_object *self = (stream_object *)op;
    ids_view ids;
    bool last;
    if (!arguments("push", count, 2) || !argument_bool(args[1], &last)) return NULL;
    if (!stream_enter(self)) return NULL;
    PyObject *text = NULL;
    if (ids_get(op, args[0], &ids)) {
        text = decode_ids(self, &ids, last);
        ids_release(&ids);
    } else {
        self->begun = false;
    }
    stream_leave(self);
    return text;
}

/* ---- Types --------------------------------------------------------------------------- */

#define METHODS(push)                                                                     \
    {                                                                                     \
        {"push", (PyCFunction)(void (*)(void))(push), METH_FASTCALL, "push(part, last)"}, \
            {"close", stream_close, METH_NOARGS, "close(): gives the session back"},      \
            {NULL, NULL, 0, NULL},                                                        \
    }

static PyMethodDef encoder_methods[] = METHODS(encoder_push);
static PyMethodDef decoder_methods[] = METHODS(decoder_push);

static PyType_Slot encoder_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A text that comes in parts; see isotok.Encoder."},
    {Py_tp_dealloc, __extension__(void *) stream_dealloc},
    {Py_tp_methods, encoder_methods},
    {0, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "Ids that come in parts; see isotok.Decoder."},
    {Py_tp_dealloc, __extension__(void *) stream_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL},
};

PyType_Spec encoder_spec = {
    .name = "isotok._native.EncoderStream",
    .basicsize = sizeof(stream_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = encoder_slots,
};

PyType_Spec decoder_spec = {
    .name = "isotok._native.DecoderStream",
    .basicsize = sizeof(stream_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = decoder_slots,
};
