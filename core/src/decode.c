/* L4: ids (or pieces) back to text.
 *
 * ALGORITHM   Runs of byte pieces become characters as soon as they are complete, U+FFFD for
 *             each byte that is none; pieces deliver their text with U+2581 as a space; the
 *             first pieces lose their leading U+2581 as the normalizer flags say. A
 *             denormalizer, where the model has one, reads what comes out of that.
 *             Models from tokenizer.json say in flags what their decoder does instead.
 * SOURCE      `SentencePieceProcessor::Decode` of sentencepiece 0.2.3; the decoders Metaspace,
 *             Replace, ByteFallback, Strip and WordPiece of tokenizers 0.23. */
#include "options.h"
#include "utf8.h"
#include "vector.h"

static const uint8_t replacement[3] = {0xEF, 0xBF, 0xBD};

/* Where decoded bytes go: the caller's array, or the text in front of the denormalizer. */
struct sink {
    uint8_t *out;
    size_t capacity, count;
};

isotok_status isotok_decode_begin(isotok_session *s, uint32_t flags, isotok_error *error)
{
    isotok_status status = isotok__begin(s, NULL, 0, error);
    if (status != ISOTOK_OK) return status;
    if ((flags & ~(uint32_t)(ISOTOK_RAW_BYTES | ISOTOK_SKIP_SPECIAL | ISOTOK_KEEP_SPECIAL)) != 0)
        return isotok__argument(error, ISOTOK_WHAT_OPTION, flags);
    if (s->model->parity == ISOTOK_PARITY_HF && !(flags & ISOTOK_KEEP_SPECIAL))
        flags |= ISOTOK_SKIP_SPECIAL;
    s->decoder.flags = flags;
    if (ISOTOK__HAS(s->model->decoder_pieces) & ISOTOK_DECODE_STRIP)
        s->decoder.spaces = s->model->blob.decoder[0].argument;
    s->decoder.at_start = 1;
    if (s->model->has_denormalizer)
        isotok__normalizer_begin(&s->normalizer, &s->model->denormalizer, ISOTOK_UNIT_BYTE,
                                 (flags & ISOTOK_RAW_BYTES) != 0);
    s->mode = ISOTOK__DECODING;
    return ISOTOK_OK;
}

/* Writes a byte, if it is not among the spaces that are stripped; there is room. */
static void put_byte(struct isotok__decoder *d, struct sink *sink, uint8_t byte)
{
    if (d->spaces != 0 && byte == 0x20) {
        d->spaces--;
        return;
    }
    d->spaces = 0;
    sink->out[sink->count++] = byte;
}

/* Delivers what is pending: characters of byte pieces first, then the piece. */
static bool deliver(isotok_session *s, struct sink *sink)
{
    struct isotok__decoder *d = &s->decoder;
    while (d->pending_position < d->pending_count) {
        if (sink->count == sink->capacity) return false;
        put_byte(d, sink, d->pending[d->pending_position++]);
    }
    d->pending_count = d->pending_position = 0;
    while (d->piece_position < d->piece_size) {
        const uint8_t *p = (d->piece != NULL ? d->piece : s->window.text) + d->piece_position;
        const bool symbol = p[0] == 0xE2 && !d->piece_verbatim &&
                            isotok__is_symbol(p, d->piece_size - d->piece_position);
        if (sink->capacity - sink->count < (d->piece_broken ? 3u : 1u)) return false;
        if (d->piece_broken) {
            memcpy(sink->out + sink->count, replacement, 3);
            sink->count += 3;
            d->spaces = 0;
        } else if (!(symbol && d->piece_mute)) {
            put_byte(d, sink, symbol ? 0x20 : p[0]);
        }
        d->piece_position += symbol ? 3 : 1;
    }
    if (d->piece_size != 0 && d->piece == NULL) s->window.size = 0; /* it was a run */
    d->piece_size = d->piece_position = d->piece_broken = 0;
    return true;
}

