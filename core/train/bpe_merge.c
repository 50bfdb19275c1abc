/* One merge in all words. See bpe.h.
 *
 * Changes are summed up by neighbour, so that the table is asked once per pair, not once per
 * place. Of a run of the pair ("abab") the joints inside are no neighbours: (b, a) goes, and
 * (made, made) comes. */
#include <stdlib.h>

#include "bpe.h"

static struct isotok__change *touch(struct isotok__side *side, uint32_t neighbour)
{
    struct isotok__change *change = &side->changes[neighbour];
    if (!change->touched) {
        change->touched = 1;
        side->touched[side->touched_count++] = neighbour;
    }
    return change;
}

/* A word has the new pair with this neighbour `count` times more. */
static bool add(struct isotok__side *side, uint32_t neighbour, uint32_t word, int64_t count)
{
    struct isotok__change *change = touch(side, neighbour);
    change->more += count;
    if (change->last == word + 1) return true;
    change->last = word + 1;
    change->places++;
    if (side->events_count == side->events_capacity &&
        !isotok__train_grow(&side->events, &side->events_capacity, side->events_count + 1,
                            sizeof *side->events))
        return false;
    side->events[side->events_count++] = (struct isotok__event){neighbour, word};
    return true;
}

/* Merges in one word. */
static bool rewrite(struct isotok_bpe *t, uint32_t at, uint32_t a, uint32_t b, uint32_t made)
{
    uint32_t *word = t->arena + at, *s = word + ISOTOK__WORD_HEAD;
    const uint32_t n = word[0];
    const int64_t count = isotok__word_count(t, word);
    uint32_t i = 0, j, joined = 0; /* the symbol before was made just now */
    bool done = true;
    while (i + 1 < n && !(s[i] == a && s[i + 1] == b)) i++;
    if (i + 1 >= n) return true;
    for (j = i; i < n; j++) {
        if (!(i + 1 < n && s[i] == a && s[i + 1] == b)) {
            s[j] = s[i++];
            joined = 0;
            continue;
        }
        if (joined) {
            done &= add(&t->left, made, at, count);
        } else if (j > 0) {
            touch(&t->left, s[j - 1])->less += count;
            done &= add(&t->left, s[j - 1], at, count);
        }
        if (i + 2 < n) {
            touch(&t->right, s[i + 2])->less += count;
            if (!(i + 3 < n && s[i + 2] == a && s[i + 3] == b))
                done &= add(&t->right, s[i + 2], at, count);
        }
        s[j] = made;
        joined = 1;
        i += 2;
    }
    word[0] = j;
    while (j < n) s[j++] = ISOTOK__GAP;
    return done;
}

/* The old pair occurs less often. */
static void take(struct isotok_bpe *t, uint64_t key, int64_t less)
{
    struct isotok__pair *pair;
    if (less == 0 || (pair = isotok__bpe_find(t, key)) == NULL) return;
    pair->count -= less;
    if (pair->count < t->threshold) isotok__bpe_drop_list(t, pair);
}

/* The new pair occurs more often: sets change->list if its places are wanted. */
static bool give(struct isotok_bpe *t, uint64_t key, struct isotok__change *change, bool known)
{
    struct isotok__pair *pair;
    struct isotok__places *list;
    change->list = ISOTOK__NO_LIST;
    if (change->more == 0) return true;
    pair = isotok__bpe_find(t, key);
    if (pair == NULL && known && change->more < t->threshold) return true;
    if (pair == NULL && isotok__bpe_refused(t, key)) return true;
    if (pair == NULL) {
        if ((pair = isotok__bpe_insert(t, key)) == NULL) return false;
        if (!known) pair->count = t->threshold - 1; /* at most */
        if (known && (pair->list = isotok__bpe_new_list(t)) == ISOTOK__NO_LIST) return false;
    }
    pair->count += change->more;
    if (pair->count >= t->threshold && !isotok__bpe_push(t, key, pair->count)) return false;
    if (pair->list == ISOTOK__NO_LIST) return true;
    change->list = pair->list;
    list = &t->lists[pair->list];
    return list->count + change->places <= list->capacity ||
           isotok__bpe_grow_places(t, list, list->count + change->places);
}

static void hand_out(struct isotok_bpe *t, struct isotok__side *side)
{
    size_t i;
    for (i = 0; i < side->events_count; i++) {
        const struct isotok__event event = side->events[i];
        const uint32_t number = side->changes[event.neighbour].list;
        if (number == ISOTOK__NO_LIST) continue;
        t->lists[number].words[t->lists[number].count++] = event.word;
        t->stats.places++;
    }
    for (i = 0; i < side->touched_count; i++)
        side->changes[side->touched[i]] = (struct isotok__change){0};
    side->events_count = side->touched_count = 0;
}

static bool settle(struct isotok_bpe *t, uint32_t a, uint32_t b, uint32_t made, bool known)
{
    size_t i;
    bool done = true;
    for (i = 0; i < t->left.touched_count; i++) {
        const uint32_t x = t->left.touched[i];
        take(t, ISOTOK__KEY(x, a), t->left.changes[x].less);
        done &= give(t, ISOTOK__KEY(x, made), &t->left.changes[x], known);
    }
    if (done) hand_out(t, &t->left);
    for (i = 0; i < t->right.touched_count; i++) {
        const uint32_t x = t->right.touched[i];
        take(t, ISOTOK__KEY(b, x), t->right.changes[x].less);
        done &= give(t, ISOTOK__KEY(made, x), &t->right.changes[x], known);
    }
    if (done) hand_out(t, &t->right);
    return done;
}

isotok_train_status isotok__bpe_merge(struct isotok_bpe *t, struct isotok__pair *pair,
                                      isotok_train_error *error)
{
    const uint32_t a = isotok__key_left(pair->key), b = isotok__key_right(pair->key);
    const int64_t count = pair->count;
    struct isotok__places places = t->lists[pair->list];
    bool known, done = true;
    const uint32_t made = isotok__bpe_made(t, a, b, &known);
    size_t i;
    if (made == ISOTOK_BPE_NO_TOKEN ||
        !isotok__train_grow(&t->merges, &t->merges_capacity, t->merge_count + 1, sizeof *t->merges))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for a token",
                                  t->token_count);
    t->merges[t->merge_count++] = (isotok_bpe_merge){t->symbols[a].token, t->symbols[b].token,
                                                     t->symbols[made].token, 0, count};
    t->last_count = count;
    for (i = 0; i < places.count && done; i++) {
        if (i + 8 < places.count) ISOTOK_PREFETCH(t->arena + places.words[i + 8]);
        done = rewrite(t, places.words[i], a, b, made);
    }
    isotok__bpe_drop_list(t, pair);
    pair->count = 0;
    if (!done || !settle(t, a, b, made, known))
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for pairs",
                                  t->token_count);
    pair = isotok__bpe_find(t, ISOTOK__KEY(a, b));
    if (pair != NULL) pair->count = 0; /* "aaa": the table counted overlaps */
    return ISOTOK_TRAIN_OK;
}
