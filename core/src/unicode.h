/* L2: the normalizers of a tokenizer.json, and what its pre-tokenizer rewrites, as a stream.
 *
 * A *program* (FORMAT.md §14) is a list of operations on characters, each with the origin that it
 * is aligned to: one character of the raw text. Between two characters that no operation can join
 * or see together there is a *boundary*; what lies between two boundaries is a unit, which goes
 * through all operations at once. Most units are one character, whose image the compiler knows.
 *
 * SOURCE  normalizers and NormalizedString of tokenizers 0.23. */
#ifndef ISOTOK_UNICODE_H
#define ISOTOK_UNICODE_H

#include "normalize.h"

enum {                           /* operations: {kind, column, argument, content} */
       ISOTOK__UNI_MAP = 1,      /* column: of images */
       ISOTOK__UNI_FORM = 2,     /* column: of decompositions; argument 1: compose */
       ISOTOK__UNI_CHARSMAP = 3, /* column: of grapheme classes */
       ISOTOK__UNI_RUN = 4,      /* column: not 0 in the set; argument: least length */
       ISOTOK__UNI_LITERAL = 5,  /* column: length; argument: position among the literals */
       ISOTOK__UNI_STRIP = 6,    /* argument: 1 left, 2 right */
       ISOTOK__UNI_PREFIX = 7,   /* argument: unless the text begins with it; column 1: only at 0 */
       ISOTOK__UNI_SPLIT = 8     /* argument: unless a word begins with it */
};
enum { /* low byte of a row's first number; the high one is the combining class */
       ISOTOK__UNI_LEFT = 1,   /* may join what stands before it */
       ISOTOK__UNI_RIGHT = 2,  /* … behind it */
       ISOTOK__UNI_SOFT = 4,   /* … both being soft */
       ISOTOK__UNI_SLOW = 8,   /* its row holds no image of it */
       ISOTOK__UNI_SPACE = 16, /* whitespace */
       ISOTOK__UNI_NOT_PLAIN = 15
};
enum { /* of a program */
       /* ISOTOK__UNI_BLOCKS = 1: printable ASCII but `hard_printable` is copied in blocks … */
       ISOTOK__UNI_LOWER = 2,    /* … in lower case … */
       ISOTOK__UNI_COLLAPSE = 4, /* … without a space behind a space or at an end */
       ISOTOK__UNI_JOINED = 8    /* some ASCII is LEFT */
};

#define ISOTOK__UNI_CUT 0x80000000u /* of a character: goes if nothing but such follows */
#define ISOTOK__UNI_POINT 0x1FFFFFu
#define ISOTOK__UNI_CLASS 21 /* its combining class, while it is sorted */

struct isotok__char {
    uint32_t point;
    uint32_t origin; /* (position - base) << 3 | size, in the unit of offsets */
};

/* Where the stream stands. The arrays are the session's, of `capacity` elements each. */
struct isotok__unicode {
    struct isotok__char *unit; /* raw characters of the unit */
    struct isotok__char *work[3];
    uint64_t *late; /* see `late_count` */
    uint32_t capacity;
    uint32_t count;               /* of the unit */
    uint32_t flags;               /* of its last character */
    uint32_t begun;               /* bit i: operation i has seen the beginning of the text */
    uint32_t gap;                 /* SPLIT: a word begins */
    uint32_t late_count, late_at; /* CHARSMAP: what it removed at the beginning of the text shifts
                                      all later alignments: a ring of origins */
    uint32_t trying;              /* whether there is room: that ring stays as it is */
    uint64_t base;
};

void isotok__unicode_begin(struct isotok__unicode *u);

/* As isotok__normalizer_run. The input is used up, but for an incomplete character; what is held
 * back is in `u`. The window's map holds (position - map_base) << 3 | size, its `settled` bytes
 * are those that nothing can cut off. */
int isotok__unicode_run(const struct isotok_model *model, struct isotok__normalizer *n,
                        struct isotok__unicode *u, const uint8_t *text, size_t size,
                        size_t *position, bool last, struct isotok__window *window);

/* Least position that what is still to come is aligned to. */
uint64_t isotok__unicode_floor(const struct isotok__normalizer *n, const struct isotok__unicode *u);

/* Sends the unit through all operations. The result, *out_count characters, or NULL: no room. */
struct isotok__char *isotok__unicode_apply(const struct isotok_model *model,
                                           struct isotok__unicode *u, uint32_t *out_count);

/* The text of a code, which is not 0: one byte size, then UTF-8; FF is the character itself.
 * Appends its characters to out[at..capacity): the new end, or more than `capacity`. */
uint32_t isotok__unicode_text(const uint8_t *text, uint32_t size, const struct isotok__char *self,
                              struct isotok__char *out, uint32_t at, uint32_t capacity);

/* A code point as UTF-8; how many bytes. */
uint32_t isotok__put_scalar(uint32_t point, uint8_t out[4]);

ISOTOK_INLINE const uint16_t *isotok__unicode_row(const struct isotok__program *p, uint32_t point)
{
    const uint32_t middle = p->tables[point >> 12] * 32u + (point >> 7 & 31u);
    const uint32_t block = p->tables[ISOTOK__UNI_TOP + middle] * 128u + (point & 127u);
    return p->rows + (size_t)p->blocks[block] * p->stride;
}

/* One number of it, for what need not be fast. */
static inline ISOTOK_COLD uint32_t isotok__unicode_cell(const struct isotok__program *p,
                                                        uint32_t point, uint32_t column)
{
    return isotok__unicode_row(p, point & ISOTOK__UNI_POINT)[column];
}

#endif
