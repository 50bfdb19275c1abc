/* Chunks that are hard on the token cache: as long as a key and one byte longer, with as many
 * tokens as fit and one more, with zero bytes at the end, and such as an attacker would
 * choose, who knows the hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache.h"
#include "cache_bucket.h"
#include "cache_texts.h"
#include "cuts.h"

#define LEAST 4096u
#define MODELS "tests/vectors/models/"

/* Encodes with the cache and without. What the cache did is added to `info`. */
static void check_same(const drive_model *m, void *memory, size_t size, const cache_text *text,
                       isotok_cache_info *info)
{
    const drive_plan easy = {0};
    const drive_plan plan = {.cache = memory, .cache_size = size, .cache_info = info};
    isotok_error error;
    drive_tokens a, b;
    CHECK(drive_encode(m, &easy, NULL, text->data, text->size, &a, &error) == ISOTOK_OK);
    CHECK(drive_encode(m, &plan, NULL, text->data, text->size, &b, &error) == ISOTOK_OK);
    CHECK(a.count > 0 && drive_tokens_equal(&a, &b));
    drive_tokens_free(&a);
    drive_tokens_free(&b);
}

/* ---- Sizes ------------------------------------------------------------------------------ */

/* Five times the word, each with a space in front. The first two times, a chunk is missed. */
static isotok_cache_info five_times(const drive_model *m, const char *word)
{
    isotok_cache_info info = {0};
    cache_text text = {0};
    void *memory = cache_new(LEAST);
    for (size_t i = 0; i < 5; i++) {
        text_put(&text, " ", i > 0);
        text_put(&text, word, strlen(word));
    }
    check_same(m, memory, LEAST, &text, &info);
    text_free(&text);
    free(memory);
    return info;
}

static void test_sizes(void)
{
    const isotok_cache_info all = {.probes = 10, .hits = 6},
                            spaces = {.probes = 5, .hits = 3, .bypassed = 125};
    const struct {
        uint32_t algorithm;
        const char *word;
        isotok_cache_info expected;
    } rows[] = {
        {ISOTOK_UNIGRAM, "abab", all},
        {ISOTOK_UNIGRAM, "ababc", {.probes = 10, .hits = 3, .uncertified = 3}},
        {ISOTOK_UNIGRAM, "aaaaaaaaaaaaaaaaaaaaaaaa", all},
        {ISOTOK_UNIGRAM, "aaaaaaaaaaaaaaaaaaaaaaaaa", spaces},
        {ISOTOK_BPE, "abcdefgh", all},
        {ISOTOK_BPE, "abcdefgha", all},
        {ISOTOK_BPE, "abcdefghabcdefghabcdef", all},
        {ISOTOK_BPE, "abcdefghabcdefghabcdefg", {.probes = 10, .hits = 3}},
        {ISOTOK_BPE, "abcdefghabcdefghabcdefgha", spaces},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        drive_model m;
        if (open_letters(&m, rows[i].algorithm)) {
            const isotok_cache_info found = five_times(&m, rows[i].word);
            /* a chunk that is too long may count as one that was not found */
            if (!CHECK((found.probes == rows[i].expected.probes || found.bypassed > 0) &&
                       found.hits == rows[i].expected.hits &&
                       found.uncertified == rows[i].expected.uncertified &&
                       found.bypassed == rows[i].expected.bypassed)) {
                fprintf(stderr,
                        "  %s: %u look-ups, %u answered, %u uncertified, %u bytes without\n",
                        rows[i].word, (unsigned)found.probes, (unsigned)found.hits,
                        (unsigned)found.uncertified, (unsigned)found.bypassed);
            }
            drive_close(&m);
        }
    }
}

/* ---- Zero bytes ------------------------------------------------------------------------- */

/* Keys are padded with zeros, so only the size tells these apart. */
static void test_padding(void)
{
    static const uint8_t text[2 * ISOTOK__CACHE_KEY] = "ab";
    struct isotok__cache_entry set[2], entry;
    memset(set, 0, sizeof set);
    for (uint32_t size = 1; size <= ISOTOK__CACHE_KEY; size++) {
        const struct isotok__cache_key key = isotok__cache_key(text, size);
        CHECK(size < 3 || memcmp(&key, &set[0].key, sizeof key) == 0);
        CHECK(isotok__cache_find(set, &key, size, false) == NULL);
        memset(&entry, 0, sizeof entry);
        entry.key = key;
        entry.size = (uint8_t)size;
        isotok__cache_put(set, &entry);
        CHECK(isotok__cache_find(set, &key, size, false) != NULL);
        CHECK(size < 3 || isotok__cache_find(set, &key, size - 1, false) != NULL); /* two fit */
        CHECK(isotok__cache_find(set, &key, size, false) == &set[0]);              /* promoted */
    }
}

