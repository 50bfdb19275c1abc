/* isotok_nbest: against all segmentations of a small lattice, in any memory, with every
 * argument that must be refused. That scores and order equal sentencepiece's is the business
 * of tests/py/test_nbest.py. Runs from the project's root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive_nbest.h"
#include "make_model.h"

#define MODELS "tests/vectors/models/"
#define MOST DRIVE_MOST_PATHS

static isotok_status nbest_of(const drive_model *m, const isotok_encode_options *options,
                              const char *text, uint32_t n, drive_paths *out)
{
    static isotok_error error;
    drive_paths_free(out);
    return drive_nbest(m, options, (const uint8_t *)text, strlen(text), n, 0, out, &error);
}

static isotok_encode_options options_of(uint32_t flags, double alpha, uint64_t seed)
{
    isotok_encode_options options = {.size = sizeof options};
    options.flags = flags;
    options.alpha = alpha;
    options.seed = seed;
    return options;
}

/* ---- All segmentations ---------------------------------------------------------------- */

/* a 0.5, b 1, ab 1.25, ba 2, bab 4 below zero: sums are exact. */
static bool open_small(drive_model *m)
{
    maker f = {0};
    isotok_error error;
    put_specials(&f);
    put_piece(&f, "a", -0.5f, ISOTOK_NORMAL);
    put_piece(&f, "b", -1.0f, ISOTOK_NORMAL);
    put_piece(&f, "ab", -1.25f, ISOTOK_NORMAL);
    put_piece(&f, "ba", -2.0f, ISOTOK_NORMAL);
    put_piece(&f, "bab", -4.0f, ISOTOK_NORMAL);
    put_trainer(&f, ISOTOK_UNIGRAM, false);
    bool ok = drive_open_source(m, f.data, f.size, &error) == ISOTOK_OK;
    maker_free(&f);
    return CHECK(ok);
}

static const char *const small_pieces[] = {"a", "b", "ab", "ba", "bab"};
static const float small_scores[] = {-0.5f, -1.0f, -1.25f, -2.0f, -4.0f};

/* Scores of all segmentations of `text`, in front of which `score` was collected. */
static void enumerate(const char *text, float score, float *out, size_t *count)
{
    if (*text == 0) {
        out[(*count)++] = score;
        return;
    }
    for (size_t i = 0; i < 5; i++) {
        size_t size = strlen(small_pieces[i]);
        if (strncmp(text, small_pieces[i], size) == 0) {
            enumerate(text + size, score + small_scores[i], out, count);
        }
    }
}

static int descending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x < y) - (x > y);
}

static void test_all(void)
{
    drive_model m;
    drive_paths c = {0};
    float expected[MOST];
    size_t all = 0;
    uint32_t first[MOST * 16];
    if (!open_small(&m)) {
        return;
    }
    enumerate("ababbab", m.info.unk == 0 ? -11.0f - 3.0f : 0.0f, expected, &all);
    qsort(expected, all, sizeof *expected, descending);
    CHECK(all > 20);
    /* the dummy prefix is unknown: min score - 10 */
    CHECK(nbest_of(&m, NULL, "ababbab", MOST, &c) == ISOTOK_OK);
    CHECK(c.count == all && memcmp(c.scores, expected, all * sizeof *expected) == 0);
    for (size_t i = 0; i < c.count; i++) { /* the ids have these scores, and differ */
        size_t begin = i > 0 ? c.ends[i - 1] : 0;
        float sum = -14.0f;
        CHECK(c.ids[begin] == m.info.unk);
        for (size_t k = begin + 1; k < c.ends[i]; k++) {
            sum += small_scores[c.ids[k] - 3];
        }
        CHECK(sum == c.scores[i]);
        for (size_t k = 0; k < i; k++) {
            size_t other = k > 0 ? c.ends[k - 1] : 0;
            CHECK(c.ends[i] - begin != c.ends[k] - other ||
                  memcmp(c.ids + begin, c.ids + other, (c.ends[i] - begin) * 4) != 0);
        }
    }
    memcpy(first, c.ids, c.ends[10] * sizeof *first);
    for (uint32_t n = 1; n < 12; n++) { /* fewer are the same, from the front */
        CHECK(nbest_of(&m, NULL, "ababbab", n, &c) == ISOTOK_OK && c.count == n);
        CHECK(memcmp(c.scores, expected, n * sizeof *expected) == 0);
        CHECK(memcmp(c.ids, first, c.ends[n - 1] * sizeof *first) == 0);
    }
    drive_paths_free(&c);
    drive_close(&m);
}

/* ---- Memory, options --------------------------------------------------------------------- */

