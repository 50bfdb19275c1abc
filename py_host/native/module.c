/* module.c: the module isotok._native, its state and the small helpers for arguments. */
#include "native.h"

module_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

bool arguments(const char *name, Py_ssize_t count, Py_ssize_t wanted)
{
    if (count == wanted) return true;
    PyErr_Format(PyExc_TypeError, "%s() takes %zd arguments, not %zd", name, wanted, count);
    return false;
}

bool argument_u64(PyObject *object, uint64_t *out)
{
    unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (value == (unsigned long long)-1 && PyErr_Occurred()) return false;
    *out = value;
    return true;
}

bool argument_u32(PyObject *object, uint32_t *out)
{
    uint64_t value;
    if (!argument_u64(object, &value)) return false;
    if (value > UINT32_MAX) {
        PyErr_SetString(PyExc_OverflowError, "argument does not fit 32 bits");
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

/* Flags, or a tuple of flags and the bytes of `allowed`, which live as long as the tuple. */
bool argument_flags(PyObject *object, isotok_encode_options *out)
{
    char *allowed;
    Py_ssize_t size;
    if (!PyTuple_Check(object)) return argument_u32(object, &out->flags);
    if (!arguments("flags", PyTuple_Size(object), 2) ||
        !argument_u32(PyTuple_GetItem(object, 0), &out->flags) ||
        PyBytes_AsStringAndSize(PyTuple_GetItem(object, 1), &allowed, &size) < 0)
        return false;
    out->allowed = (const void *)allowed;
    out->allowed_count = (uint32_t)((size_t)size / sizeof(uint32_t));
    return true;
}

bool argument_double(PyObject *object, double *out)
{
    *out = PyFloat_AsDouble(object);
    return *out != -1.0 || PyErr_Occurred() == NULL;
}

/* True and False cost no call. */
bool argument_bool(PyObject *object, bool *out)
{
    int value = object == Py_False ? 0 : object == Py_True ? 1 : PyObject_IsTrue(object);
    *out = value > 0;
    return value >= 0;
}

static PyObject *module_name(PyObject *module, PyObject *args)
{
    unsigned int kind;
    int number;
    (void)module;
    if (!PyArg_ParseTuple(args, "Ii:name", &kind, &number)) return NULL;
    return PyUnicode_FromString(isotok_build_name(kind, number));
}

static PyObject *module_abi(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLong(isotok_abi());
}

static PyMethodDef module_methods[] = {
    {"abi", module_abi, METH_NOARGS, "abi() -> int: interface version of the core."},
    {"name", module_name, METH_VARARGS, "name(kind, number) -> str: see isotok_build_name."},
    {"open", (PyCFunction)(void (*)(void))module_open, METH_FASTCALL,
     "open(blob, verify, cache_bytes) -> Model: opens a 64-aligned blob, which it keeps."},
    {"compile", (PyCFunction)(void (*)(void))module_compile, METH_FASTCALL,
     "compile(source, kind, form) -> Buffer: runs the model compiler."},
    {"word_counts", module_word_counts, METH_O,
     "word_counts(model) -> WordCounts: see word_counts.c."},
    {"distil", __extension__(PyCFunction)(void *) module_distil, METH_FASTCALL,
     "distil(model, counts) -> Distil: see distil.c."},
    {"bigrams", module_bigrams, METH_NOARGS, "bigrams() -> Bigrams: see bigrams.c."},
    {"bpe_run", (PyCFunction)(void (*)(void))module_bpe_run, METH_FASTCALL,
     "bpe_run(counts, options…) -> BpeRun: see bpe_run.c."},
    {NULL, NULL, 0, NULL},
};

static PyObject *import_function(const char *module, const char *name)
{
    PyObject *imported = PyImport_ImportModule(module);
    if (imported == NULL) return NULL;
    PyObject *function = PyObject_GetAttrString(imported, name);
    Py_DECREF(imported);
    return function;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type != NULL && PyModule_AddType(module, type) < 0) {
        Py_DECREF(type);
        return NULL;
    }
    return type;
}

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    if (isotok_abi() >> 16 != ISOTOK_ABI_MAJOR) {
        PyErr_SetString(PyExc_ImportError, "isotok._native: core of another interface version");
        return -1;
    }
    state->make_error = import_function("isotok.errors", "make_error");
    if (state->make_error == NULL) return -1;
    state->to_utf8 = import_function("isotok._text", "to_utf8");
    if (state->to_utf8 == NULL) return -1;
    state->buffer_type = add_type(module, &buffer_spec);
    if (state->buffer_type == NULL) return -1;
    state->model_type = add_type(module, &model_spec);
    if (state->model_type == NULL) return -1;
    state->encoder_type = add_type(module, &encoder_spec);
    if (state->encoder_type == NULL) return -1;
    state->decoder_type = add_type(module, &decoder_spec);
    if (state->decoder_type == NULL) return -1;
    state->long_type = add_type(module, &long_spec);
    if (state->long_type == NULL) return -1;
    state->train_error = import_function("isotok.errors", "TokenizerError");
    if (state->train_error == NULL) return -1;
    state->counts_type = add_type(module, &counts_spec);
    if (state->counts_type == NULL) return -1;
    state->bigrams_type = add_type(module, &bigrams_spec);
    if (state->bigrams_type == NULL) return -1;
    state->distil_type = add_type(module, &distil_spec);
    if (state->distil_type == NULL) return -1;
    state->bpe_type = add_type(module, &bpe_spec);
    return state->bpe_type == NULL ? -1 : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    Py_VISIT(state->make_error);
    Py_VISIT(state->to_utf8);
    Py_VISIT(state->buffer_type);
    Py_VISIT(state->model_type);
    Py_VISIT(state->encoder_type);
    Py_VISIT(state->decoder_type);
    Py_VISIT(state->long_type);
    Py_VISIT(state->train_error);
    Py_VISIT(state->counts_type);
    Py_VISIT(state->bigrams_type);
    Py_VISIT(state->distil_type);
    Py_VISIT(state->bpe_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->make_error);
    Py_CLEAR(state->to_utf8);
    Py_CLEAR(state->buffer_type);
    Py_CLEAR(state->model_type);
    Py_CLEAR(state->encoder_type);
    Py_CLEAR(state->decoder_type);
    Py_CLEAR(state->long_type);
    Py_CLEAR(state->train_error);
    Py_CLEAR(state->counts_type);
    Py_CLEAR(state->bigrams_type);
    Py_CLEAR(state->distil_type);
    Py_CLEAR(state->bpe_type);
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    /* Python's slots are untyped pointers, which ISO C cannot make from functions. */
    {Py_mod_exec, __extension__(void *) module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_def = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "isotok._native",
    .m_doc = "The isotok core as a Python extension. Use the package isotok instead.",
    .m_size = sizeof(module_state),
    .m_methods = module_methods,
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__native(void);

PyMODINIT_FUNC PyInit__native(void)
{
#if defined(__SSSE3__) && defined(__GNUC__)
    if (!__builtin_cpu_supports("ssse3")) {
        PyErr_SetString(PyExc_ImportError,
                        "isotok._native is built for processors with SSSE3, which this one does not "
                        "have; use backend=\"wasm\", or build it from source without -mssse3");
        return NULL;
    }
#endif
    return PyModuleDef_Init(&module_def);
}
