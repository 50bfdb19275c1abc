/* isotok.h: the public interface of the isotok core, and its manual.
 *
 * isotok turns text into token ids and back with a model blob (`.isotok`, see
 * core/format/FORMAT.md). The core never allocates, never does I/O and has no
 * global state: the caller owns every byte it works in.
 *
 * CONVENTIONS
 *   Text       UTF-8 bytes, any bytes at all: ill-formed bytes become U+FFFD, one
 *              each, as in SentencePiece. It need not be NUL-terminated.
 *   Sizes      `size`, `offset` count bytes; `count`, `capacity` count elements.
 *   Status     0 done; > 0 resumable: nothing is lost, provide what is missing and
 *              call again; < 0 error: the session must begin again.
 *   Errors     `out_error` may be NULL. On an error the outputs are unspecified.
 *   Threads    A model is immutable and may be shared. A session belongs to one
 *              call at a time.
 *   Versions   isotok_abi() is major << 16 | minor. Hosts refuse another major;
 *              a minor only adds functions, fields and statuses. Structs that begin
 *              with `size` may grow: set it to sizeof the struct you compiled with.
 */
#ifndef ISOTOK_H
#define ISOTOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ISOTOK_ABI_MAJOR 1u
#define ISOTOK_ABI_MINOR 1u
#define ISOTOK_FORMAT_VERSION 1u /* of the blob, see core/format/FORMAT.md */
#define ISOTOK_NO_TOKEN 0xFFFFFFFFu

#if defined(__wasm__)
#define ISOTOK_API(name) __attribute__((export_name(#name)))
#elif defined(__GNUC__)
#define ISOTOK_API(name) __attribute__((visibility("default")))
#else
#define ISOTOK_API(name)
#endif

/* ---- Status ------------------------------------------------------------------ */

typedef int32_t isotok_status;

#define ISOTOK_STATUS_MAP(X)                                                          \
    X(OK, 0, "done")                                                                  \
    X(NEED_OUTPUT, 1, "the output is full; drain it and call again")                  \
    X(NEED_SCRATCH, 2, "the session's memory is too small; move it to a larger one")  \
    X(AT_LIMIT, 3, "the text has more tokens than the limit")                         \
    X(E_ARGUMENT, -1, "an argument is not valid")                                     \
    X(E_ABI, -2, "the caller was built for another interface version")                \
    X(E_UNSUPPORTED, -3, "the model needs a feature that this version does not have") \
    X(E_CORRUPT, -4, "the model is damaged")                                          \
    X(E_ALIGNMENT, -5, "memory is not aligned")                                       \
    X(E_ID_RANGE, -6, "a token id is not below the vocabulary size")                  \
    X(E_TEXT, -7, "the text cannot be processed")                                     \
    X(E_STATE, -9, "the call does not fit the session's state")                       \
    X(E_TOO_LARGE, -10, "a size is over the limit")

enum {
#define ISOTOK_X(name, number, text) ISOTOK_##name = number,
    ISOTOK_STATUS_MAP(ISOTOK_X)
#undef ISOTOK_X
};

