/* Packed form (FORMAT.md section 8), or a blob -> ModelSpec. Of a blob only what it has in common
 * with the packed form is read: tries and sets are made again. The bytes are not trusted
 * and need no alignment: every offset is checked, every section copied. */
#define ISOTOK__BLOB_FIELDS
#include "blob_gen.h"
#include "flatbuffer.h"
#include "isotok_build.h"
#include "plan.h"
#include "xxh64.h"

/* The FlatBuffer behind the header; positions count from there. */
typedef struct buffer {
    isotok__work *work;
    isotok__fb fb;
    bool packed; /* else a blob */
} buffer;

static isotok_status corrupt(isotok__work *work, uint32_t what, uint32_t index, uint64_t offset)
{
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, what, index, offset);
}

static isotok_status check_features(isotok__work *work, uint64_t features)
{
    uint64_t unknown = features & ~ISOTOK__FEATURES_KNOWN;
    if (unknown != 0) {
        return isotok__build_fail(work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_FEATURES,
                                  isotok__trailing_zeros(unknown), ISOTOK__HEADER_FEATURES);
    }
    return ISOTOK_OK;
}

static isotok_status check_header(isotok__work *work, isotok__span source)
{
    const uint8_t *p = source.data;
    if (source.size < ISOTOK__HEADER_SIZE + 8 || isotok__load_u32(p) != ISOTOK__MAGIC) {
        return corrupt(work, ISOTOK_WHAT_HEADER, ISOTOK__NO_INDEX, 0);
    }
    uint32_t format = isotok__load_u32(p + ISOTOK__HEADER_FORMAT);
    if (format != ISOTOK_FORMAT_VERSION) {
        return isotok__build_fail(work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_FORMAT, format,
                                  ISOTOK__HEADER_FORMAT);
    }
    if (isotok__load_u64(p + ISOTOK__HEADER_TOTAL_SIZE) != source.size) {
        return corrupt(work, ISOTOK_WHAT_TOTAL_SIZE, ISOTOK__NO_INDEX, ISOTOK__HEADER_TOTAL_SIZE);
    }
    if (isotok__xxh64(p + ISOTOK__HEADER_FEATURES, source.size - ISOTOK__HEADER_FEATURES, 0) !=
        isotok__load_u64(p + ISOTOK__HEADER_CHECKSUM)) {
        return corrupt(work, ISOTOK_WHAT_CHECKSUM, ISOTOK__NO_INDEX, ISOTOK__HEADER_CHECKSUM);
    }
    return check_features(work, isotok__load_u64(p + ISOTOK__HEADER_FEATURES));
}

static uint32_t load_u16(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8;
}

static isotok_status open_buffer(buffer *b, isotok__span source)
{
    const uint8_t *base = source.data + ISOTOK__HEADER_SIZE;
    bool ok = isotok__load_u32(base + 4) == ISOTOK__MAGIC &&
              isotok__fb_table(base, source.size - ISOTOK__HEADER_SIZE, 0, &b->fb);
    return ok ? ISOTOK_OK
              : corrupt(b->work, ISOTOK_WHAT_FLATBUFFER, ISOTOK__NO_INDEX, ISOTOK__HEADER_SIZE);
}

static isotok_status outside(const buffer *b, uint32_t field)
{
    return corrupt(b->work, ISOTOK_WHAT_FLATBUFFER, field, ISOTOK__HEADER_SIZE + b->fb.vtable);
}

static isotok_status read_scalar(const buffer *b, uint32_t field, uint32_t *out)
{
    uint64_t at;
    if (!isotok__fb_field(&b->fb, field, 4, &at)) {
        return outside(b, field);
    }
    *out = at == 0 ? ISOTOK__BLOB_DEFAULT(field) : isotok__load_u32(b->fb.base + at);
    return ISOTOK_OK;
}

static isotok_status read_vector(const buffer *b, uint32_t field, isotok__fb_vector *out)
{
    bool ok = isotok__fb_read(&b->fb, field, isotok__blob_elements[field], out);
    return ok ? ISOTOK_OK : outside(b, field);
}

/* ---- Into the spec --------------------------------------------------------------- */

