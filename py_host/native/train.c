/* train.c: counting words and training BPE, core/train/isotok_train.h. For isotok.train.
 *
 * word_counts(model: Model | None) -> WordCounts     with the pre-tokenizer of a model; None: a
 *                                                    text is a word
 * WordCounts.add_texts(texts: list[str | bytes])     no word spans two texts
 * WordCounts.add_table(pool, ends, counts)           word i is pool[ends[i-1]:ends[i]]; buffers of
 *                                                    bytes, uint64 and int64
 * WordCounts.merge(other: WordCounts)
 * WordCounts.arrays() -> (pool, ends, counts)        Buffers like those; words ascending by bytes
 * WordCounts.size() -> int, .bytes() -> int, .memory() -> int, .clear()
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
 * BpeRun.stats() -> dict[str, int]
 * train_bpe(counts, target, unit, … window, progress) -> (merges, (pool, ends), stats)
 *                                       bpe_run, run and the results in one call
 *
 * Errors are isotok.errors.TokenizerError. Work is done without the lock; an object that another
 * thread works with is an error. */
#include "isotok_train.h"

#include <stdlib.h>
#include <string.h>

#include "native.h"

typedef struct {
    PyObject_HEAD isotok_counts *counts;
    model_object *model; /* or NULL */
    atomic_flag busy;
} counts_object;

typedef struct {
    PyObject_HEAD isotok_bpe *bpe;
    atomic_flag busy;
} bpe_object;

static PyObject *fail(module_state *state, const char *text)
{
    PyErr_SetString(state->train_error, text);
    return NULL;
}

static PyObject *fail_with(module_state *state, const isotok_train_error *error)
{
    if (error->status == ISOTOK_TRAIN_E_MEMORY) return PyErr_NoMemory();
    return PyErr_Format(state->train_error, "%s (at %llu)", error->message,
                        (unsigned long long)error->index);
}

static bool take(PyObject *self, atomic_flag *busy)
{
    if (!atomic_flag_test_and_set(busy)) return true;
    fail(state_of(self), "another thread works with this object");
    return false;
}

/* ---- Buffers ---- */

static bool view_get(PyObject *object, Py_buffer *view, size_t unit, const char *name)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS) < 0) return false;
    if ((size_t)view->len % unit == 0) return true;
    PyErr_Format(PyExc_ValueError, "%s: %zd bytes are no whole number of elements", name,
                 view->len);
    PyBuffer_Release(view);
    return false;
}

typedef struct {
    Py_buffer pool, ends;
    isotok_bpe_texts texts;
} texts_view;

static void texts_release(texts_view *view)
{
    if (view->pool.obj != NULL) PyBuffer_Release(&view->pool);
    if (view->ends.obj != NULL) PyBuffer_Release(&view->ends);
}

/* Checks that the ends ascend inside the pool; true: `view` is to be released. */
static bool texts_get(PyObject *pool, PyObject *ends, texts_view *view)
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

/* The same of a pair, or of None: no texts. */
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

/* ---- WordCounts ---- */

static void counts_dealloc(PyObject *op)
{
    counts_object *self = (counts_object *)op;
    PyTypeObject *type = Py_TYPE(op);
    isotok_counts_free(self->counts);
    Py_XDECREF((PyObject *)self->model);
    PyObject_Free(op);
    Py_DECREF(type);
}

PyObject *module_word_counts(PyObject *module, PyObject *model)
{
    module_state *state = PyModule_GetState(module);
    if (model != Py_None && !PyObject_TypeCheck(model, state->model_type)) {
        PyErr_SetString(PyExc_TypeError, "word_counts() takes a Model or None");
        return NULL;
    }
    counts_object *self = PyObject_New(counts_object, state->counts_type);
    if (self == NULL) return NULL;
    self->model = model == Py_None ? NULL : (model_object *)Py_NewRef(model);
    atomic_flag_clear(&self->busy);
    self->counts = isotok_counts_new(self->model ? self->model->model : NULL);
    if (self->counts == NULL) {
        Py_DECREF(self);
        return fail(state, "the model has no pre-tokenizer");
    }
    return (PyObject *)self;
}

static isotok_train_status add_views(counts_object *self, text_view *views, Py_ssize_t count,
                                     isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    for (Py_ssize_t i = 0; i < count && status == ISOTOK_TRAIN_OK; i++)
        status = isotok_counts_add_text(self->counts, views[i].data, views[i].size, error);
    return status;
}