/* What an error is about: isotok_error.what. The texts say what to do. */
#define ISOTOK_RUN_WHAT_MAP(X)                                                                     \
    X(NOTHING, 0, "")                                                                              \
    X(HEADER, 1, "header: not an isotok blob, or cut short")                                       \
    X(FORMAT, 2, "header: format version unknown; update isotok")                                  \
    X(TOTAL_SIZE, 3, "header: total size is not the file's; copy the file again")                  \
    X(CHECKSUM, 4, "header: checksum differs; copy the file again")                                \
    X(FEATURES, 5, "header: required feature unknown here; update isotok")                         \
    X(PACKED, 6, "packed form: build it into a blob first (isotok compile)")                       \
    X(ENDIAN, 7, "this machine is big-endian; blobs are little-endian only")                       \
    X(BLOB_ADDRESS, 8, "the blob must lie at an address that is a multiple of 64")                 \
    X(FLATBUFFER, 9, "FlatBuffer structure: an offset leaves the file")                            \
    X(SECTION, 10, "section: wrong length or not aligned")                                         \
    X(SCALAR, 11, "header field of the model out of range")                                        \
    X(PIECE_ENDS, 12, "piece_ends: not ascending or past the text")                                \
    X(PIECE_TYPE, 13, "types: unknown piece type")                                                 \
    X(SCORE, 14, "scores: not finite")                                                             \
    X(TRIE, 15, "trie: a link leaves the array")                                                   \
    X(TRIE_ID, 16, "trie_ids: id out of range")                                                    \
    X(BYTE_IDS, 17, "byte_ids: not 256 ids of BYTE pieces")                                        \
    X(CHARSMAP, 18, "charsmap: a link leaves its array")                                           \
    X(OPERATION, 19, "operation list: operation unknown; update isotok")                           \
    X(INDEX, 20, "other_ids: id out of range or not sorted")                                       \
    X(SPELLING, 21, "piece is not found under its own text")                                       \
    X(PAIR_SET, 22, "pair_set: a pair of characters inside a piece is missing")                    \
    X(START_SET, 23, "start_set: a character that starts a rule is missing")                       \
    X(MODEL_MEMORY, 24, "memory for the model: too small, see isotok_model_size")                  \
    X(SESSION_MEMORY, 25, "memory for the session: too small, see isotok_info.session_min")        \
    X(NULL_POINTER, 26, "a pointer that must not be NULL is NULL")                                 \
    X(STRUCT_SIZE, 27, "a struct's size or reserved bytes are not of this version")                \
    X(OPTION, 28, "option unknown or out of range")                                                \
    X(NOT_BEGUN, 29, "call begin first")                                                           \
    X(TOKEN_ID, 30, "token id out of range")                                                       \
    X(TEXT_SIZE, 31, "text: more than 2^48 bytes")                                                 \
    X(TEXT_ENDS, 32, "text_ends: not ascending")                                                   \
    X(ALGORITHM, 33, "algorithm unknown; update isotok")                                           \
    X(MAX_PIECE, 34, "max_piece_bytes: a piece is longer")                                         \
    X(NORMALIZED_TEXT, 35, "normalized text: ill-formed UTF-8 or a space; normalize it first")     \
    X(CACHE_MEMORY, 36, "memory for the cache: 64-aligned, 0 or at least 4,096 bytes")             \
    X(SAMPLING, 37, "the algorithm has no such sampling (dropout: bpe; others: unigram)")          \
    X(NBEST_MEMORY, 38, "memory for the n best: too small")                                        \
    X(NO_SUCH_END, 39, "the model has no BOS, or no EOS; leave bos, eos out")                      \
    X(NO_UNKNOWN, 44, "text in no piece; the model has no unknown token")