static void pend(struct isotok__decoder *d, const uint8_t *bytes, uint32_t size)
{
    memcpy(d->pending + d->pending_count, bytes, size);
    d->pending_count += size;
    d->wrote = 1;
}

static void drop_bytes(struct isotok__decoder *d, uint32_t size)
{
    memmove(d->bytes, d->bytes + size, d->bytes_count - size);
    d->bytes_count -= size;
}

/* Whether the bytes so far may be the beginning of a well-formed character. */
static bool may_continue(const struct isotok__decoder *d)
{
    uint8_t probe[4] = {0x80, 0x80, 0x80, 0x80};
    uint32_t point, second;
    memcpy(probe, d->bytes, d->bytes_count);
    if (d->bytes_count >= isotok__announced(probe[0])) return false;
    for (second = 0x80; second < 0xC0; second += 0x10) { /* E0, ED, F0, F4 restrict it */
        if (d->bytes_count == 1) probe[1] = (uint8_t)second;
        if (isotok__scalar(probe, 4, &point) != 0) return true;
    }
    return false;
}

/* Moves complete characters, and bytes that can be part of none, to `pending`; one of
 * them at a time. With `all` the rest goes too. */
static bool settle_bytes(struct isotok__decoder *d, bool all)
{
    uint32_t point, n;
    if (d->bytes_count == 0) return false;
    if (d->flags & ISOTOK_RAW_BYTES) {
        pend(d, d->bytes, d->bytes_count);
        d->bytes_count = 0;
        return true;
    }
    n = isotok__scalar(d->bytes, d->bytes_count, &point);
    if (n != 0) {
        pend(d, d->bytes, n);
        drop_bytes(d, n);
        return true;
    }
    if (!all && may_continue(d)) return false;
    pend(d, replacement, 3);
    drop_bytes(d, 1);
    return true;
}

/* DECODE_RUNS: makes the run of byte pieces, which lies in the window, the piece to be delivered
 * unless it was; false if there is none. */
static bool settle_run(const isotok_session *s, struct isotok__decoder *d)
{
    const struct isotok__window *run = &s->window;
    uint32_t point, n;
    size_t p = 0;
    if (run->size == 0 || !(ISOTOK__HAS(s->model->decoder_pieces) & ISOTOK_DECODE_RUNS))
        return false;
    d->piece = NULL;
    d->piece_size = (uint32_t)run->size;
    d->piece_position = 0;
    d->piece_verbatim = 1;
    while (p < run->size && (n = isotok__scalar(run->text + p, run->size - p, &point)) != 0) p += n;
    d->piece_broken = p < run->size && !(d->flags & ISOTOK_RAW_BYTES);
    return true;
}

/* Whether CLEANUP puts no space in front of the piece: what it begins with. */
static bool is_attached(const uint8_t *text, uint32_t size)
{
    static const uint8_t begins[] = "\1.\1?\1!\1,\2'm\2's\3n't\3've\3're"; /* bytes, and what */
    const uint8_t *at;
    for (at = begins; *at != 0; at += *at + 1)
        if (size >= *at && memcmp(at + 1, text, *at) == 0) return true;
    return false;
}

/* A token given from outside. */
struct token {
    uint32_t type, size;
    const uint8_t *text;
    bool verbatim;
};

