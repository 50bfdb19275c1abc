/* L2: the operations of a program on one unit. See unicode.h.
 *
 * ALGORITHM   Each reads an array of characters and writes another one. Marks are put into canonical
 *             order by counting, if they are not; compositions are found by binary search.
 * COMPLEXITY  O(characters) for each operation.
 * SOURCE      how alignments move: NormalizedString::transform of tokenizers 0.23. There, a new
 *             character takes so many old ones: 1, 0 (it is aligned as the one before), or more. */
#include "trie.h"
#include "unicode.h"
#include "utf8.h"

uint32_t isotok__put_scalar(uint32_t point, uint8_t out[4])
{
    const uint32_t size = isotok__scalar_size(point);
    uint32_t i, lead = 0;
    for (i = size - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (point & 63));
        point >>= 6;
        lead = 0xF0u << (4 - size);
    }
    out[0] = (uint8_t)(lead | point);
    return size;
}

struct pass {
    const struct isotok_model *model;
    const struct isotok__program *program;
    struct isotok__unicode *u;
    const struct isotok__char *in;
    struct isotok__char *out, *spare;
    uint32_t count; /* of `in` */
    uint32_t size;  /* of `out`; more than there is room for: it failed */
    uint32_t bit;   /* of u->begun */
};

/* What the tables say of a character. */
static uint32_t cell_of(const struct pass *p, const struct isotok__char *c, uint32_t column)
{
    return isotok__unicode_cell(p->program, c->point, column);
}

static ISOTOK_NOINLINE void put(struct pass *p, uint32_t point, uint32_t origin)
{
    if (p->size < p->u->capacity) {
        p->out[p->size].point = point;
        p->out[p->size].origin = origin;
    }
    p->size++;
}

uint32_t isotok__unicode_text(const uint8_t *text, uint32_t size, const struct isotok__char *self,
                              struct isotok__char *out, uint32_t at, uint32_t capacity)
{
    uint32_t i = 0, length;
    while (i < size && at <= capacity) {
        struct isotok__char c = *self;
        length = isotok__scalar(text + i, size - i, &c.point);
        c.point |= self->point & ISOTOK__UNI_CUT;
        if (at < capacity) out[at] = c;
        at++;
        i += length != 0 ? length : 1;
    }
    return at;
}

/* Appends the text of a code; 0 is that of the character itself. */
static void put_code(struct pass *p, uint32_t code, const struct isotok__char *self)
{
    const uint8_t *text = p->program->text + 2 * (size_t)code;
    if (code == 0)
        put(p, self->point, self->origin);
    else
        p->size = isotok__unicode_text(text + 1, text[0], self, p->out, p->size, p->u->capacity);
}

static void map(struct pass *p, uint32_t column)
{
    uint32_t i;
    for (i = 0; i < p->count; i++) put_code(p, cell_of(p, &p->in[i], column), &p->in[i]);
}

/* Length of the match of RUN or LITERAL at in[i], or 0. */
static uint32_t match(const struct pass *p, const uint32_t *op, uint32_t i)
{
    const uint32_t rest = p->count - i;
    uint32_t k = 0;
    if (op[0] == ISOTOK__UNI_RUN) {
        while (k < rest && cell_of(p, &p->in[i + k], op[1]) != 0) k++;
        return k >= op[2] ? k : 0;
    }
    while (k < op[1] && k < rest &&
           (p->in[i + k].point & ISOTOK__UNI_POINT) == p->program->literals[op[2] + k])
        k++;
    return k == op[1] ? k : 0;
}

static void replace(struct pass *p, const uint32_t *op)
{
    uint32_t i = 0;
    while (i < p->count) {
        const uint32_t size = match(p, op, i);
        i += size != 0 ? size : 1;
        put_code(p, size != 0 ? op[3] : 0, &p->in[i - 1]); /* all is aligned to the last one */
    }
}

static bool is_space(const struct pass *p, uint32_t i)
{
    return (cell_of(p, &p->in[i], 0) & ISOTOK__UNI_SPACE) != 0;
}

