/* pretok_windows: where pre-tokens end, as far as four characters tell (FORMAT.md section 11).
 *
 * ALGORITHM  Characters are divided into a few groups. For each four of them it is asked whether a
 *   pre-token ends in front of the third, from every row that the automaton may be in. Rows are
 *   sets here; a character leads from a set to a set. What is asked about is the *last* reading of
 *   each character: one that ends by going back (REWIND) is none, and wherever a place is noted, the
 *   automaton may have come back to it, so reading may begin there anew. If all readings agree,
 *   the answer holds in any text. A superset of the readings only makes fewer answers.
 *   The driver leaves the automaton behind where answers are known, and begins anew, in row 0,
 *   at the last end where they are not; so a pass must be such that each pre-token is read from
 *   row 0, whatever stands in front of it.
 *   For most pairs of groups the second and the third character tell it alone, for many of the
 *   others these and the fourth: such answers stand in tables for vectors, too.
 * COMPLEXITY  O(states x groups x rows x classes of a group); sets of rows that occur are states, at
 *   most MOST_STATES. */
#include "plan.h"

#include "pretokenize.h"

enum { MOST_ROWS = 256, SET_WORDS = MOST_ROWS / 64, MOST_STATES = 1024, NO_STATE = MOST_STATES };
enum { GROUPS = ISOTOK__WINDOW_MOST_GROUPS, ASCII_GROUPS = GROUPS / 2 };
/* Groups; one whose characters the automaton tells apart is only slower. OTHER tells nothing. From FIRST_WIDE on:
 * classes that have no ASCII. */
enum { OTHER, SPACE, NEWLINE, LOWER, UPPER, DIGIT, MARK, RARE, FIRST_WIDE };

typedef struct row_set {
    uint64_t words[SET_WORDS];
} row_set;

/* What a character led to: [0] without an end in front of it, [1] with one, [2] with one of a
 * dropped segment; and what the next one may lead to. */
typedef struct state {
    row_set to[3];
    uint16_t moves[GROUPS];
    uint8_t answers[GROUPS]; /* whether a pre-token ends in front of it, by the group of the next */
} state;

typedef struct windows {
    const uint16_t *next; /* index of a row, not of its first cell */
    const uint16_t *flags;
    uint32_t rows, stride;
    bool drops; /* some segments are no pre-tokens */
    uint8_t members[GROUPS][128]; /* classes, each once */
    uint32_t counts[GROUPS];
    uint8_t *groups; /* [256] of bytes, [256] of classes */
    state *states;
    uint32_t state_count;
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

static void add_member(windows *w, uint32_t group, uint8_t symbol)
{
    uint32_t known = 0;
    while (known < w->counts[group] && w->members[group][known] != symbol) {
        known++;
    }
    if (known == w->counts[group]) {
        w->members[group][w->counts[group]++] = symbol;
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
        add_member(w, w->groups[byte], classes[byte]);
        if (w->groups[byte] != OTHER) {
            w->groups[256 + classes[byte]] = w->groups[byte];
        }
    }
}

/* The classes of most characters that have no group yet, ASCII apart, get one each. */
static void find_wide_groups(windows *w, const struct isotok__pretok_arrays *arrays)
{
    uint32_t sizes[256] = {0};
    for (uint32_t page = 2; page < 1024; page++) { /* of 64 characters below U+10000 */
        for (uint32_t i = 0; i < 64; i++) {
            sizes[arrays->classes[(uint32_t)arrays->tables[page] << 6 | i]]++;
        }
    }
    for (uint32_t group = FIRST_WIDE; group < GROUPS; group++) {
        uint32_t most = 0;
        uint32_t found = 0;
        for (uint32_t symbol = 0; symbol < w->stride - 1; symbol++) {
            if (sizes[symbol] > most && w->groups[256 + symbol] == OTHER &&
                !begins_otherwise(w, symbol)) {
                most = sizes[symbol];
                found = symbol;
            }
        }
        if (most == 0) {
            return;
        }
        w->groups[256 + found] = (uint8_t)group;
        add_member(w, group, (uint8_t)found);
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

/* What a set of rows becomes by a character of the group, as in struct state. Returns what is seen: bit 0,
 * 1 or 2 if there is no end, or one of that kind, in front of the character before. */
static uint32_t read_group(const windows *w, const row_set *from, uint32_t group, row_set *to)
{
    uint32_t seen = 0;
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
            seen |= !(flags & ISOTOK__CELL_BACK) ? 1u : flags & ISOTOK__CELL_DROP_BACK ? 4u : 2u;
        }
    }
    return seen;
}

static row_set join(const row_set *to)
{
    row_set set = {{0}};
    for (uint32_t i = 0; i < 3 * SET_WORDS; i++) {
        set.words[i % SET_WORDS] |= to[i / SET_WORDS].words[i % SET_WORDS];
    }
    return set;
}

static bool is_empty(const row_set *set)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < SET_WORDS; i++) {
        any |= set->words[i];
    }
    return any == 0;
}

