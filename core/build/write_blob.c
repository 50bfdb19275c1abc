/* Blob and packed form: see write_blob.h and FORMAT.md sections 1, 4, 7 and 8. */
#define ISOTOK__BLOB_FIELDS
#include "write_blob.h"

#include "hash_parts.h"
#include "isotok_build.h"
#include "pretokenize.h"

static void vector(isotok__section *sections, uint32_t field, const void *data, size_t count)
{
    sections[field] = (isotok__section){data, (uint32_t)count, 0};
}

static void scalar(isotok__section *sections, uint32_t field, uint32_t bits)
{
    sections[field] = (isotok__section){NULL, 0, bits};
}

static void operation_sections(const isotok__spec *spec, const isotok__plan *plan,
                               isotok__section *s)
{
    vector(s, ISOTOK__FIELD_NORMALIZER, &plan->operations[0], 1);
    vector(s, ISOTOK__FIELD_DECODER, &plan->operations[1],
           plan->denormalizer.units != NULL ? 2 : 1);
    if (spec->pretok_header.size != 0) {
        vector(s, ISOTOK__FIELD_PRETOKENIZER, &plan->operations[3], 1);
        vector(s, ISOTOK__FIELD_PRETOK_HEADER, spec->pretok_header.data, spec->pretok_header.size);
        vector(s, ISOTOK__FIELD_PRETOK_TABLES, spec->pretok_tables.data, spec->pretok_tables.size);
        vector(s, ISOTOK__FIELD_PRETOK_CLASSES, spec->pretok_classes.data,
               spec->pretok_classes.size);
    }
}

/* What both forms have. */
static void common_sections(const isotok__spec *spec, const isotok__plan *plan, isotok__section *s)
{
    uint32_t v = spec->vocab_size;
    uint32_t unk_score;
    memcpy(&unk_score, &plan->unk_score, 4);
    scalar(s, ISOTOK__FIELD_ALGORITHM, spec->algorithm);
    scalar(s, ISOTOK__FIELD_VOCAB_SIZE, v);
    scalar(s, ISOTOK__FIELD_UNK_ID, spec->unk_id);
    scalar(s, ISOTOK__FIELD_BOS_ID, spec->bos_id);
    scalar(s, ISOTOK__FIELD_EOS_ID, spec->eos_id);
    scalar(s, ISOTOK__FIELD_PAD_ID, spec->pad_id);
    scalar(s, ISOTOK__FIELD_UNK_SCORE, unk_score);
    scalar(s, ISOTOK__FIELD_MAX_PIECE_BYTES, plan->max_piece_bytes);
    scalar(s, ISOTOK__FIELD_MAX_EXPANSION, plan->max_expansion);
    scalar(s, ISOTOK__FIELD_MAX_KEY_BYTES, plan->max_key_bytes);
    vector(s, ISOTOK__FIELD_PIECE_TEXT, spec->piece_text, v > 0 ? spec->piece_ends[v - 1] : 0);
    vector(s, ISOTOK__FIELD_SCORES, spec->scores, v);
    vector(s, ISOTOK__FIELD_TYPES, spec->types, v);
    vector(s, ISOTOK__FIELD_CHARSMAP_TRIE, plan->charsmap.units, plan->charsmap.unit_count);
    vector(s, ISOTOK__FIELD_CHARSMAP_TEXT, plan->charsmap.text.data, plan->charsmap.text.size);
    vector(s, ISOTOK__FIELD_DENORMALIZER_TRIE, plan->denormalizer.units,
           plan->denormalizer.unit_count);
    vector(s, ISOTOK__FIELD_DENORMALIZER_TEXT, plan->denormalizer.text.data,
           plan->denormalizer.text.size);
    vector(s, ISOTOK__FIELD_EXACT_SCORES, plan->exact_scores,
           plan->exact_scores != NULL ? (size_t)v + 1 : 0);
    vector(s, ISOTOK__FIELD_WORD_RULES, plan->word_rules,
           plan->word_rules != NULL ? 12 + spec->prefix.size : 0);
    vector(s, ISOTOK__FIELD_UNICODE_HEADER, spec->unicode_header.data, spec->unicode_header.size);
    vector(s, ISOTOK__FIELD_UNICODE_TABLES, spec->unicode_tables.data, spec->unicode_tables.size);
    vector(s, ISOTOK__FIELD_UNICODE_TEXT, spec->unicode_text.data, spec->unicode_text.size);
    vector(s, ISOTOK__FIELD_UNK_SURFACE, spec->unk_surface.data, spec->unk_surface.size);
    vector(s, ISOTOK__FIELD_TEMPLATE_OPS, plan->template_ops, plan->template_count);
    vector(s, ISOTOK__FIELD_ADDED_TOKENS, spec->added.data, spec->added.size);
    vector(s, ISOTOK__FIELD_WORD_RANGES, spec->word_ranges.data, spec->word_ranges.size);
    vector(s, ISOTOK__FIELD_DECODER_PREFIX, spec->decoder_prefix.data, spec->decoder_prefix.size);
    vector(s, ISOTOK__FIELD_MERGE_COUNTS, spec->merge_counts.data, spec->merge_counts.size);
    operation_sections(spec, plan, s);
}