static void strip(struct pass *p, uint32_t sides)
{
    uint32_t begin = 0, end = p->count, i;
    if ((sides & 1) && !(p->u->begun & p->bit)) {
        while (begin < end && is_space(p, begin)) begin++;
        if (begin < end) p->u->begun |= p->bit;
    }
    if (sides & 2)
        while (end > begin && is_space(p, end - 1)) end--;
    for (i = begin; i < p->count; i++)
        put(p, p->in[i].point | (i < end ? 0 : ISOTOK__UNI_CUT), p->in[i].origin);
}

/* PREFIX, in front of the first character of the text; SPLIT, of each word. */
static void prefix(struct pass *p, const uint32_t *op)
{
    uint32_t i;
    for (i = 0; i < p->count; i++) {
        const struct isotok__char c = p->in[i];
        bool wanted = (c.point & ISOTOK__UNI_POINT) != op[2];
        if (op[0] == ISOTOK__UNI_SPLIT) {
            if (is_space(p, i)) {
                p->u->gap = 1;
                continue;
            }
            wanted = wanted && p->u->gap;
            p->u->gap = 0;
        } else {
            wanted = wanted && !(p->u->begun & p->bit) &&
                     (op[1] == 0 || p->u->base + (uint64_t)(int64_t)((int32_t)c.origin >> 3) == 0);
            p->u->begun |= p->bit;
        }
        if (wanted) {
            put_code(p, op[3], &c);
        }
        put(p, c.point, c.origin);
    }
}

/* ---- Normal forms: while they work, `origin` is how many characters are taken ------------ */

#define HANGUL 0xAC00u
#define HANGUL_COUNT 11172u
#define HANGUL_TAILS 28u
#define HANGUL_VOWELS 21u

static uint32_t class_of(struct isotok__char c)
{
    return c.point >> ISOTOK__UNI_CLASS & 0xFFu;
}

static void decompose(struct pass *p, uint32_t column)
{
    uint32_t i, begin;
    for (i = 0; i < p->count; i++) {
        const uint32_t point = p->in[i].point & ISOTOK__UNI_POINT, hangul = point - HANGUL;
        const uint32_t code = cell_of(p, &p->in[i], column);
        const uint32_t cut = p->in[i].point & ISOTOK__UNI_CUT;
        const struct isotok__char self = {point | cut, 0};
        begin = p->size;
        if (hangul < HANGUL_COUNT) {
            put(p, 0x1100u + hangul / (HANGUL_VOWELS * HANGUL_TAILS), 0);
            put(p, 0x1161u + hangul / HANGUL_TAILS % HANGUL_VOWELS, 0);
            if (hangul % HANGUL_TAILS != 0) put(p, 0x11A7u + hangul % HANGUL_TAILS, 0);
        } else {
            put_code(p, code, &self);
        }
        if (p->size > p->u->capacity) return;
        if (begin < p->size) p->out[begin].origin = 1;
    }
    for (i = 0; i < p->size; i++)
        p->out[i].point |= (uint32_t)(cell_of(p, &p->out[i], 0) >> 8) << ISOTOK__UNI_CLASS;
}

/* Sorts marks by their classes; equal ones keep their order. */
static void sort(struct isotok__char *marks, uint32_t count, struct isotok__char *spare)
{
    uint32_t ends[256] = {0}, i;
    for (i = 0; i < count; i++) ends[class_of(marks[i])]++;
    for (i = 1; i < 256; i++) ends[i] += ends[i - 1];
    for (i = count; i-- > 0;) spare[--ends[class_of(marks[i])]] = marks[i];
    memcpy(marks, spare, count * sizeof *marks);
}

static void order(struct pass *p)
{
    uint32_t i = 0, begin;
    while (i < p->size) {
        bool sorted = true;
        for (begin = i; i < p->size && class_of(p->out[i]) != 0; i++)
            sorted = sorted && (i == begin || class_of(p->out[i - 1]) <= class_of(p->out[i]));
        if (!sorted) sort(p->out + begin, i - begin, p->spare);
        i++;
    }
}

