/* train.h: what word_counts.c, bigrams.c, bpe_run.c and distil.c share: counting words, training BPE
 * and distilling, see core/train/isotok_train.h and core/distil/isotok_distil.h. For isotok.train.
 *
 * Errors are isotok.errors.TokenizerError. Work is done without the lock; an object that another
 * thread works with is an error. */
#ifndef ISOTOK_NATIVE_TRAIN_H
#define ISOTOK_NATIVE_TRAIN_H

#include "isotok_distil.h"
#include "isotok_train.h"
#include "native.h"

/* word_counts.c */
typedef struct {
    PyObject_HEAD isotok_counts *counts;
    isotok_chunks *chunks; /* of a Unigram model, or NULL */
    model_object *model;   /* or NULL */
    atomic_flag busy;
} counts_object;

/* train.c. Both set an exception and return NULL. */
PyObject *train_fail(module_state *state, const char *text);
PyObject *train_fail_with(module_state *state, const isotok_train_error *error);
/* Makes the object this thread's until the flag is cleared; false: an exception is set. */
bool train_take(PyObject *self, atomic_flag *busy);
/* Gives each str of a list to `add`, without the lock; returns None, or NULL with an exception. */
typedef isotok_train_status (*train_add)(void *to, text_view *view, isotok_train_error *error);
PyObject *train_add_texts(PyObject *self, atomic_flag *busy, PyObject *list, train_add add,
                          void *to);
/* A buffer of whole elements of `unit` bytes. */
bool view_get(PyObject *object, Py_buffer *view, size_t unit, const char *name);

/* Texts end to end, and where each ends. */
typedef struct {
    Py_buffer pool, ends;
    isotok_bpe_texts texts;
} texts_view;

/* Checks that the ends ascend inside the pool; true: `view` is to be released. */
bool texts_get(PyObject *pool, PyObject *ends, texts_view *view);
void texts_release(texts_view *view);

#endif
