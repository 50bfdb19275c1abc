/* Fields one by one: see read_arrays.h. */
#include "read_arrays.h"

#include "isotok_build.h"

static isotok_status fail_field(isotok__work *work, uint32_t field)
{
    return isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD, field, 0);
}

/* A scalar of at most `limit`. */
static isotok_status set_scalar(isotok__work *work, uint32_t *out, uint32_t field, const void *data,
                                size_t count, uint32_t least, uint32_t limit)
{
    uint32_t value = 0;
    if (count == 1) {
        memcpy(&value, data, sizeof value);
    }
    if (count != 1 || value < least || value > limit) {
        return fail_field(work, field);
    }
    *out = value;
    return ISOTOK_OK;
}

static isotok_status set_number(isotok__work *work, isotok__spec *spec, uint32_t field,
                                const void *data, size_t count)
{
    switch (field) {
    case ISOTOK_FIELD_ALGORITHM:
        return set_scalar(work, &spec->algorithm, field, data, count, ISOTOK_UNIGRAM,
                          ISOTOK_WORDPIECE);
    case ISOTOK_FIELD_PARITY:
        return set_scalar(work, &spec->parity, field, data, count, ISOTOK_PARITY_SENTENCEPIECE,
                          ISOTOK_PARITY_DISTILLED);
    case ISOTOK_FIELD_NORMALIZER_FLAGS:
        return set_scalar(work, &spec->normalizer_flags, field, data, count, 0, ISOTOK__NORM_ALL);
    case ISOTOK_FIELD_DENORMALIZER_FLAGS:
        return set_scalar(work, &spec->denormalizer_flags, field, data, count, 0, ISOTOK__NORM_ALL);
    case ISOTOK_FIELD_BYTE_LEVEL:
        return set_scalar(work, &spec->byte_level, field, data, count, 0,
                          ISOTOK_BYTE_LEVEL_MERGES | ISOTOK_BYTE_LEVEL_WHOLE);
    case ISOTOK_FIELD_PRETOKENS:
        spec->pretokens = 1;
        return set_scalar(work, &spec->unk_id, field, data, count, 0, ISOTOK_NO_TOKEN);
    case ISOTOK_FIELD_BYTE_FALLBACK:
        return set_scalar(work, &spec->byte_fallback, field, data, count, 0, 1);
    default: return fail_field(work, field);
    }
}

/* Where a field of bytes goes, or NULL. */
static isotok__span *bytes_field(isotok__arrays *arrays, isotok__spec *spec, uint32_t field)
{
    switch (field) {
    case ISOTOK_FIELD_PIECE_TEXT: return &arrays->piece_text;
    case ISOTOK_FIELD_CHARSMAP: return &spec->charsmap;
    case ISOTOK_FIELD_DENORMALIZER_CHARSMAP: return &spec->denormalizer_charsmap;
    case ISOTOK_FIELD_UNK_SURFACE: return &spec->unk_surface;
    case ISOTOK_FIELD_BOS_PIECE: return &spec->bos_piece;
    case ISOTOK_FIELD_EOS_PIECE: return &spec->eos_piece;
    case ISOTOK_FIELD_PAD_PIECE: return &spec->pad_piece;
    case ISOTOK_FIELD_EXACT_SCORES: return &spec->exact_scores;
    case ISOTOK_FIELD_PRETOK_HEADER: return &spec->pretok_header;
    case ISOTOK_FIELD_PRETOK_TABLES: return &spec->pretok_tables;
    case ISOTOK_FIELD_PRETOK_CLASSES: return &spec->pretok_classes;
    case ISOTOK_FIELD_ADDED_TOKENS: return &spec->added;
    case ISOTOK_FIELD_ADDED_TRIE: return &spec->added_trie;
    case ISOTOK_FIELD_WORD_RANGES: return &spec->word_ranges;
    case ISOTOK_FIELD_TEMPLATE: return &spec->template_ops;
    case ISOTOK_FIELD_DECODER_PREFIX: return &spec->decoder_prefix;
    case ISOTOK_FIELD_MERGE_SPLITS: return &spec->merge_splits;
    case ISOTOK_FIELD_MERGE_COUNTS: return &spec->merge_counts;
    case ISOTOK_FIELD_UNICODE_HEADER: return &spec->unicode_header;
    case ISOTOK_FIELD_UNICODE_TABLES: return &spec->unicode_tables;
    case ISOTOK_FIELD_UNICODE_TEXT: return &spec->unicode_text;
    default: return NULL;
    }
}

