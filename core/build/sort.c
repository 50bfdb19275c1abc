/* Sort of byte strings: see sort.h. */
#include "sort.h"

enum { SHORT = 16 }; /* ranges up to this length are sorted by insertion */

typedef isotok__sort_item item;

typedef struct sorter {
    const uint8_t *pool;
    const uint32_t *ends;
} sorter;

static uint64_t load_big_endian(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
           (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
           (uint64_t)p[6] << 8 | p[7];
}

/* The first eight bytes of the item's string, NUL-padded, big-endian. */
static uint64_t number_of(const sorter *s, const item *one)
{
    const uint8_t *text = s->pool + one->begin;
    uint32_t size = s->ends[one->id] - one->begin;
    uint64_t number = 0;
    if (size >= 8) {
        return load_big_endian(text);
    }
    for (uint32_t i = 0; i < size; i++) {
        number |= (uint64_t)text[i] << (56 - 8 * i);
    }
    return number;
}

/* Strings with the same first eight bytes, then ids. */
static bool is_before_later(const sorter *s, const item *a, const item *b)
{
    size_t a_size = s->ends[a->id] - a->begin;
    size_t b_size = s->ends[b->id] - b->begin;
    size_t size = isotok__min(a_size, b_size);
    int order = size > 8 ? memcmp(s->pool + a->begin + 8, s->pool + b->begin + 8, size - 8) : 0;
    if (order != 0) {
        return order < 0;
    }
    return a_size != b_size ? a_size < b_size : a->id < b->id;
}

static inline bool is_before(const sorter *s, const item *a, const item *b)
{
    return a->number != b->number ? a->number < b->number : is_before_later(s, a, b);
}

static void insertion_sort(const sorter *s, item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        item one = items[i];
        size_t at = i;
        for (; at > 0 && is_before(s, &one, &items[at - 1]); at--) {
            items[at] = items[at - 1];
        }
        items[at] = one;
    }
}

/* Lets items[at] sink in the heap of `count` items, the last on top. */
static void sink(const sorter *s, item *items, size_t at, size_t count)
{
    item one = items[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && is_before(s, &items[child], &items[child + 1]);
        if (!is_before(s, &one, &items[child])) {
            break;
        }
        items[at] = items[child];
    }
    items[at] = one;
}

static void heap_sort(const sorter *s, item *items, size_t count)
{
    for (size_t at = count / 2; at-- > 0;) {
        sink(s, items, at, count);
    }
    for (size_t end = count; end-- > 1;) {
        item last = items[end];
        items[end] = items[0];
        items[0] = last;
        sink(s, items, 0, end);
    }
}

static void swap(item *a, item *b)
{
    item one = *a;
    *a = *b;
    *b = one;
}

/* Puts the median of three in front. */
static void choose_pivot(const sorter *s, item *items, size_t count)
{
    item *a = &items[0], *b = &items[count / 2], *c = &items[count - 1];
    if (is_before(s, b, a)) {
        swap(a, b);
    }
    if (is_before(s, c, b)) {
        swap(b, c);
        if (is_before(s, b, a)) {
            swap(a, b);
        }
    }
    swap(a, b);
}

/* Items of [0, result) are before those behind; no item equals another. */
static size_t partition(const sorter *s, item *items, size_t count)
{
    choose_pivot(s, items, count);
    const item pivot = items[0];
    size_t left = 0, right = count;
    for (;;) {
        do {
            left++;
        } while (left < count && is_before(s, &items[left], &pivot));
        do {
            right--;
        } while (is_before(s, &pivot, &items[right]));
        if (left >= right) {
            break;
        }
        swap(&items[left], &items[right]);
    }
    swap(&items[0], &items[right]);
    return right;
}

/* Items to sort, as a heap after so many more partitions: few are left then, but by intent. */
typedef struct range {
    item *items;
    size_t count;
    unsigned levels;
} range;

/* Sorts a range of up to SHORT items, or cuts it in two: the smaller part is *r then, the larger
 * one *out_other. */
static bool split(const sorter *s, range *r, range *out_other)
{
    if (r->count <= SHORT || r->levels == 0) {
        (r->count <= SHORT ? insertion_sort : heap_sort)(s, r->items, r->count);
        return false;
    }
    size_t middle = partition(s, r->items, r->count);
    range left = {r->items, middle, r->levels - 1};
    range right = {r->items + middle + 1, r->count - middle - 1, r->levels - 1};
    bool is_larger = right.count > left.count;
    *out_other = is_larger ? right : left;
    *r = is_larger ? left : right;
    return true;
}

void isotok__sort(isotok__sort_item *items, uint32_t count, const uint8_t *pool,
                  const uint32_t *ends)
{
    const sorter s = {pool, ends};
    range waiting[32]; /* each is at least as large as all that come from what is behind it */
    range now = {items, count, 0};
    unsigned size = 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i].number = number_of(&s, &items[i]);
    }
    for (uint32_t i = count; i > 0; i >>= 1) {
        now.levels++;
    }
    for (;;) {
        if (split(&s, &now, &waiting[size])) {
            size++;
        } else if (size == 0) {
            return;
        } else {
            now = waiting[--size];
        }
    }
}
