/* L1: the passes of a pre-tokenizer, one after the other. See pretokenize.h. */
#include "pretokenize.h"

/* Finds the symbol of each character of text[begin..size) and writes it to symbols[], for each
 * of its bytes; 255: it depends on text that has not come yet. */
static void find_symbols(const struct isotok__pretokenizer *pretokenizer,
                         const struct isotok__pass *pass, const uint8_t *text, uint32_t begin,
                         uint32_t size, bool is_end, uint8_t *symbols)
{
    uint32_t row = is_end ? 0 : pass->reverse_open, at = size, length;
    while (at > begin) {
        uint32_t end = at, cell;
        do at--;
        while (at > begin && end - at < 4 && (text[at] & 0xC0) == 0x80);
        cell = isotok__class_and_size(pretokenizer, text + at, end - at);
        length = cell >> 8;
        cell = row + (cell & 0xFFu);
        if (length == 0 && end == size && !is_end) { /* it goes on in text that has not come */
            memset(symbols + at, ISOTOK__NO_SYMBOL, end - at);
            continue;
        }
        memset(symbols + at, pass->reverse_symbols[cell], end - at);
        row = pass->reverse[cell];
    }
}

/* Finds the symbols of text[run->at..size), unless it is done; NULL if symbols are classes. */
static const uint8_t *symbols_of(const struct isotok__pretokenizer *pretokenizer,
                                 const struct isotok__pass *pass, struct isotok__run *run,
                                 const uint8_t *text, uint32_t size, bool is_end, uint8_t *symbols)
{
    if (!pass->reverse) return NULL;
    if (run->seen != size + is_end)
        find_symbols(pretokenizer, pass, text, run->at, size, is_end, symbols);
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
    const struct isotok__pretokenizer *pretokenizer = call->pretokenizer;
    const struct isotok__pass *pass = &pretokenizer->passes[level];
    struct isotok__run *run = &call->cutter->runs[level];
    struct isotok__pieces *pieces = &call->cutter->pieces[level];
    uint32_t count = 0, size = call->size, piece;
    const uint8_t *symbols;
    if (level == 0) {
        symbols =
            symbols_of(pretokenizer, pass, run, call->text, size, call->is_end, call->symbols);
        if (run->done) return 0;
        if (pretokenizer->windows != NULL)
            return isotok__pretok_windows(pretokenizer, run, call->text, size, call->is_end, ends,
                                          capacity);
        return isotok__pretok_run(pretokenizer, pass, run, call->text, size, call->is_end, symbols,
                                  ends, capacity);
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
            symbols = symbols_of(pretokenizer, pass, run, call->text, size, true, call->symbols);
            count += isotok__pretok_run(pretokenizer, pass, run, call->text, size, true, symbols,
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
    uint32_t places[ISOTOK__RUN_PLACES], i;
    memcpy(places, run, sizeof places);
    for (i = 0; i < ISOTOK__RUN_PLACES; i++) places[i] -= places[i] > bytes ? bytes : places[i];
    memcpy(run, places, sizeof places);
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
