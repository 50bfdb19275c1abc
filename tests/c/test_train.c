/* Training: merges of a few words, ties, characters, going on, errors, that a small window
 * changes nothing, and pairs of characters. */
#include <string.h>

#include "make_model.h"
#include "isotok_train.h"

static isotok_counts *count_words(const char *const *words, const int64_t *counts, size_t n)
{
    isotok_counts *made = isotok_counts_new(NULL);
    for (size_t i = 0; i < n; i++)
        CHECK(isotok_counts_add_word(made, (const uint8_t *)words[i], strlen(words[i]), counts[i],
                                     NULL) == ISOTOK_TRAIN_OK);
    return made;
}

static bool is_token(const isotok_bpe *bpe, uint32_t id, const char *text)
{
    uint32_t size;
    const uint8_t *token = isotok_bpe_token(bpe, id, &size);
    return size == strlen(text) && memcmp(token, text, size) == 0;
}

static const char *const WORDS[] = {"abab", "abcabc", "aaaaa"};
static const int64_t COUNTS[] = {3, 2, 2};
static const char *const MADE[] = {"ab", "aa", "abc", "abab", "aaa", "aaaaa", "abcabc"};

static void check_merges(uint32_t window)
{
    isotok_train_error error = {0};
    isotok_counts *counts = count_words(WORDS, COUNTS, 3);
    isotok_bpe_options options = isotok_bpe_options_new();
    options.window = window;
    isotok_bpe *bpe = isotok_bpe_new(&options, counts, &error);
    CHECK(bpe != NULL);
    CHECK(isotok_bpe_run(bpe, 300, NULL, NULL, &error) == ISOTOK_TRAIN_EXHAUSTED);
    CHECK(isotok_bpe_tokens(bpe) == 263);
    for (uint32_t i = 0; i < 7; i++) CHECK(is_token(bpe, 256 + i, MADE[i]));
    CHECK(isotok_bpe_run(bpe, 100, NULL, NULL, &error) == ISOTOK_TRAIN_E_TARGET);
    isotok_bpe_free(bpe);
    isotok_counts_free(counts);
}

static void check_characters(void)
{
    static const char *const words[] = {"\xC3\xA9\xC3\xA9", "\xC3\xA9z", "\xE8\xAA\x9E"};
    static const int64_t numbers[] = {1, 2, 1};
    isotok_train_error error = {0};
    isotok_counts *counts = count_words(words, numbers, 3);
    isotok_bpe_options options = isotok_bpe_options_new();
    options.unit = ISOTOK_BPE_UNICODE;
    isotok_bpe *bpe = isotok_bpe_new(&options, counts, &error);
    CHECK(isotok_bpe_run(bpe, 258, NULL, NULL, &error) == ISOTOK_TRAIN_OK);
    CHECK(is_token(bpe, 256, "\xC3\xA9") && is_token(bpe, 257, "\xC3\xA9z"));
    CHECK(isotok_bpe_step(bpe, &error) == ISOTOK_TRAIN_OK);
    CHECK(is_token(bpe, 258, "\xE8\xAA\x9E")); /* before the pair with the same count */
    isotok_bpe_free(bpe);
    isotok_counts_free(counts);
}

static void check_errors(void)
{
    isotok_train_error error = {0};
    isotok_counts *counts = isotok_counts_new(NULL);
    const isotok_bpe_options options = isotok_bpe_options_new();
    CHECK(isotok_bpe_new(&options, counts, &error) == NULL);
    CHECK(error.status == ISOTOK_TRAIN_E_EMPTY);
    CHECK(isotok_counts_add_word(counts, (const uint8_t *)"a", 1, 0, &error) ==
          ISOTOK_TRAIN_E_ARGUMENT);
    CHECK(isotok_counts_add_word(counts, (const uint8_t *)"a", 1, INT64_MAX, &error) ==
          ISOTOK_TRAIN_OK);
    CHECK(isotok_counts_add_word(counts, (const uint8_t *)"a", 1, 1, &error) ==
          ISOTOK_TRAIN_E_OVERFLOW);
    isotok_counts_free(counts);
}

