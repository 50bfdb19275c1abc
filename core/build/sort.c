/* Sort of byte strings: see sort.h. */
#include "sort.h"

enum { SHORT = 48 }; /* runs up to this length are sorted by insertion */

/* Items [begin, begin + count) whose strings share their first `depth` bytes. */
typedef struct run {
    uint32_t begin, count, depth;
} run;

typedef struct sorter {
    isotok__sort_item *items, *spare;
    const uint8_t *pool;
    const uint32_t *ends;
    run *runs; /* that wait; they are disjoint and have at least two items */
    uint32_t run_count;
} sorter;

static uint64_t load_big_endian(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
           (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
           (uint64_t)p[6] << 8 | p[7];
}

/* Eight bytes of the item's string from `depth` on, NUL-padded, big-endian. */
static uint64_t number_at(const sorter *s, const isotok__sort_item *item, uint32_t depth)
{
    const uint8_t *text = s->pool + item->begin + depth;
    uint32_t size = s->ends[item->id] - item->begin - depth;
    uint64_t number = 0;
    if (size >= 8) {
        return load_big_endian(text);
    }
    for (uint32_t i = 0; i < size; i++) {
        number |= (uint64_t)text[i] << (56 - 8 * i);
    }
    return number;
}

static void insertion_sort(isotok__sort_item *items, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        isotok__sort_item item = items[i];
        uint32_t at = i;
        for (; at > 0 && item.number < items[at - 1].number; at--) {
            items[at] = items[at - 1];
        }
        items[at] = item;
    }
}

/* One pass by the byte at `shift`; false if all items have the same one: nothing moved. */
static bool radix_pass(const isotok__sort_item *from, isotok__sort_item *to, uint32_t count,
                       unsigned shift)
{
    uint32_t at[256] = {0};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        at[from[i].number >> shift & 255]++;
    }
    if (at[from[0].number >> shift & 255] == count) {
        return false;
    }
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t here = at[byte];
        at[byte] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        to[at[from[i].number >> shift & 255]++] = from[i];
    }
    return true;
}

static void radix_sort(isotok__sort_item *items, isotok__sort_item *spare, uint32_t count)
{
    isotok__sort_item *from = items;
    isotok__sort_item *to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (radix_pass(from, to, count, shift)) {
            isotok__sort_item *swap = from;
            from = to;
            to = swap;
        }
    }
    if (from != items) {
        memcpy(items, from, count * sizeof *items);
    }
}

/* Equal numbers whose last byte is not NUL go on: their strings have more bytes or are equal. */
static void add_runs(sorter *s, const run *done)
{
    const isotok__sort_item *items = s->items + done->begin;
    for (uint32_t i = 0, end; i < done->count; i = end) {
        end = i + 1;
        while (end < done->count && items[end].number == items[i].number) {
            end++;
        }
        if (end - i > 1 && (items[i].number & 255) != 0) {
            s->runs[s->run_count++] = (run){done->begin + i, end - i, done->depth + 8};
        }
    }
}

static void sort_run(sorter *s, const run *r)
{
    isotok__sort_item *items = s->items + r->begin;
    for (uint32_t i = 0; i < r->count; i++) {
        items[i].number = number_at(s, &items[i], r->depth);
    }
    if (r->count <= SHORT) {
        insertion_sort(items, r->count);
    } else {
        radix_sort(items, s->spare, r->count);
    }
    add_runs(s, r);
}

size_t isotok__sort_memory(uint32_t count)
{
    return isotok__align_up(count * sizeof(isotok__sort_item), ISOTOK_ALIGN) +
           isotok__align_up((count / 2 + 1) * sizeof(run), ISOTOK_ALIGN);
}

isotok_status isotok__sort(isotok__work *work, isotok__sort_item *items, uint32_t count,
                           const uint8_t *pool, const uint32_t *ends)
{
    size_t mark = isotok__temp_begin(work);
    sorter s = {0};
    s.items = items;
    s.pool = pool;
    s.ends = ends;
    s.spare = ISOTOK__TEMP(work, isotok__sort_item, count);
    s.runs = ISOTOK__TEMP(work, run, count / 2 + 1);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    if (count > 1) {
        s.runs[s.run_count++] = (run){0, count, 0};
    }
    while (s.run_count > 0) {
        run r = s.runs[--s.run_count];
        sort_run(&s, &r);
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}
