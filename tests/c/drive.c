/* See drive.h. */
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "make_model.h"

/* A call that neither takes nor gives anything this often in a row will never end. */
#define MOST_IDLE 8

/* ---- Models ---------------------------------------------------------------------- */

isotok_status drive_open(drive_model *m, uint8_t *blob, size_t size, uint32_t verify,
                         isotok_error *error)
{
    isotok_status status;
    memset(m, 0, sizeof *m);
    m->blob = blob;
    m->blob_size = size;
    m->memory = aligned_memory(isotok_model_size());
    error->size = sizeof *error;
    status =
        isotok_model_open(blob, size, verify, m->memory, isotok_model_size(), &m->model, error);
    if (status != ISOTOK_OK) {
        drive_close(m);
        return status;
    }
    m->info.size = sizeof m->info;
    status = isotok_model_info(m->model, &m->info);
    return status;
}

isotok_status drive_open_source(drive_model *m, const void *source, size_t size,
                                isotok_error *error)
{
    uint8_t *blob = NULL;
    size_t blob_size = 0;
    isotok_status status = build_source(source, size, ISOTOK_FORM_BLOB, &blob, &blob_size, error);
    memset(m, 0, sizeof *m);
    if (status != ISOTOK_OK) {
        free(blob);
        return status;
    }
    return drive_open(m, blob, blob_size, ISOTOK_VERIFY_FULL, error);
}

bool drive_open_file(drive_model *m, const char *path)
{
    isotok_error error = {.size = sizeof error};
    size_t size;
    uint8_t *source = drive_read(path, &size);
    isotok_status status;
    if (source == NULL) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return false;
    }
    status = drive_open_source(m, source, size, &error);
    free(source);
    if (status != ISOTOK_OK) {
        fprintf(stderr, "%s: status %d, what %u at %u\n", path, status, error.what, error.index);
    }
    return status == ISOTOK_OK;
}

void drive_close(drive_model *m)
{
    free(m->blob);
    free(m->memory);
    memset(m, 0, sizeof *m);
}

uint8_t *drive_read(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long size;
    if (file == NULL) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        data = malloc(size > 0 ? (size_t)size : 1);
        if (data != NULL && fread(data, 1, (size_t)size, file) != (size_t)size) {
            free(data);
            data = NULL;
        }
        *out_size = (size_t)size;
    }
    fclose(file);
    return data;
}

/* ---- Sessions -------------------------------------------------------------------- */

typedef struct session {
    isotok_session *session;
    void *memory;
    size_t size;
} session;

static session session_new(const drive_model *m, const drive_plan *plan)
{
    session s;
    isotok_error error = {.size = sizeof error};
    s.size = plan->small ? m->info.session_min : m->info.session_size;
    s.memory = aligned_memory(s.size);
    memset(s.memory, 0xA5, s.size);
    if (isotok_session_init(m->model, s.memory, s.size, &s.session, &error) != ISOTOK_OK) {
        fprintf(stderr, "session_init: what %u\n", error.what);
        abort();
    }
    if (plan->cache_size != 0 &&
        isotok_session_cache(s.session, plan->cache, plan->cache_size, &error) != ISOTOK_OK) {
        fprintf(stderr, "session_cache: what %u\n", error.what);
        abort();
    }
    return s;
}

static void session_free(session *s, const drive_plan *plan)
{
    isotok_cache_info info = {.size = sizeof info};
    if (plan->cache_info != NULL) {
        if (isotok_session_cache_info(s->session, &info) != ISOTOK_OK) {
            abort();
        }
        plan->cache_info->entries = info.entries;
        plan->cache_info->probes += info.probes;
        plan->cache_info->hits += info.hits;
        plan->cache_info->uncertified += info.uncertified;
        plan->cache_info->bypassed += info.bypassed;
    }
    free(s->memory);
}

static isotok_status session_grow(session *s, size_t size, isotok_error *error)
{
    void *memory = aligned_memory(size);
    isotok_status status;
    memset(memory, 0x5A, size);
    status = isotok_session_move(s->session, memory, size, &s->session, error);
    if (status == ISOTOK_OK) {
        memset(s->memory, 0xDD, s->size);
        free(s->memory);
        s->memory = memory;
        s->size = size;
    } else {
        free(memory);
    }
    return status;
}

