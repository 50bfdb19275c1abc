/* call.c: the frame of every method that works in a session. */
#include "native.h"

isotok_encode_options options_of(uint32_t flags)
{
    return (isotok_encode_options){.size = sizeof(isotok_encode_options), .flags = flags};
}

static module_state *call_state(const native_call *call)
{
    return state_of((PyObject *)call->self);
}

static bool take_session(native_call *call, size_t size)
{
    call->error = error_new();
    call->box = box_take(call->self, &call->error);
    if (call->box == NULL) {
        raise_error(call_state(call), &call->error, "session");
        return false;
    }
    call->box->released = size > RELEASE_GIL_ABOVE ? PyEval_SaveThread() : NULL;
    return true;
}

/* A call without a text, over `size` bytes or so. */
bool call_open(native_call *call, PyObject *self, size_t size)
{
    call->self = (model_object *)self;
    call->text = (text_view){0};
    return take_session(call, size);
}

bool call_open_text(native_call *call, PyObject *self, PyObject *text)
{
    call->self = (model_object *)self;
    if (text_get(call_state(call), text, &call->text) < 0) return false;
    if (take_session(call, call->text.size)) return true;
    text_release(&call->text);
    return false;
}

/* Takes the lock back. If `status` is an error it becomes an exception, unless there is
 * one already; then the call is closed and the result false. */
bool call_hold(native_call *call, isotok_status status, const char *subject)
{
    if (call->box->released != NULL) PyEval_RestoreThread(call->box->released);
    call->box->released = NULL;
    if (status >= 0) return true;
    call->error.status = status;
    if (!PyErr_Occurred()) raise_error(call_state(call), &call->error, subject);
    call_close(call);
    return false;
}

void call_close(native_call *call)
{
    box_give(call->self, call->box);
    text_release(&call->text);
}
