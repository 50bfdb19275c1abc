/* Added tokens -> a spec with them. See added.h.
 *
 * A text that the vocabulary has keeps its id there, others are numbered on from its end, as
 * `add_tokens` of tokenizers 0.23 does; what is given twice counts as given last. */
#include "added.h"

#include "isotok_build.h"
#include "plan.h"
#include "text.h"

#define ALL_FLAGS                                                           \
    ((uint32_t)ISOTOK_ADDED_PLAIN | (uint32_t)ISOTOK_ADDED_LSTRIP |         \
     (uint32_t)ISOTOK_ADDED_RSTRIP | (uint32_t)ISOTOK_ADDED_SINGLE_WORD)

/* The tokens in turn, and a hash table of their texts. */
typedef struct token {
    isotok__span text;
    uint32_t flags, id; /* id: of the vocabulary, or ISOTOK_NO_TOKEN */
    uint32_t last;      /* token with this text that was given last */
    bool special;       /* any of them is: tokenizers never forgets that */
    bool by_letters;    /* byte-level: the vocabulary may have it */
} token;

typedef struct table {
    token *tokens;
    uint32_t count;
    uint32_t *slots; /* number of a token + 1, or 0 */
    uint32_t mask;
    isotok__span word_ranges;
} table;

static isotok_status fail(isotok__work *work, uint32_t what, uint32_t index)
{
    const bool argument = what == ISOTOK_WHAT_ADDED_TEXT;
    return isotok__build_fail(work, argument ? ISOTOK_E_ARGUMENT : ISOTOK_E_UNSUPPORTED, what,
                              index, 0);
}

/* ---- Texts --------------------------------------------------------------------------- */

static uint32_t *find(const table *t, isotok__span text)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < text.size; i++) {
        hash = (hash ^ text.data[i]) * 16777619u;
    }
    for (hash ^= hash >> 15;; hash++) {
        uint32_t *slot = t->slots + (hash & t->mask);
        const token *found = t->tokens + *slot - 1;
        if (*slot == 0 || (found->text.size == text.size &&
                           memcmp(found->text.data, text.data, text.size) == 0)) {
            return slot;
        }
    }
}

static uint32_t next_point(isotok__span text, size_t *at)
{
    uint32_t point = 0;
    *at += isotok__scalar(text.data + *at, text.size - *at, &point);
    return point;
}

static bool is_ascii_letter(uint32_t point)
{
    return point - 0x21 < 0x5E;
}

/* A letter that stands for a byte in a byte-level vocabulary. */
static bool is_letter(uint32_t point)
{
    return is_ascii_letter(point) || point - 0xA1 < 12 || point - 0xAE < 0x52 ||
           point - 0x100 < 0x44;
}

/* A byte-level vocabulary spells bytes with letters; what it decodes them to is known only where
 * both are the same. */
static bool is_spelled(const isotok__spec *spec, token *t, bool *out_other)
{
    bool ascii = true;
    bool letters = true;
    if (!spec->byte_level || spec->parity != ISOTOK_PARITY_HF) {
        *out_other = false;
        return true;
    }
    for (size_t at = 0; at < t->text.size;) {
        uint32_t point = next_point(t->text, &at);
        ascii = ascii && is_ascii_letter(point);
        letters = letters && is_letter(point);
    }
    *out_other = letters && !ascii;
    return ascii;
}

static bool is_space(uint32_t point)
{
    return point == 0x20 || point - 9 < 5 || point == 0x85 || point == 0xA0 || point == 0x1680 ||
           point - 0x2000 < 11 || point - 0x2028 < 2 || point == 0x202F || point == 0x205F ||
           point == 0x3000;
}

static bool begins_with_space(isotok__span text)
{
    size_t at = 0;
    return is_space(next_point(text, &at));
}

static bool ends_with_space(isotok__span text)
{
    size_t at = text.size;
    while (at > 0 && (text.data[--at] & 0xC0) == 0x80) {}
    return is_space(next_point(text, &at));
}

/* ---- Reading ------------------------------------------------------------------------- */

