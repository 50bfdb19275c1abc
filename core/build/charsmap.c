/* precompiled_charsmap: see charsmap.h.
 *
 * Darts unit: bits 0-7 label, bit 8 "a key ends here", bit 9 offset is * 256, bits 10-30
 * offset, bit 31 value unit. Child of unit p by byte c: p ^ offset(p) ^ c, if its label is
 * c and it is no value unit; value of p: the unit at p ^ offset(p). The units may share
 * suffixes, so the array is a graph, and a hostile one may have cycles: keys without an
 * end, which a blob cannot hold. */
#include "charsmap.h"

#include "text.h"

#define IS_VALUE 0x80000000u
#define HAS_KEY 0x100u

static uint32_t unit_base(const uint32_t *units, uint32_t slot)
{
    return slot ^ isotok__darts_offset(units[slot]);
}

/* ---- SentencePiece's checks ------------------------------------------------------ */

static isotok_status broken(isotok__work *work, uint64_t at, uint32_t slot)
{
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_CHARSMAP_BROKEN, slot, at);
}

static isotok_status check_units(isotok__work *work, const isotok__charsmap *c, uint64_t at)
{
    const uint32_t *units = c->units;
    uint32_t n = c->unit_count;
    if ((units[0] & (IS_VALUE | 0xFF | HAS_KEY)) != 0 || unit_base(units, 0) == 0) {
        return broken(work, at, 0);
    }
    for (uint32_t slot = 0; slot < n; slot++) {
        bool ok;
        if (units[slot] & IS_VALUE) {
            ok = (units[slot] & ~IS_VALUE) < c->text.size;
        } else {
            uint32_t base = unit_base(units, slot);
            ok = (base | 0xFF) < n && (!(units[slot] & HAS_KEY) || (units[base] & IS_VALUE));
        }
        if (!ok) {
            return broken(work, at + 4 * (uint64_t)slot, slot);
        }
    }
    return ISOTOK_OK;
}

/* Splits the source into units (copied, aligned) and pool. */
static isotok_status split(isotok__work *work, isotok__span source, uint64_t at,
                           isotok__charsmap *out)
{
    uint32_t trie_size = source.size > 4 ? isotok__load_u32(source.data) : 0;
    if (source.size <= 4 || trie_size >= source.size - 4 || trie_size < 1024 ||
        (trie_size & 0x3FF) != 0 || source.data[source.size - 1] != 0) {
        return broken(work, at, ISOTOK__NO_INDEX);
    }
    uint32_t *units = ISOTOK__KEEP(work, uint32_t, trie_size / 4);
    if (units == NULL) {
        return work->error.status;
    }
    memcpy(units, source.data + 4, trie_size);
    out->units = units;
    out->unit_count = trie_size / 4;
    out->text = (isotok__span){source.data + 4 + trie_size, source.size - 4 - trie_size};
    return ISOTOK_OK;
}

/* ---- Longest key ----------------------------------------------------------------- */

enum { NEW = 0, OPEN = 1, DONE = 2 };

/* Depth-first search over the units with an explicit stack. */
typedef struct search {
    const uint32_t *units;
    uint32_t *first_child; /* by base; NO_INDEX = none */
    uint32_t *next_child;  /* by unit: another unit with the same base */
    uint32_t *cursor;      /* by unit: the child to look at next */
    uint32_t *stack;
    uint32_t *key_bytes; /* by unit: bytes to the farthest key end below, NO_INDEX = none */
    uint8_t *state;
} search;

static bool search_init(isotok__work *work, search *s, const isotok__charsmap *c)
{
    size_t n = c->unit_count;
    s->units = c->units;
    s->first_child = ISOTOK__TEMP(work, uint32_t, n);
    s->next_child = ISOTOK__TEMP(work, uint32_t, n);
    s->cursor = ISOTOK__TEMP(work, uint32_t, n);
    s->stack = ISOTOK__TEMP(work, uint32_t, n);
    s->key_bytes = ISOTOK__TEMP(work, uint32_t, n);
    s->state = ISOTOK__TEMP(work, uint8_t, n);
    if (work->error.status != ISOTOK_OK) {
        return false;
    }
    memset(s->first_child, 0xFF, n * 4);
    memset(s->state, NEW, n);
    for (uint32_t slot = c->unit_count; slot-- > 0;) {
        if (!(c->units[slot] & IS_VALUE)) {
            uint32_t base = slot ^ (c->units[slot] & 0xFF);
            s->next_child[slot] = s->first_child[base];
            s->first_child[base] = slot;
        }
    }
    return true;
}

static void enter(search *s, uint32_t slot)
{
    bool has_key = (s->units[slot] & HAS_KEY) != 0;
    s->state[slot] = OPEN;
    s->cursor[slot] = s->first_child[unit_base(s->units, slot)];
    s->key_bytes[slot] = has_key ? 0 : ISOTOK__NO_INDEX;
}

static void take_child(search *s, uint32_t slot, uint32_t child)
{
    if (s->key_bytes[child] != ISOTOK__NO_INDEX) {
        uint32_t bytes = s->key_bytes[child] + 1;
        if (s->key_bytes[slot] == ISOTOK__NO_INDEX || bytes > s->key_bytes[slot]) {
            s->key_bytes[slot] = bytes;
        }
    }
}

