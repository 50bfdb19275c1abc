/* The golden vectors (tests/vectors/spine.json) through the C interface, under easy and
 * difficult plans: outputs of one element, parts of one byte, sessions that start small.
 * Runs from the project's root; also in an emulator, on another processor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_normalized.h"
#include "drive.h"
#include "json_lines.h"
#include "make_model.h"

#define SPINE "tests/vectors/spine.json"
#define MODELS "tests/vectors/models/"

/* ---- Values of spine.json ----------------------------------------------------------- */

static bool equal_numbers(const char *value, const uint32_t *found, size_t count, size_t step,
                          size_t first)
{
    size_t expected_count, i;
    uint32_t *expected = json_numbers(value, &expected_count);
    bool ok = expected_count == count * step;
    for (i = 0; ok && i < count; i++) {
        ok = expected[i * step + first] == found[i];
    }
    free(expected);
    return ok;
}

/* True if the value is too long to be spelled out in the file. */
static bool equal_hex(const char *value, const uint8_t *found, size_t size)
{
    size_t expected_size;
    uint8_t *expected;
    bool ok;
    if (*value != '"') {
        return true;
    }
    expected = json_hex(value, &expected_size);
    ok = expected_size == size && (size == 0 || memcmp(expected, found, size) == 0);
    free(expected);
    return ok;
}

/* ---- Checks ---------------------------------------------------------------------- */

static _Alignas(64) uint8_t cache[1 << 16];

static const drive_plan PLANS[] = {
    {0},
    {.cache = cache, .cache_size = sizeof cache},
    {.capacity = 33, .small = true, .cache = cache, .cache_size = 4096},
    {.capacity = 33, .small = true},
    {.capacity = 3, .part = 7, .small = true},
    {.capacity = 1, .part = 1, .small = true},
    {.capacity = 1, .part = 1, .small = true, .move = true},
};
#define PLAN_COUNT (sizeof PLANS / sizeof *PLANS)
#define LONG_TEXT 1500 /* only the first four plans */
#define SHORT_TEXT 12  /* the last one too */

static const char *line;

static bool check_line(bool ok, const char *what, size_t plan)
{
    if (!test_check(ok, __FILE__, __LINE__, what)) {
        fprintf(stderr, "  plan %u: %.60s\n", (unsigned)plan, line);
    }
    return ok;
}

/* The normalized text of every unknown token is its piece. */
static bool unknown_pieces(const drive_tokens *t, const uint8_t *normalized, const char *value)
{
    size_t size;
    bool ok = true;
    while (ok && *value != '}') {
        size_t index = strtoul(strchr(value, '"') + 1, NULL, 10);
        const char *piece = strchr(value, ':') + 1;
        uint8_t *expected = json_hex(piece, &size);
        ok = index < t->count && t->norm_end[index] - t->norm_begin[index] == size &&
             memcmp(normalized + t->norm_begin[index], expected, size) == 0;
        free(expected);
        value = strchr(piece + 1, '"') + 1;
    }
    return ok;
}

