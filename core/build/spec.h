/* ModelSpec: what a source means, before any table is built. Readers fill it, checks
 * refuse what cannot be a model, passes derive the sections of the blob from it. */
#ifndef ISOTOK_BUILD_SPEC_H
#define ISOTOK_BUILD_SPEC_H

#include "work.h"

#define ISOTOK__MAX_PIECE 7999u /* bytes; SentencePiece refuses 8,000 */
#define ISOTOK__MAX_VOCAB (1u << 24)
#define ISOTOK__MAX_SOURCE 0x7FFFFFFFu /* bytes of a source, and of a blob */
#define ISOTOK__MAX_EXPANSION 4096u

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
    isotok__span pretok_header;              /* uint32, of a byte-level model */
    isotok__span pretok_tables;              /* uint16 */
    isotok__span pretok_classes;
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

/* Whether the piece goes into the trie that segments text (FORMAT.md section 4). */
static inline bool isotok__is_matched(const isotok__spec *spec, uint32_t id)
{
    uint8_t type = spec->types[id];
    if (spec->byte_level) {
        return type == ISOTOK_NORMAL;
    }
    bool with_unused =
        spec->algorithm == ISOTOK_BPE || (spec->is_0_2_1 && spec->algorithm != ISOTOK_UNIGRAM);
    if (with_unused && type == ISOTOK_UNUSED) {
        return !isotok__is_nul_piece(isotok__piece(spec, id));
    }
    return type == ISOTOK_NORMAL || type == ISOTOK_USER_DEFINED;
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

/* Every load error of SentencePiece that needs no sorting, in its order; sets unk_id,
 * bos_id, eos_id and pad_id, and makes "\0" UNUSED with byte fallback. */
isotok_status isotok__spec_check(isotok__work *work, isotok__spec *spec);

/* Value of a BYTE piece's text, <0xHH> in upper case, or -1. */
int isotok__byte_of_piece(isotok__span piece);

#endif
