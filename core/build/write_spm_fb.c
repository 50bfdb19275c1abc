/* Writes an `.spm.fb`, front to back: root offset, the two tables behind their vtables, then
 * vectors and strings, to which offsets are set when they are reached. */
#include "export_spm_fb.h"
#include "isotok_build.h"
#include "spm_fb.h"

enum { ROOT_TABLE_SIZE = 4 + 4 * 14 + 4, NORMALIZER_TABLE_SIZE = 4 + 4 + 4 };

/* Bytes past `capacity` are only counted. */
typedef struct writer {
    uint8_t *out;
    size_t capacity;
    uint64_t at;
} writer;

static void store(writer *w, uint64_t at, const void *data, size_t size)
{
    if (size > 0 && at <= w->capacity && size <= w->capacity - at) {
        memcpy(w->out + at, data, size);
    }
}

static void store_u32(writer *w, uint64_t at, uint32_t value)
{
    store(w, at, &value, 4); /* little-endian, as isotok_build_init has checked */
}

static void put(writer *w, const void *data, size_t size)
{
    store(w, w->at, data, size);
    w->at += size;
}

/* Zeros until `ahead` bytes from here a multiple of `alignment` is reached. */
static void pad(writer *w, uint32_t ahead, uint32_t alignment)
{
    static const uint8_t zeros[8] = {0};
    put(w, zeros, (size_t)((0 - (w->at + ahead)) & (alignment - 1)));
}

/* ---- Tables ----------------------------------------------------------------------- */

/* A table of `fields` fields of which none is present yet, and its vtable in front. */
static uint64_t put_table(writer *w, uint32_t fields, uint32_t table_size)
{
    uint16_t vtable[2 + SPM_FB_FIELDS] = {0};
    static const uint8_t zeros[ROOT_TABLE_SIZE] = {0};
    uint32_t vtable_size = 2 * (2 + fields);
    vtable[0] = (uint16_t)vtable_size;
    vtable[1] = (uint16_t)table_size;
    pad(w, vtable_size, 4);
    put(w, vtable, vtable_size);
    put(w, zeros, table_size);
    store_u32(w, w->at - table_size, vtable_size); /* back to the vtable */
    return w->at - table_size;
}

/* Says that `field` of the table is at `inside`; returns its position. */
static uint64_t place(writer *w, uint64_t table, uint32_t fields, uint32_t field, uint32_t inside)
{
    uint16_t value = (uint16_t)inside;
    store(w, table - 2 * (2 + fields) + 2 * (2 + field), &value, 2);
    return table + inside;
}

/* Fields of four bytes lie at 4 * their number, in the order of the root's own numbers less
 * the two that are bytes, which come last. */
static uint64_t root_place(writer *w, uint64_t table, uint32_t field)
{
    uint32_t inside = 4 + 4 * (field - (field > SPM_FB_MODEL_TYPE) - (field > SPM_FB_HAS_DIRECT));
    if (field == SPM_FB_MODEL_TYPE || field == SPM_FB_HAS_DIRECT) {
        inside = ROOT_TABLE_SIZE - 4 + (field == SPM_FB_HAS_DIRECT);
    }
    return place(w, table, SPM_FB_FIELDS, field, inside);
}

/* The offset at `position` leads to here. */
static void lead_here(writer *w, uint64_t position)
{
    store_u32(w, position, (uint32_t)(w->at - position));
}

/* A vector of bytes or 32-bit numbers, its elements at a multiple of `alignment`. */
static void put_vector(writer *w, uint64_t position, const void *data, uint32_t count,
                       uint32_t element_size, uint32_t alignment)
{
    pad(w, 4, alignment);
    lead_here(w, position);
    put(w, &count, 4);
    put(w, data, (size_t)count * element_size);
}

static void put_string(writer *w, uint64_t position, isotok__span text)
{
    put_vector(w, position, text.data, (uint32_t)text.size, 1, 4);
    put(w, "", 1);
}

/* ---- The file --------------------------------------------------------------------- */

static void put_trie(writer *w, uint64_t root, uint32_t field, const isotok__darts *darts)
{
    if (darts->count > 0) {
        put_vector(w, root_place(w, root, field), darts->units, 4 * darts->count, 1, 8);
    }
}

