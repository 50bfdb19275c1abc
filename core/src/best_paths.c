/* L3: n best paths. See best_paths.h. */
#include "best_paths.h"

#include "lattice.h"
#include "utf8.h"

#define NODE_BEGIN 0xFFFFFFFEu /* in front of the text */
#define NODE_END 0xFFFFFFFFu   /* behind it */
#define NONE 0xFFFFFFFFu

/* sentencepiece's limits */
#define MOST_AGENDA 10000u
#define LEAST_AGENDA 512u
#define MOST_BEFORE_SHRINK 100000u
#define MOST_MADE 500000u
#define MOST_SHRUNK 10u

/* ---- The lattice ------------------------------------------------------------------- */

/* Number of edges. Where there are no nodes yet, how many end at e is added to next[e + 1], if
 * that is not NULL; else they become nodes, those that end at e from next[e] on. */
static uint64_t walk_edges(const struct isotok__paths *s, uint32_t *next)
{
    uint64_t total = 0;
    uint32_t p;
    for (p = 0; p < s->size; p = isotok__char_end(s->text, p, s->size)) {
        struct isotok__edges edges;
        struct isotok__edge edge;
        isotok__edges_begin(&edges, s->model, s->text, s->size, p);
        for (; isotok__edges_next(&edges, &edge); total++) {
            if (s->nodes != NULL) {
                struct isotok__node *node = &s->nodes[next[edge.end]++];
                node->begin = p;
                node->slot = edge.slot;
                node->score = edge.weight;
            } else if (next != NULL) {
                next[edge.end + 1]++;
            }
        }
    }
    return total;
}

static void fill_nodes(struct isotok__paths *s)
{
    uint32_t *next = s->first, p;
    for (p = 0; p <= s->size; p++) next[p + 1] += next[p];
    walk_edges(s, next);
    /* next[e] has moved to where those of e + 1 begin */
    memmove(next + 1, next, ((size_t)s->size + 1) * sizeof *next);
    next[0] = 0;
}

static void score_nodes(struct isotok__paths *s)
{
    uint32_t e, i;
    s->best[0] = 0.0f;
    for (e = 1; e <= s->size; e++)
        for (i = s->first[e]; i < s->first[e + 1]; i++) {
            struct isotok__node *node = &s->nodes[i];
            node->best = s->best[node->begin] + node->score;
            if (i == s->first[e] || node->best > s->best[e]) s->best[e] = node->best;
        }
}

/* ---- The agenda: a heap, largest f first --------------------------------------------- */

static float f_of(const struct isotok__paths *s, uint32_t place)
{
    return s->hypotheses[s->agenda[place]].f;
}

