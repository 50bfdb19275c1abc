/* The trie that segments text, its ids and values. See plan.h and FORMAT.md section 4. */
#include "plan.h"
#include "text.h"

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

/* ---- Unigram: weights ------------------------------------------------------------ */

/* A user-defined piece of L bytes weighs 0.1 * (L - 1), rounded once from double; up to 0.2.1
 * L * `largest` - 0.1, which is worked out where it is used. */
static float weight_of(const isotok__spec *spec, uint32_t id, float largest)
{
    if (spec->types[id] == ISOTOK_USER_DEFINED) {
        double length = (double)isotok__piece(spec, id).size;
        return spec->is_0_2_1 ? largest : (float)(0.1 * (length - 1.0));
    }
    return spec->scores[id];
}

/* Largest score of a NORMAL piece, at least the least positive normal number. */
static float largest_score(const isotok__spec *spec)
{
    float largest = 1.17549435082228750797e-38f;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (spec->types[id] == ISOTOK_NORMAL && spec->scores[id] > largest) {
            largest = spec->scores[id];
        }
    }
    return largest;
}

static float unknown_score(const isotok__spec *spec)
{
    float least = 3.40282346638528859812e+38f;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (spec->types[id] == ISOTOK_NORMAL && spec->scores[id] < least) {
            least = spec->scores[id];
        }
    }
    return least - 10.0f;
}

/* The fast segmenter holds |weight| <= 1e30, lengths of at most 254 bytes and today's sums. */
static bool is_wide(const isotok__plan *plan, const uint32_t *values, bool is_0_2_1)
{
    bool wide = is_0_2_1 || (float_bits(plan->unk_score) & 0x7FFFFFFFu) > 0x7149F2CAu;
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        wide |= (values[i] & 0x7FFFFFFFu) > 0x7149F2CAu;
        wide |= plan->keys.ends[i] - isotok__key_begin(&plan->keys, i) > 254;
    }
    return wide;
}

static double exact_score(const isotok__spec *spec, uint32_t id)
{
    double score = (double)spec->scores[id];
    if (spec->exact_scores.size != 0) {
        memcpy(&score, spec->exact_scores.data + 8 * (size_t)id, 8);
    }
    return score;
}

isotok_status isotok__plan_exact(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    double lowest = (double)ISOTOK__MAX_FLOAT;
    size_t v = spec->vocab_size;
    bool none = true;
    for (uint32_t id = 0; id < v; id++) {
        if (spec->scores[id] >= -ISOTOK__MAX_FLOAT) {
            double score = exact_score(spec, id);
            lowest = none || score < lowest ? score : lowest;
            none = false;
        }
    }
    if (spec->exact_scores.size == 0) {
        plan->unk_score = (float)lowest;
        return ISOTOK_OK;
    }
    plan->exact_scores = ISOTOK__KEEP(work, uint64_t, v + 1);
    if (plan->exact_scores != NULL) {
        memcpy(plan->exact_scores, spec->exact_scores.data, 8 * v);
        memcpy(plan->exact_scores + v, &lowest, 8);
    }
    return work->error.status;
}

/* Unigram of pre-tokens: the scores as they are. */
static void make_exact(isotok__work *work, const isotok__spec *spec, isotok__plan *plan,
                       uint32_t *values)
{
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        values[i] = float_bits(spec->scores[plan->key_ids[i]]);
    }
    isotok__plan_exact(work, spec, plan);
}

static void make_weights(const isotok__spec *spec, isotok__plan *plan, uint32_t *values)
{
    float largest = largest_score(spec);
    for (uint32_t i = 0; i < plan->keys.count; i++) {
        values[i] = float_bits(weight_of(spec, plan->key_ids[i], largest));
    }
    plan->unk_score = unknown_score(spec);
    plan->features |= is_wide(plan, values, spec->is_0_2_1) ? ISOTOK__FEATURE_BIT(WIDE) : 0;
}

#define ISOTOK__NO_PREFIX 0xFFFFFFu /* of no node */

/* ---- Slots ----------------------------------------------------------------------- */