/* The same of core/build. */
#define ISOTOK_BUILD_WHAT_MAP(X)                                                                  \
    X(SOURCE_KIND, 100, "source: no SentencePiece model, .spm.fb, packed model or blob")          \
    X(PROTOBUF, 101, "model file: not a SentencePiece model, or cut short")                       \
    X(PIECE_EMPTY, 102, "piece is empty")                                                         \
    X(PIECE_NUL, 103, "piece holds a NUL byte")                                                   \
    X(PIECE_LONG, 104, "piece is 8,000 bytes or longer")                                          \
    X(PIECE_TWICE, 105, "piece is defined twice")                                                 \
    X(UNK_TWICE, 106, "two UNKNOWN pieces")                                                       \
    X(UNK_MISSING, 107, "no UNKNOWN piece and no byte fallback")                                  \
    X(BYTE_UNEXPECTED, 108, "BYTE piece, although byte_fallback is off")                          \
    X(BYTE_SPELLING, 109, "BYTE piece is not spelled <0xHH>")                                     \
    X(BYTE_MISSING, 110, "byte_fallback is on, but a byte has no piece")                          \
    X(SCORE_NOT_FINITE, 111, "score is NaN or infinite")                                          \
    X(NO_USABLE_PIECE, 112, "no piece can be matched in text")                                    \
    X(CHARSMAP_BROKEN, 113, "precompiled_charsmap is broken")                                     \
    X(MODEL_TYPE, 114, "model_type is not 1 (unigram), 2 (bpe), 3 (word) or 4 (char)")            \
    X(BUILD_MEMORY, 115, "memory for the build: too small")                                       \
    X(BUILD_OUTPUT, 116, "output: too small for the blob")                                        \
    X(TRIE_LARGE, 117, "vocabulary too large: the trie needs more than 16,777,216 slots")         \
    X(VOCAB_LARGE, 118, "vocabulary too large")                                                   \
    X(FIELD, 119, "model field unknown, or its length does not fit the others")                   \
    X(EXPANSION, 120, "charsmap: a rule expands its text more than 4,096 times")                  \
    X(SPM_FB, 121, "spm.fb: not a SentencePiece Lite model, or damaged")                          \
    X(EXPORT_ALGORITHM, 122, "spm.fb holds unigram and bpe models only; export a .model")         \
    X(EXPORT_DECODER, 123, "spm.fb: no denormalizer or empty unk_surface there; export a .model") \
    X(EXPORT_UNUSED, 124, "spm.fb: no merges through UNUSED pieces there; export a .model")       \
    X(EXPORT_PIECE, 125, "spm.fb: piece over 4,096 bytes, or a text twice; export a .model")      \
    X(EXPORT_BYTES, 126, "spm.fb: ids of BYTE pieces not in their order; export a .model")        \
    X(EXPORT_PARITY, 127, "the model gives another library's ids: it has no SentencePiece form")  \
    X(EXPORT_NESTED, 128,                                                                         \
      "spm.fb: over 64 user-defined pieces, or a rule over 32 bytes, nested; "                    \
      "export a .model")                                                                          \
    X(UNK_MISSING_0_2_1, 129, "no UNKNOWN piece, without which sentencepiece 0.2.1 has no model") \
    X(SOURCE_NOT_0_2_1, 130,                                                                      \
      "packed model or blob: not compiled for sentencepiece 0.2.1; compile its .model")           \
    X(EXPORT_0_2_1, 131, "spm.fb: SentencePiece Lite has not the ids of 0.2.1; export a .model")  \
    X(ADDED_TEXT, 132, "added token: empty, 8,000 bytes or longer, or ill-formed")                \
    X(ADDED_LETTERS, 133, "added token: its letters stand for other bytes in this vocabulary")    \
    X(ADDED_SPACES, 134,                                                                          \
      "added tokens: the white space that one takes along may be part of another")                \
    X(ADDED_MODEL, 135, "added tokens: only for models from a tokenizer.json or rank file")
#define ISOTOK_WHAT_MAP(X) ISOTOK_RUN_WHAT_MAP(X) ISOTOK_BUILD_WHAT_MAP(X)

enum {
#define ISOTOK_X(name, number, text) ISOTOK_WHAT_##name = number,
    ISOTOK_WHAT_MAP(ISOTOK_X)
#undef ISOTOK_X
};

typedef struct isotok_error {
    uint32_t size; /* sizeof(isotok_error), set by the caller */
    isotok_status status;
    uint32_t what;   /* ISOTOK_WHAT_…, see isotok_name */
    uint32_t index;  /* element: piece, slot, operation, feature bit, text … */
    uint64_t offset; /* byte in the blob, the source or the text */
    uint64_t need;   /* bytes or elements wanted */
} isotok_error;

/* ---- Model ------------------------------------------------------------------- */

typedef struct isotok_model isotok_model;     /* verified view of a blob */
typedef struct isotok_session isotok_session; /* scratch + stream state of one call */

