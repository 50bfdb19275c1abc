/* See bigrams.h and isotok_train.h. The scripts are FFBPE's. */
#include <stdlib.h>

#include "bigrams.h"

static const uint32_t SCRIPTS[][2] = {
    {0x0E00, 0x0EFF},   {0x1000, 0x109F},   {0x1100, 0x11FF}, {0x1780, 0x17FF},
    {0x3040, 0x30FF},   {0x3130, 0x318F},   {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},
    {0xA960, 0xA97F},   {0xA9E0, 0xA9FF},   {0xAA60, 0xAA7F}, {0xAC00, 0xD7FF},
    {0xF900, 0xFAFF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2EBEF}, {0x30000, 0x3134F},
};

static void fill_scripts(struct isotok__scripts *scripts)
{
    size_t i;
    uint32_t block;
    for (i = 0; i < sizeof SCRIPTS / sizeof *SCRIPTS; i++)
        for (block = SCRIPTS[i][0] / 16; block <= SCRIPTS[i][1] / 16; block++)
            scripts->blocks[block / 8] |= (uint8_t)(1u << block % 8);
}

ISOTOK_INLINE bool in_scripts(const struct isotok__scripts *scripts, uint32_t character)
{
    return character < ISOTOK__SCRIPTS_END &&
           (scripts->blocks[character / 128] >> character / 16 % 8 & 1);
}

/* Decodes a character beyond ASCII, moves behind it. */
ISOTOK_INLINE uint32_t decode(const uint8_t **text)
{
    const uint8_t *p = *text;
    if (p[0] < 0xE0) {
        *text += 2;
        return (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
    }
    if (p[0] < 0xF0) {
        *text += 3;
        return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
    }
    *text += 4;
    return (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
}

ISOTOK_INLINE uint64_t key_of(uint32_t left, uint32_t right)
{
    return (uint64_t)left << ISOTOK_BIGRAM_SHIFT | right;
}

ISOTOK_INLINE uint32_t hash_key(uint64_t key)
{
    key *= 0x9E3779B97F4A7C15u;
    return (uint32_t)(key >> 32) ^ (uint32_t)(key >> 52);
}

/* ---- Counting ---- */

struct slot {
    uint64_t key; /* + 1; 0: empty */
    int64_t count;
};

struct isotok_bigrams {
    struct isotok__scripts scripts;
    struct slot *slots;
    uint32_t mask, count;
};

isotok_bigrams *isotok_bigrams_new(void)
{
    isotok_bigrams *b = calloc(1, sizeof *b);
    if (b != NULL) fill_scripts(&b->scripts);
    return b;
}

void isotok_bigrams_clear(isotok_bigrams *b)
{
    free(b->slots);
    b->slots = NULL;
    b->mask = b->count = 0;
}

void isotok_bigrams_free(isotok_bigrams *b)
{
    if (b == NULL) return;
    free(b->slots);
    free(b);
}

uint32_t isotok_bigrams_size(const isotok_bigrams *b)
{
    return b->count;
}

void isotok_bigrams_items(const isotok_bigrams *b, uint64_t *keys, int64_t *counts)
{
    size_t i, n = 0;
    for (i = 0; b->slots != NULL && i <= b->mask; i++) {
        if (b->slots[i].key == 0) continue;
        keys[n] = b->slots[i].key - 1;
        counts[n++] = b->slots[i].count;
    }
}

static bool resize(isotok_bigrams *b)
{
    const size_t slots = b->slots ? ((size_t)b->mask + 1) * 2 : 4096;
    struct slot *made = slots > 0x80000000u ? NULL : calloc(slots, sizeof *made);
    size_t i;
    if (made == NULL) return false;
    for (i = 0; b->slots != NULL && i <= b->mask; i++) {
        uint32_t at = hash_key(b->slots[i].key) & (uint32_t)(slots - 1);
        if (b->slots[i].key == 0) continue;
        while (made[at].key != 0) at = (at + 1) & (uint32_t)(slots - 1);
        made[at] = b->slots[i];
    }
    free(b->slots);
    b->slots = made;
    b->mask = (uint32_t)(slots - 1);
    return true;
}

static bool add(isotok_bigrams *b, uint64_t key)
{
    uint32_t at = hash_key(++key) & b->mask;
    while (b->slots[at].key != key && b->slots[at].key != 0) at = (at + 1) & b->mask;
    b->slots[at].count++;
    if (ISOTOK_LIKELY(b->slots[at].key != 0)) return true;
    b->slots[at].key = key;
    return ++b->count <= b->mask / 4 * 3 || resize(b);
}

isotok_train_status isotok_bigrams_add_text(isotok_bigrams *b, const uint8_t *text, size_t size,
                                            isotok_train_error *error)
{
    const uint8_t *const end = text + size;
    uint32_t left = 0; /* 0: no character of these scripts */
    if (b->slots == NULL && !resize(b)) goto failed;
    while (text < end) {
        uint32_t right;
        if (*text < 0x80) {
            left = 0;
            text++;
            continue;
        }
        right = decode(&text);
        if (!in_scripts(&b->scripts, right)) right = 0;
        if (left != 0 && right != 0 && !add(b, key_of(left, right))) goto failed;
        left = right;
    }
    return ISOTOK_TRAIN_OK;
failed:
    return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for bigrams", b->count);
}

/* ---- Cutting ---- */

struct isotok__shape *isotok__shape_new(const uint64_t *keys, uint32_t count, bool mixed)
{
    struct isotok__shape *shape = calloc(1, sizeof *shape);
    size_t slots = 16;
    uint32_t i;
    if (shape == NULL) return NULL;
    fill_scripts(&shape->scripts);
    shape->mixed = mixed;
    while (slots < (size_t)count * 3) slots *= 2;
    shape->mask = (uint32_t)(slots - 1);
    if ((shape->kept = calloc(slots, sizeof *shape->kept)) == NULL) {
        free(shape);
        return NULL;
    }
    for (i = 0; i < count; i++) {
        uint32_t at = hash_key(keys[i] + 1) & shape->mask;
        while (shape->kept[at] != 0) at = (at + 1) & shape->mask;
        shape->kept[at] = keys[i] + 1;
    }
    return shape;
}

void isotok__shape_free(struct isotok__shape *shape)
{
    if (shape == NULL) return;
    free(shape->kept);
    free(shape);
}

static bool is_kept(const struct isotok__shape *shape, uint32_t left, uint32_t right)
{
    const uint64_t key = key_of(left, right) + 1;
    uint32_t at = hash_key(key) & shape->mask;
    while (shape->kept[at] != 0 && shape->kept[at] != key) at = (at + 1) & shape->mask;
    return shape->kept[at] != 0;
}

uint32_t isotok__shape_next(const struct isotok__shape *shape, const uint8_t *text, uint32_t at,
                            uint32_t end)
{
    const uint8_t *p = text + at, *const stop = text + end;
    uint32_t left = 0;
    bool inside = false, first = true;
    while (p < stop) {
        const uint8_t *const begin = p;
        const uint32_t right = *p < 0x80 ? *p++ : decode(&p);
        const bool is_inside = right >= 0x80 && in_scripts(&shape->scripts, right);
        if (!first && ((inside && is_inside) || (shape->mixed && inside != is_inside)) &&
            !is_kept(shape, left, right))
            return (uint32_t)(begin - text);
        left = right;
        inside = is_inside;
        first = false;
    }
    return end;
}
