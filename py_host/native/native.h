/* native.h: what the files of the extension module isotok._native share.
 *
 * The module is a thin binding of the core: it finds memory, calls, and turns results
 * into Python objects. It keeps no state that two threads could change without an atomic
 * operation, so it is also right without the global interpreter lock (free-threaded
 * builds). The int pool (list.c) is the one exception and exists only with the lock.
 */
#ifndef ISOTOK_NATIVE_H
#define ISOTOK_NATIVE_H

#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "isotok_build.h"

/* Text longer than this is encoded with the lock released: taking it back costs about
 * as much as encoding a few hundred bytes. */
#define RELEASE_GIL_ABOVE 1024u

/* Sessions kept for the next call. More threads than this still work: theirs are freed. */
#define SESSION_SLOTS 16

/* Ids of longer texts go to a list step by step, so that they are not in memory twice. */
#define LONG_TEXT (1u << 20)

#define IDS_CAPACITY 4096u           /* ids that a kept session holds room for */
#define KEPT_IDS_CAPACITY (1u << 18) /* a larger buffer is given back after the call */

typedef struct {
    PyTypeObject *buffer_type;
    PyTypeObject *model_type;
    PyTypeObject *encoder_type;
    PyTypeObject *decoder_type;
    PyTypeObject *long_type;
    PyTypeObject *counts_type;
    PyTypeObject *bigrams_type;
    PyTypeObject *distil_type;
    PyTypeObject *bpe_type;
    PyObject *make_error; /* isotok.errors.make_error */
    PyObject *train_error; /* isotok.errors.TokenizerError */
    PyObject *to_utf8;    /* isotok._text.to_utf8, for texts with surrogates */
} module_state;

/* Scratch and output of one call. */
typedef struct {
    isotok_session *session;
    void *memory; /* 64-aligned, begins inside `raw` */
    void *raw;    /* as malloc returned it */
    size_t memory_size;
    void *cache;               /* of tokens, as calloc returned it; NULL: none */
    size_t cache_size;         /* bytes; 0: none yet */
    isotok_cache_info counted; /* by the sessions that the box had before */
    uint32_t *ids;
    size_t ids_capacity;
    PyThreadState *released; /* set while the call runs without the lock */
} session_box;

typedef struct {
    PyObject_HEAD Py_buffer blob; /* borrowed from an mmap or a Buffer, 64-aligned */
    Py_buffer added;              /* what added tokens change, the same; obj NULL: none */
    const isotok_model *model;
    void *view; /* memory of the model view */
    isotok_info info;
    size_t cache_size; /* most bytes of each session's token cache; 0: none */
    _Atomic(session_box *) free_boxes[SESSION_SLOTS];
#ifndef Py_GIL_DISABLED
    PyObject **ints; /* [vocab_size] int objects, made when first used */
#endif
} model_object;

/* UTF-8 of a str or bytes argument. */
typedef struct {
    const uint8_t *data;
    size_t size;
    PyObject *owner; /* NULL: `data` lives as long as the argument */
} text_view;

/* Token ids of an argument: a list of int, or uint32 memory. */
typedef struct {
    const uint32_t *ids;
    size_t count;
    uint32_t *owned; /* of a list */
    Py_buffer view;  /* else */
} ids_view;

/* UTF-8 that grows. */
typedef struct {
    uint8_t *text;
    size_t capacity;
    size_t size;
} text_output;

/* One call of a method: its session, its text and its error. */
typedef struct {
    model_object *self;
    session_box *box;
    text_view text;
    isotok_error error;
} native_call;

/* module.c */
module_state *state_of(PyObject *self);

/* error.c: both set an exception; raise_error returns NULL for convenience. */
PyObject *raise_error(module_state *state, const isotok_error *error, const char *subject);
isotok_error error_new(void);

/* buffer.c */
extern PyType_Spec buffer_spec;
PyObject *buffer_new(module_state *state, size_t size, void **out_memory);
void buffer_truncate(PyObject *self, size_t size);
PyObject *buffer_adopt(module_state *state, void *raw, size_t size);
void *align_up(void *memory);
void *aligned_malloc(size_t size, void **out_raw);

