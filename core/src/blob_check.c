/* L1: checks of a blob's sections. See blob_check.h and FORMAT.md §9.
 *
 * Loops over large arrays accumulate a verdict without branches, so that they
 * vectorize, and look for the culprit only after a failure. */
#include "blob_check.h"

#include "cache.h"
#include "trie.h"

#define MOST_WEIGHT 0x7149F2CAu /* 1e30 as float32 bits: sums of weights stay finite */

/* Lets helpers report a failure in one line. */
struct check {
    const struct isotok_model *model;
    const struct isotok__blob *b;
    const uint8_t *data;
    isotok_error *error;
};

static isotok_status fail_at(const struct check *c, uint32_t what, uint32_t index,
                             const void *where)
{
    uint64_t offset = where != NULL ? (uint64_t)((const uint8_t *)where - c->data) : 0;
    return isotok__fail(c->error, ISOTOK_E_CORRUPT, what, index, offset, 0);
}

static ISOTOK_NOINLINE bool feature(const struct check *c, uint32_t bit)
{
    return (c->model->features >> bit & 1) != 0;
}
#define FEATURE(name) feature(c, ISOTOK__FEATURE_##name)

ISOTOK_INLINE isotok_status check_scalars(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    const uint64_t algorithms =
        ISOTOK_FEATURE(UNIGRAM) | ISOTOK_FEATURE(BPE) | ISOTOK_FEATURE(WORD) | ISOTOK_FEATURE(CHAR);
    const bool pretokens = FEATURE(PRETOKENS);
    uint32_t i, bad = 0, id;
    if (b->algorithm < ISOTOK_UNIGRAM ||
        b->algorithm > (ISOTOK__DISTILLED ? (uint32_t)ISOTOK_PRIORITY : (uint32_t)ISOTOK_WORDPIECE))
        return isotok__fail(c->error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_ALGORITHM, b->algorithm, 0,
                            0);
    /* wordpiece has the feature `word`; word, wordpiece and unigram are odd */
    if ((c->model->features & algorithms) != (0x0048421u >> 4 * (b->algorithm - 1) & 15u) ||
        (ISOTOK__DISTILLED && FEATURE(GREEDY) != (b->algorithm >= ISOTOK_LONGEST)) ||
        (ISOTOK__DISTILLED && FEATURE(GREEDY) && (c->model->pretokens || b->max_piece_bytes > 254)) ||
        (pretokens ? (b->algorithm & 1u) == 0
                   : b->algorithm == ISOTOK_WORDPIECE ||
                         (c->model->pretokens && b->algorithm != ISOTOK_BPE)))
        return fail_at(c, ISOTOK_WHAT_ALGORITHM, b->algorithm, NULL);
    if (b->max_key_bytes - 4 > ISOTOK_MAX_PIECE - 4) bad = ISOTOK__FIELD_MAX_KEY_BYTES;
    /* an ill-formed byte becomes U+FFFD, a space U+2581: three bytes each */
    if (b->max_expansion - 3 > ISOTOK_MAX_EXPANSION - 3) bad = ISOTOK__FIELD_MAX_EXPANSION;
    if (b->max_piece_bytes - 1 >= ISOTOK_MAX_PIECE - 1) bad = ISOTOK__FIELD_MAX_PIECE_BYTES;
    for (i = 0; i < 4; i++) {
        memcpy(&id, (const uint8_t *)&b->unk_id + 4 * i, sizeof id);
        /* ISOTOK_NO_TOKEN + 1 is 0 */
        if (id + 1 > b->vocab_size) bad = ISOTOK__FIELD_UNK_ID + i;
    }
    if (b->unk_id == ISOTOK_NO_TOKEN && b->byte_ids == NULL && !pretokens && !FEATURE(BYTE_LEVEL))
        bad = ISOTOK__FIELD_UNK_ID;
    if (b->vocab_size - 1 >= ISOTOK_MAX_SLOTS) bad = ISOTOK__FIELD_VOCAB_SIZE;
    return bad ? fail_at(c, ISOTOK_WHAT_SCALAR, bad, NULL) : ISOTOK_OK;
}

