/* See exercise.h. */
#define _GNU_SOURCE
#include "exercise.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blob_gen.h"
#include "drive_nbest.h"
#include "make_model.h"
#include "xxh64.h"

void broken(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}

/* ---- Guard pages ----------------------------------------------------------------- */

guarded guarded_copy(const void *data, size_t size, size_t alignment)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t room = (size + alignment - 1) / alignment * alignment;
    size_t inside = (room + page - 1) / page * page + (room == 0 ? page : 0);
    guarded g = {.size = size, .pages_size = inside + 2 * page};
    uint8_t *pages = mmap(NULL, g.pages_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    REQUIRE(mprotect(pages + page, inside, PROT_READ | PROT_WRITE) == 0);
    g.pages = pages;
    g.data = pages + page + inside - room;
    if (size > 0 && data != NULL) {
        memcpy(g.data, data, size);
    }
    return g;
}

void guarded_free(guarded *g)
{
    munmap(g->pages, g->pages_size);
}

void fix_header(uint8_t *blob, size_t size)
{
    uint64_t total = size, checksum;
    if (size < ISOTOK__HEADER_SIZE) {
        return;
    }
    memcpy(blob + ISOTOK__HEADER_TOTAL_SIZE, &total, 8);
    checksum =
        isotok__xxh64(blob + ISOTOK__HEADER_CHECKSUM + 8, size - ISOTOK__HEADER_CHECKSUM - 8, 0);
    memcpy(blob + ISOTOK__HEADER_CHECKSUM, &checksum, 8);
}

/* ---- Everything with a model ----------------------------------------------------- */

enum { HOSTILE_TEXTS = 8, HOSTILE_SIZE = 2400 };

/* Text `index`: runs, nested spaces, ill-formed bytes, text of the model's own pieces. */
static size_t hostile_text(const isotok_model *model, const isotok_info *info, uint32_t index,
                           uint32_t seed, uint8_t *out)
{
    static const char *const units[] = {
        "a",
        "  \xE2\x96\x81 ",
        "\xE3\x81\xFF\x80\xF0\x9F",
        "\xEF\xB7\xBA \xEF\xBC\xA1",
        "ab abc\n\t the <s> 41",
        "e\xCC\x81\xE3\x81\x8B\xE3\x82\x99 \xE6\x97\xA5",
    };
    size_t size = 0, room = index < 2 ? HOSTILE_SIZE : HOSTILE_SIZE / 2;
    if (index < sizeof units / sizeof *units) {
        size_t unit = strlen(units[index]);
        while (size + unit <= room) {
            memcpy(out + size, units[index], unit);
            size += unit;
        }
        return size;
    }
    while (size < room && info->vocab_size > 0) {
        isotok_piece piece;
        seed = seed * 1664525u + 1013904223u;
        if (isotok_piece_get(model, (seed >> 8) % info->vocab_size, &piece) != ISOTOK_OK ||
            piece.size > room - size) {
            break;
        }
        memcpy(out + size, piece.text, piece.size);
        size += piece.size;
        if (seed & 0x80) {
            out[size++] = (uint8_t)(seed >> 24);
        }
    }
    return size;
}

static void check_spans(const isotok_info *info, const drive_tokens *t, size_t text_size)
{
    for (size_t i = 0; i < t->count; i++) {
        REQUIRE(t->ids[i] < info->vocab_size);
        REQUIRE(t->begin[i] <= t->end[i] && t->end[i] <= text_size);
        REQUIRE(i == 0 || t->begin[i - 1] <= t->begin[i]);
        REQUIRE(t->norm_begin[i] <= t->norm_end[i]);
    }
}

enum { SPECIAL_TOKENS = 15 }; /* FORMAT.md, section 3 */

