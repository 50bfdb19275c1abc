/* L2: user-defined pieces. Their trie holds canonical text, so that one trie
 * serves raw text too: the one-byte space is spelled out on the way. */
#include "special.h"

#include "trie.h"

#define MAX_USER_MATCHES 64u /* the original looks at the first 64 that match */

uint32_t isotok__user_match(const struct isotok__trie_node *user, uint32_t most, bool compact,
                            const uint8_t *text, size_t size)
{
    uint32_t slot = 0, best = 0, matches = 0, i;
    if (size < most) most = (uint32_t)size;
    for (i = 0; i < most; i++) {
        uint32_t bytes = compact && text[i] == 0x20 ? 0x8196E2 : text[i];
        do {
            slot = isotok__trie_step(user, slot, (uint8_t)bytes);
            bytes >>= 8;
        } while (slot != ISOTOK_NO_SLOT && bytes != 0);
        if (slot == ISOTOK_NO_SLOT) break;
        if (user[slot].value != 0) {
            best = i + 1;
            if (++matches == MAX_USER_MATCHES) break;
        }
    }
    return best;
}

uint32_t isotok__user_match_internal(const isotok_model *model, const uint8_t *text, size_t size)
{
    const struct isotok__trie_node *user = model->blob.user_trie;
    if (user == NULL) return 0;
    return isotok__user_match(user, model->blob.max_piece_bytes, model->space_size == 1, text,
                              size);
}