/* Code points in ascending order, where single words are asked for. */
static bool check_words(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    uint32_t i, bad = 0, flags = 0;
    for (i = 1; i < b->word_ranges_count; i++)
        bad |= (uint32_t)(b->word_ranges[i] <= b->word_ranges[i - 1]);
    for (i = 0; i < b->special_trie_count; i++) flags |= b->special_trie[i].value;
    return !bad && (b->word_ranges_count != 0 || !(flags & ISOTOK_ADDED_SINGLE_WORD));
}

/* How many elements a section has that is there. */
enum { ANY, BLOCKS, TRIE, PIECES, SLOTS, BYTES };
/* A bit that every model has here, and one that none has. */
enum { ALWAYS = 62, NEVER = ISOTOK__FEATURE_PACKED };

struct length_rule {
    uint8_t field, count; /* word of the view */
    uint8_t feature;      /* the section is there if the model has this, and only then */
    uint8_t form;
};

static bool is_length(const struct check *c, const struct length_rule *rule)
{
    const uint32_t wanted[] = {0, 0, 0, c->b->vocab_size, c->b->trie_count, 256};
    uint32_t count;
    memcpy(&count, (const uint8_t *)c->b + 4 * rule->count, sizeof count);
    if (!((c->model->features | (uint64_t)1 << ALWAYS) >> rule->feature & 1)) return count == 0;
    if (rule->form >= PIECES) return count == wanted[rule->form];
    return count != 0 && (rule->form == ANY || count % 256 == 0) &&
           (rule->form != TRIE || count <= ISOTOK_MAX_SLOTS);
}

#define RULE(FIELD, name, feature, form)                                                      \
    {                                                                                         \
        ISOTOK__FIELD_##FIELD, offsetof(struct isotok__blob, name##_count) / 4, feature, form \
    }

ISOTOK_INLINE isotok_status check_lengths(const struct check *c)
{
    static const struct length_rule rules[] = {
        RULE(PIECE_ENDS, piece_ends, ALWAYS, PIECES),
        RULE(PIECE_SIZES, piece_sizes, NEVER, ANY),
        RULE(SCORES, scores, ALWAYS, PIECES),
        RULE(TYPES, types, ALWAYS, PIECES),
        RULE(TRIE, trie, ALWAYS, TRIE),
        RULE(TRIE_IDS, trie_ids, ALWAYS, SLOTS),
        RULE(BYTE_IDS, byte_ids, ISOTOK__FEATURE_BYTE_FALLBACK, BYTES),
        RULE(PRETOK_HEADER, pretok_header, ISOTOK__FEATURE_PRETOKENIZER, ANY),
        RULE(MERGE_SPLITS, merge_splits, ISOTOK__FEATURE_MERGE_LIST, ANY),
        RULE(SPECIAL_TRIE, special_trie, ISOTOK__FEATURE_SPECIAL_TOKENS, TRIE),
        RULE(USER_TRIE, user_trie, ISOTOK__FEATURE_USER_DEFINED, TRIE),
        RULE(CHARSMAP_TRIE, charsmap_trie, ISOTOK__FEATURE_CHARSMAP, BLOCKS),
        RULE(CHARSMAP_TEXT, charsmap_text, ISOTOK__FEATURE_CHARSMAP, ANY),
#if ISOTOK__DISTILLED
        RULE(MEMO, memo, ISOTOK__FEATURE_MEMO, BLOCKS), /* 16 sets or more */
#endif
        RULE(UNICODE_HEADER, unicode_header, ISOTOK__FEATURE_UNICODE, ANY),
        RULE(UNICODE_TABLES, unicode_tables, ISOTOK__FEATURE_UNICODE, ANY),
        RULE(UNICODE_TEXT, unicode_text, ISOTOK__FEATURE_UNICODE, ANY),
        RULE(DENORMALIZER_TRIE, denormalizer_trie, ISOTOK__FEATURE_DENORMALIZER, BLOCKS),
        RULE(DENORMALIZER_TEXT, denormalizer_text, ISOTOK__FEATURE_DENORMALIZER, ANY),
    };
    const struct isotok__blob *b = c->b;
    const uint32_t pair_words = b->pair_set_count - ISOTOK_PAIR_ASCII_WORDS;
    const bool starts = !FEATURE(UNICODE) && (FEATURE(USER_DEFINED) || FEATURE(CHARSMAP));
    uint32_t i, bad = 0;
    for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!is_length(c, &rules[i])) bad = rules[i].field;
    if (c->model->pretokens && b->pair_set_count == 0
            ? b->char_joints_count != 0
            : pair_words - 1 >= 1u << 26 || (pair_words & (pair_words - 1)) != 0)
        bad = ISOTOK__FIELD_PAIR_SET;
    if (b->start_set_count != (starts ? ISOTOK_START_WORDS : 0u)) bad = ISOTOK__FIELD_START_SET;
    if (b->unk_surface_count > 0xFFFFFFu) bad = ISOTOK__FIELD_UNK_SURFACE;
    if (b->exact_scores_count != 0 && b->exact_scores_count != b->vocab_size + 1)
        bad = ISOTOK__FIELD_EXACT_SCORES;
    if (b->pretok_windows_count % ISOTOK__WINDOWS_SIZE != 0) bad = ISOTOK__FIELD_PRETOK_WINDOWS;
    if (b->char_joints_count % 1024 != 0) bad = ISOTOK__FIELD_CHAR_JOINTS;
    if (ISOTOK__DISTILLED && b->algorithm != ISOTOK_LONGEST && b->exceptions_count != 0)
        bad = ISOTOK__FIELD_EXCEPTIONS;
    if (FEATURE(PRETOKENS) && b->word_rules_count < 4 * ISOTOK__RULES)
        bad = ISOTOK__FIELD_WORD_RULES;
    return bad ? fail_at(c, ISOTOK_WHAT_SECTION, bad, NULL) : ISOTOK_OK;
}

