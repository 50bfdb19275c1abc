/* bpe_run.c: training BPE, see train.h.
 *
 * bpe_run(counts, unit, tie_break, base, byte_ids, min_frequency, max_token_bytes, limit_alphabet,
 *         forbidden, window) -> BpeRun
 *     counts: WordCounts, copied; unit: 0 bytes, 1 Unicode; tie_break: 0 smallest ids, 1 largest
 *     text; base: (pool, ends) of the first tokens, None: 256 bytes; byte_ids: buffer of 256 uint32
 *     (0xFFFFFFFF: left out) or None: by their texts; max_token_bytes: 0 any; limit_alphabet:
 *     0xFFFFFFFF any; forbidden: (pool, ends) of left, right, left, right, …, or None; window: 0
 *     default
 * BpeRun.run(target, progress) -> int   0: target reached, 1: no pair is left, 2: stopped;
 *                                       progress(done, total) -> true to stop, or None
 * BpeRun.step() -> bool                 False: no pair is left
 * BpeRun.replay(pool, ends, merges)     tokens behind the base, and merges as of merges()
 * BpeRun.add_character(code_point)
 * BpeRun.freeze() -> (characters, counts)   Buffers of uint32 and int64, ascending
 * BpeRun.merges() -> Buffer             numpy: [("left", "u4"), ("right", "u4"), ("made", "u4"),
 *                                       ("unused", "u4"), ("count", "i8")]
 * BpeRun.tokens() -> (pool, ends)       all of them, the base first
 * BpeRun.last_count() -> int            of the last merge or character
 * BpeRun.stats() -> dict[str, int] */
#include <string.h>

#include "train.h"

typedef struct {
    PyObject_HEAD isotok_bpe *bpe;
    atomic_flag busy;
} bpe_object;

/* texts_get() of a pair, or of None: no texts. */
static bool texts_pair(PyObject *pair, texts_view *view)
{
    *view = (texts_view){0};
    if (pair == Py_None) return true;
    if (!PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
        PyErr_SetString(PyExc_TypeError, "texts must be a tuple (pool, ends) or None");
        return false;
    }
    return texts_get(PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1), view);
}

static void bpe_dealloc(PyObject *op)
{
    PyTypeObject *type = Py_TYPE(op);
    isotok_bpe_free(((bpe_object *)op)->bpe);
    PyObject_Free(op);
    Py_DECREF(type);
}

static bool get_numbers(PyObject *const *args, isotok_bpe_options *options)
{
    uint64_t least;
    if (!argument_u32(args[1], &options->unit) || !argument_u32(args[2], &options->tie_break) ||
        !argument_u64(args[5], &least) || !argument_u32(args[6], &options->max_token_bytes) ||
        !argument_u32(args[7], &options->limit_alphabet) ||
        !argument_u32(args[9], &options->window))
        return false;
    options->min_frequency = least > INT64_MAX ? INT64_MAX : (int64_t)least;
    return true;
}

static isotok_bpe *bpe_make(PyObject *counts, const isotok_bpe_options *options,
                            isotok_train_error *error)
{
    counts_object *from = (counts_object *)counts;
    if (!train_take(counts, &from->busy)) return NULL;
    PyThreadState *released = PyEval_SaveThread();
    isotok_bpe *bpe = isotok_bpe_new(options, from->counts, error);
    PyEval_RestoreThread(released);
    atomic_flag_clear(&from->busy);
    return bpe;
}

static bool byte_ids_get(PyObject *object, Py_buffer *view)
{
    if (object == Py_None) return true;
    if (!view_get(object, view, sizeof(uint32_t), "byte_ids")) return false;
    if (view->len == 256 * sizeof(uint32_t)) return true;
    PyErr_SetString(PyExc_ValueError, "byte_ids: not 256 numbers");
    return false; /* released by the caller */
}