/* After a step: moves where that was asked for. False: the status ends the operation. */
static bool goes_on(session *s, const drive_plan *plan, isotok_status *status, isotok_error *error,
                    unsigned *idle, bool progress)
{
    *idle = progress ? 0 : *idle + 1;
    if (*idle > MOST_IDLE) {
        fputs("no progress: the calls would never end\n", stderr);
        abort();
    }
    if (*status == ISOTOK_NEED_SCRATCH) {
        if (error->need <= s->size) {
            fputs("NEED_SCRATCH asks for no more than there is\n", stderr);
            abort();
        }
        *status = session_grow(s, (size_t)error->need, error);
        *idle = 0;
        return *status == ISOTOK_OK;
    }
    if (*status != ISOTOK_OK && *status != ISOTOK_NEED_OUTPUT) {
        return false;
    }
    if (plan->move) {
        *status = session_grow(s, s->size + 64, error);
        return *status == ISOTOK_OK;
    }
    return true;
}

/* ---- Results --------------------------------------------------------------------- */

static uint32_t *numbers(size_t count)
{
    return aligned_memory(count * sizeof(uint32_t));
}

static void append(uint32_t **array, size_t at, size_t room, const uint32_t *from, size_t count,
                   uint64_t base)
{
    size_t i;
    if (from == NULL) {
        return;
    }
    if (at + count > room || *array == NULL) {
        uint32_t *larger = realloc(*array, 2 * (at + count + 64) * sizeof(uint32_t));
        if (larger == NULL) {
            abort();
        }
        *array = larger;
    }
    for (i = 0; i < count; i++) {
        (*array)[at + i] = (uint32_t)(from[i] + base);
    }
}

static void take_tokens(drive_tokens *out, const isotok_output *from)
{
    size_t count = from->count;
    append(&out->ids, out->count, out->room, from->ids, count, 0);
    append(&out->begin, out->count, out->room, from->begin, count, from->base);
    append(&out->end, out->count, out->room, from->end, count, from->base);
    append(&out->norm_begin, out->count, out->room, from->norm_begin, count, from->norm_base);
    append(&out->norm_end, out->count, out->room, from->norm_end, count, from->norm_base);
    if (out->count + count > out->room) {
        out->room = 2 * (out->count + count + 64);
    }
    out->count += count;
}

static void take_bytes(drive_bytes *out, const uint8_t *data, const uint32_t *map, size_t size)
{
    if (out->data == NULL || out->size + size > out->room) {
        out->room = 2 * (out->size + size + 64);
        out->data = realloc(out->data, out->room);
        out->map = realloc(out->map, (out->room + 1) * sizeof(uint32_t));
        if (out->data == NULL || out->map == NULL) {
            abort();
        }
    }
    if (size > 0) {
        memcpy(out->data + out->size, data, size);
        if (map != NULL) {
            memcpy(out->map + out->size, map, size * sizeof(uint32_t));
        }
    }
    out->size += size;
}

void drive_tokens_free(drive_tokens *t)
{
    free(t->ids);
    free(t->begin);
    free(t->end);
    free(t->norm_begin);
    free(t->norm_end);
    memset(t, 0, sizeof *t);
}

void drive_bytes_free(drive_bytes *b)
{
    free(b->data);
    free(b->map);
    memset(b, 0, sizeof *b);
}

static bool same_numbers(const uint32_t *a, const uint32_t *b, size_t count)
{
    if (count == 0 || (a == NULL && b == NULL)) {
        return true;
    }
    return a != NULL && b != NULL && memcmp(a, b, count * sizeof *a) == 0;
}

bool drive_tokens_equal(const drive_tokens *a, const drive_tokens *b)
{
    return a->count == b->count && same_numbers(a->ids, b->ids, a->count) &&
           same_numbers(a->begin, b->begin, a->count) && same_numbers(a->end, b->end, a->count) &&
           same_numbers(a->norm_begin, b->norm_begin, a->count) &&
           same_numbers(a->norm_end, b->norm_end, a->count);
}

/* ---- Texts in parts -------------------------------------------------------------- */

