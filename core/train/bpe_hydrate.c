/* Reading all words: which pairs occur most often, and where. See bpe.h. */
#include <stdlib.h>

#include "bpe.h"

#define DEFAULT_WINDOW 8192u
#define OVERFULL 2u /* times the window: so many pairs are too many */

/* Counts of all pairs. */
struct counting {
    struct isotok__candidate *slots;
    uint32_t mask, used;
};

static bool resize(struct isotok_bpe *t, struct counting *counting)
{
    const size_t old = counting->slots ? (size_t)counting->mask + 1 : 0;
    const size_t slots = old ? old * 2 : 1u << 14;
    struct isotok__candidate *made;
    size_t i;
    if (slots > 0x80000000u || (made = calloc(slots, sizeof *made)) == NULL) return false;
    isotok__bpe_account(t, (int64_t)(slots * sizeof *made));
    for (i = 0; i < old; i++) {
        uint32_t at = isotok__hash_key(counting->slots[i].key) & (uint32_t)(slots - 1);
        if (counting->slots[i].key == 0) continue;
        while (made[at].key != 0) at = (at + 1) & (uint32_t)(slots - 1);
        made[at] = counting->slots[i];
    }
    free(counting->slots);
    isotok__bpe_account(t, -(int64_t)(old * sizeof *made));
    counting->slots = made;
    counting->mask = (uint32_t)(slots - 1);
    return true;
}

/* Where the next word begins. */
static size_t next_word(const struct isotok_bpe *t, size_t at)
{
    at += ISOTOK__WORD_HEAD + (size_t)t->arena[at];
    while (at < t->arena_count && t->arena[at] == ISOTOK__GAP) at++;
    return at;
}

/* Closes the gaps; words that can change no more are left out. No place may be known. */
static void compact(struct isotok_bpe *t)
{
    size_t at, next, end = 0;
    for (at = 0; at < t->arena_count; at = next) {
        const uint32_t size = t->arena[at];
        next = next_word(t, at);
        if (size < 2) continue;
        memmove(t->arena + end, t->arena + at, (ISOTOK__WORD_HEAD + (size_t)size) * 4);
        end += ISOTOK__WORD_HEAD + (size_t)size;
    }
    isotok__bpe_account(t, ((int64_t)end - (int64_t)t->arena_count) * 4);
    if (end < t->arena_count / 4 * 3) {
        uint32_t *smaller = realloc(t->arena, (end + 4) * sizeof *smaller);
        if (smaller != NULL) t->arena = smaller;
    }
    t->arena_count = end;
}

static bool count_word(struct isotok_bpe *t, struct counting *counting, const uint32_t *word)
{
    const uint32_t *s = word + ISOTOK__WORD_HEAD;
    const int64_t count = isotok__word_count(t, word);
    uint32_t i;
    for (i = 0; i + 1 < word[0]; i++) {
        const uint64_t key = ISOTOK__KEY(s[i], s[i + 1]);
        uint32_t at = isotok__hash_key(key) & counting->mask;
        while (counting->slots[at].key != 0 && counting->slots[at].key != key)
            at = (at + 1) & counting->mask;
        counting->slots[at].count += count;
        if (ISOTOK_LIKELY(counting->slots[at].key != 0)) continue;
        counting->slots[at].key = key;
        if (++counting->used > counting->mask / 4 * 3 && !resize(t, counting)) return false;
    }
    return true;
}

static bool count_all(struct isotok_bpe *t, struct counting *counting)
{
    size_t at;
    if (!resize(t, counting)) return false;
    for (at = 0; at < t->arena_count; at = next_word(t, at))
        if (!count_word(t, counting, t->arena + at)) return false;
    return true;
}

/* ---- The most frequent ---- */

struct selection {
    struct isotok__candidate *found;
    size_t count, capacity;
    int64_t bound; /* all pairs that occur so often are among them */
};

/* Moves the `most` highest counts to the front (quickselect); returns the lowest of them. */
static int64_t select_highest(struct isotok__candidate *found, size_t count, size_t most)
{
    size_t begin = 0, end = count;
    while (end - begin > 1) {
        const int64_t pivot = found[begin + (end - begin) / 2].count;
        size_t i = begin, above = begin, below = end;
        while (i < below) {
            const struct isotok__candidate one = found[i];
            if (one.count > pivot) {
                found[i++] = found[above];
                found[above++] = one;
            } else if (one.count < pivot) {
                found[i] = found[--below];
                found[below] = one;
            } else {
                i++;
            }
        }
        if (most <= above)
            end = above;
        else if (most <= below)
            return pivot;
        else
            begin = below;
    }
    return found[begin].count;
}

/* Keeps about `most`: those with the count of the last one too, if they are not too many. */
static void keep_highest(struct selection *selection, size_t most)
{
    size_t i, kept = 0, equal = 0;
    int64_t bound;
    if (selection->count <= most) return;
    bound = select_highest(selection->found, selection->count, most);
    for (i = 0; i < selection->count; i++) {
        kept += selection->found[i].count > bound;
        equal += selection->found[i].count == bound;
    }
    if (kept != 0 && kept + equal > most * 2) bound++;
    if (bound > selection->bound) selection->bound = bound;
    for (i = kept = 0; i < selection->count; i++)
        if (selection->found[i].count >= selection->bound)
            selection->found[kept++] = selection->found[i];
    selection->count = kept;
}

