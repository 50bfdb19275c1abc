/* L1: opening the arrays of a pre-tokenizer, and the check of what they hold. See
 * pretokenize.h. The check walks over every cell once and needs no memory: what must hold in
 * a row is written there, and each cell is held to lead only to rows whose facts it keeps. */
#include "pretokenize.h"

#define BMP_PAGES 1024u
#define PLANE_PAGES 512u /* what the bits of any four bytes can address */
#define LEAST_PAGES (BMP_PAGES + PLANE_PAGES + 64u)
#define MAX_CELLS 65536u

/* Finds the tables of a pass, which begin at tables[*at]. */
ISOTOK_INLINE bool open_pass(struct isotok__pass *pass, const struct isotok__pretok_arrays *arrays,
                             const uint32_t *head, uint32_t *at)
{
    const uint32_t rows = head[ISOTOK__PASS_ROWS], stride = head[ISOTOK__PASS_STRIDE];
    const uint32_t reverse_rows = head[ISOTOK__PASS_REVERSE_ROWS], kind = head[ISOTOK__PASS_KIND];
    const uint32_t classes = arrays->header[ISOTOK__PRETOK_CLASSES];
    const uint32_t bytes = arrays->header[ISOTOK__PRETOK_BYTE_CLASSES];
    uint32_t symbols = kind & ISOTOK__PASS_BYTES ? bytes : classes, cells, reverse_cells, size;
    if (rows - 1 >= MAX_CELLS || stride - 2 > ISOTOK__NO_SYMBOL - 2 || reverse_rows > MAX_CELLS)
        return false;
    cells = rows * stride;
    reverse_cells = reverse_rows * classes;
    size = 2 * cells + rows + 2 * reverse_cells;
    if (cells > MAX_CELLS || reverse_cells > MAX_CELLS || size > arrays->tables_count - *at ||
        symbols == 0 || kind > 7)
        return false;
    pass->next = arrays->tables + *at;
    pass->flags = pass->next + cells;
    pass->bytes =
        kind & ISOTOK__PASS_BYTES ? arrays->classes + arrays->header[ISOTOK__PRETOK_BLOCKS] : NULL;
    pass->end = stride - 1;
    pass->kind = kind;
    *at += size;
    if (reverse_rows == 0) return pass->end == symbols;
    pass->reverse = pass->flags + cells + rows;
    pass->reverse_symbols = pass->reverse + reverse_cells;
    pass->reverse_open = head[ISOTOK__PASS_REVERSE_OPEN] * classes;
    return !pass->bytes && head[ISOTOK__PASS_REVERSE_OPEN] < reverse_rows &&
           head[ISOTOK__PASS_REVERSE_CLOSED] - 1 < reverse_rows;
}

bool isotok__pretok_open(struct isotok__pretokenizer *out,
                         const struct isotok__pretok_arrays *arrays)
{
    const uint32_t *header = arrays->header;
    uint32_t i, at, blocks, bytes;
    memset(out, 0, sizeof *out);
    if (arrays->header_count < ISOTOK__PRETOK_WORDS) return false;
    at = header[ISOTOK__PRETOK_PAGES];
    blocks = header[ISOTOK__PRETOK_BLOCKS];
    bytes = header[ISOTOK__PRETOK_BYTE_CLASSES];
    out->pages = arrays->tables;
    out->blocks = arrays->classes;
    out->count = header[ISOTOK__PRETOK_PASSES];
    if (out->count - 1 >= ISOTOK__MAX_PASSES || bytes >= ISOTOK__NO_SYMBOL ||
        arrays->header_count != ISOTOK__PRETOK_WORDS + out->count * ISOTOK__PASS_WORDS ||
        header[ISOTOK__PRETOK_CLASSES] - 1 >= ISOTOK__NO_SYMBOL - 1 || at < LEAST_PAGES ||
        at > arrays->tables_count || blocks < 128 || blocks % 64 != 0 ||
        blocks > arrays->classes_count || arrays->classes_count - blocks != (bytes ? 256 : 0))
        return false;
    header += ISOTOK__PRETOK_WORDS;
    for (i = 0; i < out->count; i++, header += ISOTOK__PASS_WORDS) {
        if (!open_pass(&out->passes[i], arrays, header, &at)) return false;
        out->reverses |= out->passes[i].reverse != NULL;
    }
    if (out->count == 1 && !out->reverses) out->windows = arrays->windows;
    return at == arrays->tables_count;
}

