/* boundaries.c: where normalized text may be cut; needs no session. */
#include <stdlib.h>

#include "native.h"

typedef struct {
    uint32_t *ends;
    size_t count, capacity;
} ends_array;

static bool ends_grow(ends_array *array)
{
    size_t wanted = array->capacity * 2 + 64;
    uint32_t *ends = wanted < SIZE_MAX / 8 ? realloc(array->ends, wanted * sizeof *ends) : NULL;
    if (ends == NULL) return false;
    array->ends = ends;
    array->capacity = wanted;
    return true;
}

static isotok_status find_all(const isotok_model *model, const text_view *text, ends_array *array,
                              isotok_error *error)
{
    size_t position = 0, count = 0;
    isotok_status status = ISOTOK_NEED_OUTPUT;
    while (status == ISOTOK_NEED_OUTPUT && ends_grow(array)) {
        status =
            isotok_boundaries(model, text->data, text->size, &position, array->ends + array->count,
                              array->capacity - array->count, &count, error);
        array->count += count;
    }
    return status == ISOTOK_NEED_OUTPUT ? ISOTOK_E_TOO_LARGE : status;
}

/* boundaries(text) -> Buffer of uint32: ends of the chunks, in bytes */
PyObject *model_boundaries(PyObject *self, PyObject *object)
{
    module_state *state = state_of(self);
    isotok_error error = error_new();
    ends_array array = {0};
    text_view text;
    if (text_get(state, object, &text) < 0) return NULL;
    PyThreadState *released = text.size > RELEASE_GIL_ABOVE ? PyEval_SaveThread() : NULL;
    error.status = find_all(((model_object *)self)->model, &text, &array, &error);
    if (released != NULL) PyEval_RestoreThread(released);
    text_release(&text);
    if (error.status == ISOTOK_OK)
        return buffer_adopt(state, array.ends, array.count * sizeof *array.ends);
    free(array.ends);
    return raise_error(state, &error, "text");
}
