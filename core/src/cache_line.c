/* L1: see cache_line.h. */
#include "cache_line.h"

const struct isotok__cache_slot *isotok__line_find_other(struct isotok__cache_slot *line,
                                                         const struct isotok__cache_key *key,
                                                         uint32_t size)
{
    const uint32_t wide = line->size & ISOTOK__SLOT_WIDE;
    if (!isotok__line_is(wide != 0 ? line : line + 1, key, size | wide)) return NULL;
    if (wide != 0) return line[1].key[0] == key->words[2] ? line : NULL;
    { /* it comes first from now on, and is not the next to go */
        const struct isotok__cache_slot found = line[1];
        line[1] = line[0];
        line[0] = found;
    }
    return line;
}

void isotok__line_put(const struct isotok__cache_query *query, uint16_t tag, const uint32_t *tokens,
                      uint32_t count)
{
    struct isotok__cache_slot *line = (struct isotok__cache_slot *)(void *)query->set, *slot;
    const bool wide = query->size > ISOTOK__SLOT_KEY ||
                      (count > ISOTOK__SLOT_TOKENS && count <= ISOTOK__CACHE_TOKENS);
    uint32_t i;
    if (!isotok__cache_missed_before(&line[0].missed, &line[1].missed, tag)) return;
    if (count > ISOTOK__CACHE_TOKENS) count = 0;
    slot = line + (line->size == 0 || line->size & ISOTOK__SLOT_WIDE || wide ? 0 : 1);
    line[1].size = 0; /* free behind a free one */
    slot->key[0] = query->key.words[0];
    slot->key[1] = query->key.words[1];
    slot->size = (uint8_t)(query->size | (wide ? ISOTOK__SLOT_WIDE : 0));
    slot->count = (uint8_t)count;
    for (i = 0; i < count && i < ISOTOK__SLOT_TOKENS; i++) slot->tokens[i] = tokens[i];
    if (!wide) return;
    line[1].key[0] = query->key.words[2];
    memcpy((uint8_t *)line + ISOTOK__REST_TOKENS, tokens + i, (count - i) * sizeof *tokens);
}