ISOTOK_INLINE bool check_classes(const struct isotok__pretok_arrays *arrays)
{
    const uint32_t *header = arrays->header;
    const uint32_t pages = header[ISOTOK__PRETOK_PAGES], blocks = header[ISOTOK__PRETOK_BLOCKS];
    const uint32_t bytes = header[ISOTOK__PRETOK_BYTE_CLASSES];
    uint32_t i;
    for (i = 0; i < pages; i++) {
        const bool plane = i >= BMP_PAGES && i < BMP_PAGES + PLANE_PAGES;
        const uint32_t page = arrays->tables[i];
        if (plane ? page < BMP_PAGES + PLANE_PAGES || page + 64 > pages : page >= blocks / 64)
            return false;
    }
    for (i = 0; i < blocks; i++)
        if (arrays->classes[i] >= header[ISOTOK__PRETOK_CLASSES]) return false;
    for (i = 0; bytes && i < 256; i++)
        if (arrays->classes[blocks + i] >= bytes) return false;
    for (i = 0; arrays->windows && i < ISOTOK__WINDOW_VECTORS; i++)
        if (arrays->windows[i] > 15) return false; /* four bits; of answers any will do */
    return true;
}

/* Whether the flags go together; `is_end`: in the column of the end. */
ISOTOK_INLINE bool check_flags(uint32_t cell, bool is_end, uint32_t kind)
{
    const uint32_t joins = ISOTOK__CELL_JOIN_HERE | ISOTOK__CELL_JOIN_BACK;
    const uint32_t drops = ISOTOK__CELL_DROP_HERE | ISOTOK__CELL_DROP_BACK;
    const uint32_t cuts = ISOTOK__CELL_HERE | ISOTOK__CELL_BACK;
    const uint32_t of_back = ISOTOK__CELL_JOIN_BACK | ISOTOK__CELL_DROP_BACK;
    const uint32_t of_here = ISOTOK__CELL_JOIN_HERE | ISOTOK__CELL_DROP_HERE;
    const uint32_t slow = joins | ISOTOK__CELL_DROP_BACK | ISOTOK__CELL_ENTERS | ISOTOK__CELL_DONE |
                          ISOTOK__CELL_REWIND;
    const bool rewind = (cell & ISOTOK__CELL_REWIND) != 0;
    const bool here = rewind || cell & ISOTOK__CELL_HERE;
    const bool both = cell & ISOTOK__CELL_HERE && cell & ISOTOK__CELL_BACK;
    if (cell & 0x1E || (both || cell & slow) != !!(cell & ISOTOK__CELL_SLOW)) return false;
    if (!(cell & cuts) != !(cell & ISOTOK__CELL_CUT)) return false;
    if ((cell & of_back && !(cell & ISOTOK__CELL_BACK)) || (cell & of_here && !here)) return false;
    if (cell & joins && !(kind & ISOTOK__PASS_JOINS)) return false;
    if (cell & drops && !(kind & ISOTOK__PASS_DROPS)) return false;
    if (rewind && cell & ~(slow | of_here | ISOTOK__CELL_SLOW)) return false;
    if (rewind && cell & (of_back | ISOTOK__CELL_DONE | ISOTOK__CELL_ENTERS)) return false;
    if (cell & ISOTOK__CELL_ENTERS && (is_end || cell != (ISOTOK__CELL_ENTERS | ISOTOK__CELL_SLOW)))
        return false;
    return is_end ? rewind || cell & ISOTOK__CELL_DONE : !(cell & ISOTOK__CELL_DONE);
}

