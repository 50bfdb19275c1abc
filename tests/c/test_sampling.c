/* Random numbers, exp and log, and sampling: known answers, errors against libm, and that a
 * result depends on nothing but model, text, options and seed. Distributions are the
 * business of tests/py/test_sampling.py. Runs from the project's root. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive_nbest.h"
#include "exp_log.h"
#include "json_lines.h"
#include "make_model.h"
#include "philox.h"

#define MODELS "tests/vectors/models/"
#define SAMPLES "tests/vectors/samples.json"

#if defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "this machine"
#endif

/* ---- Philox ---------------------------------------------------------------------- */

static void test_philox(void)
{
    /* published with the algorithm: all bits 0, all bits 1, digits of pi */
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } known[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}},
        {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}},
        {{0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344},
         {0xA4093822, 0x299F31D0},
         {0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}},
    };
    struct isotok__draw draw = {0, 0, 0, 0};
    double sum = 0.0;
    uint32_t out[4];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        isotok__philox((uint64_t)known[i].key[1] << 32 | known[i].key[0], known[i].counter, out);
        CHECK(memcmp(out, known[i].out, sizeof out) == 0);
    }
    /* 0xE169C58D6627E8D5 >> 12, plus a half, over 2^52 */
    CHECK(isotok__draw(&draw) == (3965510435103358.0 + 0.5) / 4503599627370496.0);
    for (draw.place = 0; draw.place < 100000; draw.place++) {
        sum += isotok__draw(&draw);
    }
    CHECK(fabs(sum / 100000 - 0.5) < 4 * 0.2887 / sqrt(100000.0));
}

/* ---- exp, log -------------------------------------------------------------------- */

/* Distance in units of the last place of the result. */
static double error_in_ulps(double got, long double wanted)
{
    int exponent;
    frexp(got, &exponent);
    return (double)(fabsl((long double)got - wanted) / ldexpl(1.0L, exponent - DBL_MANT_DIG));
}

static uint64_t hash(uint64_t so_far, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return (so_far ^ bits) * 0x100000001B3u;
}

#define ROUNDS 200000

static void test_exp_log(void)
{
    uint64_t bits = 0xCBF29CE484222325u;
    double worst_exp = 0.0, worst_log = 0.0, worst_near_1 = 0.0;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct isotok__draw draw = {1, i, 0, 99};
        const double u = isotok__draw(&draw);
        const double x = i % 2 ? u * 1417.0 - 708.0 : (u - 0.5) * 4.0;
        const double y = ldexp(0.5 + u / 2, (int)(i % 2000) - 1000), z = 1.0 + (u - 0.5) / 64;
        const double a = isotok__exp(x), b = isotok__log(y), c = isotok__log(z);
        worst_exp = fmax(worst_exp, error_in_ulps(a, expl(x)));
        worst_log = fmax(worst_log, error_in_ulps(b, logl(y)));
        worst_near_1 = fmax(worst_near_1, error_in_ulps(c, logl(z)));
        bits = hash(hash(hash(bits, a), b), c);
    }
    printf("largest errors: exp %.3f, log %.3f, log near 1 %.3f ulp\n", worst_exp, worst_log,
           worst_near_1);
    CHECK(worst_exp < 1.0 && worst_log < 1.0 && worst_near_1 < 1.0);
    CHECK(isotok__exp(0.0) == 1.0 && isotok__log(1.0) == 0.0);
    CHECK(isotok__exp(-708.0) > 0.0 && isotok__exp(-708.1) == 0.0 && isotok__exp(-1e300) == 0.0);
    CHECK(isotok__log(DBL_MIN) < -708.0 && isotok__log(DBL_MAX) > 709.0);
    CHECK(isotok__log(1.0 - DBL_EPSILON / 2) == -DBL_EPSILON / 2);
    /* the same bits on every machine */
    if (!CHECK(bits == 0x48BA6F1E95D6EBA9u)) {
        printf("bits: 0x%016llX\n", (unsigned long long)bits);
    }
}

/* ---- Sampling: what a result must not depend on ------------------------------------- */

/* A text that a model has much to choose in: the characters of its pieces, spaces, and some
 * that no piece has. */