enum {
    ISOTOK_UNIGRAM = 1,
    ISOTOK_BPE = 2,
    ISOTOK_WORD = 3,
    ISOTOK_CHAR = 4,
    ISOTOK_WORDPIECE = 5,
    ISOTOK_LONGEST = 6, /* distilled: longest match */
    ISOTOK_PRIORITY = 7 /* distilled: highest priority */
};
enum {
    ISOTOK_PARITY_SENTENCEPIECE = 1,
    ISOTOK_PARITY_HF = 2,
    ISOTOK_PARITY_TIKTOKEN = 3,
    ISOTOK_PARITY_ISOTOK = 4,
    ISOTOK_PARITY_DISTILLED = 5
};
enum {
    ISOTOK_NORMAL = 1,
    ISOTOK_UNKNOWN = 2,
    ISOTOK_CONTROL = 3,
    ISOTOK_USER_DEFINED = 4,
    ISOTOK_UNUSED = 5,
    ISOTOK_BYTE = 6
};
/* Flags of added tokens (FORMAT.md, section 15). */
enum {
    ISOTOK_ADDED_PLAIN = 1 << 25,      /* not special: found in any text */
    ISOTOK_ADDED_LSTRIP = 1 << 26,     /* takes the white space in front of it … */
    ISOTOK_ADDED_RSTRIP = 1 << 27,     /* … behind it */
    ISOTOK_ADDED_SINGLE_WORD = 1 << 28, /* not next to a character of a word */
    ISOTOK_ADDED_NOT = 1 << 29          /* of a node: there is none after all, because of what follows */
};
/* Flags of the decoder of a model from a tokenizer.json (FORMAT.md, section 15). */
enum {
    ISOTOK_DECODE_SPACES = 1,      /* U+2581 is a space */
    ISOTOK_DECODE_FIRST = 2,       /* … but nothing in the first token */
    ISOTOK_DECODE_STRIP = 4,       /* so many spaces in front of the text as the argument says go */
    ISOTOK_DECODE_RUNS = 8,        /* a run of byte pieces is text as a whole, or U+FFFD for each */
    ISOTOK_DECODE_WORDS = 16,      /* a space in front of pieces that continue no word … */
    ISOTOK_DECODE_CLEANUP = 32,    /* … and are no punctuation or English suffix */
    ISOTOK_DECODE_UNK_SPECIAL = 64, /* the unknown token is a special one */
    ISOTOK_DECODE_SUFFIX = 256,    /* a suffix is dropped, and a space if another piece follows */
    ISOTOK_DECODE_CTC = 512 /* repeated pieces and blanks go, a delimiter is a space: in piece_text it
                             * begins at the argument */
};
/* How much of a blob to check. SAFE: structure and everything that bounds memory
 * and time, for any bytes. FULL: SAFE + checksum + every piece spelled to its id +
 * sets complete. TRUSTED: the header only; as dangerous as loading a library. */
enum { ISOTOK_VERIFY_SAFE = 0, ISOTOK_VERIFY_FULL = 1, ISOTOK_VERIFY_TRUSTED = 2 };
/* Added to one of them: `memory` holds a model that was opened there, and `blob` is what tokens that
 * were added to it change (ISOTOK_FORM_ADDED of isotok_build.h). Both blobs must outlive the
 * model; of sessions that there are of the model, none may be used any more. */
enum { ISOTOK_VERIFY_ADDED = 4 };

typedef struct isotok_info {
    uint32_t size;   /* sizeof(isotok_info), set by the caller */
    uint32_t parity; /* ISOTOK_PARITY_… */
    uint32_t vocab_size;
    uint32_t algorithm;          /* ISOTOK_UNIGRAM … */
    uint64_t features;           /* required-feature bits of the blob */
    uint32_t unk, bos, eos, pad; /* ids or ISOTOK_NO_TOKEN */
    uint32_t max_piece_bytes;
    uint32_t max_expansion; /* normalized bytes <= text bytes * this + 16 */
    uint32_t
        max_key_bytes; /* a text part that is not the last keeps up to this many bytes unconsumed */
    uint32_t session_min;  /* bytes that isotok_session_init accepts */
    uint32_t session_size; /* bytes that serve ordinary text without NEED_SCRATCH */
    uint32_t reserved;
} isotok_info;

typedef struct isotok_piece {
    const uint8_t *text; /* as in the source model (U+2581 kept); borrowed from the blob */
    uint32_t size;
    uint32_t type; /* ISOTOK_NORMAL … */
    float score;
} isotok_piece;

