/* L3 and up share this: the session's state and its working arrays, carved from the
 * caller's memory.
 *
 * A *window* holds internal text. The longest prefix of it that ends at a cut (a position
 * that no piece spans) is segmented into tokens, the tokens are emitted, the rest moves
 * to the front. So memory depends on the longest stretch without a cut, not on the text. */
#ifndef ISOTOK_SESSION_H
#define ISOTOK_SESSION_H

#include "blob.h"
#include "bpe_queue.h"
#include "cache.h"
#include "normalize.h"
#include "unicode.h"

/* A token of the window: slot of the trie (or ISOTOK_UNK_SLOT) and bytes of internal text. Where
 * there are no byte pieces an unknown token may be a run of characters: emission joins them.
 * In models of pre-tokens it is text that is spelled in bytes; other unknown text has unk_slot.
 * Narrow: slot << 8 | length in one word. Wide: two arrays. Where tokens are looked up in batches
 * they are *named*: the id stands in the place of the slot. */
struct isotok__tokens {
    uint32_t *slots;   /* narrow: slot << 8 | length */
    uint32_t *lengths; /* wide only, else NULL */
    uint32_t count;
    uint32_t failed; /* some text is unknown, and the model has no token for it */
    uint32_t named;
};

ISOTOK_INLINE void isotok__push_token(struct isotok__tokens *tokens, uint32_t slot, uint32_t size)
{
    if (tokens->lengths != NULL) {
        tokens->slots[tokens->count] = slot;
        tokens->lengths[tokens->count] = size;
    } else {
        tokens->slots[tokens->count] = slot << 8 | size;
    }
    tokens->count++;
}

/* The same, for what need not be fast. */
void isotok__push(struct isotok__tokens *tokens, uint32_t slot, uint32_t size);

/* A token of any length: of a model that is not wide, several, the last of which names it. */
void isotok__push_long(struct isotok__tokens *tokens, uint32_t slot, uint32_t size);

/* Slot of the piece with this text; of none, 0, which no piece ends at. */
uint32_t isotok__find_slot(const isotok_model *model, const uint8_t *text, uint32_t size);

/* Unknown text of a model of pre-tokens: one token. */
void isotok__push_unknown(const isotok_model *model, uint32_t size, struct isotok__tokens *tokens);

/* Probability mass, sum * exp(top); sum 0: none. */
struct isotok__mass {
    double top, sum;
};

/* Working arrays of the segmenters, each for a window of `capacity` bytes. */
struct isotok__unigram_work {
    float *best;                 /* [capacity + 1]; none by pre-tokens */
    uint32_t *back;              /* [capacity + 1] narrow: slot << 8 | length; wide: slot */
    uint32_t *start;             /* [capacity + 1] wide only */
    struct isotok__mass *masses; /* sampling, and by pre-tokens: [masses_mask + 1], by position
                                  * & masses_mask */
    uint32_t masses_mask;
};

/* BPE dropout: what a draw needs. */
struct isotok__dropout {
    double alpha; /* 0: no dropout */
    uint64_t seed;
    uint64_t place; /* bytes of internal text in front of what is segmented */
};

/* A symbol of a long chunk lies at the index of its first byte; its length also at that of
 * its last byte, so that both neighbours are found without links. */
struct isotok__symbol {
    uint32_t node; /* trie slot of its text, see bpe_long.h */
    uint32_t size; /* bytes */
};

struct isotok__bpe_work {
    struct isotok__symbol *symbols; /* [capacity] */
    struct isotok__queue queue;
    uint32_t *splits; /* hash table of UNUSED merges: pairs {id + 1, left length} */
    uint32_t splits_mask;
    struct isotok__dropout dropout;
};

enum isotok__mode {
    ISOTOK__IDLE = 0,
    ISOTOK__ENCODING,
    ISOTOK__NORMALIZING,
    ISOTOK__DECODING,
    ISOTOK__ENDED
};

/* Where emission stands; kept over NEED_OUTPUT. */
struct isotok__emitter {
    uint32_t token;        /* next token of the window */
    uint32_t position;     /* its first byte in the window */
    uint32_t byte;         /* bytes of an unknown token already emitted (byte fallback) */
    uint32_t stage;        /* BOS, text, EOS, done: see emit.c */
    uint32_t unknown_open; /* a run of unknown characters is not yet emitted */
    uint64_t unknown_begin, unknown_end, unknown_norm_begin, unknown_norm_end;
    uint32_t operation;     /* of the template: the next one */
    uint64_t emitted;       /* ids so far in this text */
    uint64_t norm_position; /* canonical bytes before `position` */
};

