/* L1: a verified blob as plain pointers.
 *
 * isotok__blob_open checks everything once; afterwards the hot loops trust the sections:
 * every link of a trie stays inside it, every id is below vocab_size, every offset is
 * inside its pool. */
#ifndef ISOTOK_BLOB_H
#define ISOTOK_BLOB_H

#include "base.h"
#include "blob_gen.h"
#include "pretokenize.h"

#define ISOTOK_FEATURE(name) ((uint64_t)1 << ISOTOK__FEATURE_##name)

/* Operations, FORMAT.md §7. */
enum { ISOTOK_OP_NORMALIZE_SENTENCEPIECE = 1 };
enum { ISOTOK_OP_PRETOKENIZE = 1 };
enum {
    ISOTOK_OP_DECODE_SENTENCEPIECE = 1,
    ISOTOK_OP_DENORMALIZE = 2,
    ISOTOK_OP_DECODE_BYTES = 3,
    ISOTOK_OP_DECODE_PIECES = 4
};
#define ISOTOK__DECODE_ALL (127u | ISOTOK_DECODE_SUFFIX | ISOTOK_DECODE_CTC)
#define ISOTOK__DECODE_PIECES 128u /* in the model: any of ISOTOK_DECODE_…, or none */
enum { ISOTOK_OP_TOKEN = 1, ISOTOK_OP_SEQUENCE = 2, ISOTOK_OP_SEQUENCE_PAIR = 3 };
#define ISOTOK_TEMPLATE_PAIR 0x10000u /* flag: an operation of the template for pairs */
#define ISOTOK__TRIM 1u               /* spans without spaces, of the sequence's flags >> 17 … */
#define ISOTOK__TRIM_PREFIX 2u        /* … but one in front of the text, which was put there */
/* Values of special_trie: id + 1, and flags. */
#define ISOTOK__ADDED_ID 0x1FFFFFFu
#define ISOTOK__ADDED_FLAGS                                                                      \
    (ISOTOK_ADDED_PLAIN | ISOTOK_ADDED_LSTRIP | ISOTOK_ADDED_RSTRIP | ISOTOK_ADDED_SINGLE_WORD | \
     ISOTOK_ADDED_NOT)
enum {
    ISOTOK_NORM_DUMMY_PREFIX = 1,
    ISOTOK_NORM_REMOVE_EXTRA = 2,
    ISOTOK_NORM_ESCAPE = 4,
    ISOTOK_NORM_SUFFIX = 8,
    ISOTOK_NORM_ALL = 15
};

#define ISOTOK_START_WORDS 2048u /* start_set: code points below U+20000 */
#define ISOTOK_PAIR_ASCII_WORDS 256u
#define ISOTOK_MAX_PIECE 8000u
#define ISOTOK_MAX_EXPANSION 4096u
#define ISOTOK_MAX_SLOTS 0xFFFF00u /* so that 0xFFFFFF can mean "unknown" in 24 bits */
#define ISOTOK_UNK_SLOT 0xFFFFFFu
#define ISOTOK_SKIP_SLOT 0xFFFFFEu /* text in no pre-token */
#define ISOTOK_JOIN_SLOT 0xFFFFFDu /* text that belongs to the next token */

/* What a normalizer works with: the model's own, or its denormalizer. */
struct isotok__rules {
    const uint32_t *units; /* charsmap, NULL = none */
    const uint8_t *replacements;
    const struct isotok__trie_node *user; /* user-defined pieces, canonical text; NULL = none */
    const uint64_t *start_set;            /* NULL = look every character up */
    uint32_t flags;                       /* ISOTOK_NORM_… */
    uint32_t max_key_bytes;
    uint32_t compact; /* U+2581 is written as 0x20 */
    /* ASCII characters that take the slow path: always; or only before a non-ASCII byte */
    uint64_t hard[2], hard_before_wide[2];
    uint8_t hard_printable[8]; /* the printable ones of `hard`, if at most 8 … */
    uint32_t hard_count;       /* … else 9: no block copies */
};

#define ISOTOK__UNI_BLOCKS 1u /* flag of a program, see unicode.h */
#define ISOTOK__UNI_TOP 272u  /* 4,096 code points each */

/* The opened form of `unicode_*`, see unicode.h. */
struct isotok__program {
    const uint32_t (*operations)[4];
    const uint32_t *literals;
    const uint32_t (*pairs)[3]; /* compositions: first, second, result; ascending */
    const uint16_t *tables, *blocks, *rows, *clusters;
    const uint8_t *text;
    uint32_t on;    /* there is a program */
    uint32_t count; /* of operations */
    uint32_t pair_count, stride, flags, cluster_classes;
    uint32_t stateful; /* bit i: operation i acts at the beginning of a text */
    uint32_t splits;   /* content of SPLIT, or 0 */
};

