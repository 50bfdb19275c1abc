/* L1: cutting normalized text into pre-tokens with automata that were compiled from the
 * model's patterns (py_host/isotok/compile/pretok; docs/pretokenizer.md).
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

/* The compiled form is three arrays of a blob.
 *
 * classes[]: `blocks` of 64 classes of characters, the first two those of ASCII; then, if a
 * pass reads bytes, 256 classes of bytes.
 *
 * tables[]: first `pages`. pages[point >> 6] is the block of a code point below U+10000;
 * above, pages[1024 + (point >> 12)] says where in `pages` the 64 entries for
 * point >> 6 & 63 begin. Then, end to end, the tables of each pass:
 *   next   [rows * stride]  where the next row begins
 *   flags  [rows * stride]  see below; a row has one cell per symbol, the end of the text last
 *   facts  [rows]           proofs for the check, see ISOTOK__FACT_…
 * and if it has look-aheads:
 *   next   [reverse_rows * classes]  rows of the automaton that reads from right to left
 *   symbol [reverse_rows * classes]  of the character that is read; 255: not known yet
 *
 * header[]: the words below, then ISOTOK__PASS_WORDS for each pass. */
enum {
    ISOTOK__PRETOK_PASSES, /* 1 to ISOTOK__MAX_PASSES */
    ISOTOK__PRETOK_PAGES,  /* entries of `pages` */
    ISOTOK__PRETOK_BLOCKS, /* bytes of `blocks` */
    ISOTOK__PRETOK_CLASSES,
    ISOTOK__PRETOK_BYTE_CLASSES, /* 0: no pass reads bytes */
    ISOTOK__PRETOK_WORDS
};
enum {
    ISOTOK__PASS_ROWS,
    ISOTOK__PASS_STRIDE, /* symbols, the end included */
    ISOTOK__PASS_KIND,
    ISOTOK__PASS_REVERSE_ROWS,   /* 0: symbols are classes */
    ISOTOK__PASS_REVERSE_CLOSED, /* of them, those of a text that ends; they are the first */
    ISOTOK__PASS_REVERSE_OPEN,   /* row to begin with where more text will come */
    ISOTOK__PASS_WORDS
};
enum {
    ISOTOK__PASS_JOINS = 1, /* a cut may be replaced by the next one */
    ISOTOK__PASS_BYTES = 2, /* each byte is a character, of a class of bytes */
    ISOTOK__PASS_DROPS = 4  /* some segments are no pre-tokens */
};

/* Flags of a cell. */
enum {
    ISOTOK__CELL_DROP_HERE = 1, /* what ends at the cut is no pre-token */
    ISOTOK__CELL_BACK = 1 << 5, /* cut in front of the character before */
    ISOTOK__CELL_DROP_BACK = 1 << 6,
    ISOTOK__CELL_JOIN_HERE = 1 << 7, /* the cut replaces the last one */
    ISOTOK__CELL_JOIN_BACK = 1 << 8,
    ISOTOK__CELL_ENTERS = 1 << 9,  /* the next row may fail again where it once did */
    ISOTOK__CELL_DONE = 1 << 10,   /* the end was read */
    ISOTOK__CELL_REWIND = 1 << 11, /* cut at the place noted, read again from there */
    ISOTOK__CELL_SLOW = 1 << 12,   /* one of JOIN_HERE … REWIND, DROP_BACK, or both cuts */
    ISOTOK__CELL_NOTE = 1 << 13,   /* note the place in front of this character */
    ISOTOK__CELL_HERE = 1 << 14,   /* cut in front of this character */
    ISOTOK__CELL_CUT = 1 << 15     /* BACK or HERE */
};

/* What holds whenever a row is entered. The check proves each cell from those of its row, so
 * that no hostile blob makes an empty segment, goes back behind a cut, or never ends. */
enum {
    ISOTOK__FACT_READ = 3, /* characters since the last cut: 0, 1, or 2 and more */
    ISOTOK__FACT_NOTED = 4 /* a place behind the last cut was noted */
};