static void check_order(void)
{
    static const char *const words[] = {"b", "ab", "abcdefgh2", "a", "abcdefgh1", "abcdefgh"};
    static const int64_t numbers[] = {1, 2, 3, 4, 5, 6};
    static const uint32_t sorted[] = {3, 1, 5, 4, 2, 0};
    uint32_t order[6];
    isotok_counts *counts = count_words(words, numbers, 6);
    CHECK(isotok_counts_sort(counts, order, NULL) == ISOTOK_TRAIN_OK);
    CHECK(memcmp(order, sorted, sizeof order) == 0);
    CHECK(isotok_counts_size(counts) == 6 && isotok_counts_bytes(counts) == 30);
    isotok_counts_free(counts);
}

#define PAIR(left, right) ((uint64_t)(left) << ISOTOK_BIGRAM_SHIFT | (right))
#define KANA_A 0x3042u
#define KANA_I 0x3044u

static int64_t count_of(const isotok_bigrams *bigrams, uint64_t key)
{
    uint64_t keys[8];
    int64_t counts[8];
    uint32_t i;
    CHECK(isotok_bigrams_size(bigrams) <= 8);
    isotok_bigrams_items(bigrams, keys, counts);
    for (i = 0; i < isotok_bigrams_size(bigrams); i++)
        if (keys[i] == key) return counts[i];
    return 0;
}

static void check_bigrams(void)
{
    static const char text[] = "\xE3\x81\x82\xE3\x81\x84 x\xE3\x81\x82\xE3\x81\x82"
                               "\xC3\xA9\xE3\x81\x82\xF0\xA0\x80\x80";
    isotok_bigrams *bigrams = isotok_bigrams_new();
    int times;
    for (times = 0; times < 3; times++)
        CHECK(isotok_bigrams_add_text(bigrams, (const uint8_t *)text, sizeof text - 1, NULL) ==
              ISOTOK_TRAIN_OK);
    CHECK(isotok_bigrams_size(bigrams) == 3); /* none beside a space, x or \u00E9 */
    CHECK(count_of(bigrams, PAIR(KANA_A, KANA_I)) == 3);
    CHECK(count_of(bigrams, PAIR(KANA_A, KANA_A)) == 3);
    CHECK(count_of(bigrams, PAIR(KANA_A, 0x20000u)) == 3);
    isotok_bigrams_clear(bigrams);
    CHECK(isotok_bigrams_size(bigrams) == 0);
    isotok_bigrams_free(bigrams);
}

static bool has_words(const isotok_counts *counts, const char *const *words, uint32_t n)
{
    uint32_t order[8], i;
    bool same = isotok_counts_size(counts) == n && n <= 8 &&
                isotok_counts_sort(counts, order, NULL) == ISOTOK_TRAIN_OK;
    for (i = 0; same && i < n; i++) {
        uint32_t size;
        int64_t count;
        const uint8_t *word = isotok_counts_word(counts, order[i], &size, &count);
        same = size == strlen(words[i]) && memcmp(word, words[i], size) == 0 && count == 1;
    }
    return same;
}

/* Words of a text are cut where their pairs are not kept; `mixed`: beside Latin letters too. */
static void check_cuts(void)
{
    static const char text[] = "\xE3\x81\x82\xE3\x81\x84\xE3\x81\x84x";
    static const char *const cut[] = {"\xE3\x81\x82\xE3\x81\x84", "\xE3\x81\x84x"};
    static const char *const mixed[] = {"x", "\xE3\x81\x82\xE3\x81\x84", "\xE3\x81\x84"};
    const uint64_t kept[] = {PAIR(KANA_A, KANA_I)};
    int is_mixed;
    for (is_mixed = 0; is_mixed < 2; is_mixed++) {
        isotok_counts *counts = isotok_counts_new(NULL);
        CHECK(isotok_counts_cut(counts, kept, 1, is_mixed, NULL) == ISOTOK_TRAIN_OK);
        CHECK(isotok_counts_add_text(counts, (const uint8_t *)text, sizeof text - 1, NULL) ==
              ISOTOK_TRAIN_OK);
        CHECK(is_mixed ? has_words(counts, mixed, 3) : has_words(counts, cut, 2));
        isotok_counts_free(counts);
    }
}

int main(void)
{
    for (uint32_t window = 0; window < 6; window++) check_merges(window);
    check_characters();
    check_errors();
    check_order();
    check_bigrams();
    check_cuts();
    return test_result();
}