static uint8_t *make_text(const drive_model *m, size_t *size, uint32_t seed)
{
    uint8_t *text = malloc(8000);
    *size = 0;
    for (uint32_t i = 0; *size < 3000; i++) {
        struct isotok__draw draw = {seed, i, 0, 98};
        const double u = isotok__draw(&draw);
        const uint32_t id = (uint32_t)(u * m->info.vocab_size), kind = (uint32_t)(u * 1e6) % 16;
        isotok_piece piece;
        isotok_piece_get(m->model, id, &piece);
        if (kind == 0) {
            text[(*size)++] = ' ';
        } else if (kind == 1) {
            memcpy(text + *size, "\xC3\xA9\xF0\x9F\x98\x80", 6);
            *size += 6;
        } else if (piece.size < 900 && piece.type != ISOTOK_BYTE && piece.type != ISOTOK_CONTROL) {
            memcpy(text + *size, piece.text, piece.size);
            *size += piece.size;
        }
    }
    return text;
}

static const drive_plan plans[] = {
    {0},
    {.capacity = 1},
    {.part = 1, .small = true},
    {.capacity = 7, .part = 13, .small = true, .move = true},
    {.small = true},
};
#define PLANS (sizeof plans / sizeof plans[0])

static isotok_encode_options options_of(uint32_t flags, double alpha, uint64_t seed)
{
    isotok_encode_options options = {.size = sizeof options};
    options.flags = flags | ISOTOK_OFFSETS | ISOTOK_NORM_SPANS;
    options.alpha = alpha;
    options.seed = seed;
    return options;
}

static isotok_status sample(const drive_model *m, const drive_plan *plan, uint32_t flags,
                            double alpha, uint64_t seed, const uint8_t *text, size_t size,
                            drive_tokens *out)
{
    isotok_encode_options options = options_of(flags, alpha, seed);
    isotok_error error;
    return drive_encode(m, plan, &options, text, size, out, &error);
}

static void check_plans(const drive_model *m, uint32_t flags, double alpha, const uint8_t *text,
                        size_t size)
{
    drive_tokens first, again, other, plain;
    CHECK(sample(m, &plans[0], flags, alpha, 7, text, size, &first) == ISOTOK_OK);
    for (size_t i = 1; i < PLANS; i++) {
        CHECK(sample(m, &plans[i], flags, alpha, 7, text, size, &again) == ISOTOK_OK);
        CHECK(drive_tokens_equal(&first, &again));
        drive_tokens_free(&again);
    }
    CHECK(sample(m, &plans[0], flags, alpha, 8, text, size, &other) == ISOTOK_OK);
    CHECK(sample(m, &plans[0], 0, 0.0, 0, text, size, &plain) == ISOTOK_OK);
    CHECK(!drive_tokens_equal(&first, &other)); /* another seed */
    CHECK(!drive_tokens_equal(&first, &plain));
    drive_tokens_free(&first);
    drive_tokens_free(&other);
    drive_tokens_free(&plain);
}

static void check_equal_to_encode(const drive_model *m, uint32_t flags, double alpha,
                                  const uint8_t *text, size_t size)
{
    drive_tokens sampled, plain;
    CHECK(sample(m, &plans[0], flags, alpha, 3, text, size, &sampled) == ISOTOK_OK);
    CHECK(sample(m, &plans[0], 0, 0.0, 0, text, size, &plain) == ISOTOK_OK);
    CHECK(drive_tokens_equal(&sampled, &plain));
    drive_tokens_free(&sampled);
    drive_tokens_free(&plain);
}

static void test_independence(void)
{
    static const struct {
        const char *name;
        uint32_t algorithm;
    } models[] = {
        {"trained_unigram", ISOTOK_UNIGRAM}, {"uni_long", ISOTOK_UNIGRAM}, /* wide */
        {"uni_ill_formed", ISOTOK_UNIGRAM},                                /* never cut */
        {"uni_user_scores", ISOTOK_UNIGRAM}, {"uni_noescape", ISOTOK_UNIGRAM},
        {"trained_bpe", ISOTOK_BPE},         {"bpe_user", ISOTOK_BPE},
        {"bpe_unused", ISOTOK_BPE},          {"bpe_ill_formed", ISOTOK_BPE},
    };
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        char path[128];
        drive_model m;
        size_t size;
        snprintf(path, sizeof path, MODELS "%s.model", models[i].name);
        if (!CHECK(drive_open_file(&m, path))) {
            continue;
        }
        uint8_t *text = make_text(&m, &size, (uint32_t)i);
        if (models[i].algorithm == ISOTOK_UNIGRAM) {
            check_plans(&m, ISOTOK_SAMPLE, 0.3, text, size);
            check_plans(&m, ISOTOK_SAMPLE, 0.0, text, size);
            check_plans(&m, ISOTOK_GUMBEL, 5.0, text, size);
            check_equal_to_encode(&m, ISOTOK_GUMBEL, 0.0, text, size);
        } else {
            check_plans(&m, ISOTOK_DROPOUT, 0.3, text, size);
            check_equal_to_encode(&m, ISOTOK_DROPOUT, 0.0, text, size);
        }
        free(text);
        drive_close(&m);
    }
}