/* False: a cycle, at *out_slot. */
static bool search_run(search *s, uint32_t *out_slot)
{
    uint32_t depth = 0;
    s->stack[depth++] = 0;
    enter(s, 0);
    while (depth > 0) {
        uint32_t slot = s->stack[depth - 1];
        uint32_t child = s->cursor[slot];
        if (child == ISOTOK__NO_INDEX) {
            s->state[slot] = DONE;
            depth--;
        } else if (s->state[child] == NEW) {
            s->stack[depth++] = child;
            enter(s, child);
        } else if (s->state[child] == DONE) {
            take_child(s, slot, child);
            s->cursor[slot] = s->next_child[child];
        } else {
            *out_slot = child;
            return false;
        }
    }
    return true;
}

/* max_key_bytes; refuses keys without end or too long. */
static isotok_status measure_keys(isotok__work *work, isotok__charsmap *c, uint64_t at)
{
    size_t mark = isotok__temp_begin(work);
    search s;
    uint32_t slot = 0;
    if (!search_init(work, &s, c)) {
        return work->error.status;
    }
    if (!search_run(&s, &slot)) {
        return broken(work, at + 4 * (uint64_t)slot, slot);
    }
    c->max_key_bytes = s.key_bytes[0] == ISOTOK__NO_INDEX ? 0 : s.key_bytes[0];
    isotok__temp_end(work, mark);
    if (c->max_key_bytes > ISOTOK__MAX_KEY) {
        return broken(work, at, 0);
    }
    return ISOTOK_OK;
}

/* ---- Longest replacement --------------------------------------------------------- */

/* rest[i] = bytes from i to the NUL at or after it, a space counting `space` bytes. */
static void measure_pool(isotok__span pool, uint32_t space, uint32_t *rest)
{
    rest[pool.size - 1] = 0;
    for (size_t i = pool.size - 1; i-- > 0;) {
        uint32_t bytes = pool.data[i] == 0 ? 0 : rest[i + 1] + (pool.data[i] == ' ' ? space : 1);
        rest[i] = bytes;
    }
}

static isotok_status measure_text(isotok__work *work, isotok__charsmap *c, uint64_t at, bool escape)
{
    size_t mark = isotok__temp_begin(work);
    uint32_t *rest = ISOTOK__TEMP(work, uint32_t, c->text.size);
    if (rest == NULL) {
        return work->error.status;
    }
    measure_pool(c->text, escape ? 3 : 1, rest);
    c->well_formed = isotok__well_formed(c->text.data, c->text.size);
    for (uint32_t i = 0; i < c->text.size; i++) {
        if (rest[i] > c->max_expansion) {
            c->max_expansion = rest[i];
        }
        if (rest[i] > ISOTOK__MAX_EXPANSION) {
            return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_EXPANSION, i,
                                      at + 4 + 4 * (uint64_t)c->unit_count + i);
        }
    }
    for (uint32_t slot = 0; slot < c->unit_count; slot++) {
        if (c->units[slot] & IS_VALUE) {
            c->well_formed &= (c->text.data[c->units[slot] & ~IS_VALUE] & 0xC0) != 0x80;
        }
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

isotok_status isotok__charsmap_read(isotok__work *work, isotok__span source, uint64_t at,
                                    bool escape, isotok__charsmap *out)
{
    memset(out, 0, sizeof *out);
    out->well_formed = true;
    if (source.size == 0) {
        return ISOTOK_OK;
    }
    isotok_status status = split(work, source, at, out);
    if (status == ISOTOK_OK) {
        status = check_units(work, out, at + 4);
    }
    if (status == ISOTOK_OK) {
        status = measure_keys(work, out, at + 4);
    }
    return status == ISOTOK_OK ? measure_text(work, out, at, escape) : status;
}

/* ---- Start set ------------------------------------------------------------------- */

/* Whether walking `text` meets a key's end or reaches a node. */
static bool begins_rule(const isotok__charsmap *c, const uint8_t *text, size_t size)
{
    uint32_t slot = 0;
    if (c->units == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        slot = unit_base(c->units, slot) ^ text[i];
        if ((c->units[slot] & (IS_VALUE | 0xFF)) != text[i]) {
            return false;
        }
        if (c->units[slot] & HAS_KEY) {
            return true;
        }
    }
    return true;
}

static bool begins_piece(const isotok__trie *trie, const uint8_t *text, size_t size)
{
    uint32_t slot = 0;
    if (trie->nodes == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        slot = isotok__trie_step(trie->nodes, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) {
            return false;
        }
        if (trie->nodes[slot].value != 0) {
            return true;
        }
    }
    return true;
}

/* UTF-8 form of a code point below U+20000 (surrogates too). */
static size_t encode(uint32_t code, uint8_t text[4])
{
    size_t size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size - 1; i > 0; i--) {
        text[i] = (uint8_t)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    text[0] = (uint8_t)(lead[size] | code);
    return size;
}

void isotok__start_set(const isotok__charsmap *charsmap, const isotok__trie *user_trie,
                       uint64_t start_set[ISOTOK__START_WORDS])
{
    memset(start_set, 0, ISOTOK__START_WORDS * sizeof *start_set);
    for (uint32_t code = 0; code < ISOTOK__START_WORDS * 64; code++) {
        uint8_t text[4];
        size_t size = encode(code, text);
        if (begins_rule(charsmap, text, size) || begins_piece(user_trie, text, size)) {
            start_set[code >> 6] |= (uint64_t)1 << (code & 63);
        }
    }
}
