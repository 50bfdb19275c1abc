/* L2: the additional checks of ISOTOK_VERIFY_FULL: every piece is found under its text,
 * pair_set and start_set are complete. Used by compile, inspect and CI. */
#include <float.h>

#include "cuts.h"
#include "trie.h"
#include "unicode.h"

static isotok_status fail(isotok_error *error, uint32_t what, uint32_t index)
{
    return isotok__fail(error, ISOTOK_E_CORRUPT, what, index, 0, 0);
}

/* Pieces that the trie must hold. */
static bool is_matchable(const isotok_model *model, uint32_t id)
{
    uint32_t type = model->blob.types[id];
    if (model->features & ISOTOK_FEATURE(PRETOKENS))
        return type != ISOTOK_UNUSED && model->blob.scores[id] >= -FLT_MAX;
    if (model->features & (ISOTOK_FEATURE(BYTE_LEVEL) | ISOTOK_FEATURE(SPECIAL_TOKENS)))
        /* a special token that text can give besides has a score */
        return type == ISOTOK_NORMAL || (type == ISOTOK_CONTROL && model->blob.scores[id] > 0);
    return type == ISOTOK_NORMAL || type == ISOTOK_USER_DEFINED ||
           (type == ISOTOK_UNUSED &&
            (model->blob.algorithm == ISOTOK_BPE ||
             (model->is_0_2_1 && model->blob.algorithm != ISOTOK_UNIGRAM)));
}

ISOTOK_INLINE isotok_status check_pairs(const isotok_model *model, uint32_t id, isotok_error *error)
{
    uint32_t size, p = 0, left = 0, n, key;
    const uint8_t *text = isotok__piece_text(model, id, &size);
    while (p < size) {
        n = isotok__char_end(text, p, size) - p;
        key = isotok__char_key(text + p, n);
        if (model->space_size == 1 && key == 0xE29681) key = 0x20;
        if (p != 0 && !isotok__may_join(model, left, key))
            return fail(error, ISOTOK_WHAT_PAIR_SET, id);
        left = key;
        p += n;
    }
    return ISOTOK_OK;
}

ISOTOK_INLINE isotok_status check_spelling(const isotok_model *model, isotok_error *error)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t id, size, found, matchable = 0, slot;
    for (id = 0; id < b->vocab_size; id++) {
        const uint8_t *text = isotok__piece_text(model, id, &size);
        isotok_status status;
        if (size == 1 && text[0] == 0 && !model->pretokens) continue; /* in no index, FORMAT.md */
        if (size == 0 && model->pretokens) continue;
        found = isotok_piece_find(model, text, size);
        if (is_matchable(model, id)) {
            /* a reserved piece with the same text comes first */
            if (found != id && (found == ISOTOK_NO_TOKEN || is_matchable(model, found)))
                return fail(error, ISOTOK_WHAT_SPELLING, id);
            matchable++;
            status = model->blob.pair_set != NULL ? check_pairs(model, id, error) : ISOTOK_OK;
            if (status != ISOTOK_OK) return status;
        } else if (found == ISOTOK_NO_TOKEN) {
            return fail(error, ISOTOK_WHAT_SPELLING, id);
        }
    }
    for (slot = 0; slot < b->trie_count; slot++)
        if (b->trie_ids[slot] != ISOTOK_NO_TOKEN) {
            if (!is_matchable(model, b->trie_ids[slot]))
                return fail(error, ISOTOK_WHAT_TRIE_ID, slot);
            if (matchable-- == 0) return fail(error, ISOTOK_WHAT_TRIE_ID, slot);
        }
    return matchable == 0 ? ISOTOK_OK : fail(error, ISOTOK_WHAT_SPELLING, b->vocab_size);
}

/* Whether a rule or user-defined piece may start with the bytes of one character: a key
 * that is the character, goes on after it, or ends inside it. */
ISOTOK_INLINE bool may_start(const struct isotok__rules *rules, const uint8_t *text, uint32_t size)
{
    uint32_t i, slot = 0, at;
    bool alive = rules->user != NULL;
    for (i = 0; i < size && alive; i++) {
        slot = isotok__trie_child(rules->user, slot, text[i]);
        alive = slot != ISOTOK_NO_SLOT;
        if (alive && rules->user[slot].value != 0) return true;
    }
    if (alive) return true;
    if (rules->units == NULL) return false;
    at = isotok__darts_offset(rules->units[0]);
    for (i = 0; i < size; i++) {
        uint32_t unit;
        at ^= text[i];
        unit = rules->units[at];
        if ((unit & 0x800000FFu) != text[i]) return false;
        if (unit & 0x100u) return true;
        at ^= isotok__darts_offset(unit);
    }
    return true;
}

ISOTOK_INLINE isotok_status check_starts(const isotok_model *model, isotok_error *error)
{
    const uint64_t *set = model->normalizer.start_set;
    uint32_t point;
    uint8_t text[4];
    if (set == NULL) return ISOTOK_OK;
    for (point = 0; point < ISOTOK_START_WORDS * 64; point++) {
        if (point >= 0xD800 && point < 0xE000) continue;
        if (!(set[point >> 6] >> (point & 63) & 1) &&
            may_start(&model->normalizer, text, isotok__put_scalar(point, text)))
            return fail(error, ISOTOK_WHAT_START_SET, point);
    }
    return ISOTOK_OK;
}

isotok_status isotok__verify_full(const struct isotok_model *model, isotok_error *error)
{
    isotok_status status = check_spelling(model, error);
    return status != ISOTOK_OK ? status : check_starts(model, error);
}