/* Tokens around one sequence, then those around a pair, which only hosts read. */
static bool check_template(const struct isotok__blob *b)
{
    uint32_t i, sequences = 0;
    for (i = 0; i < b->template_ops_count; i++) {
        const struct isotok__operation *operation = b->template_ops + i;
        const bool token = operation->kind == ISOTOK_OP_TOKEN;
        const bool pair = (operation->flags & ISOTOK_TEMPLATE_PAIR) != 0;
        sequences += !token && !pair;
        if (operation->kind - 1 >= (pair ? 3u : 2u) || operation->section != 0 ||
            (operation->flags >> 19) != 0 || (token && operation->argument >= b->vocab_size))
            return false;
    }
    return b->template_ops_count == 0 || sequences == 1;
}

/* Whether it is of this kind, has only these flags, and this section. */
static bool is_operation(const struct isotok__operation *operation, uint32_t kind, uint32_t flags,
                         uint32_t section)
{
    return operation->kind == kind && (operation->flags & ~flags) == 0 &&
           operation->section == section &&
           (operation->argument == 0 || kind == ISOTOK_OP_DECODE_PIECES);
}

static bool is_decoder(const struct isotok__operation *operation, bool bytes, bool denormalizer)
{
    if (bytes) return is_operation(operation, ISOTOK_OP_DECODE_BYTES, 0, 0);
    if (operation->kind == ISOTOK_OP_DECODE_SENTENCEPIECE)
        return is_operation(operation, ISOTOK_OP_DECODE_SENTENCEPIECE, 3, 0);
    return !denormalizer && is_operation(operation, ISOTOK_OP_DECODE_PIECES, ISOTOK__DECODE_ALL, 0);
}

