/* What bpe merges do to the pieces themselves. See plan.h and FORMAT.md sections 3-4.
 *
 * DIRECT     A piece whose own merges rebuild it, run on its text alone, is one token
 *            wherever it is a whole chunk. Decided by running them: symbols (user-defined
 *            pieces, frozen, or characters), then the best pair, leftmost first. Only
 *            pieces of at most 64 bytes are tried, by linear scan; a longer one is never
 *            marked, which costs time at run time and no ids.
 * UNUSED     Such a piece may arise and is split back into the two symbols it came from:
 *            if two splits are possible, the last one made in the whole text counts. */
#include "plan.h"

#include "isotok_build.h"
#include "text.h"

enum { MAX_DIRECT = 64 }; /* bytes of internal text */
enum { MAX_SPLIT = 64 };  /* longer UNUSED pieces count as ambiguous */
#define FROZEN ISOTOK__NO_INDEX
#define NO_RANK ISOTOK__NO_INDEX

typedef struct merger {
    const isotok__spec *spec;
    const isotok__plan *plan;
    const uint8_t *text;              /* the piece */
    uint32_t count;                   /* symbols */
    uint32_t latest;                  /* highest rank that was merged, plus 1 */
    uint32_t node[MAX_DIRECT + 1];    /* slot of the symbol, NO_SLOT or FROZEN */
    uint32_t rank[MAX_DIRECT + 1];    /* of the pair (i, i + 1) */
    uint8_t position[MAX_DIRECT + 2]; /* of the symbols, then the end */
    uint32_t prefix;                  /* bytes in front of pieces behind the first symbol */
    bool suffix;                      /* pieces may end with ISOTOK__END_MARK */
    bool has_user[256];               /* first bytes of user-defined pieces */
} merger;

/* ---- Direct ---------------------------------------------------------------------- */

static void find_user_bytes(merger *m)
{
    const isotok__plan *plan = m->plan;
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        if (m->spec->types[plan->key_ids[i]] == ISOTOK_USER_DEFINED) {
            m->has_user[plan->keys.text[isotok__key_begin(&plan->keys, i)]] = true;
        }
    }
}

/* Bytes of the longest user-defined piece at text[0..rest), 0 = none. */
static uint32_t user_match(const merger *m, const uint8_t *text, uint32_t rest)
{
    const isotok__plan *plan = m->plan;
    uint32_t slot = 0;
    uint32_t best = 0;
    if (!m->has_user[text[0]]) {
        return 0;
    }
    for (uint32_t i = 0; i < rest; i++) {
        slot = isotok__trie_step(plan->trie.nodes, slot, text[i]);
        if (slot == ISOTOK_NO_SLOT) {
            break;
        }
        uint32_t id = plan->trie_ids[slot];
        if (id != ISOTOK_NO_TOKEN && m->spec->types[id] == ISOTOK_USER_DEFINED) {
            best = i + 1;
        }
    }
    return best;
}

static void split(merger *m, uint32_t size)
{
    uint32_t at = 0;
    m->count = 0;
    while (at < size) {
        uint32_t length = user_match(m, m->text + at, size - at);
        uint32_t node = FROZEN;
        if (length == 0) {
            length = m->spec->byte_level ? 1 : isotok__char_size(m->text + at, size - at);
            if (m->suffix && at + length + 1 == size && m->text[at + length] == ISOTOK__END_MARK) {
                length++;
            }
            node = isotok__trie_walk(m->plan->trie.nodes, at != 0 ? m->plan->continuation : 0,
                                     m->text + at, length);
        }
        m->node[m->count] = node;
        m->position[m->count++] = (uint8_t)at;
        at += length;
    }
    m->position[m->count] = (uint8_t)size;
}

static void rank_pair(merger *m, uint32_t i)
{
    uint32_t slot = m->node[i];
    uint32_t begin = m->position[i + 1];
    m->rank[i] = NO_RANK;
    if (slot == FROZEN || slot == ISOTOK_NO_SLOT || m->node[i + 1] == FROZEN) {
        return;
    }
    slot = isotok__trie_walk(m->plan->trie.nodes, slot, m->text + begin,
                             (size_t)m->position[i + 2] - begin);
    if (slot != ISOTOK_NO_SLOT && m->plan->trie.nodes[slot].value != ISOTOK_VALUE_NONE) {
        uint32_t value = m->plan->trie.nodes[slot].value & ~ISOTOK__NOT_DIRECT_BIT;
        uint32_t left = begin - m->position[i] + (m->position[i] != 0 ? m->prefix : 0);
        m->rank[i] =
            m->plan->splits != NULL ? isotok__split_rank(m->plan->splits, value, left) : value;
    }
}

/* Merges symbols i and i + 1. */
static void merge(merger *m, uint32_t i)
{
    uint32_t begin = m->position[i + 1];
    m->node[i] = isotok__trie_walk(m->plan->trie.nodes, m->node[i], m->text + begin,
                                   (size_t)m->position[i + 2] - begin);
    m->count--;
    for (uint32_t k = i + 1; k < m->count; k++) {
        m->node[k] = m->node[k + 1];
        m->rank[k - 1] = m->rank[k];
        m->position[k] = m->position[k + 1];
    }
    m->position[m->count] = m->position[m->count + 1];
    if (i > 0) {
        rank_pair(m, i - 1);
    }
    if (i + 1 < m->count) {
        rank_pair(m, i);
    }
}

