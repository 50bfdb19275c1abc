/* L3: what the two BPE mergers share, and the one for long chunks and UNUSED pieces. */
#ifndef ISOTOK_BPE_LONG_H
#define ISOTOK_BPE_LONG_H

#include "session.h"
#include "trie.h"
#include "utf8.h"

#define ISOTOK__NO_RANK 0xFFFFFFFFu
#define ISOTOK__NOT_DIRECT 0x80000000u
#define ISOTOK__FROZEN 0xFF000000u /* node of a user-defined symbol: never merged */
#define ISOTOK__GONE 0xFF000001u   /* node where a symbol began that is part of another now */

/* Rank of merging two symbols, which begin at position[0] and position[1] and end at
 * position[2], or ISOTOK__NO_RANK; the slot of the result in *out_merged. Pieces longer than max_piece_bytes do not exist, whatever the
 * trie says: that bounds the walk.
 *
 * A list of merges gives ranks to pairs of pieces. Texts of pieces are unique, and the parts of
 * a listed pair are pieces, so a pair is what its merged piece is and how long the left part is:
 * symbols with these texts are these pieces. (Behind the first symbol texts have the prefix in front.) A queue entry is stale unless its place
 * still has its rank: as a rank belongs to one pair, that is to say unless it is still the same
 * pair (a symbol only grows, so what is merged at one place only gets longer, and a pair that
 * was left behind never comes back). */
static inline ISOTOK_COLD uint32_t isotok__bpe_rank(const isotok_model *model, const uint8_t *text,
                                                    const uint32_t *node, const uint32_t *position,
                                                    uint32_t *out_merged)
{
    const struct isotok__trie_node *trie = model->blob.trie;
    const uint32_t *splits = model->blob.merge_splits;
    const uint32_t begin = position[0], end = position[2];
    const uint32_t prefix = begin != 0 ? ISOTOK__HAS(model->affixes) >> 8 : 0;
    uint32_t slot = node[0], value, p;
    if (slot == ISOTOK_NO_SLOT || slot >= ISOTOK__FROZEN || node[1] == ISOTOK__FROZEN ||
        end - begin > model->blob.max_piece_bytes)
        return ISOTOK__NO_RANK;
    for (p = position[1]; p < end; p++) {
        slot = isotok__trie_step(trie, slot, text[p]);
        if (slot == ISOTOK_NO_SLOT) return ISOTOK__NO_RANK;
    }
    value = trie[slot].value;
    *out_merged = slot;
    if (value == ISOTOK_VALUE_NONE) return ISOTOK__NO_RANK;
    value &= ~ISOTOK__NOT_DIRECT;
    return splits != NULL ? isotok__split_rank(splits, value, prefix + position[1] - begin) : value;
}

/* The symbol with which merging begins at text[p..size): its slot or ISOTOK_NO_SLOT, its bytes in
 * *out_length. A character, or a byte; `whole`: a byte-level model may take a character that no torn
 * piece can reach (FORMAT.md, section 11). */
uint32_t isotok__bpe_symbol(const isotok_model *model, const uint8_t *text, uint32_t p,
                            uint32_t size, bool whole, uint32_t *out_length);

/* Appends the token of a final symbol text[begin..end). */
void isotok__bpe_token(const isotok_model *model, const uint8_t *text, uint32_t begin, uint32_t end,
                       uint32_t node, struct isotok__tokens *tokens);

/* Segments a chunk of any length. `user`: user-defined pieces are matched and frozen here;
 * else there are none in the text. */
void isotok__bpe_long(const isotok_model *model, const uint8_t *text, uint32_t size, bool user,
                      struct isotok__bpe_work *work, struct isotok__tokens *tokens);

#endif
