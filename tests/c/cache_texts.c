/* See cache_texts.h. */
#include "cache_texts.h"

#include <stdlib.h>
#include <string.h>

#define WORDS 400

void text_put(cache_text *t, const void *data, size_t size)
{
    if (t->size + size > t->room) {
        t->room = 2 * (t->size + size) + 64;
        t->data = realloc(t->data, t->room);
        if (t->data == NULL) {
            abort();
        }
    }
    if (size > 0) {
        memcpy(t->data + t->size, data, size);
    }
    t->size += size;
}

void text_free(cache_text *t)
{
    free(t->data);
    memset(t, 0, sizeof *t);
}

void *cache_new(size_t size)
{
    void *memory = aligned_memory(size);
    memset(memory, 0, size);
    return memory;
}

uint32_t text_random(uint32_t limit)
{
    static uint64_t state = 0x9E3779B97F4A7C15u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * limit >> 32);
}

static void put_word(const isotok_model *model, uint32_t vocab_size, cache_text *out)
{
    uint32_t pieces = 1 + text_random(4);
    while (pieces-- > 0) {
        isotok_piece piece;
        if (isotok_piece_get(model, text_random(vocab_size), &piece) == ISOTOK_OK &&
            piece.size <= 40) {
            text_put(out, piece.text, piece.size);
        }
    }
}

void text_of_words(const isotok_model *model, uint32_t vocab_size, size_t size, cache_text *out)
{
    static const char *const between[] = {
        " ",    " ",       " ", " ",  " ",  " ",     ", ",       ".\n",          "",
        "-",    "x",       "7", "  ", "--", "=====", "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80",
        "\xFF", "\xE3\x81"};
    cache_text words[WORDS] = {{0}};
    size_t i;
    memset(out, 0, sizeof *out);
    for (i = 0; i < WORDS; i++) {
        put_word(model, vocab_size, &words[i]);
    }
    while (out->size < size) {
        const cache_text *word = &words[text_random(1 + text_random(1 + text_random(WORDS)))];
        const char *gap = between[text_random(sizeof between / sizeof *between)];
        text_put(out, word->data, word->size);
        text_put(out, gap, text_random(200) == 0 ? strlen(gap) + 1 : strlen(gap)); /* a NUL */
    }
    for (i = 0; i < WORDS; i++) {
        text_free(&words[i]);
    }
}

static void put_unigram_letters(maker *f)
{
    char text[26];
    for (char a = 'a'; a <= 'h'; a++) {
        for (uint32_t upper = 0; upper <= 32; upper += 32) {
            text[0] = (char)(a - (char)upper);
            text[1] = 0;
            put_piece(f, text, -1.0f, ISOTOK_NORMAL);
            for (char b = 'a'; b <= 'h'; b++) {
                text[1] = (char)(b - (char)upper);
                text[2] = 0;
                put_piece(f, text, upper != 0 ? -1.5f : -50.0f, ISOTOK_NORMAL);
            }
        }
    }
    memset(text, 'a', 25);
    text[24] = 0;
    put_piece(f, text, -2.0f, ISOTOK_NORMAL);
    text[24] = 'a';
    text[25] = 0;
    put_piece(f, text, -3.0f, ISOTOK_NORMAL);
    put_piece(f, "\xE2\x96\x81", -4.0f, ISOTOK_NORMAL);
}

/* A pair is inside a piece of three letters, of which no two merge. */
static void put_bpe_letters(maker *f)
{
    char text[4] = "";
    float score = 0.0f;
    for (char a = 'a'; a <= 'h'; a++) {
        for (uint32_t upper = 0; upper <= 32; upper += 32) {
            text[0] = (char)(a - (char)upper);
            text[1] = 0;
            put_piece(f, text, score--, ISOTOK_NORMAL);
            for (char b = 'a'; b <= 'h'; b++) {
                text[1] = (char)(b - (char)upper);
                text[2] = 'z';
                put_piece(f, text, score--, ISOTOK_NORMAL);
            }
        }
    }
    put_piece(f, "\xE2\x96\x81", score, ISOTOK_NORMAL);
}

bool open_letters(drive_model *m, uint32_t algorithm)
{
    maker f = {0};
    isotok_error error;
    put_specials(&f);
    if (algorithm == ISOTOK_UNIGRAM) {
        put_unigram_letters(&f);
    } else {
        put_bpe_letters(&f);
    }
    put_trainer(&f, algorithm, false);
    bool ok = drive_open_source(m, f.data, f.size, &error) == ISOTOK_OK;
    maker_free(&f);
    return CHECK(ok);
}
