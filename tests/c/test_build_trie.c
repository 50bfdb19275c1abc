/* The lowest parts of the model compiler, each against a plain check: hash, sort, double
 * array, Darts array. */
#include <stdlib.h>
#include <string.h>

#include "darts.h"
#include "make_model.h"
#include "sort.h"
#include "xxh64.h"

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)random_state * limit >> 32);
}

#define ARENA_SIZE ((size_t)160 << 20)

/* Memory for the parts; more than any of them needs. */
static isotok__work work;
static void *arena;

static void reset_work(void)
{
    isotok__work_init(&work, arena, ARENA_SIZE);
}

/* ---- XXH64: values from the reference implementation's documentation -------------- */

static void test_xxh64(void)
{
    uint8_t bytes[256];
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    CHECK(isotok__xxh64("", 0, 0) == 0xEF46DB3751D8E999u);
    CHECK(isotok__xxh64("a", 1, 0) == 0xD24EC4F1A98C6E5Bu);
    CHECK(isotok__xxh64("abc", 3, 0) == 0x44BC2CF5AD770999u);
    CHECK(isotok__xxh64("Nobody inspects the spammish repetition", 39, 0) == 0xFBCEA83C8A378BF1u);
    /* every length takes another way through stripes and tail; one changed bit shows */
    for (size_t size = 1; size < sizeof bytes; size++) {
        uint64_t hash = isotok__xxh64(bytes, size, 0);
        bytes[size - 1] ^= 1;
        CHECK(isotok__xxh64(bytes, size, 0) != hash);
        bytes[size - 1] ^= 1;
    }
}

/* ---- Sort ------------------------------------------------------------------------ */

static int compare_items(const isotok__sort_item *a, const isotok__sort_item *b,
                         const uint8_t *pool, const uint32_t *ends)
{
    size_t a_size = ends[a->id] - a->begin;
    size_t b_size = ends[b->id] - b->begin;
    int order = memcmp(pool + a->begin, pool + b->begin, a_size < b_size ? a_size : b_size);
    if (order != 0) {
        return order;
    }
    return a_size != b_size ? (a_size < b_size ? -1 : 1) : a->id < b->id ? -1 : 1;
}

/* Random strings over the lowest (few) or highest (many) `letters` byte values but NUL. */
typedef struct strings {
    uint8_t *pool;
    uint32_t *ends;
    isotok__sort_item *items;
    uint32_t count;
} strings;

static strings make_strings(uint32_t count, uint32_t letters, uint32_t max_size)
{
    strings s = {calloc((size_t)count * max_size + 1, 1), calloc(count + 1, sizeof *s.ends),
                 calloc(count + 1, sizeof *s.items), count};
    uint32_t at = 0;
    for (uint32_t id = 0; id < count; id++) {
        uint32_t begin = at;
        for (uint32_t i = random_below(max_size) + 1; i > 0; i--) {
            uint32_t letter = random_below(letters);
            s.pool[at++] = (uint8_t)(letters < 4 ? 1 + letter : 255 - letter);
        }
        s.ends[id] = at;
        s.items[id] = (isotok__sort_item){0, begin, id};
    }
    isotok__sort(s.items, count, s.pool, s.ends);
    return s;
}

static void free_strings(strings *s)
{
    free(s->pool);
    free(s->ends);
    free(s->items);
}

static void test_sort_of(uint32_t count, uint32_t letters, uint32_t max_size)
{
    strings s = make_strings(count, letters, max_size);
    bool ok = true;
    for (uint32_t i = 1; i < count; i++) {
        ok &= compare_items(&s.items[i - 1], &s.items[i], s.pool, s.ends) < 0;
    }
    CHECK(ok);
    free_strings(&s);
}

static void test_sort(void)
{
    static const uint32_t counts[] = {0, 1, 2, 15, 16, 17, 18, 1000, 5000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        test_sort_of(counts[i], 1, 40);
        test_sort_of(counts[i], 2, 30);
        test_sort_of(counts[i], 255, 12);
    }
}

