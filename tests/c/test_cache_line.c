/* The token cache by lines (cache_line.h): chunks of each size and number of tokens, entries of one
 * slot and of two that drive each other out, keys that differ in their last bytes or only in their
 * size, the filter of chunks that were missed once. */
#include <stdlib.h>
#include <string.h>

#include "cache_line.h"
#include "cache_texts.h"

#define MOST_TOKENS 9u /* one more than an entry holds */
#define LINES 64u      /* of the least cache */

typedef union cache_line {
    struct isotok__cache_slot slots[2];
    struct isotok__cache_entry whole; /* for its size and alignment */
} cache_line;

typedef struct chunk {
    uint8_t text[2 * ISOTOK__CACHE_KEY]; /* more than a key: what is behind must not count */
    uint32_t size, count;
    uint32_t tokens[MOST_TOKENS];
} chunk;

static chunk make_chunk(const char *text, uint32_t size, uint32_t count, uint32_t first)
{
    chunk c;
    memset(&c, 0xA5, sizeof c);
    memcpy(c.text, text, size);
    c.size = size;
    c.count = count;
    for (uint32_t i = 0; i < count; i++) {
        c.tokens[i] = (first + i) << 8 | (i + 1);
    }
    return c;
}

static struct isotok__cache_query query_of(cache_line *line, const chunk *c)
{
    struct isotok__cache_query query;
    memset(&query, 0, sizeof query);
    query.key = isotok__cache_key(c->text, c->size);
    query.set = &line->whole;
    query.size = c->size;
    return query;
}

static const struct isotok__cache_slot *find(cache_line *line, const chunk *c)
{
    const struct isotok__cache_key key = isotok__cache_key(c->text, c->size);
    return isotok__line_find(line->slots, &key, c->size);
}

/* Whether the line answers with these tokens; an entry of too many has none. */
static bool is_there(cache_line *line, const chunk *c)
{
    uint32_t out[ISOTOK__CACHE_TOKENS + 1];
    const struct isotok__cache_slot *slot = find(line, c);
    if (slot == NULL) {
        return false;
    }
    memset(out, 0x5A, sizeof out);
    const uint32_t count = isotok__line_take(slot, out);
    return CHECK(slot == line->slots) && CHECK(out[ISOTOK__CACHE_TOKENS] == 0x5A5A5A5Au) &&
           CHECK(count == (c->count > ISOTOK__CACHE_TOKENS ? 0 : c->count)) &&
           CHECK(memcmp(out, c->tokens, count * sizeof *out) == 0);
}

static void put_once(cache_line *line, const chunk *c, uint16_t tag)
{
    const struct isotok__cache_query query = query_of(line, c);
    isotok__line_put(&query, tag, c->tokens, c->count);
}

/* Missed for the second time: kept. */
static void put(cache_line *line, const chunk *c, uint16_t tag)
{
    put_once(line, c, tag);
    put_once(line, c, tag);
}

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyz";

/* ---- Sizes ------------------------------------------------------------------------------ */

static void test_sizes(void)
{
    for (uint32_t size = 1; size <= ISOTOK__CACHE_KEY; size++) {
        for (uint32_t count = 1; count <= MOST_TOKENS; count++) {
            cache_line line;
            memset(&line, 0, sizeof line);
            const chunk c = make_chunk(LETTERS, size, count, 0xFFFEF0u);
            CHECK(!is_there(&line, &c));
            put(&line, &c, 7);
            CHECK(is_there(&line, &c));
            CHECK(is_there(&line, &c));
            for (uint32_t at = 0; at < size; at++) { /* each byte of the key counts */
                chunk other = c;
                other.text[at] ^= 0x20;
                CHECK(find(&line, &other) == NULL);
            }
            for (uint32_t other = 1; other <= ISOTOK__CACHE_KEY; other++) {
                const chunk part = make_chunk(LETTERS, other, 1, 1);
                CHECK(other == size || find(&line, &part) == NULL);
            }
        }
    }
}

/* Keys are padded with zeros, so only the size tells these apart. */
static void test_padding(void)
{
    static const char text[ISOTOK__CACHE_KEY] = "ab";
    for (uint32_t size = 1; size <= ISOTOK__CACHE_KEY; size++) {
        cache_line line;
        memset(&line, 0, sizeof line);
        const chunk c = make_chunk(text, size, 1 + size % MOST_TOKENS, size);
        put(&line, &c, 7);
        for (uint32_t other = 1; other <= ISOTOK__CACHE_KEY; other++) {
            const chunk longer = make_chunk(text, other, 1, 1);
            CHECK((find(&line, &longer) != NULL) == (other == size));
        }
        CHECK(is_there(&line, &c));
    }
}

/* ---- Who drives out whom ---------------------------------------------------------------- */

static void test_two_slots(void)
{
    const chunk a = make_chunk("a", 1, 1, 10), b = make_chunk("bb", 2, 2, 20),
                c = make_chunk("abcdefghijklmnop", 16, 3, 30);
    cache_line line;
    memset(&line, 0, sizeof line);
    put(&line, &a, 1);
    put(&line, &b, 3);
    CHECK(is_there(&line, &a) && is_there(&line, &b)); /* b is first now */
    put(&line, &c, 5);
    CHECK(is_there(&line, &b) && is_there(&line, &c) && find(&line, &a) == NULL);
    put(&line, &a, 1); /* c was found last: b goes */
    CHECK(is_there(&line, &c) && is_there(&line, &a) && find(&line, &b) == NULL);
}

