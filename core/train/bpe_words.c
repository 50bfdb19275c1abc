/* Words with counts to symbols. See bpe.h. */
#include <stdlib.h>

#include "bpe.h"

#define CODE_POINTS 0x110000u

/* The character at text[0..size), size > 0; its bytes, 0 if it is none. */
static uint32_t read_character(const uint8_t *text, uint32_t size, uint32_t *out)
{
    const uint32_t lead = text[0];
    const uint32_t n = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t i, c = n <= 1 ? lead : lead & (0xFFu >> (n + 1));
    if (n == 0 || n > size || lead > 0xF4) return 0;
    for (i = 1; i < n; i++) {
        if ((text[i] & 0xC0) != 0x80) return 0;
        c = c << 6 | (text[i] & 63);
    }
    if ((n == 3 && (c < 0x800 || (c >= 0xD800 && c < 0xE000))) ||
        (n == 4 && (c < 0x10000 || c >= CODE_POINTS)))
        return 0;
    *out = c;
    return n;
}

static isotok_train_status count_characters(const isotok_counts *counts, int64_t *of,
                                            isotok_train_error *error)
{
    const uint32_t words = isotok_counts_size(counts);
    uint32_t i, p, n, size, c = 0;
    int64_t count;
    for (i = 0; i < words; i++) {
        const uint8_t *text = isotok_counts_word(counts, i, &size, &count);
        for (p = 0; p < size; p += n) {
            n = read_character(text + p, size - p, &c);
            if (n == 0)
                return isotok__train_fail(error, ISOTOK_TRAIN_E_UTF8,
                                          "a word is not UTF-8, which Unicode units need", i);
            if (n > 1) of[c] += count; /* no overflow, see isotok__bpe_load */
        }
    }
    return ISOTOK_TRAIN_OK;
}

static void sort_characters(struct isotok_bpe *t, uint32_t count)
{
    /* the heap orders them: by count, then as pairs of one symbol */
    uint32_t i;
    for (i = 0; i < count; i++) {
        t->characters[i] = t->heap[0];
        isotok__bpe_pop(t);
    }
}

/* Symbols of the characters that occur, by code point; map[c]: the symbol of c. */
static isotok_train_status add_characters(struct isotok_bpe *t, const int64_t *of, uint32_t *map,
                                          isotok_train_error *error)
{
    uint32_t c, symbol, count = 0;
    uint8_t text[4];
    for (c = 128; c < CODE_POINTS; c++) count += of[c] != 0;
    t->characters = malloc(((size_t)count + 1) * sizeof *t->characters);
    t->character_counts = malloc(((size_t)count + 1) * sizeof *t->character_counts);
    if (t->characters == NULL || t->character_counts == NULL) goto failed;
    for (c = 128; c < CODE_POINTS; c++) {
        if (of[c] == 0) continue;
        symbol = isotok__bpe_add_symbol(t, text, isotok__utf8(c, text));
        if (symbol == ISOTOK_BPE_NO_TOKEN) goto failed;
        map[c] = symbol;
        t->symbols[symbol].character = c;
        t->character_counts[symbol] = of[c];
    }
    for (symbol = 0; symbol < count; symbol++)
        if (!isotok__bpe_push(t, ISOTOK__KEY(symbol, symbol), t->character_counts[symbol]))
            goto failed;
    sort_characters(t, count);
    t->chars = count;
    return ISOTOK_TRAIN_OK;
failed:
    return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for characters", count);
}

/* ---- The arena ---- */

/* Symbols of a word to out; their number. */
static uint32_t spell(const struct isotok_bpe *t, const uint32_t *map, const uint8_t *text,
                      uint32_t size, uint32_t *out)
{
    uint32_t p, n = 1, count = 0, c = 0;
    for (p = 0; p < size; p += n) {
        if (map != NULL && text[p] >= 0x80) {
            n = read_character(text + p, size - p, &c);
            out[count++] = map[c];
            continue;
        }
        n = 1;
        if (t->byte_ids[text[p]] != ISOTOK_BPE_NO_TOKEN)
            out[count++] = t->tokens[t->byte_ids[text[p]]];
    }
    return count;
}

static bool store_count(struct isotok_bpe *t, uint32_t *word, int64_t count)
{
    if (count < (int64_t)ISOTOK__BIG_COUNT) {
        word[1] = (uint32_t)count;
        return true;
    }
    if (!isotok__train_grow(&t->big_counts, &t->big_capacity, t->big_count + 1,
                            sizeof *t->big_counts))
        return false;
    t->big_counts[t->big_count] = count;
    word[1] = ISOTOK__BIG_COUNT | (uint32_t)t->big_count++;
    return true;
}

static isotok_train_status fill_arena(struct isotok_bpe *t, const isotok_counts *counts,
                                      const uint32_t *map, isotok_train_error *error)
{
    const uint32_t words = isotok_counts_size(counts);
    uint32_t i, n, size;
    int64_t count;
    for (i = 0; i < words; i++) {
        const uint8_t *text = isotok_counts_word(counts, i, &size, &count);
        uint32_t *word = t->arena + t->arena_count;
        n = spell(t, map, text, size, word + ISOTOK__WORD_HEAD);
        t->stats.symbols += n;
        if (n < 2) continue; /* nothing to merge */
        word[0] = n;
        if (!store_count(t, word, count))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for words", i);
        t->arena_count += ISOTOK__WORD_HEAD + (size_t)n;
    }
    t->stats.words = words;
    return ISOTOK_TRAIN_OK;
}

