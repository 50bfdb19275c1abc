/* ModelSpec: what a source means, before any table is built. Readers fill it, checks
 * refuse what cannot be a model, passes derive the sections of the blob from it. */
#ifndef ISOTOK_BUILD_SPEC_H
#define ISOTOK_BUILD_SPEC_H

#include "isotok_build.h"
#include "work.h"

#define ISOTOK__MAX_PIECE 7999u /* bytes; SentencePiece refuses 8,000 */
#define ISOTOK__MAX_VOCAB 0xFFFF00u
#define ISOTOK__MAX_SOURCE 0x7FFFFFFFu /* bytes of a source, and of a blob */
#define ISOTOK__MAX_EXPANSION 4096u
#define ISOTOK__MAX_SPLITS (1u << 22)
#define ISOTOK__SPLIT_LEFT 0x3FFu /* of an entry of merge_splits; the rest is the rank */
#define ISOTOK__MAX_FLOAT 3.40282346638528859812e+38f

/* Flags of a normalizer operation (FORMAT.md section 7). */
enum {
    ISOTOK__NORM_DUMMY_PREFIX = 1,
    ISOTOK__NORM_REMOVE_SPACES = 2,
    ISOTOK__NORM_ESCAPE = 4,
    ISOTOK__NORM_SUFFIX = 8,
    ISOTOK__NORM_ALL = 15
};

/* A run of borrowed bytes. */
typedef struct isotok__span {
    const uint8_t *data;
    size_t size;
} isotok__span;

typedef struct isotok__spec {
    uint32_t algorithm; /* ISOTOK_UNIGRAM .. */
    uint32_t parity;
    uint32_t vocab_size;
    uint32_t longest_piece, longest_key; /* of a blob: max_piece_bytes, max_key_bytes */
    uint32_t byte_fallback;    /* 0 or 1 */
    uint32_t normalizer_flags; /* ISOTOK__NORM_… */
    uint32_t denormalizer_flags;
    isotok__span charsmap; /* precompiled_charsmap, empty = none */
    isotok__span denormalizer_charsmap;
    isotok__span unk_surface;
    isotok__span bos_piece, eos_piece, pad_piece;
    uint32_t unk_id, bos_id, eos_id, pad_id; /* by the check, or from a packed model */
    bool ids_given;                          /* bos_id, eos_id, pad_id came with the source */
    bool is_0_2_1;                           /* ids and texts as sentencepiece up to 0.2.1 */
    uint32_t byte_level;                     /* ISOTOK_BYTE_LEVEL_…, 0: not */
    uint32_t pretokens;                      /* 1: WORD, WORDPIECE or UNIGRAM by pre-tokens */
    isotok__span exact_scores;               /* double, of such a UNIGRAM; size counts elements */
    uint32_t max_characters;                 /* of WORDPIECE: of the longest word … */
    isotok__span prefix;                     /* … and the prefix of pieces behind the first; of BPE:
                                                affixes, and the prefix and the suffix */
    isotok__span pretok_header;              /* uint32 */
    isotok__span pretok_tables;              /* uint16 */
    isotok__span pretok_classes;
    isotok__span added;          /* uint32 pairs; size: of numbers */
    isotok__span added_trie;     /* uint32 pairs: nodes that find them; size 0: of their texts */
    isotok__span word_ranges;    /* uint32 */
    isotok__span template_ops;   /* uint32 triples: kind, flags, argument */
    bool has_decoder;            /* of a tokenizer.json: */
    uint32_t decoder_flags, decoder_argument;
    isotok__span decoder_prefix;
    isotok__span merge_splits; /* uint32, in canonical bytes: FORMAT.md section 12; unaligned */
    isotok__span merge_counts; /* uint8[vocab_size]; size 0: no list of merges */
    isotok__span unicode_header;             /* uint32: a program instead of a normalizer */
    isotok__span unicode_tables;             /* uint16 */
    isotok__span unicode_text;

    const uint8_t *piece_text; /* all pieces end to end */
    uint32_t *piece_ends;      /* [vocab_size] */
    float *scores;             /* [vocab_size] */
    uint8_t *types;            /* [vocab_size] ISOTOK_NORMAL .. ISOTOK_BYTE */
    const uint32_t *piece_at;  /* [vocab_size] byte in the source, or NULL: in piece_text */
    uint64_t charsmap_at, denormalizer_at; /* byte in the source */
} isotok__spec;

static inline uint32_t isotok__piece_begin(const isotok__spec *spec, uint32_t id)
{
    return id == 0 ? 0 : spec->piece_ends[id - 1];
}

static inline isotok__span isotok__piece(const isotok__spec *spec, uint32_t id)
{
    uint32_t begin = isotok__piece_begin(spec, id);
    isotok__span piece = {spec->piece_text + begin, spec->piece_ends[id] - begin};
    return piece;
}

/* Where the piece is in the source, for error messages. */
static inline uint64_t isotok__piece_offset(const isotok__spec *spec, uint32_t id)
{
    return spec->piece_at != NULL ? spec->piece_at[id] : isotok__piece_begin(spec, id);
}

/* ISOTOK_AFFIX_… of a bpe model, and bytes of the prefix << 8. */
static inline uint32_t isotok__affixes(const isotok__spec *spec)
{
    return spec->algorithm == ISOTOK_BPE ? spec->max_characters : 0;
}

/* What pieces behind the first symbol of a pre-token have in front. */
static inline isotok__span isotok__affix_prefix(const isotok__spec *spec)
{
    isotok__span prefix = spec->prefix;
    if (spec->algorithm == ISOTOK_BPE) {
        prefix.size = isotok__affixes(spec) >> 8;
    }
    return prefix;
}