/* ---- Double array ---------------------------------------------------------------- */

typedef struct key_set {
    uint8_t *text;
    uint32_t *ends;
    isotok__keys keys;
} key_set;

/* Distinct sorted random keys. */
static key_set make_keys(uint32_t count, uint32_t letters, uint32_t max_size)
{
    strings s = make_strings(count, letters, max_size);
    key_set set = {
        calloc((size_t)count * max_size + 1, 1), calloc(count + 1, sizeof *set.ends), {0}};
    uint32_t at = 0;
    uint32_t last = 0; /* where the last key begins */
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = s.ends[s.items[i].id] - s.items[i].begin;
        if (made == 0 || at - last != size ||
            memcmp(set.text + last, s.pool + s.items[i].begin, size) != 0) {
            last = at;
            memcpy(set.text + at, s.pool + s.items[i].begin, size);
            at += size;
            set.ends[made++] = at;
        }
    }
    set.keys = (isotok__keys){.text = set.text, .ends = set.ends, .count = made};
    free_strings(&s);
    return set;
}

/* Distinct prefixes of all keys, the empty one included. */
static uint32_t count_nodes(const isotok__keys *keys)
{
    uint32_t nodes = 1;
    for (uint32_t i = 0; i < keys->count; i++) {
        uint32_t begin = isotok__key_begin(keys, i);
        uint32_t before = i > 0 ? isotok__key_begin(keys, i - 1) : 0;
        uint32_t limit = i > 0 ? begin - before : 0;
        uint32_t shared = 0;
        while (shared < limit && shared < keys->ends[i] - begin &&
               keys->text[before + shared] == keys->text[begin + shared]) {
            shared++;
        }
        nodes += keys->ends[i] - begin - shared;
    }
    return nodes;
}

/* No two nodes share a base, no walk leaves the array, only real children are found. */
static void check_structure(const isotok__trie *trie, uint32_t expected_nodes)
{
    uint8_t *is_base = calloc(trie->slots, 1);
    uint32_t children = 0;
    bool ok = trie->slots % 256 == 0 && trie->slots > 0;
    for (uint32_t slot = 0; slot < trie->slots; slot++) {
        uint32_t base = trie->nodes[slot].link >> 8;
        ok &= base < trie->slots && (base == 0 || !is_base[base]);
        if (base < trie->slots) {
            is_base[base] = 1;
        }
    }
    for (uint32_t slot = 0; slot < trie->slots; slot++) {
        uint32_t label = trie->nodes[slot].link & 0xFF;
        if (slot < 256) {
            ok &= label != slot; /* the sink */
            ok &= !is_base[slot] || slot == 0;
        } else if (is_base[slot ^ label]) {
            children++;
        } else {
            ok &= trie->nodes[slot].link >> 8 == 0 && trie->nodes[slot].value == 0xFFFFFFFFu;
        }
    }
    CHECK(ok);
    CHECK(children + 1 == expected_nodes);
    free(is_base);
}

static void test_trie_of(uint32_t count, uint32_t letters, uint32_t max_size)
{
    key_set set = make_keys(count, letters, max_size);
    isotok__trie trie;
    bool ok = true;
    reset_work();
    if (CHECK(isotok__double_array_build(&work, &set.keys, &trie) == ISOTOK_OK)) {
        uint32_t values = 0;
        for (uint32_t i = 0; i < set.keys.count; i++) {
            uint32_t begin = isotok__key_begin(&set.keys, i);
            uint32_t slot = isotok__trie_walk(trie.nodes, 0, set.text + begin, set.ends[i] - begin);
            ok &= slot != ISOTOK_NO_SLOT && trie.nodes[slot].value == i;
        }
        for (uint32_t slot = 0; slot < trie.slots; slot++) {
            values += trie.nodes[slot].value != 0xFFFFFFFFu;
        }
        CHECK(ok);
        CHECK(values == set.keys.count);
        check_structure(&trie, count_nodes(&set.keys));
        /* nine in ten slots are nodes, but for the sink and a few blocks; where most nodes
         * have half of all bytes as children, no two fit into a block */
        CHECK(letters == 255 || trie.slots < count_nodes(&set.keys) * 10ull / 9 + 256 * 24);
    }
    free(set.text);
    free(set.ends);
}

