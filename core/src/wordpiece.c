/* L3: WordLevel and WordPiece of tokenizers.
 *
 * ALGORITHM   WordPiece: from the left the longest piece each time; pieces behind the first are
 *             spelled with a prefix, so they are looked up from the node of that. A word with a
 *             place where no piece begins, or with too many characters, is one unknown token.
 *             WordLevel: the same without pieces behind the first, so that only a word which is
 *             a piece as a whole gets to its end.
 * COMPLEXITY  O(bytes x longest piece).
 * SOURCE      tokenizers 0.23.3. */
#include "wordpiece.h"

#include "trie.h"

/* Appends the longest piece at text[0..size) below the node `from`: its bytes, or 0. */
static uint32_t push_longest(const isotok_model *model, uint32_t from, const uint8_t *text,
                             uint32_t size, struct isotok__tokens *tokens)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    uint32_t best = 0, slot = 0, i = 0;
    if (from == ISOTOK_UNK_SLOT) return 0; /* no piece has the prefix */
    if (size > model->blob.max_piece_bytes) size = model->blob.max_piece_bytes;
    while (i < size && (from = isotok__trie_step(trie, from, text[i++])) != ISOTOK_NO_SLOT)
        if (trie[from].value != ISOTOK_VALUE_NONE) {
            slot = from;
            best = i;
        }
    if (best != 0) isotok__push_long(tokens, slot, best);
    return best;
}

void isotok__wordpiece(const isotok_model *model, const uint8_t *text, uint32_t size,
                       struct isotok__tokens *tokens)
{
    const uint32_t before = tokens->count;
    uint32_t characters = 0, from = 0, n, p;
    for (p = 0; p < size; p++) characters += (text[p] & 0xC0) != 0x80;
    n = characters <= isotok__word_rule(model, ISOTOK__RULE_CHARACTERS);
    for (p = 0; n != 0 && p < size; p += n) {
        n = push_longest(model, from, text + p, size - p, tokens);
        from = isotok__word_rule(model, ISOTOK__RULE_CONTINUATION);
    }
    if (n != 0) return;
    tokens->count = before;
    isotok__push_unknown(model, size, tokens);
}
