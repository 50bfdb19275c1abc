/* L4: what encode.c shares. */
#ifndef ISOTOK_ENCODE_H
#define ISOTOK_ENCODE_H

#include "session.h"

/* Reads input into the window. *out_settled: bytes that later input cannot change; *out_full: it
 * stopped because there is no room. OK or E_TEXT. */
isotok_status isotok__fill(struct isotok_session *s, isotok_input *input, size_t *out_settled,
                           bool *out_full, isotok_error *error);

/* Whether the arrays that the options ask for are there: OK or E_ARGUMENT. */
isotok_status isotok__check_output(const struct isotok_session *s, const isotok_output *output,
                                   isotok_error *error);

#endif