/* Of the source; another may not be asked for. */
static isotok_status take_generation(const buffer *b, isotok__spec *spec, uint64_t features)
{
    bool is_0_2_1 = (features & ISOTOK__FEATURE_BIT(SENTENCEPIECE_0_2_1)) != 0;
    if (spec->is_0_2_1 && !is_0_2_1) {
        return isotok__build_fail(b->work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_SOURCE_NOT_0_2_1,
                                  ISOTOK__NO_INDEX, ISOTOK__HEADER_FEATURES);
    }
    spec->is_0_2_1 = is_0_2_1;
    return ISOTOK_OK;
}

static isotok_status take_scalars(const buffer *b, isotok__spec *spec, uint64_t features)
{
    isotok_status status = read_scalar(b, ISOTOK__FIELD_ALGORITHM, &spec->algorithm);
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_VOCAB_SIZE, &spec->vocab_size);
    }
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_BOS_ID, &spec->bos_id);
    }
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_EOS_ID, &spec->eos_id);
    }
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_PAD_ID, &spec->pad_id);
    }
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_MAX_PIECE_BYTES, &spec->longest_piece);
    }
    if (status == ISOTOK_OK) {
        status = read_scalar(b, ISOTOK__FIELD_MAX_KEY_BYTES, &spec->longest_key);
    }
    spec->ids_given = true;
    if (status == ISOTOK_OK && (features & ISOTOK__FEATURE_BIT(PRETOKENS))) {
        status = read_scalar(b, ISOTOK__FIELD_UNK_ID, &spec->unk_id);
    }
    spec->byte_fallback = (features & ISOTOK__FEATURE_BIT(BYTE_FALLBACK)) != 0;
    spec->pretokens = (features & ISOTOK__FEATURE_BIT(PRETOKENS)) != 0;
    if (features & ISOTOK__FEATURE_BIT(BYTE_LEVEL)) {
        spec->byte_level = ISOTOK_BYTE_LEVEL_MERGES;
    }
    if (features & ISOTOK__FEATURE_BIT(WHOLE_PIECES)) {
        spec->byte_level |= ISOTOK_BYTE_LEVEL_WHOLE;
    }
    if (status == ISOTOK_OK) {
        status = take_generation(b, spec, features);
    }
    if (status == ISOTOK_OK && spec->vocab_size > ISOTOK__MAX_VOCAB) {
        status = isotok__build_fail(b->work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE,
                                    spec->vocab_size, 0);
    }
    return status;
}

/* Ends, of a packed model from sizes; they ascend and must fill the text. */
static isotok_status take_ends(const buffer *b, isotok__spec *spec, uint32_t field,
                               const isotok__fb_vector *in, uint32_t text_size)
{
    uint64_t end = 0;
    bool ok = true;
    for (uint32_t id = 0; ok && id < spec->vocab_size; id++) {
        uint64_t next = b->packed ? end + load_u16(in->data + 2 * (size_t)id)
                                  : isotok__load_u32(in->data + 4 * (size_t)id);
        ok = next >= end && next <= text_size;
        spec->piece_ends[id] = (uint32_t)next;
        end = next;
    }
    return ok && end == text_size ? ISOTOK_OK : corrupt(b->work, ISOTOK_WHAT_FIELD, field, 0);
}

static isotok_status take_pieces(const buffer *b, isotok__spec *spec)
{
    const uint32_t ends = b->packed ? ISOTOK__FIELD_PIECE_SIZES : ISOTOK__FIELD_PIECE_ENDS;
    const uint32_t fields[4] = {ISOTOK__FIELD_PIECE_TEXT, ends, ISOTOK__FIELD_SCORES,
                                ISOTOK__FIELD_TYPES};
    size_t v = spec->vocab_size;
    isotok__fb_vector in[4];
    for (uint32_t i = 0; i < 4; i++) {
        isotok_status status = read_vector(b, fields[i], &in[i]);
        if (status == ISOTOK_OK && i > 0 && in[i].count != v) {
            status = corrupt(b->work, ISOTOK_WHAT_FIELD, fields[i], 0);
        }
        if (status != ISOTOK_OK) {
            return status;
        }
    }
    spec->piece_text = in[0].data;
    spec->piece_ends = ISOTOK__KEEP(b->work, uint32_t, v);
    spec->scores = ISOTOK__KEEP(b->work, float, v);
    spec->types = ISOTOK__KEEP(b->work, uint8_t, v);
    if (b->work->error.status != ISOTOK_OK) {
        return b->work->error.status;
    }
    memcpy(spec->scores, in[2].data, v * sizeof *spec->scores);
    memcpy(spec->types, in[3].data, v);
    return take_ends(b, spec, ends, &in[1], in[0].count);
}