/* Symbols that the arena may need; no sum over the words is above INT64_MAX. */
static isotok_train_status measure(const isotok_counts *counts, bool unicode, size_t *out_room,
                                   isotok_train_error *error)
{
    const uint32_t words = isotok_counts_size(counts);
    uint32_t i, p, n, size;
    int64_t count, left = INT64_MAX;
    *out_room = 0;
    for (i = 0; i < words; i++) {
        const uint8_t *text = isotok_counts_word(counts, i, &size, &count);
        if (count > left / size)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_OVERFLOW,
                                      "all words together have more than 2^63 - 1 bytes", i);
        left -= count * size;
        for (n = unicode ? 0 : size, p = 0; unicode && p < size; p++) n += (text[p] & 0xC0) != 0x80;
        *out_room += ISOTOK__WORD_HEAD + (size_t)n;
    }
    if (*out_room >= 0xFFFFFFF0u)
        return isotok__train_fail(error, ISOTOK_TRAIN_E_LIMIT,
                                  "different words have more than 2^32 symbols", *out_room);
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status load_characters(struct isotok_bpe *t, const isotok_counts *counts,
                                           uint32_t **out_map, isotok_train_error *error)
{
    int64_t *of = calloc(CODE_POINTS, sizeof *of);
    uint32_t *map = malloc(CODE_POINTS * sizeof *map);
    isotok_train_status status;
    *out_map = map;
    if (of == NULL || map == NULL) {
        free(of);
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for characters", 0);
    }
    status = count_characters(counts, of, error);
    if (status == ISOTOK_TRAIN_OK) status = add_characters(t, of, map, error);
    free(of);
    return status;
}

static isotok_train_status add_base(struct isotok_bpe *t, isotok_train_error *error)
{
    const isotok_bpe_texts *base = &t->options.base;
    uint32_t i, symbol, size;
    for (i = 0; i < (base->count ? base->count : 256); i++) {
        const uint8_t byte = (uint8_t)i, *text = &byte;
        const uint64_t begin = i && base->count ? base->ends[i - 1] : 0;
        if (base->count) text = base->pool + begin;
        size = base->count ? (uint32_t)(base->ends[i] - begin) : 1;
        symbol = isotok__bpe_find_text(t, text, size);
        if (symbol != ISOTOK_BPE_NO_TOKEN)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                      "two tokens of the base have the same text", i);
        symbol = isotok__bpe_add_symbol(t, text, size);
        if (symbol == ISOTOK_BPE_NO_TOKEN || !isotok__bpe_add_token(t, symbol))
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for tokens", i);
    }
    return ISOTOK_TRAIN_OK;
}

static isotok_train_status find_bytes(struct isotok_bpe *t, isotok_train_error *error)
{
    uint32_t i;
    for (i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;
        uint32_t id = ISOTOK_BPE_NO_TOKEN;
        if (t->options.byte_ids != NULL) {
            id = t->options.byte_ids[i];
        } else {
            const uint32_t symbol = isotok__bpe_find_text(t, &byte, 1);
            if (symbol != ISOTOK_BPE_NO_TOKEN) id = t->symbols[symbol].token;
        }
        if (id != ISOTOK_BPE_NO_TOKEN && id >= t->token_count)
            return isotok__train_fail(error, ISOTOK_TRAIN_E_ARGUMENT,
                                      "the token of a byte is not in the base", i);
        t->byte_ids[i] = id;
    }
    return ISOTOK_TRAIN_OK;
}

isotok_train_status isotok__bpe_load(struct isotok_bpe *t, const isotok_counts *counts,
                                     isotok_train_error *error)
{
    const bool unicode = t->options.unit == ISOTOK_BPE_UNICODE;
    uint32_t *map = NULL, *smaller;
    size_t room;
    isotok_train_status status = measure(counts, unicode, &room, error);
    if (status == ISOTOK_TRAIN_OK && unicode) status = load_characters(t, counts, &map, error);
    if (status == ISOTOK_TRAIN_OK) status = add_base(t, error);
    if (status == ISOTOK_TRAIN_OK) status = find_bytes(t, error);
    if (status == ISOTOK_TRAIN_OK && (t->arena = malloc((room + 4) * sizeof *t->arena)) == NULL)
        status = isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for words", room);
    if (status == ISOTOK_TRAIN_OK) status = fill_arena(t, counts, map, error);
    free(map);
    if (status != ISOTOK_TRAIN_OK) return status;
    smaller = realloc(t->arena, (t->arena_count + 4) * sizeof *t->arena);
    if (smaller != NULL) t->arena = smaller;
    isotok__bpe_account(t, (int64_t)(t->arena_count * sizeof *t->arena));
    return status;
}
