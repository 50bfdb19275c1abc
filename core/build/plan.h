/* Plan: every section of a blob, derived from a ModelSpec by passes that run in the order
 * of this file. Each pass reads the spec and what earlier passes made. */
#ifndef ISOTOK_BUILD_PLAN_H
#define ISOTOK_BUILD_PLAN_H

#include "blob_gen.h"
#include "charsmap.h"
#include "double_array.h"
#include "spec.h"

#define ISOTOK__FEATURE_BIT(name) ((uint64_t)1 << ISOTOK__FEATURE_##name)
#define ISOTOK__NOT_DIRECT_BIT 0x80000000u
#define ISOTOK__MINUS_INFINITY 0xFF800000u /* float32 bits */
#define ISOTOK__END_MARK 0xFFu             /* instead of a suffix, in the trie */
#define ISOTOK__PAIR_ASCII 256u            /* words of pair_set for two ASCII characters */

typedef struct isotok__plan {
    uint64_t features;
    float unk_score;
    uint64_t *exact_scores; /* float64 bits, NULL: `scores` are exact */
    uint8_t *word_rules;    /* `pretokens`, `affixes`: 3 uint32, the prefix, the suffix */
    uint32_t continuation;  /* bpe: slot of the prefix */
    uint32_t max_piece_bytes, max_expansion, max_key_bytes;
    isotok__charsmap charsmap, denormalizer;

    bool compact;        /* feature compact_space */
    isotok__keys keys;   /* trie pieces in internal text, sorted */
    uint32_t *key_ids;   /* [keys.count] piece of a key */
    uint32_t *other_ids; /* sorted by text */
    uint32_t other_count;

    isotok__trie trie;
    uint32_t *trie_ids;     /* [trie.slots] */
    isotok__trie user_trie;    /* nodes NULL without user-defined pieces */
    isotok__trie special_trie; /* of added tokens; nodes NULL without */
    uint64_t *start_set;    /* NULL without rules and user-defined pieces */
    uint32_t *byte_ids;     /* [256] or NULL */
    uint64_t *char_joints; /* [1024] or NULL */
    uint8_t *windows; /* [ISOTOK__WINDOWS_SIZE] or NULL */
    uint64_t *pair_set;
    uint32_t pair_words;
    struct isotok__operation *template_ops;
    uint32_t template_count;
    uint32_t *splits; /* of a list of merges, in internal text, and a 0; or NULL */
    uint32_t split_count;
    struct isotok__operation operations[4]; /* normalizer, decoder, denormalizer, pretokenizer */
} isotok__plan;

/* All passes. */
isotok_status isotok__plan_make(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* plan.c: operations. */
void isotok__plan_operations(const isotok__spec *spec, isotok__plan *plan);

/* keys.c: compact, keys, key_ids, other_ids, user_trie. Refuses duplicates among the pieces
 * of the trie and among the others. */
isotok_status isotok__plan_keys(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* keys.c: other_ids and special_trie alone, of a spec with added tokens. */
isotok_status isotok__plan_added(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* keys.c: all pieces (which must hold no NUL byte), or the USER_DEFINED ones, sorted by their
 * canonical text, and their ids. */
isotok_status isotok__sorted_pieces(isotok__work *work, const isotok__spec *spec, bool only_user,
                                    isotok__keys *out_keys, uint32_t **out_ids);

/* values.c: trie, trie_ids, values without the direct bit, unk_score, wide. Refuses a
 * piece outside the trie that has the same text as one inside, where SentencePiece does. */
isotok_status isotok__plan_trie(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* values.c: exact_scores, or unk_score, of a unigram model of pre-tokens: the lowest score, those of
 * pieces that are in no text included. */
isotok_status isotok__plan_exact(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* splits.c: splits, and the trie values of the keys. */
isotok_status isotok__plan_splits(isotok__work *work, const isotok__spec *spec, isotok__plan *plan,
                                  uint32_t *values);

/* merges.c: bpe only: the direct bits, unused_merges, whole_text. */
isotok_status isotok__plan_merges(isotok__work *work, const isotok__spec *spec, isotok__plan *plan);

/* characters.c: byte-level bpe: char_joints. latest: by slot of a character, more than any rank that
 * its own merges have; NO_INDEX if they do not make it. */
isotok_status isotok__plan_characters(isotok__work *work, isotok__plan *plan,
                                      const uint32_t *latest);

/* windows.c: windows, where the pre-tokenizer allows them. */
isotok_status isotok__plan_windows(isotok__work *work, const isotok__spec *spec,
                                   isotok__plan *plan);

/* pairs.c: pair_set. */
isotok_status isotok__plan_pairs(isotok__work *work, isotok__plan *plan);

#endif