/* The text as if it were normalized already: encoding and cutting it agree whether it is. */
static void exercise_normalized(const drive_model *m, const drive_plan *plan, const uint8_t *text,
                                size_t size, const drive_tokens *expected)
{
    isotok_error error = {.size = sizeof error}, cutting = {.size = sizeof cutting};
    isotok_encode_options options = {.size = sizeof options,
                                     .flags = ISOTOK_NORMALIZED | ISOTOK_OFFSETS};
    drive_tokens t;
    if (m->info.features >> SPECIAL_TOKENS & 1) {
        expected = NULL; /* they are found in raw text only */
    }
    uint32_t ends[16], before = 0;
    size_t position = 0, count = 0;
    isotok_status status = drive_encode(m, plan, &options, text, size, &t, &error);
    isotok_status cut = ISOTOK_NEED_OUTPUT;
    REQUIRE(status == ISOTOK_OK || (status == ISOTOK_E_TEXT && expected == NULL));
    while (cut == ISOTOK_NEED_OUTPUT) {
        cut = isotok_boundaries(m->model, text, size, &position, ends, 1 + size % 16, &count,
                                &cutting);
        for (size_t i = 0; i < count; before = ends[i++]) {
            REQUIRE(ends[i] > before && ends[i] <= size);
        }
    }
    if (status == ISOTOK_OK) {
        REQUIRE(cut == ISOTOK_OK && before == size);
        REQUIRE(expected == NULL ||
                (t.count == expected->count &&
                 (t.count == 0 || memcmp(t.ids, expected->ids, 4 * t.count) == 0)));
    } else {
        REQUIRE(error.what == ISOTOK_WHAT_NO_UNKNOWN ||
                (error.what == ISOTOK_WHAT_NORMALIZED_TEXT && error.offset < size));
        REQUIRE(error.what == ISOTOK_WHAT_NO_UNKNOWN || cut == ISOTOK_E_TEXT
                    ? cutting.offset == error.offset
                    : cut == ISOTOK_OK);
    }
    drive_tokens_free(&t);
}

/* The text again, with a token cache that fills meanwhile. */
static void exercise_cached(const drive_model *m, drive_plan plan,
                            const isotok_encode_options *options, const uint8_t *text, size_t size,
                            const drive_tokens *expected)
{
    guarded cache = guarded_copy(NULL, 4096, 64);
    isotok_error error;
    plan.cache = cache.data;
    plan.cache_size = cache.size;
    for (int i = 0; i < 3; i++) {
        drive_tokens t;
        REQUIRE(drive_encode(m, &plan, options, text, size, &t, &error) == ISOTOK_OK);
        REQUIRE(expected == NULL || drive_tokens_equal(expected, &t));
        check_spans(&m->info, &t, size);
        drive_tokens_free(&t);
    }
    guarded_free(&cache);
}

/* Whether the text is refused because the model has no token for what is unknown; then it is
 * however it comes. */
static bool is_refused(const drive_model *m, const drive_plan *other,
                       const isotok_encode_options *options, const uint8_t *text, size_t size,
                       isotok_status status, isotok_error *error)
{
    drive_tokens t;
    if (status != ISOTOK_E_TEXT || error->what != ISOTOK_WHAT_NO_UNKNOWN) {
        return false;
    }
    REQUIRE(drive_encode(m, other, options, text, size, &t, error) == ISOTOK_E_TEXT);
    REQUIRE(error->what == ISOTOK_WHAT_NO_UNKNOWN);
    drive_tokens_free(&t);
    return true;
}

/* A text under an easy and a difficult plan; then back. Where only SAFE has looked at the
 * blob, its sets may be incomplete, and the tokens depend on where the text is cut. */
