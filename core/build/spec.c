/* Defaults and checks of a ModelSpec: SentencePiece 0.2.3's load errors, each with the
 * piece and the byte it stands at. Duplicates need sorted pieces: see keys.c. */
#include "spec.h"

#include "isotok_build.h"
#include "pretokenize.h"

static const uint8_t default_unk_surface[] = {' ', 0xE2, 0x81, 0x87, ' '};

void isotok__spec_init(isotok__spec *spec)
{
    memset(spec, 0, sizeof *spec);
    spec->algorithm = ISOTOK_UNIGRAM;
    spec->parity = ISOTOK_PARITY_SENTENCEPIECE;
    spec->normalizer_flags =
        ISOTOK__NORM_DUMMY_PREFIX | ISOTOK__NORM_REMOVE_SPACES | ISOTOK__NORM_ESCAPE;
    spec->denormalizer_flags = spec->normalizer_flags;
    spec->unk_surface = (isotok__span){default_unk_surface, sizeof default_unk_surface};
    spec->unk_id = spec->bos_id = spec->eos_id = spec->pad_id = ISOTOK_NO_TOKEN;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

int isotok__byte_of_piece(isotok__span piece)
{
    if (piece.size != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') {
        return -1;
    }
    int high = hex_digit(piece.data[3]);
    int low = hex_digit(piece.data[4]);
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

static isotok_status fail_piece(isotok__work *work, const isotok__spec *spec, uint32_t what,
                                uint32_t id)
{
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, what, id, isotok__piece_offset(spec, id));
}

static bool same_text(isotok__span a, isotok__span b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static isotok__span or_default(isotok__span text, const char *fallback, size_t size)
{
    return text.size != 0 ? text : (isotok__span){(const uint8_t *)fallback, size};
}

/* The texts of bos, eos and pad name their ids only if the piece is CONTROL. */
static void find_control(isotok__spec *spec, isotok__span piece, uint32_t id)
{
    if (same_text(piece, or_default(spec->bos_piece, "<s>", 3))) {
        spec->bos_id = id;
    }
    if (same_text(piece, or_default(spec->eos_piece, "</s>", 4))) {
        spec->eos_id = id;
    }
    if (same_text(piece, or_default(spec->pad_piece, "<pad>", 5))) {
        spec->pad_id = id;
    }
}

/* A text that is two reserved pieces is refused later, so at most one CONTROL matches. */
static isotok_status check_text(isotok__work *work, isotok__spec *spec, uint32_t id)
{
    isotok__span piece = isotok__piece(spec, id);
    if (piece.size == 0) {
        return fail_piece(work, spec, ISOTOK_WHAT_PIECE_EMPTY, id);
    }
    if (piece.size > ISOTOK__MAX_PIECE) {
        return fail_piece(work, spec, ISOTOK_WHAT_PIECE_LONG, id);
    }
    if (isotok__is_nul_piece(piece) && spec->byte_fallback) {
        spec->types[id] = ISOTOK_UNUSED;
    }
    if (isotok__is_nul_piece(piece) && spec->types[id] == ISOTOK_UNUSED) {
        return ISOTOK_OK;
    }
    for (size_t i = 0; i < piece.size; i++) {
        if (piece.data[i] == 0) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_NUL, id);
        }
    }
    return ISOTOK_OK;
}

static isotok_status check_type(isotok__work *work, isotok__spec *spec, uint32_t id,
                                uint8_t byte_found[256])
{
    switch (spec->types[id]) {
    case ISOTOK_NORMAL:
    case ISOTOK_USER_DEFINED:
    case ISOTOK_UNUSED: return ISOTOK_OK;
    case ISOTOK_CONTROL:
        if (!spec->ids_given) {
            find_control(spec, isotok__piece(spec, id), id);
        }
        return ISOTOK_OK;
    case ISOTOK_UNKNOWN:
        if (spec->unk_id != ISOTOK_NO_TOKEN) {
            return fail_piece(work, spec, ISOTOK_WHAT_UNK_TWICE, id);
        }
        spec->unk_id = id;
        return ISOTOK_OK;
    case ISOTOK_BYTE: {
        int byte = isotok__byte_of_piece(isotok__piece(spec, id));
        if (!spec->byte_fallback) {
            return fail_piece(work, spec, ISOTOK_WHAT_BYTE_UNEXPECTED, id);
        }
        if (byte < 0) {
            return fail_piece(work, spec, ISOTOK_WHAT_BYTE_SPELLING, id);
        }
        byte_found[byte] = 1;
        return ISOTOK_OK;
    }
    default: return fail_piece(work, spec, ISOTOK_WHAT_PIECE_TYPE, id);
    }
}

static bool is_finite(float score)
{
    uint32_t bits;
    memcpy(&bits, &score, 4);
    return (bits & 0x7F800000u) != 0x7F800000u;
}

