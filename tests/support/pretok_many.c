/* Cuts many texts in one call: for tests that compare millions of short ones. */
#include "pretokenize.h"

uint32_t pretok_struct_size(void);
uint32_t pretok_reverses(const struct isotok__pretokenizer *pretokenizer);
uint32_t pretok_cut_many(const struct isotok__pretokenizer *pretokenizer, const uint8_t *text,
                         const uint32_t *text_ends, uint32_t texts, uint8_t *symbols, uint32_t *out,
                         uint32_t capacity, uint32_t *counts);

uint32_t pretok_struct_size(void)
{
    return (uint32_t)sizeof(struct isotok__pretokenizer);
}

uint32_t pretok_reverses(const struct isotok__pretokenizer *pretokenizer)
{
    return pretokenizer->reverses;
}

/* Texts end at text_ends[]; writes the ends of each one's segments, from its begin on, and how
 * many to counts[]. Returns how many texts fitted in out[0..capacity). */
uint32_t pretok_cut_many(const struct isotok__pretokenizer *pretokenizer, const uint8_t *text,
                         const uint32_t *text_ends, uint32_t texts, uint8_t *symbols, uint32_t *out,
                         uint32_t capacity, uint32_t *counts)
{
    uint32_t i, begin = 0, used = 0;
    for (i = 0; i < texts; i++) {
        struct isotok__cutter cutter = {0};
        uint32_t size = text_ends[i] - begin, room = 2 * size + 16;
        if (capacity - used < room) break;
        counts[i] = isotok__pretokenize(pretokenizer, &cutter, text + begin, size, true, symbols,
                                        out + used, room);
        if (!cutter.done) break;
        used += counts[i];
        begin = text_ends[i];
    }
    return i;
}
