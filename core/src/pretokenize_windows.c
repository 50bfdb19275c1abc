/* L1: ends of pre-tokens by windows of four characters, and by the automaton where windows do not
 * tell. See pretokenize.h.
 *
 * The answers for 16 bytes of ASCII depend on each other only by their window, which is a shift; an
 * automaton would wait for a load per byte. */
#include "pretokenize.h"

#if defined(__wasm__)
#define UNROLL /* a loop is as fast, and smaller */
#elif defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 16")
#else
#define UNROLL
#endif

#define BLOCK 16u
#define PAIRS 0x55555555u /* the lower bits of answers */
#define LEAST_ENDS 5u     /* room of the automaton */
#define MOST_ENDS 32u

struct scan {
    const struct isotok__pretokenizer *pretokenizer;
    const uint8_t *text;
    uint32_t size;
};

/* Group of the character at `at` < size, and its bytes << 8: 0 bytes if it is not complete. */
ISOTOK_INLINE uint32_t group_at(const struct scan *s, uint32_t at)
{
    const uint8_t *groups = s->pretokenizer->windows;
    uint32_t found;
    if (s->text[at] < 0x80) return groups[s->text[at]] | 1u << 8;
    found = isotok__class_and_size(s->pretokenizer, s->text + at, s->size - at);
    return groups[256 + (found & 0xFFu)] | (found & ~0xFFu);
}

/* The same, where it need not be fast. */
static ISOTOK_COLD uint32_t group_of(const struct scan *s, uint32_t at)
{
    return group_at(s, at);
}

/* The group of the character in front of the one at `at`, where a pre-token ends; 0 if it tells
 * nothing: answers hold behind a character that is in some group. In ill-formed text that may be
 * bytes which the automaton read as the rest of another. */
static ISOTOK_COLD uint32_t window_before(const struct scan *s, uint32_t at)
{
    uint32_t before = 0, end, found, back, k;
    for (k = 0; k < 2; k++) {
        end = at;
        if (end == 0) return 0;
        do --at;
        while (at != 0 && end - at < 4 && (s->text[at] & 0xC0) == 0x80);
        found = group_of(s, at);
        if (at + (found >> 8) != end || (found & 0xFFu) == 0) return 0;
        if (k == 0) before = found & 0xFFu;
    }
    for (back = 1; back < 4 && back <= at; back++)
        if (s->text[at - back] >= 0x100 - (0x80 >> back)) return 0;
    return before;
}

/* Answers for the characters in front of those of a block of ASCII, two bits each, the first one
 * lowest; moves the window behind them. */
ISOTOK_INLINE uint32_t ask(const uint8_t *windows, const uint8_t *block, uint32_t *window)
{
    const uint8_t *answers = windows + ISOTOK__WINDOW_GROUPS;
    uint32_t bits = 0, k;
    size_t then = (size_t)*window << 6;
    UNROLL
    for (k = 0; k < BLOCK; k += 2) {
        then = then >> 6 | ((size_t)windows[block[k]] | (size_t)windows[block[k + 1]] << 3) << 9;
        bits = bits >> 4 | (uint32_t)answers[then] << 28;
    }
    *window = (uint32_t)then >> 6;
    return bits;
}

/* Adds the ends that the answers tell, for characters from `p` on; returns how many. */
ISOTOK_INLINE uint32_t put_ends(uint32_t bits, uint32_t p, uint32_t *ends)
{
    uint32_t marks = (bits | bits >> 1) & PAIRS, *to = ends;
    for (; marks != 0; marks &= marks - 1) {
        const uint32_t k = isotok__trailing_zeros(marks);
        *to++ = (p + (k >> 1)) | (bits >> k & 2u) << 30;
    }
    return (uint32_t)(to - ends);
}

/* Ends behind `begin`, which is one, as far as windows tell; *out_stop: the first position of which
 * they do not. */