static void exercise_text(const drive_model *m, const uint8_t *text, size_t size, uint32_t seed,
                          bool complete)
{
    isotok_error error;
    isotok_encode_options options = {.size = sizeof options,
                                     .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS,
                                     .offset_unit = ISOTOK_UNIT_BYTE};
    drive_plan easy = {0};
    drive_plan difficult = {.capacity = 1 + seed % 7, .part = 1 + (seed >> 3) % 50, .small = true};
    drive_tokens a, b;
    drive_bytes na, nb, text_a, text_b;
    isotok_status status = drive_encode(m, &easy, &options, text, size, &a, &error);
    if (is_refused(m, &difficult, &options, text, size, status, &error)) {
        drive_tokens_free(&a);
        return;
    }
    REQUIRE(status == ISOTOK_OK);
    check_spans(&m->info, &a, size);
    REQUIRE(drive_encode(m, &difficult, &options, text, size, &b, &error) == ISOTOK_OK);
    REQUIRE(!complete || drive_tokens_equal(&a, &b));
    check_spans(&m->info, &b, size);
    exercise_cached(m, seed & 32 ? easy : difficult, &options, text, size, complete ? &a : NULL);
    status = drive_normalize(m, &easy, ISOTOK_UNIT_BYTE, text, size, &na, &error);
    REQUIRE(status == ISOTOK_OK && na.size <= size * (uint64_t)m->info.max_expansion + 16);
    REQUIRE(drive_normalize(m, &difficult, ISOTOK_UNIT_BYTE, text, size, &nb, &error) == ISOTOK_OK);
    REQUIRE(!complete || (na.size == nb.size && memcmp(na.data, nb.data, na.size) == 0));
    exercise_normalized(m, &difficult, text, size, NULL);
    exercise_normalized(m, &easy, na.data, na.size, complete ? &a : NULL);
    REQUIRE(drive_decode(m, &easy, 0, a.ids, a.count, &text_a, &error) == ISOTOK_OK);
    REQUIRE(drive_decode(m, &difficult, 0, a.ids, a.count, &text_b, &error) == ISOTOK_OK);
    REQUIRE(text_a.size == text_b.size && memcmp(text_a.data, text_b.data, text_a.size) == 0);
    drive_tokens_free(&a);
    drive_tokens_free(&b);
    drive_bytes_free(&na);
    drive_bytes_free(&nb);
    drive_bytes_free(&text_a);
    drive_bytes_free(&text_b);
}

enum { SHORT_TEXT = 160 }; /* a search for the n best takes long on a difficult text */

/* Unigram by pre-tokens has no samples. */
static bool by_pretokens(const drive_model *m)
{
    return (m->info.features >> ISOTOK__FEATURE_PRETOKENS & 1) != 0;
}

static uint32_t sampling_of(const drive_model *m, uint32_t seed)
{
    if (by_pretokens(m)) {
        return 0;
    }
    if (m->info.algorithm == ISOTOK_UNIGRAM) {
        return seed & 8 ? ISOTOK_GUMBEL : ISOTOK_SAMPLE;
    }
    return m->info.algorithm == ISOTOK_BPE ? ISOTOK_DROPOUT : 0;
}

static void exercise_nbest(const drive_model *m, const uint8_t *text, size_t size, uint32_t seed)
{
    isotok_encode_options options = {.size = sizeof options, .seed = seed, .alpha = seed % 3};
    isotok_error error;
    drive_paths paths;
    options.flags = seed & 16 ? ISOTOK_SAMPLE : 0;
    size = size < SHORT_TEXT ? size : SHORT_TEXT;
    REQUIRE(drive_nbest(m, &options, text, size, 1 + seed % 40, seed % 4096, &paths, &error) ==
            ISOTOK_OK);
    for (size_t i = 0; i < paths.ends[paths.count - 1]; i++) {
        REQUIRE(paths.ids[i] < m->info.vocab_size);
    }
    drive_paths_free(&paths);
}

