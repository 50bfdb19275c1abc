/* L1: one pass of a pre-tokenizer over its text. See pretokenize.h.
 *
 * COMPLEXITY: a cell per character, and per character that is read again; the compiler bounds
 * those. The hot loop has no branch that depends on where pre-tokens end, and waits for one
 * load per character: which row comes next stands apart from what else is to be done. */
#include "pretokenize.h"

/* Whether single bytes have a loop of their own. With it, code of clang is 1.3 times as fast; that
 * of gcc is as fast without. In WebAssembly it must be small: most text goes by windows. */
#if defined(__clang__) && !defined(__wasm__)
#define INNER_LOOP 1
#else
#define INNER_LOOP 0
#endif

/* Adds an end at `at`, or puts it in the place of the last one. */
static uint32_t put(uint32_t *ends, uint32_t count, uint32_t at, uint32_t join, uint32_t drop)
{
    if (join && count) count--;
    ends[count] = at | (drop ? ISOTOK__DROPPED : 0);
    return count + 1;
}

/* Entering a row that can fail: true if it is known to fail from here, see ENTERS. */
static bool fails_again(struct isotok__run *run, uint32_t row, uint32_t at)
{
    if (at >= run->failed_from && at <= run->failed_to) return true;
    run->entered = row;
    run->entered_at = at;
    return false;
}

static void remember_failure(struct isotok__run *run, uint32_t row, uint32_t at, uint32_t symbol)
{
    if (row != run->entered) return;
    run->failed_symbol = symbol;
    run->failed_from = run->entered_at;
    run->failed_to = at;
}

uint32_t isotok__pretok_run(const struct isotok__pretokenizer *pretokenizer,
                            const struct isotok__pass *pass, struct isotok__run *run,
                            const uint8_t *text, uint32_t size, bool is_end, const uint8_t *symbols,
                            uint32_t *ends, uint32_t capacity)
{
    const uint16_t *next = pass->next, *flags = pass->flags, *pages = pretokenizer->pages;
    const uint8_t *blocks = pretokenizer->blocks;
    const uint8_t *single = pass->bytes ? pass->bytes : blocks;
    /* Bytes below are looked up in `single`. */
    const uint32_t limit = symbols ? 0 : pass->bytes ? 256 : 128;
    uint32_t at = run->at, before = run->before, noted = run->noted, row = run->row;
    uint32_t count = 0, stop, symbol, length, cell, then;
    if (run->held) ends[count++] = run->held - 1;
again:
    /* Each byte adds at most one end; two may come with the first one. */
    stop = (uint32_t)isotok__min(size, (size_t)at + capacity - count - 2);
    for (;;) {
        while (INNER_LOOP && at < stop && text[at] < limit) {
            symbol = single[text[at]];
            cell = (flags + symbol)[row];
            if (ISOTOK_UNLIKELY(cell & ISOTOK__CELL_SLOW)) break;
            noted = cell & ISOTOK__CELL_NOTE ? at : noted;
            row = (next + symbol)[row];
            ends[count] = (cell & ISOTOK__CELL_HERE ? at : before) | cell << 31;
            count += cell >> 15;
            before = at++;
        }
        if (ISOTOK_LIKELY(at < stop)) {
            if (ISOTOK_LIKELY(text[at] < limit)) {
                symbol = single[text[at]];
                length = 1;
            } else {
                symbol = isotok__class_at(pages, blocks, text + at, size - at, &length);
                if (length == 0) {
                    if (!is_end) break;
                    length = size - at;
                }
                if (symbols && (symbol = symbols[at]) == ISOTOK__NO_SYMBOL) break;
            }
        } else if (capacity - count <= 2) {
            break;
        } else if (at < size) {
            goto again;
        } else if (is_end) {
            symbol = pass->end;
            length = 0;
        } else {
            break;
        }
        cell = (flags + symbol)[row];
        then = (next + symbol)[row];
        noted = cell & ISOTOK__CELL_NOTE ? at : noted;
        if (!ISOTOK_EXTRAS || ISOTOK_UNLIKELY(cell & ISOTOK__CELL_SLOW)) {
            if (cell & ISOTOK__CELL_ENTERS && fails_again(run, then, at + length)) {
                cell = (flags + run->failed_symbol)[then];
                then = (next + run->failed_symbol)[then];
                symbol = ISOTOK__NO_SYMBOL; /* nothing new to remember */
            }
            if (cell & ISOTOK__CELL_BACK)
                count = put(ends, count, before, cell & ISOTOK__CELL_JOIN_BACK,
                            cell & ISOTOK__CELL_DROP_BACK);
            if (cell & (ISOTOK__CELL_HERE | ISOTOK__CELL_REWIND))
                count = put(ends, count, cell & ISOTOK__CELL_REWIND ? noted : at,
                            cell & ISOTOK__CELL_JOIN_HERE, cell & ISOTOK__CELL_DROP_HERE);
            if (cell & ISOTOK__CELL_REWIND) {
                if (symbol != ISOTOK__NO_SYMBOL) remember_failure(run, row, at, symbol);
                row = then;
                at = noted;
                goto again;
            }
            if (cell & ISOTOK__CELL_DONE) {
                run->done = 1;
                break;
            }
        } else {
            ends[count] = (cell & ISOTOK__CELL_HERE ? at : before) | cell << 31; /* DROP_HERE */
            count += cell >> 15;                                                 /* CUT */
        }
        row = then;
        before = at;
        at += length;
    }
    run->held = 0;
    if (pass->kind & ISOTOK__PASS_JOINS && !run->done && count) run->held = ends[--count] + 1;
    run->at = at;
    run->before = before;
    run->noted = noted;
    run->row = row;
    return count;
}
