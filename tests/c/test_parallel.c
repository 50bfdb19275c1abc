/* One text in parts (core/parallel).
 *
 * 1. Blocks by brute force: wherever a block says that it holds for a carried score, the
 *    segmenter started from that score must find its ids and the same float32 sum, to the bit.
 *    The models are small and mean: the score of a longer piece is the sum of those of two
 *    parts, give or take a little, so that float32 decides near ties one way for some
 *    carried scores and another way for others. Mutants with errors must be caught.
 * 2. Texts cut at every possible place give the ids of the whole, for every capacity of the
 *    output and with a session of the least size. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certain_mutants.h"
#include "drive.h"
#include "make_model.h"
#include "unigram.h"

#define MODELS 160
#define LONGEST 4
#define STRINGS 16 /* of two letters, LONGEST long */
#define MOST_TEXT 48

/* ---- Random numbers -------------------------------------------------------------------- */

static uint64_t random_state = 0x2545F4914F6CDD1Du;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) * limit >> 32);
}

static float random_float(void)
{
    return (float)random_below(1u << 24) / (1 << 24);
}

/* ---- Mean models ----------------------------------------------------------------------- */

/* A little more or less than a tie. */
static float nudge(float score)
{
    const float steps = (float)random_below(6) - 2.5f;
    return random_below(4) == 0 ? score : score + ldexpf(steps, -3 - (int)random_below(14));
}

static bool open_mean(drive_model *m, uint32_t number)
{
    static const char *const letters[] = {"a", "b"};
    const float scale = number % 5 == 0 ? 900.0f : 16.0f;
    float scores[LONGEST + 1][STRINGS] = {{0}};
    isotok_error error = {.size = sizeof error};
    maker f = {0};
    uint32_t size, i, k;
    put_specials(&f);
    put_piece(&f, "z", -1, ISOTOK_NORMAL);
    for (size = 1; size <= LONGEST; size++) {
        for (i = 0; i < 1u << size; i++) {
            const uint32_t right = size > 1 ? 1 + random_below(size - 1) : 0;
            char text[LONGEST + 1] = "";
            scores[size][i] = size == 1 ? -scale * random_float()
                                        : nudge(scores[size - right][i >> right] +
                                                scores[right][i & ((1u << right) - 1)]);
            for (k = 0; k < size; k++) {
                strcat(text, letters[i >> (size - 1 - k) & 1]);
            }
            if (size == 1 || random_below(4) != 0) {
                put_piece(&f, text, scores[size][i], ISOTOK_NORMAL);
            }
        }
    }
    put_trainer(&f, ISOTOK_UNIGRAM, false);
    bool ok = drive_open_source(m, f.data, f.size, &error) == ISOTOK_OK;
    maker_free(&f);
    return CHECK(ok);
}

/* ---- Judging blocks -------------------------------------------------------------------- */

typedef struct judged {
    const char *name;
    certain_function *certain;
    uint64_t blocks, certain_blocks, pairs, wrong;
} judged;

static judged versions[] = {
    {.name = "as it is", .certain = isotok__certain},
    {.name = "error of an addition / 2", .certain = mutant_certain_error},
    {.name = "re-centring said to be farther", .certain = mutant_certain_farthest},
    {.name = "tokens said not to move the score", .certain = mutant_certain_moves},
};
#define VERSIONS (sizeof versions / sizeof *versions)

static bool same(const drive_model *m, const struct isotok_part *part,
                 const struct isotok__block *block, float carried)
{
    float best[MOST_TEXT + 1], sum = carried, after = carried;
    uint32_t back[MOST_TEXT + 1], ids[3 * MOST_TEXT], position = 0, i;
    const struct isotok__unigram_work work = {.best = best, .back = back};
    const uint8_t *text = part->text + part->position;
    struct isotok__tokens tokens = {0};
    size_t count = 0;
    isotok__unigram(m->model, text, block->size, &after, &work, &tokens);
    for (i = 0; i < tokens.count; i++) {
        const uint32_t token = tokens.slots[i];
        isotok__part_emit(m->model, text + position, token >> 8, token & 0xFF, ids, &count);
        position += token & 0xFF;
    }
    for (i = 0; i < block->tokens; i++) {
        sum += part->weights[part->weight + i];
    }
    return count == block->ids && memcmp(ids, part->ids + part->id, count * sizeof *ids) == 0 &&
           memcmp(&sum, &after, sizeof sum) == 0;
}