/* What two characters compose to, or 0. */
static uint32_t pair(const struct isotok__program *program, uint32_t a, uint32_t b)
{
    const uint64_t key = (uint64_t)a << 32 | b;
    uint32_t low = 0, high = program->pair_count;
    if (a - 0x1100u < 19 && b - 0x1161u < HANGUL_VOWELS)
        return HANGUL + ((a - 0x1100u) * HANGUL_VOWELS + b - 0x1161u) * HANGUL_TAILS;
    if (a - HANGUL < HANGUL_COUNT && (a - HANGUL) % HANGUL_TAILS == 0 &&
        b - 0x11A8u < HANGUL_TAILS - 1)
        return a + b - 0x11A7u;
    while (low < high) {
        const uint32_t middle = (low + high) / 2, *found = program->pairs[middle];
        if (((uint64_t)found[0] << 32 | found[1]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < program->pair_count && program->pairs[low][0] == a && program->pairs[low][1] == b
               ? program->pairs[low][2]
               : 0;
}

static void compose(struct pass *p)
{
    const uint32_t none = 0xFFFFFFFFu;
    uint32_t i, size = 0, starter = none, before = 0,
                made; /* before: class of the last mark kept */
    for (i = 0; i < p->size; i++) {
        const struct isotok__char c = p->out[i];
        const uint32_t rank = class_of(c), point = c.point & ISOTOK__UNI_POINT;
        if (starter != none && (before == 0 || before < rank) &&
            (made = pair(p->program, p->out[starter].point & ISOTOK__UNI_POINT, point)) != 0) {
            p->out[starter].point = made;
            p->out[starter].origin += c.origin;
            continue;
        }
        if (rank == 0) starter = size;
        if (starter != none) before = rank;
        p->out[size++] = c;
    }
    p->size = size;
}

/* From how many characters are taken to origins. */
static void align(struct pass *p, const struct isotok__char *in)
{
    uint32_t i, taken = 0;
    for (i = 0; i < p->size; i++) {
        const uint32_t take = p->out[i].origin;
        const uint32_t at = take == 0 && taken > 0 ? taken - 1 : taken;
        p->out[i].point &= ISOTOK__UNI_POINT | ISOTOK__UNI_CUT;
        p->out[i].origin = in[at < p->count ? at : p->count - 1].origin;
        taken += take;
    }
}

static void form(struct pass *p, const uint32_t *op)
{
    decompose(p, op[1]);
    if (p->size > p->u->capacity) return;
    order(p);
    if (op[2] != 0) compose(p);
    align(p, p->in);
}

/* ---- Charsmap ----------------------------------------------------------------------------- */

/* Replacement of the shortest key that text[0..size) begins with, or NULL. */
static const uint8_t *shortest(const struct isotok__rules *rules, const uint8_t *text,
                               uint32_t size)
{
    uint32_t at = isotok__darts_offset(rules->units[0]), i;
    for (i = 0; i < size && text[i] != 0; i++) {
        const uint32_t unit = rules->units[at ^= text[i]];
        if ((unit & 0x800000FFu) != text[i]) return NULL;
        at ^= isotok__darts_offset(unit);
        if (unit & 0x100u) return rules->replacements + (rules->units[at] & 0x7FFFFFFFu);
    }
    return NULL;
}

/* Replaces in[begin..end), of less than 6 bytes, as a whole; false: no key. */
static bool put_replacement(struct pass *p, uint32_t begin, uint32_t end)
{
    const struct isotok__char one = {0xFFFDu | (p->in[end - 1].point & ISOTOK__UNI_CUT), 1};
    uint8_t text[8];
    const uint8_t *found;
    uint32_t i, size = 0, length = 0, made = p->size, old = end - begin;
    for (i = begin; i < end; i++)
        size += isotok__put_scalar(p->in[i].point & ISOTOK__UNI_POINT, text + size);
    found = shortest(&p->model->normalizer, text, size);
    if (found == NULL) return false;
    while (found[length] != 0) length++;
    p->size = isotok__unicode_text(found, length, &one, p->out, made, p->u->capacity);
    if (p->size > p->u->capacity) return true;
    made = p->size - made;
    for (i = old; i < made; i++) p->out[p->size - 1 - (i - old)].origin = 0;
    if (made < old && p->size > 0) p->out[p->size - 1].origin += old - made;
    return true;
}

/* Origins as the original has them: each later by as many as were removed at the beginning. */
static const struct isotok__char *delay(struct pass *p)
{
    struct isotok__unicode *u = p->u;
    uint32_t i, taken = 0;
    uint64_t origin;
    memcpy(p->spare, p->in, p->count * sizeof *p->in);
    if (u->trying) return p->spare;
    for (i = 0; u->late_count != 0 && p->size != 0 && i < p->count; i++) {
        origin = (u->base << 3) + (uint64_t)(int64_t)(int32_t)p->in[i].origin;
        p->spare[i].origin = (uint32_t)(u->late[u->late_at] - (u->base << 3));
        u->late[u->late_at] = origin;
        u->late_at = u->late_at + 1 == u->late_count ? 0 : u->late_at + 1;
    }
    if (u->begun & p->bit) return p->spare;
    for (i = 0; i < p->size; i++) taken += p->out[i].origin;
    for (i = taken; i < p->count && u->late_count < u->capacity; i++)
        u->late[u->late_count++] = (u->base << 3) + p->spare[i].origin;
    if (p->size != 0) u->begun |= p->bit;
    return p->spare;
}

static void charsmap(struct pass *p, const uint32_t *op)
{
    const uint16_t *clusters = p->program->clusters;
    uint32_t i = 0, k, end, size, state, cell;
    while (i < p->count) {
        state = size = 0;
        for (end = i; end < p->count; end++) {
            cell = clusters[state * p->program->cluster_classes + cell_of(p, &p->in[end], op[1])];
            if (cell >> 15) break;
            state = cell;
            size += isotok__scalar_size(p->in[end].point & ISOTOK__UNI_POINT);
        }
        if (size < 6 && put_replacement(p, i, end)) {
            i = end;
            continue;
        }
        for (k = i; k < end; k++)
            if (!put_replacement(p, k, k + 1)) put(p, p->in[k].point, 1);
        i = end;
    }
    if (p->size <= p->u->capacity) align(p, delay(p));
}

struct isotok__char *isotok__unicode_apply(const struct isotok_model *model,
                                           struct isotok__unicode *u, uint32_t *out_count)
{
    struct pass p = {model, &model->program, u, u->unit, u->work[0], u->work[2], u->count, 0, 0};
    uint32_t i;
    memcpy(u->work[1], u->unit, u->count * sizeof *u->unit);
    p.in = u->work[1];
    for (i = 0; i < p.program->count; i++) {
        const uint32_t *op = p.program->operations[i];
        struct isotok__char *before = u->work[i & 1 ? 0 : 1];
        p.in = before;
        p.out = u->work[i & 1];
        p.size = 0;
        p.bit = 1u << i;
        switch (op[0]) {
        case ISOTOK__UNI_MAP: map(&p, op[1]); break;
        case ISOTOK__UNI_FORM: form(&p, op); break;
        case ISOTOK__UNI_CHARSMAP: charsmap(&p, op); break;
        case ISOTOK__UNI_STRIP: strip(&p, op[2]); break;
        case ISOTOK__UNI_PREFIX:
        case ISOTOK__UNI_SPLIT: prefix(&p, op); break;
        default: replace(&p, op); break;
        }
        if (p.size > u->capacity) return NULL;
        p.count = p.size;
    }
    *out_count = p.count;
    return p.program->count & 1 ? u->work[0] : u->work[1];
}
