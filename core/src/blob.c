/* L1: opening a blob: header, FlatBuffer structure, sections that depend on each other.
 *
 * ALGORITHM   One generic loop over the generated field table resolves the FlatBuffer
 *             into struct isotok__blob; blob_check.c then checks the sections' contents.
 * COMPLEXITY  O(size of the blob) for SAFE, one pass over each section.
 * SOURCE      core/format/FORMAT.md §1, §9. */
#define ISOTOK__BLOB_FIELDS
#include "blob.h"

#include "blob_check.h"
#include "trie.h"
#include "xxh64.h"

/* Features of what ISOTOK_SENTENCEPIECE_ONLY opens: those below byte_level. */
#define OF_SENTENCEPIECE ((ISOTOK_FEATURE(BYTE_LEVEL) - 1) | ISOTOK_FEATURE(PACKED))
#define KNOWN                                        \
    (ISOTOK_SENTENCEPIECE_ONLY ? OF_SENTENCEPIECE    \
     : ISOTOK__DISTILLED       ? ISOTOK__FEATURES_KNOWN \
                               : ISOTOK__FEATURES_KNOWN & ~ISOTOK_FEATURE(GREEDY))

isotok_status isotok__fail(isotok_error *error, isotok_status status, uint32_t what, uint32_t index,
                           uint64_t offset, uint64_t need)
{
    if (error != NULL) {
        error->status = status;
        error->what = what;
        error->index = index;
        error->offset = offset;
        error->need = need;
    }
    return status;
}

isotok_status isotok__argument(isotok_error *error, uint32_t what, uint32_t index)
{
    return isotok__fail(error, ISOTOK_E_ARGUMENT, what, index, 0, 0);
}

isotok_status isotok__needs(isotok_error *error, isotok_status status, uint32_t what, uint64_t need)
{
    return isotok__fail(error, status, what, 0, 0, need);
}

static isotok_status corrupt(isotok_error *error, uint32_t what, uint32_t index, uint64_t offset)
{
    return isotok__fail(error, ISOTOK_E_CORRUPT, what, index, offset, 0);
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    uint8_t low;
    memcpy(&low, &one, 1);
    return low == 1;
}

ISOTOK_INLINE isotok_status check_header(const uint8_t *data, size_t size, isotok_error *error)
{
    uint64_t features, unknown;
    size_t i;
    if (size < ISOTOK__HEADER_SIZE + 8 || isotok__load_u32(data) != ISOTOK__MAGIC)
        return corrupt(error, ISOTOK_WHAT_HEADER, 0, 0);
    if (isotok__load_u32(data + ISOTOK__HEADER_FORMAT) != ISOTOK_FORMAT_VERSION)
        return isotok__fail(error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_FORMAT,
                            isotok__load_u32(data + ISOTOK__HEADER_FORMAT), ISOTOK__HEADER_FORMAT,
                            0);
    features = isotok__load_u64(data + ISOTOK__HEADER_FEATURES);
    unknown = features & ~KNOWN;
    if (unknown != 0)
        return isotok__fail(error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_FEATURES,
                            isotok__trailing_zeros(unknown), ISOTOK__HEADER_FEATURES, 0);
    if (features & ISOTOK_FEATURE(PACKED))
        return isotok__fail(error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_PACKED, ISOTOK__FEATURE_PACKED,
                            ISOTOK__HEADER_FEATURES, 0);
    if (isotok__load_u64(data + ISOTOK__HEADER_TOTAL_SIZE) != size)
        return isotok__fail(error, ISOTOK_E_CORRUPT, ISOTOK_WHAT_TOTAL_SIZE, 0,
                            ISOTOK__HEADER_TOTAL_SIZE,
                            isotok__load_u64(data + ISOTOK__HEADER_TOTAL_SIZE));
    for (i = ISOTOK__HEADER_RESERVED; i < ISOTOK__HEADER_SIZE; i++)
        if (data[i] != 0) return corrupt(error, ISOTOK_WHAT_HEADER, 0, i);
    return ISOTOK_OK;
}

/* A FlatBuffer inside `base[0..size)`; offsets are relative to base. */
struct flatbuffer {
    const uint8_t *base;
    uint64_t size;
    uint64_t table, vtable;
    uint32_t vtable_size, table_size;
};