/* ---- Extremes ---------------------------------------------------------------------- */

static void test_extremes(void)
{
    static const uint8_t text[] = "the quick brown fox, and then another one";
    drive_model m;
    drive_tokens a, b;
    if (CHECK(drive_open_file(&m, MODELS "trained_unigram.model"))) {
        check_equal_to_encode(&m, ISOTOK_SAMPLE, 1e6, text, sizeof text - 1);
        check_equal_to_encode(&m, ISOTOK_SAMPLE, DBL_MAX, text, sizeof text - 1);
        check_equal_to_encode(&m, ISOTOK_GUMBEL, 1e-300, text, sizeof text - 1);
        CHECK(sample(&m, &plans[0], ISOTOK_GUMBEL, DBL_MAX, 0, text, sizeof text - 1, &a) ==
              ISOTOK_OK);
        drive_tokens_free(&a);
        CHECK(sample(&m, &plans[0], ISOTOK_SAMPLE, 1.0, 0, text, 0, &a) == ISOTOK_OK);
        CHECK(a.count == 0);
        drive_tokens_free(&a);
        drive_close(&m);
    }
    if (CHECK(drive_open_file(&m, MODELS "trained_bpe.model"))) {
        CHECK(sample(&m, &plans[0], ISOTOK_DROPOUT, 1.0, 0, text, sizeof text - 1, &a) ==
              ISOTOK_OK);
        CHECK(sample(&m, &plans[0], ISOTOK_DROPOUT, 1e300, 9, text, sizeof text - 1, &b) ==
              ISOTOK_OK);
        CHECK(drive_tokens_equal(&a, &b));
        for (size_t i = 0; i < a.count; i++) {
            isotok_piece piece;
            isotok_piece_get(m.model, a.ids[i], &piece);
            CHECK(piece.type == ISOTOK_BYTE || piece.size == 1 ||
                  (piece.size == 3 && piece.text[0] == 0xE2));
        }
        drive_tokens_free(&a);
        drive_tokens_free(&b);
        drive_close(&m);
    }
}

/* Wide models may have the largest weights there are. */
static void test_large_weights(void)
{
    maker f = {0};
    drive_model m;
    drive_tokens tokens;
    isotok_error error;
    put_specials(&f);
    put_piece(&f, "a", -FLT_MAX, ISOTOK_NORMAL);
    put_piece(&f, "aa", FLT_MAX, ISOTOK_NORMAL);
    put_piece(&f, "aaa", -1.0f, ISOTOK_NORMAL);
    put_trainer(&f, ISOTOK_UNIGRAM, false);
    if (CHECK(drive_open_source(&m, f.data, f.size, &error) == ISOTOK_OK)) {
        uint8_t text[500];
        memset(text, 'a', sizeof text);
        for (int i = 0; i < 4; i++) {
            const double alpha[] = {0.0, 1e-30, 1.0, DBL_MAX};
            CHECK(sample(&m, &plans[0], ISOTOK_SAMPLE, alpha[i], 1, text, sizeof text, &tokens) ==
                  ISOTOK_OK);
            CHECK(tokens.count >= 167);
            drive_tokens_free(&tokens);
            CHECK(sample(&m, &plans[3], ISOTOK_GUMBEL, alpha[i], 1, text, sizeof text, &tokens) ==
                  ISOTOK_OK);
            drive_tokens_free(&tokens);
        }
        drive_close(&m);
    }
    maker_free(&f);
}

/* ---- samples.json: what a seed draws ------------------------------------------------- */

static const char *sample_line;

static isotok_status draw_paths(const drive_model *m, uint32_t n, double alpha, uint64_t seed,
                                const uint8_t *text, size_t size, drive_tokens *out)
{
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_SAMPLE};
    isotok_error error;
    drive_paths paths;
    isotok_status status;
    options.alpha = alpha;
    options.seed = seed;
    status = drive_nbest(m, &options, text, size, n, 0, &paths, &error);
    memset(out, 0, sizeof *out);
    out->ids = paths.ids;
    out->count = status == ISOTOK_OK ? paths.ends[0] : 0;
    return status;
}

