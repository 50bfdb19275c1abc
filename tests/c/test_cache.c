/* The token cache through the C interface: with every model, any memory and any plan, an encoding
 * is the same with it and without. Arguments, counts, and other calls in between.
 * Chunks that are chosen against it are the business of test_cache_keys.c; runs from the
 * project's root. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache_texts.h"

#define MODELS "tests/vectors/models"
#define LEAST 4096u

/* ---- Every model ----------------------------------------------------------------------- */

static const size_t sizes[] = {LEAST, 20000, 1 << 18};
#define SIZES (sizeof sizes / sizeof *sizes)

static const drive_plan plans[] = {
    {0},
    {.capacity = 5, .part = 11, .small = true},
    {.capacity = 1, .part = 1, .small = true},
    {.capacity = 3, .part = 40, .small = true, .move = true},
};
#define PLANS (sizeof plans / sizeof *plans)

static isotok_cache_info total;

static void check_same(const drive_model *m, drive_plan plan, const cache_text *text,
                       const drive_tokens *expected, const char *name)
{
    isotok_error error;
    const isotok_encode_options options = {.size = sizeof options,
                                           .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS};
    drive_tokens found;
    plan.cache_info = &total;
    bool ok = drive_encode(m, &plan, &options, text->data, text->size, &found, &error) == ISOTOK_OK;
    if (!CHECK(ok && drive_tokens_equal(expected, &found))) {
        fprintf(stderr, "  %s: %zu bytes, cache of %zu\n", name, text->size, plan.cache_size);
    }
    drive_tokens_free(&found);
}

/* Two texts in turn; the memory of the cache goes from session to session. */
static void check_model(const drive_model *m, size_t size, size_t plan_count, const char *name)
{
    const drive_plan easy = {0};
    const isotok_encode_options options = {.size = sizeof options,
                                           .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS};
    isotok_error error;
    cache_text texts[2];
    drive_tokens expected[2];
    for (size_t i = 0; i < 2; i++) {
        text_of_words(m->model, m->info.vocab_size, size, &texts[i]);
        CHECK(drive_encode(m, &easy, &options, texts[i].data, texts[i].size, &expected[i],
                           &error) == ISOTOK_OK);
    }
    for (size_t k = 0; k < SIZES; k++) {
        void *memory = cache_new(sizes[k]);
        for (size_t p = 0; p < plan_count; p++) {
            drive_plan plan = plans[p];
            plan.cache = memory;
            for (size_t i = 0; i < 4; i++) {
                /* a smaller part of used memory is as good */
                plan.cache_size = i == 3 && p == 0 ? LEAST : sizes[k];
                check_same(m, plan, &texts[i % 2], &expected[i % 2], name);
            }
        }
        free(memory);
    }
    for (size_t i = 0; i < 2; i++) {
        drive_tokens_free(&expected[i]);
        text_free(&texts[i]);
    }
}

