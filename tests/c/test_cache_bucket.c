/* The token cache by buckets (cache_bucket.h): chunks of each size and number of tokens, entries of
 * one slot and of several that drive each other out, keys that differ in any byte or only in their
 * size, texts that look like slots, the filter of chunks that were missed once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_bucket.h"
#include "cache_texts.h"

#define MOST_TOKENS 32u /* more than an entry holds */
#define BUCKETS 32u     /* of the least cache */
#define UNTOUCHED 0x5A5A5A5Au

typedef union cache_bucket {
    struct isotok__cache_slot slots[ISOTOK__BUCKET_SLOTS];
    struct isotok__cache_entry set[2]; /* for their size and alignment */
} cache_bucket;

typedef struct chunk {
    uint8_t text[2 * ISOTOK__BUCKET_KEY]; /* more than a key: what is behind must not count */
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

/* Bytes of an entry; how many fit says cache_bucket.h. */
static bool fits(const chunk *c)
{
    return c->size + c->count * 4 <= ISOTOK__BUCKET_BYTES;
}

static struct isotok__cache_query query_of(const struct isotok__cache *cache, const chunk *c)
{
    struct isotok__cache_query query;
    isotok__bucket_ask(cache, c->text, c->size, &query);
    return query;
}

/* In this bucket, wherever the hash of the chunk would put it. */
static struct isotok__cache_query query_in(cache_bucket *bucket, const chunk *c)
{
    const struct isotok__cache cache = {.entries = bucket->set, .shift = 63};
    struct isotok__cache_query query = query_of(&cache, c);
    query.set = bucket->set;
    return query;
}

/* As the segmenters look a chunk up. Returns the number of tokens, 0: it is not there. */
static uint32_t look_up(const struct isotok__cache_query *query, const chunk *c, uint32_t *out)
{
    const struct isotok__cache_slot *first = isotok__bucket_of(query);
    if (isotok__slot_is(first, query)) {
        memcpy(out, first->tokens, sizeof first->tokens);
        return first->count;
    }
    return isotok__bucket_take(query, c->text, out);
}

/* Whether the answer is there, and right. */
static bool answers(const struct isotok__cache_query *query, const chunk *c)
{
    uint32_t out[MOST_TOKENS + ISOTOK__SLOT_TOKENS];
    memset(out, 0x5A, sizeof out);
    const uint32_t count = look_up(query, c, out);
    const uint32_t most = count < ISOTOK__SLOT_TOKENS ? ISOTOK__SLOT_TOKENS : count;
    if (count == 0) {
        return false;
    }
    return CHECK(count == c->count) && CHECK(out[most] == UNTOUCHED) &&
           CHECK(memcmp(out, c->tokens, count * sizeof *out) == 0);
}

static bool is_there(cache_bucket *bucket, const chunk *c)
{
    const struct isotok__cache_query query = query_in(bucket, c);
    return answers(&query, c);
}

static void put_once(cache_bucket *bucket, const chunk *c, uint16_t tag)
{
    const struct isotok__cache_query query = query_in(bucket, c);
    isotok__bucket_put(&query, tag, c->text, c->tokens, c->count);
}

/* Missed for the second time: kept. */
static void put(cache_bucket *bucket, const chunk *c, uint16_t tag)
{
    put_once(bucket, c, tag);
    put_once(bucket, c, tag);
}

static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/* ---- Sizes ------------------------------------------------------------------------------ */

static void test_sizes(void)
{
    for (uint32_t size = 1; size <= ISOTOK__BUCKET_KEY; size++) {
        for (uint32_t count = 1; count <= MOST_TOKENS; count++) {
            cache_bucket bucket;
            memset(&bucket, 0, sizeof bucket);
            const chunk c = make_chunk(LETTERS, size, count, 0xFFFEF0u);
            CHECK(!is_there(&bucket, &c));
            put(&bucket, &c, 7);
            CHECK(is_there(&bucket, &c) == fits(&c));
            CHECK(is_there(&bucket, &c) == fits(&c));
            for (uint32_t at = 0; at < size; at++) { /* each byte of the key counts */
                chunk other = c;
                other.text[at] ^= 0x20;
                CHECK(!is_there(&bucket, &other));
            }
            for (uint32_t other = 1; other <= ISOTOK__BUCKET_KEY; other++) {
                const chunk part = make_chunk(LETTERS, other, 1, 1);
                CHECK(other == size || !is_there(&bucket, &part));
            }
        }
    }
}

/* Keys are padded with zeros, so only the size tells these apart. */
static void test_padding(void)
{
    static const char text[ISOTOK__BUCKET_KEY] = "ab";
    for (uint32_t size = 1; size <= ISOTOK__BUCKET_KEY; size++) {
        cache_bucket bucket;
        memset(&bucket, 0, sizeof bucket);
        const chunk c = make_chunk(text, size, 1 + size % 4, size);
        put(&bucket, &c, 7);
        for (uint32_t other = 1; other <= ISOTOK__BUCKET_KEY; other++) {
            chunk longer = make_chunk(text, other, 1 + other % 4, other);
            CHECK(is_there(&bucket, &longer) == (other == size));
        }
    }
}

/* ---- Who drives out whom ---------------------------------------------------------------- */

static void test_four_slots(void)
{
    chunk small[6];
    cache_bucket bucket;
    memset(&bucket, 0, sizeof bucket);
    for (uint32_t i = 0; i < 6; i++) {
        small[i] = make_chunk(LETTERS + i, 1 + 3 * i, 1 + i % 3, 10 * i);
    }
    for (uint32_t i = 0; i < 4; i++) put(&bucket, &small[i], (uint16_t)(2 * i + 1));
    for (uint32_t i = 0; i < 4; i++) CHECK(is_there(&bucket, &small[i])); /* 3 was found last */
    put(&bucket, &small[4], 101);
    put(&bucket, &small[5], 103);
    CHECK(is_there(&bucket, &small[3]) && is_there(&bucket, &small[4]));
    CHECK(is_there(&bucket, &small[5]));
}

/* An entry of each number of slots in a bucket that entries of any have filled: it is there, what
 * is left is right, and no part of what went is an entry. */
static void test_wide(void)
{
    const chunk all[] = {make_chunk("a", 1, 1, 10),          make_chunk(LETTERS, 18, 2, 20),
                         make_chunk("w", 1, 4, 30),          make_chunk(LETTERS, 24, 8, 40),
                         make_chunk("bb", 2, 3, 50),         make_chunk(LETTERS, 60, 6, 60),
                         make_chunk(LETTERS + 1, 88, 6, 70), make_chunk(LETTERS + 2, 16, 24, 80),
                         make_chunk(LETTERS + 3, 96, 4, 90), make_chunk("ccc", 3, 27, 100)};
    const uint32_t n = sizeof all / sizeof *all;
    for (uint32_t i = 0; i < n * n * n * n; i++) {
        cache_bucket bucket;
        uint32_t there = 0;
        memset(&bucket, 0, sizeof bucket);
        for (uint32_t k = 0, digits = i; k < 4; k++, digits /= n) {
            const chunk *c = &all[digits % n];
            if (!is_there(&bucket, c)) put(&bucket, c, (uint16_t)(2 * k + 1));
            CHECK(is_there(&bucket, c));
        }
        for (uint32_t k = 0; k < n; k++) there += is_there(&bucket, &all[k]);
        CHECK(there >= 1 && there <= 4);
    }
}

/* The text of a long chunk that looks like slots, at each place in its bucket. */
static void test_text_like_slots(void)
{
    const chunk inner = make_chunk("evil", 4, 1, 666);
    for (uint32_t at = 0; at + sizeof(struct isotok__cache_slot) <= ISOTOK__BUCKET_KEY; at++) {
        struct isotok__cache_slot slot;
        cache_bucket bucket;
        chunk outer = make_chunk(LETTERS, ISOTOK__BUCKET_KEY, 1, 1);
        const struct isotok__cache_query query = query_in(&bucket, &inner);
        memset(&slot, 0, sizeof slot);
        memcpy(slot.key, query.key.words, sizeof slot.key);
        slot.tokens[0] = 667 << 8 | 4;
        slot.size = 4;
        slot.count = 1;
        memcpy(outer.text + at, &slot, sizeof slot);
        for (uint32_t before = 0; before < 4; before++) {
            memset(&bucket, 0, sizeof bucket);
            put(&bucket, &outer, 1);
            for (uint32_t i = 0; i < before; i++) {
                const chunk c = make_chunk(LETTERS + i, 2, 1, i);
                put(&bucket, &c, (uint16_t)(2 * i + 3));
            }
            CHECK(!is_there(&bucket, &inner));
        }
    }
}

/* ---- Missed ----------------------------------------------------------------------------- */

static void test_missed(void)
{
    const chunk a = make_chunk("a", 1, 1, 10), b = make_chunk("b", 1, 1, 20),
                c = make_chunk("c", 1, 1, 30);
    cache_bucket bucket;
    memset(&bucket, 0, sizeof bucket);
    put_once(&bucket, &a, 1);
    CHECK(!is_there(&bucket, &a)); /* missed once */
    put_once(&bucket, &b, 3);
    put_once(&bucket, &a, 1);
    CHECK(is_there(&bucket, &a)); /* two tags are remembered … */
    put_once(&bucket, &c, 5);
    put_once(&bucket, &b, 3);
    CHECK(is_there(&bucket, &b) && is_there(&bucket, &a));
    memset(&bucket, 0, sizeof bucket);
    put_once(&bucket, &a, 1);
    put_once(&bucket, &b, 3);
    put_once(&bucket, &c, 5);
    put_once(&bucket, &a, 1); /* … and no third */
    CHECK(!is_there(&bucket, &a) && !is_there(&bucket, &b) && !is_there(&bucket, &c));
}

/* ---- Anything --------------------------------------------------------------------------- */

/* The tokens of a chunk depend on its text alone, as in a model. */
static chunk random_chunk(void)
{
    static const char sorts[] = "ab\0";
    char text[ISOTOK__BUCKET_KEY];
    uint32_t size = text_random(3) == 0 ? 1 + text_random(ISOTOK__BUCKET_KEY) : 1 + text_random(4);
    uint32_t sum = size;
    for (uint32_t i = 0; i < size; i++) {
        /* few texts, which differ at their ends */
        text[i] = i > 1 && i + 2 < size ? 'a' : sorts[text_random(3)];
        sum = sum * 31 + (uint8_t)text[i];
    }
    return make_chunk(text, size, 1 + sum % (sum & 64 ? 4 : MOST_TOKENS), sum & 0xFFFFF);
}

/* Many chunks in few buckets: an answer is never another chunk's. Many are answered. */
static void test_random(void)
{
    struct isotok__cache cache;
    cache_bucket *buckets = cache_new(BUCKETS * sizeof *buckets);
    uint32_t hits = 0, wide = 0, bad = 0;
    memset(&cache, 0, sizeof cache);
    cache.entries = buckets->set;
    cache.shift = 64 - 5;
    for (uint32_t i = 0; i < 600000 && bad == 0; i++) {
        const chunk c = random_chunk();
        const struct isotok__cache_query query = query_of(&cache, &c);
        const uint16_t tag = isotok__cache_tag(&query.key);
        const cache_bucket *bucket = (const cache_bucket *)(const void *)query.set;
        bad = bucket < buckets || bucket >= buckets + BUCKETS || tag == 0;
        if (bad == 0 && answers(&query, &c)) {
            hits++;
            wide += c.size > 16 || c.count > 3;
        } else if (bad == 0) {
            isotok__bucket_put(&query, tag, c.text, c.tokens, c.count);
        }
    }
    printf("| random: %u answers, %u of them of several slots\n", hits, wide);
    CHECK(bad == 0 && hits > 100000 && wide > 10000);
    free(buckets);
}

int main(void)
{
    _Static_assert(sizeof(cache_bucket) == 128, "two lines");
    test_sizes();
    test_padding();
    test_four_slots();
    test_wide();
    test_text_like_slots();
    test_missed();
    test_random();
    return test_result();
}
