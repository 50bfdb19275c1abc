/* Greedy segmentation in C: isotok beside the layout that Tenya's authors describe, a vector of nodes,
 * each with a vector of its children, sorted by byte and searched in halves, that reports every
 * prefix to the rule which chooses. Both get the same normalized text.
 *
 *     tenya BLOB TEXTS ROUNDS CACHE_BYTES
 *
 * BLOB is a model by longest match or priority; TEXTS are documents of normalized text, each followed
 * by a NUL. Prints, for each round, the seconds of both, and of the peer where text and pieces have
 * spaces of one byte in place of U+2581, as isotok has them inside; then tokens, bytes, and whether
 * the ids are the same. Of a run of unknown characters isotok gives one id where the other gives its
 * bytes. */
#define _POSIX_C_SOURCE 199309L
#include <stdbool.h>
#include <time.h>

#include "../examples/c/example.h"

#define MOST_BYTES (1u << 20) /* of a document */

/* ---- The peer ------------------------------------------------------------------------ */

typedef struct child {
    uint8_t byte;
    uint32_t node;
} child;

typedef struct node {
    uint32_t has_token, token;
    double priority;
    child *children;
    size_t count, capacity;
} node;

typedef struct peer {
    node *nodes;
    size_t count, capacity;
    uint32_t bytes; /* the id of byte 0 */
    bool by_priority;
} peer;

static void *grown(void *memory, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity) return memory;
    *capacity = 2 * *capacity > 4 ? 2 * *capacity : 4;
    memory = realloc(memory, *capacity * size);
    if (memory == NULL) exit(1);
    return memory;
}

static uint32_t new_node(peer *p)
{
    p->nodes = grown(p->nodes, &p->capacity, p->count + 1, sizeof *p->nodes);
    p->nodes[p->count] = (node){0};
    return (uint32_t)p->count++;
}

/* Where the child of this byte is, or belongs. */
static inline size_t search(const node *n, uint8_t byte)
{
    size_t low = 0, high = n->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (n->children[middle].byte < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static uint32_t child_made(peer *p, uint32_t parent, uint8_t byte)
{
    const size_t at = search(&p->nodes[parent], byte);
    if (at < p->nodes[parent].count && p->nodes[parent].children[at].byte == byte)
        return p->nodes[parent].children[at].node;
    const uint32_t made = new_node(p);
    node *n = &p->nodes[parent];
    n->children = grown(n->children, &n->capacity, n->count + 1, sizeof *n->children);
    memmove(n->children + at + 1, n->children + at, (n->count - at) * sizeof *n->children);
    n->children[at] = (child){byte, made};
    n->count++;
    return made;
}

/* Copies text, each U+2581 as one byte; the size. */
static size_t shorten(const uint8_t *text, size_t size, uint8_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        const bool space = size - i >= 3 && memcmp(text + i, "\xE2\x96\x81", 3) == 0;
        out[n++] = space ? 0x20 : text[i];
        i += space ? 2 : 0;
    }
    return n;
}

static void peer_make(peer *p, const isotok_model *model, const isotok_info *info, bool short_spaces)
{
    const uint32_t vocab_size = info->vocab_size;
    uint8_t *text = malloc(info->max_piece_bytes * (size_t)3 + 1);
    if (text == NULL) exit(1);
    *p = (peer){.bytes = vocab_size, .by_priority = info->algorithm == ISOTOK_PRIORITY};
    new_node(p);
    for (uint32_t id = 0; id < vocab_size; id++) {
        isotok_piece piece;
        uint32_t at = 0;
        if (isotok_piece_get(model, id, &piece) != ISOTOK_OK) exit(1);
        if (piece.type != ISOTOK_NORMAL && piece.type != ISOTOK_USER_DEFINED) continue;
        size_t size = piece.size;
        if (short_spaces)
            size = shorten(piece.text, size, text);
        else
            memcpy(text, piece.text, size);
        for (size_t i = 0; i < size; i++) at = child_made(p, at, text[i]);
        p->nodes[at].has_token = 1;
        p->nodes[at].token = id;
        p->nodes[at].priority = (double)piece.score;
    }
    free(text);
}

typedef struct match {
    uint32_t found, token;
    size_t size;
    double priority;
} match;

/* All prefixes of text[0..size) that are pieces go through the rule. */
static inline match best_prefix(const peer *p, const uint8_t *text, size_t size, bool by_priority)
{
    match best = {0};
    uint32_t at = 0;
    for (size_t i = 0; i < size; i++) {
        const node *n = &p->nodes[at];
        const size_t place = search(n, text[i]);
        if (place == n->count || n->children[place].byte != text[i]) break;
        at = n->children[place].node;
        n = &p->nodes[at];
        if (!n->has_token) continue;
        if (!best.found || (by_priority ? n->priority > best.priority ||
                                              (n->priority == best.priority && i + 1 > best.size)
                                        : i + 1 > best.size))
            best = (match){1, n->token, i + 1, n->priority};
    }
    return best;
}

static inline size_t peer_encode_by(const peer *p, const uint8_t *text, size_t size, uint32_t *ids,
                                    bool by_priority)
{
    size_t at = 0, count = 0;
    while (at < size) {
        const match best = best_prefix(p, text + at, size - at, by_priority);
        ids[count++] = best.found ? best.token : p->bytes + text[at];
        at += best.found ? best.size : 1;
    }
    return count;
}

static size_t peer_encode(const peer *p, const uint8_t *text, size_t size, uint32_t *ids)
{
    return p->by_priority ? peer_encode_by(p, text, size, ids, true)
                          : peer_encode_by(p, text, size, ids, false);
}

/* ---- isotok -------------------------------------------------------------------------- */

static size_t encode_normalized(tokenizer *t, const uint8_t *text, size_t size)
{
    const isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_NORMALIZED};
    isotok_error error = {.size = sizeof error};
    isotok_input input = {.text = text, .size = size, .part = ISOTOK_PART_LAST};
    isotok_status status;
    t->count = 0;
    check(isotok_encode_begin(t->session, &options, &error), &error);
    do {
        isotok_output output = {.ids = t->ids + t->count, .capacity = t->capacity - t->count};
        status = isotok_encode_step(t->session, &input, &output, &error);
        check(status, &error);
        t->count += output.count;
        if (status == ISOTOK_NEED_OUTPUT) grow_ids(t);
        if (status == ISOTOK_NEED_SCRATCH) grow_session(t, &error);
    } while (status != ISOTOK_OK);
    return t->count;
}

