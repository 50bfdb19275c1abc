/* See check_normalized.h. */
#include "check_normalized.h"

#include <stdlib.h>
#include <string.h>

#include "make_model.h"

static uint32_t type_of(const drive_model *m, uint32_t id)
{
    isotok_piece piece = {0};
    isotok_piece_get(m->model, id, &piece);
    return piece.type;
}

/* One text that is normalized already. */
static isotok_status encode(const drive_model *m, const drive_plan *plan, const uint8_t *text,
                            size_t size, drive_tokens *out)
{
    isotok_error error;
    isotok_encode_options options = {
        .size = sizeof options, .flags = ISOTOK_NORMALIZED | ISOTOK_OFFSETS | ISOTOK_NORM_SPANS};
    return drive_encode(m, plan, &options, text, size, out, &error);
}

bool normalized_gives(const drive_model *m, const drive_plan *plan, const drive_bytes *normalized,
                      const drive_tokens *expected)
{
    drive_tokens found;
    isotok_status status = encode(m, plan, normalized->data, normalized->size, &found);
    bool ok = status == ISOTOK_OK && found.count == expected->count;
    for (size_t i = 0; ok && i < found.count; i++) {
        ok = found.ids[i] == expected->ids[i] && found.norm_begin[i] == expected->norm_begin[i] &&
             found.norm_end[i] == expected->norm_end[i];
        if (ok && type_of(m, found.ids[i]) != ISOTOK_BYTE) {
            ok = found.begin[i] == found.norm_begin[i] && found.end[i] == found.norm_end[i];
        }
    }
    drive_tokens_free(&found);
    return ok;
}

/* All boundaries, `capacity` at a time; NULL on an error. */
static uint32_t *boundaries(const drive_model *m, const drive_bytes *text, size_t capacity,
                            size_t *out_count)
{
    isotok_error error = {.size = sizeof error};
    uint32_t *all = malloc((text->size + 1) * sizeof *all);
    uint32_t *some = malloc(capacity * sizeof *some);
    size_t position = 0, count = 0, i;
    isotok_status status = ISOTOK_NEED_OUTPUT;
    *out_count = 0;
    while (status == ISOTOK_NEED_OUTPUT) {
        status = isotok_boundaries(m->model, text->data, text->size, &position, some, capacity,
                                   &count, &error);
        for (i = 0; i < count && *out_count < text->size; i++) {
            all[(*out_count)++] = some[i];
        }
    }
    free(some);
    if (status != ISOTOK_OK) {
        free(all);
        return NULL;
    }
    return all;
}

static bool ascend_to(const uint32_t *ends, size_t count, size_t size)
{
    uint32_t before = 0;
    for (size_t i = 0; i < count; before = ends[i++]) {
        if (ends[i] <= before) {
            return false;
        }
    }
    return before == size;
}

static bool nothing_spans(const drive_model *m, const uint32_t *ends, size_t count,
                          const drive_tokens *t)
{
    size_t next = 0;
    for (size_t i = 0; i < t->count; i++) {
        while (next < count && ends[next] <= t->norm_begin[i]) {
            next++;
        }
        if (next < count && ends[next] < t->norm_end[i] && t->ids[i] != m->info.unk) {
            return false;
        }
    }
    return true;
}

static bool chunks_give(const drive_model *m, const drive_bytes *text, const uint32_t *ends,
                        size_t count, const drive_tokens *expected)
{
    const drive_plan plan = {0};
    size_t done = 0, begin = 0;
    for (size_t i = 0; i < count; begin = ends[i++]) {
        drive_tokens found;
        bool ok = encode(m, &plan, text->data + begin, ends[i] - begin, &found) == ISOTOK_OK;
        for (size_t k = 0; ok && k < found.count; k++) {
            if (k == 0 && done > 0 && found.ids[0] == m->info.unk &&
                expected->ids[done - 1] == m->info.unk) {
                continue; /* a run of unknowns is one token */
            }
            ok = done < expected->count && found.ids[k] == expected->ids[done];
            done++;
        }
        drive_tokens_free(&found);
        if (!ok) {
            return false;
        }
    }
    return done == expected->count;
}

bool boundaries_hold(const drive_model *m, const drive_bytes *text, const drive_tokens *expected)
{
    size_t count, fewer, capacity;
    uint32_t *ends = boundaries(m, text, text->size + 1, &count);
    bool ok = ends != NULL && ascend_to(ends, count, text->size) &&
              nothing_spans(m, ends, count, expected);
    for (capacity = 1; ok && capacity < 9; capacity += 3) {
        uint32_t *again = boundaries(m, text, capacity, &fewer);
        ok = again != NULL && fewer == count &&
             (count == 0 || memcmp(ends, again, count * sizeof *ends) == 0);
        free(again);
    }
    if (ok && m->info.algorithm != ISOTOK_UNIGRAM) {
        ok = chunks_give(m, text, ends, count, expected);
    }
    free(ends);
    return ok;
}