/* Units and pool put together again as precompiled_charsmap. */
static isotok_status take_charsmap(const buffer *b, uint32_t units_field, uint32_t text_field,
                                   isotok__span *out)
{
    isotok__fb_vector units;
    isotok__fb_vector text;
    isotok_status status = read_vector(b, units_field, &units);
    if (status == ISOTOK_OK) {
        status = read_vector(b, text_field, &text);
    }
    if (status != ISOTOK_OK || (units.count == 0 && text.count == 0)) {
        return status;
    }
    uint32_t bytes = units.count * 4;
    uint8_t *joined = ISOTOK__KEEP(b->work, uint8_t, 4 + (size_t)bytes + text.count);
    if (joined == NULL) {
        return b->work->error.status;
    }
    memcpy(joined, &bytes, 4);
    memcpy(joined + 4, units.data, bytes);
    memcpy(joined + 4 + bytes, text.data, text.count);
    *out = (isotok__span){joined, 4 + (size_t)bytes + text.count};
    return ISOTOK_OK;
}

/* One operation of a list: {kind, flags, section, argument}. */
static isotok_status take_operation(const buffer *b, uint32_t field, const isotok__fb_vector *list,
                                    uint32_t index, uint32_t kind, uint32_t *out_flags)
{
    if (index >= list->count) {
        return ISOTOK_OK;
    }
    const uint8_t *operation = list->data + 16 * (size_t)index;
    if (isotok__load_u32(operation) != kind) {
        return isotok__build_fail(b->work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_OPERATION, field,
                                  (uint64_t)(operation - b->fb.base) + ISOTOK__HEADER_SIZE);
    }
    *out_flags = isotok__load_u32(operation + 4) & ISOTOK__NORM_ALL;
    return ISOTOK_OK;
}

/* A list that only later versions fill. */
static isotok_status check_no_operation(const buffer *b, uint32_t field)
{
    isotok__fb_vector list;
    isotok_status status = read_vector(b, field, &list);
    if (status == ISOTOK_OK && list.count != 0) {
        status = isotok__build_fail(b->work, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_OPERATION, field,
                                    list.at + ISOTOK__HEADER_SIZE);
    }
    return status;
}

/* Three sections of the same kind, or none. */
static isotok_status take_sections(const buffer *b, const uint32_t fields[3],
                                   isotok__span *const spans[3])
{
    isotok__fb_vector list;
    isotok_status status = ISOTOK_OK;
    for (uint32_t i = 0; i < 3 && status == ISOTOK_OK; i++) {
        status = read_vector(b, fields[i], &list);
        *spans[i] = (isotok__span){list.data, list.count};
    }
    return status;
}

/* The program instead of a normalizer. */
static isotok_status take_program(const buffer *b, isotok__spec *spec)
{
    const uint32_t fields[3] = {ISOTOK__FIELD_UNICODE_HEADER, ISOTOK__FIELD_UNICODE_TABLES,
                                ISOTOK__FIELD_UNICODE_TEXT};
    isotok__span *const spans[3] = {&spec->unicode_header, &spec->unicode_tables,
                                    &spec->unicode_text};
    return take_sections(b, fields, spans);
}

