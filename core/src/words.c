/* L3: WORD cuts before every U+2581 and looks each word up; CHAR looks up user-defined pieces
 * and characters. What is not found is unknown. SOURCE: sentencepiece 0.2.3. */
#include "words.h"

#include "special.h"
#include "trie.h"
#include "utf8.h"

static void push(const isotok_model *model, const uint8_t *text, uint32_t size,
                 struct isotok__tokens *tokens)
{
    uint32_t slot = isotok__trie_walk(model->blob.trie, 0, text, size);
    if (slot == ISOTOK_NO_SLOT || model->blob.trie_ids[slot] == ISOTOK_NO_TOKEN)
        slot = ISOTOK_UNK_SLOT;
    isotok__push(tokens, slot, size);
}

static bool is_space(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    if (model->space_size == 1) return text[0] == 0x20;
    return isotok__is_symbol(text, size);
}

void isotok__words(const isotok_model *model, const uint8_t *text, uint32_t size,
                   struct isotok__tokens *tokens)
{
    uint32_t begin = 0, p = 0;
    while (p < size) {
        p = isotok__char_end(text, p, size);
        if (p == size || is_space(model, text + p, size - p)) {
            push(model, text + begin, p - begin, tokens);
            begin = p;
        }
    }
}

void isotok__characters(const isotok_model *model, const uint8_t *text, uint32_t size,
                        struct isotok__tokens *tokens)
{
    uint32_t p = 0;
    while (p < size) {
        uint32_t n = isotok__user_match_internal(model, text + p, size - p);
        if (n == 0) n = isotok__char_end(text, p, size) - p;
        push(model, text + p, n, tokens);
        p += n;
    }
}
