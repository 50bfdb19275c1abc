/* Symbols, tokens and their texts. See bpe.h. */
#include <stdlib.h>

#include "bpe.h"

static uint32_t hash_text(const uint8_t *text, uint32_t size)
{
    uint64_t h = size;
    uint32_t i;
    for (i = 0; i < size; i++) h = (h ^ text[i]) * 0x100000001B3u;
    return isotok__hash_key(h);
}

static const uint8_t *text_of(const struct isotok_bpe *t, uint32_t symbol)
{
    return t->pool + t->symbols[symbol].at;
}

uint32_t isotok__utf8(uint32_t c, uint8_t out[4])
{
    if (c < 0x80) {
        out[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (uint8_t)(0xC0 | c >> 6);
        out[1] = (uint8_t)(0x80 | (c & 63));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (uint8_t)(0xE0 | c >> 12);
        out[1] = (uint8_t)(0x80 | (c >> 6 & 63));
        out[2] = (uint8_t)(0x80 | (c & 63));
        return 3;
    }
    out[0] = (uint8_t)(0xF0 | c >> 18);
    out[1] = (uint8_t)(0x80 | (c >> 12 & 63));
    out[2] = (uint8_t)(0x80 | (c >> 6 & 63));
    out[3] = (uint8_t)(0x80 | (c & 63));
    return 4;
}

static bool grow_side(struct isotok__side *side, size_t before, size_t after)
{
    struct isotok__change *changes = realloc(side->changes, after * sizeof *changes);
    uint32_t *touched;
    if (changes == NULL) return false;
    side->changes = changes;
    memset(changes + before, 0, (after - before) * sizeof *changes);
    touched = realloc(side->touched, after * sizeof *touched);
    if (touched == NULL) return false;
    side->touched = touched;
    return true;
}

static bool grow_symbols(struct isotok_bpe *t)
{
    const size_t before = t->symbols_capacity, after = before + before / 2 + 1024;
    void *symbols;
    if (t->symbol_count < before) return true;
    if (after > 0x7FFFFFFF) return false;
    symbols = realloc(t->symbols, after * sizeof *t->symbols);
    if (symbols == NULL) return false;
    t->symbols = symbols;
    if (!grow_side(&t->left, before, after) || !grow_side(&t->right, before, after)) return false;
    t->symbols_capacity = after;
    return true;
}

uint32_t isotok__bpe_add_symbol(struct isotok_bpe *t, const uint8_t *text, uint32_t size)
{
    const size_t wanted = t->pool_size + size;
    if (!grow_symbols(t) || !isotok__train_grow(&t->pool, &t->pool_capacity, wanted + 1, 1))
        return ISOTOK_BPE_NO_TOKEN;
    memcpy(t->pool + t->pool_size, text, size);
    t->symbols[t->symbol_count] =
        (struct isotok__symbol_text){t->pool_size, size, ISOTOK_BPE_NO_TOKEN, 0, 0};
    t->pool_size = wanted;
    return (uint32_t)t->symbol_count++;
}

uint32_t isotok__bpe_find_text(const struct isotok_bpe *t, const uint8_t *text, uint32_t size)
{
    uint32_t at;
    if (t->texts == NULL) return ISOTOK_BPE_NO_TOKEN;
    for (at = hash_text(text, size) & t->texts_mask; t->texts[at] != 0;
         at = (at + 1) & t->texts_mask) {
        const uint32_t symbol = t->texts[at] - 1;
        if (t->symbols[symbol].size == size && memcmp(text_of(t, symbol), text, size) == 0)
            return symbol;
    }
    return ISOTOK_BPE_NO_TOKEN;
}

/* As memcmp, a text behind its beginnings. UTF-8 is ordered as code points are. */
static int compare(const struct isotok_bpe *t, uint32_t symbol, const uint8_t *text, uint32_t size)
{
    const uint32_t own = t->symbols[symbol].size;
    const int order = memcmp(text_of(t, symbol), text, isotok__min(own, size));
    return order != 0 ? order : (own > size) - (own < size);
}

int isotok__bpe_compare_texts(const struct isotok_bpe *t, uint32_t a, uint32_t b)
{
    return compare(t, a, text_of(t, b), t->symbols[b].size);
}

uint32_t isotok__bpe_find_character(const struct isotok_bpe *t, const uint8_t *text, uint32_t size)
{
    uint32_t low = 0, high = t->chars;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const int order = compare(t, middle, text, size);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return ISOTOK_BPE_NO_TOKEN;
}

static void put_text(struct isotok_bpe *t, uint32_t symbol)
{
    uint32_t at = hash_text(text_of(t, symbol), t->symbols[symbol].size) & t->texts_mask;
    while (t->texts[at] != 0) at = (at + 1) & t->texts_mask;
    t->texts[at] = symbol + 1;
}

static bool grow_texts(struct isotok_bpe *t)
{
    const size_t slots = t->texts ? ((size_t)t->texts_mask + 1) * 2 : 1024;
    uint32_t *made;
    size_t i;
    if (t->texts != NULL && t->token_count * 2 <= t->texts_mask) return true;
    made = calloc(slots, sizeof *made);
    if (made == NULL) return false;
    free(t->texts);
    t->texts = made;
    t->texts_mask = (uint32_t)(slots - 1);
    for (i = 0; i < t->token_count; i++) put_text(t, t->tokens[i]);
    return true;
}

/* ---- Forbidden pairs ---- */

static bool has_text(const struct isotok_bpe *t, uint32_t symbol, uint32_t i)
{
    const uint64_t begin = i ? t->forbidden_ends[i - 1] : 0;
    const uint64_t size = t->forbidden_ends[i] - begin;
    return t->symbols[symbol].size == size &&
           memcmp(text_of(t, symbol), t->forbidden_texts + begin, (size_t)size) == 0;
}

static uint32_t symbol_with(const struct isotok_bpe *t, uint32_t i)
{
    const uint64_t begin = i ? t->forbidden_ends[i - 1] : 0;
    uint32_t size = (uint32_t)(t->forbidden_ends[i] - begin);
    return isotok__bpe_find_text(t, t->forbidden_texts + begin, size);
}

static void forbid(struct isotok_bpe *t, uint64_t key)
{
    uint32_t at = isotok__hash_key(key) & t->forbidden_mask;
    while (t->forbidden[at] != 0 && t->forbidden[at] != key) at = (at + 1) & t->forbidden_mask;
    t->forbidden[at] = key;
}

/* Pairs of which this token was the last one that did not exist. */
static void forbid_with(struct isotok_bpe *t, uint32_t symbol)
{
    uint32_t i;
    for (i = 0; i + 1 < t->options.forbidden.count; i += 2) {
        const bool left = has_text(t, symbol, i), right = has_text(t, symbol, i + 1);
        uint32_t other = symbol;
        if (!left && !right) continue;
        if (!(left && right)) other = symbol_with(t, left ? i + 1 : i);
        if (other == ISOTOK_BPE_NO_TOKEN) continue;
        forbid(t, left ? ISOTOK__KEY(symbol, other) : ISOTOK__KEY(other, symbol));
    }
}

bool isotok__bpe_refused(const struct isotok_bpe *t, uint64_t key)
{
    const struct isotok__symbol_text *left = &t->symbols[isotok__key_left(key)];
    const struct isotok__symbol_text *right = &t->symbols[isotok__key_right(key)];
    uint32_t at;
    if (left->blocked | right->blocked) return true;
    if (t->options.max_token_bytes != 0 &&
        (uint64_t)left->size + right->size > t->options.max_token_bytes)
        return true;
    if (t->forbidden == NULL) return false;
    at = isotok__hash_key(key) & t->forbidden_mask;
    while (t->forbidden[at] != 0 && t->forbidden[at] != key) at = (at + 1) & t->forbidden_mask;
    return t->forbidden[at] == key;
}

bool isotok__bpe_add_token(struct isotok_bpe *t, uint32_t symbol)
{
    if (!isotok__train_grow(&t->tokens, &t->tokens_capacity, t->token_count + 1,
                            sizeof *t->tokens) ||
        !grow_texts(t))
        return false;
    t->symbols[symbol].token = (uint32_t)t->token_count;
    t->tokens[t->token_count++] = symbol;
    put_text(t, symbol);
    if (t->forbidden != NULL) forbid_with(t, symbol);
    return true;
}

uint32_t isotok__bpe_made(struct isotok_bpe *t, uint32_t left, uint32_t right, bool *out_new)
{
    const uint32_t a = t->symbols[left].size, b = t->symbols[right].size;
    uint32_t made;
    uint8_t *text;
    *out_new = false;
    if (!isotok__train_grow(&t->pool, &t->pool_capacity, t->pool_size + a + b + 1, 1))
        return ISOTOK_BPE_NO_TOKEN;
    text = t->pool + t->pool_size;
    memcpy(text, text_of(t, left), a);
    memcpy(text + a, text_of(t, right), b);
    made = isotok__bpe_find_text(t, text, a + b);
    if (made != ISOTOK_BPE_NO_TOKEN) return made;
    if (!grow_symbols(t)) return ISOTOK_BPE_NO_TOKEN;
    made = (uint32_t)t->symbol_count++;
    t->symbols[made] = (struct isotok__symbol_text){t->pool_size, a + b, ISOTOK_BPE_NO_TOKEN, 0, 0};
    t->pool_size += a + b;
    *out_new = true;
    return isotok__bpe_add_token(t, made) ? made : ISOTOK_BPE_NO_TOKEN;
}