#define SENTENCE                                                                                   \
    "the quick brown fox jumps over the lazy dog and another thing \xC3\xA9\xF0\x9F\x98\x80 that " \
    "nobody has a piece for"

static void test_memory(void)
{
    drive_model m;
    drive_paths c = {0}, d = {0};
    isotok_error error;
    if (!CHECK(drive_open_file(&m, MODELS "trained_unigram.model"))) {
        return;
    }
    char *text = malloc(30 * strlen(SENTENCE) + 1);
    *text = 0;
    for (int i = 0; i < 30; i++) {
        strcat(text, SENTENCE);
    }
    CHECK(nbest_of(&m, NULL, text, 100, &c) == ISOTOK_OK);
    CHECK(c.moves > 0 && c.works > 0 && c.outputs == 1); /* the first need is the right one */
    CHECK(c.count == 100);
    CHECK(drive_nbest(&m, NULL, (const uint8_t *)text, strlen(text), 100, 40 << 20, &d, &error) ==
          ISOTOK_OK);
    CHECK(d.works == 0);
    CHECK(d.count == c.count && memcmp(c.ends, d.ends, c.count * sizeof *c.ends) == 0);
    CHECK(memcmp(c.scores, d.scores, c.count * sizeof *c.scores) == 0);
    CHECK(memcmp(c.ids, d.ids, c.ends[99] * sizeof *c.ids) == 0);
    drive_paths_free(&d);
    drive_paths_free(&c);
    free(text);
    drive_close(&m);
}

/* 500,000 partial paths are not enough for 512 paths of this one: the best alone comes. */
static void test_give_up(void)
{
    drive_model m;
    drive_paths c = {0};
    static char text[3001];
    if (!open_small(&m)) {
        return;
    }
    for (size_t i = 0; i < 3000; i++) {
        text[i] = i % 2 ? 'b' : 'a';
    }
    CHECK(nbest_of(&m, NULL, text, 512, &c) == ISOTOK_OK);
    CHECK(c.count == 1 && c.scores[0] == -14.0f - 1500 * 1.25f && c.ends[0] == 1501);
    drive_paths_free(&c);
    drive_close(&m);
}

static void test_options(void)
{
    isotok_encode_options options = options_of(ISOTOK_BOS | ISOTOK_EOS, 0.0, 0);
    drive_model m;
    drive_paths c = {0};
    if (!open_small(&m)) {
        return;
    }
    CHECK(nbest_of(&m, &options, "abab", 4, &c) == ISOTOK_OK && c.count == 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK(c.ids[i > 0 ? c.ends[i - 1] : 0] == m.info.bos);
        CHECK(c.ids[c.ends[i] - 1] == m.info.eos);
    }
    CHECK(nbest_of(&m, &options, "", 4, &c) == ISOTOK_OK);
    CHECK(c.count == 1 && c.ends[0] == 2 && c.scores[0] == 0.0f);
    CHECK(nbest_of(&m, NULL, "", 1, &c) == ISOTOK_OK && c.count == 1 && c.ends[0] == 0);
    options.limit = 3;
    CHECK(nbest_of(&m, &options, "abab", 4, &c) == ISOTOK_OK && c.count == 4 && c.ends[3] == 12);
    options = options_of(ISOTOK_NORMALIZED, 0.0, 0);
    CHECK(nbest_of(&m, &options, "abab", 4, &c) == ISOTOK_OK && c.count == 4);
    CHECK(c.scores[0] == -2.5f && c.ends[0] == 2);
    drive_paths_free(&c);
    drive_close(&m);
}

