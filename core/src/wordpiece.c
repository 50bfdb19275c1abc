/* L3: WordLevel and WordPiece of tokenizers.
 *
 * ALGORITHM   WordPiece: from the left the longest piece each time; pieces behind the first are
 *             spelled with a prefix, so they are looked up from the node of that. A word with a
 *             place where no piece begins, or with too many characters, is one unknown token.
 * COMPLEXITY  O(bytes x longest piece).
 * SOURCE      tokenizers 0.23.3. */
#include "wordpiece.h"

#include "trie.h"

void isotok__whole_word(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__tokens *tokens)
{
    uint32_t slot = ISOTOK_NO_SLOT;
    if (size <= model->blob.max_piece_bytes)
        slot = isotok__trie_walk(model->blob.trie, 0, text, size);
    /* no piece ends at the root, which is what a walk that fails returns */
    if (model->blob.trie_ids[slot] == ISOTOK_NO_TOKEN)
        isotok__push_unknown(model, size, tokens);
    else
        isotok__push_long(tokens, slot, size);
}

/* The longest piece at text[0..size) below the node `from`: its bytes, or 0. */
static uint32_t longest(const isotok_model *model, uint32_t from, const uint8_t *text,
                        uint32_t size, uint32_t *out_slot)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    uint32_t best = 0, i;
    if (from == ISOTOK_UNK_SLOT) return 0; /* no piece has the prefix */
    if (size > model->blob.max_piece_bytes) size = model->blob.max_piece_bytes;
    for (i = 0; i < size; i++) {
        from = isotok__trie_step(trie, from, text[i]);
        if (from == ISOTOK_NO_SLOT) break;
        if (trie[from].value == ISOTOK_VALUE_NONE) continue;
        *out_slot = from;
        best = i + 1;
    }
    return best;
}

void isotok__wordpiece(const isotok_model *model, const uint8_t *text, uint32_t size,
                       struct isotok__tokens *tokens)
{
    const uint32_t before = tokens->count;
    uint32_t from = 0, characters = 0, p, n, slot = 0;
    for (p = 0; p < size; p++) characters += (text[p] & 0xC0) != 0x80;
    n = characters <= isotok__load_u32(model->blob.continuation);
    for (p = 0; n != 0 && p < size; p += n) {
        n = longest(model, from, text + p, size - p, &slot);
        if (n != 0) isotok__push_long(tokens, slot, n);
        from = model->continuation;
    }
    if (n != 0) return;
    tokens->count = before;
    isotok__push_unknown(model, size, tokens);
}
