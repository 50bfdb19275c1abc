/* Merge sort of byte strings: see sort.h. */
#include "sort.h"

enum { RUN = 12 };   /* runs of this length are made by insertion */

typedef struct strings {
    const uint8_t *pool;
    const uint32_t *ends;
} strings;

/* Compares two items whose first eight bytes are equal. */
static ISOTOK_NOINLINE bool less_rest(const isotok__sort_item *a, const isotok__sort_item *b,
                                      strings s)
{
    size_t a_size = s.ends[a->id] - a->begin;
    size_t b_size = s.ends[b->id] - b->begin;
    size_t common = isotok__min(a_size, b_size);
    if (common > 8) {
        int order = memcmp(s.pool + a->begin + 8, s.pool + b->begin + 8, common - 8);
        if (order != 0) {
            return order < 0;
        }
    }
    return a_size != b_size ? a_size < b_size : a->id < b->id;
}

static inline bool less(const isotok__sort_item *a, const isotok__sort_item *b, strings s)
{
    return a->prefix != b->prefix ? a->prefix < b->prefix : less_rest(a, b, s);
}

static void sort_run(isotok__sort_item *items, size_t count, strings s)
{
    for (size_t i = 1; i < count; i++) {
        isotok__sort_item item = items[i];
        size_t at = i;
        for (; at > 0 && less(&item, &items[at - 1], s); at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

static void merge(const isotok__sort_item *a, size_t a_count, const isotok__sort_item *b,
                  size_t b_count, isotok__sort_item *out, strings s)
{
    const isotok__sort_item *a_end = a + a_count;
    const isotok__sort_item *b_end = b + b_count;
    while (a < a_end && b < b_end) {
        bool take_b = less(b, a, s);
        *out++ = take_b ? *b : *a;
        b += take_b;
        a += !take_b;
    }
    memcpy(out, a, (size_t)(a_end - a) * sizeof *a);
    memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof *b);
}

/* One level: pairs of sorted runs of `width` from `from` to `to`. */
static void merge_level(const isotok__sort_item *from, isotok__sort_item *to, size_t count,
                        size_t width, strings s)
{
    for (size_t i = 0; i < count; i += 2 * width) {
        size_t a_count = isotok__min(width, count - i);
        size_t b_count = isotok__min(width, count - i - a_count);
        merge(from + i, a_count, from + i + a_count, b_count, to + i, s);
    }
}

void isotok__sort(isotok__sort_item *items, isotok__sort_item *spare, size_t count,
                  const uint8_t *pool, const uint32_t *ends)
{
    strings s = { pool, ends };
    isotok__sort_item *from = items;
    isotok__sort_item *to = spare;
    for (size_t i = 0; i < count; i += RUN) {
        sort_run(items + i, isotok__min(RUN, count - i), s);
    }
    for (size_t width = RUN; width < count; width *= 2) {
        merge_level(from, to, count, width, s);
        isotok__sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

bool isotok__sort_same(const isotok__sort_item *a, const isotok__sort_item *b,
                       const uint8_t *pool, const uint32_t *ends)
{
    size_t size = ends[a->id] - a->begin;
    return a->prefix == b->prefix && ends[b->id] - b->begin == size &&
           memcmp(pool + a->begin, pool + b->begin, size) == 0;
}
