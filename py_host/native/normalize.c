/* normalize.c: text -> normalized bytes, with the offset of each byte in the text. */
#include <stdlib.h>

#include "native.h"

typedef struct {
    uint8_t *text;
    uint32_t *map; /* NULL unless asked for */
    size_t capacity;
    size_t size;
    bool with_map;
} norm_output;

static bool output_grow(norm_output *output, size_t wanted)
{
    /* One more element than the text: the map ends with the end of the raw text. */
    uint8_t *text = realloc(output->text, wanted + 1);
    if (text == NULL) return false;
    output->text = text;
    if (output->with_map) {
        uint32_t *map = wanted < SIZE_MAX / 8 ? realloc(output->map, (wanted + 1) * 4) : NULL;
        if (map == NULL) return false;
        output->map = map;
    }
    output->capacity = wanted;
    return true;
}

static isotok_status normalize_run(native_call *call, const isotok_encode_options *options,
                                   norm_output *output)
{
    isotok_session *session = call->box->session;
    isotok_input input = {call->text.data, call->text.size, 0, ISOTOK_PART_LAST};
    isotok_status status = isotok_normalize_begin(session, options, &call->error);
    uint32_t end = 0;
    while (status >= 0) {
        size_t count = 0;
        status = isotok_normalize_step(call->box->session, &input, output->text + output->size,
                                       output->with_map ? output->map + output->size : NULL,
                                       output->capacity - output->size, &count, &end, &call->error);
        output->size += count;
        if (status == ISOTOK_OK) {
            if (output->with_map) output->map[output->size] = end;
            return status;
        }
        if (status == ISOTOK_NEED_SCRATCH)
            status = box_grow_session(call->box, &call->error);
        else if (status == ISOTOK_NEED_OUTPUT && !output_grow(output, output->capacity * 2))
            status = ISOTOK_E_TOO_LARGE;
    }
    return status;
}

static PyObject *normalize_result(module_state *state, norm_output *output)
{
    PyObject *text = PyBytes_FromStringAndSize((char *)output->text, (Py_ssize_t)output->size);
    PyObject *map = Py_None;
    if (output->with_map && text != NULL) {
        map = buffer_adopt(state, output->map, (output->size + 1) * 4);
        output->map = NULL;
    } else {
        Py_INCREF(map);
    }
    PyObject *result = text == NULL || map == NULL ? NULL : PyTuple_Pack(2, text, map);
    Py_XDECREF(text);
    Py_XDECREF(map);
    return result;
}

static PyObject *normalize_text(PyObject *self, PyObject *text,
                                const isotok_encode_options *options, norm_output *output)
{
    native_call call;
    PyObject *result = NULL;
    if (!call_open_text(&call, self, text)) return NULL;
    isotok_status status = ISOTOK_E_TOO_LARGE;
    if (output_grow(output, call.text.size + call.text.size / 4 + 64))
        status = normalize_run(&call, options, output);
    if (call_hold(&call, status, "text")) {
        result = normalize_result(state_of(self), output);
        call_close(&call);
    }
    return result;
}

/* normalize(text, flags, unit, with_map) -> (bytes, Buffer of uint32 | None): the map has
 * one offset a byte and the end. */
PyObject *model_normalize(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    isotok_encode_options options = options_of(0);
    if (!arguments("normalize", count, 4) || !argument_u32(args[1], &options.flags) ||
        !argument_u32(args[2], &options.offset_unit))
        return NULL;
    norm_output output = {0};
    if (!argument_bool(args[3], &output.with_map)) return NULL;
    PyObject *result = normalize_text(self, args[0], &options, &output);
    free(output.text);
    free(output.map);
    return result;
}