static void judge_block(judged *j, const drive_model *m, const struct isotok_part *part,
                        const struct isotok__block *block)
{
    int exponent, step;
    j->blocks++;
    if (block->valid_to < 0) {
        return;
    }
    j->certain_blocks++;
    for (exponent = 4; exponent <= 17; exponent++) {
        for (step = 0; step < 6; step++) {
            float carried = ldexpf(1 + random_float(), exponent);
            if (exponent == 17) {
                carried = step < 2 ? block->valid_to : block->valid_to - 400 * random_float();
            }
            if (carried > block->valid_to) {
                continue;
            }
            if (step % 3 != 0) {
                carried = -carried;
            }
            j->pairs++;
            if (same(m, part, block, carried)) {
                continue;
            }
            if (j == versions && j->wrong < 5) {
                fprintf(stderr, "wrong: %.*s from %a, said to hold up to %a\n", (int)block->size,
                        (const char *)part->text + part->position, carried, block->valid_to);
            }
            j->wrong++;
        }
    }
}

static void judge_text(judged *j, const drive_model *m, isotok_session *session,
                       const uint8_t *text, uint32_t size)
{
    struct isotok_part *part = calloc(1, sizeof *part);
    CHECK(j->certain(session, part, text, size) == ISOTOK_OK);
    for (size_t i = 0; i < part->blocks_count; i++) {
        const struct isotok__block *block = &part->blocks[i];
        judge_block(j, m, part, block);
        part->position += block->size;
        part->id += block->ids;
        part->weight += block->tokens;
    }
    CHECK(part->position == size && part->id == part->ids_count);
    CHECK(part->weight == part->weights_count);
    isotok_part_free(part);
}

static void judge_model(judged *j, const drive_model *m, bool cached)
{
    void *memory = aligned_memory(m->info.session_size), *cache = aligned_memory(1 << 16);
    isotok_session *session = NULL;
    memset(cache, 0, 1 << 16);
    CHECK(isotok_session_init(m->model, memory, m->info.session_size, &session, NULL) == ISOTOK_OK);
    CHECK(isotok_session_cache(session, cache, cached ? 1 << 16 : 0, NULL) == ISOTOK_OK);
    for (uint32_t number = 0; number < 120; number++) {
        uint8_t text[MOST_TEXT + ISOTOK__PART_PADDING] = {0};
        const uint32_t size = 1 + random_below(MOST_TEXT);
        for (uint32_t i = 0; i < size; i++) {
            text[i] = (uint8_t) "aaaabbbbabz?"[random_below(12)];
        }
        judge_text(j, m, session, text, size);
    }
    free(memory);
    free(cache);
}

static void judge_all(void)
{
    for (uint32_t number = 0; number < MODELS; number++) {
        drive_model m;
        if (!open_mean(&m, number)) {
            return;
        }
        const uint64_t state = random_state;
        for (size_t i = 0; i < VERSIONS; i++) {
            random_state = state; /* the same texts */
            judge_model(&versions[i], &m, number % 2 == 1);
        }
        drive_close(&m);
    }
    for (size_t i = 0; i < VERSIONS; i++) {
        const judged *j = &versions[i];
        printf("| blocks, %-34s %5.1f %% certain; %llu x scores, %llu wrong\n", j->name,
               100.0 * (double)j->certain_blocks / (double)j->blocks, (unsigned long long)j->pairs,
               (unsigned long long)j->wrong);
    }
    CHECK(versions[0].pairs > 300000 && versions[0].wrong == 0);
    for (size_t i = 1; i < VERSIONS; i++) {
        CHECK(versions[i].wrong > 0);
    }
}

/* ---- Parts of texts -------------------------------------------------------------------- */