/* A character X such that X NUL is one chunk: no piece holds a NUL, but the set of pairs has
 * false positives. */
static uint32_t find_before_nul(const drive_model *m, uint8_t *out, uint32_t skip)
{
    for (uint32_t point = 0x80; point < 0x800; point++) {
        out[0] = (uint8_t)(0xC0 | point >> 6);
        out[1] = (uint8_t)(0x80 | (point & 63));
        if (isotok__pair_occurs(m->model->blob.pair_set, m->model->pair_shift,
                                isotok__char_key(out, 2), 0) &&
            skip-- == 0) {
            return 2;
        }
    }
    return 0;
}

static void check_zero_bytes(const char *name)
{
    drive_model m;
    isotok_cache_info info = {0};
    cache_text text = {0};
    void *memory = cache_new(LEAST);
    size_t found = 0;
    if (!CHECK(drive_open_file(&m, name))) {
        return;
    }
    for (size_t i = 0; i < 3000; i++) {
        uint8_t unit[8] = {0};
        /* up to three zero bytes */
        const uint32_t size = find_before_nul(&m, unit, text_random(4));
        found += size > 0;
        text_put(&text, unit, size + text_random(4));
        text_put(&text, "a \0b", text_random(5));
    }
    CHECK(found == 3000);
    check_same(&m, memory, LEAST, &text, &info);
    check_same(&m, memory, LEAST, &text, &info);
    CHECK(info.hits > 1000);
    text_free(&text);
    free(memory);
    drive_close(&m);
}

/* ---- Chosen keys ------------------------------------------------------------------------ */

#define WORD 8
#define MOST_WORDS 12

/* Words of `WORD` letters in set 0 of a cache of LEAST bytes; with the same tag, if wanted. */
static size_t find_words(char words[][WORD + 1], size_t count, bool same_tag)
{
    struct isotok__cache_entry entries[2];
    const struct isotok__cache cache = {
        .entries = entries, .count = 64, .shift = 64 - 5};
    uint8_t text[WORD + ISOTOK__CACHE_KEY] = {0};
    uint16_t tag = 0;
    size_t found = 0;
    for (uint32_t number = 0; number < 1u << 24 && found < count; number++) {
        for (uint32_t i = 0; i < WORD; i++) {
            text[i] = (uint8_t)('A' + (number >> 3 * i & 7));
        }
        const struct isotok__cache_key key = isotok__cache_key(text, WORD);
        if (isotok__cache_set(&cache, &key) != entries ||
            (same_tag && found > 0 && isotok__cache_tag(&key) != tag)) {
            continue;
        }
        tag = isotok__cache_tag(&key);
        memcpy(words[found], text, WORD);
        words[found++][WORD] = 0;
    }
    return found;
}

static void check_one_set(const drive_model *m, size_t count, bool same_tag)
{
    char words[MOST_WORDS][WORD + 1];
    isotok_cache_info info = {0};
    cache_text text = {0};
    void *memory = cache_new(LEAST);
    count = find_words(words, count, same_tag);
    CHECK(count > 2);
    for (size_t i = 0; i < 20000; i++) {
        /* in turn: each comes when it has just gone; then at random */
        text_put(&text, words[i < 10000 ? i % count : text_random((uint32_t)count)], WORD);
        text_put(&text, " ", 1);
    }
    check_same(m, memory, LEAST, &text, &info);
    printf("| %zu words of one set%s: %llu of %llu look-ups answered, %llu of %zu bytes without\n",
           count, same_tag ? " and tag" : "", (unsigned long long)info.hits,
           (unsigned long long)info.probes, (unsigned long long)info.bypassed, text.size);
    CHECK(info.probes > 100 && info.hits < info.probes);
    text_free(&text);
    free(memory);
}

static void test_chosen(void)
{
    static const uint32_t algorithms[] = {ISOTOK_UNIGRAM, ISOTOK_BPE};
    for (size_t i = 0; i < 2; i++) {
        drive_model m;
        if (open_letters(&m, algorithms[i])) {
            /* one more than a set holds */
            const size_t count = algorithms[i] == ISOTOK_BPE ? ISOTOK__BUCKET_SLOTS + 1 : 3;
            check_one_set(&m, count, false);
            check_one_set(&m, MOST_WORDS, false);
            check_one_set(&m, count, true);
            drive_close(&m);
        }
    }
}

int main(void)
{
    test_sizes();
    test_padding();
    check_zero_bytes(MODELS "trained_unigram.model");
    check_zero_bytes(MODELS "trained_bpe.model");
    test_chosen();
    return test_result();
}