/* Interface version of this library: ISOTOK_ABI_MAJOR << 16 | ISOTOK_ABI_MINOR. */
ISOTOK_API(isotok_abi)
uint32_t isotok_abi(void);

enum { ISOTOK_NAME_STATUS = 0, ISOTOK_NAME_WHAT = 1, ISOTOK_NAME_FEATURE = 2 };

/* Static English text, NUL-terminated, for a status, a what or a feature bit
 * number; "" for an unknown number. isotok.wasm, built with ISOTOK_NO_TEXTS, has none: "" for
 * all; its hosts have the texts of the maps above. */
ISOTOK_API(isotok_name)
const char *isotok_name(uint32_t kind, int32_t number);

/* Bytes of memory that isotok_model_open needs for the view (not the blob): < 2,048. */
ISOTOK_API(isotok_model_size)
size_t isotok_model_size(void);

/* Opens `blob` (64-aligned, `blob_size` bytes), checking it as `verify` says.
 * `memory` (8-aligned, isotok_model_size() bytes) receives the view. Blob and memory
 * must outlive the model and must not change. Reads the blob once; allocates nothing.
 * Returns OK, E_CORRUPT, E_UNSUPPORTED, E_ALIGNMENT or E_ARGUMENT; `out_error` says
 * what, which element and at which byte of the blob. */
ISOTOK_API(isotok_model_open)
isotok_status isotok_model_open(const void *blob, size_t blob_size, uint32_t verify, void *memory,
                                size_t memory_size, const isotok_model **out_model,
                                isotok_error *out_error);

/* Fills `out_info` (its size field set by the caller). Returns OK, E_ARGUMENT or E_ABI. */
ISOTOK_API(isotok_model_info)
isotok_status isotok_model_info(const isotok_model *model, isotok_info *out_info);

/* Text, type and score of `id`. Returns OK, E_ARGUMENT or E_ID_RANGE. */
ISOTOK_API(isotok_piece_get)
isotok_status isotok_piece_get(const isotok_model *model, uint32_t id, isotok_piece *out_piece);

/* Id of the piece with exactly this text (control and byte pieces before the others,
 * as SentencePiece does), or ISOTOK_NO_TOKEN. */
ISOTOK_API(isotok_piece_find)
uint32_t isotok_piece_find(const isotok_model *model, const uint8_t *text, size_t size);

/* ---- Session ----------------------------------------------------------------- */

/* Prepares a session in `memory` (64-aligned, `memory_size` >= isotok_info.session_min;
 * session_size is a good choice). Larger memory only means fewer NEED_SCRATCH. */
ISOTOK_API(isotok_session_init)
isotok_status isotok_session_init(const isotok_model *model, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error);

/* After NEED_SCRATCH: moves the session with its state into larger memory (64-aligned,
 * at least isotok_error.need bytes). `from` is dead afterwards; its memory must not
 * overlap the new one. Then repeat the call that returned NEED_SCRATCH. */
ISOTOK_API(isotok_session_move)
isotok_status isotok_session_move(isotok_session *from, void *memory, size_t memory_size,
                                  isotok_session **out_session, isotok_error *out_error);

/* ---- Cache ------------------------------------------------------------------- */

/* Counts since the cache was attached. */
typedef struct isotok_cache_info {
    uint32_t size;        /* sizeof(isotok_cache_info), set by the caller */
    uint32_t entries;     /* chunks that fit; 0: the session has no cache */
    uint64_t probes;      /* chunks looked up, or too long for it … */
    uint64_t hits;        /* … answered from the cache … */
    uint64_t uncertified; /* … found, but their answer may depend on what came before */
    uint64_t bypassed;    /* bytes of internal text that were segmented without a look-up */
} isotok_cache_info;