static void blob_sections(const isotok__spec *spec, const isotok__plan *plan, isotok__section *s)
{
    vector(s, ISOTOK__FIELD_PIECE_ENDS, spec->piece_ends, spec->vocab_size);
    vector(s, ISOTOK__FIELD_TRIE, plan->trie.nodes, plan->trie.slots);
    vector(s, ISOTOK__FIELD_TRIE_IDS, plan->trie_ids, plan->trie.slots);
    vector(s, ISOTOK__FIELD_OTHER_IDS, plan->other_ids, plan->other_count);
    vector(s, ISOTOK__FIELD_BYTE_IDS, plan->byte_ids, plan->byte_ids != NULL ? 256 : 0);
    vector(s, ISOTOK__FIELD_PAIR_SET, plan->pair_set, plan->pair_words);
    vector(s, ISOTOK__FIELD_CHAR_JOINTS, plan->char_joints, plan->char_joints != NULL ? 1024 : 0);
    vector(s, ISOTOK__FIELD_PRETOK_WINDOWS, plan->windows,
           plan->windows != NULL ? ISOTOK__WINDOWS_SIZE : 0);
    vector(s, ISOTOK__FIELD_USER_TRIE, plan->user_trie.nodes, plan->user_trie.slots);
    vector(s, ISOTOK__FIELD_SPECIAL_TRIE, plan->special_trie.nodes, plan->special_trie.slots);
    vector(s, ISOTOK__FIELD_MERGE_SPLITS, plan->splits, plan->split_count);
    vector(s, ISOTOK__FIELD_START_SET, plan->start_set,
           plan->start_set != NULL ? ISOTOK__START_WORDS : 0);
}

/* Sizes instead of ends: shorter, and they compress. */
static isotok_status packed_sections(isotok__work *work, const isotok__spec *spec,
                                     const isotok__plan *plan, isotok__section *s)
{
    uint16_t *sizes = ISOTOK__TEMP(work, uint16_t, spec->vocab_size);
    if (sizes == NULL) {
        return work->error.status;
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        sizes[id] = (uint16_t)isotok__piece(spec, id).size;
    }
    vector(s, ISOTOK__FIELD_PIECE_SIZES, sizes, spec->vocab_size);
    if (spec->added_trie.size != 0) {
        vector(s, ISOTOK__FIELD_SPECIAL_TRIE, plan->special_trie.nodes, plan->special_trie.slots);
    }
    if (plan->splits != NULL) { /* in canonical text */
        uint32_t *splits = ISOTOK__TEMP(work, uint32_t, plan->split_count);
        if (splits == NULL) {
            return work->error.status;
        }
        memcpy(splits, spec->merge_splits.data, 4 * spec->merge_splits.size);
        splits[plan->split_count - 1] = 0;
        vector(s, ISOTOK__FIELD_MERGE_SPLITS, splits, plan->split_count);
    }
    return ISOTOK_OK;
}

static void write_header(const isotok__spec *spec, uint64_t features, isotok__parts *parts)
{
    uint8_t *out = parts->head;
    const uint32_t magic = ISOTOK__MAGIC;
    const uint32_t format = ISOTOK_FORMAT_VERSION;
    memcpy(out + ISOTOK__HEADER_MAGIC, &magic, 4);
    memcpy(out + ISOTOK__HEADER_FORMAT, &format, 4);
    memcpy(out + ISOTOK__HEADER_TOTAL_SIZE, &parts->size, 8);
    memcpy(out + ISOTOK__HEADER_FEATURES, &features, 8);
    memcpy(out + ISOTOK__HEADER_PARITY, &spec->parity, 4);
    uint64_t checksum = isotok__hash_parts(parts->list, parts->count, ISOTOK__HEADER_FEATURES);
    memcpy(out + ISOTOK__HEADER_CHECKSUM, &checksum, 8);
}

