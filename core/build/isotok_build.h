/* isotok_build.h: the model compiler. A foreign model file, a packed model, a blob or flat
 * arrays go in; the bytes of a blob, of a packed model or of a foreign file come out. It is
 * the only code that writes them. Its own module: isotok-build.wasm, or linked natively.
 *
 * All memory is the caller's: one arena, given to isotok_build_init. Where it is too
 * small, a call returns ISOTOK_NEED_SCRATCH with error.need = a size to start over with.
 * Sources and arrays are borrowed until isotok_build_finish has returned.
 * The same model gives the same bytes on every host. */
#ifndef ISOTOK_BUILD_H
#define ISOTOK_BUILD_H

#include "isotok.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct isotok_build isotok_build;

enum {
    ISOTOK_SOURCE_AUTO = 0,          /* told by its bytes */
    ISOTOK_SOURCE_SENTENCEPIECE = 1, /* `.model` */
    ISOTOK_SOURCE_PACKED = 2,        /* or a blob, whose tables are made again */
    ISOTOK_SOURCE_SPM_FB = 3,        /* Google's `.spm.fb`, docs/spm_fb.md */
    ISOTOK_SOURCE_FIELDS = 4,        /* fields of isotok_build_set in one: the bytes "ISTF", uint32 0,
                                        then for each uint32 field, uint32 count, its elements,
                                        zeros up to a multiple of 8 bytes */
    ISOTOK_SOURCE_0_2_1 = 1 << 8     /* added to a kind: a model that gives the ids and texts of
                                        sentencepiece up to 0.2.1. A packed model or a blob is
                                        what it was made as: E_ARGUMENT if that is not so. */
};
enum {
    ISOTOK_FORM_BLOB = 0,
    ISOTOK_FORM_PACKED = 1,
    ISOTOK_FORM_SENTENCEPIECE = 2, /* a `.model` that gives the same blob again */
    ISOTOK_FORM_SPM_FB = 3,        /* E_UNSUPPORTED where SentencePiece Lite would not give the
                                      same ids and texts; the error says why */
    ISOTOK_FORM_ADDED = 4          /* after isotok_build_added: only what its tokens change, for
                                      ISOTOK_VERIFY_ADDED */
};

/* Fields of a model given as arrays (isotok_build_set). Piece i is piece_text[sum of
 * sizes before i ..]. Scalars are arrays of one element. */
enum {
    ISOTOK_FIELD_PIECE_TEXT = 1,             /* uint8[bytes], U+2581 kept */
    ISOTOK_FIELD_PIECE_SIZES = 2,            /* uint16[V], bytes of each piece */
    ISOTOK_FIELD_SCORES = 3,                 /* float[V] */
    ISOTOK_FIELD_TYPES = 4,                  /* uint8[V], ISOTOK_NORMAL … ; default all NORMAL */
    ISOTOK_FIELD_ALGORITHM = 5,              /* uint32[1], ISOTOK_UNIGRAM … */
    ISOTOK_FIELD_PARITY = 6,                 /* uint32[1]; default ISOTOK_PARITY_ISOTOK */
    ISOTOK_FIELD_NORMALIZER_FLAGS = 7,       /* uint32[1], ISOTOK_NORM_… */
    ISOTOK_FIELD_CHARSMAP = 8,               /* uint8[bytes], precompiled_charsmap */
    ISOTOK_FIELD_DENORMALIZER_FLAGS = 9,     /* uint32[1] */
    ISOTOK_FIELD_DENORMALIZER_CHARSMAP = 10, /* uint8[bytes]; empty: no denormalizer */
    ISOTOK_FIELD_UNK_SURFACE = 11,           /* uint8[bytes]; default " U+2047 " */
    ISOTOK_FIELD_BYTE_FALLBACK = 12,         /* uint32[1] */
    ISOTOK_FIELD_BOS_PIECE = 13,             /* uint8[bytes]; default "<s>" */
    ISOTOK_FIELD_EOS_PIECE = 14,             /* uint8[bytes]; default "</s>" */
    ISOTOK_FIELD_PAD_PIECE = 15,             /* uint8[bytes]; default "<pad>" */
    ISOTOK_FIELD_BYTE_LEVEL = 16,            /* uint32[1], ISOTOK_BYTE_LEVEL_…; 0: not */
    ISOTOK_FIELD_PRETOK_HEADER = 17,         /* uint32[n], the compiled pre-tokenizer */
    ISOTOK_FIELD_PRETOK_TABLES = 18,         /* uint16[n] */
    ISOTOK_FIELD_PRETOK_CLASSES = 19,        /* uint8[n] */
    ISOTOK_FIELD_UNICODE_HEADER = 20,        /* uint32[n], a program (FORMAT.md, section 14) … */
    ISOTOK_FIELD_UNICODE_TABLES = 21,        /* uint16[n] */
    ISOTOK_FIELD_UNICODE_TEXT = 22,          /* uint8[n] … instead of a normalizer; of its flags only
                                                ISOTOK_NORM_ESCAPE: no U+0020 comes out */
    ISOTOK_FIELD_MERGE_SPLITS = 24, /* uint32[n], bpe by a list of merges (FORMAT.md, section 12):
                                       rank << 10 | bytes of the left part, pieces in id order */
    ISOTOK_FIELD_MERGE_COUNTS = 25, /* uint8[V], how many of them make piece i; empty: no list */
    ISOTOK_FIELD_PRETOKENS = 27,             /* uint32[1], a model of pre-tokens, see below: id of
                                                what is unknown, or ISOTOK_NO_TOKEN */
    ISOTOK_FIELD_EXACT_SCORES = 28,          /* double[V], unigram of pre-tokens: where SCORES,
                                                finite, are rounded */
    ISOTOK_FIELD_CONTINUATION = 29,          /* uint8[4 + n], wordpiece: uint32 characters of the
                                                longest word; prefix of pieces behind the first.
                                                Bpe by pre-tokens: uint32 ISOTOK_AFFIX_… | bytes of
                                                the prefix << 8; prefix; suffix of the last piece */
    ISOTOK_FIELD_ADDED_TOKENS = 30,          /* uint32[2 n], ids, ascending, and ISOTOK_ADDED_…:
                                                pieces that are looked for in raw text; default: the
                                                CONTROL pieces of a byte-level model, without flags */
    ISOTOK_FIELD_WORD_RANGES = 31,           /* uint32[n], code points at which the characters of
                                                words begin and end in turn, for SINGLE_WORD */
    ISOTOK_FIELD_TEMPLATE = 32,              /* uint32[3 n], operations: kind, flags, argument */
    ISOTOK_FIELD_DECODER = 33,               /* uint32[2], ISOTOK_DECODE_…, argument */
    ISOTOK_FIELD_DECODER_PREFIX = 34,        /* uint8[bytes], of pieces that continue a word; what
                                                SUFFIX drops, CTC's blank */
    ISOTOK_FIELD_ADDED_TRIE = 35             /* uint32[2 slots], the nodes by which added tokens are
                                                found (FORMAT.md, section 15); default: their texts */
};
/* Bpe by pre-tokens, of a tokenizer.json (FORMAT.md, section 17). */
enum {
    ISOTOK_AFFIX_SUFFIX = 1,  /* there is a suffix */
    ISOTOK_AFFIX_UNKNOWN = 2, /* a symbol that is no piece is one unknown token … */
    ISOTOK_AFFIX_FUSED = 4    /* … and a run of them in a pre-token is one */
};
/* WORD, WORDPIECE and UNIGRAM by pre-tokens (FORMAT.md, section 13): every piece whose type is not
 * UNUSED can be in text, but one with the score -infinity, which is an added token. */
