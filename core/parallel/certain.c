/* Unigram: segments text without knowing the score carried to it, and says for which scores
 * that is the segmentation of the whole text. See part.h and docs/decisions/0005.
 *
 * ALGORITHM   Chunks that the session's cache knows come with their certificate (certify.h). All
 *             other text goes through a Viterbi search in float64 that keeps the runner-up of
 *             every node. It begins anew at each joint: a position that no candidate spans,
 *             which the search itself notices. Between two joints the path is certain where
 *             each of its nodes is ahead of its runner-up by more than float32 sums may err,
 *             and no re-centring can fall: the bounds of certify.c, the first of them only.
 * COMPLEXITY  O(characters x longest piece).
 * INVARIANTS  K characters with |weights| <= A between two joints, K (A + 0.01) < 30,000: float64
 *             sums err by less than K * 3.4e-12 each. */
#include <stdlib.h>

#include "certify.h"
#include "chunk.h"
#include "part.h"
#include "trie.h"
#include "utf8.h"

/* The tests make these wrong, to see that they would notice. */
#ifndef ISOTOK__CERTAIN_ERROR
#define ISOTOK__CERTAIN_ERROR (1.0 / 256) /* of one addition while |score| < 2^17 */
#endif
#ifndef ISOTOK__CERTAIN_FARTHEST
#define ISOTOK__CERTAIN_FARTHEST 99999.0 /* a re-centring falls behind 100,000 */
#endif
#ifndef ISOTOK__CERTAIN_MOVES
#define ISOTOK__CERTAIN_MOVES 1.0 /* how far a block's tokens move the score, in their weights */
#endif

struct search {
    const isotok_model *model;
    struct isotok__cache *cache; /* NULL: none */
    struct isotok_part *part;
    const uint8_t *text;
    uint32_t size;
    double *best, *second; /* [size + 1] since the last joint, by position */
    uint32_t *back;        /* token: slot << 8 | length */
    uint32_t *path;        /* tokens of a stretch, last one first */
    uint32_t probes, hits; /* of the running period … */
    uint32_t bypass;       /* … and bytes still to go without look-ups */
};

/* Tokens of a cache entry. */
#define TOKENS (ISOTOK__CACHE_TOKENS / 2)
/* Where fewer than half of a period's chunks are known, the next bytes go without. */
#define PERIOD 256u
#define BYPASS 8192u

/* Scores up to which the stretches of a block hold differ by no more than this. */
#define SAME_RANGE 1000.0

/* The text since the last joint. */
struct stretch {
    uint32_t begin, frontier, characters;
    double largest, farthest; /* |weight|, |sum in front of a character| */
};

static const double lowest = -1e300;

static double magnitude(double x)
{
    return x < 0 ? -x : x;
}

static float as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float toward_zero(double x)
{
    float result = (float)x;
    uint32_t bits;
    if (x <= 0 || (double)result <= x) return result;
    memcpy(&bits, &result, sizeof bits);
    return as_float(bits - 1);
}

/* ---- Blocks -------------------------------------------------------------------------- */

static bool make_room(struct isotok_part *part, uint32_t size)
{
    void *ids = isotok__part_grow(part->ids, &part->ids_capacity,
                                  part->ids_count + 3 * (size_t)size + TOKENS, sizeof *part->ids);
    void *weights = isotok__part_grow(part->weights, &part->weights_capacity,
                                      part->weights_count + size + TOKENS, sizeof *part->weights);
    void *blocks = isotok__part_grow(part->blocks, &part->blocks_capacity,
                                     part->blocks_count + size, sizeof *part->blocks);
    void *text = isotok__part_grow(part->text, &part->text_capacity,
                                   part->text_size + size + ISOTOK__PART_PADDING, 1);
    if (ids != NULL) part->ids = (uint32_t *)ids;
    if (weights != NULL) part->weights = (float *)weights;
    if (blocks != NULL) part->blocks = (struct isotok__block *)blocks;
    if (text != NULL) part->text = (uint8_t *)text;
    return ids != NULL && weights != NULL && blocks != NULL && text != NULL;
}

/* The last block gets its valid_to. */
static void close_block(struct isotok_part *part)
{
    if (!part->block_open) return;
    part->blocks[part->blocks_count - 1].valid_to =
        part->valid_to >= 0 ? toward_zero(part->valid_to) : -1.0f;
    part->block_open = false;
}

