/* L2: cutting normalized text into pre-tokens with automata that were compiled from the
 * model's patterns (py_host/isotok/compile/pretok).
 *
 * A pre-tokenizer is one or more passes. The first reads the text; each further one reads
 * the pieces of the one before, as if they were texts. A pass is an automaton that reads
 * the class of a character at a time; its cell says what is cut, and where it goes on.
 *
 * It gives the boundaries that the source library's regular expressions give: the first
 * alternative that matches wins, not the longest. Nearly always the end of a pre-token is
 * known one character later; if not, the automaton reads again from there (REWIND), and the
 * compiler has proved that this takes linear time, with a note of the last place where that
 * was in vain (ENTERS).
 *
 * Text may come in parts, and may be moved in memory between calls. What lies behind the
 * last end that was returned must be kept. */
#ifndef ISOTOK_PRETOKENIZE_H
#define ISOTOK_PRETOKENIZE_H

#include "base.h"

/* Bits of a cell; the rest is where the next row begins. */
enum {
    ISOTOK__CELL_ROW = (1 << 20) - 1,
    ISOTOK__CELL_JOIN_HERE = 1 << 21, /* the cut replaces the last one */
    ISOTOK__CELL_JOIN_BACK = 1 << 22,
    ISOTOK__CELL_DROP_HERE = 1 << 23, /* what ends at the cut is no pre-token */
    ISOTOK__CELL_DROP_BACK = 1 << 24,
    ISOTOK__CELL_ENTERS = 1 << 25, /* the next row may fail again where it once did */
    ISOTOK__CELL_DONE = 1 << 26,   /* the end was read */
    ISOTOK__CELL_REWIND = 1 << 27, /* cut at the place noted, read again from there */
    ISOTOK__CELL_SLOW = 1 << 28,   /* one of the above */
    ISOTOK__CELL_NOTE = 1 << 29,   /* note the place in front of this character */
    ISOTOK__CELL_HERE = 1 << 30    /* cut in front of this character; */
    /* bit 31: cut in front of the character before */
};

/* An end with this bit: what ends there is dropped. Positions are below it. */
#define ISOTOK__DROPPED 0x80000000u
/* Entries of ends[] that a call needs to get on. */
#define ISOTOK__PRETOK_ROOM 4u

/* Class of a code point: FORMAT.md. The first 128 of `blocks` are those of ASCII. */
struct isotok__classes {
    const uint16_t *pages;
    const uint8_t *blocks;
};

struct isotok__pass {
    const uint32_t *cells;   /* rows of one cell per symbol, the end of the text last */
    const uint32_t *reverse; /* rows of one cell per class: next row | symbol << 24; or NULL:
                                symbols are classes */
    const uint8_t *bytes;    /* [256] classes of bytes, each of which is a character; or NULL */
    uint32_t end;            /* symbol of the end */
    uint32_t reverse_final, reverse_open; /* rows to begin with at the end of the text, and
                                             where more will come */
    uint32_t joins;                       /* whether a cut may be replaced by the next one */
};

/* Where a pass stands. All zero: at the beginning of a text. */
struct isotok__run {
    uint32_t at;     /* next byte to read */
    uint32_t before; /* the character before it */
    uint32_t noted;  /* last place where the pre-token could end */
    uint32_t row;
    uint32_t held; /* joins: the last cut + 1, not yet final; 0: none */
    uint32_t done; /* the end was read */
    uint32_t seen; /* look-aheads: bytes whose symbols were found, + 1 if with the end */
    /* ENTERS: row `entered` was entered at `entered_at`. From anywhere in failed_from …
     * failed_to, such a row fails by `failed_symbol`. */
    uint32_t entered, entered_at;
    uint32_t failed_symbol, failed_from, failed_to;
};

/* One pass. Reads text[run->at..size), and the end of the text if `is_end`; writes the ends of segments
 * to ends[0..capacity), capacity >= ISOTOK__PRETOK_ROOM. Stops when the text or the room is
 * used up. `symbols` are those of isotok__pretok_symbols, NULL for a pass without `reverse`.
 * Returns how many ends it wrote; run->done says that the end was read. */
uint32_t isotok__pretok_run(const struct isotok__classes *classes, const struct isotok__pass *pass,
                            struct isotok__run *run, const uint8_t *text, uint32_t size,
                            bool is_end, const uint8_t *symbols, uint32_t *ends, uint32_t capacity);

/* Finds the symbol of each character of text[begin..size) and writes it to symbols[], at the
 * character's first byte; 255: it depends on text that has not come yet. */
void isotok__pretok_symbols(const struct isotok__classes *classes, const struct isotok__pass *pass,
                            const uint8_t *text, uint32_t begin, uint32_t size, bool is_end,
                            uint8_t *symbols);

/* All passes of a pre-tokenizer. */
#define ISOTOK__MAX_PASSES 6u
#define ISOTOK__PIECES 64u

struct isotok__pretokenizer {
    struct isotok__classes classes;
    const struct isotok__pass *passes;
    uint32_t count;     /* of passes, 1 to ISOTOK__MAX_PASSES */
    uint32_t reverses;  /* whether a pass has look-aheads: symbols are needed */
};

/* Pieces of the pass before that a pass has not read yet. */
struct isotok__pieces {
    uint32_t ends[ISOTOK__PIECES];
    uint32_t count, next;
};

/* Where all passes stand. All zero: at the beginning of a text. */
struct isotok__cutter {
    uint32_t done; /* all ends were returned */
    struct isotok__run runs[ISOTOK__MAX_PASSES];
    struct isotok__pieces pieces[ISOTOK__MAX_PASSES]; /* [0] is unused */
};

/* The same as isotok__pretok_run for all passes. `symbols` has room for `size` bytes and moves
 * with the text; NULL without look-aheads. */
uint32_t isotok__pretokenize(const struct isotok__pretokenizer *pretokenizer,
                             struct isotok__cutter *cutter, const uint8_t *text, uint32_t size,
                             bool is_end, uint8_t *symbols, uint32_t *ends, uint32_t capacity);

/* The first `bytes` of the text are gone, up to the last end that was returned at most. */
void isotok__pretok_move(const struct isotok__pretokenizer *pretokenizer,
                         struct isotok__cutter *cutter, uint32_t bytes);

#endif
