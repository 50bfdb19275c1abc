/* pretok_windows: where pre-tokens end, as far as four characters tell (FORMAT.md section 11).
 *
 * ALGORITHM  ASCII is divided into a few groups. For each four of them it is asked whether a
 *   pre-token ends in front of the third, from every row that the automaton may be in. Rows are
 *   sets here; a character leads from a set to a set. What is asked about is the *last* reading of
 *   each character: one that ends by going back (REWIND) is none, and wherever a place is noted, the
 *   automaton may have come back to it, so reading may begin there anew. If all readings agree,
 *   the answer holds in any text. A superset of the readings only makes fewer answers.
 *   The driver leaves the automaton behind where answers are known, and begins anew, in row 0,
 *   at the last end where they are not; so a pass must be such that each pre-token is read from
 *   row 0, whatever stands in front of it.
 * COMPLEXITY  O(8^4 x rows x classes of a group). */
#include "plan.h"

#include "pretokenize.h"

enum { GROUPS = 8, MOST_ROWS = 256, SET_WORDS = MOST_ROWS / 64 };
/* Groups; one whose characters the automaton tells apart is only slower. OTHER tells nothing. */
enum { OTHER, SPACE, NEWLINE, LOWER, UPPER, DIGIT, MARK, RARE };

typedef struct row_set {
    uint64_t words[SET_WORDS];
} row_set;

typedef struct windows {
    const uint16_t *next; /* index of a row, not of its first cell */
    const uint16_t *flags;
    uint32_t rows, stride;
    bool drops; /* some segments are no pre-tokens */
    uint8_t members[GROUPS][128]; /* classes, each once */
    uint32_t counts[GROUPS];
    uint8_t *groups;  /* [256] */
    uint8_t *answers; /* [GROUPS ** 5] */
} windows;

static uint8_t group_of(uint32_t byte)
{
    if (byte == ' ') {
        return SPACE;
    }
    if (byte == '\n') {
        return NEWLINE;
    }
    if (byte >= '0' && byte <= '9') {
        return DIGIT;
    }
    if (byte >= 'A' && byte <= 'Z') {
        return UPPER;
    }
    if (byte >= 'a' && byte <= 'z') {
        return LOWER;
    }
    return byte > ' ' && byte < 0x7F && byte != '\'' ? MARK : OTHER;
}

static void add_row(row_set *set, uint32_t row)
{
    set->words[row >> 6] |= (uint64_t)1 << (row & 63);
}

static bool has_row(const row_set *set, uint32_t row)
{
    return set->words[row >> 6] >> (row & 63) & 1;
}

static void find_members(windows *w, const uint8_t *classes)
{
    for (uint32_t byte = 0; byte < 128; byte++) {
        uint32_t group = w->groups[byte];
        uint32_t known = 0;
        while (known < w->counts[group] && w->members[group][known] != classes[byte]) {
            known++;
        }
        if (known == w->counts[group]) {
            w->members[group][w->counts[group]++] = classes[byte];
        }
    }
}

static uint32_t cell_at(const windows *w, uint32_t row, uint32_t symbol)
{
    return row * w->stride + symbol;
}

/* Whether a pre-token may begin at this class with the automaton in another row than behind the
 * beginning of a text. */
static bool begins_otherwise(const windows *w, uint32_t symbol)
{
    const uint32_t kept = ISOTOK__CELL_NOTE | ISOTOK__CELL_HERE | ISOTOK__CELL_DROP_HERE;
    const uint32_t never = ISOTOK__CELL_BACK | ISOTOK__CELL_REWIND;
    for (uint32_t row = 0; row < w->rows; row++) {
        uint32_t cell = cell_at(w, row, symbol);
        if (w->flags[cell] & ISOTOK__CELL_REWIND) {
            continue;
        }
        if (w->flags[cell] & ISOTOK__CELL_HERE && w->next[cell] != w->next[symbol]) {
            return true;
        }
        for (uint32_t then = 0; then < w->stride; then++) { /* an end in front of `symbol` */
            uint32_t after = cell_at(w, w->next[cell], then);
            uint32_t anew = cell_at(w, w->next[symbol], then);
            if (w->flags[after] & ISOTOK__CELL_BACK &&
                (w->next[after] != w->next[anew] || w->flags[anew] & never ||
                 (w->flags[after] & kept) != (w->flags[anew] & kept))) {
                return true;
            }
        }
    }
    return false;
}