/* Bpe over the bytes of pre-tokens (FORMAT.md, section 11); the piece with the highest score is
 * merged first. WHOLE: a pre-token that is a piece is that piece, whatever its merges give. */
enum {
    ISOTOK_BYTE_LEVEL_MERGES = 1,
    ISOTOK_BYTE_LEVEL_WHOLE = 2
};

/* Starts a build in `memory` (64-aligned, at least 4,096 bytes). */
ISOTOK_API(isotok_build_init)
isotok_status isotok_build_init(void *memory, size_t memory_size, isotok_build **out_build,
                                isotok_error *out_error);

/* Reads a model file. Errors name what, the piece (index) and the byte (offset). */
ISOTOK_API(isotok_build_source)
isotok_status isotok_build_source(isotok_build *build, uint32_t kind, const void *bytes,
                                  size_t size, isotok_error *out_error);

/* Sets one field; `count` elements. */
ISOTOK_API(isotok_build_set)
isotok_status isotok_build_set(isotok_build *build, uint32_t field, const void *data, size_t count,
                               isotok_error *out_error);

/* Adds tokens to a model from a tokenizer.json or rank file that isotok_build_source has read, a
 * blob for ISOTOK_FORM_ADDED. `data`: uint32 number of tokens, uint32 number of word ranges (see
 * ISOTOK_FIELD_WORD_RANGES; used if the model has none); for each token uint32 bytes of its text,
 * uint32 ISOTOK_ADDED_…; the word ranges; the texts end to end. A text that the vocabulary has keeps
 * its id, the others get the ids behind it; a text that is added already, or given twice, has the
 * flags given last. error.index is the number of the token. */
ISOTOK_API(isotok_build_added)
isotok_status isotok_build_added(isotok_build *build, const void *data, size_t size,
                                 isotok_error *out_error);

/* Checks the model as SentencePiece's loader does and writes it to `out` (64-aligned).
 * NEED_OUTPUT: *out_size is the size wanted; call again with that much. Another form may be
 * asked for afterwards. */
ISOTOK_API(isotok_build_finish)
isotok_status isotok_build_finish(isotok_build *build, uint32_t form, void *out, size_t capacity,
                                  size_t *out_size, isotok_error *out_error);

/* Does what isotok_build_finish does for ISOTOK_FORM_BLOB, PACKED and ADDED without an output: the
 * file is these parts end to end. They lie in the memory of the build and of its source until the
 * next call, and are for hosts that copy the file out of there in any case. */
typedef struct isotok_build_part {
    const void *data;
    size_t size;
} isotok_build_part;

ISOTOK_API(isotok_build_parts)
isotok_status isotok_build_parts(isotok_build *build, uint32_t form,
                                 const isotok_build_part **out_parts, size_t *out_count,
                                 isotok_error *out_error);

/* Text for a status or what, as isotok_name. */
ISOTOK_API(isotok_build_name)
const char *isotok_build_name(uint32_t kind, int32_t number);

#ifdef __cplusplus
}
#endif
#endif