static void test_models(void)
{
    DIR *folder = opendir(MODELS);
    const struct dirent *entry;
    unsigned models = 0, with_cache = 0;
    if (!CHECK(folder != NULL)) {
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        char path[512];
        drive_model m;
        if (strstr(entry->d_name, ".model") == NULL) {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", MODELS, entry->d_name);
        if (!CHECK(drive_open_file(&m, path))) {
            continue;
        }
        total.entries = 0;
        check_model(&m, 1500, PLANS, entry->d_name);
        /* the score passes 100,000 in some of these */
        check_model(&m, 60000, 1, entry->d_name);
        models++;
        with_cache += total.entries > 0;
        drive_close(&m);
    }
    closedir(folder);
    CHECK(models > 40 && with_cache > 20);
    printf("| %u models, %u with a cache: %llu look-ups, %llu answered, %llu uncertified\n", models,
           with_cache, (unsigned long long)total.probes, (unsigned long long)total.hits,
           (unsigned long long)total.uncertified);
    CHECK(total.hits > total.probes / 4 && total.hits < total.probes);
    CHECK(total.uncertified > 100 && total.bypassed > 10000);
}

/* ---- Arguments ------------------------------------------------------------------------- */

typedef struct running {
    void *memory;
    isotok_session *session;
} running;

/* A session with room for all texts of this test. */
static running running_new(const drive_model *m)
{
    const size_t size = 1 << 21;
    running r = {.memory = aligned_memory(size)};
    if (isotok_session_init(m->model, r.memory, size, &r.session, NULL) != ISOTOK_OK) {
        abort();
    }
    return r;
}

static isotok_cache_info info_of(const running *r)
{
    isotok_cache_info info = {.size = sizeof info};
    CHECK(isotok_session_cache_info(r->session, &info) == ISOTOK_OK);
    return info;
}

static uint32_t entries_for(const running *r, void *memory, size_t size)
{
    isotok_error error = {.size = sizeof error};
    CHECK(isotok_session_cache(r->session, memory, size, &error) == ISOTOK_OK);
    return info_of(r).entries;
}

static void check_refused(const running *r, void *memory, size_t size, isotok_status status,
                          uint32_t what, uint64_t need)
{
    isotok_error error = {.size = sizeof error};
    CHECK(isotok_session_cache(r->session, memory, size, &error) == status);
    CHECK(error.status == status && error.what == what && error.need == need);
    CHECK(isotok_session_cache(r->session, memory, size, NULL) == status);
}

static void test_arguments(void)
{
    drive_model m;
    uint8_t *memory = cache_new(2 * LEAST);
    isotok_cache_info info = {.size = 8, .probes = 99};
    isotok_input input = {(const uint8_t *)"abc abc", 7, 0, 0};
    isotok_output output = {0};
    uint32_t ids[64];
    if (!open_letters(&m, ISOTOK_UNIGRAM)) {
        return;
    }
    running r = running_new(&m);
    CHECK(isotok_session_cache(NULL, memory, LEAST, NULL) == ISOTOK_E_ARGUMENT);
    check_refused(&r, NULL, LEAST, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0);
    check_refused(&r, memory, LEAST - 1, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_CACHE_MEMORY, LEAST);
    check_refused(&r, memory + 32, LEAST, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_CACHE_MEMORY, 64);
    CHECK(info_of(&r).entries == 0);
    CHECK(entries_for(&r, memory, LEAST) == 64);
    CHECK(entries_for(&r, memory, 2 * LEAST - 1) == 64);
    CHECK(entries_for(&r, memory, 2 * LEAST) == 128);
    CHECK(entries_for(&r, NULL, 0) == 0);
    CHECK(isotok_session_cache_info(NULL, &info) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_cache_info(r.session, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_cache_info(r.session, &info) == ISOTOK_OK && info.probes == 99);
    info.size = 4;
    CHECK(isotok_session_cache_info(r.session, &info) == ISOTOK_E_ABI);

    /* between texts only */
    output.ids = ids;
    output.capacity = 64;
    CHECK(isotok_encode_begin(r.session, NULL, NULL) == ISOTOK_OK);
    check_refused(&r, memory, LEAST, ISOTOK_E_STATE, ISOTOK_WHAT_CACHE_MEMORY, 0);
    CHECK(isotok_encode_step(r.session, &input, &output, NULL) == ISOTOK_OK);
    check_refused(&r, NULL, 0, ISOTOK_E_STATE, ISOTOK_WHAT_CACHE_MEMORY, 0);
    input.part = ISOTOK_PART_LAST;
    CHECK(isotok_encode_step(r.session, &input, &output, NULL) == ISOTOK_OK);
    CHECK(entries_for(&r, memory, LEAST) == 64);
    free(r.memory);
    free(memory);
    drive_close(&m);
}

/* Models without cuts, of words and of characters leave the memory alone. */
static void test_without(void)
{
    static const char *const names[] = {"uni_ill_formed", "uni_infinite", "uni_long",
                                        "word_plain",     "char_plain",   "bpe_unused"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        drive_model m;
        uint8_t *memory = cache_new(LEAST);
        snprintf(path, sizeof path, "%s/%s.model", MODELS, names[i]);
        if (CHECK(drive_open_file(&m, path))) {
            running r = running_new(&m);
            CHECK(entries_for(&r, memory, LEAST) == 0);
            free(r.memory);
            drive_close(&m);
        }
        for (size_t k = 0; k < LEAST; k++) {
            if (memory[k] != 0) {
                CHECK(false);
                break;
            }
        }
        free(memory);
    }
}

/* ---- Other calls in between ------------------------------------------------------------ */

#define MOST_IDS 20000

typedef struct result {
    uint32_t ids[MOST_IDS];
    uint8_t bytes[4 * MOST_IDS];
    float scores[8];
    size_t count, size;
} result;

static void encode_on(const running *r, uint32_t flags, uint64_t limit, const cache_text *text,
                      result *out)
{
    isotok_encode_options options = {
        .size = sizeof options, .flags = flags, .limit = limit, .seed = 7, .alpha = 0.1};
    isotok_input input = {text->data, text->size, 0, ISOTOK_PART_LAST};
    isotok_output output = {.ids = out->ids, .capacity = MOST_IDS};
    isotok_status status = isotok_encode_begin(r->session, &options, NULL);
    CHECK(status == ISOTOK_OK);
    status = isotok_encode_step(r->session, &input, &output, NULL);
    CHECK(status == ISOTOK_OK || (limit != 0 && status == ISOTOK_AT_LIMIT));
    out->count = output.count;
}

static void nbest_on(const running *r, const cache_text *text, result *out)
{
    const size_t work_size = 1 << 22;
    void *work = aligned_memory(work_size);
    isotok_output output = {.ids = out->ids, .capacity = MOST_IDS};
    uint32_t ends[8];
    size_t count = 0;
    const size_t size = text->size < 60 ? text->size : 60;
    CHECK(isotok_nbest(r->session, NULL, text->data, size, 8, work, work_size, &output, ends,
                       out->scores, &count, NULL) == ISOTOK_OK);
    out->count = output.count;
    free(work);
}

static void normalize_on(const running *r, const cache_text *text, result *out)
{
    isotok_input input = {text->data, text->size, 0, ISOTOK_PART_LAST};
    uint32_t end;
    CHECK(isotok_normalize_begin(r->session, NULL, NULL) == ISOTOK_OK);
    CHECK(isotok_normalize_step(r->session, &input, out->bytes, NULL, sizeof out->bytes, &out->size,
                                &end, NULL) == ISOTOK_OK);
}

static void decode_on(const running *r, uint32_t vocab_size, result *out)
{
    uint32_t ids[50];
    size_t consumed = 0;
    for (uint32_t i = 0; i < 50; i++) {
        ids[i] = i * 37 % vocab_size;
    }
    CHECK(isotok_decode_begin(r->session, 0, NULL) == ISOTOK_OK);
    CHECK(isotok_decode_step(r->session, ids, 50, &consumed, 1, out->bytes, sizeof out->bytes,
                             &out->size, NULL) == ISOTOK_OK);
}

static void do_on(const running *r, const drive_model *m, uint32_t what, const cache_text *text,
                  result *out)
{
    const bool unigram = m->info.algorithm == ISOTOK_UNIGRAM;
    memset(out, 0, sizeof *out);
    switch (what) {
    case 0: encode_on(r, unigram ? ISOTOK_SAMPLE : ISOTOK_DROPOUT, 0, text, out); break;
    case 1: encode_on(r, unigram ? ISOTOK_GUMBEL : 0, 0, text, out); break;
    case 2: encode_on(r, 0, 9, text, out); break;
    case 3: normalize_on(r, text, out); break;
    case 4: decode_on(r, m->info.vocab_size, out); break;
    case 5:
        if (unigram) {
            nbest_on(r, text, out);
        }
        break;
    default: encode_on(r, 0, 0, text, out); break;
    }
}

static void check_interleaved(const char *name)
{
    drive_model m;
    char path[256];
    cache_text texts[3];
    uint8_t *memory[2] = {cache_new(LEAST), cache_new(1 << 16)};
    result *with = malloc(sizeof *with), *without = malloc(sizeof *without);
    snprintf(path, sizeof path, "%s/%s.model", MODELS, name);
    if (with == NULL || without == NULL || !CHECK(drive_open_file(&m, path))) {
        exit(1);
    }
    running cached = running_new(&m), plain = running_new(&m);
    for (size_t i = 0; i < 3; i++) {
        text_of_words(m.model, m.info.vocab_size, 700, &texts[i]);
    }
    entries_for(&cached, memory[0], LEAST);
    for (size_t i = 0; i < 600; i++) {
        const uint32_t what = text_random(12);
        const cache_text *text = &texts[text_random(3)];
        do_on(&cached, &m, what, text, with);
        do_on(&plain, &m, what, text, without);
        if (!CHECK(memcmp(with, without, sizeof *with) == 0)) {
            fprintf(stderr, "  %s: call %zu, kind %u\n", name, i, what);
        }
        if (i % 100 == 99) { /* the other memory, none, the first again */
            CHECK(info_of(&cached).hits > 0);
            entries_for(&cached, memory[1], i == 299 ? 0 : 1 << 16);
            do_on(&cached, &m, 9, text, with);
            do_on(&plain, &m, 9, text, without);
            CHECK(memcmp(with, without, sizeof *with) == 0);
            entries_for(&cached, memory[0], LEAST);
        }
    }
    free(cached.memory);
    free(plain.memory);
    for (size_t i = 0; i < 3; i++) {
        text_free(&texts[i]);
    }
    free(memory[0]);
    free(memory[1]);
    free(with);
    free(without);
    drive_close(&m);
}

int main(void)
{
    test_arguments();
    test_without();
    check_interleaved("trained_unigram");
    check_interleaved("trained_bpe");
    check_interleaved("uni_user_scores");
    test_models();
    return test_result();
}
