/* Double array of 8-byte nodes: see double_array.h. */
#include "double_array.h"

enum { TRIES = 20 };          /* blocks looked at for one node */
enum { FAILS = 12 };          /* failures until a block serves smaller nodes only */
enum { MAX_BLOCKS = 0xFFFF }; /* so that no slot number is 0xFFFFxx */
enum { LIST_OPEN = 0, LIST_HOLES = 1, LISTS = 2, LIST_NONE = 2 };

typedef struct block {
    uint64_t free[4];        /* bit s: slot s of the block is free */
    uint64_t used[4];        /* bit b: a node has the base b of the block */
    uint32_t previous, next; /* in its list, a ring */
    uint16_t free_count;
    uint8_t list;
    uint8_t fails;
} block;

/* A node whose children are still to be placed: keys [first, last) begin with its path. */
typedef struct item {
    uint32_t slot, first, last;
} item;

typedef struct builder {
    isotok__work *work;
    const isotok__keys *keys;
    isotok__node *nodes;
    block *blocks;
    uint32_t block_count, block_limit;
    uint32_t head[LISTS]; /* first block of each list, NO_INDEX = empty */
    item *next_items;     /* the next level's nodes */
    uint32_t next_count;
    bool near;
} builder;

/* ---- Lists of blocks ------------------------------------------------------------ */

static void list_add(builder *b, uint32_t index, uint8_t list)
{
    block *bl = &b->blocks[index];
    uint32_t head = b->head[list];
    bl->list = list;
    bl->fails = 0;
    if (head == ISOTOK__NO_INDEX) {
        b->head[list] = bl->next = bl->previous = index;
        return;
    }
    bl->next = head;
    bl->previous = b->blocks[head].previous;
    b->blocks[bl->previous].next = index;
    b->blocks[head].previous = index;
}

static void list_remove(builder *b, uint32_t index)
{
    block *bl = &b->blocks[index];
    if (bl->next == index) {
        b->head[bl->list] = ISOTOK__NO_INDEX;
    } else {
        b->blocks[bl->previous].next = bl->next;
        b->blocks[bl->next].previous = bl->previous;
        if (b->head[bl->list] == index) {
            b->head[bl->list] = bl->next;
        }
    }
    bl->list = LIST_NONE;
}

/* Appends an empty block. False: the error is set. */
static bool add_block(builder *b)
{
    uint32_t index = b->block_count;
    if (index >= MAX_BLOCKS) {
        isotok__build_fail(b->work, ISOTOK_E_TOO_LARGE, ISOTOK_WHAT_TRIE_LARGE, b->keys->count, 0);
        return false;
    }
    if (index >= b->block_limit) {
        isotok__need(b->work, 0);
        return false;
    }
    block *bl = &b->blocks[index];
    memset(bl->free, 0xFF, sizeof bl->free);
    memset(bl->used, 0, sizeof bl->used);
    bl->free_count = 256;
    b->block_count++;
    list_add(b, index, LIST_OPEN);
    return true;
}

/* ---- Bases ---------------------------------------------------------------------- */

/* Word w of `bits` permuted so that bit x is bit x ^ c of the original. */
static inline uint64_t permuted(const uint64_t bits[4], unsigned w, unsigned c)
{
    static const uint64_t low[6] = {0x5555555555555555u, 0x3333333333333333u, 0x0F0F0F0F0F0F0F0Fu,
                                    0x00FF00FF00FF00FFu, 0x0000FFFF0000FFFFu, 0x00000000FFFFFFFFu};
    uint64_t x = bits[w ^ (c >> 6)];
    for (unsigned k = 0; k < 6; k++) {
        unsigned shift = 1u << k;
        if (c & shift) {
            x = ((x >> shift) & low[k]) | ((x & low[k]) << shift);
        }
    }
    return x;
}

static unsigned lowest_bit(uint64_t x)
{
    return isotok__trailing_zeros(x);
}

/* A base of the block for these labels, or -1. */
static int base_in_block(const block *bl, const uint8_t *labels, unsigned count)
{
    for (unsigned w = 0; w < 4; w++) {
        uint64_t fits = ~bl->used[w];
        for (unsigned i = 0; i < count && fits != 0; i++) {
            fits &= permuted(bl->free, w, labels[i]);
        }
        if (fits != 0) {
            return (int)(w * 64 + lowest_bit(fits));
        }
    }
    return -1;
}

/* The same for one label, by going through the free slots. */
static int base_for_one(const block *bl, unsigned label)
{
    for (unsigned w = 0; w < 4; w++) {
        for (uint64_t slots = bl->free[w]; slots != 0; slots &= slots - 1) {
            unsigned base = (w * 64 + lowest_bit(slots)) ^ label;
            if (!(bl->used[base >> 6] >> (base & 63) & 1)) {
                return (int)base;
            }
        }
    }
    return -1;
}

