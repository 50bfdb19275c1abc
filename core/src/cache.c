/* L1: the parts of the token cache that are not in the hot loops, see cache.h. */
#include "cache.h"

#define LEAST_HITS 80u /* of a period, and one more for each entry made */
#define FIRST_BYPASS 4096u
#define SINGLES_BYPASS 2048u /* where chunks are single characters */
#define MOST_DOUBLINGS 4u

void isotok__cache_promote(struct isotok__cache_entry *set)
{
    struct isotok__cache_entry first = set[0];
    set[0] = set[1];
    set[1] = first;
}

void isotok__cache_put(struct isotok__cache_entry *set, const struct isotok__cache_entry *entry)
{
    struct isotok__cache_entry *to = &set[set[0].size == 0 ? 0 : 1];
    const uint16_t missed = to->missed;
    *to = *entry;
    to->missed = missed;
}

bool isotok__cache_missed_before(uint16_t *first, uint16_t *second, uint16_t tag)
{
    if (*first == tag || *second == tag) return true;
    *second = *first;
    *first = tag;
    return false;
}

void isotok__cache_end_period(struct isotok__cache *cache)
{
    const bool singles = cache->period_bytes < cache->least_bytes;
    if (singles || cache->period_hits < LEAST_HITS + cache->period_made) {
        uint32_t doublings =
            cache->bad_periods < MOST_DOUBLINGS ? cache->bad_periods : MOST_DOUBLINGS;
        cache->bypass = (singles ? SINGLES_BYPASS : FIRST_BYPASS) << doublings;
        cache->bad_periods++;
    } else {
        cache->bad_periods = 0;
    }
    cache->probes += cache->period_probes;
    cache->hits += cache->period_hits;
    cache->period_probes = cache->period_hits = cache->period_made = cache->period_bytes = 0;
}
