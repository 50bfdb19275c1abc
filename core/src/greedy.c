/* L3: the segmenters of distilled models.
 *
 * ALGORITHM   At each position one walk down the trie. Longest match takes the last key on the
 *             way: a piece, or an exception, a text whose tokens were written down. Priority
 *             takes the piece with the highest value, of equal ones the longest.
 * COMPLEXITY  O(bytes) walks of at most LONGEST steps; one walk a token.
 * SOURCE      FORMAT.md, section 19. */
#include "greedy.h"

#if ISOTOK__DISTILLED
#include "trie.h"
#include "utf8.h"

#define LONGEST 255u /* bytes of a key: what a token's length can say */

struct match {
    uint32_t slot, end, value;
};

ISOTOK_INLINE float priority_of(uint32_t bits)
{
    float priority;
    memcpy(&priority, &bits, sizeof priority);
    return priority;
}

/* slot ISOTOK_UNK_SLOT: there is none. */
ISOTOK_INLINE struct match find_match(const struct isotok__trie_node *trie, const uint8_t *text,
                                      uint32_t p, uint32_t limit, bool longest)
{
    struct match best = {ISOTOK_UNK_SLOT, 0, ISOTOK_VALUE_NONE_SCORE};
    const uint32_t none = longest ? ISOTOK_VALUE_NONE : ISOTOK_VALUE_NONE_SCORE;
    uint32_t slot = 0;
    uint64_t node;
    memcpy(&node, trie, sizeof node);
    while (p < limit) {
        const uint8_t c = text[p++];
        uint32_t value;
        slot = ((uint32_t)node >> 8) ^ c;
        memcpy(&node, &trie[slot], sizeof node);
        if ((uint8_t)node != c) break;
        value = (uint32_t)(node >> 32);
        if (value != none && (longest || priority_of(value) >= priority_of(best.value))) {
            best.slot = slot;
            best.end = p;
            best.value = value;
        }
    }
    return best;
}

/* Appends the tokens that stand for text[0..size); false: it is the text of no exception. */
ISOTOK_INLINE bool push_exception(const uint32_t *exception, uint32_t size,
                                  struct isotok__tokens *tokens)
{
    const uint32_t count = exception[0] >> 8;
    uint32_t i;
    if ((exception[0] & 0xFFu) != size) return false;
    for (i = 0; i < count; i++) tokens->slots[tokens->count++] = exception[1 + i];
    return true;
}

void isotok__greedy(const isotok_model *model, const uint8_t *text, uint32_t size,
                    struct isotok__tokens *tokens)
{
    const struct isotok__blob *b = &model->blob;
    const bool longest = b->algorithm == ISOTOK_LONGEST;
    uint32_t p = 0;
    while (p < size) {
        const uint32_t limit = size - p < LONGEST ? size : p + LONGEST;
        const struct match match = find_match(b->trie, text, p, limit, longest);
        uint32_t slot = match.slot, n = match.end - p;
        if (ISOTOK_UNLIKELY(match.value - 1 < b->exceptions_count)) {
            if (push_exception(b->exceptions + match.value - 1, n, tokens)) {
                p += n;
                continue;
            }
            slot = ISOTOK_UNK_SLOT;
        }
        if (ISOTOK_UNLIKELY(slot == ISOTOK_UNK_SLOT))
            n = isotok__char_size(text + p, size - p);
        else
            ISOTOK_PREFETCH(&b->trie_ids[slot]); /* emission asks for it */
        tokens->slots[tokens->count++] = slot << 8 | n;
        p += n;
    }
}
#else
typedef int isotok__no_greedy;
#endif