/* The answers of a state that the third character of four led to. */
static void answer(const windows *w, state *third)
{
    memset(third->answers, ISOTOK__WINDOW_UNKNOWN, GROUPS);
    for (uint32_t last = 1; last < GROUPS; last++) {
        row_set to[3];
        uint32_t seen = read_group(w, &third->to[0], last, to);
        seen |= is_empty(&third->to[1]) ? 0 : 2;
        seen |= is_empty(&third->to[2]) || !w->drops ? 0 : 4;
        if (seen == 1 || seen == 2 || seen == 4) {
            third->answers[last] = (uint8_t)(seen >> 1); /* NO_END, END, DROPPED */
        }
    }
}

static uint16_t state_of(windows *w, const row_set *to)
{
    uint32_t found = 0;
    while (found < w->state_count && memcmp(w->states[found].to, to, sizeof w->states->to) != 0) {
        found++;
    }
    if (found == w->state_count && found < MOST_STATES) {
        memcpy(w->states[found].to, to, sizeof w->states->to);
        memset(w->states[found].moves, 0xFF, sizeof w->states->moves);
        answer(w, &w->states[found]);
        w->state_count++;
    }
    return (uint16_t)found;
}

/* The state behind another by a character of the group. */
static uint16_t move(windows *w, uint16_t from, uint32_t group)
{
    row_set to[3];
    if (from == NO_STATE) {
        return NO_STATE;
    }
    if (w->states[from].moves[group] == 0xFFFF) {
        row_set set = join(w->states[from].to);
        read_group(w, &set, group, to);
        w->states[from].moves[group] = state_of(w, to);
    }
    return w->states[from].moves[group];
}

/* Behind any character that is in a group. */
static uint16_t first_state(windows *w)
{
    row_set reached = spread(w, 0);
    row_set all[3] = {{{0}}};
    for (uint32_t group = 1; group < GROUPS; group++) {
        row_set to[3];
        read_group(w, &reached, group, to);
        row_set set = join(to);
        for (uint32_t i = 0; i < SET_WORDS; i++) {
            all[0].words[i] |= set.words[i];
        }
    }
    return state_of(w, all);
}

static void answer_all(windows *w)
{
    uint8_t *answers = w->groups + ISOTOK__WINDOW_ANSWERS;
    uint16_t start = first_state(w);
    for (uint32_t window = 0; window < GROUPS * GROUPS * GROUPS; window++) {
        uint32_t groups[3] = {window % GROUPS, window / GROUPS % GROUPS, window / GROUPS / GROUPS};
        uint16_t at = start;
        for (uint32_t i = 0; i < 3 && at != NO_STATE; i++) {
            bool unknown = groups[i] == OTHER || w->counts[groups[i]] == 0;
            at = unknown ? (uint16_t)NO_STATE : move(w, at, groups[i]);
        }
        for (uint32_t last = 1; last < GROUPS && at != NO_STATE; last++) {
            uint32_t index = window | last << 12;
            uint8_t unlike = w->states[at].answers[last] ^ ISOTOK__WINDOW_UNKNOWN;
            answers[index >> 2] ^= (uint8_t)(unlike << (index & 3) * 2);
        }
    }
}

static uint32_t answer_at(const windows *w, uint32_t index)
{
    return w->groups[ISOTOK__WINDOW_ANSWERS + (index >> 2)] >> (index & 3) * 2 & 3u;
}

/* Whether the block has one class only. */
static bool is_solid(const uint8_t *block)
{
    for (uint32_t i = 1; i < 64; i++) {
        if (block[i] != block[0]) {
            return false;
        }
    }
    return true;
}

/* Whether no pre-token ends between two characters of the group. */
static bool goes_on(const windows *w, uint32_t group)
{
    for (uint32_t first = 1; first < GROUPS; first++) {
        for (uint32_t last = 1; last < GROUPS; last++) {
            bool asked = w->counts[first] != 0 && w->counts[last] != 0;
            if (asked && answer_at(w, first | group * 0x110 | last << 12) != 0) {
                return false;
            }
        }
    }
    return true;
}

/* Most of Chinese and Korean is characters of one group, thousands in a row in the same block. */
static void find_solid(const windows *w, const struct isotok__pretok_arrays *arrays)
{
    uint8_t *low = w->groups + ISOTOK__WINDOW_SOLID;
    uint16_t counts[GROUPS] = {0};
    for (uint32_t page = 0x800 >> 6; page < 1024; page++) {
        const uint32_t block = arrays->tables[page];
        uint32_t group = w->groups[256 + arrays->classes[block << 6]];
        uint16_t count = 0;
        if (group == OTHER || !is_solid(arrays->classes + (block << 6)) ||
            !goes_on(w, group)) {
            continue;
        }
        for (uint32_t other = page; other < 1024; other++) {
            count = (uint16_t)(count + (arrays->tables[other] == block));
        }
        if (count > counts[group]) {
            counts[group] = count;
            low[group] = (uint8_t)block;
            low[16 + group] = (uint8_t)(block >> 8);
        }
    }
}