/* ---- Both ---------------------------------------------------------------------------- */

typedef struct texts {
    const uint8_t *data;
    size_t size;
} texts;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The next document: its size. */
static size_t next(const texts *all, size_t at)
{
    return (size_t)((const uint8_t *)memchr(all->data + at, 0, all->size - at) - all->data) - at;
}

static double time_isotok(const texts *all, tokenizer *t, size_t *out_tokens)
{
    const double start = now();
    *out_tokens = 0;
    for (size_t at = 0, size; at < all->size; at += size + 1) {
        size = next(all, at);
        *out_tokens += encode_normalized(t, all->data + at, size);
    }
    return now() - start;
}

static double time_peer(const texts *all, const peer *p, uint32_t *ids)
{
    const double start = now();
    for (size_t at = 0, size; at < all->size; at += size + 1) {
        size = next(all, at);
        peer_encode(p, all->data + at, size, ids);
    }
    return now() - start;
}

/* Makes each run of bytes the unknown token. */
static size_t merge_bytes(uint32_t *ids, size_t count, uint32_t bytes, uint32_t unknown)
{
    size_t n = 0;
    bool in_run = false;
    for (size_t i = 0; i < count; i++) {
        const bool is_byte = ids[i] >= bytes;
        if (!is_byte || !in_run) ids[n++] = is_byte ? unknown : ids[i];
        in_run = is_byte;
    }
    return n;
}

static bool is_same(const texts *all, tokenizer *t, const peer *p, uint32_t *ids, uint32_t unknown)
{
    for (size_t at = 0, size; at < all->size; at += size + 1) {
        size = next(all, at);
        size_t count = peer_encode(p, all->data + at, size, ids);
        uint32_t *copy = malloc((count + 1) * sizeof *copy);
        if (copy == NULL) exit(1);
        memcpy(copy, ids, count * sizeof *copy);
        count = merge_bytes(copy, count, p->bytes, unknown);
        const bool same = encode_normalized(t, all->data + at, size) == count &&
                          memcmp(t->ids, copy, count * sizeof *copy) == 0;
        free(copy);
        if (!same) return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: tenya BLOB TEXTS ROUNDS CACHE_BYTES\n");
        return 2;
    }
    size_t blob_size, tokens = 0;
    texts all;
    void *blob = read_file(argv[1], &blob_size);
    all.data = read_file(argv[2], &all.size);
    const isotok_model *model = open_model(blob, blob_size);
    isotok_info info = {.size = sizeof info};
    isotok_error error = {.size = sizeof error};
    check(isotok_model_info(model, &info), &error);
    tokenizer t;
    tokenizer_open(&t, model);
    const size_t cache_size = strtoul(argv[4], NULL, 10);
    void *cache = memset(aligned_memory(cache_size), 0, cache_size);
    if (cache_size != 0) check(isotok_session_cache(t.session, cache, cache_size, &error), &error);
    peer p, short_spaces;
    peer_make(&p, model, &info, false);
    peer_make(&short_spaces, model, &info, true);
    uint8_t *shortened = aligned_memory(all.size);
    const texts short_texts = {shortened, shorten(all.data, all.size, shortened)};
    uint32_t *ids = malloc(MOST_BYTES * sizeof *ids);
    if (ids == NULL) return 1;
    const bool same = is_same(&all, &t, &p, ids, info.unk);
    for (long round = strtol(argv[3], NULL, 10); round > 0; round--) {
        const double ours = time_isotok(&all, &t, &tokens), theirs = time_peer(&all, &p, ids);
        printf("%.9f %.9f %.9f\n", ours, theirs, time_peer(&short_texts, &short_spaces, ids));
    }
    printf("%zu %zu %s\n", tokens, all.size, same ? "same" : "different");
    return !same;
}
