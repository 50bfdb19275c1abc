/* L4: pre-tokens to tokens, for every algorithm, and the look-up of text in the token cache. */
#ifndef ISOTOK_PRETOKENS_H
#define ISOTOK_PRETOKENS_H

#include "session.h"

/* Segments the pre-tokens of the window whose ends are known, up to session->ready. `cached`: with
 * the session's cache. */
void isotok__pretokens(struct isotok_session *session, uint32_t settled, bool cached);

/* Segments the first `size` bytes of the window, which end at a cut, through the cache. Narrow BPE
 * models that may be cut and have no UNUSED merges. */
void isotok__bpe_cached(struct isotok_session *session, uint32_t size);

#endif
