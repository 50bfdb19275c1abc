/* Builds an XOR double array of 8-byte nodes from sorted keys (FORMAT.md section 4).
 *
 * ALGORITHM  Breadth-first over ranges of keys, so that the nodes near the root, which
 *   every text walks, lie together; the tail of a key that shares it with no other is
 *   laid out at once. A node's children go to block (256 slots) and base such that every
 *   slot is free and no other node has that base. Per block two bitmaps, free slots and
 *   used bases: the possible bases for labels c0, c1, .. are the AND of the free bitmap
 *   permuted by XOR with each label, AND NOT used. Blocks with room are kept in lists, a
 *   bounded number of them is tried.
 * COMPLEXITY  O(bytes of all keys); memory: 8 bytes a slot + 80 a block + queue.
 * The result depends on the keys alone. */
#ifndef ISOTOK_BUILD_DOUBLE_ARRAY_H
#define ISOTOK_BUILD_DOUBLE_ARRAY_H

#include "trie.h"
#include "work.h"

/* Its value is, here, the number of the key that ends at the slot, or NO_INDEX. */
typedef struct isotok__trie_node isotok__node;

/* Sorted distinct keys without NUL bytes, end to end. */
typedef struct isotok__keys {
    const uint8_t *text;
    const uint32_t *ends;
    uint32_t count;
} isotok__keys;

typedef struct isotok__trie {
    isotok__node *nodes;
    uint32_t slots; /* a multiple of 256 */
} isotok__trie;

static inline uint32_t isotok__key_begin(const isotok__keys *keys, uint32_t i)
{
    return i == 0 ? 0 : keys->ends[i - 1];
}

/* E_TOO_LARGE with TRIE_LARGE where 2^24 slots do not suffice. */
isotok_status isotok__double_array_build(isotok__work *work, const isotok__keys *keys,
                                         isotok__trie *out_trie);

/* The same, with every base where a Darts unit can point to it (darts.h). Keys may end with
 * a NUL byte. */
isotok_status isotok__double_array_build_near(isotok__work *work, const isotok__keys *keys,
                                              isotok__trie *out_trie);

/* A Darts unit holds slot XOR base in 21 bits, or in 29 if it is a multiple of 256. */
static inline bool isotok__is_near(uint32_t slot, uint32_t base)
{
    uint32_t offset = slot ^ base;
    return offset < 1u << 21 || offset % 256 == 0;
}

#endif