/* RARE are marks that the automaton tells from the usual ones or, if there are none, tabs. */
static void find_groups(windows *w, const uint8_t *classes)
{
    bool rare = false;
    for (uint32_t byte = 0; byte < 128; byte++) {
        if (!begins_otherwise(w, classes[byte])) {
            w->groups[byte] = group_of(byte);
        }
        if (w->groups[byte] == MARK && classes[byte] != classes['*']) {
            w->groups[byte] = RARE;
            rare = true;
        }
    }
    if (!rare && !begins_otherwise(w, classes['\t'])) {
        w->groups['\t'] = RARE;
    }
    for (uint32_t byte = 0; byte < 128; byte++) { /* other characters of their classes */
        if (w->groups[byte] != OTHER) {
            w->groups[256 + classes[byte]] = w->groups[byte];
        }
    }
}

/* Rows that are reached from row 0 by cells without any of the flags. */
static row_set spread(const windows *w, uint32_t stops)
{
    row_set set = {{0}};
    bool grows = true;
    add_row(&set, 0);
    while (grows) {
        grows = false;
        for (uint32_t cell = 0; cell < w->rows * w->stride; cell++) {
            if (has_row(&set, cell / w->stride) && !(w->flags[cell] & stops) &&
                !has_row(&set, w->next[cell])) {
                add_row(&set, w->next[cell]);
                grows = true;
            }
        }
    }
    return set;
}

/* Whether an end that a text begins behind is never replaced: no row that is reached without another
 * end joins. And whether all that is read again is read from row 0. */
static bool begins_anew(const windows *w)
{
    const uint32_t joins = ISOTOK__CELL_JOIN_HERE | ISOTOK__CELL_JOIN_BACK;
    row_set set = spread(w, ISOTOK__CELL_CUT | ISOTOK__CELL_REWIND | ISOTOK__CELL_DONE);
    for (uint32_t cell = 0; cell < w->rows * w->stride; cell++) {
        uint32_t flags = w->flags[cell];
        if (flags & ISOTOK__CELL_REWIND ? w->next[cell] != 0
                                        : flags & joins && has_row(&set, cell / w->stride)) {
            return false;
        }
    }
    return true;
}

/* What a set of rows becomes by a character of the group: [0] without an end in front of it, [1] with
 * one, [2] with one of a dropped segment. `*seen`: bit 0, 1 or 2 if there is, or is not, an end in
 * front of the character before. */
static void read_group(const windows *w, const row_set *from, uint32_t group, row_set *to,
                       uint32_t *seen)
{
    memset(to, 0, 3 * sizeof *to);
    for (uint32_t row = 0; row < w->rows; row++) {
        for (uint32_t i = 0; i < w->counts[group] && has_row(from, row); i++) {
            uint32_t symbol = w->members[group][i];
            uint32_t cell = cell_at(w, row, symbol);
            uint32_t flags = w->flags[cell];
            if (flags & ISOTOK__CELL_REWIND) {
                continue;
            }
            uint32_t end = flags & ISOTOK__CELL_HERE ? (flags & ISOTOK__CELL_DROP_HERE ? 2 : 1) : 0;
            add_row(&to[end], w->next[cell]);
            if (flags & ISOTOK__CELL_NOTE) { /* read again from here, after an end of any kind */
                add_row(&to[1], w->next[symbol]);
                add_row(&to[2], w->next[symbol]);
            }
            *seen |= !(flags & ISOTOK__CELL_BACK) ? 1u : flags & ISOTOK__CELL_DROP_BACK ? 4u : 2u;
        }
    }
}

static void join(row_set *set, const row_set *others, uint32_t count)
{
    for (uint32_t i = 0; i < count * SET_WORDS; i++) {
        set->words[i % SET_WORDS] |= others[i / SET_WORDS].words[i % SET_WORDS];
    }
}

static bool is_empty(const row_set *set)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        any |= set->words[i];
    }
    return any == 0;
}