static PyObject *counts_add_texts(PyObject *op, PyObject *list)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "add_texts() takes a list");
        return NULL;
    }
    if (!take(op, &self->busy)) return NULL;
    const Py_ssize_t count = PyList_Size(list);
    Py_ssize_t got = 0;
    /* strong references: another thread may change the list */
    PyObject **texts = calloc((size_t)count + 1, sizeof *texts);
    text_view *views = calloc((size_t)count + 1, sizeof *views);
    if (texts == NULL || views == NULL) PyErr_NoMemory();
    while (texts != NULL && views != NULL && got < count) {
        texts[got] = Py_XNewRef(PyList_GetItem(list, got));
        if (texts[got] == NULL) break;
        if (text_get(state_of(op), texts[got], &views[got]) < 0) {
            Py_DECREF(texts[got]);
            break;
        }
        got++;
    }
    if (!PyErr_Occurred()) {
        PyThreadState *released = PyEval_SaveThread();
        add_views(self, views, got, &error);
        PyEval_RestoreThread(released);
        if (error.status < 0) fail_with(state_of(op), &error);
    }
    while (got-- > 0) {
        text_release(&views[got]);
        Py_DECREF(texts[got]);
    }
    free(texts);
    free(views);
    atomic_flag_clear(&self->busy);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static isotok_train_status add_rows(counts_object *self, const isotok_bpe_texts *texts,
                                    const int64_t *counts, isotok_train_error *error)
{
    isotok_train_status status = ISOTOK_TRAIN_OK;
    for (uint32_t i = 0; i < texts->count && status == ISOTOK_TRAIN_OK; i++) {
        const uint64_t begin = i ? texts->ends[i - 1] : 0;
        status = isotok_counts_add_word(self->counts, texts->pool + begin,
                                        (size_t)(texts->ends[i] - begin), counts[i], error);
    }
    return status;
}