/* Slot of the node that the text leads to, 0xFFFFFF if there is none. */
static uint32_t slot_of(const isotok__plan *plan, isotok__span text)
{
    uint32_t slot = isotok__trie_walk(plan->trie.nodes, 0, text.data, text.size);
    return slot != ISOTOK_NO_SLOT || text.size == 0 ? slot : ISOTOK__NO_PREFIX;
}

static isotok_status make_word_rules(isotok__work *work, const isotok__spec *spec,
                                     isotok__plan *plan)
{
    uint32_t rules[3] = {ISOTOK__NO_PREFIX, ISOTOK__NO_PREFIX, 0xFFFFFFFF};
    plan->word_rules = ISOTOK__KEEP(work, uint8_t, sizeof rules + spec->prefix.size);
    if (plan->word_rules == NULL) {
        return work->error.status;
    }
    if (spec->algorithm == ISOTOK_WORDPIECE || spec->algorithm == ISOTOK_BPE) {
        rules[1] = slot_of(plan, isotok__affix_prefix(spec));
        rules[2] = spec->max_characters;
    }
    plan->continuation = rules[1];
    if (spec->unk_id != ISOTOK_NO_TOKEN && spec->algorithm != ISOTOK_BPE) {
        rules[0] = slot_of(plan, isotok__piece(spec, spec->unk_id));
    }
    memcpy(plan->word_rules, rules, sizeof rules);
    if (spec->prefix.size != 0) {
        memcpy(plan->word_rules + sizeof rules, spec->prefix.data, spec->prefix.size);
    }
    return ISOTOK_OK;
}

/* ---- Bpe: ranks ------------------------------------------------------------------ */

/* SentencePiece 0.2.3 compares scores as bits: negative below positive, each by
 * magnitude, so -0.0 < +0.0 and NaN beyond infinity; up to 0.2.1 the zeros are equal. This
 * number is larger where the score is lower: sorting ascending puts the best first. */
static uint32_t descending(float score, bool is_0_2_1)
{
    uint32_t bits = float_bits(is_0_2_1 && score == 0.0f ? 0.0f : score);
    return bits & 0x80000000u ? bits : ~bits & 0x7FFFFFFFu;
}

typedef struct rank_item {
    uint32_t order;
    uint32_t key;
} rank_item;

/* One pass of a least-significant-digit radix sort, 11 bits at `shift`. */
static void radix_pass(const rank_item *from, rank_item *to, uint32_t count, unsigned shift,
                       uint32_t *counts)
{
    memset(counts, 0, 2048 * sizeof *counts);
    for (uint32_t i = 0; i < count; i++) {
        counts[from[i].order >> shift & 2047]++;
    }
    for (uint32_t digit = 0, sum = 0; digit < 2048; digit++) {
        uint32_t here = counts[digit];
        counts[digit] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        to[counts[from[i].order >> shift & 2047]++] = from[i];
    }
}

static isotok_status make_ranks(isotok__work *work, const isotok__spec *spec, isotok__plan *plan,
                                uint32_t *values)
{
    size_t mark = isotok__temp_begin(work);
    uint32_t count = plan->keys.count;
    rank_item *items = ISOTOK__TEMP(work, rank_item, count);
    rank_item *spare = ISOTOK__TEMP(work, rank_item, count);
    uint32_t *counts = ISOTOK__TEMP(work, uint32_t, 2048);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (rank_item){descending(spec->scores[plan->key_ids[i]], spec->is_0_2_1), i};
    }
    radix_pass(items, spare, count, 0, counts);
    radix_pass(spare, items, count, 11, counts);
    radix_pass(items, spare, count, 22, counts);
    for (uint32_t i = 0, rank = 0; i < count; i++) {
        rank += i > 0 && spare[i].order != spare[i - 1].order;
        values[spare[i].key] = rank;
    }
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

/* ---- Trie ------------------------------------------------------------------------ */