static ISOTOK_NOINLINE uint32_t scan_windows(const struct scan *s, uint32_t begin, uint32_t window,
                                             uint32_t *ends, uint32_t capacity, uint32_t *out_stop)
{
    const uint8_t *windows = s->pretokenizer->windows, *answers = windows + ISOTOK__WINDOW_GROUPS,
                  *text = s->text;
    /* where blocks do not fit any more, the caller had better make room */
    const uint32_t room = capacity > 2 * BLOCK ? BLOCK + 1 : ISOTOK__PRETOK_ROOM;
    uint32_t found = group_of(s, begin), length = found >> 8, count = 0;
    uint32_t p = begin, q = begin + length; /* q: of the character behind that at p */
    window = window << 3 | (found & 0xFFu) << 6;
    while (length != 0 && q < s->size && capacity - count >= room) {
        uint32_t group, answer;
        found = group_at(s, q);
        group = found & 0xFFu;
        length = found >> 8;
        answer = p == begin ? 0 : answers[window | group << 9] & 3u;
        if (answer == ISOTOK__WINDOW_UNKNOWN || length == 0) break;
        window = window >> 3 | group << 6;
        ends[count] = p | answer >> 1 << 31;
        count += answer != 0;
        p = q;
        q += length;
        while (q == p + 1 && s->size - q >= BLOCK && capacity - count > BLOCK) {
            const uint32_t before = window;
            uint32_t bits = ask(windows, text + q, &window);
            const uint32_t unknown = bits & bits >> 1 & PAIRS;
            uint32_t known = BLOCK;
            if (ISOTOK_UNLIKELY(unknown != 0)) { /* up to that one */
                bits &= (unknown & (0 - unknown)) - 1;
                known = isotok__trailing_zeros(unknown) >> 1;
                window = before;
                for (found = 0; found < known; found++)
                    window = window >> 3 | (uint32_t)windows[text[q + found]] << 6;
            }
            count += put_ends(bits, p, ends + count);
            p += known;
            q += known;
            if (known != BLOCK) break;
        }
    }
    *out_stop = p;
    return count;
}

/* The automaton is to begin anew at an end, if it reads this from row 0 (else it goes on). */
static ISOTOK_COLD void restart(struct isotok__run *run, uint32_t at)
{
    run->at = run->before = run->noted = at;
    run->held = run->row = 0;
}

ISOTOK_SMALL uint32_t isotok__pretok_windows(const struct isotok__pretokenizer *pretokenizer,
                                             struct isotok__run *run, const uint8_t *text,
                                             uint32_t size, bool is_end, uint32_t *ends,
                                             uint32_t capacity)
{
    const struct scan s = {pretokenizer, text, size};
    uint32_t count = 0, stop = 0, last, room, n;
    while (capacity - count >= ISOTOK__PRETOK_ROOM && !run->done) {
        const uint32_t window = run->at == run->before ? window_before(&s, run->at) : 0;
        if (window != 0 && run->at < size) {
            n = scan_windows(&s, run->at, window, ends + count, capacity - count, &stop);
            count += n;
            if (n != 0) restart(run, ends[count - 1] & ~ISOTOK__DROPPED);
            if (capacity - count < (n != 0 ? BLOCK + 1 : ISOTOK__PRETOK_ROOM)) break;
        }
        /* it gives way soon, unless it is at a script of which windows know nothing */
        room = stop < size && text[stop] >= 0x80 ? MOST_ENDS : LEAST_ENDS;
        n = isotok__pretok_run(pretokenizer, pretokenizer->passes, run, text, size, is_end, NULL,
                               ends + count, (uint32_t)isotok__min(capacity - count, room));
        if (n == 0) break;
        count += n;
        last = ends[count - 1] & ~ISOTOK__DROPPED;
        if (last > stop && last < size && (group_of(&s, last) & 0xFFu) != 0 && !run->done)
            restart(run, last);
    }
    return count;
}