static void test_double_array(void)
{
    static const uint32_t counts[] = {0, 1, 2, 255, 256, 3000, 40000};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        test_trie_of(counts[i], 1, 300);
        test_trie_of(counts[i], 3, 20);
        test_trie_of(counts[i], 30, 9);
        test_trie_of(counts[i], 255, 3);
        test_trie_of(counts[i], 255, 2);
    }
}

/* ---- Darts array ----------------------------------------------------------------- */

/* What SentencePiece Lite checks of a trie: no walk leaves it, marks lead to values. */
static bool is_valid(const isotok__darts *d)
{
    bool ok = d->count % 256 == 0 && (d->units[0] & 0x800001FFu) == 0;
    ok = ok && isotok__darts_leaf(d, 0) != 0;
    for (uint32_t slot = 0; slot < d->count && ok; slot++) {
        if (!(d->units[slot] & ISOTOK__DARTS_VALUE)) {
            uint32_t base = isotok__darts_leaf(d, slot);
            ok = (base | 255) < d->count;
            ok = ok && (!(d->units[slot] & 0x100u) || (d->units[base] & ISOTOK__DARTS_VALUE));
        }
    }
    return ok;
}

/* Whether exactly the prefixes of keys can be walked, and exactly the keys have a value. */
static bool holds(const isotok__darts *d, const isotok__keys *keys, const uint32_t *values)
{
    uint32_t found = 0;
    bool ok = true;
    for (uint32_t i = 0; i < keys->count && ok; i++) {
        const uint8_t *key = keys->text + isotok__key_begin(keys, i);
        uint32_t slot = isotok__darts_walk(d, key, keys->ends[i] - isotok__key_begin(keys, i));
        ok = slot != 0 && (d->units[slot] & 0x100u) &&
             d->units[isotok__darts_leaf(d, slot)] == (ISOTOK__DARTS_VALUE | values[i]);
    }
    for (uint32_t slot = 0; slot < d->count; slot++) {
        found += d->units[slot] >> 31;
    }
    return ok && found == keys->count;
}

static void test_darts_of(uint32_t count, uint32_t letters, uint32_t max_size, uint32_t least_slots)
{
    key_set set = make_keys(count, letters, max_size);
    uint32_t *values = calloc(set.keys.count, sizeof *values);
    isotok__darts darts;
    for (uint32_t i = 0; i < set.keys.count; i++) {
        values[i] = random_below(1u << 24);
    }
    reset_work();
    if (CHECK(isotok__darts_build(&work, &set.keys, values, &darts) == ISOTOK_OK)) {
        CHECK(work.back == work.size); /* all temp memory is given back */
        CHECK(darts.count >= least_slots);
        CHECK(is_valid(&darts));
        CHECK(holds(&darts, &set.keys, values));
    }
    free(values);
    free(set.text);
    free(set.ends);
}

static void test_darts(void)
{
    isotok__keys none = {0};
    isotok__darts darts;
    reset_work();
    CHECK(isotok__darts_build(&work, &none, NULL, &darts) == ISOTOK_OK && darts.count == 0);
    test_darts_of(1, 255, 1, 512);
    test_darts_of(3000, 1, 300, 512);
    test_darts_of(3000, 3, 20, 512);
    test_darts_of(40000, 30, 9, 512);
    test_darts_of(40000, 255, 3, 512);
    /* past 2^21 slots not every offset can be written */
    test_darts_of(600000, 255, 12, (1u << 21) + 1);
}

int main(void)
{
    arena = aligned_memory(ARENA_SIZE);
    test_xxh64();
    test_sort();
    test_double_array();
    test_darts();
    free(arena);
    return test_result();
}
