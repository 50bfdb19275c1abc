/* L1: see cache_bucket.h. */
#include "cache_bucket.h"

/* Slots of an entry of `size` as in a slot. */
static uint32_t slots_of(uint32_t size, uint32_t count)
{
    if (!(size & ISOTOK__SLOT_FLAT)) return 1;
    size += count * (uint32_t)sizeof(uint32_t) - ISOTOK__SLOT_FLAT;
    return (size + (uint32_t)ISOTOK__SLOT_BYTES - 1) / (uint32_t)ISOTOK__SLOT_BYTES;
}

/* An entry of one slot comes first from now on, unless one of several slots does. */
static void promote(struct isotok__cache_slot *bucket, struct isotok__cache_slot *found)
{
    const struct isotok__cache_slot kept = *bucket;
    const uint16_t missed = found->missed;
    if (ISOTOK_SENTENCEPIECE_ONLY || slots_of(kept.size, kept.count) != 1) return;
    *bucket = *found;
    *found = kept;
    bucket->missed = kept.missed;
    found->missed = missed;
}

uint32_t isotok__bucket_take(const struct isotok__cache_query *query, const uint8_t *text,
                             uint32_t *tokens)
{
    struct isotok__cache_slot *bucket = isotok__bucket_of(query), *slot;
    uint8_t all[ISOTOK__BUCKET_BYTES + sizeof *slot - ISOTOK__SLOT_BYTES];
    uint32_t i, n, k;
    for (i = 0; i < ISOTOK__BUCKET_SLOTS; i += n) {
        slot = bucket + i;
        n = slots_of(slot->size, slot->count);
        if (isotok__slot_is(slot, query)) {
            const uint32_t count = slot->count;
            memcpy(tokens, slot->tokens, sizeof slot->tokens);
            promote(bucket, slot);
            return count;
        }
        if (slot->size != (query->size | ISOTOK__SLOT_FLAT)) continue;
        for (k = 0; k < n; k++) memcpy(all + k * ISOTOK__SLOT_BYTES, slot + k, sizeof *slot);
        if (memcmp(all, text, query->size) != 0) continue;
        memcpy(tokens, all + query->size, slot->count * sizeof *tokens);
        return slot->count;
    }
    return 0;
}

/* Moves the entries by n slots; the last ones go. */
static void make_room(struct isotok__cache_slot *bucket, uint32_t n)
{
    const uint16_t first = bucket[0].missed, second = bucket[1].missed;
    uint32_t i = 0, next = 0;
    for (;;) {
        next += slots_of(bucket[i].size, bucket[i].count);
        if (next + n > ISOTOK__BUCKET_SLOTS) break;
        i = next;
    }
    for (; i < ISOTOK__BUCKET_SLOTS; i++) bucket[i].size = 0;
    memmove(bucket + n, bucket, (ISOTOK__BUCKET_SLOTS - n) * sizeof *bucket);
    bucket[0].missed = first;
    bucket[1].missed = second;
}

void isotok__bucket_put(const struct isotok__cache_query *query, uint16_t tag, const uint8_t *text,
                        const uint32_t *tokens, uint32_t count)
{
    struct isotok__cache_slot *bucket = isotok__bucket_of(query);
    const bool flat = query->size > ISOTOK__SLOT_KEY || count > ISOTOK__SLOT_TOKENS;
    const uint32_t size = query->size | (flat ? ISOTOK__SLOT_FLAT : 0);
    const uint32_t n = slots_of(size, count);
    const uint32_t key = flat ? query->size : ISOTOK__SLOT_KEY;
    uint8_t all[ISOTOK__BUCKET_BYTES];
    uint32_t i;
    if (n > ISOTOK__BUCKET_SLOTS ||
        !isotok__cache_missed_before(&bucket[0].missed, &bucket[1].missed, tag))
        return;
    make_room(bucket, n);
    memcpy(all, flat ? text : (const uint8_t *)query->key.words, key);
    memcpy(all + key, tokens, count * sizeof *tokens);
    for (i = 0; i < n; i++) memcpy(bucket + i, all + i * ISOTOK__SLOT_BYTES, ISOTOK__SLOT_BYTES);
    bucket->size = (uint8_t)size;
    bucket->count = (uint8_t)count;
}