/* ---- Tables for vectors -------------------------------------------------------------------- */

/* The answers for the second and third groups, a bit for each that occurs, with a fourth one in
 * ASCII; `fourth` 0: any. */
static uint32_t answers_of(const windows *w, uint32_t second, uint32_t third, uint32_t fourth)
{
    uint32_t seen = 0;
    for (uint32_t first = 1; first < GROUPS; first++) {
        for (uint32_t last = 1; last < ASCII_GROUPS; last++) {
            bool asked = w->counts[first] != 0 && w->counts[last] != 0;
            if (asked && (fourth == 0 || fourth == last)) {
                seen |= 1u << answer_at(w, first | second << 4 | third << 8 | last << 12);
            }
        }
    }
    return seen;
}

/* A bit for each fourth group with which a pre-token ends in front of the third; 0 if these three do not
 * tell it, or are not needed for that. */
static uint8_t ends_by_next(const windows *w, uint32_t second, uint32_t third)
{
    uint8_t ends = 0;
    for (uint32_t fourth = 1; fourth < ASCII_GROUPS; fourth++) {
        uint32_t seen = answers_of(w, second, third, fourth);
        if (seen == 1u << ISOTOK__WINDOW_END) {
            ends |= ISOTOK__VECTOR_BIT(fourth);
        } else if (seen != 0 && seen != 1u << ISOTOK__WINDOW_NO_END) {
            return 0;
        }
    }
    return ends;
}

static void tell_pair(const windows *w, uint32_t second, uint32_t third)
{
    uint8_t *tables = w->groups + ISOTOK__WINDOW_VECTORS;
    uint32_t at = ISOTOK__VECTOR_INDEX(second);
    uint8_t bit = ISOTOK__VECTOR_BIT(third);
    uint8_t *follow = tables + ISOTOK__VECTOR_FOLLOW;
    uint32_t seen = answers_of(w, second, third, 0);
    if (seen == 1u << ISOTOK__WINDOW_NO_END) {
        return;
    }
    if (seen == 1u << ISOTOK__WINDOW_END || seen == 1u << ISOTOK__WINDOW_DROPPED) {
        tables[ISOTOK__VECTOR_ENDS + at] |= bit;
        tables[ISOTOK__VECTOR_DROPS + at] |= seen == 1u << ISOTOK__WINDOW_DROPPED ? bit : 0;
        return;
    }
    tables[ISOTOK__VECTOR_ASKS + at] |= bit;
    uint8_t ends = ends_by_next(w, second, third);
    if (ends != 0 && (follow[0] == 0 || follow[0] == ends)) {
        memset(follow, ends, 16);
        tables[ISOTOK__VECTOR_BY_NEXT + at] |= bit;
    }
}

static void fill_vectors(const windows *w)
{
    uint8_t *tables = w->groups + ISOTOK__WINDOW_VECTORS;
    for (uint32_t byte = 0; byte < 128; byte++) {
        for (uint32_t bit = 0; bit < 3; bit++) {
            uint32_t set = w->groups[byte] >> bit & 1u;
            tables[16 * bit + (byte & 15)] |= (uint8_t)(set << (byte >> 4));
        }
    }
    tell_pair(w, SPACE, SPACE); /* what follows a run of spaces is asked most often */
    for (uint32_t second = 0; second < GROUPS; second++) {
        for (uint32_t third = 0; third < ASCII_GROUPS; third++) {
            if (second == OTHER || third == OTHER) {
                tables[ISOTOK__VECTOR_ASKS + ISOTOK__VECTOR_INDEX(second)] |=
                    ISOTOK__VECTOR_BIT(third);
            } else {
                tell_pair(w, second, third);
            }
        }
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
        w.states = ISOTOK__TEMP(work, state, MOST_STATES);
        w.groups = ISOTOK__KEEP(work, uint8_t, ISOTOK__WINDOWS_SIZE);
        if (w.groups != NULL && w.states != NULL) {
            memset(w.groups, OTHER, ISOTOK__WINDOW_ANSWERS);
            memset(w.groups + ISOTOK__WINDOW_ANSWERS, 0xFF, /* four times UNKNOWN */
                   ISOTOK__WINDOWS_SIZE - ISOTOK__WINDOW_ANSWERS);
            find_groups(&w, arrays.classes);
            find_wide_groups(&w, &arrays);
            answer_all(&w);
            find_solid(&w, &arrays);
            fill_vectors(&w);
            plan->windows = w.groups;
        }
    }
    isotok__temp_end(work, mark);
    return work->error.status;
}
