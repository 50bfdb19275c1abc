/* The passes of the model compiler, each against a plain check: charsmap, bpe's ranks and
 * direct bits, and damaged packed models. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_model.h"
#include "plan.h"
#include "xxh64.h"

static uint32_t random_state = 12345;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)random_state * limit >> 32);
}

/* Memory for the parts; more than any of them needs. */
static isotok__work work;
static void *arena;

static void reset_work(void)
{
    isotok__work_init(&work, arena, 64u << 20);
}

/* ---- Charsmap -------------------------------------------------------------------- */

/* Darts units by hand: all are value units (which no byte reaches) until linked. */
enum { UNITS = 1024 };

typedef struct darts {
    uint32_t size;
    uint32_t units[UNITS];
    char pool[20000];
} darts;

static void darts_init(darts *d)
{
    memset(d, 0, sizeof *d);
    d->size = UNITS * 4;
    for (uint32_t i = 0; i < UNITS; i++) {
        d->units[i] = 0x80000000u;
    }
    d->units[0] = 0;
}

/* Sets the base of `slot`. */
static void darts_base(darts *d, uint32_t slot, uint32_t base)
{
    d->units[slot] = (d->units[slot] & 0x1FF) | (slot ^ base) << 10;
}

/* The child of base `base` by `byte`, with children at `next`; `value` < 0: no key ends. */
static uint32_t darts_child(darts *d, uint32_t base, uint8_t byte, uint32_t next, int value)
{
    uint32_t slot = base ^ byte;
    d->units[slot] = byte | (value >= 0 ? 0x100u : 0);
    darts_base(d, slot, next);
    if (value >= 0) {
        d->units[next] = 0x80000000u | (uint32_t)value;
    }
    return slot;
}

static isotok_status read_charsmap(const darts *d, size_t pool_size, bool escape,
                                   isotok__charsmap *out)
{
    isotok__span source = {(const uint8_t *)d, 4 + sizeof d->units + pool_size};
    reset_work();
    return isotok__charsmap_read(&work, source, 100, escape, out);
}

/* A and AB lead to texts; the root's base is 512, A's 300, AB's 700. */
static void make_darts(darts *d)
{
    darts_init(d);
    memcpy(d->pool, "a\0x y\0", 6);
    darts_base(d, 0, 512);
    darts_child(d, 512, 'A', 300, 0);
    darts_child(d, 300, 'B', 700, 2);
}

static void test_charsmap(void)
{
    static darts d;
    isotok__charsmap c;
    static uint64_t set[ISOTOK__START_WORDS];
    const isotok__trie no_trie = {NULL, 0};
    make_darts(&d);
    CHECK(read_charsmap(&d, 6, false, &c) == ISOTOK_OK);
    CHECK(c.max_key_bytes == 2 && c.max_expansion == 3 && c.well_formed && c.unit_count == UNITS);
    CHECK(read_charsmap(&d, 6, true, &c) == ISOTOK_OK && c.max_expansion == 5);
    isotok__start_set(&c, &no_trie, set);
    CHECK(set['A' >> 6] == (uint64_t)1 << ('A' & 63));
    for (unsigned i = 0; i < ISOTOK__START_WORDS; i++) {
        CHECK(i == 'A' >> 6 || set[i] == 0);
    }
    /* a key that is the first byte of U+0080 .. U+00BF */
    darts_child(&d, 512, 0xC2, 900, 0);
    CHECK(read_charsmap(&d, 6, false, &c) == ISOTOK_OK);
    isotok__start_set(&c, &no_trie, set);
    CHECK(set[2] == UINT64_MAX && set[3] == 0 && set[1] == 2 && set[0] == 0);
    make_darts(&d);
    d.pool[0] = '\xE3';
    CHECK(read_charsmap(&d, 6, false, &c) == ISOTOK_OK && !c.well_formed);
    memcpy(d.pool, "\xC3\xA9\0\0\0", 6);
    CHECK(read_charsmap(&d, 6, false, &c) == ISOTOK_OK && c.well_formed);
    d.units[700] = 0x80000001u; /* into the middle of a character */
    CHECK(read_charsmap(&d, 6, false, &c) == ISOTOK_OK && !c.well_formed);
}

static void refuse_charsmap(const darts *d, size_t pool_size, uint32_t what, uint64_t offset)
{
    isotok__charsmap c;
    CHECK(read_charsmap(d, pool_size, true, &c) < 0);
    CHECK(work.error.what == what);
    if (!CHECK(offset == 0 || work.error.offset == offset)) {
        fprintf(stderr, "  at %lu\n", (unsigned long)work.error.offset);
    }
}

