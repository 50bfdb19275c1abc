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

/* Emits a special token, raw text [begin, end). */
isotok_status isotok__emit_special(struct isotok_session *s, isotok_output *output, uint32_t id,
                                   uint64_t begin, uint64_t end);

/* Emits what the end of the text brings: an open run of unknown characters, EOS. */
isotok_status isotok__emit_end(struct isotok_session *s, isotok_output *output);

#endif
