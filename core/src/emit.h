/* L4: tokens of the window to ids and spans in the caller's arrays. */
#ifndef ISOTOK_EMIT_H
#define ISOTOK_EMIT_H

#include "session.h"

/* Stages of a text. */
enum { ISOTOK__STAGE_BOS = 0, ISOTOK__STAGE_TEXT, ISOTOK__STAGE_EOS, ISOTOK__STAGE_DONE };

/* Emits BOS if it is still due. */
isotok_status isotok__emit_begin(struct isotok_session *s, isotok_output *output);

/* Emits the window's tokens from where the last call stopped. OK, NEED_OUTPUT, AT_LIMIT. */
isotok_status isotok__emit_tokens(struct isotok_session *s, isotok_output *output);

/* Takes `lead` and `trail` units of white space off the span of a token that begins and ends with
 * them, if the model trims spans. `prefix`: it begins with one character of it, which may be what
 * was put in front of the text. */
void isotok__trim(const struct isotok_session *s, uint64_t *begin, uint64_t *end, uint32_t lead,
                  uint32_t trail, bool prefix);

/* Emits a special token, raw text [begin, end). */
isotok_status isotok__emit_special(struct isotok_session *s, isotok_output *output, uint32_t id,
                                   uint64_t begin, uint64_t end);

/* Emits what the end of the text brings: an open run of unknown characters, EOS. */
isotok_status isotok__emit_end(struct isotok_session *s, isotok_output *output);

#endif
