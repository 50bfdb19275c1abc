/* The certificate of the token cache on the chunks of real texts: how many are certified, what
 * that costs, and by brute force whether it is right.
 *
 *     cache_chunks MODEL <TEXT
 *
 * Prints "name value" lines. The text is normalized and cut into chunks; each different one
 * is certified, and segmented from carried scores of all sizes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "certify.h"
#include "chunk.h"
#include "drive.h"
#include "make_model.h"
#include "same_tokens.h"
#include "unigram.h"

#define TABLE (1u << 22) /* different chunks, most of them empty */

typedef struct chunk {
    const uint8_t *text; /* NULL: empty */
    uint32_t size, count;
    struct isotok__cache_entry entry;
} chunk;

static chunk *table, **list;
static size_t chunks, different, looked_up, in_keys;

static void *must(void *memory)
{
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static uint8_t *read_all(size_t *out_size)
{
    size_t room = 1 << 20, size = 0, got;
    uint8_t *data = must(malloc(room));
    while ((got = fread(data + size, 1, room - size, stdin)) > 0) {
        size += got;
        if (size == room) {
            room *= 2;
            data = must(realloc(data, room));
        }
    }
    *out_size = size;
    return data;
}

/* Normalized text as the segmenter sees it, with the padding that it needs. */
static uint8_t *internal_text(const drive_model *m, const uint8_t *text, size_t *size)
{
    const drive_plan plan = {.capacity = 1 << 16};
    isotok_error error;
    drive_bytes normalized;
    size_t i, used = 0;
    if (drive_normalize(m, &plan, ISOTOK_UNIT_BYTE, text, *size, &normalized, &error) !=
        ISOTOK_OK) {
        exit(2);
    }
    uint8_t *out = must(calloc(normalized.size + 64, 1));
    for (i = 0; i < normalized.size; i++) {
        if (m->model->space_size == 1 && i + 3 <= normalized.size &&
            memcmp(normalized.data + i, "\xE2\x96\x81", 3) == 0) {
            out[used++] = 0x20;
            i += 2;
        } else {
            out[used++] = normalized.data[i];
        }
    }
    drive_bytes_free(&normalized);
    *size = used;
    return out;
}

static chunk *find(const uint8_t *text, uint32_t size)
{
    uint64_t h = size;
    for (uint32_t i = 0; i < size; i++) {
        h = (h ^ text[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    for (uint32_t at = (uint32_t)h & (TABLE - 1);; at = (at + 1) & (TABLE - 1)) {
        chunk *c = &table[at];
        if (c->text == NULL || (c->size == size && memcmp(c->text, text, size) == 0)) {
            return c;
        }
    }
}

static void count_chunks(const isotok_model *model, const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        const uint32_t left = size - at < 65536 ? (uint32_t)(size - at) : 65536u;
        const uint32_t n = isotok__first_chunk(model, text + at, left);
        chunks++;
        if (n <= ISOTOK__CACHE_KEY) {
            chunk *c = find(text + at, n);
            if (c->text == NULL) {
                different++;
            }
            c->text = text + at;
            c->size = n;
            c->count++;
            looked_up++;
            in_keys += n;
        }
        at += n;
    }
}

/* ---- Cost ---------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void segment(const isotok_model *model, const chunk *c, float *carried,
                    struct isotok__tokens *tokens)
{
    static float best[ISOTOK__CACHE_KEY + 1];
    static uint32_t back[ISOTOK__CACHE_KEY + 1];
    const struct isotok__unigram_work work = {.best = best, .back = back};
    isotok__unigram(model, c->text, c->size, carried, &work, tokens);
}

static void list_chunks(void)
{
    size_t count = 0;
    list = must(calloc(different, sizeof *list));
    for (size_t i = 0; i < TABLE; i++) {
        if (table[i].text != NULL) {
            list[count++] = &table[i];
        }
    }
}

static void measure(const isotok_model *model)
{
    double certify = 1e9, plain = 1e9;
    for (int run = 0; run < 5; run++) {
        struct isotok__tokens tokens;
        float carried = 0.0f;
        double begin = seconds();
        for (size_t i = 0; i < different; i++) {
            isotok__certify(model, list[i]->text, list[i]->size, &list[i]->entry);
        }
        double middle = seconds();
        for (size_t i = 0; i < different; i++) {
            segment(model, list[i], &carried, &tokens);
        }
        double end = seconds();
        certify = fmin(certify, middle - begin);
        plain = fmin(plain, end - middle);
    }
    printf("certify_ns %.0f\nsegment_ns %.0f\n", certify * 1e9 / (double)different,
           plain * 1e9 / (double)different);
}

/* ---- Share --------------------------------------------------------------------------- */

/* Percent of the chunks, as often as they come, that hold for a carried score. */
static double share(float carried)
{
    size_t certified = 0;
    for (size_t i = 0; i < different; i++) {
        certified += list[i]->entry.valid_to >= carried ? list[i]->count : 0;
    }
    return 100.0 * (double)certified / (double)looked_up;
}

/* ---- Brute force --------------------------------------------------------------------- */

static bool is_right(const isotok_model *model, const chunk *c, float carried)
{
    struct isotok__tokens tokens;
    float after = carried, sum = carried, weight;
    segment(model, c, &after, &tokens);
    for (uint32_t i = 0; i < c->entry.count; i++) {
        memcpy(&weight, &c->entry.tokens[ISOTOK__CACHE_TOKENS / 2 + i], sizeof weight);
        sum += weight;
    }
    return same_tokens(tokens.slots, tokens.count, c->entry.tokens, c->entry.count) &&
           memcmp(&sum, &after, sizeof sum) == 0;
}

static void brute_force(const isotok_model *model)
{
    uint64_t state = 0x9E3779B97F4A7C15u;
    size_t tests = 0, wrong = 0;
    for (size_t i = 0; i < different; i++) {
        const chunk *c = list[i];
        for (int k = 0; k < 24 && c->entry.valid_to >= 0; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            float carried = k == 0 ? 0.0f : k == 1 ? -c->entry.valid_to : 0.0f;
            if (k > 1) { /* of any size; half of them in the last two doublings */
                const float unit = (float)(state >> 40) / (1 << 24);
                carried = k % 2 ? -unit * c->entry.valid_to
                                : -ldexpf(1.0f + unit, (int)(state & 15)) - unit / 16;
            }
            if (fabsf(carried) <= c->entry.valid_to) {
                tests++;
                wrong += !is_right(model, c, carried);
            }
        }
    }
    printf("tests %zu\nwrong %zu\n", tests, wrong);
}

int main(int argc, char **argv)
{
    drive_model m;
    size_t size;
    if (argc != 2 || !drive_open_file(&m, argv[1])) {
        return 2;
    }
    uint8_t *raw = read_all(&size);
    uint8_t *text = internal_text(&m, raw, &size);
    table = must(calloc(TABLE, sizeof *table));
    count_chunks(m.model, text, size);
    printf("chunks %zu\ndifferent %zu\nlooked_up_bytes %.2f\n", chunks, different,
           100.0 * (double)in_keys / (double)size);
    list_chunks();
    measure(m.model);
    printf("certified_0 %.3f\ncertified_50000 %.3f\ncertified_90000 %.3f\n", share(0.0f),
           share(50000.0f), share(90000.0f));
    brute_force(m.model);
    free(list);
    free(table);
    free(text);
    free(raw);
    drive_close(&m);
    return 0;
}
