/* Google's `.spm.fb` -> ModelSpec. Only what the `.model` had is read: the tries and marks for
 * SentencePiece Lite are ignored and made again. What the file cannot say is as in a `.model`
 * that does not say it; byte_fallback is on where there are BYTE pieces. */
#include "flatbuffer.h"
#include "spec.h"
#include "spm_fb.h"

typedef struct reader {
    isotok__work *work;
    isotok__spec *spec;
    isotok__fb fb;
    isotok__fb_vector pieces;
} reader;

/* `index`: the field, or the piece. */
static isotok_status damaged(const reader *r, uint32_t index, uint64_t at)
{
    return isotok__build_fail(r->work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_SPM_FB, index,
                              at < r->fb.size ? at : r->fb.size);
}

bool isotok__is_spm_fb(isotok__span source)
{
    isotok__fb fb;
    uint64_t pieces;
    /* no field of a ModelProto begins with a byte that is a multiple of four */
    return source.size >= 8 && source.data[0] % 4 == 0 &&
           isotok__fb_table(source.data, source.size, 0, &fb) && fb.vtable_size % 2 == 0 &&
           isotok__fb_field(&fb, SPM_FB_PIECES, 4, &pieces) && pieces != 0;
}

/* ---- Scalars --------------------------------------------------------------------- */

static isotok_status read_int(const reader *r, uint32_t field, uint32_t *value)
{
    uint64_t at;
    if (!isotok__fb_field(&r->fb, field, 4, &at)) {
        return damaged(r, field, r->fb.vtable);
    }
    if (at != 0) {
        *value = isotok__load_u32(r->fb.base + at);
    }
    return ISOTOK_OK;
}

/* A byte of any table of the file. */
static isotok_status read_byte(const reader *r, const isotok__fb *fb, uint32_t field,
                               uint32_t *value)
{
    uint64_t at;
    if (!isotok__fb_field(fb, field, 1, &at)) {
        return damaged(r, field, fb->vtable);
    }
    if (at != 0) {
        *value = fb->base[at];
    }
    return ISOTOK_OK;
}

static isotok_status take_ids(const reader *r)
{
    isotok__spec *spec = r->spec;
    isotok_status status = read_int(r, SPM_FB_BOS_ID, &spec->bos_id);
    if (status == ISOTOK_OK) {
        status = read_int(r, SPM_FB_EOS_ID, &spec->eos_id);
    }
    if (status == ISOTOK_OK) {
        status = read_int(r, SPM_FB_PAD_ID, &spec->pad_id);
    }
    spec->ids_given = true; /* -1 is ISOTOK_NO_TOKEN */
    return status;
}

/* ---- Normalizer ------------------------------------------------------------------ */

static isotok_status take_flags(const reader *r, const isotok__fb *fb)
{
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t flag = 1u << i; /* the fields are in the order of our flags */
        uint32_t value = flag != ISOTOK__NORM_SUFFIX;
        isotok_status status = read_byte(r, fb, SPM_FB_DUMMY_PREFIX + i, &value);
        if (status != ISOTOK_OK) {
            return status;
        }
        r->spec->normalizer_flags &= ~flag;
        r->spec->normalizer_flags |= value != 0 ? flag : 0;
    }
    return ISOTOK_OK;
}

static isotok_status take_normalizer(const reader *r)
{
    isotok__fb fb;
    isotok__fb_vector charsmap;
    uint64_t at;
    if (!isotok__fb_field(&r->fb, SPM_FB_NORMALIZER, 4, &at)) {
        return damaged(r, SPM_FB_NORMALIZER, r->fb.vtable);
    }
    if (at == 0) {
        return ISOTOK_OK;
    }
    if (!isotok__fb_table(r->fb.base, r->fb.size, at, &fb)) {
        return damaged(r, SPM_FB_NORMALIZER, at);
    }
    if (!isotok__fb_read(&fb, SPM_FB_CHARSMAP, 1, &charsmap)) {
        return damaged(r, SPM_FB_NORMALIZER, fb.vtable);
    }
    r->spec->charsmap = (isotok__span){charsmap.data, charsmap.count};
    r->spec->charsmap_at = charsmap.at;
    return take_flags(r, &fb);
}

/* ---- Pieces ---------------------------------------------------------------------- */

/* Piece `id`. */
static bool read_piece(const reader *r, uint32_t id, isotok__fb_vector *out)
{
    return isotok__fb_follow(&r->fb, r->pieces.at + 4 * (uint64_t)id, 1, out);
}

/* Bytes of all pieces. Strings that share bytes could be more than the file holds: nobody
 * writes that, and it would take memory out of proportion. */
static isotok_status measure(const reader *r, uint64_t *out_size)
{
    isotok__fb_vector piece;
    *out_size = 0;
    for (uint32_t id = 0; id < r->pieces.count; id++) {
        if (!read_piece(r, id, &piece)) {
            return damaged(r, id, r->pieces.at + 4 * (uint64_t)id);
        }
        *out_size += piece.count;
        if (*out_size > r->fb.size) {
            return damaged(r, id, piece.at);
        }
    }
    return ISOTOK_OK;
}

