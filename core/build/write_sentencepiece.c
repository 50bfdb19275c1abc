/* SentencePiece `.model`: see write_sentencepiece.h. A message that holds others is written
 * twice: first with an empty place to write to, for its size. */
#include "write_sentencepiece.h"

#include "protobuf.h"
#include "sentencepiece_fields.h"

/* Bytes past `capacity` are only counted. */
typedef struct writer {
    uint8_t *out;
    size_t capacity;
    uint64_t at;
} writer;

static void put(writer *w, const void *data, size_t size)
{
    if (size > 0 && w->at <= w->capacity && size <= w->capacity - w->at) {
        memcpy(w->out + w->at, data, size);
    }
    w->at += size;
}

static void put_varint(writer *w, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    while (value > 0x7F) {
        bytes[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    bytes[count++] = (uint8_t)value;
    put(w, bytes, count);
}

static void put_tag(writer *w, uint32_t field, uint32_t wire)
{
    put_varint(w, field << 3 | wire);
}

static void put_number(writer *w, uint32_t field, uint64_t value)
{
    put_tag(w, field, ISOTOK__PB_VARINT);
    put_varint(w, value);
}

/* An id as int32; none is -1, ten bytes. */
static void put_id(writer *w, uint32_t field, uint32_t id)
{
    put_number(w, field, id == ISOTOK_NO_TOKEN ? UINT64_MAX : id);
}

static void put_text(writer *w, uint32_t field, isotok__span text)
{
    put_tag(w, field, ISOTOK__PB_BYTES);
    put_varint(w, text.size);
    put(w, text.data, text.size);
}

/* ---- Messages --------------------------------------------------------------------- */

static void put_piece(writer *w, const isotok__spec *spec, uint32_t id)
{
    put_text(w, PIECE_TEXT, isotok__piece(spec, id));
    put_tag(w, PIECE_SCORE, ISOTOK__PB_FIXED32);
    put(w, &spec->scores[id], 4);
    if (spec->types[id] != ISOTOK_NORMAL) {
        put_number(w, PIECE_TYPE, spec->types[id]);
    }
}

/* Whether a CONTROL piece has this text: then it names an id. */
static bool is_control(const isotok__spec *spec, isotok__span text)
{
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        if (spec->types[id] == ISOTOK_CONTROL && piece.size == text.size &&
            memcmp(piece.data, text.data, text.size) == 0) {
            return true;
        }
    }
    return false;
}

/* SentencePiece finds BOS, EOS and PAD by the text of a CONTROL piece. A model without one gets
 * the usual text, or if that would name a piece, one that is never CONTROL: that of the
 * UNKNOWN piece or, where bytes take its place, of a byte. */
static isotok__span text_for(const isotok__spec *spec, uint32_t id, const char *usual, size_t size)
{
    isotok__span text = {(const uint8_t *)usual, size};
    if (id != ISOTOK_NO_TOKEN) {
        return isotok__piece(spec, id);
    }
    if (!is_control(spec, text)) {
        return text;
    }
    if (spec->unk_id != ISOTOK_NO_TOKEN) {
        return isotok__piece(spec, spec->unk_id);
    }
    return (isotok__span){(const uint8_t *)"<0x00>", 6};
}

static void put_trainer(writer *w, const isotok__spec *spec)
{
    put_number(w, TRAINER_MODEL_TYPE, spec->algorithm);
    put_number(w, TRAINER_VOCAB_SIZE, spec->vocab_size);
    if (spec->normalizer_flags & ISOTOK__NORM_SUFFIX) {
        put_number(w, TRAINER_SUFFIX, 1);
    }
    if (spec->byte_fallback) {
        put_number(w, TRAINER_BYTE_FALLBACK, 1);
    }
    put_id(w, TRAINER_UNK_ID, spec->unk_id);
    put_id(w, TRAINER_BOS_ID, spec->bos_id);
    put_id(w, TRAINER_EOS_ID, spec->eos_id);
    put_id(w, TRAINER_PAD_ID, spec->pad_id);
    put_text(w, TRAINER_UNK_SURFACE, spec->unk_surface);
    if (spec->unk_id != ISOTOK_NO_TOKEN) {
        put_text(w, TRAINER_UNK, isotok__piece(spec, spec->unk_id));
    }
    put_text(w, TRAINER_BOS, text_for(spec, spec->bos_id, "<s>", 3));
    put_text(w, TRAINER_EOS, text_for(spec, spec->eos_id, "</s>", 4));
    put_text(w, TRAINER_PAD, text_for(spec, spec->pad_id, "<pad>", 5));
}

static void put_normalizer(writer *w, uint32_t flags, isotok__span charsmap)
{
    if (charsmap.size > 0) {
        put_text(w, NORMALIZER_CHARSMAP, charsmap);
    }
    for (uint32_t i = 0; i < 3; i++) { /* the fields are in the order of our flags */
        put_number(w, NORMALIZER_DUMMY_PREFIX + i, flags >> i & 1);
    }
}

/* Field `number` of the model; `id` of MODEL_PIECES. */
static void put_message(writer *w, const isotok__spec *spec, uint32_t number, uint32_t id)
{
    switch (number) {
    case MODEL_PIECES: put_piece(w, spec, id); break;
    case MODEL_TRAINER: put_trainer(w, spec); break;
    case MODEL_NORMALIZER: put_normalizer(w, spec->normalizer_flags, spec->charsmap); break;
    default: put_normalizer(w, spec->denormalizer_flags, spec->denormalizer_charsmap); break;
    }
}

static void put_field(writer *w, const isotok__spec *spec, uint32_t number, uint32_t id)
{
    writer size = {NULL, 0, 0};
    put_message(&size, spec, number, id);
    put_tag(w, number, ISOTOK__PB_BYTES);
    put_varint(w, size.at);
    put_message(w, spec, number, id);
}

isotok_status isotok__sentencepiece_write(isotok__work *work, const isotok__spec *spec,
                                          uint8_t *out, size_t capacity, size_t *out_size)
{
    writer w = {out, capacity, 0};
    if (spec->denormalizer_flags & ISOTOK__NORM_SUFFIX && spec->denormalizer_charsmap.size > 0) {
        return isotok__build_fail(work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_EXPORT_PARITY,
                                  ISOTOK__NO_INDEX, 0); /* the file has one flag, for both */
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        put_field(&w, spec, MODEL_PIECES, id);
    }
    put_field(&w, spec, MODEL_TRAINER, 0);
    put_field(&w, spec, MODEL_NORMALIZER, 0);
    if (spec->denormalizer_charsmap.size > 0) {
        put_field(&w, spec, MODEL_DENORMALIZER, 0);
    }
    if (w.at > ISOTOK__MAX_SOURCE) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE,
                                  spec->vocab_size, w.at);
    }
    *out_size = (size_t)w.at;
    return w.at <= capacity ? ISOTOK_OK : ISOTOK_NEED_OUTPUT;
}