/* Looks for a base in the first blocks of a list; blocks that often fail step down. */
static uint32_t base_in_list(builder *b, uint8_t list, const uint8_t *labels, unsigned count)
{
    uint32_t index = b->head[list];
    for (unsigned tries = 0; index != ISOTOK__NO_INDEX && tries < TRIES; tries++) {
        block *bl = &b->blocks[index];
        uint32_t next = bl->next;
        if (bl->free_count >= count) {
            int base = count == 1 ? base_for_one(bl, labels[0]) : base_in_block(bl, labels, count);
            if (base >= 0) {
                return index << 8 | (uint32_t)base;
            }
            if (++bl->fails >= FAILS) {
                list_remove(b, index);
                if (list == LIST_OPEN) {
                    list_add(b, index, LIST_HOLES);
                }
            }
        }
        if (next == b->head[list] || b->head[list] == ISOTOK__NO_INDEX) {
            break;
        }
        index = next;
    }
    return ISOTOK__NO_INDEX;
}

static bool base_fits(const block *bl, unsigned base, const uint8_t *labels, unsigned count)
{
    bool fits = !(bl->used[base >> 6] >> (base & 63) & 1);
    for (unsigned i = 0; i < count && fits; i++) {
        unsigned slot = base ^ labels[i];
        fits = bl->free[slot >> 6] >> (slot & 63) & 1;
    }
    return fits;
}

/* A base that is near wherever its block is: the same in the last eight bits. */
static uint32_t aligned_base(builder *b, uint32_t slot, const uint8_t *labels, unsigned count)
{
    uint32_t index = b->head[LIST_OPEN];
    for (unsigned tries = 0; index != ISOTOK__NO_INDEX && tries < TRIES; tries++) {
        if (base_fits(&b->blocks[index], slot & 255, labels, count)) {
            return index << 8 | (slot & 255);
        }
        index = b->blocks[index].next;
    }
    return add_block(b) ? (b->block_count - 1) << 8 | (slot & 255) : ISOTOK__NO_INDEX;
}

/* A base for a node with these labels; NO_INDEX with the error set. */
static uint32_t find_base(builder *b, uint32_t slot, const uint8_t *labels, unsigned count)
{
    uint32_t base = ISOTOK__NO_INDEX;
    if (count <= 2) {
        base = base_in_list(b, LIST_HOLES, labels, count);
    }
    if (base == ISOTOK__NO_INDEX) {
        base = base_in_list(b, LIST_OPEN, labels, count);
    }
    if (base == ISOTOK__NO_INDEX && add_block(b)) {
        base = (b->block_count - 1) << 8;
        base |= (uint32_t)base_in_block(&b->blocks[b->block_count - 1], labels, count);
    }
    if (b->near && base != ISOTOK__NO_INDEX && !isotok__is_near(slot, base)) {
        base = aligned_base(b, slot, labels, count);
    }
    return base;
}

static void take_slot(builder *b, uint32_t slot, uint32_t label)
{
    block *bl = &b->blocks[slot >> 8];
    bl->free[(slot & 255) >> 6] &= ~((uint64_t)1 << (slot & 63));
    if (--bl->free_count == 0 && bl->list != LIST_NONE) {
        list_remove(b, slot >> 8);
    }
    b->nodes[slot] = (isotok__node){label, ISOTOK__NO_INDEX};
}

/* Gives node `slot` a base and takes the children's slots. */
static uint32_t place_children(builder *b, uint32_t slot, const uint8_t *labels, unsigned count)
{
    uint32_t base = find_base(b, slot, labels, count);
    if (base == ISOTOK__NO_INDEX) {
        return base;
    }
    b->blocks[base >> 8].used[(base & 255) >> 6] |= (uint64_t)1 << (base & 63);
    b->nodes[slot].link |= base << 8;
    for (unsigned i = 0; i < count; i++) {
        take_slot(b, base ^ labels[i], labels[i]);
    }
    return base;
}

/* ---- Nodes ---------------------------------------------------------------------- */

/* The rest of key `key` from byte `depth` on, one node after the other. */
static bool place_tail(builder *b, uint32_t slot, uint32_t key, uint32_t depth)
{
    const uint8_t *text = b->keys->text + isotok__key_begin(b->keys, key);
    uint32_t size = b->keys->ends[key] - isotok__key_begin(b->keys, key);
    for (; depth < size; depth++) {
        uint32_t base = place_children(b, slot, text + depth, 1);
        if (base == ISOTOK__NO_INDEX) {
            return false;
        }
        slot = base ^ text[depth];
    }
    b->nodes[slot].value = key;
    return true;
}

/* Children of one node: their labels, and where each child's keys begin. */
typedef struct children {
    unsigned count;
    uint8_t labels[256];
    uint32_t first[257];
} children;

/* Groups the keys [first, last), all longer than `depth`, by their byte there. */
static void group(const isotok__keys *keys, uint32_t first, uint32_t last, uint32_t depth,
                  children *out)
{
    int label = -1;
    out->count = 0;
    for (uint32_t i = first; i < last; i++) {
        uint8_t c = keys->text[isotok__key_begin(keys, i) + depth];
        if (c != label) {
            label = c;
            out->labels[out->count] = c;
            out->first[out->count++] = i;
        }
    }
    out->first[out->count] = last;
}