static isotok_status take_pieces(const reader *r)
{
    isotok__work *work = r->work;
    isotok__spec *spec = r->spec;
    size_t v = r->pieces.count;
    uint64_t size;
    isotok_status status = measure(r, &size);
    if (status != ISOTOK_OK) {
        return status;
    }
    uint8_t *text = ISOTOK__KEEP(work, uint8_t, (size_t)size + 1);
    uint32_t *piece_at = ISOTOK__KEEP(work, uint32_t, v);
    spec->piece_ends = ISOTOK__KEEP(work, uint32_t, v);
    spec->scores = ISOTOK__KEEP(work, float, v);
    spec->types = ISOTOK__KEEP(work, uint8_t, v);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    uint32_t end = 0;
    for (uint32_t id = 0; id < v; id++) {
        isotok__fb_vector piece;
        read_piece(r, id, &piece);
        memcpy(text + end, piece.data, piece.count);
        end += piece.count;
        spec->piece_ends[id] = end;
        piece_at[id] = (uint32_t)piece.at;
    }
    spec->piece_text = text;
    spec->piece_at = piece_at;
    spec->vocab_size = (uint32_t)v;
    return ISOTOK_OK;
}

static isotok_status take_types(const reader *r)
{
    isotok__spec *spec = r->spec;
    isotok__fb_vector types;
    if (!isotok__fb_read(&r->fb, SPM_FB_TYPES, 1, &types) || types.count != spec->vocab_size) {
        return damaged(r, SPM_FB_TYPES, r->fb.vtable);
    }
    memcpy(spec->types, types.data, spec->vocab_size);
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        spec->byte_fallback |= spec->types[id] == ISOTOK_BYTE;
    }
    return ISOTOK_OK;
}

/* A score of bpe is a whole number: no other is in a `.model` that float32 would round. */
static isotok_status take_scores(const reader *r)
{
    isotok__spec *spec = r->spec;
    bool bpe = spec->algorithm == ISOTOK_BPE;
    uint32_t field = bpe ? SPM_FB_INT_SCORES : SPM_FB_SCORES;
    isotok__fb_vector scores;
    if (!isotok__fb_read(&r->fb, field, 4, &scores) || scores.count != spec->vocab_size) {
        return damaged(r, field, r->fb.vtable);
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        uint32_t bits = isotok__load_u32(scores.data + 4 * (size_t)id);
        if (bpe) {
            spec->scores[id] = (float)(int32_t)bits;
            if ((double)spec->scores[id] != (double)(int32_t)bits) {
                return damaged(r, id, scores.at + 4 * (uint64_t)id);
            }
        } else {
            memcpy(&spec->scores[id], &bits, 4);
        }
    }
    return ISOTOK_OK;
}

static isotok_status take_surface(const reader *r)
{
    isotok__fb_vector surface;
    if (!isotok__fb_read(&r->fb, SPM_FB_UNK_SURFACE, 1, &surface)) {
        return damaged(r, SPM_FB_UNK_SURFACE, r->fb.vtable);
    }
    if (surface.at != 0) {
        r->spec->unk_surface = (isotok__span){surface.data, surface.count};
    }
    return ISOTOK_OK;
}

isotok_status isotok__read_spm_fb(isotok__work *work, isotok__spec *spec, isotok__span source)
{
    reader r = {0};
    isotok_status status;
    r.work = work;
    r.spec = spec;
    r.fb.size = source.size;
    if (source.size > ISOTOK__MAX_SOURCE) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_SPM_FB, ISOTOK__NO_INDEX,
                                  0);
    }
    if (!isotok__fb_table(source.data, source.size, 0, &r.fb)) {
        return damaged(&r, ISOTOK__NO_INDEX, 0);
    }
    if (!isotok__fb_read(&r.fb, SPM_FB_PIECES, 4, &r.pieces) || r.pieces.count == 0) {
        return damaged(&r, SPM_FB_PIECES, r.fb.vtable);
    }
    if (r.pieces.count > ISOTOK__MAX_VOCAB) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE, r.pieces.count,
                                  0);
    }
    status = read_byte(&r, &r.fb, SPM_FB_MODEL_TYPE, &spec->algorithm);
    if (status == ISOTOK_OK) {
        status = take_pieces(&r);
    }
    if (status == ISOTOK_OK) {
        status = take_types(&r);
    }
    if (status == ISOTOK_OK) {
        status = take_scores(&r);
    }
    if (status == ISOTOK_OK) {
        status = take_ids(&r);
    }
    if (status == ISOTOK_OK) {
        status = take_surface(&r);
    }
    return status == ISOTOK_OK ? take_normalizer(&r) : status;
}
