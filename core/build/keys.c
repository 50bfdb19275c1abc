/* Which pieces go into which trie, in which form and order. See plan.h.
 *
 * Internal text: with compact_space every U+2581 is one byte 0x20. That is possible where
 * the normalizer turns every space into U+2581, no trie piece holds a space, and pieces
 * and replacements are well-formed, so that U+2581 cannot be half of anything. */
#include "plan.h"
#include "sort.h"
#include "text.h"

static isotok_status fail_twice(isotok__work *work, const isotok__spec *spec, uint32_t id)
{
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_PIECE_TWICE, id,
                              isotok__piece_offset(spec, id));
}

static bool has_space(isotok__span piece)
{
    for (size_t i = 0; i < piece.size; i++) {
        if (piece.data[i] == 0x20) {
            return true;
        }
    }
    return false;
}

/* compact and whole_text, which depend on the trie pieces' bytes. */
static void classify(const isotok__spec *spec, isotok__plan *plan)
{
    bool spaces = false;
    bool well_formed = true;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        if (piece.size > plan->max_piece_bytes) {
            plan->max_piece_bytes = (uint32_t)piece.size;
        }
        if (isotok__is_matched(spec, id)) {
            spaces |= has_space(piece);
            well_formed = well_formed && isotok__well_formed(piece.data, piece.size);
        }
    }
    bool by_pretokens = isotok__by_pretokens(spec);
    bool cuttable = well_formed && plan->charsmap.well_formed;
    plan->compact = cuttable && !spaces && !spec->byte_level && spec->prefix.size == 0 &&
                    (spec->normalizer_flags & ISOTOK__NORM_ESCAPE) != 0;
    plan->features |= plan->compact ? ISOTOK__FEATURE_BIT(COMPACT_SPACE) : 0;
    plan->features |= cuttable || by_pretokens ? 0 : ISOTOK__FEATURE_BIT(WHOLE_TEXT);
}

typedef bool selects(const isotok__spec *spec, uint32_t id);

static bool is_other(const isotok__spec *spec, uint32_t id)
{
    if (isotok__is_last(spec, id)) { /* another text in the trie */
        return true;
    }
    if (spec->pretokens) {
        uint8_t type = spec->types[id];
        return !isotok__is_matched(spec, id) &&
               (type == ISOTOK_CONTROL || type == ISOTOK_USER_DEFINED);
    }
    if (spec->byte_level) {
        return !isotok__is_matched(spec, id) && isotok__piece(spec, id).size != 0;
    }
    return !isotok__is_matched(spec, id) && !isotok__is_nul_piece(isotok__piece(spec, id));
}

static bool is_user_defined(const isotok__spec *spec, uint32_t id)
{
    return spec->types[id] == ISOTOK_USER_DEFINED && spec->added.size == 0;
}

static bool is_added(const isotok__spec *spec, uint32_t id)
{
    return isotok__is_added(spec, id, NULL);
}

/* Sorted pieces: item i's text is pool[items[i].begin .. ends[items[i].id]). */
typedef struct sorted {
    isotok__sort_item *items;
    uint32_t count;
    const uint8_t *pool;
    const uint32_t *ends;
} sorted;

static uint32_t count_selected(const isotok__spec *spec, selects *select, uint64_t *out_bytes)
{
    uint32_t count = 0;
    *out_bytes = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (select(spec, id)) {
            count++;
            *out_bytes += isotok__piece(spec, id).size;
        }
    }
    return count;
}

/* Memory that sort_pieces takes. */
static size_t sort_size(const isotok__spec *spec, uint32_t count, size_t bytes)
{
    return isotok__align_up(bytes + 1, ISOTOK_ALIGN) +
           isotok__align_up(spec->vocab_size * sizeof(uint32_t), ISOTOK_ALIGN) +
           isotok__align_up(count * sizeof(isotok__sort_item), ISOTOK_ALIGN);
}