/* What the last piece of a pre-token has behind it; size 0: nothing. */
static inline isotok__span isotok__affix_suffix(const isotok__spec *spec)
{
    size_t begin = isotok__affixes(spec) >> 8;
    isotok__span suffix = {NULL, 0};
    if ((isotok__affixes(spec) & ISOTOK_AFFIX_SUFFIX) != 0) {
        suffix = (isotok__span){spec->prefix.data + begin, spec->prefix.size - begin};
    }
    return suffix;
}

/* Whether the piece ends with the suffix, and is more: at the end of a pre-token only. */
static inline bool isotok__is_last(const isotok__spec *spec, uint32_t id)
{
    isotok__span piece = isotok__piece(spec, id);
    isotok__span suffix = isotok__affix_suffix(spec);
    return suffix.size != 0 && piece.size > suffix.size &&
           memcmp(piece.data + piece.size - suffix.size, suffix.data, suffix.size) == 0;
}

/* NORMAL, USER_DEFINED, UNUSED: SentencePiece's visible pieces. */
static inline bool isotok__is_visible(uint8_t type)
{
    return type == ISOTOK_NORMAL || type == ISOTOK_USER_DEFINED || type == ISOTOK_UNUSED;
}

/* The piece that SentencePiece skips: one NUL byte. */
static inline bool isotok__is_nul_piece(isotok__span piece)
{
    return piece.size == 1 && piece.data[0] == 0;
}

/* Number `index` of a span of uint32. */
static inline uint32_t isotok__number(isotok__span numbers, size_t index)
{
    uint32_t value;
    memcpy(&value, numbers.data + 4 * index, sizeof value);
    return value;
}

/* Whether the piece is looked for in raw text; *out_flags (may be NULL): ISOTOK_ADDED_…. */
static inline bool isotok__is_added(const isotok__spec *spec, uint32_t id, uint32_t *out_flags)
{
    size_t low = 0;
    size_t high = spec->added.size / 2;
    if (out_flags != NULL) {
        *out_flags = 0;
    }
    if (high == 0) {
        return (spec->byte_level || spec->pretokens) && spec->types[id] == ISOTOK_CONTROL;
    }
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (isotok__number(spec->added, 2 * middle) < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == spec->added.size / 2 || isotok__number(spec->added, 2 * low) != id) {
        return false;
    }
    if (out_flags != NULL) {
        *out_flags = isotok__number(spec->added, 2 * low + 1);
    }
    return true;
}

/* Whether the piece goes into the trie that segments text (FORMAT.md section 4). */
static inline bool isotok__is_matched(const isotok__spec *spec, uint32_t id)
{
    uint8_t type = spec->types[id];
    if (spec->pretokens) {
        return type != ISOTOK_UNUSED && spec->scores[id] >= -ISOTOK__MAX_FLOAT;
    }
    if (spec->byte_level || spec->added.size != 0) {
        /* a special token that text can give besides has a score */
        return type == ISOTOK_NORMAL || (type == ISOTOK_CONTROL && spec->scores[id] > 0);
    }
    bool with_unused =
        spec->algorithm == ISOTOK_BPE || (spec->is_0_2_1 && spec->algorithm != ISOTOK_UNIGRAM);
    if (with_unused && type == ISOTOK_UNUSED) {
        return !isotok__is_nul_piece(isotok__piece(spec, id));
    }
    return type == ISOTOK_NORMAL || type == ISOTOK_USER_DEFINED;
}

/* Whether text is segmented by pre-tokens: then nothing is known of where else it may be cut. */
static inline bool isotok__by_pretokens(const isotok__spec *spec)
{
    return spec->pretokens || spec->byte_level || spec->pretok_header.size != 0;
}

/* The defaults of a ModelProto. */
void isotok__spec_init(isotok__spec *spec);

/* Readers: a source into the spec. */
isotok_status isotok__read_sentencepiece(isotok__work *work, isotok__spec *spec,
                                         isotok__span source);
isotok_status isotok__read_packed(isotok__work *work, isotok__spec *spec, isotok__span source);
isotok_status isotok__read_spm_fb(isotok__work *work, isotok__spec *spec, isotok__span source);

/* Whether the source is a `.spm.fb`, which has no mark of its own, rather than a `.model`. */
bool isotok__is_spm_fb(isotok__span source);

/* The pre-tokenizer's arrays, copied to temp memory: those of a source need not be aligned. */
struct isotok__pretok_arrays;
isotok_status isotok__pretok_arrays_of(isotok__work *work, const isotok__spec *spec,
                                       struct isotok__pretok_arrays *out);

/* Every load error of SentencePiece that needs no sorting, in its order; sets unk_id,
 * bos_id, eos_id and pad_id, and makes "\0" UNUSED with byte fallback. */
isotok_status isotok__spec_check(isotok__work *work, isotok__spec *spec);

/* splits.c: the list of merges fits the pieces. */
isotok_status isotok__splits_check(isotok__work *work, const isotok__spec *spec);

/* splits.c: of a packed model or, `compact`: as one with compact_space has it, of a blob. */
isotok_status isotok__splits_take(isotok__work *work, isotok__spec *spec, isotok__span counts,
                                  isotok__span splits, bool compact);

/* Value of a BYTE piece's text, <0xHH> in upper case, or -1. */
int isotok__byte_of_piece(isotok__span piece);

#endif