static void test_charsmap_errors(void)
{
    static darts d;
    const uint32_t broken = ISOTOK_WHAT_CHARSMAP_BROKEN;
    make_darts(&d);
    refuse_charsmap(&d, 0, broken, 100); /* no pool */
    refuse_charsmap(&d, 1, broken, 100); /* no NUL at its end */
    d.size += 1024;
    refuse_charsmap(&d, 6, broken, 100);
    d.size = 1000;
    refuse_charsmap(&d, 6, broken, 100);
    d.size = 0;
    refuse_charsmap(&d, 6, broken, 100);
    make_darts(&d);
    darts_base(&d, 0, 0);
    refuse_charsmap(&d, 6, broken, 104);
    make_darts(&d);
    darts_base(&d, 512 ^ 'A', 1024); /* out of the array */
    refuse_charsmap(&d, 6, broken, 104 + 4 * (512 ^ 'A'));
    make_darts(&d);
    d.units[300] = 'x'; /* a key without a value unit */
    refuse_charsmap(&d, 6, broken, 104 + 4 * (512 ^ 'A'));
    make_darts(&d);
    d.units[300] = 0x80000006u; /* a value beyond the pool */
    refuse_charsmap(&d, 6, broken, 104 + 4 * 300);
    make_darts(&d);
    d.units[5] = 0x80000006u; /* even where no key leads */
    refuse_charsmap(&d, 6, broken, 104 + 4 * 5);
    make_darts(&d);
    darts_child(&d, 300, 'C', 512, -1); /* A C leads back to the root's children */
    refuse_charsmap(&d, 6, broken, 0);
    make_darts(&d);
    memset(d.pool, ' ', 1366); /* escaped: 3 * 1,366 bytes */
    refuse_charsmap(&d, 1367, ISOTOK_WHAT_EXPANSION, 0);
    d.pool[0] = 0;
    refuse_charsmap(&d, 0, broken, 100);
    isotok__charsmap c;
    d.units[700] = 0x80000000u;
    CHECK(read_charsmap(&d, 1367, true, &c) == ISOTOK_OK && c.max_expansion == 3 * 1365);
}

/* `keys` keys on one path, each one byte longer than the last. */
static void test_charsmap_depth(uint32_t keys)
{
    static darts d;
    isotok__charsmap c;
    uint32_t base = 512;
    darts_init(&d);
    darts_base(&d, 0, base);
    for (uint32_t i = 0; i < keys; i++) {
        uint32_t next = base + 1; /* with bytes from 0x80 on: no clash */
        darts_child(&d, base, 0x80, next, 0);
        base = next;
    }
    CHECK(read_charsmap(&d, 1, false, &c) == ISOTOK_OK && c.max_key_bytes == keys);
}

/* ---- Plan: ranks, direct bits, pairs --------------------------------------------- */

/* A plan of a random bpe model; false if the model is refused. */
static bool make_plan(const maker *m, isotok__spec *spec, isotok__plan *plan)
{
    isotok__span source = {m->data, m->size};
    reset_work();
    isotok__spec_init(spec);
    return isotok__read_sentencepiece(&work, spec, source) == ISOTOK_OK &&
           isotok__spec_check(&work, spec) == ISOTOK_OK &&
           isotok__plan_make(&work, spec, plan) == ISOTOK_OK;
}

static uint32_t value_of(const isotok__plan *plan, const char *text)
{
    return plan->trie
        .nodes[isotok__trie_walk(plan->trie.nodes, 0, (const uint8_t *)text, strlen(text))]
        .value;
}

static float from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

/* NaN by its bits beyond the infinities, -0.0 below +0.0; equal scores share a rank. */
static void test_ranks(void)
{
    static const struct {
        const char *text;
        uint32_t bits;
        uint32_t rank;
    } pieces[] = {
        {"a", 0x7FC00001, 0}, {"b", 0x7F800000, 1}, {"c", 0x3F800000, 2}, {"d", 0x00000001, 3},
        {"e", 0x00000000, 4}, {"f", 0x00000000, 4}, {"g", 0x80000000, 5}, {"h", 0xBF800000, 6},
        {"i", 0xBF800001, 7}, {"j", 0xFF800000, 8}, {"k", 0xFFC00000, 9},
    };
    maker m = {0};
    isotok__spec spec;
    isotok__plan plan;
    put_specials(&m);
    for (size_t i = sizeof pieces / sizeof pieces[0]; i-- > 0;) {
        put_piece(&m, pieces[i].text, from_bits(pieces[i].bits), ISOTOK_NORMAL);
    }
    put_trainer(&m, ISOTOK_BPE, false);
    if (CHECK(make_plan(&m, &spec, &plan))) {
        for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
            CHECK(value_of(&plan, pieces[i].text) == pieces[i].rank); /* and direct */
        }
    }
    maker_free(&m);
}