/* DECODE_PIECES: the decoded form of a piece that is not a BYTE. */
static void take_plain(const isotok_session *s, struct isotok__decoder *d,
                       const struct token *token)
{
    const uint32_t flags = ISOTOK__HAS(s->model->decoder_pieces);
    const struct isotok__blob *b = &s->model->blob;
    const uint32_t affix = b->decoder_prefix_count, size = token->size;
    const uint8_t *text = token->text;
    const bool again = text == d->piece && !token->verbatim;
    bool space = flags & ISOTOK_DECODE_SUFFIX && d->piece_mute; /* behind the piece before */
    d->piece = text;
    d->piece_size = size;
    d->piece_verbatim = !(flags & ISOTOK_DECODE_SPACES);
    d->piece_mute = d->at_start && (flags & ISOTOK_DECODE_FIRST);
    if (flags & (d->at_start ? ISOTOK_DECODE_SUFFIX | ISOTOK_DECODE_CTC
                             : ISOTOK_DECODE_SUFFIX | ISOTOK_DECODE_CTC | ISOTOK_DECODE_WORDS)) {
        if (affix == 0 ||
            (size >= affix && memcmp(flags & ISOTOK_DECODE_SUFFIX ? text + (size - affix) : text,
                                     b->decoder_prefix, affix) == 0)) {
            if (flags & ISOTOK_DECODE_WORDS) d->piece += affix;
            d->piece_size -= affix;
            d->piece_mute = 1; /* of SUFFIX: a space if another piece follows */
        } else {
            space |= flags & ISOTOK_DECODE_WORDS &&
                     !((flags & ISOTOK_DECODE_CLEANUP) && is_attached(text, size));
        }
    }
    if (flags & ISOTOK_DECODE_CTC) { /* decoder_prefix is the blank */
        const uint32_t place = (uint32_t)((uintptr_t)text - (uintptr_t)b->piece_text);
        const bool delimiter = place == b->decoder[0].argument;
        if (again | delimiter) d->piece_size = 0;
        space = delimiter && !again;
    }
    if (space) d->pending[d->pending_count++] = 0x20;
    d->at_start = 0;
}

/* The decoded form of a piece that is not a BYTE. */
static void take_piece(const isotok_session *s, struct isotok__decoder *d,
                       const struct token *token, uint32_t type)
{
    const uint8_t *text = token->text;
    const uint32_t size = token->size;
    const struct isotok__blob *b = &s->model->blob;
    uint32_t strip = ISOTOK_NORM_DUMMY_PREFIX | ISOTOK_NORM_REMOVE_EXTRA;
    bool stripped_once = false;
    d->piece_position = d->piece_size = 0;
    if (type == ISOTOK_CONTROL && (d->flags & ISOTOK_SKIP_SPECIAL)) return;
    if (ISOTOK__HAS(s->model->decoder_pieces) != 0) {
        take_plain(s, d, token);
        return;
    }
    if (d->wrote) d->at_start = 0;
    if (type == ISOTOK_CONTROL && !ISOTOK__HAS(s->model->byte_level)) return;
    d->piece = text;
    d->piece_size = size;
    d->piece_verbatim = type == ISOTOK_UNKNOWN || ISOTOK__HAS(s->model->byte_level);
    if (type == ISOTOK_UNKNOWN && !token->verbatim) {
        d->piece = b->unk_surface;
        d->piece_size = b->unk_surface_count;
    }
    if (d->at_start && (s->model->decoder_flags & strip) && isotok__is_symbol(text, size) &&
        !(d->piece_verbatim && s->model->is_0_2_1)) {
        if (type != ISOTOK_UNKNOWN) {
            d->piece += 3;
            d->piece_size -= 3;
        }
        stripped_once = !(s->model->decoder_flags & ISOTOK_NORM_REMOVE_EXTRA);
    }
    if (d->piece_size > 0) d->wrote = 1;
    if (stripped_once || d->wrote) d->at_start = 0;
}

static uint8_t byte_of(const uint8_t *text)
{
    /* the low four bits of '0' … '9' are the digit, those of 'A' … 'F' 9 less */
    return (uint8_t)(((text[3] & 15) + (text[3] >> 6) * 9) << 4 |
                     ((text[4] & 15) + (text[4] >> 6) * 9));
}