static PyObject *bpe_new(module_state *state, PyObject *const *args)
{
    isotok_bpe_options options = isotok_bpe_options_new();
    isotok_train_error error = {0};
    texts_view base = {0}, forbidden = {0};
    Py_buffer byte_ids = {0};
    bpe_object *self = NULL;
    if (!PyObject_TypeCheck(args[0], state->counts_type)) {
        PyErr_SetString(PyExc_TypeError, "counts must be WordCounts");
        return NULL;
    }
    if (get_numbers(args, &options) && texts_pair(args[3], &base) &&
        texts_pair(args[8], &forbidden) && byte_ids_get(args[4], &byte_ids)) {
        options.base = base.texts;
        options.forbidden = forbidden.texts;
        options.byte_ids = byte_ids.buf;
        isotok_bpe *bpe = bpe_make(args[0], &options, &error);
        if (bpe == NULL && !PyErr_Occurred()) train_fail_with(state, &error);
        if (bpe != NULL && (self = PyObject_New(bpe_object, state->bpe_type)) == NULL)
            isotok_bpe_free(bpe);
        if (self != NULL) {
            self->bpe = bpe;
            atomic_flag_clear(&self->busy);
        }
    }
    if (byte_ids.obj != NULL) PyBuffer_Release(&byte_ids);
    texts_release(&base);
    texts_release(&forbidden);
    return (PyObject *)self;
}

PyObject *module_bpe_run(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    return arguments("bpe_run", count, 10) ? bpe_new(PyModule_GetState(module), args) : NULL;
}

typedef struct {
    PyObject *call;
    PyThreadState *released;
} progress_call;

static int progress(void *context, uint64_t done, uint64_t total)
{
    progress_call *call = context;
    bool stop = true;
    PyEval_RestoreThread(call->released);
    if (PyErr_CheckSignals() == 0) {
        PyObject *answer = call->call == Py_None
                               ? Py_NewRef(Py_False)
                               : PyObject_CallFunction(call->call, "KK", (unsigned long long)done,
                                                       (unsigned long long)total);
        if (answer != NULL && !argument_bool(answer, &stop)) stop = true;
        Py_XDECREF(answer);
    }
    call->released = PyEval_SaveThread();
    return stop;
}

static PyObject *bpe_run_to(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    bpe_object *self = (bpe_object *)op;
    isotok_train_error error = {0};
    uint32_t target;
    if (!arguments("run", count, 2) || !argument_u32(args[0], &target) || !train_take(op, &self->busy))
        return NULL;
    progress_call call = {args[1], PyEval_SaveThread()};
    isotok_train_status status = isotok_bpe_run(self->bpe, target, progress, &call, &error);
    PyEval_RestoreThread(call.released);
    atomic_flag_clear(&self->busy);
    if (status < 0) return train_fail_with(state_of(op), &error);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(status);
}

static PyObject *bpe_step(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    isotok_train_error error = {0};
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    isotok_train_status status = isotok_bpe_step(self->bpe, &error);
    atomic_flag_clear(&self->busy);
    return status < 0 ? train_fail_with(state_of(op), &error) : PyBool_FromLong(status == 0);
}