/* Samples of a text under two plans, and of its n best segmentations one. */
static void exercise_samples(const drive_model *m, const uint8_t *text, size_t size, uint32_t seed,
                             bool complete)
{
    static const double noise[] = {0.0, 0.1, 1.0, 1e300};
    isotok_error error;
    isotok_encode_options options = {.size = sizeof options, .seed = seed};
    drive_plan easy = {0};
    drive_plan difficult = {.capacity = 1 + seed % 7, .part = 1 + (seed >> 3) % 50, .small = true};
    drive_tokens a, b;
    options.flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS | sampling_of(m, seed);
    options.alpha = noise[seed % 4];
    isotok_status status = drive_encode(m, &easy, &options, text, size, &a, &error);
    if (is_refused(m, &difficult, &options, text, size, status, &error)) {
        drive_tokens_free(&a);
        return;
    }
    REQUIRE(status == ISOTOK_OK);
    check_spans(&m->info, &a, size);
    REQUIRE(drive_encode(m, &difficult, &options, text, size, &b, &error) == ISOTOK_OK);
    check_spans(&m->info, &b, size);
    REQUIRE(!complete || drive_tokens_equal(&a, &b));
    drive_tokens_free(&a);
    drive_tokens_free(&b);
    if (m->info.algorithm == ISOTOK_UNIGRAM && !by_pretokens(m)) {
        exercise_nbest(m, text, size, seed);
    }
}

static void exercise_pieces(const drive_model *m, uint32_t seed)
{
    isotok_piece piece;
    drive_bytes text;
    isotok_error error;
    drive_plan plan = {.capacity = 5, .part = 3};
    uint32_t count = m->info.vocab_size < 5000 ? m->info.vocab_size : 5000;
    uint32_t *ids = aligned_memory((count + 1) * sizeof *ids);
    uint64_t bytes = 0;
    for (uint32_t id = 0; id < count; id++) {
        REQUIRE(isotok_piece_get(m->model, id, &piece) == ISOTOK_OK);
        for (uint32_t i = 0; i < piece.size; i++) { /* all of it can be read */
            bytes += piece.text[i];
        }
        uint32_t found = isotok_piece_find(m->model, piece.text, piece.size);
        REQUIRE(found == ISOTOK_NO_TOKEN || found < m->info.vocab_size);
        seed = seed * 1664525u + 1013904223u;
        ids[id] = (seed >> 8) % m->info.vocab_size;
    }
    REQUIRE(bytes <= 255u * (uint64_t)count * 8000);
    REQUIRE(isotok_piece_get(m->model, m->info.vocab_size, &piece) == ISOTOK_E_ID_RANGE);
    REQUIRE(drive_decode(m, &plan, 0, ids, count, &text, &error) == ISOTOK_OK);
    drive_bytes_free(&text);
    REQUIRE(drive_decode(m, &plan, ISOTOK_RAW_BYTES, ids, count, &text, &error) == ISOTOK_OK);
    drive_bytes_free(&text);
    free(ids);
}

void exercise_model(const isotok_model *model, uint32_t seed, bool complete)
{
    static uint8_t text[HOSTILE_SIZE + 8];
    drive_model m = {.model = model};
    m.info.size = sizeof m.info;
    REQUIRE(isotok_model_info(model, &m.info) == ISOTOK_OK);
    REQUIRE(m.info.session_min <= m.info.session_size);
    exercise_pieces(&m, seed);
    for (uint32_t index = 0; index < HOSTILE_TEXTS; index++) {
        size_t size = hostile_text(model, &m.info, index, seed + index, text);
        guarded copy = guarded_copy(text, size, 1);
        exercise_text(&m, copy.data, size, seed ^ index * 77, complete);
        exercise_samples(&m, copy.data, size, seed ^ index * 77, complete);
        guarded_free(&copy);
    }
}

/* ---- Blobs and sources ----------------------------------------------------------- */

static void require_explained(isotok_status status, const isotok_error *error,
                              const char *(*name)(uint32_t, int32_t))
{
    REQUIRE(status < 0 && error->status == status && error->what != ISOTOK_WHAT_NOTHING);
    REQUIRE(name(ISOTOK_NAME_STATUS, status)[0] != 0);
    REQUIRE(name(ISOTOK_NAME_WHAT, (int32_t)error->what)[0] != 0);
}

