/* L2: the driver of pre-tokenizer automata. See pretokenize.h.
 *
 * COMPLEXITY: a cell per character, and per character that is read again; the compiler bounds
 * those. The hot loop has no branch that depends on where pre-tokens end. */
#include "pretokenize.h"

#include "utf8.h"

#define NO_SYMBOL 255u

/* Class of the character at text[0..size), its bytes in `*out_size`; 0 if it is not complete.
 * Ill-formed bytes get some class; all look-ups stay inside the tables for any bytes. */
static uint32_t class_at(const struct isotok__classes *classes, const uint8_t *text, uint32_t size,
                         uint32_t *out_size)
{
    const uint16_t *pages = classes->pages;
    uint32_t lead = text[0], need = isotok__lead_size((uint8_t)lead), page, last;
    *out_size = need <= size ? need : 0;
    if (need > size || need == 1) return classes->blocks[lead & 0x7F];
    last = text[need - 1] & 63u;
    if (need == 2)
        page = lead & 31u;
    else if (need == 3)
        page = (lead & 15u) << 6 | (text[1] & 63u);
    else
        page = pages[1024 + ((lead & 7u) << 6 | (text[1] & 63u))] + (text[2] & 63u);
    return classes->blocks[pages[page] << 6 | last];
}

/* Adds an end at `at`; `here` tells the two sets of flags apart. */
static uint32_t put(uint32_t *ends, uint32_t count, uint32_t at, uint32_t join, uint32_t drop)
{
    if (join) count--;
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

uint32_t isotok__pretok_run(const struct isotok__classes *classes, const struct isotok__pass *pass,
                            struct isotok__run *run, const uint8_t *text, uint32_t size,
                            bool is_end, const uint8_t *symbols, uint32_t *ends, uint32_t capacity)
{
    const uint32_t *cells = pass->cells;
    const uint8_t *single = pass->bytes ? pass->bytes : classes->blocks;
    const uint32_t limit = pass->bytes ? 256 : 128;
    uint32_t at = run->at, before = run->before, noted = run->noted, row = run->row;
    uint32_t count = 0, stop, symbol, length, cell;
    if (run->held) ends[count++] = run->held - 1;
again:
    /* Each byte adds at most one end; two may come with the first one. */
    stop = (uint32_t)isotok__min(size, (size_t)at + capacity - count - 2);
    for (;;) {
        if (ISOTOK_LIKELY(at < stop)) {
            if (ISOTOK_LIKELY(text[at] < limit)) {
                symbol = single[text[at]];
                length = 1;
            } else {
                symbol = class_at(classes, text + at, size - at, &length);
                if (length == 0) {
                    if (!is_end) break;
                    length = size - at;
                }
            }
            if (symbols) {
                symbol = symbols[at];
                if (symbol == NO_SYMBOL) break;
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
        cell = cells[row + symbol];
        noted = cell & ISOTOK__CELL_NOTE ? at : noted;
        if (ISOTOK_UNLIKELY(cell & ISOTOK__CELL_SLOW)) {
            if (cell & ISOTOK__CELL_ENTERS &&
                fails_again(run, cell & ISOTOK__CELL_ROW, at + length)) {
                row = 0; /* no row in which a failure is remembered */
                cell = cells[(cell & ISOTOK__CELL_ROW) + run->failed_symbol];
            }
            if (cell >> 31)
                count = put(ends, count, before, cell & ISOTOK__CELL_JOIN_BACK,
                            cell & ISOTOK__CELL_DROP_BACK);
            if (cell & (ISOTOK__CELL_HERE | ISOTOK__CELL_REWIND))
                count = put(ends, count, cell & ISOTOK__CELL_REWIND ? noted : at,
                            cell & ISOTOK__CELL_JOIN_HERE, cell & ISOTOK__CELL_DROP_HERE);
            if (cell & ISOTOK__CELL_REWIND) {
                remember_failure(run, row, at, symbol);
                row = cell & ISOTOK__CELL_ROW;
                at = noted;
                goto again;
            }
            if (cell & ISOTOK__CELL_DONE) {
                run->done = 1;
                break;
            }
        } else {
            ends[count] = before;
            count += cell >> 31;
            ends[count] = at;
            count += cell >> 30 & 1;
        }
        row = cell & ISOTOK__CELL_ROW;
        before = at;
        at += length;
    }
    run->held = 0;
    if (pass->joins && !run->done && count) run->held = ends[--count] + 1;
    run->at = at;
    run->before = before;
    run->noted = noted;
    run->row = row;
    return count;
}

void isotok__pretok_symbols(const struct isotok__classes *classes, const struct isotok__pass *pass,
                            const uint8_t *text, uint32_t begin, uint32_t size, bool is_end,
                            uint8_t *symbols)
{
    uint32_t row = is_end ? pass->reverse_final : pass->reverse_open, at = size, length;
    while (at > begin) {
        uint32_t end = at, one, cell;
        do at--;
        while (at > begin && end - at < 4 && (text[at] & 0xC0) == 0x80);
        one = class_at(classes, text + at, end - at, &length);
        cell = pass->reverse[row + one];
        row = cell & 0xFFFFFF;
        memset(symbols + at, length || is_end ? (int)(cell >> 24) : (int)NO_SYMBOL, end - at);
    }
}

/* Finds the symbols of text[run->at..size), unless it is done; NULL if symbols are classes. */
static const uint8_t *symbols_of(const struct isotok__classes *classes,
                                 const struct isotok__pass *pass, struct isotok__run *run,
                                 const uint8_t *text, uint32_t size, bool is_end, uint8_t *symbols)
{
    if (!pass->reverse) return NULL;
    if (run->seen != size + is_end)
        isotok__pretok_symbols(classes, pass, text, run->at, size, is_end, symbols);
    run->seen = size + is_end;
    return symbols;
}

/* What a call of isotok__pretokenize is about; the recursion is as deep as there are passes. */
struct call {
    const struct isotok__pretokenizer *pretokenizer;
    struct isotok__cutter *cutter;
    const uint8_t *text;
    uint8_t *symbols;
    uint32_t size;
    bool is_end;
};

static uint32_t cut(const struct call *call, uint32_t level, uint32_t *ends, uint32_t capacity)
{
    const struct isotok__classes *classes = &call->pretokenizer->classes;
    const struct isotok__pass *pass = &call->pretokenizer->passes[level];
    struct isotok__run *run = &call->cutter->runs[level];
    struct isotok__pieces *pieces = &call->cutter->pieces[level];
    uint32_t count = 0, size = call->size, piece;
    const uint8_t *symbols;
    if (level == 0) {
        symbols = symbols_of(classes, pass, run, call->text, size, call->is_end, call->symbols);
        if (run->done) return 0;
        return isotok__pretok_run(classes, pass, run, call->text, size, call->is_end, symbols, ends,
                                  capacity);
    }
    while (count + ISOTOK__PRETOK_ROOM <= capacity) {
        if (pieces->next == pieces->count) {
            pieces->next = 0;
            pieces->count = cut(call, level - 1, pieces->ends, ISOTOK__PIECES);
            if (pieces->count == 0) break;
        }
        piece = pieces->ends[pieces->next];
        size = piece & ~ISOTOK__DROPPED;
        if (piece & ISOTOK__DROPPED) {
            ends[count++] = piece;
        } else {
            symbols = symbols_of(classes, pass, run, call->text, size, true, call->symbols);
            count += isotok__pretok_run(classes, pass, run, call->text, size, true, symbols,
                                        ends + count, capacity - count);
            if (!run->done) break;
        }
        memset(run, 0, sizeof *run);
        run->at = size;
        pieces->next++;
    }
    return count;
}

uint32_t isotok__pretokenize(const struct isotok__pretokenizer *pretokenizer,
                             struct isotok__cutter *cutter, const uint8_t *text, uint32_t size,
                             bool is_end, uint8_t *symbols, uint32_t *ends, uint32_t capacity)
{
    const struct call call = {pretokenizer, cutter, text, symbols, size, is_end};
    uint32_t level, count = cut(&call, pretokenizer->count - 1, ends, capacity);
    cutter->done = cutter->runs[0].done;
    for (level = 1; level < pretokenizer->count; level++)
        cutter->done &= cutter->pieces[level].next == cutter->pieces[level].count;
    return count;
}

static void move_run(struct isotok__run *run, uint32_t bytes)
{
    run->at -= bytes;
    run->before -= bytes;
    run->noted -= bytes;
    run->entered_at = run->entered_at > bytes ? run->entered_at - bytes : 0;
    run->failed_from = run->failed_from > bytes ? run->failed_from - bytes : 0;
    run->failed_to = run->failed_to > bytes ? run->failed_to - bytes : 0;
    run->seen -= bytes;
    if (run->held) run->held -= bytes;
}

void isotok__pretok_move(const struct isotok__pretokenizer *pretokenizer,
                         struct isotok__cutter *cutter, uint32_t bytes)
{
    uint32_t level, i;
    for (level = 0; level < pretokenizer->count; level++) {
        struct isotok__pieces *pieces = &cutter->pieces[level];
        move_run(&cutter->runs[level], bytes);
        for (i = pieces->next; i < pieces->count; i++) pieces->ends[i] -= bytes;
    }
}