static isotok_status read_tokens(isotok__work *work, const isotok__spec *spec, isotok__span source,
                                 table *t)
{
    const size_t count = source.size < 8 ? 0 : isotok__load_u32(source.data);
    const size_t ranges = source.size < 8 ? 0 : isotok__load_u32(source.data + 4);
    const size_t head = 8 + 8 * count + 4 * ranges;
    size_t at = head;
    if (source.size < 8 || count > ISOTOK__MAX_VOCAB || ranges > ISOTOK__MAX_VOCAB ||
        head > source.size) {
        return fail(work, ISOTOK_WHAT_ADDED_TEXT, ISOTOK__NO_INDEX);
    }
    t->word_ranges = (isotok__span){source.data + 8 + 8 * count, ranges};
    t->tokens = ISOTOK__KEEP(work, token, count + 1);
    for (t->mask = 15; t->mask < 2 * count;) {
        t->mask = 2 * t->mask + 1;
    }
    t->slots = ISOTOK__KEEP(work, uint32_t, (size_t)t->mask + 1);
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    memset(t->slots, 0, 4 * ((size_t)t->mask + 1));
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t size = isotok__load_u32(source.data + 8 + 8 * (size_t)i);
        const uint32_t flags = isotok__load_u32(source.data + 12 + 8 * (size_t)i);
        token *each = t->tokens + i;
        bool other;
        if (size == 0 || size > ISOTOK__MAX_PIECE || size > source.size - at ||
            (flags & ~ALL_FLAGS) != 0 || !isotok__well_formed(source.data + at, size)) {
            return fail(work, ISOTOK_WHAT_ADDED_TEXT, i);
        }
        *each = (token){{source.data + at, size}, flags, ISOTOK_NO_TOKEN, i, false, false};
        each->by_letters = is_spelled(spec, each, &other);
        if (other) {
            return fail(work, ISOTOK_WHAT_ADDED_LETTERS, i);
        }
        uint32_t *slot = find(t, each->text);
        if (*slot == 0) {
            *slot = i + 1;
        }
        t->tokens[*slot - 1].last = i;
        t->tokens[*slot - 1].special |= (flags & ISOTOK_ADDED_PLAIN) == 0;
        at += size;
    }
    t->count = (uint32_t)count;
    return at == source.size ? ISOTOK_OK : fail(work, ISOTOK_WHAT_ADDED_TEXT, ISOTOK__NO_INDEX);
}

/* Ids of the texts that are pieces; returns the number of those that are not, and their bytes. */
static uint32_t find_pieces(const isotok__spec *spec, table *t, size_t *out_bytes)
{
    uint32_t more = 0;
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        const isotok__span piece = isotok__piece(spec, id);
        const uint32_t number = piece.size != 0 ? *find(t, piece) : 0;
        token *found = t->tokens + number - 1;
        if (number != 0 && found->id == ISOTOK_NO_TOKEN &&
            (found->by_letters || isotok__is_added(spec, id, NULL))) {
            found->id = id;
        }
    }
    *out_bytes = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        token *each = t->tokens + i;
        if (*find(t, each->text) == i + 1 && each->id == ISOTOK_NO_TOKEN) {
            each->id = spec->vocab_size + more++;
            *out_bytes += each->text.size;
        }
    }
    return more;
}

/* ---- Into the spec ------------------------------------------------------------------- */

static const uint32_t minus_infinity = ISOTOK__MINUS_INFINITY;

/* Room for `more` pieces behind those that there are. */
static isotok_status extend(isotok__work *work, isotok__spec *spec, uint32_t more, size_t bytes)
{
    const size_t v = spec->vocab_size;
    const size_t all = v + more;
    const size_t text_size = v > 0 ? spec->piece_ends[v - 1] : 0;
    uint8_t *text = ISOTOK__KEEP(work, uint8_t, text_size + bytes);
    uint32_t *ends = ISOTOK__KEEP(work, uint32_t, all);
    float *scores = ISOTOK__KEEP(work, float, all);
    uint8_t *types = ISOTOK__KEEP(work, uint8_t, all);
    uint8_t *exact = ISOTOK__KEEP(work, uint8_t, 8 * all);
    if (all > ISOTOK__MAX_VOCAB) {
        return fail(work, ISOTOK_WHAT_VOCAB_LARGE, (uint32_t)all);
    }
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    memcpy(text, spec->piece_text, text_size);
    memcpy(ends, spec->piece_ends, 4 * v);
    memcpy(scores, spec->scores, 4 * v);
    memcpy(types, spec->types, v);
    for (size_t id = v; id < all; id++) {
        memcpy(scores + id, &minus_infinity, 4);
        if (!spec->pretokens) {
            scores[id] = 0;
        }
    }
    if (spec->exact_scores.size != 0) {
        const uint64_t none = 0xFFF0000000000000u;
        memcpy(exact, spec->exact_scores.data, 8 * v);
        for (size_t id = v; id < all; id++) {
            memcpy(exact + 8 * id, &none, 8);
        }
        spec->exact_scores = (isotok__span){exact, all};
    }
    spec->piece_text = text;
    spec->piece_ends = ends;
    spec->scores = scores;
    spec->types = types;
    spec->piece_at = NULL;
    return ISOTOK_OK;
}

/* Text and type of a token. A piece that text gives besides goes on doing so: it has a score. */
static void put_token(isotok__spec *spec, const token *given, bool special)
{
    const uint32_t id = given->id;
    if (id >= spec->vocab_size) {
        const uint32_t begin = id == 0 ? 0 : spec->piece_ends[id - 1];
        memcpy((uint8_t *)spec->piece_text + begin, given->text.data, given->text.size);
        spec->piece_ends[id] = begin + (uint32_t)given->text.size;
        spec->types[id] = special ? ISOTOK_CONTROL : ISOTOK_USER_DEFINED;
        return;
    }
    if (!special) {
        return;
    }
    if (spec->types[id] == ISOTOK_NORMAL && !spec->pretokens) {
        spec->scores[id] = 1;
    }
    if (spec->types[id] == ISOTOK_NORMAL || spec->types[id] == ISOTOK_USER_DEFINED) {
        spec->types[id] = ISOTOK_CONTROL;
    } else if (spec->types[id] == ISOTOK_UNKNOWN) {
        spec->decoder_flags |= ISOTOK_DECODE_UNK_SPECIAL;
    }
}