/* Windows: what is known of a position from the groups of two characters in front of it and
 * two behind. Those of ASCII are below 8; group 0 tells nothing. core/build/windows.c
 * groups of bytes [256], 0 from 0x80 on; groups of classes [256]; tables for vectors, see
 * ISOTOK__VECTOR_…; by group, the most frequent one of
 * `pages` of which all characters are in the group, low bytes [16], high bytes [16], or 0: no pre-token ends between two of
 * them; answers for the third of four groups, four bits each, the first one lowest: two bits each,
 * the first one lowest. */
#define ISOTOK__WINDOW_MOST_GROUPS 16u
#define ISOTOK__WINDOW_VECTORS 512u
#define ISOTOK__WINDOW_SOLID (ISOTOK__WINDOW_VECTORS + 8u * 16u)
#define ISOTOK__WINDOW_ANSWERS (ISOTOK__WINDOW_SOLID + 32u)
#define ISOTOK__WINDOWS_SIZE (ISOTOK__WINDOW_ANSWERS + 16384u)
enum {
    ISOTOK__WINDOW_NO_END,
    ISOTOK__WINDOW_END,     /* a segment ends here … */
    ISOTOK__WINDOW_DROPPED, /* … and is no pre-token */
    ISOTOK__WINDOW_UNKNOWN  /* ask the automaton */
};

/* Tables of 16 bytes. First three for the bits of a byte's group: by its low four bits a bit for each
 * of the high four with which that bit of the group is set. Then by ISOTOK__VECTOR_INDEX of the
 * second group, with an ISOTOK__VECTOR_BIT for each third group … */
enum {
    ISOTOK__VECTOR_ENDS = 48,    /* … with which a segment ends between them */
    ISOTOK__VECTOR_ASKS = 64,    /* … with which the pair does not tell */
    ISOTOK__VECTOR_BY_NEXT = 80, /* … of those where it ends if the fourth is in FOLLOW, only */
    ISOTOK__VECTOR_DROPS = 96,   /* … of ENDS, where what ends is dropped */
    ISOTOK__VECTOR_FOLLOW = 112  /* the same byte 16 times */
};
#define ISOTOK__VECTOR_INDEX(group) ((group) < 8u ? 7u - (group) : (group))
#define ISOTOK__VECTOR_BIT(group) ((uint8_t)(1u << (7u - (group))))

/* An end with this bit: what ends there is dropped. Positions are below it. */
#define ISOTOK__DROPPED 0x80000000u
/* Entries of ends[] that a call needs to get on. */
#define ISOTOK__PRETOK_ROOM 4u
#define ISOTOK__MAX_PASSES 6u
#define ISOTOK__PIECES 64u
#define ISOTOK__NO_SYMBOL 255u

struct isotok__pass {
    const uint16_t *next;
    const uint16_t *flags;
    const uint16_t *reverse; /* NULL: symbols are classes */
    const uint16_t *reverse_symbols;
    const uint8_t *bytes; /* [256], or NULL */
    uint32_t end;         /* symbol of the end */
    uint32_t reverse_open;
    uint32_t kind;
};

struct isotok__pretokenizer {
    const uint16_t *pages;
    const uint8_t *blocks;
    const uint8_t *windows; /* of the only pass, or NULL */
    uint32_t count;         /* of passes */
    uint32_t reverses;      /* whether a pass has look-aheads: symbols are needed */
    struct isotok__pass passes[ISOTOK__MAX_PASSES];
};

/* The arrays as they lie in a blob. */
struct isotok__pretok_arrays {
    const uint32_t *header;
    const uint16_t *tables;
    const uint8_t *classes;
    uint32_t header_count, tables_count, classes_count;
    const uint8_t *windows; /* [ISOTOK__WINDOWS_SIZE], or NULL */
};

/* Finds everything in the arrays; false if they do not have the lengths that they need. Reads
 * the header only. Windows are used only for a single pass without look-aheads. */
bool isotok__pretok_open(struct isotok__pretokenizer *out,
                         const struct isotok__pretok_arrays *arrays);

/* Whether the contents of arrays that could be opened keep all accesses inside them, and every
 * call to an end. That the automaton gives any library's boundaries is not checked. */
bool isotok__pretok_check(const struct isotok__pretok_arrays *arrays);

/* Where a pass stands. All zero: at the beginning of a text. The first ISOTOK__RUN_PLACES
 * members are places in the text, or places + 1. */