/* Chunks that take both slots, by their size or by their tokens. */
static void test_wide(void)
{
    const chunk wide[] = {make_chunk(LETTERS, 17, 1, 100), make_chunk(LETTERS, 24, 8, 200),
                          make_chunk("w", 1, 4, 300), make_chunk("wwww", 4, 8, 400),
                          make_chunk(LETTERS, 20, 9, 500)};
    const chunk a = make_chunk("a", 1, 1, 10), b = make_chunk("bb", 2, 3, 20);
    for (uint32_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        const chunk *w = &wide[i], *other = &wide[(i + 1) % (sizeof wide / sizeof *wide)];
        cache_line line;
        memset(&line, 0, sizeof line);
        put(&line, &a, 1);
        put(&line, &b, 3);
        put(&line, w, 5);
        CHECK(is_there(&line, w) && find(&line, &a) == NULL && find(&line, &b) == NULL);
        put(&line, other, 7);
        CHECK(is_there(&line, other) && find(&line, w) == NULL);
        put(&line, &a, 1);
        CHECK(is_there(&line, &a) && find(&line, other) == NULL);
        put(&line, &b, 3);
        CHECK(is_there(&line, &a) && is_there(&line, &b));
    }
}

/* The third word of a key lies in the other slot. */
static void test_last_word(void)
{
    chunk a = make_chunk(LETTERS, 24, 2, 10), b = a;
    cache_line line;
    b.text[23] = '!';
    b.tokens[0] = 77 << 8 | 24;
    memset(&line, 0, sizeof line);
    put(&line, &a, 1);
    CHECK(is_there(&line, &a) && find(&line, &b) == NULL);
    put(&line, &b, 1);
    CHECK(is_there(&line, &b) && find(&line, &a) == NULL);
}

/* What is left in the second slot is no entry, whatever the line has held: here it looks like one
 * of the last bytes of a long chunk. */
static void test_rest_is_no_entry(void)
{
    for (uint32_t size = 1; size <= 8; size++) {
        const chunk a = make_chunk("a", 1, 1, 10), b = make_chunk(LETTERS, size, 1, 20);
        const chunk wide = make_chunk(LETTERS, 16 + size, 1, 30);
        const chunk rest = make_chunk(LETTERS + 16, size, 1, 40);
        cache_line line;
        memset(&line, 0, sizeof line);
        put(&line, &a, 1);
        put(&line, &b, 3);
        put(&line, &wide, 5);
        CHECK(is_there(&line, &wide) && find(&line, &rest) == NULL);
        put(&line, &a, 1);
        CHECK(is_there(&line, &a) && find(&line, &rest) == NULL);
    }
}

/* ---- Missed ----------------------------------------------------------------------------- */

static void test_missed(void)
{
    const chunk a = make_chunk("a", 1, 1, 10), b = make_chunk("b", 1, 1, 20),
                c = make_chunk("c", 1, 1, 30);
    cache_line line;
    memset(&line, 0, sizeof line);
    put_once(&line, &a, 1);
    CHECK(find(&line, &a) == NULL); /* missed once */
    put_once(&line, &b, 3);
    put_once(&line, &a, 1);
    CHECK(is_there(&line, &a)); /* two tags are remembered … */
    put_once(&line, &c, 5);
    put_once(&line, &b, 3);
    CHECK(is_there(&line, &b) && is_there(&line, &a));
    memset(&line, 0, sizeof line);
    put_once(&line, &a, 1);
    put_once(&line, &b, 3);
    put_once(&line, &c, 5);
    put_once(&line, &a, 1); /* … and no third */
    CHECK(find(&line, &a) == NULL && find(&line, &b) == NULL && find(&line, &c) == NULL);
}

/* ---- Anything --------------------------------------------------------------------------- */

/* The tokens of a chunk depend on its text alone, as in a model. */
static chunk random_chunk(void)
{
    static const char sorts[] = "ab\0";
    char text[ISOTOK__CACHE_KEY];
    uint32_t size = text_random(3) == 0 ? 1 + text_random(ISOTOK__CACHE_KEY) : 1 + text_random(4);
    uint32_t sum = size;
    for (uint32_t i = 0; i < size; i++) {
        /* few texts, which differ at their ends */
        text[i] = i > 1 && i + 2 < size ? 'a' : sorts[text_random(3)];
        sum = sum * 31 + (uint8_t)text[i];
    }
    return make_chunk(text, size, 1 + sum % MOST_TOKENS, sum & 0xFFFFF);
}

/* Many chunks in few lines: an answer is never another chunk's. Many are answered. */
static void test_random(void)
{
    struct isotok__cache cache;
    cache_line *lines = cache_new(LINES * sizeof *lines);
    uint32_t hits = 0, wide = 0, bad = 0;
    memset(&cache, 0, sizeof cache);
    cache.entries = &lines->whole;
    cache.count = 2 * LINES;
    cache.shift = 64 - 6;
    cache.lines = 1;
    for (uint32_t i = 0; i < 300000; i++) {
        const chunk c = random_chunk();
        const struct isotok__cache_key key = isotok__cache_key(c.text, c.size);
        struct isotok__cache_query query = {key, isotok__cache_set(&cache, &key), c.size, 0};
        cache_line *line = (cache_line *)(void *)query.set;
        bad += line < lines || line >= lines + LINES || isotok__cache_tag(&key) == 0;
        if (bad != 0) {
            break;
        }
        if (is_there(line, &c)) {
            hits++;
            wide += (line->slots->size & ISOTOK__SLOT_WIDE) != 0;
        } else {
            isotok__line_put(&query, isotok__cache_tag(&key), c.tokens, c.count);
        }
    }
    CHECK(bad == 0 && hits > 50000 && wide > 5000);
    free(lines);
}

int main(void)
{
    _Static_assert(sizeof(cache_line) == 64, "a line");
    test_sizes();
    test_padding();
    test_two_slots();
    test_wide();
    test_last_word();
    test_rest_is_no_entry();
    test_missed();
    test_random();
    return test_result();
}