/* Sorts the selected pieces by their internal text; all memory is temp. */
static isotok_status sort_pieces(isotok__work *work, const isotok__spec *spec, selects *select,
                                 bool compact, uint32_t count, size_t bytes, sorted *out)
{
    uint8_t *pool = ISOTOK__TEMP(work, uint8_t, bytes + 1);
    uint32_t *ends = ISOTOK__TEMP(work, uint32_t, spec->vocab_size);
    isotok__sort_item *items = ISOTOK__TEMP(work, isotok__sort_item, count);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    uint32_t at = 0;
    uint32_t made = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (select(spec, id)) {
            isotok__span piece = isotok__piece(spec, id);
            uint32_t size =
                (uint32_t)isotok__to_internal(piece.data, piece.size, compact, pool + at);
            if (select == isotok__is_matched && isotok__is_last(spec, id)) {
                size -= (uint32_t)isotok__affix_suffix(spec).size;
                pool[at + size++] = ISOTOK__END_MARK;
            }
            items[made++] = (isotok__sort_item){0, at, id};
            at += size;
            ends[id] = at;
        }
    }
    *out = (sorted){items, count, pool, ends};
    isotok__sort(items, count, pool, ends);
    return ISOTOK_OK;
}

/* Whether SentencePiece keeps both of two pieces with the same text: it has one map for
 * visible and one for reserved pieces, except for bpe, which has one for all. */
static bool may_share_text(const isotok__spec *spec, uint32_t a, uint32_t b)
{
    return spec->algorithm != ISOTOK_BPE &&
           isotok__is_visible(spec->types[a]) != isotok__is_visible(spec->types[b]);
}

/* The sorted texts end to end, as keys for a double array. */
static void gather(const sorted *s, uint8_t *text, uint32_t *ends, uint32_t *ids)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t size = s->ends[s->items[i].id] - s->items[i].begin;
        memcpy(text + at, s->pool + s->items[i].begin, size);
        at += size;
        ends[i] = at;
        ids[i] = s->items[i].id;
    }
}

static bool same_key(const isotok__keys *keys, uint32_t a, uint32_t b)
{
    uint32_t a_begin = isotok__key_begin(keys, a);
    uint32_t b_begin = isotok__key_begin(keys, b);
    uint32_t size = keys->ends[a] - a_begin;
    return keys->ends[b] - b_begin == size &&
           memcmp(keys->text + a_begin, keys->text + b_begin, size) == 0;
}

/* Refuses equal texts; of several the one that comes first in the source. Equal keys are
 * in id order, so a forbidden pair shows within three neighbours. */
static isotok_status check_twice(isotok__work *work, const isotok__spec *spec,
                                 const isotok__keys *keys, const uint32_t *ids)
{
    uint32_t first = ISOTOK__NO_INDEX;
    for (uint32_t i = 1; i < keys->count; i++) {
        for (uint32_t back = 1; back <= 2 && back <= i && same_key(keys, i - back, i); back++) {
            if (!may_share_text(spec, ids[i - back], ids[i]) && ids[i] < first) {
                first = ids[i];
            }
        }
    }
    return first == ISOTOK__NO_INDEX ? ISOTOK_OK : fail_twice(work, spec, first);
}

/* The selected pieces as sorted keys, checked for texts that come twice. */
static isotok_status make_keys(isotok__work *work, const isotok__spec *spec, selects *select,
                               bool compact, isotok__keys *out_keys, uint32_t **out_ids)
{
    uint64_t bytes;
    uint32_t count = count_selected(spec, select, &bytes);
    uint8_t *text = ISOTOK__KEEP(work, uint8_t, (size_t)bytes + 1);
    uint32_t *ends = ISOTOK__KEEP(work, uint32_t, count);
    isotok__work behind, *temp = work;
    size_t mark = isotok__temp_begin(work);
    sorted s;
    *out_ids = ISOTOK__KEEP(work, uint32_t, count);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    if (spec->algorithm != ISOTOK_BPE) { /* whose later passes need as much temp memory again */
        if (!isotok__behind(work, sort_size(spec, count, (size_t)bytes), &behind)) {
            return work->error.status;
        }
        temp = &behind;
    }
    if (sort_pieces(temp, spec, select, compact, count, (size_t)bytes, &s) != ISOTOK_OK) {
        return isotok__need(work, temp->size);
    }
    gather(&s, text, ends, *out_ids);
    isotok__temp_end(work, mark);
    *out_keys = (isotok__keys){text, ends, count};
    return check_twice(work, spec, out_keys, *out_ids);
}

