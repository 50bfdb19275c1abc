/* Tokens of the segmenters, compared as emission sees them. */
#ifndef ISOTOK_TESTS_SAME_TOKENS_H
#define ISOTOK_TESTS_SAME_TOKENS_H

#include "session.h"

/* The token at tokens[*i], with all unknown ones right behind an unknown one; passes it. */
static inline void next_token(const uint32_t *tokens, uint32_t count, uint32_t *i, uint32_t *slot,
                              uint32_t *size)
{
    *slot = tokens[*i] >> 8;
    *size = tokens[(*i)++] & 0xFFu;
    while (*slot == ISOTOK_UNK_SLOT && *i < count && tokens[*i] >> 8 == ISOTOK_UNK_SLOT) {
        *size += tokens[(*i)++] & 0xFFu;
    }
}

/* Whether two lists of tokens (slot << 8 | bytes) are the same, however runs of unknown
 * characters are divided: without byte pieces a run is one token. */
static inline bool same_tokens(const uint32_t *a, uint32_t a_count, const uint32_t *b,
                               uint32_t b_count)
{
    uint32_t i = 0, k = 0;
    while (i < a_count && k < b_count) {
        uint32_t slot, size, other_slot, other_size;
        next_token(a, a_count, &i, &slot, &size);
        next_token(b, b_count, &k, &other_slot, &other_size);
        if (slot != other_slot || size != other_size) {
            return false;
        }
    }
    return i == a_count && k == b_count;
}

#endif
