/* What an `.spm.fb` needs beside the model: see export_spm_fb.h.
 *
 * PAIRS    Lite cuts where two adjacent characters are adjacent in no piece of any type. The
 *          trie's value for a pair (a, b) is the slot that b leads to from the root, 0 if
 *          none: there the scan goes on.
 * SCORES   Of bpe only the order counts. Whole numbers stay; where there are others, the
 *          merge ranks, negated, have the same order and the same ties.
 * NESTED   Of rules and user-defined pieces that begin with one another SentencePiece looks
 *          at the shortest 32 and 64, Lite at all. */
#include "export_spm_fb.h"

#include "sort.h"
#include "utf8.h"

enum { MAX_TEXT = 4096 };   /* bytes of a piece, and of unk_surface */
enum { NAME_SIZE = 9 + 8 }; /* "<unused_16776959>" */
enum { MAX_RULES = 32, MAX_USER = 64 };
#define MAX_SCORE 2147483520.0f /* the largest float32 below 2^31 */

static isotok_status refuse(isotok__work *work, const isotok__spec *spec, uint32_t what,
                            uint32_t id)
{
    uint64_t at = id != ISOTOK__NO_INDEX ? isotok__piece_offset(spec, id) : 0;
    return isotok__build_fail(work, ISOTOK_E_UNSUPPORTED, what, id, at);
}

/* ---- What cannot be exported ------------------------------------------------------ */

static isotok_status check_bytes(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan)
{
    for (uint32_t byte = 1; plan->byte_ids != NULL && byte < 256; byte++) {
        if (plan->byte_ids[byte] != plan->byte_ids[0] + byte) {
            return refuse(work, spec, ISOTOK_WHAT_EXPORT_BYTES, plan->byte_ids[byte]);
        }
    }
    return ISOTOK_OK;
}

static isotok_status check_model(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan)
{
    if (spec->algorithm != ISOTOK_UNIGRAM && spec->algorithm != ISOTOK_BPE) {
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_ALGORITHM, ISOTOK__NO_INDEX);
    }
    if (spec->is_0_2_1) {
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_0_2_1, ISOTOK__NO_INDEX);
    }
    /* after an unknown Lite strips no more leading spaces, whether text came out or not */
    if (plan->denormalizer.units != NULL ||
        (spec->unk_surface.size == 0 && spec->unk_id != ISOTOK_NO_TOKEN)) {
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_DECODER, ISOTOK__NO_INDEX);
    }
    if (plan->charsmap.max_key_bytes > MAX_RULES) { /* shorter ones cannot be that many */
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_NESTED, ISOTOK__NO_INDEX);
    }
    if (plan->features & ISOTOK__FEATURE_BIT(UNUSED_MERGES)) {
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_UNUSED, ISOTOK__NO_INDEX);
    }
    if (spec->unk_surface.size > MAX_TEXT) {
        return refuse(work, spec, ISOTOK_WHAT_EXPORT_PIECE, ISOTOK__NO_INDEX);
    }
    return check_bytes(work, spec, plan);
}

/* Keys of all pieces: each once, none too long. */
static isotok_status check_keys(isotok__work *work, const isotok__spec *spec,
                                const isotok__keys *keys, const uint32_t *ids)
{
    const uint8_t *last = NULL;
    uint32_t last_size = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        const uint8_t *text = keys->text + isotok__key_begin(keys, i);
        uint32_t size = keys->ends[i] - isotok__key_begin(keys, i);
        if (size > MAX_TEXT || (size == last_size && memcmp(text, last, size) == 0)) {
            return refuse(work, spec, ISOTOK_WHAT_EXPORT_PIECE, ids[i]);
        }
        last = text;
        last_size = size;
    }
    return ISOTOK_OK;
}

static bool begins_with(const isotok__keys *keys, uint32_t key, uint32_t prefix)
{
    uint32_t begin = isotok__key_begin(keys, key);
    uint32_t prefix_begin = isotok__key_begin(keys, prefix);
    uint32_t size = keys->ends[prefix] - prefix_begin;
    return keys->ends[key] - begin > size &&
           memcmp(keys->text + begin, keys->text + prefix_begin, size) == 0;
}

/* Sorted keys: those that a key begins with are in the chain of those before it. */
static isotok_status check_user(isotok__work *work, const isotok__spec *spec,
                                const isotok__keys *keys, const uint32_t *ids)
{
    uint32_t chain[MAX_USER];
    uint32_t length = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        while (length > 0 && !begins_with(keys, i, chain[length - 1])) {
            length--;
        }
        if (length == MAX_USER) {
            return refuse(work, spec, ISOTOK_WHAT_EXPORT_NESTED, ids[i]);
        }
        chain[length++] = i;
    }
    return ISOTOK_OK;
}