static bool read_root(struct flatbuffer *fb)
{
    int32_t back;
    int64_t vtable;
    if (fb->size < 8 || isotok__load_u32(fb->base + 4) != ISOTOK__MAGIC) return false;
    fb->table = isotok__load_u32(fb->base);
    if (fb->table % 4 != 0 || fb->table + 4 > fb->size) return false;
    back = (int32_t)isotok__load_u32(fb->base + fb->table);
    vtable = (int64_t)fb->table - back;
    if (vtable < 8 || vtable % 2 != 0 || (uint64_t)vtable + 4 > fb->size) return false;
    fb->vtable = (uint64_t)vtable;
    fb->vtable_size = isotok__load_u32(fb->base + fb->vtable) & 0xFFFFu;
    fb->table_size = isotok__load_u32(fb->base + fb->vtable) >> 16;
    return fb->vtable_size >= 4 && fb->vtable + fb->vtable_size <= fb->size &&
           fb->table_size >= 4 && fb->table + fb->table_size <= fb->size;
}

/* Position of a field's 4 bytes in the table, or 0 if the field is absent. */
static bool find_field(const struct flatbuffer *fb, uint32_t field, uint64_t *out_position)
{
    const uint32_t slot = 4 + 2 * field;
    uint32_t inside;
    *out_position = 0;
    if (slot + 2 > fb->vtable_size) return true;
    inside = fb->base[fb->vtable + slot] | (uint32_t)fb->base[fb->vtable + slot + 1] << 8;
    if (inside == 0) return true;
    *out_position = fb->table + inside;
    return inside >= 4 && inside + 4 <= fb->table_size && *out_position % 4 == 0;
}

/* Position of a vector's elements, or 0 if the vector is not whole. */
static uint64_t find_vector(const struct flatbuffer *fb, uint32_t element, uint64_t position,
                            uint32_t *out_count)
{
    const uint64_t vector = position + isotok__load_u32(fb->base + position);
    if (vector % 4 != 0 || vector + 4 > fb->size) return 0;
    *out_count = isotok__load_u32(fb->base + vector);
    return (uint64_t)*out_count * element > fb->size - vector - 4 ? 0 : vector + 4;
}

/* `added`: fields that are absent stay as they are. */
ISOTOK_INLINE isotok_status read_fields(const uint8_t *data, size_t size, bool added,
                                        struct isotok__blob *blob, isotok_error *error)
{
    struct flatbuffer fb = {data + ISOTOK__HEADER_SIZE, size - ISOTOK__HEADER_SIZE, 0, 0, 0, 0};
    uint8_t *scalar = (uint8_t *)blob, *vector = scalar + ISOTOK__BLOB_FIRST_VECTOR;
    uint8_t *counts = scalar + ISOTOK__BLOB_FIRST_COUNT;
    uint32_t i, value;
    if (!read_root(&fb)) return corrupt(error, ISOTOK_WHAT_FLATBUFFER, 0, ISOTOK__HEADER_SIZE);
    for (i = 0; i < ISOTOK__BLOB_FIELD_COUNT; i++) {
        const uint8_t *elements = NULL;
        uint64_t at;
        if (!find_field(&fb, i, &at))
            return corrupt(error, ISOTOK_WHAT_FLATBUFFER, i, ISOTOK__HEADER_SIZE + fb.vtable);
        if (!ISOTOK__BLOB_IS_VECTOR(i)) {
            value = at ? isotok__load_u32(fb.base + at) : ISOTOK__BLOB_DEFAULT(i);
            if (at != 0 || !added) memcpy(scalar, &value, sizeof value);
            scalar += sizeof value;
            continue;
        }
        value = 0;
        if (at != 0) {
            const uint64_t begin = find_vector(&fb, isotok__blob_elements[i], at, &value);
            if (begin % ISOTOK_ALIGN != 0 || begin == 0)
                return corrupt(error, begin ? ISOTOK_WHAT_SECTION : ISOTOK_WHAT_FLATBUFFER, i,
                               ISOTOK__HEADER_SIZE + (begin ? begin - 4 : at));
            if (value != 0) elements = fb.base + begin;
        }
        if (at != 0 || !added) {
            memcpy(vector, &elements, sizeof elements);
            memcpy(counts, &value, sizeof value);
        }
        vector += sizeof elements;
        counts += sizeof value;
    }
    return ISOTOK_OK;
}

/* ASCII characters at which the normalizer must look rules up, see struct isotok__rules.
 * A character whose only rules go on with a non-ASCII byte ("A" + combining grave) is
 * plain in front of ASCII. */