typedef struct joiner {
    const drive_model *m;
    void *memory;
    isotok_session *session;
    isotok_joint joint;
    uint32_t *ids;
    size_t count, room, cuts;
} joiner;

/* As much larger a session as the error asks for. */
static void move(joiner *j, const isotok_error *error)
{
    void *larger = aligned_memory((size_t)error->need);
    CHECK(isotok_session_move(j->session, larger, (size_t)error->need, &j->session, NULL) ==
          ISOTOK_OK);
    free(j->memory);
    j->memory = larger;
}

static void join(joiner *j, isotok_part *part, size_t capacity)
{
    isotok_error error = {.size = sizeof error};
    isotok_status status = ISOTOK_NEED_OUTPUT;
    while (status > 0) {
        uint32_t *ids = malloc((capacity + 1) * sizeof *ids);
        size_t count = 0;
        status = isotok_part_join(j->session, part, &j->joint, ids, capacity, &count, &error);
        if (!CHECK(status >= 0 && count <= capacity && j->count + count <= j->room)) {
            return;
        }
        memcpy(j->ids + j->count, ids, count * sizeof *ids);
        j->count += count;
        free(ids);
        if (status == ISOTOK_NEED_SCRATCH) {
            move(j, &error);
        } else if (status == ISOTOK_NEED_OUTPUT) {
            CHECK(error.need > capacity - count);
            capacity = (size_t)error.need;
        }
    }
}

static isotok_part *encode_part(joiner *j, const uint8_t *text, size_t size, size_t begin,
                                size_t end)
{
    isotok_error error = {.size = sizeof error};
    isotok_part *part = NULL;
    isotok_status status = ISOTOK_NEED_SCRATCH;
    while (status == ISOTOK_NEED_SCRATCH) {
        status = isotok_part_encode(j->session, text, size, begin, end, &part, &error);
        if (status == ISOTOK_NEED_SCRATCH) {
            move(j, &error);
        }
    }
    CHECK(status == ISOTOK_OK);
    return part;
}

/* Parts of `step` bytes and more. */
static void check_text(const drive_model *m, const uint8_t *given, size_t size, size_t step)
{
    uint8_t *text = malloc(size > 0 ? size : 1); /* a sanitizer sees a step beyond */
    const drive_plan plan = {0};
    isotok_encode_options options = {.size = sizeof options};
    isotok_error error = {.size = sizeof error};
    drive_tokens expected;
    joiner j = {.m = m, .memory = aligned_memory(m->info.session_min)};
    size_t at = 0, cut;
    memcpy(text, given, size);
    CHECK(drive_encode(m, &plan, &options, text, size, &expected, &error) == ISOTOK_OK);
    CHECK(isotok_session_init(m->model, j.memory, m->info.session_min, &j.session, &error) ==
          ISOTOK_OK);
    j.room = expected.count + 1;
    j.ids = malloc(j.room * sizeof *j.ids);
    while (at < size) {
        size_t from = size - at < step ? size : at + step;
        isotok_part *part;
        CHECK(isotok_part_cut(m->model, text, size, from, &cut, &error) == ISOTOK_OK);
        if (!CHECK(cut >= from && cut <= size)) {
            break;
        }
        part = encode_part(&j, text, size, at, cut);
        if (part != NULL) {
            join(&j, part, random_below(3));
        }
        isotok_part_free(part);
        j.cuts += cut < size;
        at = cut;
    }
    if (!CHECK(j.count == expected.count &&
               memcmp(j.ids, expected.ids, j.count * sizeof *j.ids) == 0)) {
        fprintf(stderr, "  %zu bytes in steps of %zu: %.60s\n", size, step, (const char *)text);
    }
    if (size > 1000 && step < 100) {
        CHECK(j.cuts > 10);
    }
    drive_tokens_free(&expected);
    free(text);
    free(j.ids);
    free(j.memory);
}

static const char *const models[] = {
    "trained_unigram", "uni_suffix",   "uni_unknown_space", "uni_nested_user", "uni_rules",
    "uni_spaces",      "uni_rounding", "uni_recentre",      "uni_ties",        "uni_ill_formed",
    "trained_bpe",     "bpe_user",     "bpe_unused",        "bpe_noescape",    "bpe_bytes",
    "word_plain",      "char_bytes",   "char_plain",        "uni_expand",      "uni_nested_rules",
    "uni_long",
};