static void put_strings(writer *w, uint64_t root, const isotok__spec *spec)
{
    uint64_t vector;
    pad(w, 0, 4);
    lead_here(w, root_place(w, root, SPM_FB_PIECES));
    put(w, &spec->vocab_size, 4);
    vector = w->at;
    w->at += 4 * (uint64_t)spec->vocab_size;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        put_string(w, vector + 4 * (uint64_t)id, isotok__piece(spec, id));
    }
}

static void put_scalars(writer *w, uint64_t root, const isotok__spm_fb *model)
{
    const isotok__spec *spec = &model->spec;
    uint8_t type = (uint8_t)spec->algorithm;
    uint8_t has_direct = model->has_direct;
    store_u32(w, root_place(w, root, SPM_FB_UNK_ID), spec->unk_id);
    store_u32(w, root_place(w, root, SPM_FB_BOS_ID), spec->bos_id);
    store_u32(w, root_place(w, root, SPM_FB_EOS_ID), spec->eos_id);
    store_u32(w, root_place(w, root, SPM_FB_PAD_ID), spec->pad_id);
    store(w, root_place(w, root, SPM_FB_MODEL_TYPE), &type, 1);
    store(w, root_place(w, root, SPM_FB_HAS_DIRECT), &has_direct, 1);
}

static void put_normalizer(writer *w, uint64_t root, const isotok__spec *spec)
{
    const uint32_t fields = SPM_FB_NORMALIZER_FIELDS;
    uint64_t table = put_table(w, fields, NORMALIZER_TABLE_SIZE);
    uint64_t field = root_place(w, root, SPM_FB_NORMALIZER);
    store_u32(w, field, (uint32_t)(table - field));
    for (uint32_t i = 0; i < 4; i++) { /* the fields are in the order of our flags */
        uint8_t flag = spec->normalizer_flags >> i & 1;
        store(w, place(w, table, fields, SPM_FB_DUMMY_PREFIX + i, 8 + i), &flag, 1);
    }
    if (spec->charsmap.size > 0) {
        put_vector(w, place(w, table, fields, SPM_FB_CHARSMAP, 4), spec->charsmap.data,
                   (uint32_t)spec->charsmap.size, 1, 8);
    }
}

static void put_pieces(writer *w, uint64_t root, const isotok__spm_fb *model)
{
    const isotok__spec *spec = &model->spec;
    uint32_t v = spec->vocab_size;
    if (spec->algorithm == ISOTOK_BPE) {
        put_vector(w, root_place(w, root, SPM_FB_INT_SCORES), model->int_scores, v, 4, 4);
    } else {
        put_vector(w, root_place(w, root, SPM_FB_SCORES), spec->scores, v, 4, 4);
    }
    put_vector(w, root_place(w, root, SPM_FB_TYPES), spec->types, v, 1, 4);
    if (model->is_direct != NULL) {
        put_vector(w, root_place(w, root, SPM_FB_IS_DIRECT), model->is_direct, v, 1, 4);
    }
    put_string(w, root_place(w, root, SPM_FB_UNK_SURFACE), spec->unk_surface);
    put_strings(w, root, spec);
}

isotok_status isotok__spm_fb_write(isotok__work *work, const isotok__spm_fb *model, uint8_t *out,
                                   size_t capacity, size_t *out_size)
{
    writer w = {out, capacity, 4};
    uint64_t root = put_table(&w, SPM_FB_FIELDS, ROOT_TABLE_SIZE);
    store_u32(&w, 0, (uint32_t)root);
    put_scalars(&w, root, model);
    put_normalizer(&w, root, &model->spec);
    put_trie(&w, root, SPM_FB_PIECES_TRIE, &model->pieces);
    put_trie(&w, root, SPM_FB_USER_TRIE, &model->user);
    put_trie(&w, root, SPM_FB_PAIRS_TRIE, &model->pairs);
    put_pieces(&w, root, model);
    pad(&w, 0, 8);
    if (w.at > ISOTOK__MAX_SOURCE) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE,
                                  model->spec.vocab_size, w.at);
    }
    *out_size = (size_t)w.at;
    return w.at <= capacity ? ISOTOK_OK : ISOTOK_NEED_OUTPUT;
}