/* Takes one token; false if what came before must be delivered first. */
static bool take_token(isotok_session *s, struct isotok__decoder *d, const struct token *token)
{
    const uint32_t pieces = ISOTOK__HAS(s->model->decoder_pieces);
    uint32_t type = token->type;
    if (type == ISOTOK_UNKNOWN && (pieces & ISOTOK_DECODE_UNK_SPECIAL)) type = ISOTOK_CONTROL;
    if (type == ISOTOK_CONTROL && pieces != 0 && (d->flags & ISOTOK_SKIP_SPECIAL)) return true;
    if (type == ISOTOK_BYTE && (pieces & ISOTOK_DECODE_RUNS)) {
        s->window.text[s->window.size++] = byte_of(token->text);
        d->at_start = 0;
        return true;
    }
    if (type == ISOTOK_BYTE && pieces == 0) {
        if (settle_bytes(d, false)) return false;
        d->bytes[d->bytes_count++] = byte_of(token->text);
        return true;
    }
    if (settle_bytes(d, true) || settle_run(s, d)) return false;
    take_piece(s, d, token, type);
    return true;
}

static ISOTOK_NOINLINE bool set_token(const isotok_session *s, uint32_t id, struct token *token)
{
    token->type = s->model->blob.types[id];
    token->text = isotok__piece_text(s->model, id, &token->size);
    token->verbatim = false;
    return true;
}

struct piece_source {
    const uint8_t *text;
    uint32_t size;
};

/* What is decoded: ids, or if `piece` is not NULL that. */
struct source {
    const uint32_t *ids;
    const struct piece_source *piece;
};

static bool next_piece(const isotok_session *s, const struct piece_source *piece,
                       struct token *token)
{
    uint32_t id = isotok_piece_find(s->model, piece->text, piece->size);
    /* with the text of that piece, which has been checked: a trie may lie */
    if (id != ISOTOK_NO_TOKEN) return set_token(s, id, token);
    token->type = ISOTOK_UNKNOWN;
    token->text = piece->text;
    token->size = piece->size;
    token->verbatim = true;
    return true;
}

static bool next_id(const isotok_session *s, uint32_t id, struct token *token)
{
    if (id >= s->model->blob.vocab_size) return false;
    set_token(s, id, token);
    if (s->model->is_0_2_1) { /* the id of its text, which may be another */
        const struct piece_source piece = {token->text, token->size};
        return next_piece(s, &piece, token);
    }
    return token->size != 0 || s->model->parity != ISOTOK_PARITY_HF;
}

#define COPY 16u /* bytes that are copied whatever the size */

#if ISOTOK_VECTORS
/* Copies a text without 0xE2, with which U+2581 begins, of at most COPY bytes, which are readable and
 * writable; false if there is one. */
ISOTOK_INLINE bool copy_plain(uint8_t *to, const uint8_t *text, uint32_t size)
{
    const isotok__vector bytes = isotok__vector_load(text);
    const uint64_t marks = isotok__vector_high((isotok__vector)(bytes == 0xE2));
    memcpy(to, &bytes, COPY);
    return isotok__trailing_zeros(marks | 1u << COPY) >= size;
}
#else
/* Marks the bytes of a word that are 0xE2; those behind the first may be wrong. */
ISOTOK_INLINE uint64_t mark_e2(uint64_t word)
{
    const uint64_t ones = 0x0101010101010101u, x = word ^ 0xE2 * ones;
    return (x - ones) & ~x & ones << 7;
}

ISOTOK_INLINE bool copy_plain(uint8_t *to, const uint8_t *text, uint32_t size)
{
    const uint64_t low = isotok__load_u64(text), high = isotok__load_u64(text + 8);
    const uint64_t marks = mark_e2(low), more = mark_e2(high);
    memcpy(to, &low, 8);
    memcpy(to + 8, &high, 8);
    if (ISOTOK_LIKELY((marks | more) == 0)) return true;
    return (marks != 0 ? isotok__trailing_zeros(marks) : 64 + isotok__trailing_zeros(more)) / 8 >=
           size;
}
#endif