isotok_status isotok__arrays_set(isotok__work *work, isotok__arrays *arrays, isotok__spec *spec,
                                 uint32_t field, const void *data, size_t count)
{
    isotok__span *bytes = bytes_field(arrays, spec, field);
    if (data == NULL && count != 0) {
        return isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, field, 0);
    }
    if (count > ISOTOK__MAX_SOURCE) {
        return fail_field(work, field);
    }
    if (field == ISOTOK_FIELD_CONTINUATION && count >= 4) {
        spec->max_characters = isotok__load_u32((const uint8_t *)data);
        spec->prefix = (isotok__span){(const uint8_t *)data + 4, count - 4};
        return ISOTOK_OK;
    }
    if (bytes != NULL) {
        *bytes = (isotok__span){(const uint8_t *)data, count};
        return ISOTOK_OK;
    }
    switch (field) {
    case ISOTOK_FIELD_DECODER:
        if (count != 2) {
            return fail_field(work, field);
        }
        spec->has_decoder = true;
        memcpy(&spec->decoder_flags, data, 4);
        memcpy(&spec->decoder_argument, (const uint8_t *)data + 4, 4);
        return ISOTOK_OK;
    case ISOTOK_FIELD_PIECE_SIZES:
        arrays->piece_sizes = (const uint8_t *)data;
        arrays->piece_count = count;
        return ISOTOK_OK;
    case ISOTOK_FIELD_SCORES:
        arrays->scores = (const uint8_t *)data;
        arrays->score_count = count;
        return ISOTOK_OK;
    case ISOTOK_FIELD_TYPES:
        arrays->types = (const uint8_t *)data;
        arrays->type_count = count;
        return ISOTOK_OK;
    default: return set_number(work, spec, field, data, count);
    }
}

/* Ends from sizes; they must fill the text. */
static isotok_status take_sizes(isotok__work *work, const isotok__arrays *arrays,
                                isotok__spec *spec)
{
    uint64_t end = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        uint16_t size;
        memcpy(&size, arrays->piece_sizes + 2 * (size_t)id, 2);
        end += size;
        spec->piece_ends[id] = (uint32_t)end;
    }
    return end == arrays->piece_text.size ? ISOTOK_OK : fail_field(work, ISOTOK_FIELD_PIECE_SIZES);
}

isotok_status isotok__arrays_finish(isotok__work *work, const isotok__arrays *arrays,
                                    isotok__spec *spec)
{
    size_t v = arrays->piece_count;
    if (arrays->score_count != v) {
        return fail_field(work, ISOTOK_FIELD_SCORES);
    }
    if (arrays->types != NULL && arrays->type_count != v) {
        return fail_field(work, ISOTOK_FIELD_TYPES);
    }
    if (v > ISOTOK__MAX_VOCAB) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE,
                                  ISOTOK__NO_INDEX, v);
    }
    spec->vocab_size = (uint32_t)v;
    spec->piece_text = arrays->piece_text.data;
    spec->piece_ends = ISOTOK__KEEP(work, uint32_t, v);
    spec->scores = ISOTOK__KEEP(work, float, v);
    spec->types = ISOTOK__KEEP(work, uint8_t, v);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    memset(spec->types, ISOTOK_NORMAL, v);
    if (v > 0) {
        memcpy(spec->scores, arrays->scores, v * sizeof *spec->scores);
    }
    if (arrays->types != NULL) {
        memcpy(spec->types, arrays->types, v);
    }
    return take_sizes(work, arrays, spec);
}

/* ---- All in one ------------------------------------------------------------------ */

static uint32_t element_size(uint32_t field)
{
    switch (field) {
    case ISOTOK_FIELD_EXACT_SCORES: return 8;
    case ISOTOK_FIELD_PIECE_SIZES:
    case ISOTOK_FIELD_PRETOK_TABLES:
    case ISOTOK_FIELD_UNICODE_TABLES: return 2;
    case ISOTOK_FIELD_SCORES:
    case ISOTOK_FIELD_ALGORITHM:
    case ISOTOK_FIELD_PARITY:
    case ISOTOK_FIELD_NORMALIZER_FLAGS:
    case ISOTOK_FIELD_DENORMALIZER_FLAGS:
    case ISOTOK_FIELD_BYTE_FALLBACK:
    case ISOTOK_FIELD_BYTE_LEVEL:
    case ISOTOK_FIELD_PRETOKENS:
    case ISOTOK_FIELD_PRETOK_HEADER:
    case ISOTOK_FIELD_UNICODE_HEADER:
    case ISOTOK_FIELD_ADDED_TOKENS:
    case ISOTOK_FIELD_ADDED_TRIE:
    case ISOTOK_FIELD_WORD_RANGES:
    case ISOTOK_FIELD_TEMPLATE:
    case ISOTOK_FIELD_DECODER:
    case ISOTOK_FIELD_MERGE_SPLITS: return 4;
    default: return 1;
    }
}

bool isotok__is_fields(isotok__span source)
{
    return source.size >= 4 && memcmp(source.data, "ISTF", 4) == 0;
}

isotok_status isotok__read_fields(isotok__work *work, isotok__arrays *arrays, isotok__spec *spec,
                                  isotok__span source)
{
    size_t at = 8;
    while (at < source.size) {
        if (source.size - at < 8) {
            return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_FIELD, 0, at);
        }
        const uint32_t field = isotok__load_u32(source.data + at);
        const uint32_t count = isotok__load_u32(source.data + at + 4);
        const uint64_t bytes = (uint64_t)count * element_size(field);
        at += 8;
        if (bytes > source.size - at) {
            return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_FIELD, field, at - 8);
        }
        isotok_status status =
            isotok__arrays_set(work, arrays, spec, field, source.data + at, count);
        if (status != ISOTOK_OK) {
            return status;
        }
        at += ((size_t)bytes + 7) & ~(size_t)7;
    }
    return isotok__arrays_finish(work, arrays, spec);
}
