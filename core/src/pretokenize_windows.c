/* L1: ends of pre-tokens by windows of four characters, and by the automaton where windows do not
 * tell. See pretokenize.h.
 *
 * Most pairs of characters tell whether a pre-token ends between them: so vectors find the ends in
 * ASCII, where an automaton would wait for a load per byte. Other pairs are asked one by one. */
#include "pretokenize.h"

#include "vector.h"

#define BLOCK 64u     /* most bytes of ASCII that are marked together */
#define LEAST_ENDS 5u /* room of the automaton */
#define MOST_ENDS 32u
#define ROOM 17u /* with less of it, the caller had better make some */

struct scan {
    const struct isotok__pretokenizer *pretokenizer;
    const uint8_t *text;
    uint32_t size;
    bool drops; /* some segments are no pre-tokens */
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

ISOTOK_INLINE uint32_t answer_at(const uint8_t *windows, uint32_t window)
{
    return windows[ISOTOK__WINDOW_ANSWERS + (window >> 2)] >> (window & 3) * 2 & 3u;
}

#if ISOTOK_VECTORS
/* What is known of up to BLOCK characters of ASCII from the one at `p` on, a bit for each. */
struct block {
    const uint8_t *text; /* at `p` */
    isotok__vector seconds[BLOCK / 16],
        thirds[BLOCK / 16]; /* of pairs: ISOTOK__VECTOR_INDEX, …_BIT */
    uint64_t ends;          /* a pre-token ends in front of it … */
    uint64_t drops;         /* … and is dropped */
    uint64_t asks;          /* its pair does not tell */
    uint32_t window;        /* groups at `p`, the fourth is missing */
    uint32_t known;         /* characters */
};

ISOTOK_INLINE isotok__vector bit_of(isotok__vector index)
{
    static const uint8_t bits[16] = {1, 2, 4, 8, 16, 32, 64, 128};
    return isotok__vector_look_up(isotok__vector_load(bits), index);
}

/* That bit of the index, 7 - group, of 16 bytes; those from 0x80 on are in group 0. */
ISOTOK_SHARED isotok__vector index_bit(const uint8_t *table, isotok__vector low,
                                       isotok__vector high, uint8_t bit)
{
    return (isotok__vector)((isotok__vector_look_up(isotok__vector_load(table), low) & high) == 0) &
           bit;
}

/* Finds the pairs in up to `vectors` times 16 bytes, up to those with one that is not ASCII, and which
 * characters that makes known if all pairs told. */
ISOTOK_INLINE void find_pairs(struct block *b, const uint8_t *windows, uint32_t vectors)
{
    const uint8_t *tables = windows + ISOTOK__WINDOW_VECTORS;
    const uint32_t before = b->window >> 4 & 15u;
    isotok__vector last = isotok__vector_of((uint8_t)ISOTOK__VECTOR_INDEX(before));
    uint32_t i = 0;
    uint64_t wide;
    do {
        const isotok__vector bytes = isotok__vector_load(b->text + 16 * i);
        const isotok__vector low = bytes & 15, high = bit_of(bytes >> 4);
        const isotok__vector index = index_bit(tables, low, high, 1) |
                                     index_bit(tables + 16, low, high, 2) |
                                     index_bit(tables + 32, low, high, 4);
        b->seconds[i] = isotok__vector_behind(last, index);
        b->thirds[i] = bit_of(index);
        last = index;
        wide = isotok__vector_high(bytes);
        i++;
    } while (ISOTOK_LIKELY(wide == 0) && i < vectors);
    b->known = 16 * i;
    if (wide != 0) b->known += isotok__trailing_zeros(wide) - 17; /* the next one is unknown */
}

/* Pairs with the bit of the third in the table, at the second. */
ISOTOK_SHARED uint64_t marks(const struct block *b, const uint8_t *windows, uint32_t table)
{
    const isotok__vector bits = isotok__vector_load(windows + ISOTOK__WINDOW_VECTORS + table);
    uint64_t found = 0;
    uint32_t i = 0;
    do {
        const isotok__vector both = isotok__vector_look_up(bits, b->seconds[i]) & b->thirds[i];
        found |= isotok__vector_high((isotok__vector)(both != 0)) << 16 * i;
    } while (16 * ++i < b->known);
    return found;
}

/* The first n <= BLOCK bits. */
ISOTOK_INLINE uint64_t below(uint32_t n)
{
    return n < BLOCK ? ((uint64_t)1 << n) - 1 : ~(uint64_t)0;
}

/* Ends that the next character tells, too; it is known where all of the pair is. */
ISOTOK_INLINE void mark_triples(struct block *b, const uint8_t *windows)
{
    uint64_t told = b->asks & marks(b, windows, ISOTOK__VECTOR_BY_NEXT);
    told &= ~((b->asks & ~told) >> 1) & below(b->known - 1);
    b->ends |= told & marks(b, windows, ISOTOK__VECTOR_FOLLOW) >> 1;
    b->asks &= ~told;
}

/* The groups at the k-th character instead of the first. */
ISOTOK_INLINE uint32_t window_at(const struct block *b, const uint8_t *windows, uint32_t k)
{
    uint32_t i, window = b->window;
    if (ISOTOK_LIKELY(k > 1))
        return (uint32_t)windows[b->text[k]] << 8 | (uint32_t)windows[b->text[k - 1]] << 4 |
               windows[b->text[k - 2]];
    for (i = 1; i <= k; i++) window = window >> 4 | (uint32_t)windows[b->text[i]] << 8;
    return window;
}

/* Asks about characters one by one; those from the first one on of which windows do not tell are not
 * known. */
ISOTOK_INLINE void ask(struct block *b, const uint8_t *windows)
{
    const uint32_t all = b->known;
    uint64_t asks = b->asks;
    for (; asks != 0; asks &= asks - 1) {
        const uint32_t k = isotok__trailing_zeros(asks), next = windows[b->text[k + 1]];
        uint32_t answer = ISOTOK__WINDOW_UNKNOWN;
        b->known = windows[b->text[k]] == 0 && k != 0 ? k - 1 : k;
        if (windows[b->text[k]] == 0 || next == 0) return;
        answer = answer_at(windows, window_at(b, windows, k) | next << 12);
        if (answer == ISOTOK__WINDOW_UNKNOWN) return;
        b->ends |= (uint64_t)(answer != 0) << k;
        b->drops |= (uint64_t)(answer >> 1) << k;
    }
    b->known = all;
}

/* Adds the ends of a block; returns how many. */
ISOTOK_INLINE uint32_t put_ends(const struct block *b, uint32_t p, uint32_t *ends)
{
    uint32_t *to = ends;
    uint64_t marks = b->ends;
    if (b->drops == 0) {
        for (; marks != 0; marks &= marks - 1) *to++ = p + isotok__trailing_zeros(marks);
    } else {
        for (; marks != 0; marks &= marks - 1) {
            const uint32_t k = isotok__trailing_zeros(marks);
            *to++ = (p + k) | (uint32_t)(b->drops >> k) << 31;
        }
    }
    return (uint32_t)(to - ends);
}

/* Adds the ends in ASCII from the character at `p` on, of which the groups are `window`; there may
 * be one at `p` if not `first`. Returns how many ends, << 8 how many characters were told, << 16
 * the groups behind them. */
static ISOTOK_NOINLINE uint32_t scan_block(const struct scan *s, uint32_t p, bool first,
                                           uint32_t vectors, uint32_t window, uint32_t *ends)
{
    const uint8_t *windows = s->pretokenizer->windows;
    struct block b;
    uint64_t asked;
    b.text = s->text + p;
    b.window = window;
    find_pairs(&b, windows, vectors);
    asked = below(b.known) & ~(uint64_t)first;
    b.ends = marks(&b, windows, ISOTOK__VECTOR_ENDS);
    b.asks = marks(&b, windows, ISOTOK__VECTOR_ASKS) & asked;
    b.drops = s->drops ? marks(&b, windows, ISOTOK__VECTOR_DROPS) : 0;
    if (windows[b.text[b.known]] == 0) b.asks |= asked & ~(asked >> 1); /* the last one */
    if (b.asks != 0) {
        if (ISOTOK_EXTRAS) mark_triples(&b, windows);
        ask(&b, windows);
    }
    b.ends &= below(b.known) & asked;
    return put_ends(&b, p, ends) | b.known << 8 | window_at(&b, windows, b.known) << 16;
}
#endif

/* Bytes from `at` on of characters of three bytes in the block of which all are in the group; no
 * pre-token ends between two of these. */
ISOTOK_INLINE uint32_t solid_run(const struct scan *s, uint32_t at, uint32_t group)
{
    const uint8_t *solid = s->pretokenizer->windows + ISOTOK__WINDOW_SOLID, *text = s->text;
    const uint16_t *pages = s->pretokenizer->pages;
    const uint32_t block = solid[group] | (uint32_t)solid[16 + group] << 8;
    uint32_t p = at;
    while (block != 0 && s->size - p >= 3 && text[p] >> 4 == 14 &&
           pages[(text[p] & 15u) << 6 | (text[p + 1] & 63u)] == block)
        p += 3;
    return p - at;
}

/* Bytes from `at` on of characters of two or three bytes that are in the group; *out_last: of the
 * last one. */
ISOTOK_INLINE uint32_t same_run(const struct scan *s, uint32_t at, uint32_t group,
                                uint32_t *out_last)
{
    const uint8_t *groups = s->pretokenizer->windows + 256, *blocks = s->pretokenizer->blocks;
    const uint16_t *pages = s->pretokenizer->pages;
    uint32_t p = at, n = 0;
    while (s->size - p >= 3) {
        const uint32_t lead = s->text[p], second = s->text[p + 1] & 63u;
        uint32_t index;
        if (lead >> 5 == 6) {
            index = (uint32_t)pages[lead & 31u] << 6 | second;
            n = 2;
        } else if (lead >> 4 == 14) {
            index = (uint32_t)pages[(lead & 15u) << 6 | second] << 6 | (s->text[p + 2] & 63u);
            n = 3;
        } else {
            break;
        }
        if (groups[blocks[index]] != group) break;
        p += n;
        *out_last = n;
    }
    return p - at;
}

/* Ends behind `begin`, which is one, as far as windows tell; *out_stop: the first position of which
 * they do not. `window`: the group of the character in front of it. */
static ISOTOK_NOINLINE uint32_t scan_windows(const struct scan *s, uint32_t begin, uint32_t window,
                                             uint32_t *ends, uint32_t capacity, uint32_t *out_stop)
{
    const uint8_t *windows = s->pretokenizer->windows;
    const uint32_t room = capacity > 2 * ROOM ? ROOM : ISOTOK__PRETOK_ROOM, size = s->size;
    uint32_t found = group_of(s, begin), count = 0;
    uint32_t p = begin, q = begin + (found >> 8); /* q: of the character behind that at p */
    window = window << 4 | (found & 0xFFu) << 8;
    while (q != p && q < size && capacity - count >= room) {
        uint32_t group, answer, run, last = 3;
#if ISOTOK_VECTORS
        const uint32_t most = (uint32_t)isotok__min(size - q, capacity - count - 1) / 16;
        if (q == p + 1 && s->text[p] < 0x80 && most != 0) {
            const uint32_t vectors = (uint32_t)isotok__min(most, BLOCK / 16);
            found = scan_block(s, p, p == begin, vectors, window, ends + count);
            count += found & 0xFFu;
            p += found >> 8 & 0xFFu;
            window = found >> 16;
            q = p + 1;
            if ((found >> 8 & 0xFFu) == 16 * vectors) continue;
        }
#endif
        found = group_at(s, q);
        group = found & 0xFFu;
        answer = p == begin ? 0 : answer_at(windows, window | group << 12);
        if (answer == ISOTOK__WINDOW_UNKNOWN || found < 1u << 8) break;
        ends[count] = p | answer >> 1 << 31;
        count += answer != 0;
        p = q;
        q += found >> 8;
        run = ISOTOK_EXTRAS && window >> 8 == group ? solid_run(s, q, group) : 0;
        window = window >> 4 | group << 8;
        if (ISOTOK_EXTRAS && run == 0 && window == group * 0x111u &&
            answer_at(windows, group * 0x1111u) == ISOTOK__WINDOW_NO_END)
            run = same_run(s, q, group, &last);
        if (run != 0) {
            q += run;
            p = q - last;
            window = group * 0x111u;
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
    const struct scan s = {pretokenizer, text, size,
                           (pretokenizer->passes->kind & ISOTOK__PASS_DROPS) != 0};
    uint32_t count = 0, stop = 0, last, room, n;
    while (capacity - count >= ISOTOK__PRETOK_ROOM && !run->done) {
        const uint32_t window = run->at == run->before ? window_before(&s, run->at) : 0;
        if (window != 0 && run->at < size) {
            n = scan_windows(&s, run->at, window, ends + count, capacity - count, &stop);
            count += n;
            if (n != 0) restart(run, ends[count - 1] & ~ISOTOK__DROPPED);
            if (capacity - count < (n != 0 ? ROOM : ISOTOK__PRETOK_ROOM)) break;
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
