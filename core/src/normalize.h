/* L2: SentencePiece's normalizer as a stream: raw bytes in, internal text and an offset
 * map out, in pieces of any size.
 *
 * SOURCE  the rules of `Normalizer::Normalize` of sentencepiece 0.2.3: prefix replacement
 *         (user-defined piece, charsmap key, character), whitespace rules, offsets. */
#ifndef ISOTOK_NORMALIZE_H
#define ISOTOK_NORMALIZE_H

#include "blob.h"

struct isotok__normalizer {
    const struct isotok__rules *rules;
    uint64_t consumed;    /* raw text read so far, in `unit` */
    uint64_t bytes;       /* the same in bytes; normalized.c only */
    uint32_t unit;        /* ISOTOK_UNIT_… */
    uint32_t started;     /* past the leading spaces that are dropped */
    uint32_t after_space; /* "previous ended with a space", where extra spaces go */
    uint32_t keep_ill_formed;
    uint32_t finished;
};

/* A growing window of output. Offsets in `map` are relative to `map_base`. */
struct isotok__window {
    uint8_t *text;
    uint32_t *map; /* one entry per byte of text, or NULL */
    size_t size, capacity;
    size_t settled; /* at least so many bytes are, see isotok__normalizer_settled */
    uint64_t map_base;
};

enum { ISOTOK__NORM_DONE = 0, ISOTOK__NORM_FULL = 1 };

void isotok__normalizer_begin(struct isotok__normalizer *n, const struct isotok__rules *rules,
                              uint32_t unit, bool keep_ill_formed);

/* Reads text[*position..size) and appends to the window until the input is used up (but
 * for a tail that may be the beginning of a key, unless `last`), or the window has no
 * room for the next output. With `last` and DONE the end has been settled: trailing
 * spaces are cut off the window, the suffix is appended, n->finished is set. */
int isotok__normalizer_run(struct isotok__normalizer *n, const uint8_t *text, size_t size,
                           size_t *position, bool last, struct isotok__window *window);

/* Bytes of window->text that later input cannot change: all but a trailing run of spaces
 * where those may be cut off. Remembers the answer, so that a long run is read once. */
size_t isotok__normalizer_settled(const struct isotok__normalizer *n,
                                  struct isotok__window *window);

/* How many of the 16 bytes at text[position], from the first on, are printable ASCII but
 * `hard_printable`, and with `collapse` no space behind a space; then text[position - 1] is read. */
uint32_t isotok__plain_run(const struct isotok__rules *rules, const uint8_t *text, size_t position,
                           bool collapse);

#endif
