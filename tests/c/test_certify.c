/* The certificate of the token cache (core/src/certify.c) by brute force: wherever it says that a
 * chunk's segmentation holds for a carried score, the segmenter started from that score
 * must find the same tokens and the same float32 sum, to the bit.
 *
 * The models are small and mean: the score of every piece of two and more characters is the sum of
 * those of two parts, give or take a few units of a place anywhere from 2^-2 to 2^-22, so that
 * float32 decides some ties one way for some carried scores and another way for others. The
 * same runs judge two mutants of the certificate, whose errors they must find. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify_mutants.h"
#include "drive.h"
#include "make_model.h"
#include "same_tokens.h"
#include "unigram.h"

#define KEY ISOTOK__CACHE_KEY
#define MOST_SCORES 256
#define MODELS 256
#define LONGEST 4 /* characters of a piece */

/* ---- Random numbers -------------------------------------------------------------------- */

static uint64_t random_state = 0x9E3779B97F4A7C15u;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 32) * limit >> 32);
}

static bool chance(uint32_t percent)
{
    return random_below(100) < percent;
}

/* In [0, 1), with as many bits as float32 has. */
static float random_float(void)
{
    return (float)random_below(1u << 24) / (1 << 24);
}

/* ---- Models ---------------------------------------------------------------------------- */

enum flavour {
    USUAL,
    TINY,
    LARGE,
    POSITIVE,
    MIXED,
    WHOLE_NUMBERS,
    OUT_OF_RANGE,
    NEAR_ZERO,
    FLAVOURS
};

/* The character that is in no piece comes last. */
static const char *const alphabets[][4] = {
    {"a", "b", NULL, "x"},
    {"a", "b", NULL, "\xC3\xA9"},
    {"a", "\xC3\xA9", "b", "\xC3\xA8"},
    {"\xE6\x97\xA5", "a", NULL, "\xE6\x97\xA4"},
    {"\xF0\x9F\x98\x80", "b", NULL, "\xF0\x9F\x98\x81"},
};
#define ALPHABETS (sizeof alphabets / sizeof *alphabets)

typedef struct small_model {
    drive_model model;
    const char *const *letters;
    uint32_t letters_count;
    float scores[LONGEST + 1][81]; /* of all strings of so many letters */
} small_model;

static float single_score(enum flavour flavour)
{
    const float x = random_float();
    switch (flavour) {
    case TINY: return -x / 64;
    case LARGE: return -x * 900;
    case POSITIVE: return x * 8;
    case MIXED: return (x - 0.5f) * 20;
    case WHOLE_NUMBERS: return -(float)random_below(12);
    case OUT_OF_RANGE: return chance(30) ? -2e4f * x : chance(5) ? -2e29f : -x * 4;
    case NEAR_ZERO: return chance(30) ? -0.0f : chance(50) ? 1e-40f * x : -x / 16384;
    default: return -x * 16;
    }
}

/* A little more or less, where it decides near ties. */
static float nudge(float score)
{
    const int exponent = -2 - (int)random_below(21);
    float steps = (float)random_below(5);
    if (chance(15)) {
        return nextafterf(score, chance(50) ? INFINITY : -INFINITY);
    }
    if (chance(30)) {
        steps += random_float();
    }
    return score + ldexpf(chance(50) ? steps : -steps, exponent);
}

static void choose_scores(small_model *m, enum flavour flavour)
{
    uint32_t count = m->letters_count, size, i;
    for (i = 0; i < count; i++) {
        m->scores[1][i] = single_score(flavour);
    }
    for (size = 2; size <= LONGEST; size++) {
        count *= m->letters_count;
        for (i = 0; i < count; i++) {
            uint32_t right = 1 + random_below(size - 1), divisor = 1, k;
            for (k = 0; k < right; k++) {
                divisor *= m->letters_count;
            }
            m->scores[size][i] =
                nudge(m->scores[size - right][i / divisor] + m->scores[right][i % divisor]);
        }
    }
}