static void check_tokens(const drive_model *m, size_t plan, const uint8_t *text, size_t size)
{
    isotok_error error;
    isotok_encode_options options = {.size = sizeof options,
                                     .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS};
    drive_tokens found;
    drive_bytes normalized;
    isotok_status status = drive_encode(m, &PLANS[plan], &options, text, size, &found, &error);
    check_line(status == ISOTOK_OK, "encode", plan);
    check_line(equal_numbers(json_value(line, "ids"), found.ids, found.count, 1, 0), "ids", plan);
    check_line(equal_numbers(json_value(line, "begin"), found.begin, found.count, 1, 0), "begin",
               plan);
    check_line(equal_numbers(json_value(line, "end"), found.end, found.count, 1, 0), "end", plan);

    status = drive_normalize(m, &PLANS[plan], ISOTOK_UNIT_BYTE, text, size, &normalized, &error);
    check_line(status == ISOTOK_OK, "normalize", plan);
    check_line(equal_hex(json_value(line, "normalized"), normalized.data, normalized.size),
               "normalized", plan);
    if (json_value(line, "map") != NULL && normalized.size > 0) {
        check_line(
            equal_numbers(json_value(line, "map"), normalized.map, normalized.size + 1, 1, 0),
            "map", plan);
    }
    if (json_value(line, "unknown") != NULL) {
        check_line(unknown_pieces(&found, normalized.data, json_value(line, "unknown")),
                   "normalized spans of unknowns", plan);
    }
    check_line(normalized_gives(m, &PLANS[plan], &normalized, &found), "encode normalized", plan);
    check_line(plan != 0 || boundaries_hold(m, &normalized, &found), "boundaries", plan);
    drive_bytes_free(&normalized);
    drive_tokens_free(&found);

    if (json_value(line, "codepoints") != NULL) {
        options.flags = ISOTOK_OFFSETS;
        options.offset_unit = ISOTOK_UNIT_CODEPOINT;
        status = drive_encode(m, &PLANS[plan], &options, text, size, &found, &error);
        check_line(status == ISOTOK_OK, "encode", plan);
        const char *spans = json_value(line, "codepoints");
        check_line(equal_numbers(spans, found.begin, found.count, 2, 0), "code points", plan);
        check_line(equal_numbers(spans, found.end, found.count, 2, 1), "code points", plan);
        drive_tokens_free(&found);
    }
}

/* Counting, and a limit at every third place: the first ids, and AT_LIMIT if there are more. */
static void check_counts(const drive_model *m, size_t plan, const uint8_t *text, size_t size)
{
    isotok_error error;
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_COUNT_ONLY};
    drive_tokens found;
    size_t count, limit;
    uint32_t *ids = json_numbers(json_value(line, "ids"), &count);
    isotok_status status = drive_encode(m, &PLANS[plan], &options, text, size, &found, &error);
    check_line(status == ISOTOK_OK && found.counted == count, "count", plan);
    for (limit = 1; limit <= count && limit < 40; limit += 3) {
        options.limit = limit;
        options.flags = 0;
        status = drive_encode(m, &PLANS[plan], &options, text, size, &found, &error);
        check_line(status == (count > limit ? ISOTOK_AT_LIMIT : ISOTOK_OK), "limit", plan);
        check_line(found.count == limit && memcmp(found.ids, ids, limit * 4) == 0, "limit", plan);
        drive_tokens_free(&found);
        options.flags = ISOTOK_COUNT_ONLY;
        status = drive_encode(m, &PLANS[plan], &options, text, size, &found, &error);
        check_line(status == (count > limit ? ISOTOK_AT_LIMIT : ISOTOK_OK), "count limit", plan);
        check_line(found.counted == limit, "count limit", plan);
    }
    free(ids);
}

static void check_decode(const drive_model *m, size_t plan)
{
    isotok_error error;
    drive_bytes found;
    size_t count;
    uint32_t *ids = json_numbers(json_value(line, "ids"), &count);
    isotok_status status = drive_decode(m, &PLANS[plan], 0, ids, count, &found, &error);
    check_line(status == ISOTOK_OK, "decode", plan);
    check_line(equal_hex(json_value(line, "decoded"), found.data, found.size), "decoded", plan);
    drive_bytes_free(&found);
    free(ids);
}

static void check_pieces(const drive_model *m, size_t plan)
{
    isotok_error error;
    drive_bytes found;
    uint8_t pieces[4096];
    size_t sizes[16], count = 0, used = 0;
    const char *value = json_value(line, "pieces");
    for (value++; *value != ']'; value += value[0] == ',') {
        uint8_t *piece = json_hex(value, &sizes[count]);
        memcpy(pieces + used, piece, sizes[count]);
        used += sizes[count++];
        free(piece);
        value = strchr(value + 1, '"') + 1;
    }
    isotok_status status =
        drive_decode_pieces(m, &PLANS[plan], pieces, sizes, count, &found, &error);
    check_line(status == ISOTOK_OK, "decode_pieces", plan);
    check_line(equal_hex(json_value(line, "decoded"), found.data, found.size), "decoded", plan);
    drive_bytes_free(&found);
}