/* Opens the program of a blob; false: its parts do not fit. The check looks at every cell. */
bool isotok__unicode_open(struct isotok__program *program, const struct isotok__blob *blob);
bool isotok__unicode_check(const struct isotok__program *program, const struct isotok__blob *blob);

struct isotok_model {
    uint64_t features;
    uint32_t space_size; /* bytes of U+2581 in internal text: 1 or 3 */
    uint32_t pretokens;  /* segmented by pre-tokens; without a pre-tokenizer a text is one */
    uint32_t is_0_2_1;   /* ids and texts as sentencepiece up to 0.2.1 */
    uint32_t wide;       /* tokens keep a 32-bit length of their own */
    uint32_t whole_text;
    uint32_t decoder_pieces;  /* ISOTOK_DECODE_…; 0: by decoder_flags */
    uint32_t affixes;         /* ISOTOK__AFFIX_…, bytes of the prefix << 8 */
    uint32_t continuation;    /* slot of the prefix; 0: none */
    struct isotok__blob blob; /* that of added tokens is read over that of the base */
    struct isotok__program program;
    struct isotok__rules normalizer, denormalizer;
    uint32_t parity;
    uint32_t has_denormalizer;
    uint32_t decoder_flags;
    uint32_t trim;             /* ISOTOK__TRIM… */
    uint32_t special_flags;    /* ISOTOK__ADDED_… of any special token */
    uint64_t special_first[4]; /* bytes that begin one */
    uint8_t special_low[16];   /* of these, by low and by high half: a bit for each high half, */
    uint8_t special_high[16];  /* or for more than one if there are many */
    uint32_t byte_level;       /* bpe over bytes, decoded as they are */
    uint32_t pair_shift;       /* 32 - k - 6 of FORMAT.md §6 */
    uint32_t unused_count;     /* UNUSED pieces of a bpe model: they are split back */
    uint32_t longest_output;   /* of one normalizer step, internal bytes */
    struct isotok__pretokenizer pretokenizer; /* count 0: none, text is cut by pair_set */
};

/* What a model of pre-tokens keeps in front of `word_rules`. */
enum {
    ISOTOK__RULE_UNK,          /* slot of the piece unk_id, or ISOTOK_UNK_SLOT */
    ISOTOK__RULE_CONTINUATION, /* words, bpe: slot of the prefix, or ISOTOK_UNK_SLOT */
    ISOTOK__RULE_CHARACTERS,   /* words: of the longest one; bpe: isotok_model.affixes */
    ISOTOK__RULES
};

/* FORMAT.md, section 17. */
enum {
    ISOTOK__AFFIX_SUFFIX = 1,  /* the last symbol of a pre-token ends with a byte 0xFF */
    ISOTOK__AFFIX_UNKNOWN = 2, /* a symbol that is no piece is a token in its pre-token … */
    ISOTOK__AFFIX_FUSED = 4    /* … and a run of them is one */
};

ISOTOK_INLINE uint32_t isotok__word_rule(const struct isotok_model *model, uint32_t rule)
{
    return isotok__load_u32(model->blob.word_rules + 4 * rule);
}

ISOTOK_INLINE struct isotok__pretok_arrays isotok__pretok_arrays(const struct isotok__blob *b)
{
    const struct isotok__pretok_arrays arrays = {
        b->pretok_header,       b->pretok_tables,        b->pretok_classes, b->pretok_header_count,
        b->pretok_tables_count, b->pretok_classes_count, b->pretok_windows};
    return arrays;
}

/* Checks the blob as `verify` says and fills `*model`. */
isotok_status isotok__blob_open(const uint8_t *data, size_t size, uint32_t verify,
                                struct isotok_model *model, isotok_error *error);

/* The additional checks of ISOTOK_VERIFY_FULL, apart from the checksum. */
isotok_status isotok__verify_full(const struct isotok_model *model, isotok_error *error);

/* Piece text in canonical form. */
static inline const uint8_t *isotok__piece_text(const struct isotok_model *model, uint32_t id,
                                                uint32_t *out_size)
{
    uint32_t begin = id ? model->blob.piece_ends[id - 1] : 0;
    *out_size = model->blob.piece_ends[id] - begin;
    return model->blob.piece_text + begin;
}

/* Fills `error` (may be NULL) and returns `status`. */
isotok_status isotok__fail(isotok_error *error, isotok_status status, uint32_t what, uint32_t index,
                           uint64_t offset, uint64_t need);
/* The same for an argument, and for what needs memory or has no place: calls are shorter. */
isotok_status isotok__argument(isotok_error *error, uint32_t what, uint32_t index);
isotok_status isotok__needs(isotok_error *error, isotok_status status, uint32_t what,
                            uint64_t need);

#endif