/* Letters of string `index` of `size` letters. */
static size_t spell(const small_model *m, uint32_t size, uint32_t index, char *out)
{
    uint32_t digits[32], i;
    size_t written = 0;
    for (i = 0; i < size; i++, index /= m->letters_count) {
        digits[size - 1 - i] = index % m->letters_count;
    }
    for (i = 0; i < size; i++) {
        written += strlen(strcpy(out + written, m->letters[digits[i]]));
    }
    return written;
}

static bool open_small(small_model *m, uint32_t number)
{
    maker f = {0};
    isotok_error error;
    char text[32];
    uint32_t size, count = 1, i;
    m->letters = alphabets[number % ALPHABETS];
    m->letters_count = m->letters[2] != NULL ? 3 : 2;
    choose_scores(m, (enum flavour)(number % FLAVOURS));
    put_specials(&f);
    put_piece(&f, "z", m->scores[1][0], ISOTOK_NORMAL); /* there is one */
    for (size = 1; size <= LONGEST; size++) {
        count *= m->letters_count;
        for (i = 0; i < count; i++) {
            if (chance(size == 1 ? 92 : 75)) {
                spell(m, size, i, text);
                put_piece(&f, text, m->scores[size][i],
                          chance(4) ? ISOTOK_USER_DEFINED : ISOTOK_NORMAL);
            }
        }
    }
    put_trainer(&f, ISOTOK_UNIGRAM, false);
    bool ok = drive_open_source(&m->model, f.data, f.size, &error) == ISOTOK_OK;
    maker_free(&f);
    return CHECK(ok);
}

/* ---- Carried scores -------------------------------------------------------------------- */

typedef struct scores {
    float values[MOST_SCORES];
    size_t count;
} scores;

static void put_score(scores *s, float value)
{
    s->values[s->count++] = value;
    s->values[s->count++] = -value;
}

/* Where the error of an addition changes, near the limits, and anywhere. */
static void choose_carried(scores *s, float valid_to)
{
    s->count = 0;
    put_score(s, 0.0f);
    put_score(s, 99999.0f);
    put_score(s, 99990.0f + 9.0f * random_float());
    put_score(s, 99000.0f + 999.0f * random_float());
    if (valid_to > 0) {
        put_score(s, valid_to);
        put_score(s, nextafterf(valid_to, 0.0f));
        put_score(s, valid_to * (1.0f - random_float() / 64));
    }
    for (int exponent = -4; exponent <= 16; exponent++) {
        const float power = ldexpf(1.0f, exponent);
        put_score(s, power);
        put_score(s, nextafterf(power, 0.0f));
        put_score(s, power * (1.0f + random_float()));
        put_score(s, power * (1.0f + random_float()));
        if (exponent > 6) {
            put_score(s, power - 16.0f * random_float());
        }
    }
}

/* ---- Judging --------------------------------------------------------------------------- */

typedef struct judged {
    const char *name;
    void (*certify)(const isotok_model *, const uint8_t *, uint32_t, struct isotok__cache_entry *);
    uint64_t chunks, certified_chunks, certified, wrong;
} judged;

static judged certificates[] = {
    {.name = "as it is", .certify = isotok__certify},
    {.name = "error of an addition x 3/4", .certify = mutant_error},
    {.name = "re-centring said to be farther", .certify = mutant_farthest},
};
#define CERTIFICATES (sizeof certificates / sizeof *certificates)

static uint64_t pairs, malformed;

/* What the segmenter finds, started at `*carried`. */
static void run_segmenter(const isotok_model *model, const uint8_t *text, uint32_t size,
                          float *carried, struct isotok__tokens *tokens)
{
    static float best[KEY + 1];
    static uint32_t back[KEY + 1];
    const struct isotok__unigram_work work = {.best = best, .back = back};
    isotok__unigram(model, text, size, carried, &work, tokens);
}

static bool same_answer(const struct isotok__cache_entry *entry, float carried, float after,
                        const struct isotok__tokens *tokens)
{
    float sum = carried, weight;
    for (uint32_t i = 0; i < entry->count; i++) {
        memcpy(&weight, &entry->tokens[ISOTOK__CACHE_TOKENS / 2 + i], sizeof weight);
        sum += weight;
    }
    return same_tokens(tokens->slots, tokens->count, entry->tokens, entry->count) &&
           memcmp(&sum, &after, sizeof sum) == 0;
}