/* The pre-tokenizer. */
static isotok_status take_pretokenizer(const buffer *b, isotok__spec *spec)
{
    const uint32_t fields[3] = {ISOTOK__FIELD_PRETOK_HEADER, ISOTOK__FIELD_PRETOK_TABLES,
                                ISOTOK__FIELD_PRETOK_CLASSES};
    isotok__span *const spans[3] = {&spec->pretok_header, &spec->pretok_tables,
                                    &spec->pretok_classes};
    isotok__fb_vector list;
    uint32_t ignored = 0;
    isotok_status status = read_vector(b, ISOTOK__FIELD_PRETOKENIZER, &list);
    if (status == ISOTOK_OK) {
        status = take_operation(b, ISOTOK__FIELD_PRETOKENIZER, &list, 0, 1, &ignored);
    }
    return status == ISOTOK_OK ? take_sections(b, fields, spans) : status;
}

/* The template's operations as triples. */
static isotok_status take_template(const buffer *b, isotok__spec *spec)
{
    isotok__fb_vector list;
    isotok_status status = read_vector(b, ISOTOK__FIELD_TEMPLATE_OPS, &list);
    uint32_t *numbers = ISOTOK__KEEP(b->work, uint32_t, 3 * (size_t)list.count);
    if (status != ISOTOK_OK || b->work->error.status != ISOTOK_OK) {
        return status != ISOTOK_OK ? status : b->work->error.status;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        const uint8_t *operation = list.data + (size_t)i * sizeof(struct isotok__operation);
        memcpy(numbers + 3 * (size_t)i, operation, 8);
        memcpy(numbers + 3 * (size_t)i + 2, operation + 12, 4);
    }
    spec->template_ops = (isotok__span){(const uint8_t *)numbers, 3 * (size_t)list.count};
    return ISOTOK_OK;
}

/* Added tokens, the template, and what the decoder needs. */
static isotok_status take_added(const buffer *b, isotok__spec *spec)
{
    const uint32_t fields[3] = {ISOTOK__FIELD_ADDED_TOKENS, ISOTOK__FIELD_WORD_RANGES,
                                ISOTOK__FIELD_DECODER_PREFIX};
    isotok__span *const spans[3] = {&spec->added, &spec->word_ranges, &spec->decoder_prefix};
    isotok__fb_vector trie;
    isotok_status status = take_template(b, spec);
    if (status == ISOTOK_OK) {
        status = take_sections(b, fields, spans);
    }
    if (status == ISOTOK_OK) {
        status = read_vector(b, ISOTOK__FIELD_SPECIAL_TRIE, &trie);
    }
    if (status == ISOTOK_OK && spec->added.size != 0) { /* not in all packed models */
        spec->added_trie = (isotok__span){trie.data, 2 * (size_t)trie.count};
    }
    return status;
}

/* What models of pre-tokens have: the last of the exact scores is found again. */
static isotok_status take_pretokens(const buffer *b, isotok__spec *spec)
{
    isotok__fb_vector list;
    isotok_status status = read_vector(b, ISOTOK__FIELD_WORD_RULES, &list);
    if (status == ISOTOK_OK && list.count >= 12) {
        spec->max_characters = isotok__load_u32(list.data + 8);
        spec->prefix = (isotok__span){list.data + 12, list.count - 12};
    }
    if (status == ISOTOK_OK) {
        status = read_vector(b, ISOTOK__FIELD_EXACT_SCORES, &list);
    }
    if (status == ISOTOK_OK && list.count != 0) {
        spec->exact_scores = (isotok__span){list.data, list.count - 1};
    }
    return status;
}

static isotok_status take_splits(const buffer *b, isotok__spec *spec, uint64_t features)
{
    isotok__fb_vector counts;
    isotok__fb_vector splits;
    bool compact = !b->packed && (features & ISOTOK__FEATURE_BIT(COMPACT_SPACE)) != 0;
    if ((features & ISOTOK__FEATURE_BIT(MERGE_LIST)) == 0) {
        return ISOTOK_OK;
    }
    isotok_status status = read_vector(b, ISOTOK__FIELD_MERGE_COUNTS, &counts);
    if (status == ISOTOK_OK) {
        status = read_vector(b, ISOTOK__FIELD_MERGE_SPLITS, &splits);
    }
    if (status != ISOTOK_OK) {
        return status;
    }
    return isotok__splits_take(b->work, spec, (isotok__span){counts.data, counts.count},
                               (isotok__span){splits.data, splits.count}, compact);
}