/* Lets the session remember how it segmented chunks of text (what lies between two cuts), in
 * `memory` (64-aligned, `memory_size` bytes, of which the largest power of two is used; ALL
 * ZERO, or as a session of the same model left it); ids stay the same, bit for bit.
 * memory_size 0 takes the cache away. The memory belongs to the session until then and
 * outlives moves; two sessions cannot share it. A model to which a cache does not apply
 * leaves it unused (entries = 0). Between texts only (E_STATE). */
ISOTOK_API(isotok_session_cache)
isotok_status isotok_session_cache(isotok_session *session, void *memory, size_t memory_size,
                                   isotok_error *out_error);

/* Fills `out_info` (its size field set by the caller). Returns OK, E_ARGUMENT or E_ABI. */
ISOTOK_API(isotok_session_cache_info)
isotok_status isotok_session_cache_info(const isotok_session *session, isotok_cache_info *out_info);

/* ---- Encode ------------------------------------------------------------------ */

enum {                              /* isotok_encode_options.flags */
       ISOTOK_BOS = 1u << 0,        /* the model's BOS id in front (E_ARGUMENT if it has none) */
       ISOTOK_EOS = 1u << 1,        /* its EOS id at the end */
       ISOTOK_OFFSETS = 1u << 2,    /* fill begin and end */
       ISOTOK_NORM_SPANS = 1u << 3, /* fill norm_begin and norm_end */
       ISOTOK_COUNT_ONLY = 1u << 4, /* write nothing, only count; capacity is ignored */
       ISOTOK_KEEP_ILL_FORMED = 1u << 5, /* normalize only: ill-formed bytes stay as they are */
       ISOTOK_NORMALIZED = 1u << 6,      /* the text is what normalize returned: take it as it is,
                                            or E_TEXT with error.offset, its byte in the text */
       ISOTOK_SAMPLE = 1u << 7,          /* unigram: draw a segmentation, P ~ exp(alpha * score) */
       ISOTOK_GUMBEL = 1u << 8,  /* unigram: best path with alpha * Gumbel noise on each piece */
       ISOTOK_DROPOUT = 1u << 9, /* bpe: leave out each merge with probability alpha */
       /* Without either of two: as the library does that the model comes from (tokenizers: SPECIAL
          and TEMPLATE; sentencepiece and tiktoken: neither). */
       ISOTOK_SPECIAL = 1u << 10,     /* texts of special tokens in the text become these tokens */
       ISOTOK_NO_SPECIAL = 1u << 11,  /* they do not */
       ISOTOK_TEMPLATE = 1u << 12,    /* the tokens that the model puts around a text */
       ISOTOK_NO_TEMPLATE = 1u << 13, /* the text's tokens alone */
       ISOTOK_PRETOKENS = 1u << 14,   /* pre-tokens in place of their tokens, all with id 0; without
                                       a pre-tokenizer, parts of the text as they come */
       ISOTOK_NO_CONTROL =
           1u << 15 /* with NO_SPECIAL: nor does the vocabulary give one of them; its
                                       text comes out byte by byte */
};
enum { ISOTOK_UNIT_BYTE = 0, ISOTOK_UNIT_CODEPOINT = 1, ISOTOK_UNIT_UTF16 = 2 };
enum { ISOTOK_PART_LAST = 1u }; /* isotok_input.part */

typedef struct isotok_encode_options {
    uint32_t size; /* sizeof(isotok_encode_options), set by the caller */
    uint32_t flags;
    uint64_t limit;       /* at most so many ids, BOS and EOS included; 0 = no limit */
    uint32_t offset_unit; /* ISOTOK_UNIT_… of begin, end and the normalize map */
    uint32_t allowed_count;
    uint64_t seed; /* of SAMPLE, GUMBEL, DROPOUT: same seed, same ids on every host */
    double alpha;  /* finite, >= 0 */
    /* With SPECIAL: which special tokens there are, the others are ordinary text; NULL: all. The
       numbers, ascending, at which their ids begin and end in turn: id, id + 1, … They belong to
       the text until it ends. */
    const uint32_t *allowed;
} isotok_encode_options;

typedef struct isotok_input {
    const uint8_t *text;
    size_t size;
    size_t consumed; /* in: bytes of text already consumed (0 at first); out: updated */
    uint32_t part;   /* ISOTOK_PART_LAST when the text ends here */
} isotok_input;