static void judge_pair(const isotok_model *model, const uint8_t *text, uint32_t size, float carried,
                       const struct isotok__cache_entry *entries)
{
    struct isotok__tokens tokens;
    float after = carried;
    run_segmenter(model, text, size, &after, &tokens);
    pairs++;
    for (size_t i = 0; i < CERTIFICATES; i++) {
        if (fabsf(carried) > entries[i].valid_to) {
            continue;
        }
        certificates[i].certified++;
        if (same_answer(&entries[i], carried, after, &tokens)) {
            continue;
        }
        if (i == 0 && certificates[0].wrong < 5) {
            fprintf(stderr, "wrong: %.*s from %a, certified up to %a\n", (int)size,
                    (const char *)text, carried, entries[0].valid_to);
        }
        certificates[i].wrong++;
    }
}

static void judge_chunk(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    struct isotok__cache_entry entries[CERTIFICATES];
    scores carried;
    uint32_t i, bytes = 0;
    for (i = 0; i < CERTIFICATES; i++) {
        memset(&entries[i], 0xA5, sizeof entries[i]);
        certificates[i].certify(model, text, size, &entries[i]);
        certificates[i].chunks++;
        certificates[i].certified_chunks += entries[i].valid_to >= 0;
    }
    for (i = 0; i < entries[0].count && i < ISOTOK__CACHE_TOKENS / 2; i++) {
        bytes += entries[0].tokens[i] & 0xFF;
    }
    malformed += entries[0].valid_to > 99999.0f || entries[0].count > ISOTOK__CACHE_TOKENS / 2 ||
                 bytes != (entries[0].count > 0 ? size : 0) ||
                 (entries[0].count == 0 && entries[0].valid_to >= 0);
    choose_carried(&carried, entries[0].valid_to);
    for (i = 0; i < carried.count; i++) {
        judge_pair(model, text, size, carried.values[i], entries);
    }
}

/* All short texts of the letters, then longer ones with unknown characters. */
static void judge_model(const small_model *m)
{
    char text[128];
    uint32_t size, count = 1, i;
    for (size = 1; size <= (m->letters_count == 2 ? 6u : 4u); size++) {
        count *= m->letters_count;
        for (i = 0; i < count; i++) {
            size_t bytes = spell(m, size, i, text);
            if (bytes <= KEY) {
                judge_chunk(m->model.model, (const uint8_t *)text, (uint32_t)bytes);
            }
        }
    }
    for (i = 0; i < 60; i++) {
        size_t bytes = 0;
        const uint32_t most = 5 + random_below(20);
        for (;;) {
            const char *letter = m->letters[chance(8) ? 3 : random_below(m->letters_count)];
            if (bytes + strlen(letter) > most) {
                break;
            }
            bytes += strlen(strcpy(text + bytes, letter));
        }
        judge_chunk(m->model.model, (const uint8_t *)text, (uint32_t)bytes);
    }
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0.0 : 100.0 * (double)part / (double)whole;
}

int main(void)
{
    for (uint32_t number = 0; number < MODELS; number++) {
        small_model m;
        if (!open_small(&m, number)) {
            return 1;
        }
        judge_model(&m);
        drive_close(&m.model);
    }
    printf("| %llu chunks x carried scores\n", (unsigned long long)pairs);
    for (size_t i = 0; i < CERTIFICATES; i++) {
        const judged *j = &certificates[i];
        printf("| certificate %-30s %5.1f %% of chunks, %5.1f %% of pairs certified; %llu wrong\n",
               j->name, percent(j->certified_chunks, j->chunks), percent(j->certified, pairs),
               (unsigned long long)j->wrong);
    }
    /* nothing would be wrong if nothing were certified */
    CHECK(pairs > 1000000);
    CHECK(percent(certificates[0].certified, pairs) > 30);
    CHECK(percent(certificates[0].certified_chunks, certificates[0].chunks) > 30);
    CHECK(malformed == 0);
    CHECK(certificates[0].wrong == 0);
    CHECK(certificates[1].wrong > 0);
    CHECK(certificates[2].wrong > 0);
    return test_result();
}