ISOTOK_INLINE bool are_operations(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    const bool denormalizer = FEATURE(DENORMALIZER), charsmap = FEATURE(CHARSMAP);
    const bool pretokenizer = FEATURE(PRETOKENIZER), bytes = FEATURE(BYTE_LEVEL);
    const bool unicode = FEATURE(UNICODE);
    /* a program does all that a normalizer does; the flag only tells that no space is left */
    const uint32_t flags = bytes ? 0 : unicode ? ISOTOK_NORM_ESCAPE : ISOTOK_NORM_ALL;
    if (b->normalizer_count != 1 || b->pretokenizer_count != pretokenizer ||
        b->decoder_count != 1u + denormalizer || !check_template(b) ||
        !is_operation(b->normalizer, ISOTOK_OP_NORMALIZE_SENTENCEPIECE, flags, charsmap) ||
        !is_decoder(b->decoder, bytes, denormalizer))
        return false;
    /* byte-level models have nothing of what belongs to SentencePiece's */
    if (bytes && (b->algorithm != ISOTOK_BPE || denormalizer || (charsmap && !unicode) ||
                  b->byte_ids != NULL))
        return false;
    if ((bytes || unicode) && b->user_trie != NULL) return false;
    if (pretokenizer && !is_operation(b->pretokenizer, ISOTOK_OP_PRETOKENIZE, 0, 1)) return false;
    if (denormalizer && !is_operation(b->decoder + 1, ISOTOK_OP_DENORMALIZE, ISOTOK_NORM_ALL, 1))
        return false;
    /* the internal form needs escaped spaces */
    return !FEATURE(COMPACT_SPACE) || (b->normalizer[0].flags & ISOTOK_NORM_ESCAPE) != 0;
}

static isotok_status check_operations(const struct check *c)
{
    const uint8_t *normalizer = (const uint8_t *)c->b->normalizer;
    if (are_operations(c)) return ISOTOK_OK;
    return isotok__fail(c->error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_OPERATION, 0,
                        normalizer ? (uint64_t)(normalizer - c->data) : 0, 0);
}

ISOTOK_INLINE isotok_status check_pieces(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    uint32_t i, previous = 0, longest = 0, bad = 0;
    for (i = 0; i < b->vocab_size; i++) {
        uint32_t end = b->piece_ends[i], size = end - previous;
        bad |= (uint32_t)(end < previous);
        longest = size > longest ? size : longest;
        previous = end;
    }
    if (bad || previous > b->piece_text_count)
        return fail_at(c, ISOTOK_WHAT_PIECE_ENDS, 0, b->piece_ends);
    if (longest > b->max_piece_bytes) return fail_at(c, ISOTOK_WHAT_MAX_PIECE, 0, b->piece_ends);
    for (i = 0; i < b->vocab_size; i++)
        bad |= (uint32_t)((uint8_t)(b->types[i] - 1) > ISOTOK_BYTE - 1);
    if (bad) return fail_at(c, ISOTOK_WHAT_PIECE_TYPE, 0, b->types);
    return ISOTOK_OK;
}

static uint32_t hex_digit(uint32_t number)
{
    return number + (number < 10 ? '0' : 'A' - 10);
}

ISOTOK_INLINE isotok_status check_byte_ids(const struct check *c)
{
    uint32_t i, size;
    for (i = 0; i < c->b->byte_ids_count; i++) {
        uint32_t id = c->b->byte_ids[i];
        const uint8_t *text;
        if (id == ISOTOK_NO_TOKEN && c->model->pretokens) continue;
        if (id >= c->b->vocab_size || (c->b->types[id] != ISOTOK_BYTE && !c->model->pretokens))
            return fail_at(c, ISOTOK_WHAT_BYTE_IDS, i, c->b->byte_ids + i);
        text = isotok__piece_text(c->model, id, &size);
        if (size != 6 || text[3] != hex_digit(i >> 4) || text[4] != hex_digit(i & 15))
            return fail_at(c, ISOTOK_WHAT_BYTE_IDS, i, c->b->byte_ids + i);
    }
    /* decode reads the byte value from the piece text: every BYTE piece must spell one */
    for (i = 0; i < c->b->vocab_size; i++)
        if (c->b->types[i] == ISOTOK_BYTE) {
            isotok__piece_text(c->model, i, &size);
            if (size != 6 || c->b->byte_ids == NULL)
                return fail_at(c, ISOTOK_WHAT_BYTE_IDS, i, c->b->types + i);
        }
    return ISOTOK_OK;
}