/* What is presented next: the unconsumed tail of the last part and the next part. */
typedef struct parts {
    const uint8_t *text;
    size_t size, next, part, most_kept;
    uint8_t *window;
    isotok_input input;
} parts;

static void present(parts *p)
{
    size_t kept = p->input.size - p->input.consumed;
    size_t more = p->size - p->next;
    uint8_t *window;
    if (p->part != 0 && more > p->part) {
        more = p->part;
    }
    window = malloc(kept + more > 0 ? kept + more : 1);
    if (window == NULL) {
        abort();
    }
    if (kept > 0) {
        memcpy(window, p->input.text + p->input.consumed, kept);
    }
    if (more > 0) {
        memcpy(window + kept, p->text + p->next, more);
    }
    free(p->window);
    p->window = window;
    p->next += more;
    p->input = (isotok_input){window, kept + more, 0, p->next == p->size ? ISOTOK_PART_LAST : 0};
}

enum { SPECIAL_TOKENS = 15 }; /* FORMAT.md, section 3 */

static void parts_begin(parts *p, const drive_model *m, const drive_plan *plan, const uint8_t *text,
                        size_t size)
{
    memset(p, 0, sizeof *p);
    p->text = text;
    p->size = size;
    p->part = plan->part;
    p->most_kept = m->info.max_key_bytes;
    if (m->info.features >> SPECIAL_TOKENS & 1) {
        p->most_kept = SIZE_MAX; /* white space that such a token may take */
    }
    present(p);
}

/* True if there is another part, which is then presented. */
static bool next_part(parts *p)
{
    if (p->input.part & ISOTOK_PART_LAST) {
        return false;
    }
    if (p->input.size - p->input.consumed > p->most_kept) {
        fputs("a part kept more than max_key_bytes bytes\n", stderr);
        abort();
    }
    present(p);
    return true;
}

/* ---- Operations ------------------------------------------------------------------ */

static size_t capacity_of(const drive_plan *plan)
{
    return plan->capacity != 0 ? plan->capacity : 4096;
}

static isotok_output output_new(uint32_t flags, size_t capacity)
{
    isotok_output o = {.capacity = capacity};
    if (flags & ISOTOK_COUNT_ONLY) {
        o.capacity = 0;
        return o;
    }
    o.ids = numbers(capacity);
    if (flags & ISOTOK_OFFSETS) {
        o.begin = numbers(capacity);
        o.end = numbers(capacity);
    }
    if (flags & ISOTOK_NORM_SPANS) {
        o.norm_begin = numbers(capacity);
        o.norm_end = numbers(capacity);
    }
    return o;
}

static void output_free(isotok_output *o)
{
    free(o->ids);
    free(o->begin);
    free(o->end);
    free(o->norm_begin);
    free(o->norm_end);
}

isotok_status drive_encode(const drive_model *m, const drive_plan *plan,
                           const isotok_encode_options *options, const uint8_t *text, size_t size,
                           drive_tokens *out, isotok_error *error)
{
    uint32_t flags = options != NULL ? options->flags : 0;
    session s = session_new(m, plan);
    isotok_output output = output_new(flags, capacity_of(plan));
    parts p;
    unsigned idle = 0;
    isotok_status status;
    memset(out, 0, sizeof *out);
    error->size = sizeof *error;
    parts_begin(&p, m, plan, text, size);
    status = isotok_encode_begin(s.session, options, error);
    while (status == ISOTOK_OK) {
        size_t consumed = p.input.consumed;
        status = isotok_encode_step(s.session, &p.input, &output, error);
        if (status < 0) {
            break;
        }
        if (flags & ISOTOK_COUNT_ONLY) {
            out->counted += output.count;
        } else {
            take_tokens(out, &output);
        }
        bool finished = status == ISOTOK_OK && !next_part(&p);
        bool progress = output.count > 0 || p.input.consumed != consumed || status == ISOTOK_OK;
        if (finished || !goes_on(&s, plan, &status, error, &idle, progress)) {
            break;
        }
        status = ISOTOK_OK;
    }
    output_free(&output);
    free(p.window);
    session_free(&s, plan);
    return status;
}