/* ---- Pieces that are one NUL byte -------------------------------------------------- */

static uint32_t write_name(uint32_t id, uint8_t *out)
{
    uint8_t digits[8];
    uint32_t count = 0;
    uint32_t size = 8;
    memcpy(out, "<unused_", 8);
    do {
        digits[count++] = (uint8_t)('0' + id % 10);
        id /= 10;
    } while (id > 0);
    while (count > 0) {
        out[size++] = digits[--count];
    }
    out[size++] = '>';
    return size;
}

/* Neither keys nor strings of the file hold NUL bytes; the pieces are UNUSED, so that a name
 * changes nothing. As sentencepiece.convert_to_flatbuffer names them. */
static isotok_status name_nul_pieces(isotok__work *work, isotok__spec *spec)
{
    uint32_t count = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        count += isotok__is_nul_piece(isotok__piece(spec, id));
    }
    if (count == 0) {
        return ISOTOK_OK;
    }
    size_t size = spec->piece_ends[spec->vocab_size - 1] + (size_t)count * NAME_SIZE;
    uint8_t *text = ISOTOK__KEEP(work, uint8_t, size);
    uint32_t *ends = ISOTOK__KEEP(work, uint32_t, spec->vocab_size);
    if (text == NULL || ends == NULL) {
        return work->error.status;
    }
    uint32_t end = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        isotok__span piece = isotok__piece(spec, id);
        if (isotok__is_nul_piece(piece)) {
            end += write_name(id, text + end);
        } else {
            memcpy(text + end, piece.data, piece.size);
            end += (uint32_t)piece.size;
        }
        ends[id] = end;
    }
    spec->piece_text = text;
    spec->piece_ends = ends;
    return ISOTOK_OK;
}

/* ---- Pairs ------------------------------------------------------------------------ */

typedef struct pair_list {
    isotok__sort_item *items; /* NULL: only count */
    uint8_t *pool;            /* 8 bytes for each */
    uint32_t *ends;
    uint32_t count;
} pair_list;

static void add_pair(pair_list *list, const uint8_t *text, size_t size)
{
    uint32_t i = list->count++;
    if (list->items != NULL) {
        list->items[i] = (isotok__sort_item){0, 8 * i, i};
        list->ends[i] = 8 * i + (uint32_t)size;
        memcpy(list->pool + 8 * (size_t)i, text, size);
    }
}

/* Pairs of a key that do not end inside what it shares with the key before. */
static void add_pairs(pair_list *list, const uint8_t *text, size_t size, size_t shared)
{
    size_t before = 0; /* bytes of the character in front of `at` */
    for (size_t at = 0; at < size;) {
        size_t here = isotok__char_size(text + at, size - at);
        if (before > 0 && at + here > shared) {
            add_pair(list, text + at - before, before + here);
        }
        before = here;
        at += here;
    }
}

static void add_all_pairs(pair_list *list, const isotok__keys *keys)
{
    const uint8_t *last = NULL;
    size_t last_size = 0;
    list->count = 0;
    for (uint32_t i = 0; i < keys->count; i++) {
        const uint8_t *text = keys->text + isotok__key_begin(keys, i);
        size_t size = keys->ends[i] - isotok__key_begin(keys, i);
        size_t shared = 0;
        while (shared < isotok__min(last_size, size) && text[shared] == last[shared]) {
            shared++;
        }
        add_pairs(list, text, size, shared);
        last = text;
        last_size = size;
    }
}

