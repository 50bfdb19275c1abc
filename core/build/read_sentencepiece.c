/* SentencePiece `.model` (a serialized ModelProto, proto2) -> ModelSpec.
 *
 * Two walks: the first counts pieces and their text and proves the file well-formed, the
 * second fills the arrays. As in proto2, the last value of a field wins, a message that
 * occurs twice is merged, an unknown field or an unknown enum value is skipped, and a
 * field with another wire type than its own is unknown.
 *
 * SentencePiece 0.2.3 loads, and the compiler refuses, only what a blob cannot hold:
 *   - a charsmap with a cycle of units, or a key of more than 8,000 bytes;
 *   - a charsmap text of more than 4,096 bytes (escaped spaces count three);
 *   - more than 16,776,960 pieces or trie slots, or 2 GiB of blob. */
#include "protobuf.h"
#include "sentencepiece_fields.h"
#include "spec.h"

typedef struct piece {
    isotok__span text;
    float score;
    uint8_t type;
} piece;

typedef struct reader {
    isotok__work *work;
    isotok__spec *spec;
    const uint8_t *origin; /* of the source, for positions */
    uint32_t count;        /* pieces so far */
    uint64_t text_size;    /* their bytes */
    uint8_t *text;         /* second walk: where pieces go; NULL in the first */
    uint32_t *piece_at;
} reader;

static isotok_status malformed(const reader *r, const uint8_t *at)
{
    return isotok__build_fail(r->work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_PROTOBUF, ISOTOK__NO_INDEX,
                              (uint64_t)(at - r->origin));
}

/* Message of a BYTES field, one level deeper; false if it is nested too deep. */
static isotok_status read_piece(const reader *r, isotok__pb pb, piece *out)
{
    isotok__pb_field field;
    int got;
    *out = (piece){{pb.at, 0}, 0.0f, ISOTOK_NORMAL};
    while ((got = isotok__pb_next(&pb, &field)) > 0) {
        if (field.number == PIECE_TEXT && field.wire == ISOTOK__PB_BYTES) {
            out->text = (isotok__span){field.data, field.size};
        } else if (field.number == PIECE_SCORE && field.wire == ISOTOK__PB_FIXED32) {
            uint32_t bits = (uint32_t)field.value;
            memcpy(&out->score, &bits, 4);
        } else if (field.number == PIECE_TYPE && field.wire == ISOTOK__PB_VARINT) {
            uint32_t type = (uint32_t)field.value;
            if (type >= ISOTOK_NORMAL && type <= ISOTOK_BYTE) {
                out->type = (uint8_t)type;
            }
        }
    }
    return got == 0 ? ISOTOK_OK : malformed(r, pb.at);
}

static isotok_status take_piece(reader *r, isotok__pb pb)
{
    piece p;
    isotok_status status = read_piece(r, pb, &p);
    if (status != ISOTOK_OK) {
        return status;
    }
    if (r->text != NULL) {
        memcpy(r->text + r->text_size, p.text.data, p.text.size);
        r->spec->piece_ends[r->count] = (uint32_t)(r->text_size + p.text.size);
        r->spec->scores[r->count] = p.score;
        r->spec->types[r->count] = p.type;
        r->piece_at[r->count] = (uint32_t)(p.text.data - r->origin);
    }
    r->text_size += p.text.size;
    r->count++;
    return ISOTOK_OK;
}

static void set_flag(uint32_t *flags, uint32_t flag, uint64_t value)
{
    *flags = value != 0 ? *flags | flag : *flags & ~flag;
}

static void take_trainer_text(isotok__spec *spec, const isotok__pb_field *field)
{
    isotok__span text = {field->data, field->size};
    switch (field->number) {
    case TRAINER_UNK_SURFACE: spec->unk_surface = text; break;
    case TRAINER_BOS: spec->bos_piece = text; break;
    case TRAINER_EOS: spec->eos_piece = text; break;
    case TRAINER_PAD: spec->pad_piece = text; break;
    default: break;
    }
}

static void take_trainer_number(isotok__spec *spec, const isotok__pb_field *field)
{
    uint32_t number = (uint32_t)field->value;
    if (field->number == TRAINER_MODEL_TYPE && number >= ISOTOK_UNIGRAM && number <= ISOTOK_CHAR) {
        spec->algorithm = number;
    } else if (field->number == TRAINER_SUFFIX) {
        set_flag(&spec->normalizer_flags, ISOTOK__NORM_SUFFIX, field->value);
    } else if (field->number == TRAINER_BYTE_FALLBACK) {
        spec->byte_fallback = field->value != 0;
    }
}

