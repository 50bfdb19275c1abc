/* SentencePiece's precompiled_charsmap: u32 n, n bytes of a Darts double array, and a
 * pool of NUL-terminated replacements. Checked as SentencePiece's loader does, and
 * measured for what bounds time and space. */
#ifndef ISOTOK_BUILD_CHARSMAP_H
#define ISOTOK_BUILD_CHARSMAP_H

#include "double_array.h"
#include "spec.h"

#define ISOTOK__MAX_KEY 8000u /* bytes of a key: as of a piece */
#define ISOTOK__START_WORDS 2048u

typedef struct isotok__charsmap {
    const uint32_t *units; /* 64-aligned copy; NULL without a charsmap */
    uint32_t unit_count;
    isotok__span text;      /* the pool */
    uint32_t max_key_bytes; /* 0 without keys */
    uint32_t max_expansion; /* bytes of the longest replacement, spaces escaped */
    bool well_formed;       /* every replacement is well-formed UTF-8 */
} isotok__charsmap;

/* Reads and checks. `escape`: spaces count three bytes in max_expansion. `at` = position
 * of the charsmap in the source. An empty one gives units == NULL. */
isotok_status isotok__charsmap_read(isotok__work *work, isotok__span source, uint64_t at,
                                    bool escape, isotok__charsmap *out);

/* Sets the bits of all code points that may begin a rule or a user-defined piece, or in
 * which a key ends. `charsmap` and `user_trie` may be without content. */
void isotok__start_set(const isotok__charsmap *charsmap, const isotok__trie *user_trie,
                       uint64_t start_set[ISOTOK__START_WORDS]);

#endif