/* Places the children of one node and queues those that have several keys. */
static bool expand(builder *b, const item *node, uint32_t depth, children *kids)
{
    const isotok__keys *keys = b->keys;
    uint32_t first = node->first;
    if (keys->ends[first] - isotok__key_begin(keys, first) == depth) {
        b->nodes[node->slot].value = first++;
    }
    group(keys, first, node->last, depth, kids);
    if (kids->count == 0) {
        return true;
    }
    uint32_t base = place_children(b, node->slot, kids->labels, kids->count);
    if (base == ISOTOK__NO_INDEX) {
        return false;
    }
    for (unsigned i = 0; i < kids->count; i++) {
        item child = {base ^ kids->labels[i], kids->first[i], kids->first[i + 1]};
        if (child.last - child.first > 1) {
            b->next_items[b->next_count++] = child;
        } else if (!place_tail(b, child.slot, child.first, depth + 1)) {
            return false;
        }
    }
    return true;
}

/* Level by level. A level has at most count / 2 nodes with several keys. */
static bool expand_all(builder *b, item *level, item *spare)
{
    children kids;
    uint32_t count = b->keys->count > 0 ? 1 : 0;
    level[0] = (item){0, 0, b->keys->count};
    for (uint32_t depth = 0; count > 0; depth++) {
        b->next_items = spare;
        b->next_count = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (!expand(b, &level[i], depth, &kids)) {
                return false;
            }
        }
        spare = level;
        level = b->next_items;
        count = b->next_count;
    }
    return true;
}

/* ---- Free slots ----------------------------------------------------------------- */

/* Block 0 is the sink for nodes without children (base 0): no slot of it has the label
 * by which they would be reached, not even the root. */
static void init_sink(builder *b)
{
    b->nodes[0] = (isotok__node){1, ISOTOK__NO_INDEX};
    for (uint32_t slot = 1; slot < 256; slot++) {
        b->nodes[slot] = (isotok__node){0, ISOTOK__NO_INDEX};
    }
}

/* A free slot gets the label with which it would belong to a base that no node has.
 * There is one: a block with a free slot has fewer used slots than bases. */
static void label_free_slots(builder *b, uint32_t index)
{
    const block *bl = &b->blocks[index];
    unsigned base = 0;
    if (bl->free_count == 0) {
        return;
    }
    while (bl->used[base >> 6] >> (base & 63) & 1) {
        base++;
    }
    for (unsigned slot = 0; slot < 256; slot++) {
        if (bl->free[slot >> 6] >> (slot & 63) & 1) {
            b->nodes[index << 8 | slot] = (isotok__node){slot ^ base, ISOTOK__NO_INDEX};
        }
    }
}

/* ---- Build ---------------------------------------------------------------------- */

/* Block 0 exists from the start and takes no children. */
static bool init(builder *b)
{
    size_t rest;
    isotok__rest(b->work, &rest);
    rest -= isotok__min(rest, ISOTOK_ALIGN); /* the blocks are rounded up */
    size_t limit = rest / (256 * sizeof(isotok__node) + sizeof(block));
    b->block_limit = (uint32_t)isotok__min(limit, MAX_BLOCKS);
    b->head[LIST_OPEN] = b->head[LIST_HOLES] = ISOTOK__NO_INDEX;
    b->blocks = ISOTOK__TEMP(b->work, block, b->block_limit);
    b->nodes = (isotok__node *)isotok__rest(b->work, &rest);
    if (b->blocks == NULL || !add_block(b)) {
        return false;
    }
    list_remove(b, 0);
    b->blocks[0].free_count = 0;
    init_sink(b);
    return true;
}

static isotok_status build(isotok__work *work, const isotok__keys *keys, bool near,
                           isotok__trie *out_trie)
{
    size_t mark = isotok__temp_begin(work);
    size_t level_size = keys->count / 2 + 1;
    builder b = {0};
    item *level = ISOTOK__TEMP(work, item, level_size);
    item *spare = ISOTOK__TEMP(work, item, level_size);
    b.work = work;
    b.keys = keys;
    b.near = near;
    if (level == NULL || spare == NULL || !init(&b) || !expand_all(&b, level, spare)) {
        return work->error.status;
    }
    for (uint32_t i = 1; i < b.block_count; i++) {
        label_free_slots(&b, i);
    }
    out_trie->slots = b.block_count << 8;
    out_trie->nodes = ISOTOK__KEEP(work, isotok__node, out_trie->slots);
    isotok__temp_end(work, mark);
    return work->error.status;
}

isotok_status isotok__double_array_build(isotok__work *work, const isotok__keys *keys,
                                         isotok__trie *out_trie)
{
    return build(work, keys, false, out_trie);
}

isotok_status isotok__double_array_build_near(isotok__work *work, const isotok__keys *keys,
                                              isotok__trie *out_trie)
{
    return build(work, keys, true, out_trie);
}