isotok_status exercise_blob(const uint8_t *data, size_t size, uint32_t verify, isotok_error *error)
{
    guarded blob = guarded_copy(data, size, 64);
    guarded view = guarded_copy(data, 0, 1);
    const isotok_model *model = NULL;
    guarded_free(&view);
    void *memory = aligned_memory(isotok_model_size());
    memset(error, 0, sizeof *error);
    error->size = sizeof *error;
    isotok_status status =
        isotok_model_open(blob.data, size, verify, memory, isotok_model_size(), &model, error);
    if (status == ISOTOK_OK) {
        exercise_model(model, (uint32_t)size * 2654435761u ^ data[size / 2],
                       verify == ISOTOK_VERIFY_FULL);
    } else {
        require_explained(status, error, isotok_name);
        REQUIRE(model == NULL && error->offset <= size + 64);
    }
    free(memory);
    guarded_free(&blob);
    return status;
}

isotok_status exercise_source(const uint8_t *data, size_t size, uint32_t kind, isotok_error *error)
{
    guarded source = guarded_copy(data, size, 1);
    uint8_t *blob = NULL;
    size_t blob_size = 0;
    isotok_status status =
        build_source_as(kind, source.data, size, ISOTOK_FORM_BLOB, &blob, &blob_size, error);
    if (status == ISOTOK_OK) {
        isotok_error opening = {.size = sizeof opening};
        isotok_status opened = exercise_blob(blob, blob_size, ISOTOK_VERIFY_FULL, &opening);
        if (opened != ISOTOK_OK) {
            fprintf(stderr, "built blob: status %d, what %u, index %u\n", opened, opening.what,
                    opening.index);
        }
        REQUIRE(opened == ISOTOK_OK);
    } else {
        require_explained(status, error, isotok_build_name);
        REQUIRE(error->offset <= size);
    }
    free(blob);
    guarded_free(&source);
    return status;
}

/* ---- Seed models ----------------------------------------------------------------- */

enum { MOST_SEEDS = 128 };

static drive_model seeds[MOST_SEEDS];
static size_t seeds_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The model for sentencepiece 0.2.1, where that has it. */
static void open_seed_0_2_1(const char *path)
{
    isotok_error error = {.size = sizeof error};
    size_t size, blob_size = 0;
    uint8_t *blob = NULL, *source = drive_read(path, &size);
    isotok_status status = build_source_as(ISOTOK_SOURCE_AUTO | ISOTOK_SOURCE_0_2_1, source, size,
                                           ISOTOK_FORM_BLOB, &blob, &blob_size, &error);
    free(source);
    if (status == ISOTOK_OK && seeds_count < MOST_SEEDS) {
        status = drive_open(&seeds[seeds_count], blob, blob_size, ISOTOK_VERIFY_FULL, &error);
        REQUIRE(status == ISOTOK_OK);
        seeds_count++;
    } else {
        free(blob);
    }
}

static void open_seeds(void)
{
    const char *folder = getenv("ISOTOK_SEEDS");
    char *names[MOST_SEEDS], path[512];
    size_t count = 0;
    struct dirent *entry;
    folder = folder != NULL ? folder : "tests/vectors/models";
    DIR *directory = opendir(folder);
    if (directory == NULL) {
        fprintf(stderr, "%s: no seed models; run in the project's root or set ISOTOK_SEEDS\n",
                folder);
        exit(1);
    }
    while ((entry = readdir(directory)) != NULL && count < MOST_SEEDS) {
        if (strstr(entry->d_name, ".model") != NULL) {
            names[count++] = strdup(entry->d_name);
        }
    }
    closedir(directory);
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (seeds_count < MOST_SEEDS && drive_open_file(&seeds[seeds_count], path)) {
            seeds_count++;
            open_seed_0_2_1(path);
        }
        free(names[i]);
    }
    REQUIRE(seeds_count > 0);
}

size_t seed_model_count(void)
{
    if (seeds_count == 0) {
        open_seeds();
    }
    return seeds_count;
}

const struct drive_model *seed_model(size_t index)
{
    return index < seed_model_count() ? &seeds[index] : NULL;
}