/* Unigram only: every score finite, at least one visible piece. */
static isotok_status check_unigram(isotok__work *work, const isotok__spec *spec)
{
    bool usable = false;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (!is_finite(spec->scores[id])) {
            return fail_piece(work, spec, ISOTOK_WHAT_SCORE_NOT_FINITE, id);
        }
        usable |=
            isotok__is_visible(spec->types[id]) && !isotok__is_nul_piece(isotok__piece(spec, id));
    }
    if (!usable) {
        return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_NO_USABLE_PIECE,
                                  ISOTOK__NO_INDEX, 0);
    }
    return ISOTOK_OK;
}

/* Bpe up to 0.2.1 compares scores as numbers: with NaN there is no order. */
static isotok_status check_order(isotok__work *work, const isotok__spec *spec)
{
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (spec->scores[id] != spec->scores[id]) {
            return fail_piece(work, spec, ISOTOK_WHAT_SCORE_NOT_FINITE, id);
        }
    }
    return ISOTOK_OK;
}

static isotok_status check_unknown(isotok__work *work, const isotok__spec *spec)
{
    if (spec->unk_id != ISOTOK_NO_TOKEN || (spec->byte_fallback && !spec->is_0_2_1)) {
        return ISOTOK_OK;
    }
    uint32_t what = spec->is_0_2_1 ? ISOTOK_WHAT_UNK_MISSING_0_2_1 : ISOTOK_WHAT_UNK_MISSING;
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, what, ISOTOK__NO_INDEX, 0);
}

/* bos, eos and pad of a packed model must be what the core may emit. */
static isotok_status check_given_ids(isotok__work *work, const isotok__spec *spec)
{
    const uint32_t ids[3] = {spec->bos_id, spec->eos_id, spec->pad_id};
    for (uint32_t i = 0; i < 3; i++) {
        if (ids[i] != ISOTOK_NO_TOKEN &&
            (ids[i] >= spec->vocab_size || spec->types[ids[i]] != ISOTOK_CONTROL)) {
            return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_SCALAR, i, 0);
        }
    }
    return ISOTOK_OK;
}

static isotok_status check_bytes(isotok__work *work, const uint8_t byte_found[256])
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        if (!byte_found[byte]) {
            return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_BYTE_MISSING, byte, 0);
        }
    }
    return ISOTOK_OK;
}

/* Byte-level: every byte is a piece, and only UNUSED pieces may have no text. */
static isotok_status check_byte_level(isotok__work *work, const isotok__spec *spec)
{
    uint8_t byte_found[256] = {0};
    if (spec->algorithm != ISOTOK_BPE || spec->byte_fallback || spec->is_0_2_1 ||
        spec->charsmap.size != 0 || spec->denormalizer_charsmap.size != 0) {
        return isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD,
                                  ISOTOK_FIELD_BYTE_LEVEL, 0);
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        uint8_t type = spec->types[id];
        if (type != ISOTOK_NORMAL && type != ISOTOK_CONTROL && type != ISOTOK_UNUSED &&
            type != ISOTOK_USER_DEFINED) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_TYPE, id);
        }
        if (piece.size == 0 && type != ISOTOK_UNUSED) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_EMPTY, id);
        }
        if (piece.size > ISOTOK__MAX_PIECE) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_LONG, id);
        }
        if (isotok__is_matched(spec, id) && piece.size == 1) {
            byte_found[piece.data[0]] = 1;
        }
    }
    return check_bytes(work, byte_found);
}

/* Added tokens are pieces with a text, in ascending order; the template's tokens are pieces; what
 * words are made of is known where it matters. */
static isotok_status check_added(isotok__work *work, const isotok__spec *spec)
{
    const uint32_t all = (uint32_t)ISOTOK_ADDED_PLAIN | (uint32_t)ISOTOK_ADDED_LSTRIP |
                         (uint32_t)ISOTOK_ADDED_RSTRIP | (uint32_t)ISOTOK_ADDED_SINGLE_WORD;
    bool ok = spec->added.size % 2 == 0 && spec->template_ops.size % 3 == 0;
    for (size_t i = 0; ok && i < spec->added.size; i += 2) {
        uint32_t id = isotok__number(spec->added, i);
        uint32_t flags = isotok__number(spec->added, i + 1);
        ok = id < spec->vocab_size && (flags & ~all) == 0 && isotok__piece(spec, id).size != 0 &&
             (i == 0 || id > isotok__number(spec->added, i - 2)) &&
             !((flags & ISOTOK_ADDED_SINGLE_WORD) && spec->word_ranges.size == 0);
    }
    for (size_t i = 1; ok && i < spec->word_ranges.size; i++) {
        ok = isotok__number(spec->word_ranges, i - 1) < isotok__number(spec->word_ranges, i);
    }
    return ok ? ISOTOK_OK
              : isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD,
                                   ISOTOK_FIELD_ADDED_TOKENS, 0);
}