/* Words, runs of spaces, other scripts, stray bytes and user-defined pieces. */
static size_t make_text(uint8_t *text, size_t room)
{
    static const char *const words[] = {" the",         " year",     "  ",   " a",  "ab",
                                        "\xE3\x81\x82", "\xC3\xA9 ", "\xFF", "<x>", "abc ",
                                        "\xE2\x96\x81", "\n",        "?",    "x"};
    size_t size = 0;
    for (;;) {
        const char *word = words[random_below(sizeof words / sizeof *words)];
        if (size + strlen(word) > room) {
            return size;
        }
        memcpy(text + size, word, strlen(word));
        size += strlen(word);
    }
}

static void check_models(void)
{
    static const char odd[] = "  a  b\xE3\x81\x82 \xFF the year  <x> abc    ";
    size_t opened = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        char path[128];
        uint8_t text[4000];
        drive_model m;
        size_t size = make_text(text, sizeof text);
        snprintf(path, sizeof path, "tests/vectors/models/%s.model", models[i]);
        if (!CHECK(drive_open_file(&m, path))) {
            continue;
        }
        opened++;
        if ((m.info.features >> 9 & 3) == 0 &&
            m.info.max_key_bytes <= 256) { /* whole_text and wide are not cut */
            check_text(&m, text, size, 1);
            check_text(&m, text, size, 37);
        }
        check_text(&m, text, size, 1000);
        memset(text, 'a', sizeof text); /* perhaps without a cut, and larger than the session */
        check_text(&m, text, sizeof text, 1000);
        for (size = 0; size < sizeof odd; size++) {
            check_text(&m, (const uint8_t *)odd, size, 1);
        }
        drive_close(&m);
    }
    CHECK(opened == sizeof models / sizeof *models);
}

static void check_arguments(void)
{
    const uint8_t *text = (const uint8_t *)"hello world";
    isotok_error error = {.size = sizeof error};
    isotok_part *part = NULL;
    isotok_joint joint = {0};
    drive_model m;
    size_t cut, count;
    if (!CHECK(drive_open_file(&m, "tests/vectors/models/trained_unigram.model"))) {
        return;
    }
    joiner j = {.m = &m, .memory = aligned_memory(m.info.session_min)};
    CHECK(isotok_session_init(m.model, j.memory, m.info.session_min, &j.session, NULL) ==
          ISOTOK_OK);
    CHECK(isotok_part_cut(NULL, text, 11, 0, &cut, &error) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_cut(m.model, NULL, 11, 0, &cut, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_cut(m.model, text, 11, 0, NULL, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_cut(m.model, text, 11, 12, &cut, &error) == ISOTOK_E_ARGUMENT);
    CHECK(error.what == ISOTOK_WHAT_OPTION && error.offset == 12);
    CHECK(isotok_part_cut(m.model, text, 11, 3, &cut, NULL) == ISOTOK_OK && cut == 11);
    CHECK(isotok_part_encode(NULL, text, 11, 0, 11, &part, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_encode(j.session, NULL, 11, 0, 11, &part, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_encode(j.session, text, 11, 0, 12, &part, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_encode(j.session, text, 11, 5, 4, &part, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_encode(j.session, text, 11, 0, 9, &part, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_join(j.session, NULL, &joint, NULL, 0, &count, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_encode(j.session, text, 11, 0, 11, &part, NULL) == ISOTOK_OK);
    CHECK(isotok_part_join(j.session, part, NULL, NULL, 0, &count, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_join(j.session, part, &joint, NULL, 1, &count, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_part_join(j.session, part, &joint, NULL, 0, &count, &error) == ISOTOK_NEED_OUTPUT);
    CHECK(count == 0 && error.need > 0);
    isotok_part_free(part);
    isotok_part_free(NULL);
    free(j.memory);
    drive_close(&m);
}

int main(void)
{
    judge_all();
    check_models();
    check_arguments();
    return test_result();
}