/* Makes the last block one for a stretch of `tokens` tokens that holds up to a score. Until
 * there the score may have moved by the weights of the block so far, and their rounding. What holds
 * much less far than the rest gets a block of its own. */
ISOTOK_INLINE struct isotok__block *block_for(struct isotok_part *part, uint32_t tokens,
                                              double valid_to)
{
    struct isotok__block *block = part->blocks + part->blocks_count;
    const double moved = valid_to - part->drift;
    if (ISOTOK_LIKELY(part->block_open && moved >= 0) &&
        magnitude(moved - part->valid_to) <= SAME_RANGE &&
        block[-1].tokens + tokens <= ISOTOK__BLOCK_TOKENS) {
        if (moved < part->valid_to) part->valid_to = moved;
        return block - 1;
    }
    close_block(part);
    memset(block, 0, sizeof *block);
    part->blocks_count++;
    part->block_open = true;
    part->valid_to = valid_to;
    part->drift = 0;
    return block;
}

/* Ids are looked up later, all at once, when their memory is not waited for: until then
 * part->ids has the tokens' slots, and where an id is known that with this bit. */
#define IS_ID 0x80000000u

/* Unknowns fuse inside a block only: the others are joined later. */
static ISOTOK_NOINLINE void add_unknown(struct search *s, struct isotok__block *block,
                                        uint32_t position, uint32_t size)
{
    struct isotok_part *part = s->part;
    uint32_t *out = part->ids + part->ids_count;
    size_t count = 0, i;
    isotok__part_emit(s->model, s->text + position, ISOTOK_UNK_SLOT, size, out, &count);
    if (s->model->blob.byte_ids == NULL && block->ids != 0 && out[-1] == (out[0] | IS_ID)) return;
    for (i = 0; i < count; i++) out[i] |= IS_ID;
    part->ids_count += count;
    block->ids += (uint32_t)count;
}

ISOTOK_INLINE void add_token(struct search *s, struct isotok__block *block, uint32_t position,
                             uint32_t token, float weight)
{
    struct isotok_part *part = s->part;
    if (ISOTOK_LIKELY(token >> 8 != ISOTOK_UNK_SLOT)) {
        part->ids[part->ids_count++] = token >> 8;
        block->ids++;
    } else {
        add_unknown(s, block, position, token & 0xFFu);
    }
    part->weights[part->weights_count++] = weight;
    part->drift += ISOTOK__CERTAIN_MOVES * (magnitude((double)weight) + 0.01);
    block->tokens++;
    block->size += token & 0xFFu;
}

/* Makes ids of the slots from part->ids[first] on. */
static void look_up_ids(const isotok_model *model, struct isotok_part *part, size_t first)
{
    const uint32_t *trie_ids = model->blob.trie_ids;
    size_t i;
    for (i = first; i < part->ids_count; i++) {
        const uint32_t value = part->ids[i];
        part->ids[i] = value & IS_ID ? value & ~IS_ID : trie_ids[value];
    }
}

/* ---- The search ---------------------------------------------------------------------- */

ISOTOK_INLINE void offer(const struct search *s, struct stretch *t, uint32_t start, uint32_t end,
                         float weight, uint32_t slot)
{
    const double candidate = s->best[start] + (double)weight;
    if (magnitude((double)weight) > t->largest) t->largest = magnitude((double)weight);
    while (t->frontier < end) {
        t->frontier++;
        s->best[t->frontier] = s->second[t->frontier] = lowest;
    }
    if (candidate > s->best[end]) {
        s->second[end] = s->best[end];
        s->best[end] = candidate;
        s->back[end] = slot << 8 | (end - start);
    } else if (candidate > s->second[end]) {
        s->second[end] = candidate;
    }
}

/* Candidates that begin at `start`, a character of `character` bytes. */
ISOTOK_INLINE void offer_all(const struct search *s, struct stretch *t, uint32_t start,
                             uint32_t character)
{
    const struct isotok__trie_node *trie = s->model->blob.trie;
    const uint32_t longest = s->model->blob.max_piece_bytes;
    const uint32_t most = longest < character ? character : longest;
    const uint32_t limit = s->size - start < most ? s->size : start + most;
    const uint8_t *text = s->text;
    bool single = false;
    uint32_t slot = 0, k;
    for (k = start; k < limit;) {
        slot = isotok__trie_step(trie, slot, text[k++]);
        if (slot == ISOTOK_NO_SLOT) break;
        /* a piece that ends inside a character is on no path */
        if (trie[slot].value == ISOTOK_VALUE_NONE_SCORE || k - start < character) continue;
        single |= k - start == character;
        offer(s, t, start, k, as_float(trie[slot].value), slot);
    }
    if (!single) offer(s, t, start, start + character, s->model->blob.unk_score, ISOTOK_UNK_SLOT);
}