/* Answers for the windows whose first three characters led to `third` (as of read_group). */
static void answer(const windows *w, const row_set *third, uint32_t window)
{
    for (uint32_t last = 1; last < GROUPS; last++) {
        row_set to[3];
        uint32_t seen = 0;
        read_group(w, &third[0], last, to, &seen);
        seen |= is_empty(&third[1]) ? 0 : 2;
        seen |= is_empty(&third[2]) || !w->drops ? 0 : 4;
        if (seen == 1 || seen == 2 || seen == 4) {
            w->answers[window | last << 9] = (uint8_t)(seen >> 1); /* NO_END, END, DROPPED */
        }
    }
}

static void answer_all(const windows *w)
{
    row_set reached = spread(w, 0);
    row_set all = {{0}};
    row_set to[3];
    uint32_t ignored = 0;
    for (uint32_t group = 1; group < GROUPS; group++) {
        read_group(w, &reached, group, to, &ignored);
        join(&all, to, 3);
    }
    for (uint32_t window = 0; window < GROUPS * GROUPS * GROUPS; window++) {
        row_set from = all;
        uint32_t groups[3] = {window & 7, window >> 3 & 7, window >> 6};
        if (groups[0] == OTHER || groups[1] == OTHER || groups[2] == OTHER) {
            continue;
        }
        for (uint32_t i = 0; i < 3; i++) {
            read_group(w, &from, groups[i], to, &ignored);
            memset(&from, 0, sizeof from);
            join(&from, to, 3);
        }
        answer(w, to, window);
    }
}

/* Two answers for five characters: of the first four, and of the last four. */
static void pair_answers(const windows *w)
{
    const uint32_t fours = GROUPS * GROUPS * GROUPS * GROUPS;
    for (uint32_t window = GROUPS * fours; window-- > 0;) {
        uint32_t first = w->answers[window % fours] & 3u;
        w->answers[window] = (uint8_t)(first | (w->answers[window / GROUPS] & 3u) << 2);
    }
}

/* Whether the pre-tokenizer is of the kind that windows can be made for. */
static bool open_windows(isotok__work *work, windows *w, const struct isotok__pretok_arrays *arrays)
{
    struct isotok__pretokenizer opened;
    if (!isotok__pretok_open(&opened, arrays) || opened.count != 1 || opened.reverses ||
        opened.passes[0].kind & ISOTOK__PASS_BYTES) {
        return false;
    }
    w->stride = opened.passes[0].end + 1;
    w->rows = arrays->header[ISOTOK__PRETOK_WORDS + ISOTOK__PASS_ROWS];
    w->flags = opened.passes[0].flags;
    w->drops = (opened.passes[0].kind & ISOTOK__PASS_DROPS) != 0;
    uint16_t *next = ISOTOK__TEMP(work, uint16_t, w->rows * w->stride);
    if (next == NULL || w->rows > MOST_ROWS) {
        return false;
    }
    for (uint32_t i = 0; i < w->rows * w->stride; i++) {
        next[i] = (uint16_t)(opened.passes[0].next[i] / w->stride);
    }
    w->next = next;
    return begins_anew(w);
}

isotok_status isotok__plan_windows(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    size_t mark = isotok__temp_begin(work);
    struct isotok__pretok_arrays arrays;
    windows w;
    isotok_status status = isotok__pretok_arrays_of(work, spec, &arrays);
    memset(&w, 0, sizeof w);
    if (status == ISOTOK_OK && open_windows(work, &w, &arrays)) {
        w.groups = ISOTOK__KEEP(work, uint8_t, ISOTOK__WINDOWS_SIZE);
        if (w.groups != NULL) {
            w.answers = w.groups + ISOTOK__WINDOW_GROUPS;
            memset(w.groups, OTHER, ISOTOK__WINDOW_GROUPS);
            memset(w.answers, ISOTOK__WINDOW_UNKNOWN, ISOTOK__WINDOWS_SIZE - ISOTOK__WINDOW_GROUPS);
            find_groups(&w, arrays.classes);
            find_members(&w, arrays.classes);
            answer_all(&w);
            pair_answers(&w);
            plan->windows = w.groups;
        }
    }
    isotok__temp_end(work, mark);
    return work->error.status;
}