#if ISOTOK__DISTILLED
/* The bytes of a token; 0: it is no piece and no unknown character. */
static uint32_t token_size(const struct check *c, uint32_t token)
{
    const uint32_t slot = token >> 8;
    const bool piece = slot < c->b->trie_count && c->b->trie_ids[slot] != ISOTOK_NO_TOKEN;
    return piece || slot == ISOTOK_UNK_SLOT ? token & 0xFFu : 0;
}

/* Whether tokens[0..count) fill `size` bytes. */
static ISOTOK_NOINLINE bool are_tokens(const struct check *c, const uint32_t *tokens, uint32_t count, uint32_t size)
{
    uint32_t i;
    for (i = 0; i < count; i++) {
        const uint32_t n = token_size(c, tokens[i]);
        if (n == 0 || n > size) return false;
        size -= n;
    }
    return size == 0;
}

static bool is_exception(const struct check *c, uint32_t at)
{
    const uint32_t count = c->b->exceptions_count;
    uint32_t head;
    if (at >= count) return false;
    head = c->b->exceptions[at];
    return (head >> 8) < count - at && (head & 0xFFu) != 0 &&
           are_tokens(c, c->b->exceptions + at + 1, head >> 8, head & 0xFFu);
}

/* An entry is used where |carried| <= valid_to: with weights as bounded as the trie's, and that as
 * a re-centring has it, sums stay finite. */
static bool is_memo_entry(const struct isotok__cache_entry *entry)
{
    uint32_t i;
    for (i = ISOTOK__CACHE_TOKENS / 2; i < ISOTOK__CACHE_TOKENS; i++)
        if ((entry->tokens[i] & 0x7FFFFFFFu) > MOST_WEIGHT) return false;
    return entry->count <= ISOTOK__CACHE_TOKENS / 2 && entry->valid_to <= 100000.0f;
}

ISOTOK_INLINE isotok_status check_memo(const struct check *c)
{
    const struct isotok__cache_entry *entries =
        (const struct isotok__cache_entry *)(const void *)c->b->memo;
    uint32_t i;
    for (i = 0; i < c->b->memo_count / (ISOTOK__MEMO_WORDS / 2); i++)
        if (!is_memo_entry(&entries[i]) ||
            !are_tokens(c, entries[i].tokens, entries[i].count, entries[i].size))
            return fail_at(c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_MEMO, &entries[i]);
    return ISOTOK_OK;
}
#else
#define check_memo(c) ISOTOK_OK
#define is_exception(c, at) false
#endif

/* Links inside the array; a slot has a value exactly where it has an id. */
ISOTOK_INLINE isotok_status check_trie(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    const bool weighted = b->algorithm == ISOTOK_UNIGRAM ||
                          (ISOTOK__DISTILLED && b->algorithm == ISOTOK_PRIORITY);
    const bool longest = ISOTOK__DISTILLED && b->algorithm == ISOTOK_LONGEST;
    uint32_t i, bad = 0, none = ISOTOK_VALUE_NONE, limit = 0xFFFFFFFFu;
    if (weighted) {
        /* |weight| <= 1e30, so that sums stay finite; `wide` models take any finite weight */
        none = ISOTOK_VALUE_NONE_SCORE;
        limit = c->model->pretokens || FEATURE(WIDE) ? 0x7F7FFFFFu : MOST_WEIGHT;
    }
    for (i = 0; i < b->trie_count; i++) bad |= (uint32_t)((b->trie[i].link >> 8) >= b->trie_count);
    if (bad) return fail_at(c, ISOTOK_WHAT_TRIE, 0, b->trie);
    for (i = 0; i < b->trie_count; i++) {
        uint32_t value = b->trie[i].value, id = b->trie_ids[i];
        bool ends = value != none;
        if (longest && ends && value != 0) { /* an exception, and perhaps a piece */
            bad |= !is_exception(c, value - 1);
            ends = id != ISOTOK_NO_TOKEN;
        }
        bad |= (uint32_t)(ends ? id >= b->vocab_size : id != ISOTOK_NO_TOKEN);
        bad |= (uint32_t)(ends & weighted & ((value & 0x7FFFFFFFu) > limit));
        bad |= (uint32_t)(ends & (b->merge_splits != NULL) &
                          ((value << 1 >> 9) + (value & 0xFFu) > b->merge_splits_count));
    }
    if (bad) return fail_at(c, ISOTOK_WHAT_TRIE_ID, 0, b->trie_ids);
    if (b->trie[0].value != none || (b->trie[0].link & 0xFFu) == 0)
        return fail_at(c, ISOTOK_WHAT_TRIE, 0, b->trie);
    if (weighted) {
        uint32_t bits;
        memcpy(&bits, &b->unk_score, 4);
        if ((bits & 0x7FFFFFFFu) > limit)
            return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_UNK_SCORE, NULL);
    }
    return ISOTOK_OK;
}

