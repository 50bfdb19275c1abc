/* L4: special and added tokens in raw text: they divide it into stretches that are texts of their
 * own. */
#ifndef ISOTOK_SPECIAL_TOKENS_H
#define ISOTOK_SPECIAL_TOKENS_H

#include "session.h"

/* At the start of a text. */
void isotok__special_begin(struct isotok_session *session);

/* How far the input may be read now: to the next such token, which session->special_size then
 * tells of, to what may be the beginning of one, or to its end. *last: the text, or the stretch,
 * ends there. */
size_t isotok__special_stop(struct isotok_session *session, const isotok_input *input, bool *last);

/* After input was read: it was consumed up to `before` until then. */
void isotok__special_passed(struct isotok_session *session, const isotok_input *input,
                            size_t before);

/* Emits the token that ended a stretch, and begins the next one behind it. */
isotok_status isotok__special_emit(struct isotok_session *session, isotok_input *input,
                                   isotok_output *output);

#endif