static isotok_status take_operations(const buffer *b, isotok__spec *spec, bool pretokenizer)
{
    isotok__fb_vector normalizer;
    isotok__fb_vector decoder;
    uint32_t ignored = 0;
    isotok_status status = read_vector(b, ISOTOK__FIELD_NORMALIZER, &normalizer);
    if (status == ISOTOK_OK) {
        status = read_vector(b, ISOTOK__FIELD_DECODER, &decoder);
    }
    if (status == ISOTOK_OK && (normalizer.count != 1 || decoder.count < 1 || decoder.count > 2)) {
        status = corrupt(b->work, ISOTOK_WHAT_OPERATION, ISOTOK__FIELD_NORMALIZER, 0);
    }
    if (status == ISOTOK_OK) {
        status =
            take_operation(b, ISOTOK__FIELD_NORMALIZER, &normalizer, 0, 1, &spec->normalizer_flags);
    }
    if (status == ISOTOK_OK) {
        spec->has_decoder = isotok__load_u32(decoder.data) == 4;
        if (spec->has_decoder) {
            spec->decoder_flags = isotok__load_u32(decoder.data + 4);
            spec->decoder_argument = isotok__load_u32(decoder.data + 12);
        } else {
            status = take_operation(b, ISOTOK__FIELD_DECODER, &decoder, 0,
                                    spec->byte_level ? 3 : 1, &ignored);
        }
    }
    if (status == ISOTOK_OK) {
        status =
            take_operation(b, ISOTOK__FIELD_DECODER, &decoder, 1, 2, &spec->denormalizer_flags);
    }
    if (status == ISOTOK_OK) {
        status = pretokenizer ? take_pretokenizer(b, spec)
                              : check_no_operation(b, ISOTOK__FIELD_PRETOKENIZER);
    }
    if (status == ISOTOK_OK) {
        status = take_program(b, spec);
    }
    return status == ISOTOK_OK ? take_added(b, spec) : status;
}

isotok_status isotok__read_packed(isotok__work *work, isotok__spec *spec, isotok__span source)
{
    buffer b = {0};
    isotok__fb_vector surface;
    bool pretokenizer = false;
    isotok_status status = check_header(work, source);
    b.work = work;
    if (status == ISOTOK_OK) {
        status = open_buffer(&b, source);
    }
    if (status == ISOTOK_OK) {
        uint64_t features = isotok__load_u64(source.data + ISOTOK__HEADER_FEATURES);
        pretokenizer = (features & ISOTOK__FEATURE_BIT(PRETOKENIZER)) != 0;
        b.packed = (features & ISOTOK__FEATURE_BIT(PACKED)) != 0;
        spec->parity = isotok__load_u32(source.data + ISOTOK__HEADER_PARITY);
        status = take_scalars(&b, spec, features);
    }
    if (status == ISOTOK_OK) {
        status = take_pieces(&b, spec);
    }
    if (status == ISOTOK_OK) {
        status = take_splits(&b, spec, isotok__load_u64(source.data + ISOTOK__HEADER_FEATURES));
    }
    if (status == ISOTOK_OK) {
        status = take_charsmap(&b, ISOTOK__FIELD_CHARSMAP_TRIE, ISOTOK__FIELD_CHARSMAP_TEXT,
                               &spec->charsmap);
    }
    if (status == ISOTOK_OK) {
        status = take_charsmap(&b, ISOTOK__FIELD_DENORMALIZER_TRIE, ISOTOK__FIELD_DENORMALIZER_TEXT,
                               &spec->denormalizer_charsmap);
    }
    if (status == ISOTOK_OK) {
        status = take_operations(&b, spec, pretokenizer);
    }
    if (status == ISOTOK_OK) {
        status = take_pretokens(&b, spec);
    }
    if (status == ISOTOK_OK) {
        status = read_vector(&b, ISOTOK__FIELD_UNK_SURFACE, &surface);
    }
    if (status == ISOTOK_OK) {
        spec->unk_surface = (isotok__span){surface.data, surface.count};
    }
    return status;
}