static void check_find(const drive_model *m)
{
    size_t size;
    uint8_t *piece = json_hex(json_value(line, "piece"), &size);
    uint32_t id = isotok_piece_find(m->model, piece, size);
    if (json_value(line, "missing") != NULL) {
        check_line(id == ISOTOK_NO_TOKEN, "not found", 0);
    } else {
        check_line(id == strtoul(json_value(line, "found"), NULL, 10), "found", 0);
    }
    free(piece);
}

static void check_vector(const drive_model *m)
{
    const char *operation = json_value(line, "op");
    size_t plan, size = 0, plans = PLAN_COUNT;
    uint8_t *text = NULL;
    if (strncmp(operation, "\"find\"", 6) == 0) {
        check_find(m);
        return;
    }
    if (strncmp(operation, "\"encode\"", 8) == 0) {
        text = json_text(json_value(line, "text"), &size);
        plans = size > LONG_TEXT ? 4 : size > SHORT_TEXT ? PLAN_COUNT - 1 : PLAN_COUNT;
        check_counts(m, size > LONG_TEXT ? 0 : 4, text, size);
    }
    for (plan = 0; plan < plans; plan++) {
        if (strncmp(operation, "\"decode_pieces\"", 15) == 0) {
            check_pieces(m, plan);
        } else {
            check_decode(m, plan);
        }
        if (text != NULL) {
            check_tokens(m, plan, text, size);
        }
    }
    free(text);
}

/* ---- The file -------------------------------------------------------------------- */

static void check_model_file(void)
{
    isotok_error error = {.size = sizeof error};
    drive_model m;
    size_t size;
    uint8_t *source = json_hex(json_value(line, "model"), &size);
    bool loads = strncmp(json_value(line, "loads"), "true", 4) == 0;
    isotok_status status = drive_open_source(&m, source, size, &error);
    check_line((status == ISOTOK_OK) == loads, "loads", 0);
    drive_close(&m);
    free(source);
}

static void open_model(drive_model *m, char *name, size_t room)
{
    const char *wanted = json_value(line, "model") + 1;
    size_t size = strcspn(wanted, "\"");
    char path[256];
    if (size < room && strncmp(name, wanted, size) == 0 && name[size] == 0) {
        return;
    }
    snprintf(name, room, "%.*s", (int)size, wanted);
    snprintf(path, sizeof path, MODELS "%s.model", name);
    drive_close(m);
    memset(cache, 0, sizeof cache);
    if (!drive_open_file(m, path)) {
        exit(1);
    }
}

int main(void)
{
    size_t size, vectors = 0, files = 0;
    drive_model m = {0};
    char name[64] = "", *end, *text = (char *)drive_read(SPINE, &size);
    if (text == NULL) {
        fprintf(stderr, "%s cannot be read; run this in the project's root\n", SPINE);
        return 1;
    }
    text[size - 1] = 0; /* the last byte is a newline */
    for (char *at = text; at != NULL; at = end != NULL ? end + 1 : NULL) {
        end = strchr(at, '\n');
        if (end != NULL) {
            *end = 0;
        }
        line = at;
        if (strncmp(line, "  {\"id\":", 8) == 0) {
            open_model(&m, name, sizeof name);
            check_vector(&m);
            vectors++;
        } else if (strncmp(line, "  {\"name\":", 10) == 0) {
            check_model_file();
            files++;
        }
    }
    drive_close(&m);
    free(text);
    CHECK(vectors > 1000);
    CHECK(files > 50);
    printf("%u vectors, %u model files\n", (unsigned)vectors, (unsigned)files);
    return test_result();
}