/* Key numbers become values and ids. */
static void fill(isotok__plan *plan, const uint32_t *values, uint32_t none)
{
    for (uint32_t slot = 0; slot < plan->trie.slots; slot++) {
        isotok__node *node = &plan->trie.nodes[slot];
        uint32_t key = node->value;
        bool ends = key != ISOTOK__NO_INDEX;
        node->value = ends ? values[key] : none;
        plan->trie_ids[slot] = ends ? plan->key_ids[key] : ISOTOK_NO_TOKEN;
    }
}

/* Id of the trie piece with this canonical text, or NO_TOKEN. */
static uint32_t find(const isotok__plan *plan, isotok__span piece)
{
    uint32_t slot = 0;
    for (size_t i = 0; i < piece.size;) {
        uint8_t byte = piece.data[i];
        size_t size = 1;
        if (plan->compact && piece.size - i >= 3 &&
            memcmp(piece.data + i, "\xE2\x96\x81", 3) == 0) {
            byte = 0x20;
            size = 3;
        } else if (plan->compact && byte == 0x20) {
            return ISOTOK_NO_TOKEN; /* no trie piece holds a space */
        }
        slot = isotok__trie_step(plan->trie.nodes, slot, byte);
        if (slot == ISOTOK_NO_SLOT) {
            return ISOTOK_NO_TOKEN;
        }
        i += size;
    }
    return plan->trie_ids[slot];
}

/* A piece outside the trie with the text of one inside: allowed only for reserved pieces
 * (SentencePiece's second map), and not for bpe. */
static isotok_status check_others(isotok__work *work, const isotok__spec *spec,
                                  const isotok__plan *plan)
{
    uint32_t first = ISOTOK__NO_INDEX;
    for (uint32_t i = 0; i < plan->other_count; i++) {
        uint32_t id = plan->other_ids[i];
        if (spec->algorithm == ISOTOK_BPE || spec->types[id] == ISOTOK_UNUSED) {
            uint32_t twin = find(plan, isotok__piece(spec, id));
            uint32_t later = twin > id ? twin : id;
            if (twin != ISOTOK_NO_TOKEN && later < first) {
                first = later;
            }
        }
    }
    if (first == ISOTOK__NO_INDEX || spec->byte_level) {
        return ISOTOK_OK;
    }
    return isotok__build_fail(work, ISOTOK_E_CORRUPT, ISOTOK_WHAT_PIECE_TWICE, first,
                              isotok__piece_offset(spec, first));
}

isotok_status isotok__plan_trie(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    size_t mark = isotok__temp_begin(work);
    uint32_t none = ISOTOK_VALUE_NONE;
    uint32_t *values = ISOTOK__TEMP(work, uint32_t, plan->keys.count);
    isotok_status status = work->error.status;
    if (status != ISOTOK_OK) {
        return status;
    }
    memset(values, 0, plan->keys.count * sizeof *values);
    if (spec->algorithm == ISOTOK_UNIGRAM) {
        none = ISOTOK__MINUS_INFINITY;
        if (spec->pretokens) {
            make_exact(work, spec, plan, values);
            status = work->error.status;
        } else {
            make_weights(spec, plan, values);
        }
    } else if (spec->merge_counts.size != 0) {
        status = isotok__plan_splits(work, spec, plan, values);
    } else if (spec->algorithm == ISOTOK_BPE) {
        status = make_ranks(work, spec, plan, values);
    }
    if (status == ISOTOK_OK) {
        status = isotok__double_array_build(work, &plan->keys, &plan->trie);
    }
    if (status == ISOTOK_OK) {
        plan->trie_ids = ISOTOK__KEEP(work, uint32_t, plan->trie.slots);
        status = work->error.status;
    }
    if (status == ISOTOK_OK) {
        fill(plan, values, none);
        status = check_others(work, spec, plan);
    }
    if (status == ISOTOK_OK && (spec->pretokens || isotok__affixes(spec) != 0)) {
        status = make_word_rules(work, spec, plan);
    }
    if (status == ISOTOK_OK && isotok__affixes(spec) != 0 &&
        plan->continuation == ISOTOK__NO_PREFIX) {
        status = isotok__build_fail(work, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_FIELD,
                                    ISOTOK_FIELD_CONTINUATION, 0);
    }
    isotok__temp_end(work, mark);
    return status;
}
