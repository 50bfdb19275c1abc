/* model.c: Model, an opened blob with its sessions. It never changes, so threads share it;
 * it goes when the last reference goes, and cannot be closed while a call runs. */
#include <stdlib.h>

#include "native.h"

static void model_dealloc(PyObject *op)
{
    model_object *self = (model_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    boxes_free(self);
    ints_free(self);
    free(self->view);
    PyBuffer_Release(&self->blob);
    PyBuffer_Release(&self->added);
    PyObject_Free(op);
    Py_DECREF(type);
}

static isotok_status model_start(model_object *self, uint32_t verify, isotok_error *error)
{
    size_t size = isotok_model_size();
    self->view = malloc(size);
    if (self->view == NULL) return ISOTOK_E_TOO_LARGE;
    isotok_status status = isotok_model_open(self->blob.buf, (size_t)self->blob.len, verify,
                                             self->view, size, &self->model, error);
    if (status == ISOTOK_OK && self->added.obj != NULL)
        status = isotok_model_open(self->added.buf, (size_t)self->added.len,
                                   verify | ISOTOK_VERIFY_ADDED, self->view, size, &self->model,
                                   error);
    if (status != ISOTOK_OK) return status;
    self->info.size = sizeof self->info;
    return isotok_model_info(self->model, &self->info);
}

static model_object *model_alloc(module_state *state)
{
    model_object *self = PyObject_New(model_object, state->model_type);
    if (self == NULL) return NULL;
    self->blob = self->added = (Py_buffer){0};
    self->model = NULL;
    self->view = NULL;
    self->info = (isotok_info){0};
    self->cache_size = 0;
    for (int i = 0; i < SESSION_SLOTS; i++) atomic_init(&self->free_boxes[i], NULL);
#ifndef Py_GIL_DISABLED
    self->ints = NULL;
#endif
    return self;
}

/* open(blob, verify, cache_bytes[, added]) -> Model. `blob` is a 64-aligned buffer (an mmap or a
 * Buffer) that nobody changes, and so is `added`, of ISOTOK_FORM_ADDED, or None; the Model holds
 * them. Each session has a token cache of `cache_bytes`. */
PyObject *module_open(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    module_state *state = PyModule_GetState(module);
    uint32_t verify, cache_size;
    if (!arguments("open", count, count == 4 ? 4 : 3) || !argument_u32(args[1], &verify) ||
        !argument_u32(args[2], &cache_size))
        return NULL;
    model_object *self = model_alloc(state);
    if (self == NULL) return NULL;
    self->cache_size = cache_size;
    if (PyObject_GetBuffer(args[0], &self->blob, PyBUF_SIMPLE) < 0 ||
        (count == 4 && args[3] != Py_None &&
         PyObject_GetBuffer(args[3], &self->added, PyBUF_SIMPLE) < 0)) {
        Py_DECREF(self);
        return NULL;
    }
    isotok_error error = error_new();
    PyThreadState *released = PyEval_SaveThread();
    isotok_status status = model_start(self, verify, &error);
    PyEval_RestoreThread(released);
    if (status == ISOTOK_OK) return (PyObject *)self;
    error.status = status;
    raise_error(state, &error, "model");
    Py_DECREF(self);
    return NULL;
}

/* info() -> the fields of isotok_info in order, without size and reserved */
static PyObject *model_info(PyObject *op, PyObject *unused)
{
    const isotok_info *info = &((model_object *)op)->info;
    (void)unused;
    return Py_BuildValue("(IIIKIIIIIIIII)", info->parity, info->vocab_size, info->algorithm,
                         (unsigned long long)info->features, info->unk, info->bos, info->eos,
                         info->pad, info->max_piece_bytes, info->max_expansion, info->max_key_bytes,
                         info->session_min, info->session_size);
}

/* piece(id) -> (bytes, type, score) */
static PyObject *model_piece(PyObject *op, PyObject *number)
{
    model_object *self = (model_object *)op;
    isotok_piece piece;
    isotok_error error = error_new();
    long long id = PyLong_AsLongLong(number);
    if (id == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return NULL;
        PyErr_Clear();
    }
    error.status = ISOTOK_E_ID_RANGE;
    if (id >= 0 && id < (long long)ISOTOK_NO_TOKEN)
        error.status = isotok_piece_get(self->model, (uint32_t)id, &piece);
    if (error.status == ISOTOK_OK)
        return Py_BuildValue("(y#Id)", piece.text, (Py_ssize_t)piece.size, piece.type,
                             (double)piece.score);
    error.what = ISOTOK_WHAT_TOKEN_ID;
    return raise_error(state_of(op), &error, "id");
}

/* find(piece) -> int, or -1; `piece` is str or bytes */
static PyObject *model_find(PyObject *op, PyObject *object)
{
    text_view text;
    if (text_get(state_of(op), object, &text) < 0) return NULL;
    uint32_t id = isotok_piece_find(((model_object *)op)->model, text.data, text.size);
    text_release(&text);
    return id == ISOTOK_NO_TOKEN ? PyLong_FromLong(-1) : PyLong_FromUnsignedLong(id);
}

/* blob() -> memoryview of the model's bytes, read-only */
static PyObject *model_blob(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyMemoryView_FromObject(((model_object *)op)->blob.obj);
}

/* cache_info() -> (entries, probes, hits, uncertified, bypassed) of the idle sessions together */
static PyObject *model_cache_info(PyObject *op, PyObject *unused)
{
    model_object *self = (model_object *)op;
    session_box *taken[SESSION_SLOTS]; /* so that none is given back to a slot further on */
    isotok_cache_info sum = {0};
    uint64_t entries = 0;
    int count = 0;
    (void)unused;
    for (int i = 0; i < SESSION_SLOTS; i++) {
        session_box *box = atomic_exchange(&self->free_boxes[i], NULL);
        if (box == NULL) continue;
        sum.entries = 0;
        box_add_counts(box, &sum);
        entries += sum.entries;
        taken[count++] = box;
    }
    for (int i = 0; i < count; i++) box_give(self, taken[i]);
    return Py_BuildValue("(KKKKK)", (unsigned long long)entries, (unsigned long long)sum.probes,
                         (unsigned long long)sum.hits, (unsigned long long)sum.uncertified,
                         (unsigned long long)sum.bypassed);
}

/* sessions() -> memory sizes of the sessions kept for later calls; for tests */
static PyObject *model_sessions(PyObject *op, PyObject *unused)
{
    model_object *self = (model_object *)op;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; i < SESSION_SLOTS && list != NULL; i++) {
        session_box *box = atomic_exchange(&self->free_boxes[i], NULL);
        if (box == NULL) continue;
        PyObject *size = PyLong_FromSize_t(box->memory_size + box->ids_capacity * 4);
        if (size == NULL || PyList_Append(list, size) < 0) Py_CLEAR(list);
        Py_XDECREF(size);
        box_give(self, box);
    }
    return list;
}