static PyObject *bpe_replay(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    bpe_object *self = (bpe_object *)op;
    isotok_train_error error = {0};
    texts_view tokens;
    Py_buffer merges;
    if (!arguments("replay", count, 3) || !texts_get(args[0], args[1], &tokens)) return NULL;
    if (!view_get(args[2], &merges, sizeof(isotok_bpe_merge), "merges")) {
        texts_release(&tokens);
        return NULL;
    }
    if (train_take(op, &self->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        isotok_bpe_replay(self->bpe, &tokens.texts, merges.buf,
                          (uint32_t)((size_t)merges.len / sizeof(isotok_bpe_merge)), &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&self->busy);
        if (error.status < 0) train_fail_with(state_of(op), &error);
    }
    PyBuffer_Release(&merges);
    texts_release(&tokens);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *bpe_add_character(PyObject *op, PyObject *number)
{
    bpe_object *self = (bpe_object *)op;
    isotok_train_error error = {0};
    uint32_t character;
    if (!argument_u32(number, &character) || !train_take(op, &self->busy)) return NULL;
    isotok_bpe_add_character(self->bpe, character, &error);
    atomic_flag_clear(&self->busy);
    return error.status < 0 ? train_fail_with(state_of(op), &error) : Py_NewRef(Py_None);
}

static PyObject *bpe_freeze(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    void *characters, *counts;
    PyObject *result = NULL;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    isotok_bpe_freeze(self->bpe);
    const size_t n = isotok_bpe_frozen(self->bpe, NULL, NULL);
    PyObject *a = buffer_new(state_of(op), n * sizeof(uint32_t), &characters);
    PyObject *b = a ? buffer_new(state_of(op), n * sizeof(int64_t), &counts) : NULL;
    if (b != NULL) {
        isotok_bpe_frozen(self->bpe, characters, counts);
        result = PyTuple_Pack(2, a, b);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *bpe_merges(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    const isotok_bpe_merge *merges;
    void *memory;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    const size_t size = isotok_bpe_merges(self->bpe, &merges) * sizeof *merges;
    PyObject *result = buffer_new(state_of(op), size, &memory);
    if (result != NULL && size != 0) memcpy(memory, merges, size);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *bpe_tokens(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    void *pool, *ends;
    PyObject *result = NULL;
    uint64_t total = 0;
    uint32_t size;
    (void)unused;
    if (!train_take(op, &self->busy)) return NULL;
    const uint32_t n = isotok_bpe_tokens(self->bpe);
    PyObject *b = buffer_new(state_of(op), n * sizeof(uint64_t), &ends);
    for (uint32_t i = 0; b != NULL && i < n; i++) {
        isotok_bpe_token(self->bpe, i, &size);
        ((uint64_t *)ends)[i] = total += size;
    }
    PyObject *a = b ? buffer_new(state_of(op), (size_t)total, &pool) : NULL;
    for (uint32_t i = 0; a != NULL && i < n; i++) {
        const uint8_t *text = isotok_bpe_token(self->bpe, i, &size);
        memcpy((uint8_t *)pool + ((uint64_t *)ends)[i] - size, text, size);
    }
    if (a != NULL) result = PyTuple_Pack(2, a, b);
    Py_XDECREF(a);
    Py_XDECREF(b);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *bpe_last_count(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromLongLong(isotok_bpe_last_count(((bpe_object *)op)->bpe));
}

static PyObject *bpe_stats(PyObject *op, PyObject *unused)
{
    const isotok_bpe_stats s = isotok_bpe_get_stats(((bpe_object *)op)->bpe);
    (void)unused;
    return Py_BuildValue(
        "{sKsKsKsKsKsKsKsKsK}", "words", (unsigned long long)s.words, "symbols",
        (unsigned long long)s.symbols, "hydration_scans", (unsigned long long)s.hydration_scans,
        "hydrated_entries", (unsigned long long)s.hydrated_entries, "peak_pairs",
        (unsigned long long)s.peak_pairs, "pairs", (unsigned long long)s.pairs, "places",
        (unsigned long long)s.places, "memory", (unsigned long long)s.memory, "peak_memory",
        (unsigned long long)s.peak_memory);
}

static PyMethodDef bpe_methods[] = {
    {"run", (PyCFunction)(void (*)(void))bpe_run_to, METH_FASTCALL, "run(target, progress) -> int"},
    {"step", bpe_step, METH_NOARGS, "step() -> bool"},
    {"replay", (PyCFunction)(void (*)(void))bpe_replay, METH_FASTCALL,
     "replay(pool, ends, merges)"},
    {"add_character", bpe_add_character, METH_O, "add_character(code_point)"},
    {"freeze", bpe_freeze, METH_NOARGS, "freeze() -> (characters, counts)"},
    {"merges", bpe_merges, METH_NOARGS, "merges() -> Buffer"},
    {"tokens", bpe_tokens, METH_NOARGS, "tokens() -> (pool, ends)"},
    {"last_count", bpe_last_count, METH_NOARGS, "last_count() -> int"},
    {"stats", bpe_stats, METH_NOARGS, "stats() -> dict"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot bpe_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "A BPE training run."},
    {Py_tp_dealloc, __extension__(void *) bpe_dealloc},
    {Py_tp_methods, bpe_methods},
    {0, NULL},
};

PyType_Spec bpe_spec = {
    .name = "isotok._native.BpeRun",
    .basicsize = sizeof(bpe_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = bpe_slots,
};