struct isotok__run {
    uint32_t at;     /* next byte to read */
    uint32_t before; /* the character before it */
    uint32_t noted;  /* last place where the pre-token could end */
    uint32_t held;   /* joins: the last cut + 1, not yet final; 0: none */
    uint32_t seen;   /* look-aheads: bytes whose symbols were found, + 1 if with the end */
    /* ENTERS: row `entered` was entered at `entered_at`. From anywhere in failed_from …
     * failed_to, such a row fails by `failed_symbol`. */
    uint32_t entered_at, failed_from, failed_to;
    uint32_t entered, failed_symbol;
    uint32_t row;
    uint32_t done; /* the end was read */
};
#define ISOTOK__RUN_PLACES 8u

/* One pass. Reads text[run->at..size), and the end of the text if `is_end`; writes the ends of
 * segments to ends[0..capacity), capacity >= ISOTOK__PRETOK_ROOM. Stops when the text or the
 * room is used up. `symbols` are those of the pass's look-aheads, NULL for a pass without.
 * Returns how many ends it wrote; run->done says that the end was read. */
uint32_t isotok__pretok_run(const struct isotok__pretokenizer *pretokenizer,
                            const struct isotok__pass *pass, struct isotok__run *run,
                            const uint8_t *text, uint32_t size, bool is_end, const uint8_t *symbols,
                            uint32_t *ends, uint32_t capacity);

/* The same for the only pass, if it has windows. */
uint32_t isotok__pretok_windows(const struct isotok__pretokenizer *pretokenizer,
                                struct isotok__run *run, const uint8_t *text, uint32_t size,
                                bool is_end, uint32_t *ends, uint32_t capacity);

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

/* Cuts text[0..size), which is all (`is_end`) or the text so far, and writes the ends that no
 * later text can change, ascending, to ends[0..capacity), capacity >= ISOTOK__PRETOK_ROOM.
 *
 * Returns how many. 0: all that is known was returned; if `is_end`, cutter->done is set then,
 * or was before. Text behind the last end (and all of `symbols`, which has room for `size`
 * bytes; NULL without look-aheads) must be the same in the next call, in which `size` may be
 * larger. Positions are below 2^31. */
uint32_t isotok__pretokenize(const struct isotok__pretokenizer *pretokenizer,
                             struct isotok__cutter *cutter, const uint8_t *text, uint32_t size,
                             bool is_end, uint8_t *symbols, uint32_t *ends, uint32_t capacity);

/* The first `bytes` of the text are gone, up to the last end that was returned at most. */
void isotok__pretok_move(const struct isotok__pretokenizer *pretokenizer,
                         struct isotok__cutter *cutter, uint32_t bytes);

/* Class of the character at text[0..size), its bytes in `*out_size`; 0 if it is not complete.
 * Ill-formed bytes get some class; all look-ups stay inside the tables for any bytes. */
ISOTOK_INLINE uint32_t isotok__class_at(const uint16_t *pages, const uint8_t *blocks,
                                        const uint8_t *text, uint32_t size, uint32_t *out_size)
{
    uint32_t lead = text[0], need = 2u + (uint32_t)(lead >= 0xE0) + (uint32_t)(lead >= 0xF0);
    uint32_t page, last;
    if (lead < 0xC0) need = 1;
    *out_size = need <= size ? need : 0;
    if (need > size || need == 1) return blocks[lead & 0x7F];
    last = text[need - 1] & 63u;
    if (need == 2)
        page = lead & 31u;
    else if (need == 3)
        page = (lead & 15u) << 6 | (text[1] & 63u);
    else
        page = pages[1024 + ((lead & 7u) << 6 | (text[1] & 63u))] + (text[2] & 63u);
    return blocks[(uint32_t)pages[page] << 6 | last];
}

/* The same where it is seldom asked: its bytes are those of the result above the lowest. */
ISOTOK_SHARED ISOTOK_SMALL uint32_t isotok__class_and_size(
    const struct isotok__pretokenizer *pretokenizer, const uint8_t *text, uint32_t size)
{
    uint32_t length;
    const uint32_t found =
        isotok__class_at(pretokenizer->pages, pretokenizer->blocks, text, size, &length);
    return found | length << 8;
}

#endif
