/* L4: what begins every operation of a session. */
#ifndef ISOTOK_OPTIONS_H
#define ISOTOK_OPTIONS_H

#include "session.h"

/* A larger alpha is taken as this: where weights differ at all, they do by 1e-45 or more. */
#define ISOTOK__MOST_ALPHA 1e200

/* Checks `options` (NULL = all 0) against the flags that the operation knows, copies them and
 * clears the session's stream state. */
isotok_status isotok__begin(isotok_session *session, const isotok_encode_options *options,
                            uint32_t known_flags, isotok_error *error);

/* What steps of an operation check first: pointers, that it was begun, and what was consumed. */
isotok_status isotok__check_input(const struct isotok_session *session, const isotok_input *input,
                                  const void *output, uint32_t mode, isotok_error *error);

/* Drops the first `size` bytes of the window. */
void isotok__window_drop(struct isotok_session *session, size_t size);

#endif
