/* L1: reading the blob's tries.
 *
 * Two kinds: isotok's XOR double array of 8-byte nodes (FORMAT.md §4) and the Darts units
 * of SentencePiece's precompiled_charsmap (semantics: unit bits 0-7 label, 8 has_leaf,
 * 9 offset x 256, 10-30 offset, 31 value). The opener has verified that every link
 * stays inside its array, so the steps need no bounds check. */
#ifndef ISOTOK_TRIE_H
#define ISOTOK_TRIE_H

#include "base.h"
#include "blob_gen.h"

#define ISOTOK_NO_SLOT 0u /* slot 0 is the root: never the result of a step */
#define ISOTOK_VALUE_NONE 0xFFFFFFFFu
#define ISOTOK_VALUE_NONE_SCORE 0xFF800000u /* -inf as float32 bits */

/* Child slot of `slot` by `byte`, or ISOTOK_NO_SLOT. */
ISOTOK_INLINE uint32_t isotok__trie_step(const struct isotok__trie_node *trie, uint32_t slot,
                                         uint8_t byte)
{
    uint32_t child = (trie[slot].link >> 8) ^ byte;
    return (uint8_t)trie[child].link == byte ? child : ISOTOK_NO_SLOT;
}

/* The same, for what need not be fast. */
static inline ISOTOK_COLD uint32_t isotok__trie_child(const struct isotok__trie_node *trie,
                                                      uint32_t slot, uint8_t byte)
{
    return isotok__trie_step(trie, slot, byte);
}

/* Slot reached from `slot` by text[0..size), or ISOTOK_NO_SLOT. */
static inline ISOTOK_COLD uint32_t isotok__trie_walk(const struct isotok__trie_node *trie,
                                                     uint32_t slot, const uint8_t *text,
                                                     size_t size)
{
    size_t i;
    for (i = 0; i < size; i++) {
        slot = isotok__trie_step(trie, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) return ISOTOK_NO_SLOT;
    }
    return slot;
}

/* Rank of the merge that makes the piece with this trie value from a left part of `left` bytes
 * and the rest, or 0xFFFFFFFF: there is none (FORMAT.md, section 12). */
ISOTOK_INLINE uint32_t isotok__split_rank(const uint32_t *splits, uint32_t value, uint32_t left)
{
    const uint32_t *at = splits + (value >> 8), *end = at + (value & 0xFFu);
    for (; at < end; at++)
        if ((*at & 0x3FFu) == left) return *at >> 10;
    return 0xFFFFFFFFu;
}

ISOTOK_INLINE uint32_t isotok__darts_offset(uint32_t unit)
{
    return (unit >> 10) << ((unit & 0x200u) >> 6);
}

#endif