/* The distinct pairs, sorted, as keys. */
static isotok_status pair_keys(isotok__work *work, const isotok__keys *pieces, isotok__keys *out)
{
    size_t mark = isotok__temp_begin(work);
    pair_list list = {0};
    add_all_pairs(&list, pieces);
    isotok__sort_item *items = ISOTOK__TEMP(work, isotok__sort_item, list.count);
    list.ends = ISOTOK__TEMP(work, uint32_t, list.count);
    list.pool = (uint8_t *)isotok__temp(work, list.count, 8);
    uint8_t *text = (uint8_t *)isotok__keep(work, list.count, 8);
    uint32_t *ends = ISOTOK__KEEP(work, uint32_t, list.count);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    list.items = items;
    add_all_pairs(&list, pieces);
    isotok__sort(items, list.count, list.pool, list.ends);
    *out = (isotok__keys){text, ends, 0};
    uint32_t end = 0;
    uint32_t last_size = 0;
    for (uint32_t i = 0; i < list.count; i++) {
        const uint8_t *pair = list.pool + items[i].begin;
        uint32_t size = list.ends[items[i].id] - items[i].begin;
        if (size == last_size && memcmp(pair, text + end - size, size) == 0) {
            continue;
        }
        memcpy(text + end, pair, size);
        end += size;
        last_size = size;
        ends[out->count++] = end;
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

static isotok_status make_pairs(isotok__work *work, const isotok__keys *pieces, isotok__darts *out)
{
    isotok__keys keys;
    isotok_status status = pair_keys(work, pieces, &keys);
    if (status == ISOTOK_OK) {
        status = isotok__darts_build(work, &keys, NULL, out);
    }
    for (uint32_t i = 0; status == ISOTOK_OK && i < keys.count; i++) {
        const uint8_t *pair = keys.text + isotok__key_begin(&keys, i);
        uint32_t size = keys.ends[i] - isotok__key_begin(&keys, i);
        uint32_t first = isotok__char_size(pair, size);
        uint32_t slot = isotok__darts_walk(out, pair, size);
        uint32_t link = isotok__darts_walk(out, pair + first, size - first);
        out->units[isotok__darts_leaf(out, slot)] = ISOTOK__DARTS_VALUE | link;
    }
    return status;
}

/* ---- Bpe -------------------------------------------------------------------------- */

static bool is_whole(float score)
{
    return score >= -MAX_SCORE && score <= MAX_SCORE && (float)(int32_t)score == score;
}

/* Whether int32 holds the scores of all pieces that merges make. User-defined pieces are none:
 * where their text is, it is found first. -0.0 is below 0.0; alone it may become 0. */
static bool all_whole(const isotok__spec *spec)
{
    bool whole = true;
    bool zeros[2] = {false, false};
    for (uint32_t id = 0; id < spec->vocab_size && whole; id++) {
        if (isotok__is_matched(spec, id) && spec->types[id] != ISOTOK_USER_DEFINED) {
            uint32_t bits;
            memcpy(&bits, &spec->scores[id], 4);
            whole = is_whole(spec->scores[id]);
            zeros[bits >> 31] |= (bits & 0x7FFFFFFFu) == 0;
        }
    }
    return whole && !(zeros[0] && zeros[1]);
}

static isotok_status make_scores(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan, isotok__spm_fb *out)
{
    int32_t *scores = ISOTOK__KEEP(work, int32_t, spec->vocab_size);
    uint8_t *direct = ISOTOK__KEEP(work, uint8_t, spec->vocab_size);
    bool whole = all_whole(spec);
    bool all = true;
    if (scores == NULL || direct == NULL) {
        return work->error.status;
    }
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        scores[id] = is_whole(spec->scores[id]) ? (int32_t)spec->scores[id] : 0;
        direct[id] = 1; /* what is not found in text may have either mark */
    }
    for (uint32_t slot = 0; slot < plan->trie.slots; slot++) {
        uint32_t id = plan->trie_ids[slot];
        uint32_t value = plan->trie.nodes[slot].value;
        if (id == ISOTOK_NO_TOKEN) {
            continue;
        }
        if (!whole) {
            scores[id] = -(int32_t)(value & ~ISOTOK__NOT_DIRECT_BIT);
        }
        if (spec->types[id] != ISOTOK_UNUSED) {
            direct[id] = (value & ISOTOK__NOT_DIRECT_BIT) == 0;
            all = all && direct[id];
            out->has_direct = out->has_direct || direct[id];
        }
    }
    out->int_scores = scores;
    out->is_direct = all ? NULL : direct;
    return ISOTOK_OK;
}

/* ---- All of it -------------------------------------------------------------------- */

isotok_status isotok__spm_fb_make(isotok__work *work, const isotok__spec *spec,
                                  const isotok__plan *plan, isotok__spm_fb *out)
{
    isotok__keys keys;
    isotok__keys user;
    uint32_t *ids;
    uint32_t *user_ids;
    memset(out, 0, sizeof *out);
    out->spec = *spec;
    isotok_status status = check_model(work, spec, plan);
    if (status == ISOTOK_OK) {
        status = name_nul_pieces(work, &out->spec);
    }
    if (status == ISOTOK_OK) {
        status = isotok__sorted_pieces(work, &out->spec, false, &keys, &ids);
    }
    if (status == ISOTOK_OK) {
        status = check_keys(work, spec, &keys, ids);
    }
    if (status == ISOTOK_OK) {
        status = isotok__darts_build(work, &keys, ids, &out->pieces);
    }
    if (status == ISOTOK_OK) {
        status = make_pairs(work, &keys, &out->pairs);
    }
    if (status == ISOTOK_OK) {
        status = isotok__sorted_pieces(work, &out->spec, true, &user, &user_ids);
    }
    if (status == ISOTOK_OK) {
        status = check_user(work, spec, &user, user_ids);
    }
    if (status == ISOTOK_OK) {
        status = isotok__darts_build(work, &user, user_ids, &out->user);
    }
    if (status == ISOTOK_OK && spec->algorithm == ISOTOK_BPE) {
        status = make_scores(work, spec, plan, out);
    }
    return status;
}