/* ---- Direct bits against plain merging ------------------------------------------- */

enum { VOCAB = 24 };

typedef struct toy {
    char text[VOCAB][12];
    float score[VOCAB];
    uint32_t type[VOCAB];
    uint32_t count;
} toy;

static int toy_find(const toy *t, const char *text, size_t size)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (strlen(t->text[i]) == size && memcmp(t->text[i], text, size) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* Runs the merges on one piece, as plainly as can be: true if it comes out whole. */
static bool toy_direct(const toy *t, const char *text)
{
    size_t begin[16];
    bool frozen[16];
    size_t n = 0;
    size_t size = strlen(text);
    for (size_t at = 0; at < size; n++) {
        size_t best = 0;
        for (size_t length = 1; at + length <= size; length++) {
            int id = toy_find(t, text + at, length);
            best = id >= 0 && t->type[id] == ISOTOK_USER_DEFINED ? length : best;
        }
        begin[n] = at;
        frozen[n] = best > 0;
        at += best > 0 ? best : 1;
    }
    begin[n] = size;
    for (;;) {
        size_t best = n;
        float best_score = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            int id = toy_find(t, text + begin[i], begin[i + 2] - begin[i]);
            if (id >= 0 && !frozen[i] && !frozen[i + 1] &&
                (best == n || t->score[id] > best_score)) {
                best = i;
                best_score = t->score[id];
            }
        }
        if (best == n) {
            return n == 1;
        }
        n--;
        memmove(begin + best + 1, begin + best + 2, (n - best) * sizeof *begin);
        memmove(frozen + best + 1, frozen + best + 2, (n - best) * sizeof *frozen);
    }
}

static void random_toy(toy *t)
{
    t->count = 0;
    while (t->count < VOCAB) {
        char *text = t->text[t->count];
        size_t size = t->count < 3 ? 1 : 1 + random_below(6);
        for (size_t i = 0; i < size; i++) {
            text[i] = t->count < 3 ? (char)('a' + t->count) : (char)('a' + random_below(3));
        }
        text[size] = 0;
        t->score[t->count] = -(float)random_below(12);
        t->type[t->count] = random_below(12) == 0   ? ISOTOK_USER_DEFINED
                            : random_below(10) == 0 ? ISOTOK_UNUSED
                                                    : ISOTOK_NORMAL;
        if (toy_find(t, text, size) < 0) {
            t->count++;
        } else if (random_below(20) == 0) {
            break;
        }
    }
}

static void test_direct(void)
{
    unsigned direct = 0;
    unsigned indirect = 0;
    for (unsigned round = 0; round < 400; round++) {
        toy t;
        maker m = {0};
        isotok__spec spec;
        isotok__plan plan;
        bool ok = true;
        random_toy(&t);
        put_specials(&m);
        for (uint32_t i = 0; i < t.count; i++) {
            put_piece(&m, t.text[i], t.score[i], t.type[i]);
        }
        put_trainer(&m, ISOTOK_BPE, false);
        if (CHECK(make_plan(&m, &spec, &plan))) {
            for (uint32_t i = 0; i < t.count; i++) {
                bool expected = t.type[i] != ISOTOK_UNUSED && toy_direct(&t, t.text[i]);
                ok &= (value_of(&plan, t.text[i]) >> 31 == 0) == expected;
                direct += expected;
                indirect += !expected;
            }
        }
        CHECK(ok);
        maker_free(&m);
    }
    CHECK(direct > 1000 && indirect > 1000);
}

/* ---- Damaged packed models ------------------------------------------------------- */

static void fix_checksum(uint8_t *packed, size_t size)
{
    uint64_t checksum =
        isotok__xxh64(packed + ISOTOK__HEADER_FEATURES, size - ISOTOK__HEADER_FEATURES, 0);
    memcpy(packed + ISOTOK__HEADER_CHECKSUM, &checksum, 8);
}