/* Whether the merges of text[0..size) end in one symbol. */
static bool merges_to_one(merger *m, const uint8_t *text, uint32_t size)
{
    m->text = text;
    m->latest = 0;
    split(m, size);
    for (uint32_t i = 0; i + 1 < m->count; i++) {
        rank_pair(m, i);
    }
    while (m->count > 1) {
        uint32_t best = 0;
        for (uint32_t i = 1; i + 1 < m->count; i++) {
            best = m->rank[i] < m->rank[best] ? i : best;
        }
        if (m->rank[best] == NO_RANK) {
            return false;
        }
        m->latest = m->rank[best] + 1 > m->latest ? m->rank[best] + 1 : m->latest;
        merge(m, best);
    }
    return true;
}

/* Bit 31 of every value that is not direct. */
static void mark_direct(merger *m, isotok__plan *plan)
{
    for (uint32_t slot = 0; slot < plan->trie.slots; slot++) {
        if (plan->trie_ids[slot] != ISOTOK_NO_TOKEN) {
            plan->trie.nodes[slot].value |= ISOTOK__NOT_DIRECT_BIT;
        }
    }
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        const uint8_t *text = plan->keys.text + isotok__key_begin(&plan->keys, i);
        uint32_t size = plan->keys.ends[i] - isotok__key_begin(&plan->keys, i);
        if (size <= MAX_DIRECT && m->spec->types[plan->key_ids[i]] != ISOTOK_UNUSED &&
            merges_to_one(m, text, size)) {
            uint32_t slot = isotok__trie_walk(plan->trie.nodes, 0, text, size);
            plan->trie.nodes[slot].value &= ~ISOTOK__NOT_DIRECT_BIT;
        }
    }
}

/* ---- UNUSED pieces --------------------------------------------------------------- */

static bool is_piece(const isotok__plan *plan, uint32_t slot)
{
    return slot != ISOTOK_NO_SLOT && plan->trie_ids[slot] != ISOTOK_NO_TOKEN;
}

/* In how many ways two symbols (each a character or a piece) can make the text; 2 stands
 * for more. */
static unsigned count_splits(const isotok__plan *plan, const uint8_t *text, size_t size)
{
    unsigned found = 0;
    uint32_t slot = 0;
    size_t first = isotok__char_size(text, size);
    for (size_t at = 0, length; at + (length = isotok__char_size(text + at, size - at)) < size;) {
        slot = isotok__trie_walk(plan->trie.nodes, slot, text + at, length);
        at += length;
        bool left = at == first || is_piece(plan, slot);
        bool right = isotok__char_size(text + at, size - at) == size - at ||
                     is_piece(plan, isotok__trie_walk(plan->trie.nodes, 0, text + at, size - at));
        found += left && right;
        if (found == 2) {
            break;
        }
    }
    return found;
}

/* unused_merges: an UNUSED piece can be a symbol. whole_text: how it came about can
 * depend on the rest of the text. */
static void classify_unused(const isotok__spec *spec, isotok__plan *plan)
{
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        const uint8_t *text = plan->keys.text + isotok__key_begin(&plan->keys, i);
        size_t size = plan->keys.ends[i] - isotok__key_begin(&plan->keys, i);
        if (spec->types[plan->key_ids[i]] == ISOTOK_UNUSED) {
            unsigned splits = size > MAX_SPLIT ? 2 : count_splits(plan, text, size);
            if (splits > 0 || isotok__char_size(text, size) == size) {
                plan->features |= ISOTOK__FEATURE_BIT(UNUSED_MERGES);
            }
            if (splits > 1) {
                plan->features |= ISOTOK__FEATURE_BIT(WHOLE_TEXT);
            }
        }
    }
}

/* The characters of a byte-level model that their own merges make: the highest rank of these plus
 * 1, by slot; of others a rank behind all. */
static isotok_status plan_characters(isotok__work *work, merger *m, isotok__plan *plan)
{
    uint32_t *latest = ISOTOK__TEMP(work, uint32_t, plan->trie.slots);
    if (latest == NULL) {
        return work->error.status;
    }
    for (uint32_t slot = 0; slot < plan->trie.slots; slot++) {
        latest[slot] = NO_RANK;
    }
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        const uint8_t *text = plan->keys.text + isotok__key_begin(&plan->keys, i);
        uint32_t size = plan->keys.ends[i] - isotok__key_begin(&plan->keys, i);
        if (size == 1 || isotok__char_size(text, size) != size) {
            continue;
        }
        uint32_t slot = isotok__trie_walk(plan->trie.nodes, 0, text, size);
        if (merges_to_one(m, text, size)) {
            latest[slot] = m->latest;
        }
    }
    return isotok__plan_characters(work, plan, latest);
}

isotok_status isotok__plan_merges(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    size_t mark = isotok__temp_begin(work);
    merger *m = ISOTOK__TEMP(work, merger, 1);
    if (m == NULL) {
        return work->error.status;
    }
    memset(m, 0, sizeof *m);
    m->spec = spec;
    m->plan = plan;
    m->prefix = (uint32_t)isotok__affix_prefix(spec).size;
    m->suffix = isotok__affix_suffix(spec).size != 0;
    find_user_bytes(m);
    classify_unused(spec, plan);
    mark_direct(m, plan);
    /* parts of a pre-token and characters that begin as a symbol would not know of its end */
    bool characters = spec->byte_level && isotok__affixes(spec) == 0;
    isotok_status status = characters ? plan_characters(work, m, plan) : ISOTOK_OK;
    isotok__temp_end(work, mark);
    return status;
}