static isotok_status take_trainer(const reader *r, isotok__pb pb)
{
    isotok__pb_field field;
    int got;
    while ((got = isotok__pb_next(&pb, &field)) > 0) {
        if (field.wire == ISOTOK__PB_BYTES) {
            take_trainer_text(r->spec, &field);
        } else if (field.wire == ISOTOK__PB_VARINT) {
            take_trainer_number(r->spec, &field);
        }
    }
    return got == 0 ? ISOTOK_OK : malformed(r, pb.at);
}

static isotok_status take_normalizer(const reader *r, isotok__pb pb, uint32_t *flags,
                                     isotok__span *charsmap, uint64_t *charsmap_at)
{
    isotok__pb_field field;
    int got;
    while ((got = isotok__pb_next(&pb, &field)) > 0) {
        if (field.number == NORMALIZER_CHARSMAP && field.wire == ISOTOK__PB_BYTES) {
            *charsmap = (isotok__span){field.data, field.size};
            *charsmap_at = (uint64_t)(field.data - r->origin);
        } else if (field.wire == ISOTOK__PB_VARINT && field.number >= NORMALIZER_DUMMY_PREFIX &&
                   field.number <= NORMALIZER_ESCAPE) {
            set_flag(flags, 1u << (field.number - NORMALIZER_DUMMY_PREFIX), field.value);
        }
    }
    return got == 0 ? ISOTOK_OK : malformed(r, pb.at);
}

static isotok_status take_field(reader *r, const isotok__pb *pb, const isotok__pb_field *field)
{
    isotok__spec *spec = r->spec;
    isotok__pb inner;
    if (field->wire != ISOTOK__PB_BYTES) {
        return ISOTOK_OK;
    }
    inner = isotok__pb_inside(pb, field);
    switch (field->number) {
    case MODEL_PIECES: return take_piece(r, inner);
    case MODEL_TRAINER: return take_trainer(r, inner);
    case MODEL_NORMALIZER:
        return take_normalizer(r, inner, &spec->normalizer_flags, &spec->charsmap,
                               &spec->charsmap_at);
    case MODEL_DENORMALIZER:
        return take_normalizer(r, inner, &spec->denormalizer_flags, &spec->denormalizer_charsmap,
                               &spec->denormalizer_at);
    default: return ISOTOK_OK;
    }
}

static isotok_status walk(reader *r, isotok__span source)
{
    isotok__pb pb = {source.data, source.data + source.size, ISOTOK__PB_DEPTH};
    isotok__pb_field field;
    int got;
    r->count = 0;
    r->text_size = 0;
    while ((got = isotok__pb_next(&pb, &field)) > 0) {
        isotok_status status = take_field(r, &pb, &field);
        if (status != ISOTOK_OK) {
            return status;
        }
    }
    return got == 0 ? ISOTOK_OK : malformed(r, pb.at);
}

static isotok_status allocate(reader *r)
{
    isotok__work *work = r->work;
    isotok__spec *spec = r->spec;
    r->text = ISOTOK__KEEP(work, uint8_t, (size_t)r->text_size + 1);
    spec->piece_ends = ISOTOK__KEEP(work, uint32_t, r->count);
    spec->scores = ISOTOK__KEEP(work, float, r->count);
    spec->types = ISOTOK__KEEP(work, uint8_t, r->count);
    r->piece_at = ISOTOK__KEEP(work, uint32_t, r->count);
    spec->piece_text = r->text;
    spec->piece_at = r->piece_at;
    spec->vocab_size = r->count;
    return work->error.status;
}

isotok_status isotok__read_sentencepiece(isotok__work *work, isotok__spec *spec,
                                         isotok__span source)
{
    reader r = {0};
    r.work = work;
    r.spec = spec;
    r.origin = source.data;
    if (source.size > ISOTOK__MAX_SOURCE) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_PROTOBUF, ISOTOK__NO_INDEX,
                                  0);
    }
    isotok_status status = walk(&r, source);
    if (status != ISOTOK_OK) {
        return status;
    }
    if (r.count > ISOTOK__MAX_VOCAB) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE, r.count, 0);
    }
    status = allocate(&r);
    return status == ISOTOK_OK ? walk(&r, source) : status;
}