static void classify_ascii(struct isotok__rules *rules)
{
    uint32_t c, d;
    for (c = 0; c < 128; c++) {
        bool hard = false, wide = false;
        if (rules->units != NULL) {
            uint32_t root = isotok__darts_offset(rules->units[0]);
            uint32_t at = root ^ c, unit = rules->units[at];
            if ((unit & 0x800000FFu) == c) {
                uint32_t base = at ^ isotok__darts_offset(unit);
                hard = (unit & 0x100u) != 0;
                for (d = 0; d < 256 && !hard; d++)
                    if ((rules->units[base ^ d] & 0x800000FFu) == d && d != 0) {
                        if (d < 128) hard = true;
                        wide = true;
                    }
            }
        }
        if (rules->user != NULL && isotok__trie_child(rules->user, 0, (uint8_t)c) != ISOTOK_NO_SLOT)
            hard = true;
        if (c == 0) hard = true; /* a NUL key byte is not told from an empty slot above */
        if (hard) {
            rules->hard[c >> 6] |= (uint64_t)1 << (c & 63);
            if (c > 0x20 && c < 0x7F) {
                if (rules->hard_count < 8) rules->hard_printable[rules->hard_count] = (uint8_t)c;
                if (rules->hard_count < 9) rules->hard_count++;
            }
        }
        if (hard || wide) rules->hard_before_wide[c >> 6] |= (uint64_t)1 << (c & 63);
    }
}

ISOTOK_INLINE void set_rules(struct isotok_model *model)
{
    const struct isotok__blob *b = &model->blob;
    struct isotok__rules *n = &model->normalizer, *d = &model->denormalizer;
    n->flags = b->normalizer[0].flags;
    n->max_key_bytes = b->max_key_bytes;
    n->compact = (model->features & ISOTOK_FEATURE(COMPACT_SPACE)) != 0;
    n->units = b->normalizer[0].section ? b->charsmap_trie : NULL;
    n->replacements = b->charsmap_text;
    n->user = b->user_trie;
    n->start_set = b->start_set;
    if (ISOTOK__HAS(model->program.on)) { /* not rules, but what its blocks are */
        n->hard_count = b->unicode_header[10];
        memcpy(n->hard_printable, b->unicode_header + 8, 8);
        if (n->flags & ISOTOK_NORM_ESCAPE && !n->compact) { /* a space changes its size */
            if (n->hard_count < 8) n->hard_printable[n->hard_count] = 0x20;
            n->hard_count++;
        }
        if (n->hard_count > 8) model->program.flags &= ~(uint32_t)ISOTOK__UNI_BLOCKS;
    } else {
        classify_ascii(n);
    }
    model->decoder_flags = b->decoder[0].flags;
    model->has_denormalizer = b->decoder_count > 1;
    if (model->has_denormalizer) {
        d->flags = b->decoder[1].flags;
        d->max_key_bytes = b->max_key_bytes;
        d->units = b->denormalizer_trie;
        d->replacements = b->denormalizer_text;
        classify_ascii(d);
    }
}

/* What a search for special tokens looks at. */
static void set_special(struct isotok_model *model)
{
    const struct isotok__trie_node *trie = model->blob.special_trie;
    uint32_t halves = 0, i;
    for (i = 0; i < model->blob.special_trie_count; i++)
        model->special_flags |= trie[i].value & ISOTOK__ADDED_FLAGS;
    for (i = 0; i < 256 && trie != NULL; i++) {
        if (isotok__trie_child(trie, 0, (uint8_t)i) == ISOTOK_NO_SLOT) continue;
        model->special_first[i >> 6] |= (uint64_t)1 << (i & 63);
        if (!ISOTOK_EXTRAS) continue;
        if (model->special_high[i >> 4] == 0)
            model->special_high[i >> 4] = (uint8_t)(1u << (halves++ & 7));
        model->special_low[i & 15] |= model->special_high[i >> 4];
    }
}

