/* Pairs of characters of scripts without spaces: counted, and words cut by them. */
#ifndef ISOTOK_BIGRAMS_H
#define ISOTOK_BIGRAMS_H

#include "base.h"
#include "counts.h"

#define ISOTOK__SCRIPTS_END 0x32000u /* above the last code point of SCRIPTS */

/* Of which 16 code points are of such a script: one bit each. */
struct isotok__scripts {
    uint8_t blocks[ISOTOK__SCRIPTS_END / 16 / 8];
};

/* Where words are cut: between two characters whose pair is not kept. */
struct isotok__shape {
    struct isotok__scripts scripts;
    uint64_t *kept; /* hash set of keys + 1 */
    uint32_t mask;
    bool mixed; /* also where only one is of such a script */
};

struct isotok__shape *isotok__shape_new(const uint64_t *keys, uint32_t count, bool mixed);
void isotok__shape_free(struct isotok__shape *shape);
/* The first cut of text[at..end), which is UTF-8; `end` if there is none. */
uint32_t isotok__shape_next(const struct isotok__shape *shape, const uint8_t *text, uint32_t at,
                            uint32_t end);

#endif