/* Of the packed form: what its sections mean, not what is derived from them. */
static uint64_t features_of(const isotok__plan *plan, uint32_t form)
{
    const uint64_t derived = ISOTOK__FEATURE_BIT(COMPACT_SPACE) | ISOTOK__FEATURE_BIT(WHOLE_TEXT) |
                             ISOTOK__FEATURE_BIT(WIDE) | ISOTOK__FEATURE_BIT(UNUSED_MERGES);
    return form == ISOTOK_FORM_BLOB || form == ISOTOK_FORM_ADDED
               ? plan->features
               : (plan->features & ~derived) | ISOTOK__FEATURE_BIT(PACKED);
}

/* What the tokens of isotok_build_added change; what is not there is the base's. */
static void added_sections(const isotok__spec *spec, const isotok__plan *plan, isotok__section *s)
{
    const uint32_t v = spec->vocab_size;
    vector(s, ISOTOK__FIELD_PIECE_TEXT, spec->piece_text, spec->piece_ends[v - 1]);
    vector(s, ISOTOK__FIELD_PIECE_ENDS, spec->piece_ends, v);
    vector(s, ISOTOK__FIELD_SCORES, spec->scores, v);
    vector(s, ISOTOK__FIELD_TYPES, spec->types, v);
    vector(s, ISOTOK__FIELD_OTHER_IDS, plan->other_ids, plan->other_count);
    vector(s, ISOTOK__FIELD_SPECIAL_TRIE, plan->special_trie.nodes, plan->special_trie.slots);
    vector(s, ISOTOK__FIELD_ADDED_TOKENS, spec->added.data, spec->added.size);
    vector(s, ISOTOK__FIELD_WORD_RANGES, spec->word_ranges.data, spec->word_ranges.size);
    vector(s, ISOTOK__FIELD_EXACT_SCORES, plan->exact_scores,
           plan->exact_scores != NULL ? (size_t)v + 1 : 0);
    vector(s, ISOTOK__FIELD_DECODER, &plan->operations[1], 1);
    for (uint32_t field = 0; field < ISOTOK__BLOB_FIELD_COUNT; field++) {
        if (!ISOTOK__BLOB_IS_VECTOR(field)) {
            s[field].count = ISOTOK__ABSENT;
        }
    }
    scalar(s, ISOTOK__FIELD_VOCAB_SIZE, v);
    scalar(s, ISOTOK__FIELD_MAX_PIECE_BYTES, plan->max_piece_bytes);
    scalar(s, ISOTOK__FIELD_MAX_KEY_BYTES, plan->max_key_bytes);
}

isotok_status isotok__blob_parts(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan, uint32_t form, isotok__parts *out)
{
    size_t mark = isotok__temp_begin(work);
    isotok__section sections[ISOTOK__BLOB_FIELD_COUNT];
    memset(sections, 0, sizeof sections);
    if (form == ISOTOK_FORM_ADDED) {
        added_sections(spec, plan, sections);
    } else {
        common_sections(spec, plan, sections);
    }
    if (form == ISOTOK_FORM_BLOB) {
        blob_sections(spec, plan, sections);
    } else if (form == ISOTOK_FORM_PACKED &&
               packed_sections(work, spec, plan, sections) != ISOTOK_OK) {
        return work->error.status;
    }
    isotok__flatbuffer_parts(sections, out);
    isotok__temp_end(work, mark);
    if (out->size > ISOTOK__MAX_SOURCE) {
        return isotok__build_fail(work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_VOCAB_LARGE,
                                  spec->vocab_size, out->size);
    }
    write_header(spec, features_of(plan, form), out);
    return ISOTOK_OK;
}

isotok_status isotok__parts_write(const isotok__parts *parts, uint8_t *out, size_t capacity,
                                  size_t *out_size)
{
    *out_size = (size_t)parts->size;
    if (capacity < parts->size) {
        return ISOTOK_NEED_OUTPUT;
    }
    for (uint32_t i = 0; i < parts->count; i++) {
        memcpy(out, parts->list[i].data, parts->list[i].size);
        out += parts->list[i].size;
    }
    return ISOTOK_OK;
}