static PyObject *counts_add_table(PyObject *op, PyObject *const *args, Py_ssize_t count)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    texts_view view;
    Py_buffer numbers;
    if (!arguments("add_table", count, 3) || !texts_get(args[0], args[1], &view)) return NULL;
    if (!view_get(args[2], &numbers, sizeof(int64_t), "counts")) {
        texts_release(&view);
        return NULL;
    }
    if (numbers.len != view.ends.len) {
        PyErr_SetString(PyExc_ValueError, "ends and counts differ in length");
    } else if (take(op, &self->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        add_rows(self, &view.texts, numbers.buf, &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&self->busy);
        if (error.status < 0) fail_with(state_of(op), &error);
    }
    PyBuffer_Release(&numbers);
    texts_release(&view);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyObject *counts_merge(PyObject *op, PyObject *argument)
{
    counts_object *self = (counts_object *)op, *other = (counts_object *)argument;
    isotok_train_error error = {0};
    if (!PyObject_TypeCheck(argument, state_of(op)->counts_type)) {
        PyErr_SetString(PyExc_TypeError, "merge() takes WordCounts");
        return NULL;
    }
    if (!take(op, &self->busy)) return NULL;
    if (take(argument, &other->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        isotok_counts_merge(self->counts, other->counts, &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&other->busy);
        if (error.status < 0) fail_with(state_of(op), &error);
    }
    atomic_flag_clear(&self->busy);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static isotok_train_status export_rows(const isotok_counts *counts, uint8_t *pool, uint64_t *ends,
                                       int64_t *numbers, isotok_train_error *error)
{
    const uint32_t n = isotok_counts_size(counts);
    uint32_t *order = malloc(((size_t)n + 1) * sizeof *order);
    uint64_t at = 0;
    if (order == NULL) return error->status = ISOTOK_TRAIN_E_MEMORY;
    if (isotok_counts_sort(counts, order, error) == ISOTOK_TRAIN_OK) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t size;
            const uint8_t *word = isotok_counts_word(counts, order[i], &size, &numbers[i]);
            memcpy(pool + at, word, size);
            ends[i] = at += size;
        }
    }
    free(order);
    return error->status;
}

static PyObject *counts_arrays(PyObject *op, PyObject *unused)
{
    counts_object *self = (counts_object *)op;
    isotok_train_error error = {0};
    void *pool, *ends, *numbers;
    PyObject *result = NULL;
    (void)unused;
    if (!take(op, &self->busy)) return NULL;
    const size_t n = isotok_counts_size(self->counts);
    PyObject *a = buffer_new(state_of(op), (size_t)isotok_counts_bytes(self->counts), &pool);
    PyObject *b = a ? buffer_new(state_of(op), n * sizeof(uint64_t), &ends) : NULL;
    PyObject *c = b ? buffer_new(state_of(op), n * sizeof(int64_t), &numbers) : NULL;
    if (c != NULL) {
        PyThreadState *released = PyEval_SaveThread();
        export_rows(self->counts, pool, ends, numbers, &error);
        PyEval_RestoreThread(released);
        if (error.status < 0)
            fail_with(state_of(op), &error);
        else
            result = PyTuple_Pack(3, a, b, c);
    }
    Py_XDECREF(a);
    Py_XDECREF(b);
    Py_XDECREF(c);
    atomic_flag_clear(&self->busy);
    return result;
}

static PyObject *counts_size(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(isotok_counts_size(((counts_object *)op)->counts));
}

static PyObject *counts_bytes(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(isotok_counts_bytes(((counts_object *)op)->counts));
}

static PyObject *counts_memory(PyObject *op, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(isotok_counts_memory(((counts_object *)op)->counts));
}

static PyObject *counts_clear(PyObject *op, PyObject *unused)
{
    counts_object *self = (counts_object *)op;
    (void)unused;
    if (!take(op, &self->busy)) return NULL;
    isotok_counts_clear(self->counts);
    atomic_flag_clear(&self->busy);
    return Py_NewRef(Py_None);
}

static PyMethodDef counts_methods[] = {
    {"add_texts", counts_add_texts, METH_O, "add_texts(texts)"},
    {"add_table", (PyCFunction)(void (*)(void))counts_add_table, METH_FASTCALL,
     "add_table(pool, ends, counts)"},
    {"merge", counts_merge, METH_O, "merge(other)"},
    {"arrays", counts_arrays, METH_NOARGS, "arrays() -> (pool, ends, counts), sorted"},
    {"size", counts_size, METH_NOARGS, "size() -> int: different words"},
    {"bytes", counts_bytes, METH_NOARGS, "bytes() -> int: of all different words"},
    {"memory", counts_memory, METH_NOARGS, "memory() -> int: bytes in use"},
    {"clear", counts_clear, METH_NOARGS, "clear()"},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot counts_slots[] = {
    {Py_tp_doc, (void *)(uintptr_t) "Words and their counts."},
    {Py_tp_dealloc, __extension__(void *) counts_dealloc},
    {Py_tp_methods, counts_methods},
    {0, NULL},
};

PyType_Spec counts_spec = {
    .name = "isotok._native.WordCounts",
    .basicsize = sizeof(counts_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = counts_slots,
};

/* ---- BpeRun ---- */

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
    if (!take(counts, &from->busy)) return NULL;
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
        if (bpe == NULL && !PyErr_Occurred()) fail_with(state, &error);
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
    if (!arguments("run", count, 2) || !argument_u32(args[0], &target) || !take(op, &self->busy))
        return NULL;
    progress_call call = {args[1], PyEval_SaveThread()};
    isotok_train_status status = isotok_bpe_run(self->bpe, target, progress, &call, &error);
    PyEval_RestoreThread(call.released);
    atomic_flag_clear(&self->busy);
    if (status < 0) return fail_with(state_of(op), &error);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(status);
}

static PyObject *bpe_step(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    isotok_train_error error = {0};
    (void)unused;
    if (!take(op, &self->busy)) return NULL;
    isotok_train_status status = isotok_bpe_step(self->bpe, &error);
    atomic_flag_clear(&self->busy);
    return status < 0 ? fail_with(state_of(op), &error) : PyBool_FromLong(status == 0);
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
    if (take(op, &self->busy)) {
        PyThreadState *released = PyEval_SaveThread();
        isotok_bpe_replay(self->bpe, &tokens.texts, merges.buf,
                          (uint32_t)((size_t)merges.len / sizeof(isotok_bpe_merge)), &error);
        PyEval_RestoreThread(released);
        atomic_flag_clear(&self->busy);
        if (error.status < 0) fail_with(state_of(op), &error);
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
    if (!argument_u32(number, &character) || !take(op, &self->busy)) return NULL;
    isotok_bpe_add_character(self->bpe, character, &error);
    atomic_flag_clear(&self->busy);
    return error.status < 0 ? fail_with(state_of(op), &error) : Py_NewRef(Py_None);
}

static PyObject *bpe_freeze(PyObject *op, PyObject *unused)
{
    bpe_object *self = (bpe_object *)op;
    void *characters, *counts;
    PyObject *result = NULL;
    (void)unused;
    if (!take(op, &self->busy)) return NULL;
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
    if (!take(op, &self->busy)) return NULL;
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
    if (!take(op, &self->busy)) return NULL;
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

/* train_bpe(counts, target, unit, … window, progress) */
PyObject *module_train_bpe(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    PyObject *result = NULL;
    if (!arguments("train_bpe", count, 12)) return NULL;
    PyObject *options[10] = {args[0], args[2], args[3], args[4], args[5],
                             args[6], args[7], args[8], args[9], args[10]};
    PyObject *run_to[2] = {args[1], args[11]};
    PyObject *run = bpe_new(PyModule_GetState(module), options);
    if (run == NULL) return NULL;
    PyObject *status = bpe_run_to(run, run_to, 2);
    PyObject *merges = status ? bpe_merges(run, NULL) : NULL;
    PyObject *tokens = merges ? bpe_tokens(run, NULL) : NULL;
    PyObject *stats = tokens ? bpe_stats(run, NULL) : NULL;
    if (stats != NULL) result = PyTuple_Pack(3, merges, tokens, stats);
    Py_XDECREF(status);
    Py_XDECREF(merges);
    Py_XDECREF(tokens);
    Py_XDECREF(stats);
    Py_DECREF(run);
    return result;
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
