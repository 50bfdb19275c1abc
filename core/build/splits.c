/* Lists of merges: which two parts make a piece, and when (FORMAT.md section 12). In the spec the
 * left parts are measured in canonical text, in a blob in internal text. See plan.h. */
#include "blob_gen.h"
#include "isotok_build.h"
#include "plan.h"
#include "text.h"

static isotok_status fail_field(isotok__work *work, uint32_t field, uint64_t offset)
{
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_FIELD, field, offset);
}

static uint32_t entry_at(const isotok__spec *spec, size_t index)
{
    return isotok__load_u32(spec->merge_splits.data + 4 * index);
}

/* Whether the piece can be cut into two parts behind `left` bytes. */
static bool can_split(const isotok__spec *spec, uint32_t id, uint32_t left)
{
    isotok__span piece = isotok__piece(spec, id);
    return isotok__is_matched(spec, id) && left > 0 && left < piece.size &&
           (spec->byte_level || (piece.data[left] & 0xC0) != 0x80);
}

isotok_status isotok__splits_check(isotok__work *work, const isotok__spec *spec)
{
    size_t at = 0;
    if (spec->merge_counts.size == 0) {
        return spec->merge_splits.size == 0 ? ISOTOK_OK
                                            : fail_field(work, ISOTOK_FIELD_MERGE_COUNTS, 0);
    }
    if (spec->algorithm != ISOTOK_BPE || spec->merge_counts.size != spec->vocab_size) {
        return fail_field(work, ISOTOK_FIELD_MERGE_COUNTS, 0);
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        size_t end = at + spec->merge_counts.data[id];
        for (; at < end; at++) {
            if (at >= spec->merge_splits.size ||
                !can_split(spec, id, entry_at(spec, at) & ISOTOK__SPLIT_LEFT)) {
                return fail_field(work, ISOTOK_FIELD_MERGE_SPLITS, at);
            }
        }
    }
    if (at != spec->merge_splits.size || at > ISOTOK__MAX_SPLITS) {
        return fail_field(work, ISOTOK_FIELD_MERGE_SPLITS, at);
    }
    return ISOTOK_OK;
}

/* Bytes of internal text that the first `size` canonical bytes are. */
static uint32_t internal_size(const uint8_t *text, uint32_t size, bool compact)
{
    uint32_t result = size;
    for (uint32_t i = 0; compact && i + 3 <= size; i++) {
        if (memcmp(text + i, "\xE2\x96\x81", 3) == 0) {
            result -= 2;
        }
    }
    return result;
}

isotok_status isotok__plan_splits(isotok__work *work, const isotok__spec *spec, isotok__plan *plan,
                                  uint32_t *values)
{
    size_t mark = isotok__temp_begin(work);
    uint32_t *of_id = ISOTOK__TEMP(work, uint32_t, spec->vocab_size);
    plan->split_count = (uint32_t)spec->merge_splits.size + 1;
    plan->splits = ISOTOK__KEEP(work, uint32_t, plan->split_count);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    uint32_t at = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        const uint8_t *text = isotok__piece(spec, id).data;
        uint32_t count = spec->merge_counts.data[id];
        of_id[id] = at << 8 | count;
        for (uint32_t end = at + count; at < end; at++) {
            uint32_t entry = entry_at(spec, at);
            uint32_t left = internal_size(text, entry & ISOTOK__SPLIT_LEFT, plan->compact);
            plan->splits[at] = (entry & ~ISOTOK__SPLIT_LEFT) | left;
        }
    }
    plan->splits[at] = 0;
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        values[i] = of_id[plan->key_ids[i]];
    }
    plan->features |= ISOTOK__FEATURE_BIT(MERGE_LIST);
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

/* Canonical bytes that the first `left` bytes of the piece's compact text are. */
static uint32_t canonical_size(isotok__span piece, uint32_t left)
{
    uint32_t size = 0;
    for (uint32_t i = 0; i < left && size < piece.size; i++) {
        bool space = piece.size - size >= 3 && memcmp(piece.data + size, "\xE2\x96\x81", 3) == 0;
        size += space ? 3 : 1;
    }
    return size;
}

isotok_status isotok__splits_take(isotok__work *work, isotok__spec *spec, isotok__span counts,
                                  isotok__span splits, bool compact)
{
    size_t total = 0;
    for (size_t i = 0; i < counts.size; i++) {
        total += counts.data[i];
    }
    if (counts.size != spec->vocab_size || splits.size != total + 1) {
        return fail_field(work, ISOTOK__FIELD_MERGE_COUNTS, 0);
    }
    uint32_t *out = ISOTOK__KEEP(work, uint32_t, total + 1);
    if (out == NULL) {
        return work->error.status;
    }
    memcpy(out, splits.data, 4 * (total + 1));
    spec->merge_counts = counts;
    spec->merge_splits = (isotok__span){(const uint8_t *)out, total};
    size_t at = 0;
    for (uint32_t id = 0; compact && id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        for (size_t end = at + counts.data[id]; at < end; at++) {
            uint32_t left = out[at] & ISOTOK__SPLIT_LEFT;
            uint32_t size = canonical_size(piece, left);
            out[at] = (out[at] & ~ISOTOK__SPLIT_LEFT) | (size & ISOTOK__SPLIT_LEFT);
        }
    }
    return ISOTOK_OK;
}