static void test_packed(void)
{
    static darts d;
    maker m = {0};
    uint8_t *packed;
    uint8_t *blob;
    uint8_t *again;
    size_t packed_size;
    size_t size;
    size_t again_size;
    isotok_error error;
    put_specials(&m);
    put_byte_pieces(&m);
    put_piece(&m, "<pad>", 0, ISOTOK_CONTROL);
    put_piece(&m,
              "\xE2\x96\x81"
              "ab",
              -1, ISOTOK_NORMAL);
    put_piece(&m, "u", 0, ISOTOK_USER_DEFINED);
    put_piece(&m, "w", 0, ISOTOK_UNUSED);
    put_trainer(&m, ISOTOK_UNIGRAM, true);
    make_darts(&d);
    put_charsmap(&m, &d, 4 + sizeof d.units + 6);
    CHECK(build_source(m.data, m.size, ISOTOK_FORM_PACKED, &packed, &packed_size, &error) == 0);
    CHECK(build_source(m.data, m.size, ISOTOK_FORM_BLOB, &blob, &size, &error) == 0);
    CHECK(build_source(packed, packed_size, ISOTOK_FORM_BLOB, &again, &again_size, &error) == 0);
    CHECK(size == again_size && memcmp(blob, again, size) == 0);
    free(again);
    CHECK(build_source(blob, size, ISOTOK_FORM_BLOB, &again, &again_size, &error) == 0);
    CHECK(size == again_size && memcmp(blob, again, size) == 0);
    free(again);
    packed[packed_size - 1] ^= 1;
    CHECK(build_source(packed, packed_size, ISOTOK_FORM_BLOB, &again, &again_size, &error) ==
          ISOTOK_E_CORRUPT);
    CHECK(error.what == ISOTOK_WHAT_CHECKSUM);
    packed[packed_size - 1] ^= 1;
    unsigned accepted = 0;
    unsigned refused = 0;
    for (unsigned round = 0; round < 3000; round++) {
        uint8_t *copy = malloc(packed_size); /* unaligned use is allowed, overruns are not */
        memcpy(copy, packed, packed_size);
        uint32_t limit = round % 2 ? (uint32_t)packed_size : 512;
        for (unsigned flips = 1 + random_below(3); flips > 0; flips--) {
            copy[24 + random_below(limit - 24)] ^= (uint8_t)(1 + random_below(255));
        }
        fix_checksum(copy, packed_size);
        isotok_status status =
            build_source(copy, packed_size, ISOTOK_FORM_BLOB, &again, &again_size, &error);
        accepted += status == ISOTOK_OK;
        refused += status < 0 && error.what != 0;
        free(again);
        free(copy);
    }
    CHECK(accepted + refused == 3000 && accepted > 100 && refused > 100);
    free(packed);
    free(blob);
    maker_free(&m);
}

/* ---- Parts ----------------------------------------------------------------------- */

/* The parts end to end are the file. */
static void test_parts(void)
{
    static const uint32_t forms[] = {ISOTOK_FORM_BLOB, ISOTOK_FORM_PACKED, ISOTOK_FORM_BLOB};
    maker m = {0};
    put_specials(&m);
    for (uint32_t i = 0; i < 3000; i++) {
        char text[16];
        snprintf(text, sizeof text, "%x", i);
        put_piece(&m, text, -(float)i, i % 50 == 0 ? ISOTOK_USER_DEFINED : ISOTOK_NORMAL);
    }
    uint8_t *out = aligned_memory(1u << 20);
    isotok_build *build;
    isotok_error error = {.size = sizeof error};
    const isotok_build_part *parts;
    size_t count, size;
    CHECK(isotok_build_init(arena, 64u << 20, &build, &error) == ISOTOK_OK);
    CHECK(isotok_build_source(build, ISOTOK_SOURCE_AUTO, m.data, m.size, &error) == ISOTOK_OK);
    CHECK(isotok_build_parts(build, ISOTOK_FORM_BLOB, NULL, &count, &error) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_build_parts(build, ISOTOK_FORM_SPM_FB, &parts, &count, &error) ==
          ISOTOK_E_ARGUMENT);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        CHECK(isotok_build_finish(build, forms[i], out, 1u << 20, &size, &error) == ISOTOK_OK);
        CHECK(isotok_build_parts(build, forms[i], &parts, &count, &error) == ISOTOK_OK);
        size_t at = 0;
        for (size_t k = 0; k < count; k++) {
            CHECK(at + parts[k].size <= size &&
                  memcmp(out + at, parts[k].data, parts[k].size) == 0);
            at += parts[k].size;
        }
        CHECK(at == size);
    }
    free(out);
    maker_free(&m);
}

int main(void)
{
    arena = aligned_memory(64u << 20);
    test_charsmap();
    test_charsmap_errors();
    test_charsmap_depth(1);
    test_charsmap_depth(33);
    test_ranks();
    test_direct();
    test_packed();
    test_parts();
    free(arena);
    return test_result();
}