/* The facts behind a cell, from those of its row; false if they do not allow the cell. */
static bool facts_after(uint32_t cell, uint32_t *facts)
{
    uint32_t read = *facts & ISOTOK__FACT_READ, noted = *facts & ISOTOK__FACT_NOTED;
    *facts = 0;
    if (cell & ISOTOK__CELL_REWIND) return noted != 0;
    if (cell & ISOTOK__CELL_BACK) {
        if (read < 2) return false;
        read = 1;
        noted = 0;
    }
    if (cell & ISOTOK__CELL_HERE) {
        if (read < 1) return false;
        read = 0;
        noted = 0;
    }
    if (cell & ISOTOK__CELL_NOTE && read > 0) noted = ISOTOK__FACT_NOTED;
    *facts = noted | (read < 2 ? read + 1 : 2);
    return true;
}

/* Whether two rows go back at the same symbols. */
static bool fail_alike(const struct isotok__pass *pass, uint32_t row, uint32_t other)
{
    uint32_t i;
    for (i = 0; i <= pass->end; i++)
        if ((pass->flags[row + i] ^ pass->flags[other + i]) & ISOTOK__CELL_REWIND) return false;
    return true;
}

ISOTOK_INLINE bool check_cells(const struct isotok__pass *pass, uint32_t rows)
{
    const uint32_t stride = pass->end + 1, cells = rows * stride;
    const uint16_t *facts = pass->flags + cells;
    uint32_t row, column, entered = cells;
    for (row = 0; row < cells; row += stride) {
        if ((facts[row / stride] & ISOTOK__FACT_READ) > 2 || facts[row / stride] > 6) return false;
        for (column = 0; column < stride; column++) {
            const uint32_t cell = pass->flags[row + column], next = pass->next[row + column];
            uint32_t now = facts[row / stride], then;
            if (next >= cells || next % stride != 0) return false;
            if (!check_flags(cell, column == pass->end, pass->kind)) return false;
            if (!facts_after(cell, &now)) return false;
            if (cell & ISOTOK__CELL_DONE) continue; /* nothing is read behind the end */
            then = facts[next / stride];
            if ((then & ISOTOK__FACT_READ) > (now & ISOTOK__FACT_READ) || then > (now | 3))
                return false;
            if (cell & ISOTOK__CELL_ENTERS) {
                if (entered == cells) entered = next;
                if (!fail_alike(pass, entered, next)) return false;
            }
        }
    }
    return facts[0] == 0;
}

static bool check_reverse(const struct isotok__pass *pass, const uint32_t *head, uint32_t classes)
{
    const uint32_t cells = head[ISOTOK__PASS_REVERSE_ROWS] * classes;
    const uint32_t closed = head[ISOTOK__PASS_REVERSE_CLOSED] * classes;
    uint32_t i;
    for (i = 0; pass->reverse && i < cells; i++) {
        const uint32_t next = pass->reverse[i], symbol = pass->reverse_symbols[i];
        if (next >= (i < closed ? closed : cells) || next % classes != 0) return false;
        if (symbol >= pass->end && !(i >= closed && symbol == ISOTOK__NO_SYMBOL)) return false;
    }
    return true;
}

bool isotok__pretok_check(const struct isotok__pretok_arrays *arrays)
{
    struct isotok__pretokenizer opened;
    uint32_t i;
    if (!isotok__pretok_open(&opened, arrays) || !check_classes(arrays)) return false;
    for (i = 0; i < opened.count; i++) {
        const uint32_t *head =
            arrays->header + ISOTOK__PRETOK_WORDS + (size_t)i * ISOTOK__PASS_WORDS;
        const struct isotok__pass *pass = &opened.passes[i];
        if (!check_cells(pass, head[ISOTOK__PASS_ROWS])) return false;
        if (!check_reverse(pass, head, arrays->header[ISOTOK__PRETOK_CLASSES])) return false;
    }
    return true;
}