ISOTOK_INLINE void set_derived(struct isotok_model *model)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t words = b->pair_set_count > ISOTOK_PAIR_ASCII_WORDS
                         ? b->pair_set_count - ISOTOK_PAIR_ASCII_WORDS
                         : 1;
    uint32_t longest = 3, i;
    model->space_size = model->features & ISOTOK_FEATURE(COMPACT_SPACE) ? 1 : 3;
    model->wide = !model->pretokens && /* else a long token is several, see isotok__push_long */
                  (b->algorithm == ISOTOK_WORD || b->max_piece_bytes > 254 ||
                   (model->features & ISOTOK_FEATURE(WIDE)) != 0);
    model->is_0_2_1 = (model->features & ISOTOK_FEATURE(SENTENCEPIECE_0_2_1)) != 0;
    /* pre-tokens are found in order, from the front */
    model->whole_text =
        (model->features & ISOTOK_FEATURE(WHOLE_TEXT)) != 0 || model->pretokens != 0;
    model->pair_shift = 32u - 6u - isotok__trailing_zeros(words);
    if (!ISOTOK_SENTENCEPIECE_ONLY) set_special(model);
    for (i = 0; i < b->template_ops_count; i++) model->trim |= b->template_ops[i].flags >> 17;
    if (b->decoder[0].kind == ISOTOK_OP_DECODE_PIECES)
        model->decoder_pieces = b->decoder[0].flags | ISOTOK__DECODE_PIECES;
    model->byte_level = (model->features & ISOTOK_FEATURE(BYTE_LEVEL)) != 0;
    if (b->algorithm == ISOTOK_BPE && ISOTOK__HAS(b->word_rules_count >= 4 * ISOTOK__RULES)) {
        model->affixes = isotok__word_rule(model, ISOTOK__RULE_CHARACTERS);
        /* in the trie, whatever it is */
        model->continuation = isotok__word_rule(model, ISOTOK__RULE_CONTINUATION) % b->trie_count;
    }
    if (b->algorithm == ISOTOK_BPE && !model->byte_level)
        for (i = 0; i < b->vocab_size; i++) model->unused_count += b->types[i] == ISOTOK_UNUSED;
    longest = isotok__longest_run(b->charsmap_text, b->charsmap_text_count, 1, longest);
    longest = isotok__longest_run(b->denormalizer_text, b->denormalizer_text_count, 1, longest);
    if (b->max_piece_bytes > longest) longest = b->max_piece_bytes;
    model->longest_output = 3 * longest + 3; /* the normalizer asks for room for spaces only */
}

isotok_status isotok__blob_open(const uint8_t *data, size_t size, uint32_t verify,
                                struct isotok_model *model, isotok_error *error)
{
    const bool added = (verify & ISOTOK_VERIFY_ADDED) != 0;
    const uint64_t base = added ? model->features : 0;
    isotok_status status;
    verify &= ~(uint32_t)ISOTOK_VERIFY_ADDED;
    memset(model, 0, offsetof(struct isotok_model, blob));
    memset(&model->program, 0, sizeof *model - offsetof(struct isotok_model, program));
    if (!is_little_endian())
        return isotok__needs(error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_ENDIAN, 0);
    if (!isotok__is_aligned(data, ISOTOK_ALIGN))
        return isotok__needs(error, ISOTOK_E_ALIGNMENT, ISOTOK_WHAT_BLOB_ADDRESS, ISOTOK_ALIGN);
    if ((status = check_header(data, size, error)) != ISOTOK_OK) return status;
    model->features = base | isotok__load_u64(data + ISOTOK__HEADER_FEATURES);
    model->parity = isotok__load_u32(data + ISOTOK__HEADER_PARITY);
    if (verify == ISOTOK_VERIFY_FULL &&
        isotok__xxh64(data + ISOTOK__HEADER_FEATURES, size - ISOTOK__HEADER_FEATURES, 0) !=
            isotok__load_u64(data + ISOTOK__HEADER_CHECKSUM))
        return corrupt(error, ISOTOK_WHAT_CHECKSUM, 0, ISOTOK__HEADER_CHECKSUM);
    if ((status = read_fields(data, size, added, &model->blob, error)) != ISOTOK_OK) return status;
    model->pretokens =
        (model->features & (ISOTOK_FEATURE(PRETOKENIZER) | ISOTOK_FEATURE(PRETOKENS) |
                            ISOTOK_FEATURE(BYTE_LEVEL))) != 0;
    if ((status = isotok__check_shape(model, data, error)) != ISOTOK_OK) return status;
    if (ISOTOK__HAS(model->features & ISOTOK_FEATURE(PRETOKENIZER))) {
        const struct isotok__pretok_arrays arrays = isotok__pretok_arrays(&model->blob);
        if (!isotok__pretok_open(&model->pretokenizer, &arrays))
            return corrupt(error, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_PRETOK_HEADER, 0);
    }
    if (ISOTOK__HAS(model->features & ISOTOK_FEATURE(UNICODE)) &&
        !isotok__unicode_open(&model->program, &model->blob))
        return corrupt(error, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_UNICODE_HEADER, 0);
    if (verify != ISOTOK_VERIFY_TRUSTED &&
        (status = isotok__check_contents(model, data, error)) != ISOTOK_OK)
        return status;
    set_rules(model);
    set_derived(model);
    if (verify == ISOTOK_VERIFY_FULL) return isotok__verify_full(model, error);
    return ISOTOK_OK;
}