typedef struct isotok_output {
    uint32_t *ids;
    uint32_t *begin, *end; /* half-open, in offset_unit, relative to base; NULL unless OFFSETS */
    uint32_t *norm_begin,
        *norm_end; /* half-open, bytes of the normalized text, relative to norm_base;
                                        NULL unless NORM_SPANS. It is the piece text of an unknown. */
    size_t capacity;
    size_t count;             /* out: elements written (or counted) by this call */
    uint64_t base, norm_base; /* out: 0 unless the text is longer than 2 GiB */
} isotok_output;

/* Starts a text. `options` may be NULL (ids, no BOS, no EOS). */
ISOTOK_API(isotok_encode_begin)
isotok_status isotok_encode_begin(isotok_session *session, const isotok_encode_options *options,
                                  isotok_error *out_error);

/* Encodes `input->text[consumed..size)`, writing to output[0..capacity).
 * OK           all of this part is consumed, except (unless LAST) a tail of at most
 *              max_key_bytes bytes (of white space any number, where a model from
 *              tokenizer.json has tokens that take it along: present as much again if nothing
 *              was consumed) from `consumed` on: present it again in front of the
 *              next part, with consumed = 0. After LAST the text is finished.
 * NEED_OUTPUT  take output->count elements, call again with the same input struct.
 * NEED_SCRATCH error.need bytes: isotok_session_move, then call again.
 * AT_LIMIT     options.limit ids were written and the text has more. Ends the text.
 * SAMPLE, GUMBEL, DROPOUT: draws are named by their place in the text (see docs/sampling.md),
 * so equal texts with equal seeds give equal ids, in a batch too.
 * Nothing is redone on resuming; the result does not depend on capacity, memory size or
 * how the text is cut into parts. Time O(n log n), for any text and verified model. */
ISOTOK_API(isotok_encode_step)
isotok_status isotok_encode_step(isotok_session *session, isotok_input *input,
                                 isotok_output *output, isotok_error *out_error);

/* Encodes `text_count` texts, laid end to end in `text`; text i ends at text_ends[i].
 * Ids (offsets relative to each text's start) go end to end to `output`; id_ends[i] =
 * number of ids of texts 0..i since the first call. `*texts_done` and output->count are 0 at
 * first and cumulative over the calls of one batch: on NEED_OUTPUT give larger arrays
 * that hold what was written so far and call again.
 * One text is the short form of begin + step. Limit and flags hold for each text;
 * a text over the limit is cut there, and is no error. */
ISOTOK_API(isotok_encode_batch)
isotok_status isotok_encode_batch(isotok_session *session, const isotok_encode_options *options,
                                  const uint8_t *text, const uint32_t *text_ends, size_t text_count,
                                  size_t *texts_done, isotok_output *output, uint32_t *id_ends,
                                  isotok_error *out_error);

/* The `n` best segmentations of a unigram model (n <= 512), best first. Ids go end to end to
 * `output`; ends[i] = number of ids of the segmentations 0..i, scores[i] = sum of the scores
 * (float32, as sentencepiece 0.2.3 sums them: from the end, but from the beginning for the best
 * path alone), *out_count = how many there are. options: as encode, without COUNT_ONLY,
 * GUMBEL, DROPOUT; the limit is that of each path. With SAMPLE one of the n is drawn,
 * P ~ exp(alpha * score), and is the only one. The search makes fewer than 500,000 partial
 * paths; past that the best path alone is returned, as sentencepiece does (which also has a
 * clock). All of the text lies in the session's window.
 * NEED_SCRATCH error.what = SESSION_MEMORY: isotok_session_move; NBEST_MEMORY: give error.need
 *              bytes of `memory` (64-aligned work space, nothing outlives the call).
 * NEED_OUTPUT  error.need ids.
 * In all three cases the next call starts anew, and gives what a call with room would. */
