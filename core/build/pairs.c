/* pair_set: which characters stand side by side inside a piece (FORMAT.md section 6).
 *
 * ALGORITHM  Over the sorted keys, only the pairs that the key does not share with the one
 *   before it; a hash table of the distinct ones, whose count gives the size of the set.
 * COMPLEXITY  O(bytes of all keys). */
#include "plan.h"
#include "text.h"

/* Distinct pairs: open addressing, a << 32 | b, 0 = free (a character is never 0). */
typedef struct pair_table {
    uint64_t *slots;
    uint64_t mask;
    uint32_t count;
} pair_table;

static uint32_t pair_hash(uint32_t a, uint32_t b)
{
    uint32_t h = a * 0x9E3779B1u ^ b * 0x85EBCA77u;
    return (h ^ h >> 15) * 0x2C1B3C6Du;
}

static void add_pair(pair_table *table, uint32_t a, uint32_t b)
{
    uint64_t pair = (uint64_t)a << 32 | b;
    uint64_t i = pair * 0x9E3779B97F4A7C15u >> 20 & table->mask;
    while (table->slots[i] != 0 && table->slots[i] != pair) {
        i = (i + 1) & table->mask;
    }
    table->count += table->slots[i] == 0;
    table->slots[i] = pair;
}

/* The character as a big-endian number of its bytes. */
static uint32_t character(const uint8_t *text, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | text[i];
    }
    return value;
}

/* Pairs of a key that end after byte `shared`: ASCII ones go into the set at once, others
 * into the table, or are only counted while it has no slots. */
static void key_pairs(const uint8_t *text, size_t size, size_t shared, uint64_t *set,
                      pair_table *table)
{
    uint32_t before = 0;
    for (size_t i = 0; i < size;) {
        size_t length = isotok__char_size(text + i, size - i);
        uint32_t here = character(text + i, length);
        if (i > 0 && i + length > shared) {
            if ((before | here) < 0x80) {
                set[before << 1 | here >> 6] |= (uint64_t)1 << (here & 63);
            } else if (table->slots == NULL) {
                table->count++;
            } else {
                add_pair(table, before, here);
            }
        }
        before = here;
        i += length;
    }
}

static size_t shared_bytes(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    size_t limit = isotok__min(a_size, b_size);
    size_t i = 0;
    while (i < limit && a[i] == b[i]) {
        i++;
    }
    return i;
}

static void all_pairs(const isotok__keys *keys, uint64_t *set, pair_table *table)
{
    const uint8_t *last = NULL;
    size_t last_size = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        const uint8_t *text = keys->text + isotok__key_begin(keys, i);
        size_t size = keys->ends[i] - isotok__key_begin(keys, i);
        key_pairs(text, size, shared_bytes(last, last_size, text, size), set, table);
        last = text;
        last_size = size;
    }
}

/* All distinct pairs: counts the occurrences, then fills a table with room for them. */
static bool make_table(isotok__work *work, const isotok__keys *keys, uint64_t *ascii,
                       pair_table *table)
{
    size_t slots = 64;
    table->slots = NULL;
    table->count = 0;
    all_pairs(keys, ascii, table);
    while (slots / 4 * 3 < table->count) {
        slots *= 2;
    }
    table->mask = slots - 1;
    table->count = 0;
    table->slots = ISOTOK__TEMP(work, uint64_t, slots);
    if (table->slots == NULL) {
        return false;
    }
    memset(table->slots, 0, slots * sizeof *table->slots);
    all_pairs(keys, ascii, table);
    return true;
}

isotok_status isotok__plan_pairs(isotok__work *work, isotok__plan *plan)
{
    size_t mark = isotok__temp_begin(work);
    uint64_t *ascii = ISOTOK__TEMP(work, uint64_t, ISOTOK__PAIR_ASCII);
    pair_table table;
    if (ascii == NULL) {
        return work->error.status;
    }
    memset(ascii, 0, ISOTOK__PAIR_ASCII * sizeof *ascii);
    if (!make_table(work, &plan->keys, ascii, &table)) {
        return work->error.status;
    }
    unsigned k = 0;
    while (((uint64_t)64 << k) < 12 * (uint64_t)table.count) {
        k++;
    }
    plan->pair_words = ISOTOK__PAIR_ASCII + (1u << k);
    plan->pair_set = ISOTOK__KEEP(work, uint64_t, plan->pair_words);
    if (plan->pair_set == NULL) {
        return work->error.status;
    }
    memcpy(plan->pair_set, ascii, ISOTOK__PAIR_ASCII * sizeof *ascii);
    uint64_t *hashed = plan->pair_set + ISOTOK__PAIR_ASCII;
    memset(hashed, 0, ((size_t)1 << k) * sizeof *hashed);
    for (uint64_t i = 0; i <= table.mask; i++) {
        if (table.slots[i] != 0) {
            uint32_t h = pair_hash((uint32_t)(table.slots[i] >> 32), (uint32_t)table.slots[i]) >>
                         (32 - k - 6);
            hashed[h >> 6] |= (uint64_t)1 << (h & 63);
        }
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}