/* Nodes that came with the source: no byte leads outside, and values are added tokens. */
static isotok_status check_added_trie(isotok__work *work, const isotok__spec *spec)
{
    const uint64_t slots = spec->added_trie.size / 2;
    bool ok = spec->added_trie.size % 512 == 0 && slots <= 1u << 24 && spec->added.size != 0;
    for (size_t i = 0; ok && i < slots; i++) {
        const uint32_t link = isotok__number(spec->added_trie, 2 * i);
        const uint32_t value = isotok__number(spec->added_trie, 2 * i + 1);
        uint32_t flags = 0;
        ok = (link >> 8) < slots && (i != 0 || (link & 0xFF) != 0) &&
             (value == 0 || (isotok__is_added(spec, (value & 0x1FFFFFF) - 1, &flags) &&
                             (value & ~(uint32_t)ISOTOK_ADDED_NOT) >> 25 == flags >> 25));
    }
    return ok || slots == 0 ? ISOTOK_OK
                            : isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD,
                                                 ISOTOK_FIELD_ADDED_TRIE, 0);
}

static isotok_status fail_field(isotok__work *work, uint32_t field)
{
    return isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD, field, 0);
}

/* Prefix and suffix, and unknown tokens in pre-tokens. */
static isotok_status check_affixes(isotok__work *work, const isotok__spec *spec)
{
    const uint32_t affixes = isotok__affixes(spec);
    const uint32_t all = (uint32_t)ISOTOK_AFFIX_SUFFIX | (uint32_t)ISOTOK_AFFIX_UNKNOWN |
                         (uint32_t)ISOTOK_AFFIX_FUSED;
    const size_t prefix = affixes >> 8;
    if (affixes == 0) {
        return spec->algorithm == ISOTOK_BPE && spec->prefix.size != 0
                   ? fail_field(work, ISOTOK_FIELD_CONTINUATION)
                   : ISOTOK_OK;
    }
    bool suffix = (affixes & ISOTOK_AFFIX_SUFFIX) != 0;
    bool ok = (affixes & 0xFFu & ~all) == 0 && prefix <= ISOTOK__MAX_PIECE &&
              spec->prefix.size <= 2 * ISOTOK__MAX_PIECE && spec->merge_counts.size != 0 &&
              (suffix ? spec->prefix.size > prefix : spec->prefix.size == prefix) &&
              isotok__by_pretokens(spec) && !spec->byte_fallback &&
              !(suffix && spec->byte_level & ISOTOK_BYTE_LEVEL_WHOLE) &&
              ((affixes & ISOTOK_AFFIX_UNKNOWN) == 0 || spec->unk_id != ISOTOK_NO_TOKEN);
    return ok ? ISOTOK_OK : fail_field(work, ISOTOK_FIELD_CONTINUATION);
}

/* The fields that only models of pre-tokens have. */
static isotok_status check_pretoken_fields(isotok__work *work, const isotok__spec *spec)
{
    bool unigram = spec->algorithm == ISOTOK_UNIGRAM;
    if (spec->algorithm == ISOTOK_BPE || spec->algorithm == ISOTOK_CHAR || spec->is_0_2_1 ||
        (spec->byte_fallback && !unigram)) {
        return fail_field(work, ISOTOK_FIELD_PRETOKENS);
    }
    if (spec->exact_scores.size != (unigram && spec->exact_scores.size ? spec->vocab_size : 0)) {
        return fail_field(work, ISOTOK_FIELD_EXACT_SCORES);
    }
    if (spec->prefix.size > (spec->algorithm == ISOTOK_WORDPIECE ? ISOTOK__MAX_PIECE : 0)) {
        return fail_field(work, ISOTOK_FIELD_CONTINUATION);
    }
    return ISOTOK_OK;
}