ISOTOK_API(isotok_nbest)
isotok_status isotok_nbest(isotok_session *session, const isotok_encode_options *options,
                           const uint8_t *text, size_t size, uint32_t n, void *memory,
                           size_t memory_size, isotok_output *output, uint32_t *ends, float *scores,
                           size_t *out_count, isotok_error *out_error);

/* ---- Cuts -------------------------------------------------------------------- */

/* Where normalized text may be cut without changing how it is segmented: no piece spans such a
 * position. Writes the ends of the chunks (bytes, ascending, the last one is `size`) to
 * out[0..capacity), from text[*position..] on (0 at first); OK or NEED_OUTPUT (drain, call
 * again). BPE, WORD, CHAR: chunks encoded with NORMALIZED give the ids of the whole, but for
 * runs of unknowns, which fuse. Unigram: the same up to float32 rounding of near ties.
 * Time is linear. E_TEXT: as with NORMALIZED; error.offset is the byte. */
ISOTOK_API(isotok_boundaries)
isotok_status isotok_boundaries(const isotok_model *model, const uint8_t *text, size_t size,
                                size_t *position, uint32_t *out, size_t capacity, size_t *out_count,
                                isotok_error *out_error);

/* ---- Normalize --------------------------------------------------------------- */

/* Starts normalizing a text; flags: KEEP_ILL_FORMED; offset_unit: of the map. */
ISOTOK_API(isotok_normalize_begin)
isotok_status isotok_normalize_begin(isotok_session *session, const isotok_encode_options *options,
                                     isotok_error *out_error);

/* Writes the normalized text (U+2581 for spaces where the model escapes them) to `out`
 * and, if `out_map` is not NULL, for every byte the offset in the raw text where it came
 * from. After LAST and OK, *out_end is the offset where the text ends, so that a map of
 * length + 1 is complete (an empty result has no map). Statuses as encode_step. */
ISOTOK_API(isotok_normalize_step)
isotok_status isotok_normalize_step(isotok_session *session, isotok_input *input, uint8_t *out,
                                    uint32_t *out_map, size_t capacity, size_t *out_count,
                                    uint32_t *out_end, isotok_error *out_error);

/* ---- Decode ------------------------------------------------------------------ */

enum {
    ISOTOK_RAW_BYTES = 1u << 0,    /* byte pieces as they are, ill-formed or not */
    ISOTOK_SKIP_SPECIAL = 1u << 1, /* special tokens give nothing … */
    ISOTOK_KEEP_SPECIAL = 1u << 2  /* … or their text (sentencepiece's never do); neither: as the
                                      library does that the model comes from (tokenizers: SKIP) */
};

/* Starts decoding. */
ISOTOK_API(isotok_decode_begin)
isotok_status isotok_decode_begin(isotok_session *session, uint32_t flags, isotok_error *out_error);

/* Decodes ids[*consumed..count) to UTF-8 in out[0..capacity). `last` != 0 when the text
 * ends here. Bytes that may become a character stay inside until it is complete; of a model
 * from a tokenizer.json all of a run of byte pieces does.
 * OK, NEED_OUTPUT (drain, call again with the same arguments), NEED_SCRATCH, or
 * E_ID_RANGE (error.index = position in ids); models from a tokenizer.json leave out ids that
 * are not in the vocabulary. */
ISOTOK_API(isotok_decode_step)
isotok_status isotok_decode_step(isotok_session *session, const uint32_t *ids, size_t count,
                                 size_t *consumed, uint32_t last, uint8_t *out, size_t capacity,
                                 size_t *out_count, isotok_error *out_error);

/* As decode_step with one token given by its piece text; a text that is no piece is
 * passed on verbatim. *consumed (0 at first) becomes 1 when the piece was taken.
 * `size` 0 with `last` != 0 only ends the text. */
ISOTOK_API(isotok_decode_piece)
isotok_status isotok_decode_piece(isotok_session *session, const uint8_t *piece, size_t size,
                                  size_t *consumed, uint32_t last, uint8_t *out, size_t capacity,
                                  size_t *out_count, isotok_error *out_error);

#ifdef __cplusplus
}
#endif
#endif