struct isotok__decoder {
    uint32_t flags, at_start, wrote, finished;
    uint32_t spaces;  /* DECODE_PIECES: spaces that are yet to be stripped */
    uint8_t bytes[4]; /* an incomplete character of byte pieces */
    uint32_t bytes_count;
    uint8_t pending[8]; /* decoded bytes not yet delivered */
    uint32_t pending_count, pending_position;
    const uint8_t *piece; /* the piece that is being delivered; NULL: what is in the window */
    uint32_t piece_size, piece_position, piece_verbatim;
    uint32_t piece_mute, piece_broken; /* U+2581 is nothing; each byte is U+FFFD */
    uint32_t raw_count, raw_position;  /* text in front of the denormalizer */
};

/* Short offsets make smaller code: what is small and often used comes first. */
struct isotok_session {
    const isotok_model *model;
    uint32_t mode;
    uint32_t capacity; /* bytes of the window */
    uint32_t ready;    /* bytes at the front of the window that are segmented */
    isotok_encode_options options;
    struct isotok__window window;
    struct isotok__tokens tokens;
    struct isotok__normalizer normalizer;
    struct isotok__emitter emitter;
    struct isotok__decoder decoder;
    uint64_t place;          /* bytes of internal text in front of the window */
    uint32_t searched;       /* no position of the window below this one is a cut */
    uint32_t drained;        /* normalize: bytes of the window already delivered */
    float carried;           /* unigram: score at the window's start */
    uint32_t *map_memory;    /* the window's map when offsets are wanted */
    uint32_t *tokens_memory; /* where tokens.slots begins */
    struct isotok__cache cache;
    struct isotok__unigram_work unigram;
    struct isotok__bpe_work bpe;
    struct isotok__unicode unicode; /* the normalizer, where the model has a program */
    uint32_t special_id;            /* the special token that ends this stretch of the text … */
    uint32_t special_word; /* … whether the text so far ends with a character of a word … */
    size_t special_size;   /* … its bytes; 0: none was found yet … */
    size_t special_clear;  /* … and bytes of the input in front of it, or without one */
    uint8_t *raw;          /* decode: text in front of the denormalizer, `capacity` bytes */
    size_t batch_consumed; /* encode_batch: bytes of the current text consumed */
    uint32_t batch_running;
    size_t memory_size;
    uint8_t *symbols;             /* look-aheads of the automaton, for a window; NULL without any */
    struct isotok__cutter cutter; /* pre-tokens: where the automaton stands */
};

/* Bytes of memory for a window of `capacity` bytes. */
uint64_t isotok__session_memory(const struct isotok_model *model, size_t capacity);
/* Least memory: room for the longest single output of the normalizer. */
size_t isotok__session_minimum(const struct isotok_model *model);
size_t isotok__session_usual(const struct isotok_model *model);

/* A cleared cache of a session: what the model's memo answers, if it has one. Not in a core without
 * distilled models. */
void isotok__session_memo(struct isotok_session *session);

/* The model's normalizer, whichever it has: as isotok__normalizer_begin, _run and _settled. */
void isotok__text_begin(struct isotok_session *session, bool keep_ill_formed);
int isotok__text_run(struct isotok_session *session, const uint8_t *text, size_t size,
                     size_t *position, bool last);
size_t isotok__text_settled(struct isotok_session *session);

/* Bits of the size in an entry of the window's map: of a program it says which one character it is
 * aligned to. */
ISOTOK_INLINE uint32_t isotok__map_shift(const struct isotok_session *s)
{
    return ISOTOK__HAS(s->model->program.on) && !(s->options.flags & ISOTOK_NORMALIZED) ? 3 : 0;
}

/* Copies a struct of the public interface, which begins with its size, as far as the caller knows
 * it: OK, or E_ABI if `out` has less than `least` bytes. Members that are unknown here are 0. */
isotok_status isotok__give_info(void *out, uint32_t least, const void *info, uint32_t info_size);

/* Fails with NEED_SCRATCH, asking for a window twice as large. */
isotok_status isotok__need_scratch(const struct isotok_session *session, isotok_error *error);

#endif