/* Pieces of tokenizers: any text, and only ids that stand for nothing have none. */
static isotok_status check_pretokens(isotok__work *work, const isotok__spec *spec)
{
    bool usable = false;
    isotok_status status = check_pretoken_fields(work, spec);
    for (uint32_t id = 0; status == ISOTOK_OK && id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        uint8_t type = spec->types[id];
        bool matched = isotok__is_matched(spec, id);
        usable |= matched;
        if (type < ISOTOK_NORMAL || type > ISOTOK_BYTE ||
            (type == ISOTOK_USER_DEFINED && matched)) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_TYPE, id);
        }
        if (piece.size == 0 && type != ISOTOK_UNUSED) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_EMPTY, id);
        }
        if (piece.size > ISOTOK__MAX_PIECE) {
            return fail_piece(work, spec, ISOTOK_WHAT_PIECE_LONG, id);
        }
        if (spec->scores[id] > ISOTOK__MAX_FLOAT || spec->scores[id] != spec->scores[id]) {
            return fail_piece(work, spec, ISOTOK_WHAT_SCORE_NOT_FINITE, id);
        }
        if (!matched && type != ISOTOK_UNUSED && type != ISOTOK_CONTROL &&
            type != ISOTOK_USER_DEFINED) {
            return fail_piece(work, spec, ISOTOK_WHAT_SCORE_NOT_FINITE, id);
        }
        if (type == ISOTOK_UNKNOWN && id != spec->unk_id) {
            return fail_piece(work, spec, ISOTOK_WHAT_UNK_TWICE, id);
        }
        if (type == ISOTOK_BYTE && (!spec->byte_fallback || isotok__byte_of_piece(piece) < 0)) {
            return fail_piece(work, spec, ISOTOK_WHAT_BYTE_SPELLING, id);
        }
    }
    if (status == ISOTOK_OK && spec->unk_id != ISOTOK_NO_TOKEN &&
        (spec->unk_id >= spec->vocab_size || !isotok__is_matched(spec, spec->unk_id))) {
        return fail_field(work, ISOTOK_FIELD_PRETOKENS);
    }
    if (status == ISOTOK_OK && !usable) {
        return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_NO_USABLE_PIECE,
                                  ISOTOK__NO_INDEX, 0);
    }
    return status;
}

isotok_status isotok__pretok_arrays_of(isotok__work *work, const isotok__spec *spec,
                                       struct isotok__pretok_arrays *out)
{
    const isotok__span header = spec->pretok_header, tables = spec->pretok_tables;
    uint32_t *words = ISOTOK__TEMP(work, uint32_t, header.size);
    uint16_t *cells = ISOTOK__TEMP(work, uint16_t, tables.size + 1);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    memcpy(words, header.data, 4 * header.size);
    if (tables.size != 0) {
        memcpy(cells, tables.data, 2 * tables.size);
    }
    out->header = words;
    out->tables = cells;
    out->classes = spec->pretok_classes.data;
    out->header_count = (uint32_t)header.size;
    out->tables_count = (uint32_t)tables.size;
    out->classes_count = (uint32_t)spec->pretok_classes.size;
    out->windows = NULL;
    return ISOTOK_OK;
}

/* The arrays as the core will check them. */
static isotok_status check_pretokenizer(isotok__work *work, const isotok__spec *spec)
{
    struct isotok__pretok_arrays arrays;
    struct isotok__pretokenizer opened;
    size_t mark = isotok__temp_begin(work);
    if (isotok__pretok_arrays_of(work, spec, &arrays) != ISOTOK_OK) {
        return work->error.status;
    }
    if (!isotok__pretok_open(&opened, &arrays) || !isotok__pretok_check(&arrays)) {
        return fail_field(work, ISOTOK_FIELD_PRETOK_TABLES);
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

isotok_status isotok__spec_check(isotok__work *work, isotok__spec *spec)
{
    if (check_added(work, spec) != ISOTOK_OK || check_added_trie(work, spec) != ISOTOK_OK ||
        (spec->pretok_header.size != 0 && check_pretokenizer(work, spec) != ISOTOK_OK)) {
        return work->error.status;
    }
    if (spec->pretokens) {
        return check_pretokens(work, spec);
    }
    if (spec->byte_level) {
        isotok_status bytes = check_byte_level(work, spec);
        bytes = bytes == ISOTOK_OK ? isotok__splits_check(work, spec) : bytes;
        return bytes == ISOTOK_OK ? check_affixes(work, spec) : bytes;
    }
    uint8_t byte_found[256] = {0};
    if (spec->algorithm < ISOTOK_UNIGRAM || spec->algorithm > ISOTOK_CHAR) {
        return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_MODEL_TYPE, ISOTOK__NO_INDEX,
                                  0);
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        isotok_status status = check_text(work, spec, id);
        if (status == ISOTOK_OK) {
            status = check_type(work, spec, id, byte_found);
        }
        if (status != ISOTOK_OK) {
            return status;
        }
    }
    isotok_status status = check_unknown(work, spec);
    if (status == ISOTOK_OK && spec->byte_fallback) {
        status = check_bytes(work, byte_found);
    }
    if (status == ISOTOK_OK && spec->algorithm == ISOTOK_UNIGRAM) {
        status = check_unigram(work, spec);
    }
    if (status == ISOTOK_OK && spec->algorithm == ISOTOK_BPE && spec->is_0_2_1) {
        status = check_order(work, spec);
    }
    if (status == ISOTOK_OK && spec->ids_given) {
        status = check_given_ids(work, spec);
    }
    status = status == ISOTOK_OK ? isotok__splits_check(work, spec) : status;
    return status == ISOTOK_OK ? check_affixes(work, spec) : status;
}
