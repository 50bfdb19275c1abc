/* Darts arrays: see darts.h.
 *
 * ALGORITHM   A double array (double_array.h) of the keys, each ended by a NUL byte: the node
 *   of the NUL is the key's value unit, at base ^ 0. The nodes become units in place. */
#include "darts.h"

#define HAS_KEY 0x100u
#define TIMES_256 0x200u

/* The keys with a NUL byte behind each, in temp memory. */
static bool end_with_nul(isotok__work *work, const isotok__keys *keys, isotok__keys *out)
{
    uint32_t size = keys->ends[keys->count - 1];
    uint8_t *text = ISOTOK__TEMP(work, uint8_t, (size_t)size + keys->count);
    uint32_t *ends = ISOTOK__TEMP(work, uint32_t, keys->count);
    if (text == NULL || ends == NULL) {
        return false;
    }
    for (uint32_t i = 0, at = 0; i < keys->count; i++) {
        uint32_t begin = isotok__key_begin(keys, i);
        memcpy(text + at, keys->text + begin, keys->ends[i] - begin);
        at += keys->ends[i] - begin;
        text[at++] = 0;
        ends[i] = at;
    }
    *out = (isotok__keys){text, ends, keys->count};
    return true;
}

static uint32_t unit_of(const isotok__trie *trie, uint32_t slot, const uint32_t *values)
{
    const isotok__node *node = &trie->nodes[slot];
    uint32_t base = node->link >> 8;
    uint32_t label = slot == 0 ? 0 : node->link & 0xFF; /* the root has no label here */
    if (node->value != ISOTOK__NO_INDEX) {
        return ISOTOK__DARTS_VALUE | (values != NULL ? values[node->value] : 0);
    }
    if (base == 0) {
        return label; /* a free slot */
    }
    uint32_t offset = slot ^ base;
    bool has_key = (trie->nodes[base].link & 0xFF) == 0; /* a free slot there has another label */
    label |= has_key ? HAS_KEY : 0;
    return offset < 1u << 21 ? label | offset << 10 : label | TIMES_256 | offset << 2;
}

isotok_status isotok__darts_build(isotok__work *work, const isotok__keys *keys,
                                  const uint32_t *values, isotok__darts *out)
{
    size_t mark = isotok__temp_begin(work);
    isotok__keys ended;
    isotok__trie trie;
    *out = (isotok__darts){NULL, 0};
    if (keys->count == 0) {
        return ISOTOK_OK;
    }
    if (!end_with_nul(work, keys, &ended) ||
        isotok__double_array_build_near(work, &ended, &trie) != ISOTOK_OK) {
        return work->error.status;
    }
    isotok__temp_end(work, mark);
    /* a unit looks at another slot's link: all of them before any is moved */
    for (uint32_t slot = 0; slot < trie.slots; slot++) {
        trie.nodes[slot].value = unit_of(&trie, slot, values);
    }
    out->units = (uint32_t *)(void *)trie.nodes;
    for (uint32_t slot = 0; slot < trie.slots; slot++) {
        out->units[slot] = trie.nodes[slot].value;
    }
    out->count = trie.slots;
    return ISOTOK_OK;
}

uint32_t isotok__darts_walk(const isotok__darts *darts, const uint8_t *text, size_t size)
{
    uint32_t slot = 0;
    for (size_t i = 0; i < size; i++) {
        slot ^= isotok__darts_offset(darts->units[slot]) ^ text[i];
        if ((darts->units[slot] & (ISOTOK__DARTS_VALUE | 0xFF)) != text[i]) {
            return 0;
        }
    }
    return slot;
}