static float weight_of(const isotok_model *model, uint32_t slot)
{
    return slot == ISOTOK_UNK_SLOT ? model->blob.unk_score : as_float(model->blob.trie[slot].value);
}

/* The largest |score| in front of a stretch for which its best path, which leads its
 * runners-up by `gap` or more, is certain; negative: none. */
ISOTOK_INLINE double certain_to(const struct stretch *t, double gap)
{
    const double k = (double)t->characters;
    const double limit = ISOTOK__CERTAIN_FARTHEST - t->farthest - 0.01 * k;
    if (k * (t->largest + 0.01) >= 30000 || limit < 0) return -1;
    return gap > (k + 1) * ISOTOK__CERTAIN_ERROR + 1e-9 + k * 1e-11 ? limit : -1;
}

/* A stretch ends at `end`, a joint: its tokens go to a block. */
static ISOTOK_NOINLINE void close_stretch(struct search *s, struct stretch t, uint32_t end)
{
    uint32_t position = end, count = 0;
    struct isotok__block *block;
    double gap = 1e300;
    while (position > t.begin) {
        const double lead = s->best[position] - s->second[position];
        if (lead < gap) gap = lead;
        s->path[count++] = s->back[position];
        position -= s->back[position] & 0xFFu;
    }
    block = block_for(s->part, count, certain_to(&t, gap));
    while (count > 0) {
        const uint32_t token = s->path[--count];
        add_token(s, block, position, token, weight_of(s->model, token >> 8));
        position += token & 0xFFu;
    }
}

/* The same for one character, which has one path. */
ISOTOK_INLINE void close_single(struct search *s, const struct stretch *t, uint32_t end)
{
    struct isotok__block *block = block_for(s->part, 1, certain_to(t, 1e300));
    add_token(s, block, t->begin, s->back[end], weight_of(s->model, s->back[end] >> 8));
}

ISOTOK_INLINE struct stretch begin_stretch(uint32_t p)
{
    const struct stretch t = {p, p, 0, 0, 0};
    return t;
}

/* Segments from text[p], a joint, to a joint at `end` or behind it. */
static ISOTOK_NOINLINE uint32_t search_to(struct search *s, uint32_t p, uint32_t end)
{
    struct stretch t = begin_stretch(p);
    s->best[p] = 0;
    while (p < s->size) {
        const uint32_t character = isotok__char_size(s->text + p, s->size - p);
        if (magnitude(s->best[p]) > t.farthest) t.farthest = magnitude(s->best[p]);
        t.characters++;
        offer_all(s, &t, p, character);
        p += character;
        if (t.frontier != p) continue;
        if (t.characters == 1)
            close_single(s, &t, p);
        else
            close_stretch(s, t, p);
        if (p >= end) break;
        t = begin_stretch(p);
        s->best[p] = 0;
    }
    return p;
}

/* ---- The cache ----------------------------------------------------------------------- */

/* An entry's tokens; there is room for as many as an entry can have. */
ISOTOK_INLINE void take(struct search *s, uint32_t position,
                        const struct isotok__cache_entry *entry)
{
    struct isotok_part *part = s->part;
    struct isotok__block *block = block_for(part, entry->count, (double)entry->valid_to);
    uint32_t *ids = part->ids + part->ids_count, i;
    float *weights = part->weights + part->weights_count;
    double moved = 0;
    bool known = true;
    memcpy(weights, entry->tokens + TOKENS, TOKENS * sizeof *weights);
    for (i = 0; i < TOKENS; i++) { /* behind the last one there are zeros */
        ids[i] = entry->tokens[i] >> 8;
        known &= ids[i] != ISOTOK_UNK_SLOT;
        moved += magnitude((double)weights[i]) + 0.01;
    }
    if (ISOTOK_UNLIKELY(!known)) {
        for (i = 0; i < entry->count; i++) {
            const uint32_t token = entry->tokens[i];
            add_token(s, block, position, token, as_float(entry->tokens[TOKENS + i]));
            position += token & 0xFFu;
        }
        return;
    }
    part->ids_count += entry->count;
    part->weights_count += entry->count;
    part->drift += ISOTOK__CERTAIN_MOVES * moved;
    block->ids += entry->count;
    block->tokens += entry->count;
    block->size += entry->size;
}

