/* L2: user-defined pieces in internal text. Their trie holds canonical text, so that one trie
 * serves raw text too: the one-byte space is spelled out on the way. */
#include "special.h"

#include "trie.h"

#define MAX_USER_MATCHES 64u

static uint32_t step_internal(const isotok_model *model, uint32_t slot, uint8_t byte)
{
    const struct isotok__trie_node *user = model->blob.user_trie;
    if (byte != 0x20 || model->space_size != 1) return isotok__trie_step(user, slot, byte);
    return isotok__trie_walk(user, slot, (const uint8_t *)"\xE2\x96\x81", 3);
}

uint32_t isotok__user_match_internal(const isotok_model *model, const uint8_t *text, size_t size)
{
    const struct isotok__trie_node *user = model->blob.user_trie;
    uint32_t slot = 0, best = 0, matches = 0, i;
    uint32_t limit = model->blob.max_piece_bytes;
    if (user == NULL) return 0;
    if (size < limit) limit = (uint32_t)size;
    for (i = 0; i < limit; i++) {
        slot = step_internal(model, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) break;
        if (user[slot].value != 0) {
            best = i + 1;
            if (++matches == MAX_USER_MATCHES) break;
        }
    }
    return best;
}