/* All added tokens, those that there were included, as `spec->added`. */
static isotok_status gather(isotok__work *work, isotok__spec *spec, const table *t, uint32_t all)
{
    size_t mark = isotok__temp_begin(work);
    uint32_t *flags = ISOTOK__TEMP(work, uint32_t, all);
    uint32_t *pairs = ISOTOK__KEEP(work, uint32_t, 2 * (size_t)all);
    size_t count = 0;
    if (work->error.status != ISOTOK_OK) {
        return work->error.status;
    }
    memset(flags, 0xFF, 4 * (size_t)all); /* none, and not special */
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        uint32_t known;
        if (isotok__is_added(spec, id, &known)) {
            flags[id] = known;
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const token *first = t->tokens + *find(t, t->tokens[i].text) - 1;
        const bool special = first->special || (flags[first->id] & ISOTOK_ADDED_PLAIN) == 0;
        flags[first->id] = t->tokens[first->last].flags & ~(special ? (uint32_t)ISOTOK_ADDED_PLAIN : 0u);
        put_token(spec, first, special);
    }
    for (uint32_t id = 0; id < all; id++) {
        if (flags[id] != 0xFFFFFFFFu) {
            pairs[count++] = id;
            pairs[count++] = flags[id];
        }
    }
    spec->vocab_size = all;
    spec->added = (isotok__span){(const uint8_t *)pairs, count};
    isotok__temp_end(work, mark);
    return ISOTOK_OK;
}

/* One search finds what tokenizers does, unless white space that a token takes along may be part
 * of another. */
static isotok_status check_spaces(isotok__work *work, const isotok__spec *spec)
{
    uint32_t any = 0;
    bool begins = false;
    bool passed_ends = false;
    for (size_t i = 0; i < spec->added.size; i += 2) {
        const isotok__span text = isotok__piece(spec, isotok__number(spec->added, i));
        const uint32_t flags = isotok__number(spec->added, i + 1);
        any |= flags;
        begins = begins || begins_with_space(text);
        passed_ends =
            passed_ends || (ends_with_space(text) && (!(flags & ISOTOK_ADDED_PLAIN) ||
                                                      (flags & ISOTOK_ADDED_SINGLE_WORD)));
    }
    const bool bad = begins && ((any & ISOTOK_ADDED_RSTRIP) ||
                                (passed_ends && (any & ISOTOK_ADDED_LSTRIP)));
    return bad ? fail(work, ISOTOK_WHAT_ADDED_SPACES, ISOTOK__NO_INDEX) : ISOTOK_OK;
}

/* The nodes that find the base's tokens are made anew with the others; not if they stand for other
 * spellings than the texts. */
static isotok_status drop_added_trie(isotok__work *work, isotok__spec *spec)
{
    const isotok__span given = spec->added_trie;
    isotok__plan plan;
    memset(&plan, 0, sizeof plan);
    spec->added_trie.size = 0;
    if (given.size == 0) {
        return ISOTOK_OK;
    }
    isotok_status status = isotok__plan_added(work, spec, &plan);
    if (status == ISOTOK_OK && (2 * (size_t)plan.special_trie.slots != given.size ||
                                memcmp(plan.special_trie.nodes, given.data, 4 * given.size) != 0)) {
        return fail(work, ISOTOK_WHAT_ADDED_MODEL, ISOTOK__NO_INDEX);
    }
    return status;
}

isotok_status isotok__added_take(isotok__work *work, isotok__spec *spec, isotok__span source)
{
    table t = {0};
    size_t bytes;
    if (spec->parity != ISOTOK_PARITY_HF && spec->parity != ISOTOK_PARITY_TIKTOKEN) {
        return fail(work, ISOTOK_WHAT_ADDED_MODEL, ISOTOK__NO_INDEX);
    }
    isotok_status status = drop_added_trie(work, spec);
    if (status != ISOTOK_OK) {
        return status;
    }
    status = read_tokens(work, spec, source, &t);
    if (status != ISOTOK_OK) {
        return status;
    }
    const uint32_t more = find_pieces(spec, &t, &bytes);
    status = extend(work, spec, more, bytes);
    if (status == ISOTOK_OK) {
        status = gather(work, spec, &t, spec->vocab_size + more);
    }
    if (status == ISOTOK_OK && spec->word_ranges.size == 0) {
        spec->word_ranges = t.word_ranges;
    }
    return status == ISOTOK_OK ? check_spaces(work, spec) : status;
}