/* A trie whose values are ids + 1, and flags. */
static isotok_status check_ids_trie(const struct check *c, const struct isotok__trie_node *trie,
                                    uint32_t count, uint32_t flags)
{
    uint32_t i, bad = 0;
    for (i = 0; i < count; i++)
        bad |= (uint32_t)((trie[i].link >> 8) >= count) |
               (uint32_t)((trie[i].value & ~flags) > c->b->vocab_size) |
               (uint32_t)((trie[i].value & flags) == trie[i].value && trie[i].value != 0);
    if (count != 0) bad |= (uint32_t)((trie[0].link & 0xFFu) == 0);
    return bad ? fail_at(c, ISOTOK_WHAT_TRIE, 0, trie) : ISOTOK_OK;
}

/* The automaton; and if symbols are bytes, each is a piece: no text has an unknown token. */
ISOTOK_INLINE isotok_status check_pretokenizer(const struct check *c)
{
    const struct isotok__pretok_arrays arrays = isotok__pretok_arrays(c->b);
    uint32_t byte, slot;
    if (FEATURE(PRETOKENIZER) && !isotok__pretok_check(&arrays))
        return fail_at(c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_PRETOK_TABLES, c->b->pretok_tables);
    if (!FEATURE(BYTE_LEVEL)) return ISOTOK_OK;
    for (byte = 0; byte < 256; byte++) {
        slot = isotok__trie_child(c->b->trie, 0, (uint8_t)byte);
        if (slot == ISOTOK_NO_SLOT || c->b->trie_ids[slot] == ISOTOK_NO_TOKEN)
            return fail_at(c, ISOTOK_WHAT_BYTE_IDS, byte, c->b->trie);
    }
    return ISOTOK_OK;
}

/* Slots are in the trie or ISOTOK_UNK_SLOT, which is in none. */
static isotok_status check_pretokens(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    uint32_t rule, slot, last = ISOTOK_NO_TOKEN;
    if (!FEATURE(PRETOKENS)) return ISOTOK_OK;
    for (rule = ISOTOK__RULE_CONTINUATION + 1; rule-- > 0;) {
        slot = isotok__word_rule(c->model, rule);
        last = 0;
        if (slot == ISOTOK_UNK_SLOT) continue;
        if (slot >= b->trie_count) return fail_at(c, ISOTOK_WHAT_TRIE_ID, rule, b->word_rules);
        last = b->trie_ids[slot];
    }
    return last == ISOTOK_NO_TOKEN ? fail_at(c, ISOTOK_WHAT_TRIE_ID, 0, b->word_rules) : ISOTOK_OK;
}

static isotok_status check_other_ids(const struct check *c)
{
    uint32_t i;
    for (i = 0; i < c->b->other_ids_count; i++)
        if (c->b->other_ids[i] >= c->b->vocab_size)
            return fail_at(c, ISOTOK_WHAT_INDEX, i, c->b->other_ids + i);
    return ISOTOK_OK;
}

