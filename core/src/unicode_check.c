/* L2: opening a program, and the check of hostile ones. See unicode.h and FORMAT.md §14. */
#include "unicode.h"

enum { /* words of the header */
       VERSION,
       OPERATIONS,
       STRIDE,
       ROWS,
       MIDDLES,
       BLOCKS,
       PAIRS,
       FLAGS,
       HARD,
       HARD_COUNT = 10,
       CLASSES,
       STATES,
       EXPANSION,
       LITERALS,
       HEADER = 16
};

#define MOST_OPERATIONS 16u
#define MOST 0x10000u /* of anything that a table numbers */

bool isotok__unicode_open(struct isotok__program *p, const struct isotok__blob *b)
{
    const uint32_t *h = b->unicode_header;
    uint64_t words, numbers;
    uint32_t i;
    if (b->unicode_header_count < HEADER || h[VERSION] != 1 || h[OPERATIONS] > MOST_OPERATIONS ||
        h[STRIDE] < 2 || h[STRIDE] > 32 || h[HARD_COUNT] > 9)
        return false;
    for (i = ROWS; i < HEADER - 1; i++)
        if (i != HARD && i != HARD + 1 && h[i] > MOST) return false;
    words = HEADER + 4ull * h[OPERATIONS] + h[LITERALS] + 3ull * h[PAIRS];
    numbers = ISOTOK__UNI_TOP + 32ull * h[MIDDLES] + 128ull * h[BLOCKS] +
              (uint64_t)h[STRIDE] * h[ROWS] + (uint64_t)h[CLASSES] * h[STATES];
    if (words != b->unicode_header_count || numbers != b->unicode_tables_count ||
        b->unicode_text_count == 0)
        return false;
    p->count = h[OPERATIONS];
    p->operations = (const uint32_t(*)[4])(h + HEADER);
    p->literals = h + HEADER + 4 * p->count;
    p->pairs = (const uint32_t(*)[3])(p->literals + h[LITERALS]);
    p->pair_count = h[PAIRS];
    p->tables = b->unicode_tables;
    p->blocks = p->tables + ISOTOK__UNI_TOP + 32 * h[MIDDLES];
    p->rows = p->blocks + 128 * (size_t)h[BLOCKS];
    p->clusters = p->rows + (size_t)h[STRIDE] * h[ROWS];
    p->stride = h[STRIDE];
    p->cluster_classes = h[CLASSES];
    p->flags = h[FLAGS];
    p->text = b->unicode_text;
    for (i = 0; i < p->count; i++) {
        const uint32_t *op = p->operations[i];
        if (op[0] == ISOTOK__UNI_PREFIX || op[0] == ISOTOK__UNI_CHARSMAP ||
            (op[0] == ISOTOK__UNI_STRIP && (op[2] & 1)))
            p->stateful |= 1u << i;
        if (op[0] == ISOTOK__UNI_SPLIT) p->splits = op[3];
    }
    p->on = 1;
    return true;
}

struct check {
    const struct isotok__program *p;
    const uint32_t *h;
    uint32_t text_size;
};

/* A code is 0 or that of a text inside the pool. */
static bool is_code(const struct check *c, uint32_t code)
{
    const uint64_t at = 2ull * code;
    return at < c->text_size && at + c->p->text[at] < c->text_size;
}

static bool check_operation(const struct check *c, const uint32_t *op, bool *codes, uint32_t *below)
{
    const bool charsmap = op[0] == ISOTOK__UNI_CHARSMAP;
    switch (op[0]) {
    case ISOTOK__UNI_MAP:
    case ISOTOK__UNI_FORM:
    case ISOTOK__UNI_RUN:
    case ISOTOK__UNI_CHARSMAP:
        if (op[1] == 0 || op[1] >= c->p->stride) return false;
        if (op[0] <= ISOTOK__UNI_FORM) codes[op[1]] = true;
        if (charsmap) below[op[1]] = c->p->cluster_classes;
        break;
    case ISOTOK__UNI_LITERAL:
        if (op[1] == 0 || (uint64_t)op[1] + op[2] > c->h[LITERALS]) return false;
        break;
    case ISOTOK__UNI_STRIP:
    case ISOTOK__UNI_PREFIX:
    case ISOTOK__UNI_SPLIT: break;
    default: return false;
    }
    return is_code(c, op[3]) && !(op[0] == ISOTOK__UNI_RUN && op[2] == 0);
}

/* Whether all numbers, without the bits that are not in `mask`, are below `limit`. */
static bool are_below(const uint16_t *numbers, uint32_t count, uint32_t mask, uint32_t limit)
{
    uint32_t i, bad = 0;
    for (i = 0; i < count; i++) bad |= (uint32_t)((numbers[i] & mask) >= limit);
    return !bad;
}

bool isotok__unicode_check(const struct isotok__program *p, const struct isotok__blob *b)
{
    const struct check c = {p, b->unicode_header, b->unicode_text_count};
    bool codes[32] = {false, true}, bad = false;
    uint32_t below[32] = {0}, i, k;
    for (i = 0; i < p->count; i++) {
        bad |= !check_operation(&c, p->operations[i], codes, below);
        bad |= p->operations[i][0] == ISOTOK__UNI_CHARSMAP &&
               (b->charsmap_trie == NULL || p->cluster_classes == 0 || c.h[STATES] == 0);
    }
    if (bad || !are_below(p->tables, ISOTOK__UNI_TOP, MOST - 1, c.h[MIDDLES]) ||
        !are_below(p->tables + ISOTOK__UNI_TOP, 32 * c.h[MIDDLES], MOST - 1, c.h[BLOCKS]) ||
        !are_below(p->blocks, 128 * c.h[BLOCKS], MOST - 1, c.h[ROWS]) ||
        !are_below(p->clusters, c.h[CLASSES] * c.h[STATES], (MOST >> 1) - 1, c.h[STATES]))
        return false;
    for (i = 0; i < c.h[ROWS]; i++)
        for (k = 1; k < p->stride; k++) {
            const uint32_t cell = p->rows[(size_t)i * p->stride + k];
            bad |= (codes[k] && !is_code(&c, cell)) || (below[k] != 0 && cell >= below[k]);
        }
    for (i = 0; i < p->pair_count; i++)
        bad |= p->pairs[i][2] - 1 > 0x10FFFEu || p->pairs[i][2] >> 11 == 0x1B;
    return !bad;
}
