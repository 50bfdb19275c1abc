/* Byte-level bpe: which characters may be merged before everything else. See plan.h and FORMAT.md
 * section 11.
 *
 * In well-formed text a piece begins and ends at boundaries of characters (*aligned*), lies inside
 * one character, or is neither (*torn*). A boundary that no torn piece spans separates merges: until
 * the characters at both sides are whole, nothing can be merged over it. If moreover an aligned
 * piece of several characters ranks behind the merges inside these characters, those merges come
 * first, so a character between two such boundaries can start as what its own merges make of it: one
 * symbol, if it is a direct piece. An aligned piece that ranks before them, or with a character that
 * is no piece, counts as torn: where it could arise, none of its characters starts as one.
 *
 * char_joints has a bit for each pair of bytes at a boundary inside a torn piece. */
#include "plan.h"
#include "text.h"

enum { WORDS = 65536 / 64 };

static bool is_inner(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Whether the text consists of whole characters. */
static bool is_aligned(const uint8_t *text, size_t size)
{
    size_t at = 0;
    while (at < size) {
        size_t length = isotok__lead_size(text[at]);
        if (is_inner(text[at]) || length > size - at) {
            return false;
        }
        for (size_t i = 1; i < length; i++) {
            if (!is_inner(text[at + i])) {
                return false;
            }
        }
        at += length;
    }
    return true;
}

/* Notes the boundaries inside a torn piece. */
static void add_joints(uint64_t *joints, const uint8_t *text, size_t size)
{
    for (size_t i = 1; i < size; i++) {
        if (!is_inner(text[i])) {
            uint32_t pair = (uint32_t)text[i - 1] << 8 | text[i];
            joints[pair >> 6] |= (uint64_t)1 << (pair & 63);
        }
    }
}

/* Lowest rank of a merge that makes the piece at the slot, NO_INDEX: none does. */
static uint32_t lowest_rank(const isotok__plan *plan, uint32_t slot)
{
    uint32_t value = plan->trie.nodes[slot].value & ~ISOTOK__NOT_DIRECT_BIT;
    if (plan->splits == NULL) {
        return value;
    }
    return (value & 0xFFu) == 0 ? ISOTOK__NO_INDEX : plan->splits[value >> 8] >> 10;
}

/* Whether an aligned piece of several characters comes behind all that is merged inside them. */
static bool comes_behind(const isotok__plan *plan, const uint32_t *latest, const uint8_t *text,
                         size_t size, uint32_t rank)
{
    for (size_t at = 0; at < size;) {
        uint32_t length = isotok__char_size(text + at, size - at);
        uint32_t slot = isotok__trie_walk(plan->trie.nodes, 0, text + at, length);
        /* one that is no piece stays in parts: then the piece is not made of whole characters */
        if (length > 1 && (slot == ISOTOK_NO_SLOT || latest[slot] >= rank)) {
            return false;
        }
        at += length;
    }
    return true;
}

isotok_status isotok__plan_characters(isotok__work *work, isotok__plan *plan,
                                      const uint32_t *latest)
{
    const isotok__keys *keys = &plan->keys;
    uint64_t *joints = ISOTOK__KEEP(work, uint64_t, WORDS);
    if (joints == NULL) {
        return work->error.status;
    }
    memset(joints, 0, WORDS * sizeof *joints);
    for (uint32_t i = 0; i < keys->count; i++) {
        const uint8_t *text = keys->text + isotok__key_begin(keys, i);
        size_t size = keys->ends[i] - isotok__key_begin(keys, i);
        if (!is_aligned(text, size)) {
            add_joints(joints, text, size);
        } else if (isotok__char_size(text, size) < size) {
            uint32_t slot = isotok__trie_walk(plan->trie.nodes, 0, text, size);
            uint32_t rank = lowest_rank(plan, slot);
            if (rank != ISOTOK__NO_INDEX && !comes_behind(plan, latest, text, size, rank)) {
                add_joints(joints, text, size);
            }
        }
    }
    plan->char_joints = joints;
    return ISOTOK_OK;
}