uint32_t isotok__longest_run(const uint8_t *text, uint32_t size, uint32_t space, uint32_t least)
{
    uint32_t i, run = 0;
    for (i = 0; i < size; i++) {
        run = text[i] == 0 ? 0 : run + (text[i] == 0x20 ? space : 1u);
        if (run > least) least = run;
    }
    return least;
}

/* Darts units: no byte leads outside; a leaf's value lies in the pool. And no replacement is
 * longer than max_expansion says: that bounds a session's memory. */
static isotok_status check_rules(const struct check *c, const uint32_t *units, uint32_t count,
                                 const uint8_t *text, uint32_t text_size, uint32_t flags)
{
    uint32_t i;
    if (count == 0) return ISOTOK_OK;
    if (text[text_size - 1] != 0) return fail_at(c, ISOTOK_WHAT_CHARSMAP, 0, text + text_size - 1);
    for (i = 0; i < count; i++) {
        const uint32_t unit = units[i], child = i ^ isotok__darts_offset(unit);
        bool bad = i == 0;
        if (!(unit & 0x80000000u))
            bad = (child | 0xFFu) >= count ||
                  ((unit & 0x100u) && (units[child] ^ 0x80000000u) >= text_size);
        if (bad) return fail_at(c, ISOTOK_WHAT_CHARSMAP, i, units + i);
    }
    if (isotok__longest_run(text, text_size, flags & ISOTOK_NORM_ESCAPE ? 3 : 1, 0) >
        c->b->max_expansion)
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_MAX_EXPANSION, NULL);
    return ISOTOK_OK;
}

isotok_status isotok__check_shape(const struct isotok_model *model, const uint8_t *data,
                                  isotok_error *error)
{
    struct check c = {model, &model->blob, data, error};
    isotok_status status;
    if ((status = check_scalars(&c)) != ISOTOK_OK) return status;
    if ((status = check_lengths(&c)) != ISOTOK_OK) return status;
    return check_operations(&c);
}

isotok_status isotok__check_contents(const struct isotok_model *model, const uint8_t *data,
                                     isotok_error *error)
{
    struct check c = {model, &model->blob, data, error};
    const struct isotok__blob *b = &model->blob;
    isotok_status status;
    if ((status = check_pieces(&c)) != ISOTOK_OK) return status;
    if ((status = check_byte_ids(&c)) != ISOTOK_OK) return status;
    if ((status = check_trie(&c)) != ISOTOK_OK) return status;
    if ((status = check_ids_trie(&c, b->user_trie, b->user_trie_count, 0)) != ISOTOK_OK)
        return status;
    if (ISOTOK__DISTILLED && (status = check_memo(&c)) != ISOTOK_OK) return status;
    if (!check_words(&c))
        return fail_at(&c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_WORD_RANGES, b->word_ranges);
    status = check_ids_trie(&c, b->special_trie, b->special_trie_count, ISOTOK__ADDED_FLAGS);
    if (status == ISOTOK_OK && !ISOTOK_SENTENCEPIECE_ONLY) status = check_pretokenizer(&c);
    if (status == ISOTOK_OK && !ISOTOK_SENTENCEPIECE_ONLY) status = check_pretokens(&c);
    if (status == ISOTOK_OK && ISOTOK__HAS(model->program.on) &&
        !isotok__unicode_check(&model->program, b))
        status = fail_at(&c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_UNICODE_TABLES, b->unicode_tables);
    if (status != ISOTOK_OK) return status;
    if ((status = check_other_ids(&c)) != ISOTOK_OK) return status;
    status = check_rules(&c, b->charsmap_trie, b->charsmap_trie_count, b->charsmap_text,
                         b->charsmap_text_count, b->normalizer[0].flags);
    if (status != ISOTOK_OK || b->decoder_count < 2) return status;
    return check_rules(&c, b->denormalizer_trie, b->denormalizer_trie_count, b->denormalizer_text,
                       b->denormalizer_text_count, b->decoder[1].flags);
}