/* text.c */
int text_get(module_state *state, PyObject *object, text_view *out);
void text_release(text_view *text);

/* session.c */
session_box *box_take(model_object *self, isotok_error *out_error);
void box_give(model_object *self, session_box *box);
void boxes_free(model_object *self);
isotok_status box_grow_session(session_box *box, isotok_error *error);
bool box_grow_ids(session_box *box, size_t wanted);
bool box_signals(session_box *box);
bool box_trim_ids(session_box *box);
void box_add_counts(const session_box *box, isotok_cache_info *sum);

/* call.c: call_open takes a session and releases the lock for work of `size` bytes;
 * call_close gives both back, and sets an exception (false) if the status is an error. */
bool call_open_text(native_call *call, PyObject *self, PyObject *text);
bool call_open(native_call *call, PyObject *self, size_t size);
bool call_hold(native_call *call, isotok_status status, const char *subject);
void call_close(native_call *call);
isotok_encode_options options_of(uint32_t flags);

/* list.c */
PyObject *list_of_ids(model_object *self, const uint32_t *ids, size_t count);
bool list_extend(model_object *self, PyObject *list, const uint32_t *ids, size_t count);
void ints_free(model_object *self);

/* encode.c */
PyObject *take_ids(module_state *state, session_box *box, size_t total);
isotok_status encode_run(native_call *call, const isotok_encode_options *options, size_t *total);
PyObject *model_encode(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_encode_ids(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_encode_into(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_count(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* spans.c */
PyObject *model_encode_spans(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* sample.c */
PyObject *model_sample(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_nbest(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* batch.c */
PyObject *model_encode_batch(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_lists(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_count_batch(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_decode_batch(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* normalize.c */
PyObject *model_normalize(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* boundaries.c */
PyObject *model_boundaries(PyObject *self, PyObject *text);

/* decode.c: ids_get and text_open set an exception and return false; text_provide gives a step
 * what `status` says is missing. */
bool ids_get(PyObject *self, PyObject *object, ids_view *out);
void ids_release(ids_view *ids);
bool text_open(text_output *output, size_t capacity);
isotok_status text_provide(native_call *call, text_output *output, isotok_status status);
isotok_status decode_run(native_call *call, const uint32_t *ids, size_t count, uint32_t flags,
                         text_output *output);
PyObject *model_decode(PyObject *self, PyObject *const *args, Py_ssize_t count);
PyObject *model_decode_pieces(PyObject *self, PyObject *const *args, Py_ssize_t count);

/* stream.c */
extern PyType_Spec encoder_spec;
extern PyType_Spec decoder_spec;
PyObject *model_encoder(PyObject *self, PyObject *flags);
PyObject *model_decoder(PyObject *self, PyObject *flags);

/* parallel.c */
extern PyType_Spec long_spec;
PyObject *model_long_text(PyObject *self, PyObject *bytes);

/* model.c */
extern PyType_Spec model_spec;
PyObject *module_open(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* word_counts.c, bigrams.c, bpe_run.c, distil.c */
extern PyType_Spec counts_spec;
extern PyType_Spec bigrams_spec;
extern PyType_Spec distil_spec;
extern PyType_Spec bpe_spec;
PyObject *module_word_counts(PyObject *module, PyObject *model);
PyObject *module_bigrams(PyObject *module, PyObject *unused);
PyObject *module_distil(PyObject *module, PyObject *const *args, Py_ssize_t count);
PyObject *module_bpe_run(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* compile.c */
PyObject *module_compile(PyObject *module, PyObject *const *args, Py_ssize_t count);

/* Arguments of the methods, all positional. They set an exception and return false. */
bool arguments(const char *name, Py_ssize_t count, Py_ssize_t wanted);
bool argument_u32(PyObject *object, uint32_t *out);
bool argument_u64(PyObject *object, uint64_t *out);
bool argument_bool(PyObject *object, bool *out);
bool argument_flags(PyObject *object, isotok_encode_options *out);
bool argument_double(PyObject *object, double *out);

#endif