/* One of the n, each at times, and always the same for a seed. */
static void test_sample(void)
{
    drive_model m;
    drive_paths c = {0};
    float best[3];
    unsigned found[3] = {0, 0, 0};
    if (!open_small(&m)) {
        return;
    }
    CHECK(nbest_of(&m, NULL, "abba", 3, &c) == ISOTOK_OK && c.count == 3);
    memcpy(best, c.scores, sizeof best);
    for (uint32_t seed = 0; seed < 300; seed++) {
        isotok_encode_options options = options_of(ISOTOK_SAMPLE, 0.5, seed / 2);
        float before = c.scores[0];
        CHECK(nbest_of(&m, &options, "abba", 3, &c) == ISOTOK_OK && c.count == 1);
        CHECK(seed % 2 == 0 || before == c.scores[0]);
        for (size_t i = 0; i < 3; i++) {
            found[i] += c.scores[0] == best[i];
        }
    }
    CHECK(found[0] > 40 && found[1] > 20 && found[2] > 20 && found[0] + found[1] + found[2] == 300);
    drive_paths_free(&c);
    drive_close(&m);
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static void check_refused(const drive_model *m, uint32_t flags, double alpha, uint32_t n,
                          uint32_t what)
{
    isotok_encode_options options = options_of(flags, alpha, 0);
    isotok_error error;
    drive_paths paths;
    CHECK(drive_nbest(m, &options, (const uint8_t *)"ab", 2, n, 0, &paths, &error) ==
          ISOTOK_E_ARGUMENT);
    CHECK(error.what == what);
    drive_paths_free(&paths);
}

static void test_pointers(const drive_model *m)
{
    isotok_output o = {0};
    isotok_session *s;
    void *memory = aligned_memory(m->info.session_min);
    uint8_t *work = aligned_memory(128), byte = 'a';
    uint32_t ends[2];
    float scores[2];
    size_t count;
    CHECK(isotok_session_init(m->model, memory, m->info.session_min, &s, NULL) == ISOTOK_OK);
    CHECK(isotok_nbest(NULL, NULL, &byte, 1, 2, NULL, 0, &o, ends, scores, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, NULL, 1, 2, NULL, 0, &o, ends, scores, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, NULL, 1, &o, ends, scores, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, NULL, 0, NULL, ends, scores, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, NULL, 0, &o, NULL, scores, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, NULL, 0, &o, ends, NULL, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, NULL, 0, &o, ends, scores, NULL, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, work + 4, 64, &o, ends, scores, &count, NULL) ==
          ISOTOK_E_ALIGNMENT);
    CHECK(isotok_nbest(s, NULL, &byte, 1, 2, work, 128, &o, ends, scores, &count, NULL) ==
          ISOTOK_NEED_SCRATCH);
    free(work);
    free(memory);
}

/* Offsets come as from encode: of each path, from the text's beginning. */
static void test_offsets(const drive_model *m)
{
    isotok_encode_options options = options_of(ISOTOK_OFFSETS, 0.0, 0);
    static const uint32_t begins[] = {0, 0, 2, 0, 0, 2, 3}, ends[] = {0, 2, 4, 0, 2, 3, 4};
    uint32_t ids[8], begin[8], end[8], path_ends[2];
    isotok_output o = {.ids = ids, .capacity = 8};
    const size_t work_size = 1 << 18;
    isotok_session *s;
    void *memory = aligned_memory(m->info.session_min), *work = aligned_memory(work_size);
    float scores[2];
    size_t count;
    CHECK(isotok_session_init(m->model, memory, m->info.session_min, &s, NULL) == ISOTOK_OK);
    CHECK(isotok_nbest(s, &options, (const uint8_t *)"abab", 4, 2, work, work_size, &o, path_ends,
                       scores, &count, NULL) == ISOTOK_E_ARGUMENT);
    o.begin = begin;
    o.end = end;
    CHECK(isotok_nbest(s, &options, (const uint8_t *)"abab", 4, 2, work, work_size, &o, path_ends,
                       scores, &count, NULL) == ISOTOK_OK);
    /* the dummy prefix; ab ab; then ab a b or a b ab, which tie */
    CHECK(o.count == 7 && path_ends[0] == 3);
    CHECK(memcmp(begin, begins, 3 * sizeof *begin) == 0 && memcmp(end, ends, 3 * 4) == 0);
    CHECK(memcmp(begin, begins, sizeof begins) == 0 || begin[5] == 1);
    CHECK(begin[3] == 0 && end[3] == 0 && end[6] == 4);
    free(work);
    free(memory);
}

static void test_arguments(void)
{
    drive_model m;
    if (!open_small(&m)) {
        return;
    }
    check_refused(&m, 0, 0.0, 0, ISOTOK_WHAT_OPTION);
    check_refused(&m, 0, 0.0, 513, ISOTOK_WHAT_OPTION);
    check_refused(&m, ISOTOK_GUMBEL, 1.0, 2, ISOTOK_WHAT_OPTION);
    check_refused(&m, ISOTOK_COUNT_ONLY, 0.0, 2, ISOTOK_WHAT_OPTION);
    check_refused(&m, ISOTOK_SAMPLE, -1.0, 2, ISOTOK_WHAT_OPTION);
    test_pointers(&m);
    test_offsets(&m);
    drive_close(&m);
    if (CHECK(drive_open_file(&m, MODELS "bpe_plain.model"))) {
        check_refused(&m, 0, 0.0, 2, ISOTOK_WHAT_SAMPLING);
        drive_close(&m);
    }
}

int main(void)
{
    test_all();
    test_memory();
    test_give_up();
    test_options();
    test_sample();
    test_arguments();
    return test_result();
}