isotok_status drive_normalize(const drive_model *m, const drive_plan *plan, uint32_t unit,
                              const uint8_t *text, size_t size, drive_bytes *out,
                              isotok_error *error)
{
    isotok_encode_options options = {.size = sizeof options, .offset_unit = unit};
    session s = session_new(m, plan);
    size_t capacity = capacity_of(plan), count = 0;
    uint8_t *data = aligned_memory(capacity);
    uint32_t *map = numbers(capacity), end = 0;
    parts p;
    unsigned idle = 0;
    isotok_status status;
    memset(out, 0, sizeof *out);
    error->size = sizeof *error;
    parts_begin(&p, m, plan, text, size);
    status = isotok_normalize_begin(s.session, &options, error);
    while (status == ISOTOK_OK) {
        size_t consumed = p.input.consumed;
        status =
            isotok_normalize_step(s.session, &p.input, data, map, capacity, &count, &end, error);
        if (status < 0) {
            break;
        }
        take_bytes(out, data, map, count);
        bool finished = status == ISOTOK_OK && !next_part(&p);
        bool progress = count > 0 || p.input.consumed != consumed || status == ISOTOK_OK;
        if (finished || !goes_on(&s, plan, &status, error, &idle, progress)) {
            break;
        }
        status = ISOTOK_OK;
    }
    if (status == ISOTOK_OK) {
        out->map[out->size] = end;
    }
    free(data);
    free(map);
    free(p.window);
    session_free(&s, plan);
    return status;
}

isotok_status drive_decode(const drive_model *m, const drive_plan *plan, uint32_t flags,
                           const uint32_t *ids, size_t count, drive_bytes *out, isotok_error *error)
{
    session s = session_new(m, plan);
    size_t capacity = capacity_of(plan), size = 0, begin = 0, consumed = 0;
    uint8_t *data = malloc(capacity);
    unsigned idle = 0;
    isotok_status status = isotok_decode_begin(s.session, flags, error);
    memset(out, 0, sizeof *out);
    error->size = sizeof *error;
    take_bytes(out, data, NULL, 0);
    while (status == ISOTOK_OK) {
        size_t before = consumed;
        size_t more = plan->part != 0 && count - begin > plan->part ? plan->part : count - begin;
        uint32_t last = begin + more == count;
        status = isotok_decode_step(s.session, ids + begin, more, &consumed, last, data, capacity,
                                    &size, error);
        if (status < 0) {
            break;
        }
        take_bytes(out, data, NULL, size);
        bool finished = status == ISOTOK_OK && last;
        bool progress = size > 0 || consumed != before || status == ISOTOK_OK;
        if (status == ISOTOK_OK) {
            begin += more;
            consumed = 0;
        }
        if (finished || !goes_on(&s, plan, &status, error, &idle, progress)) {
            break;
        }
        status = ISOTOK_OK;
    }
    free(data);
    session_free(&s, plan);
    return status;
}

isotok_status drive_decode_pieces(const drive_model *m, const drive_plan *plan,
                                  const uint8_t *pieces, const size_t *sizes, size_t count,
                                  drive_bytes *out, isotok_error *error)
{
    session s = session_new(m, plan);
    size_t capacity = capacity_of(plan), size = 0, index = 0, consumed = 0;
    uint8_t *data = malloc(capacity);
    unsigned idle = 0;
    isotok_status status = isotok_decode_begin(s.session, 0, error);
    memset(out, 0, sizeof *out);
    error->size = sizeof *error;
    take_bytes(out, data, NULL, 0);
    while (status == ISOTOK_OK) {
        size_t before = consumed, piece = index < count ? sizes[index] : 0;
        uint32_t last = index >= count; /* then nothing but the end */
        status = isotok_decode_piece(s.session, pieces, piece, &consumed, last, data, capacity,
                                     &size, error);
        if (status < 0) {
            break;
        }
        take_bytes(out, data, NULL, size);
        bool finished = status == ISOTOK_OK && last;
        bool progress = size > 0 || consumed != before || status == ISOTOK_OK;
        if (status == ISOTOK_OK) {
            pieces += piece;
            index++;
            consumed = 0;
        }
        if (finished || !goes_on(&s, plan, &status, error, &idle, progress)) {
            break;
        }
        status = ISOTOK_OK;
    }
    free(data);
    session_free(&s, plan);
    return status;
}