/* Decodes pieces that have no other U+2581 than one in front, the usual ones, as far as they
 * come and fit; nothing is pending. */
static ISOTOK_NOINLINE void decode_usual(const isotok_session *s, const uint32_t *ids, size_t count,
                                         size_t *consumed, struct sink *sink)
{
    const struct isotok__blob *b = &s->model->blob;
    const bool bytes = ISOTOK__HAS(s->model->byte_level) != 0;
    const uint8_t *last; /* text of which COPY + 3 bytes are readable */
    if (b->piece_text_count < COPY + 3) return;
    last = b->piece_text + (b->piece_text_count - COPY - 3);
    for (; *consumed < count; ++*consumed) {
        const uint32_t id = ids[*consumed];
        const uint8_t *text;
        uint8_t *to = sink->out + sink->count;
        uint32_t size, space;
        if (id >= b->vocab_size || b->types[id] != ISOTOK_NORMAL) return;
        text = isotok__piece_text(s->model, id, &size);
        if (size > COPY || sink->capacity - sink->count <= COPY || text > last) return;
        space = !bytes && size >= 3 && text[0] == 0xE2 && text[1] == 0x96 && text[2] == 0x81;
        *to = 0x20; /* or the first byte follows */
        if (!copy_plain(to + space, text + 3 * space, size - 3 * space) && !bytes) return;
        sink->count += size - 2 * space;
    }
}

/* DECODE_PIECES: whether the next piece is only its text with U+2581 as a space. */
static bool decodes_usual(const isotok_session *s)
{
    const uint32_t plain = ISOTOK_DECODE_SPACES | ISOTOK_DECODE_FIRST | ISOTOK_DECODE_STRIP |
                           ISOTOK_DECODE_RUNS | ISOTOK_DECODE_UNK_SPECIAL | ISOTOK__DECODE_PIECES;
    return (ISOTOK__HAS(s->model->decoder_pieces) & ~plain) == 0 &&
           (ISOTOK__HAS(s->model->decoder_pieces) & ISOTOK_DECODE_SPACES) && !s->decoder.at_start &&
           s->decoder.spaces == 0 && s->window.size == 0;
}

/* Decodes into the sink: OK, NEED_OUTPUT or E_ID_RANGE. */
static isotok_status decode_plain(isotok_session *s, const struct source *source, size_t count,
                                  size_t *consumed, bool last, struct sink *sink,
                                  isotok_error *error)
{
    struct isotok__decoder *d = &s->decoder;
    for (;;) {
        struct token token = {0, 0, NULL, false};
        if (!deliver(s, sink))
            return isotok__needs(error, ISOTOK_NEED_OUTPUT, 0, d->piece_size + 8u);
        if (source->piece == NULL && d->bytes_count == 0 && !s->model->is_0_2_1 &&
            (ISOTOK__HAS(s->model->decoder_pieces) != 0 ? decodes_usual(s) : d->wrote != 0)) {
            d->at_start = 0;
            decode_usual(s, source->ids, count, consumed, sink);
        }
        if (*consumed == count) {
            if (last && (settle_bytes(d, true) || settle_run(s, d))) continue;
            /* complete characters need not wait for the next token */
            if (!last && settle_bytes(d, false)) continue;
            return ISOTOK_OK;
        }
        if (!(source->piece != NULL ? next_piece(s, source->piece, &token)
                                    : next_id(s, source->ids[*consumed], &token))) {
            if (s->model->parity != ISOTOK_PARITY_HF)
                return isotok__fail(error, ISOTOK_E_ID_RANGE, ISOTOK_WHAT_TOKEN_ID,
                                    (uint32_t)*consumed, 0, s->model->blob.vocab_size);
            ++*consumed; /* tokenizers leaves out what is no token */
            continue;
        }
        if ((ISOTOK__HAS(s->model->decoder_pieces) & ISOTOK_DECODE_RUNS) &&
            s->window.size == s->window.capacity)
            return isotok__need_scratch(s, error);
        if (take_token(s, d, &token)) ++*consumed;
    }
}