/* Whether every way of driving the core gives the ids of a line. */
static bool check_sample(const drive_model *m, const char *line)
{
    bool all_equal = true;
    const char *method = json_value(line, "method");
    const double alpha = strtod(json_value(line, "alpha"), NULL);
    const uint64_t seed = strtoull(json_value(line, "seed") + 1, NULL, 10);
    const char *paths = json_value(line, "paths");
    const uint32_t n = paths != NULL ? (uint32_t)strtoul(paths, NULL, 10) : 0;
    size_t size, count;
    uint8_t *text = json_hex(json_value(line, "text"), &size);
    uint32_t *ids = json_numbers(json_value(line, "ids"), &count);
    uint32_t flags = method[1] == 'f'   ? ISOTOK_SAMPLE
                     : method[1] == 'g' ? ISOTOK_GUMBEL
                                        : ISOTOK_DROPOUT;
    for (size_t i = 0; i < PLANS; i++) {
        drive_tokens found;
        isotok_status status = method[1] == 'n'
                                   ? draw_paths(m, n, alpha, seed, text, size, &found)
                                   : sample(m, &plans[i], flags, alpha, seed, text, size, &found);
        bool ok = status == ISOTOK_OK && found.count == count &&
                  (count == 0 || memcmp(found.ids, ids, count * sizeof *ids) == 0);
        all_equal = ok && all_equal;
        if (!CHECK(ok)) {
            fprintf(stderr, "  plan %u: %.70s\n", (unsigned)i, sample_line);
        }
        drive_tokens_free(&found);
    }
    free(text);
    free(ids);
    return all_equal;
}

static void test_samples(void)
{
    static char line[1 << 16];
    char name[64] = "";
    unsigned lines = 0;
    bool opened = false, all_equal = true;
    drive_model m;
    FILE *file = fopen(SAMPLES, "rb");
    if (!CHECK(file != NULL)) {
        return;
    }
    sample_line = line;
    while (fgets(line, sizeof line, file) != NULL) {
        const char *model = json_value(line, "model");
        size_t size;
        if (model == NULL) {
            continue;
        }
        size = strcspn(model + 1, "\"");
        if (strncmp(name, model + 1, size) != 0 || name[size] != 0) {
            char path[128];
            snprintf(name, sizeof name, "%.*s", (int)size, model + 1);
            snprintf(path, sizeof path, MODELS "%s.model", name);
            if (opened) {
                drive_close(&m);
            }
            opened = CHECK(drive_open_file(&m, path));
        }
        if (opened) {
            all_equal = check_sample(&m, line) && all_equal;
            lines++;
        }
    }
    CHECK(lines > 1000);
    printf("| samples.json, C on " MACHINE ": %u draws, each in %u ways, %s\n", lines,
           (unsigned)PLANS, all_equal ? "all equal" : "NOT ALL EQUAL");
    if (opened) {
        drive_close(&m);
    }
    fclose(file);
}

/* ---- Arguments --------------------------------------------------------------------- */

static void check_refused(const drive_model *m, uint32_t flags, double alpha, uint32_t what)
{
    isotok_encode_options options = options_of(flags, alpha, 0);
    isotok_error error;
    drive_tokens tokens;
    CHECK(drive_encode(m, &plans[0], &options, (const uint8_t *)"a", 1, &tokens, &error) ==
          ISOTOK_E_ARGUMENT);
    CHECK(error.what == what);
    drive_tokens_free(&tokens);
}

static void test_arguments(void)
{
    static const char *const names[] = {"uni_ties", "bpe_plain", "word_plain", "char_plain"};
    for (uint32_t i = 0; i < 4; i++) {
        char path[128];
        drive_model m;
        snprintf(path, sizeof path, MODELS "%s.model", names[i]);
        if (!CHECK(drive_open_file(&m, path))) {
            continue;
        }
        check_refused(&m, 0, -1.0, ISOTOK_WHAT_OPTION);
        check_refused(&m, 0, (double)NAN, ISOTOK_WHAT_OPTION);
        check_refused(&m, 0, (double)INFINITY, ISOTOK_WHAT_OPTION);
        check_refused(&m, ISOTOK_SAMPLE | ISOTOK_GUMBEL, 1.0, ISOTOK_WHAT_OPTION);
        if (i != 0) {
            check_refused(&m, ISOTOK_SAMPLE, 1.0, ISOTOK_WHAT_SAMPLING);
            check_refused(&m, ISOTOK_GUMBEL, 1.0, ISOTOK_WHAT_SAMPLING);
        }
        if (i != 1) {
            check_refused(&m, ISOTOK_DROPOUT, 1.0, ISOTOK_WHAT_SAMPLING);
        }
        drive_close(&m);
    }
}

int main(void)
{
    test_philox();
    test_exp_log();
    test_independence();
    test_extremes();
    test_large_weights();
    test_samples();
    test_arguments();
    return test_result();
}