/* A chunk that the cache does not know. */
static ISOTOK_NOINLINE void miss(struct search *s, uint32_t p,
                                 const struct isotok__cache_query *query)
{
    struct isotok__cache_entry entry;
    if (!isotok__cache_missed_before(&query->set[0].missed, &query->set[1].missed,
                                     isotok__cache_tag(&query->key))) {
        search_to(s, p, p + query->size);
        return;
    }
    memset(&entry, 0, sizeof entry);
    isotok__certify(s->model, s->text + p, query->size, &entry);
    entry.key = query->key;
    entry.size = (uint8_t)query->size;
    isotok__cache_put(query->set, &entry);
    if (entry.count != 0)
        take(s, p, &entry);
    else
        search_to(s, p, p + query->size);
}

ISOTOK_INLINE void look_up(struct search *s, uint32_t p, const struct isotok__cache_query *query)
{
    const struct isotok__cache_entry *entry =
        isotok__cache_find(query->set, &query->key, query->size, false);
    const bool answers = entry != NULL && entry->valid_to >= 0;
    s->hits += answers;
    if (ISOTOK_LIKELY(answers))
        take(s, p, entry);
    else if (entry == NULL)
        miss(s, p, query);
    else
        search_to(s, p, p + query->size);
    if (ISOTOK_UNLIKELY(++s->probes == PERIOD)) {
        if (s->hits < PERIOD / 2) s->bypass = BYPASS;
        s->probes = s->hits = 0;
    }
}

/* Scripts whose chunks hardly repeat are not looked up; a space in front does not count. */
static bool is_wide(const isotok_model *model, const uint8_t *text)
{
    if (model->space_size == 1) return text[text[0] == 0x20] >= 0xE0;
    return text[memcmp(text, "\xE2\x96\x81", 3) == 0 ? 3 : 0] >= 0xE0;
}

/* Text that is not looked up: its end. */
static ISOTOK_NOINLINE uint32_t pass(struct search *s, uint32_t p)
{
    uint32_t end = p + 1;
    if (s->bypass != 0) {
        end = p + (uint32_t)isotok__min(s->bypass, s->size - p);
        s->bypass = 0;
    } else if (is_wide(s->model, s->text + p)) {
        while (end < s->size && s->text[end] >= 0x80) end++;
    } else { /* a long chunk */
        end = p + isotok__first_chunk(s->model, s->text + p, s->size - p);
    }
    return search_to(s, p, end);
}

static void segment(struct search *s)
{
    struct isotok__cache_query queries[ISOTOK__CACHE_BATCH];
    uint32_t p = 0, count, i;
    if (s->cache == NULL) {
        search_to(s, 0, s->size);
        return;
    }
    while (p < s->size) {
        count = 0;
        if (s->bypass == 0 && !is_wide(s->model, s->text + p))
            count = isotok__first_queries(s->model, s->cache, s->text + p, s->size - p, queries);
        if (count == 0) p = pass(s, p);
        for (i = 0; i < count; i++) {
            look_up(s, p, &queries[i]);
            p += queries[i].size;
        }
    }
}

isotok_status isotok__certain(isotok_session *session, struct isotok_part *part,
                              const uint8_t *text, uint32_t size)
{
    struct search s;
    size_t first_id;
    memset(&s, 0, sizeof s);
    s.model = session->model;
    s.cache = session->cache.count != 0 ? &session->cache : NULL; /* a memo does not change */
    s.part = part;
    s.text = text;
    s.size = size;
    s.back = session->unigram.back;
    s.path = session->tokens_memory;
    if (!make_room(part, size)) return ISOTOK_E_TOO_LARGE;
    s.best = (double *)malloc(2 * ((size_t)size + 1) * sizeof(double));
    if (s.best == NULL) return ISOTOK_E_TOO_LARGE;
    s.second = s.best + size + 1;
    first_id = part->ids_count;
    segment(&s);
    look_up_ids(session->model, part, first_id);
    close_block(part); /* ids of a later text are not looked up yet when this one's are */
    free(s.best);
    memcpy(part->text + part->text_size, text, size);
    part->text_size += size;
    return ISOTOK_OK;
}