static bool collect(const struct isotok_bpe *t, const struct counting *counting,
                    struct selection *selection, size_t most)
{
    size_t i;
    for (i = 0; i <= counting->mask; i++) {
        const struct isotok__candidate *one = &counting->slots[i];
        if (one->key == 0 || one->count < selection->bound || isotok__bpe_refused(t, one->key))
            continue;
        if (!isotok__train_grow(&selection->found, &selection->capacity, selection->count + 1,
                                sizeof *selection->found))
            return false;
        selection->found[selection->count++] = *one;
        if (selection->count > most * 4 + 1024) {
            keep_highest(selection, most);
            if (selection->count > most * 4) most = selection->count; /* all of one count */
        }
    }
    return true;
}

/* ---- Their places ---- */

static bool add_place(struct isotok_bpe *t, struct isotok__pair *pair, uint32_t word)
{
    struct isotok__places *list = &t->lists[pair->list];
    if (list->count != 0 && list->words[list->count - 1] == word) return true;
    if (list->count == list->capacity &&
        !isotok__bpe_grow_places(t, list, list->capacity ? list->capacity * 3 / 2 + 1 : 2))
        return false;
    list->words[list->count++] = word;
    t->stats.places++;
    t->stats.hydrated_entries++;
    return true;
}

static bool find_places(struct isotok_bpe *t)
{
    size_t at;
    uint32_t i;
    for (at = 0; at < t->arena_count; at = next_word(t, at)) {
        const uint32_t *word = t->arena + at, *s = word + ISOTOK__WORD_HEAD;
        for (i = 0; i + 1 < word[0]; i++) {
            struct isotok__pair *pair = isotok__bpe_find(t, ISOTOK__KEY(s[i], s[i + 1]));
            if (pair != NULL && !add_place(t, pair, (uint32_t)at)) return false;
        }
    }
    return true;
}

static bool admit(struct isotok_bpe *t, const struct selection *selection)
{
    size_t i;
    for (i = 0; i < selection->count; i++) {
        const struct isotok__candidate *one = &selection->found[i];
        struct isotok__pair *pair = isotok__bpe_insert(t, one->key);
        if (pair == NULL || !isotok__bpe_push(t, one->key, one->count)) return false;
        pair->count = one->count;
        pair->list = isotok__bpe_new_list(t);
        if (pair->list == ISOTOK__NO_LIST) return false;
    }
    return true;
}

static size_t window_of(const struct isotok_bpe *t)
{
    return t->options.window ? t->options.window : DEFAULT_WINDOW;
}

/* Merges make pairs that are hot: when there are too many, only the most frequent stay. */
isotok_train_status isotok__bpe_prune(struct isotok_bpe *t, isotok_train_error *error)
{
    struct selection selection = {.bound = t->threshold};
    size_t i;
    if (t->stats.pairs <= window_of(t) * OVERFULL) return ISOTOK_TRAIN_OK;
    for (i = 0; i <= t->pairs_mask; i++) {
        const struct isotok__pair *pair = &t->pairs[i];
        if (pair->key == 0 || pair->list == ISOTOK__NO_LIST) continue;
        if (!isotok__train_grow(&selection.found, &selection.capacity, selection.count + 1,
                                sizeof *selection.found)) {
            free(selection.found);
            return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for pairs",
                                      t->token_count);
        }
        selection.found[selection.count++] = (struct isotok__candidate){pair->count, pair->key};
    }
    keep_highest(&selection, window_of(t));
    free(selection.found);
    t->threshold = selection.bound;
    for (i = 0; i <= t->pairs_mask; i++)
        if (t->pairs[i].key != 0 && t->pairs[i].count < t->threshold)
            isotok__bpe_drop_list(t, &t->pairs[i]);
    return ISOTOK_TRAIN_OK;
}

isotok_train_status isotok__bpe_hydrate(struct isotok_bpe *t, int64_t least,
                                        isotok_train_error *error)
{
    const size_t most = window_of(t);
    struct counting counting = {0};
    struct selection selection = {.bound = least};
    bool done;
    isotok__bpe_drop_pairs(t);
    compact(t);
    done = count_all(t, &counting) && collect(t, &counting, &selection, most);
    t->stats.hydration_scans++;
    if (counting.slots != NULL)
        isotok__bpe_account(t, -((int64_t)counting.mask + 1) * (int64_t)sizeof *counting.slots);
    free(counting.slots);
    if (done) keep_highest(&selection, most);
    done = done && admit(t, &selection);
    free(selection.found);
    t->threshold = selection.bound;
    if (!done || !find_places(t)) {
        isotok__bpe_drop_pairs(t);
        return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for pairs",
                                  t->token_count);
    }
    t->stats.hydration_scans++;
    return ISOTOK_TRAIN_OK;
}

isotok_train_status isotok__bpe_resolve(struct isotok_bpe *t, struct isotok__pair *pair,
                                        isotok_train_error *error)
{
    const uint32_t left = isotok__key_left(pair->key), right = isotok__key_right(pair->key);
    size_t at;
    uint32_t i;
    pair->count = 0;
    if ((pair->list = isotok__bpe_new_list(t)) == ISOTOK__NO_LIST) goto failed;
    t->stats.hydration_scans++;
    for (at = 0; at < t->arena_count; at = next_word(t, at)) {
        const uint32_t *word = t->arena + at, *s = word + ISOTOK__WORD_HEAD;
        for (i = 0; i + 1 < word[0]; i++) {
            if (s[i] != left || s[i + 1] != right) continue;
            pair->count += isotok__word_count(t, word);
            if (!add_place(t, pair, (uint32_t)at)) goto failed;
        }
    }
    if (pair->count < t->threshold) isotok__bpe_drop_list(t, pair);
    return ISOTOK_TRAIN_OK;
failed:
    return isotok__train_fail(error, ISOTOK_TRAIN_E_MEMORY, "no memory for pairs", t->token_count);
}
