/* The golden vectors of sentencepiece 0.2.1 through the C interface: those of spine.json, where
 * sentencepiece_0_2_1.json has no others. Runs from the project's root; also in an emulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "json_lines.h"
#include "make_model.h"

#define VECTORS "tests/vectors/"
#define MOST_LINES 8192

/* Lines of a file, each ended by NUL. */
struct lines {
    char *text;
    char *line[MOST_LINES];
    size_t count;
};

static struct lines spine, golden;
static _Alignas(64) uint8_t cache[1 << 16];

static const drive_plan PLANS[] = {
    {0},
    {.cache = cache, .cache_size = sizeof cache},
    {.capacity = 33, .small = true},
    {.capacity = 1, .part = 1, .small = true, .move = true},
};
#define LONG_TEXT 1500 /* not the last plan */

static bool read_lines(const char *path, struct lines *out)
{
    size_t size;
    char *at;
    out->text = (char *)drive_read(path, &size);
    if (out->text == NULL) {
        fprintf(stderr, "%s cannot be read; run this in the project's root\n", path);
        return false;
    }
    out->text[size - 1] = 0; /* the last byte is a newline */
    for (at = out->text; at != NULL && out->count < MOST_LINES;) {
        char *end = strchr(at, '\n');
        out->line[out->count++] = at;
        if (end != NULL) {
            *end++ = 0;
        }
        at = end;
    }
    return out->count < MOST_LINES;
}

/* The value of a line of the golden file that begins with this name, or NULL. */
static const char *row_of(const char *name, size_t size)
{
    for (size_t i = 0; i < golden.count; i++) {
        const char *line = golden.line[i];
        if (strncmp(line, "  \"", 3) == 0 && strncmp(line + 3, name, size) == 0 &&
            strncmp(line + 3 + size, "\": ", 3) == 0) {
            return line + size + 6;
        }
    }
    return NULL;
}

/* The value of a key in the row, else in the vector. */
static const char *expected(const char *vector, const char *row, const char *key)
{
    const char *found = row != NULL ? json_value(row, key) : NULL;
    return found != NULL ? found : json_value(vector, key);
}

static void check_encode(const drive_model *m, const char *vector, const char *row)
{
    isotok_encode_options options = {.size = sizeof options};
    isotok_error error;
    size_t size, count;
    uint8_t *text = json_text(json_value(vector, "text"), &size);
    uint32_t *ids = json_numbers(expected(vector, row, "ids"), &count);
    for (size_t plan = 0; plan < sizeof PLANS / sizeof *PLANS - (size > LONG_TEXT); plan++) {
        drive_tokens found;
        CHECK(drive_encode(m, &PLANS[plan], &options, text, size, &found, &error) == ISOTOK_OK);
        if (!CHECK(found.count == count && memcmp(found.ids, ids, count * sizeof *ids) == 0)) {
            fprintf(stderr, "  plan %u: %.60s\n", (unsigned)plan, vector);
        }
        drive_tokens_free(&found);
    }
    free(ids);
    free(text);
}

static void check_decode(const drive_model *m, const char *vector, const char *row)
{
    const char *value = expected(vector, row, "decoded");
    isotok_error error;
    drive_bytes found;
    size_t count, size;
    uint32_t *ids;
    uint8_t *text;
    if (*value != '"') { /* too long to be spelled out */
        return;
    }
    ids = json_numbers(json_value(vector, "ids"), &count);
    text = json_hex(value, &size);
    CHECK(drive_decode(m, &PLANS[0], 0, ids, count, &found, &error) == ISOTOK_OK);
    if (!CHECK(found.size == size && memcmp(found.data, text, size) == 0)) {
        fprintf(stderr, "  decode: %.60s\n", vector);
    }
    drive_bytes_free(&found);
    free(text);
    free(ids);
}

static bool open_model(drive_model *m, const char *name, size_t size)
{
    isotok_error error = {.size = sizeof error};
    size_t source_size, blob_size;
    uint8_t *source, *blob = NULL;
    char path[256];
    isotok_status status;
    snprintf(path, sizeof path, VECTORS "models/%.*s.model", (int)size, name);
    drive_close(m);
    memset(cache, 0, sizeof cache);
    source = drive_read(path, &source_size);
    if (source == NULL) {
        return false;
    }
    status = build_source_as(ISOTOK_SOURCE_AUTO | ISOTOK_SOURCE_0_2_1, source, source_size,
                             ISOTOK_FORM_BLOB, &blob, &blob_size, &error);
    free(source);
    return status == ISOTOK_OK &&
           drive_open(m, blob, blob_size, ISOTOK_VERIFY_FULL, &error) == ISOTOK_OK;
}

int main(void)
{
    drive_model m = {0};
    const char *name = "";
    size_t name_size = 0, vectors = 0, other = 0;
    if (!read_lines(VECTORS "spine.json", &spine) ||
        !read_lines(VECTORS "sentencepiece_0_2_1.json", &golden)) {
        return 1;
    }
    for (size_t i = 0; i < spine.count; i++) {
        const char *vector = spine.line[i], *operation = json_value(vector, "op");
        const char *id = vector + strlen("  {\"id\":\""), *row, *model;
        if (operation == NULL || strncmp(vector, "  {\"id\":", 8) != 0) {
            continue;
        }
        model = json_value(vector, "model") + 1;
        if (row_of(model, strcspn(model, "\"")) != NULL) { /* left out or refused */
            continue;
        }
        if (name_size != strcspn(model, "\"") || strncmp(name, model, name_size) != 0) {
            name = model;
            name_size = strcspn(model, "\"");
            if (!CHECK(open_model(&m, name, name_size))) {
                break;
            }
        }
        row = row_of(id, strcspn(id, "\""));
        if (strncmp(operation, "\"encode\"", 8) == 0) {
            check_encode(&m, vector, row);
        }
        if (strncmp(operation, "\"encode\"", 8) == 0 || strncmp(operation, "\"decode\"", 8) == 0) {
            check_decode(&m, vector, row);
        }
        vectors++;
        other += row != NULL;
    }
    drive_close(&m);
    free(spine.text);
    free(golden.text);
    CHECK(vectors > 1000);
    CHECK(other > 50);
    printf("%u vectors, %u of them not as today\n", (unsigned)vectors, (unsigned)other);
    return test_result();
}