static void sift_up(struct isotok__paths *s, uint32_t hole, uint32_t hypothesis)
{
    const float f = s->hypotheses[hypothesis].f;
    while (hole > 0 && f_of(s, (hole - 1) / 2) < f) {
        s->agenda[hole] = s->agenda[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    s->agenda[hole] = hypothesis;
}

/* The hole left by the first sinks to a leaf along the larger children, then the last entry is
 * sifted up from there: which of several equal entries comes first depends on that. */
static uint32_t agenda_pop(struct isotok__paths *s)
{
    uint32_t *heap = s->agenda, count = --s->agenda_count, hole = 0, child;
    const uint32_t top = heap[0], last = heap[count];
    for (child = 2; child < count; child = 2 * hole + 2) {
        if (f_of(s, child) < f_of(s, child - 1)) child--;
        heap[hole] = heap[child];
        hole = child;
    }
    if (child == count) {
        heap[hole] = heap[child - 1];
        hole = child - 1;
    }
    sift_up(s, hole, last);
    return top;
}

static uint32_t make(struct isotok__paths *s, uint32_t node, uint32_t next, float f, float g)
{
    const struct isotok__hypothesis made = {node, next, f, g};
    s->hypotheses[s->count] = made;
    return s->count++;
}

static void add(struct isotok__paths *s, uint32_t node, uint32_t next, float f, float g)
{
    sift_up(s, s->agenda_count++, make(s, node, next, f, g));
}

/* Marks what the first `keep` entries of the agenda need, and moves it to the front; what a
 * hypothesis needs was made before it. */
static void compact(struct isotok__paths *s, uint32_t keep)
{
    uint32_t i, h, count = 0;
    memset(s->moved, 0, (size_t)s->count * sizeof *s->moved);
    for (i = 0; i < keep; i++)
        for (h = s->agenda[i]; h != NONE && s->moved[h] == 0; h = s->hypotheses[h].next)
            s->moved[h] = 1;
    for (h = 0; h < s->count; h++) {
        struct isotok__hypothesis kept = s->hypotheses[h];
        if (s->moved[h] == 0) continue;
        if (kept.next != NONE) kept.next = s->moved[kept.next];
        s->moved[h] = count;
        s->hypotheses[count++] = kept;
    }
    for (i = 0; i < keep; i++) s->agenda[i] = s->moved[s->agenda[i]];
    s->count = count;
}

/* Keeps the best entries of the agenda. In the order in which they are popped they are a heap. */
static void shrink(struct isotok__paths *s)
{
    const uint32_t count = s->agenda_count, keep = s->keep < count ? s->keep : count;
    uint32_t *kept = s->agenda + (count - keep), i;
    for (i = 0; i < keep; i++) {
        const uint32_t top = agenda_pop(s);
        s->agenda[s->agenda_count] = top; /* its place is free now */
    }
    for (i = 0; i < keep; i++) s->moved[i] = kept[keep - 1 - i];
    memcpy(s->agenda, s->moved, (size_t)keep * sizeof *kept);
    s->agenda_count = keep;
    compact(s, keep);
    s->shrunk++;
    s->shrink_at = s->count + MOST_BEFORE_SHRINK;
}

/* ---- The search ----------------------------------------------------------------------- */

static uint64_t aligned(uint64_t size)
{
    return (size + ISOTOK_ALIGN - 1) & ~(uint64_t)(ISOTOK_ALIGN - 1);
}

/* What one expansion may add to a full agenda: as many tokens as may end at one place (more than
 * one of a begin only where pieces end inside a character). */
static uint32_t agenda_size(const isotok_model *model)
{
    return MOST_AGENDA + 4 * (model->blob.max_piece_bytes + 4);
}

/* Bytes of one hypothesis and its entry of `moved`. */
#define EACH (sizeof(struct isotok__hypothesis) + sizeof(uint32_t))

/* Bytes of everything but the hypotheses. */
static uint64_t fixed_size(const isotok_model *model, uint32_t size, uint64_t edges)
{
    return aligned(((uint64_t)size + 2) * sizeof(uint32_t)) +
           aligned(((uint64_t)size + 1) * sizeof(float)) +
           aligned(edges * sizeof(struct isotok__node)) +
           aligned((uint64_t)agenda_size(model) * sizeof(uint32_t));
}

static void lay_out(struct isotok__paths *s, uint8_t *memory, uint64_t edges)
{
    s->first = (uint32_t *)(void *)memory;
    memory += aligned(((uint64_t)s->size + 2) * sizeof(uint32_t));
    s->best = (float *)(void *)memory;
    memory += aligned(((uint64_t)s->size + 1) * sizeof(float));
    s->nodes = (struct isotok__node *)(void *)memory;
    memory += aligned(edges * sizeof(struct isotok__node));
    s->agenda = (uint32_t *)(void *)memory;
    memory += aligned((uint64_t)agenda_size(s->model) * sizeof(uint32_t));
    s->hypotheses = (struct isotok__hypothesis *)(void *)memory;
    s->moved = (uint32_t *)(void *)(s->hypotheses + s->capacity);
}

static void restart(struct isotok__paths *s)
{
    s->count = s->agenda_count = s->shrunk = 0;
    s->made = 1; /* the end */
    s->shrink_at = MOST_BEFORE_SHRINK;
    add(s, NODE_END, NONE, s->best[s->size], 0.0f);
}

/* The memory that would do, if it is known that this one does not. */
static uint64_t more_memory(const struct isotok__paths *s, uint64_t fixed)
{
    return fixed + (uint64_t)EACH * (s->capacity < MOST_MADE / 4 ? 4 * s->capacity : MOST_MADE);
}

bool isotok__paths_begin(struct isotok__paths *s, const isotok_model *model, const uint8_t *text,
                         uint32_t size, uint32_t n, void *memory, uint64_t memory_size,
                         uint64_t *out_need)
{
    const uint64_t first_size = ((uint64_t)size + 2) * sizeof(uint32_t);
    const uint32_t least = size + 2 > 4096 ? size + 2 : 4096; /* a path must fit */
    uint32_t *first = memory_size >= first_size ? (uint32_t *)memory : NULL;
    uint64_t edges, fixed;
    memset(s, 0, sizeof *s);
    s->model = model;
    s->text = text;
    s->size = size;
    s->keep = n * 10 < LEAST_AGENDA ? n * 10 : LEAST_AGENDA;
    if (first != NULL) memset(first, 0, (size_t)first_size);
    edges = walk_edges(s, first);
    fixed = fixed_size(model, size, edges);
    *out_need = fixed + (uint64_t)least * EACH;
    if (edges >= NODE_BEGIN) *out_need = UINT64_MAX;
    if (memory_size < *out_need) return false;
    s->capacity = MOST_MADE;
    if ((memory_size - fixed) / EACH < MOST_MADE)
        s->capacity = (uint32_t)((memory_size - fixed) / EACH);
    if (s->capacity < least) s->capacity = least;
    *out_need = more_memory(s, fixed);
    lay_out(s, (uint8_t *)memory, edges);
    fill_nodes(s);
    score_nodes(s);
    restart(s);
    return true;
}

static uint32_t begin_of(const struct isotok__paths *s, uint32_t node)
{
    return node == NODE_END ? s->size : s->nodes[node].begin;
}

/* Adds every way to go on to the left of `top`. */
static enum isotok__paths_result expand(struct isotok__paths *s, uint32_t top)
{
    const struct isotok__hypothesis from = s->hypotheses[top];
    const uint32_t position = begin_of(s, from.node);
    const uint32_t begin = s->first[position], end = s->first[position + 1];
    const uint32_t more = position == 0 ? 1 : end - begin;
    uint32_t i;
    if (s->made + more >= MOST_MADE) return ISOTOK__PATHS_GIVE_UP;
    if (more > s->capacity - s->count) return ISOTOK__PATHS_FULL;
    if (position == 0) add(s, NODE_BEGIN, top, from.g, from.g);
    for (i = begin; i < end; i++)
        add(s, i, top, s->nodes[i].best + from.g, s->nodes[i].score + from.g);
    s->made += more;
    if (s->agenda_count < MOST_AGENDA && (s->agenda_count <= s->keep || s->count < s->shrink_at))
        return ISOTOK__PATH_FOUND;
    if (s->shrunk == MOST_SHRUNK) return ISOTOK__PATHS_GIVE_UP;
    shrink(s);
    return ISOTOK__PATH_FOUND;
}

enum isotok__paths_result isotok__paths_next(struct isotok__paths *s, uint32_t *out_path,
                                             float *out_score)
{
    enum isotok__paths_result result = ISOTOK__PATH_FOUND;
    while (result == ISOTOK__PATH_FOUND) {
        uint32_t top;
        if (s->agenda_count == 0) return ISOTOK__PATHS_END;
        top = agenda_pop(s);
        if (s->hypotheses[top].node == NODE_BEGIN) {
            *out_path = top;
            *out_score = s->hypotheses[top].f;
            return ISOTOK__PATH_FOUND;
        }
        result = expand(s, top);
    }
    return result;
}

/* The token to go back by from `end`, in front of one with score `right`: the first of the
 * largest sums, as rounded. */
static uint32_t best_left(const struct isotok__paths *s, uint32_t end, float right)
{
    uint32_t best = s->first[end], i;
    for (i = best + 1; i < s->first[end + 1]; i++)
        if (s->nodes[i].best + right > s->nodes[best].best + right) best = i;
    return best;
}

uint32_t isotok__paths_viterbi(struct isotok__paths *s, float *out_score)
{
    uint32_t end = s->size;
    float right = 0.0f;
    restart(s);
    while (end > 0) {
        const uint32_t node = best_left(s, end, right);
        make(s, node, s->count - 1, 0.0f, 0.0f);
        right = s->nodes[node].score;
        end = s->nodes[node].begin;
    }
    *out_score = s->best[s->size];
    return make(s, NODE_BEGIN, s->count - 1, 0.0f, 0.0f);
}

void isotok__paths_tokens(const struct isotok__paths *s, uint32_t path,
                          struct isotok__tokens *tokens)
{
    uint32_t h = s->hypotheses[path].next;
    tokens->count = 0;
    while (s->hypotheses[h].node != NODE_END) {
        const struct isotok__node *node = &s->nodes[s->hypotheses[h].node];
        uint32_t length;
        h = s->hypotheses[h].next;
        length = begin_of(s, s->hypotheses[h].node) - node->begin;
        isotok__push(tokens, node->slot, length);
    }
}