/* Runs the denormalizer over the decoded text: its window is delivered to `out`. */
static isotok_status decode_denormalized(isotok_session *s, const struct source *source,
                                         size_t count, size_t *consumed, bool last,
                                         struct sink *sink, isotok_error *error)
{
    struct isotok__decoder *d = &s->decoder;
    for (;;) {
        struct sink raw = {s->raw, s->capacity, d->raw_count};
        size_t position = 0, settled;
        int state;
        isotok_status status = decode_plain(s, source, count, consumed, last, &raw, error);
        bool at_end = last && status == ISOTOK_OK;
        if (status < 0) return status;
        d->raw_count = (uint32_t)raw.count;
        state = isotok__normalizer_run(&s->normalizer, s->raw, d->raw_count, &position, at_end,
                                       &s->window);
        memmove(s->raw, s->raw + position, d->raw_count - position);
        d->raw_count -= (uint32_t)position;
        settled = isotok__normalizer_settled(&s->normalizer, &s->window);
        while (s->drained < settled) {
            if (sink->count == sink->capacity)
                return isotok__needs(error, ISOTOK_NEED_OUTPUT, 0, settled - s->drained);
            sink->out[sink->count++] = s->window.text[s->drained++];
        }
        isotok__window_drop(s, settled);
        s->drained = 0;
        if (state == ISOTOK__NORM_FULL && settled == 0) return isotok__need_scratch(s, error);
        if (state == ISOTOK__NORM_DONE && status == ISOTOK_OK) return ISOTOK_OK;
        if (state == ISOTOK__NORM_DONE && position == 0 && settled == 0)
            return isotok__need_scratch(s, error); /* raw text full of one unfinished key */
    }
}

static isotok_status decode(isotok_session *s, const struct source *source, size_t count,
                            size_t *consumed, bool last, uint8_t *out, size_t capacity,
                            size_t *out_count, isotok_error *error)
{
    struct sink sink = {out, capacity, 0};
    isotok_status status;
    if (s == NULL || consumed == NULL || out_count == NULL ||
        (source->ids == NULL && source->piece == NULL && count != 0) ||
        (out == NULL && capacity != 0) || *consumed > count)
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (s->mode != ISOTOK__DECODING)
        return isotok__needs(error, ISOTOK_E_STATE, ISOTOK_WHAT_NOT_BEGUN, 0);
    status = s->model->has_denormalizer
                 ? decode_denormalized(s, source, count, consumed, last, &sink, error)
                 : decode_plain(s, source, count, consumed, last, &sink, error);
    *out_count = sink.count;
    if ((status == ISOTOK_OK && last) || status < 0) s->mode = ISOTOK__ENDED;
    return status;
}

isotok_status isotok_decode_step(isotok_session *s, const uint32_t *ids, size_t count,
                                 size_t *consumed, uint32_t last, uint8_t *out, size_t capacity,
                                 size_t *out_count, isotok_error *error)
{
    const struct source source = {ids, NULL};
    return decode(s, &source, count, consumed, last != 0, out, capacity, out_count, error);
}

isotok_status isotok_decode_piece(isotok_session *s, const uint8_t *piece, size_t size,
                                  size_t *consumed, uint32_t last, uint8_t *out, size_t capacity,
                                  size_t *out_count, isotok_error *error)
{
    const struct piece_source given = {piece, (uint32_t)size};
    const struct source source = {NULL, &given};
    if (piece == NULL && size != 0) return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if (size > 0xFFFFFFu)
        return isotok__needs(error, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_TEXT_SIZE, size);
    return decode(s, &source, size != 0, consumed, last != 0, out, capacity, out_count, error);
}