static bool is_any(const isotok__spec *spec, uint32_t id)
{
    (void)spec;
    (void)id;
    return true;
}

isotok_status isotok__sorted_pieces(isotok__work *work, const isotok__spec *spec, bool only_user,
                                    isotok__keys *out_keys, uint32_t **out_ids)
{
    return make_keys(work, spec, only_user ? is_user_defined : is_any, false, out_keys, out_ids);
}

/* Reserved pieces go before an UNUSED one of the same text. */
static isotok_status make_other_ids(isotok__work *work, const isotok__spec *spec,
                                    isotok__plan *plan)
{
    isotok__keys keys;
    isotok_status status = make_keys(work, spec, is_other, false, &keys, &plan->other_ids);
    if (status != ISOTOK_OK) {
        return status;
    }
    plan->other_count = keys.count;
    for (uint32_t i = 1; i < keys.count; i++) {
        uint32_t *ids = plan->other_ids + i - 1;
        if (same_key(&keys, i - 1, i) && spec->types[ids[1]] != ISOTOK_UNUSED) {
            uint32_t unused = ids[0];
            ids[0] = ids[1];
            ids[1] = unused;
        }
    }
    return ISOTOK_OK;
}

/* A trie of the selected pieces in canonical text; value = id + 1, and flags of added tokens. */
static isotok_status make_ids_trie(isotok__work *work, const isotok__spec *spec, selects *select,
                                   isotok__plan *plan, isotok__trie *out, uint64_t feature)
{
    isotok__keys keys;
    uint32_t *ids;
    isotok_status status = make_keys(work, spec, select, false, &keys, &ids);
    if (status != ISOTOK_OK || keys.count == 0) {
        return status;
    }
    status = isotok__double_array_build(work, &keys, out);
    for (uint32_t slot = 0; status == ISOTOK_OK && slot < out->slots; slot++) {
        isotok__node *node = &out->nodes[slot];
        uint32_t flags = 0;
        uint32_t id = node->value;
        if (id == ISOTOK__NO_INDEX) {
            node->value = 0;
            continue;
        }
        id = ids[id];
        isotok__is_added(spec, id, &flags);
        node->value = (id + 1) | flags;
    }
    plan->features |= feature;
    return status;
}

/* The nodes by which added tokens are found, if they came with the source. */
static isotok_status take_added_trie(isotok__work *work, const isotok__spec *spec,
                                     isotok__plan *plan)
{
    isotok__trie *trie = &plan->special_trie;
    trie->slots = (uint32_t)(spec->added_trie.size / 2);
    trie->nodes = ISOTOK__KEEP(work, isotok__node, trie->slots);
    if (trie->nodes == NULL) {
        return work->error.status;
    }
    memcpy(trie->nodes, spec->added_trie.data, 4 * spec->added_trie.size);
    plan->features |= ISOTOK__FEATURE_BIT(SPECIAL_TOKENS);
    return ISOTOK_OK;
}

/* Special tokens that are pieces of the vocabulary too. */
static bool has_control_pieces(const isotok__spec *spec)
{
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (spec->types[id] == ISOTOK_CONTROL && isotok__is_matched(spec, id)) {
            return true;
        }
    }
    return false;
}

isotok_status isotok__plan_added(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    plan->features |= has_control_pieces(spec) ? ISOTOK__FEATURE_BIT(CONTROL_PIECES) : 0;
    isotok_status status = make_other_ids(work, spec, plan);
    if (status == ISOTOK_OK && spec->added_trie.size != 0) {
        return take_added_trie(work, spec, plan);
    }
    return status == ISOTOK_OK ? make_ids_trie(work, spec, is_added, plan, &plan->special_trie,
                                               ISOTOK__FEATURE_BIT(SPECIAL_TOKENS))
                               : status;
}

isotok_status isotok__plan_keys(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    classify(spec, plan);
    isotok_status status =
        make_keys(work, spec, isotok__is_matched, plan->compact, &plan->keys, &plan->key_ids);
    if (status == ISOTOK_OK) {
        status = isotok__plan_added(work, spec, plan);
    }
    return status == ISOTOK_OK ? make_ids_trie(work, spec, is_user_defined, plan, &plan->user_trie,
                                               ISOTOK__FEATURE_BIT(USER_DEFINED))
                               : status;
}