#define FAST(name, function, doc)                                         \
    {                                                                     \
        name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, doc \
    }

static PyMethodDef model_methods[] = {
    FAST("encode", model_encode, "encode(text, bos, eos, limit) -> list[int]"),
    FAST("encode_ids", model_encode_ids, "encode_ids(text, flags, limit) -> Buffer"),
    FAST("encode_into", model_encode_into, "encode_into(text, flags, buffer) -> int"),
    FAST("encode_spans", model_encode_spans, "encode_spans(text, flags, unit) -> tuple"),
    FAST("sample", model_sample, "sample(text, flags, alpha, seed) -> list[int]"),
    FAST("nbest", model_nbest, "nbest(text, flags, n, alpha, seed) -> tuple"),
    FAST("encode_batch", model_encode_batch, "encode_batch(texts, flags, limit, as_lists)"),
    FAST("lists", model_lists, "lists(ids, ends) -> list[list[int]]"),
    FAST("count_batch", model_count_batch, "count_batch(texts, flags) -> Buffer"),
    FAST("decode_batch", model_decode_batch, "decode_batch(ids, flags) -> list[str]"),
    FAST("count", model_count, "count(text, flags, limit) -> int"),
    FAST("normalize", model_normalize, "normalize(text, flags, unit, with_map) -> tuple"),
    {"boundaries", model_boundaries, METH_O, "boundaries(text) -> Buffer"},
    FAST("decode", model_decode, "decode(ids, raw, flags) -> str | bytes"),
    FAST("decode_pieces", model_decode_pieces, "decode_pieces(pieces) -> str"),
    {"encoder", model_encoder, METH_O, "encoder(flags) -> EncoderStream"},
    {"decoder", model_decoder, METH_O, "decoder(flags) -> DecoderStream"},
    {"long_text", model_long_text, METH_O, "long_text(text) -> LongText"},
    {"info", model_info, METH_NOARGS, "info() -> tuple: the fields of isotok_info"},
    {"piece", model_piece, METH_O, "piece(id) -> (bytes, type, score)"},
    {"find", model_find, METH_O, "find(piece) -> int, -1 if there is none"},
    {"blob", model_blob, METH_NOARGS, "blob() -> memoryview"},
    {"cache_info", model_cache_info, METH_NOARGS, "cache_info() -> tuple of five counts"},
    {"sessions", model_sessions, METH_NOARGS, "sessions() -> sizes of idle sessions"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot model_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "An opened blob; see isotok._backend.Backend."},
    {Py_tp_dealloc, __extension__(void *) model_dealloc},
    {Py_tp_methods, model_methods},
    {0, NULL},
};

PyType_Spec model_spec = {
    .name = "isotok._native.Model",
    .basicsize = sizeof(model_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = model_slots,
};
