/* L1: checks of a blob's sections. See blob_check.h and FORMAT.md §9.
 *
 * Loops over large arrays accumulate a verdict without branches, so that they
 * vectorize, and look for the culprit only after a failure. */
#include "blob_check.h"

#include "trie.h"

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

static bool feature(const struct check *c, uint64_t bit)
{
    return (c->model->features & bit) != 0;
}

static isotok_status check_scalars(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    const uint64_t algorithms =
        ISOTOK_FEATURE(UNIGRAM) | ISOTOK_FEATURE(BPE) | ISOTOK_FEATURE(WORD) | ISOTOK_FEATURE(CHAR);
    const bool pretokens = feature(c, ISOTOK_FEATURE(PRETOKENS));
    const uint32_t ids[] = {b->unk_id, b->bos_id, b->eos_id, b->pad_id};
    uint32_t i;
    if (b->algorithm < ISOTOK_UNIGRAM || b->algorithm > ISOTOK_WORDPIECE)
        return isotok__fail(c->error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_ALGORITHM, b->algorithm, 0,
                            0);
    /* wordpiece has the feature `word`; word, wordpiece and unigram are odd */
    if ((c->model->features & algorithms) != (0x48421u >> 4 * (b->algorithm - 1) & 15u) ||
        (pretokens ? (b->algorithm & 1u) == 0
                   : b->algorithm == ISOTOK_WORDPIECE ||
                         (c->model->pretokens && b->algorithm != ISOTOK_BPE)))
        return fail_at(c, ISOTOK_WHAT_ALGORITHM, b->algorithm, NULL);
    if (b->vocab_size == 0 || b->vocab_size > 0x1000000u)
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_VOCAB_SIZE, NULL);
    for (i = 0; i < 4; i++)
        if (ids[i] != ISOTOK_NO_TOKEN && ids[i] >= b->vocab_size)
            return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_UNK_ID + i, NULL);
    if (b->unk_id == ISOTOK_NO_TOKEN && b->byte_ids == NULL &&
        !feature(c, ISOTOK_FEATURE(BYTE_LEVEL) | ISOTOK_FEATURE(PRETOKENS)))
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_UNK_ID, NULL);
    if (b->max_piece_bytes == 0 || b->max_piece_bytes >= ISOTOK_MAX_PIECE)
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_MAX_PIECE_BYTES, NULL);
    /* an ill-formed byte becomes U+FFFD, a space U+2581: three bytes each */
    if (b->max_expansion < 3 || b->max_expansion > ISOTOK_MAX_EXPANSION)
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_MAX_EXPANSION, NULL);
    if (b->max_key_bytes < 4 || b->max_key_bytes > ISOTOK_MAX_PIECE)
        return fail_at(c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_MAX_KEY_BYTES, NULL);
    return ISOTOK_OK;
}

/* Code points in ascending order, where single words are asked for. */
static bool check_words(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    uint32_t i, bad = 0, flags = 0;
    for (i = 1; i < b->word_ranges_count; i++)
        bad |= (uint32_t)(b->word_ranges[i] <= b->word_ranges[i - 1]);
    for (i = 0; i < b->special_trie_count; i++) flags |= b->special_trie[i].value;
    return !bad && (b->word_ranges_count != 0 || !(flags & ISOTOK__ADDED_SINGLE_WORD));
}

static bool is_trie_size(uint32_t count)
{
    return count != 0 && count % 256 == 0 && count <= ISOTOK_MAX_SLOTS;
}

static isotok_status check_lengths(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    bool user = feature(c, ISOTOK_FEATURE(USER_DEFINED));
    bool charsmap = feature(c, ISOTOK_FEATURE(CHARSMAP));
    bool denormalizer = feature(c, ISOTOK_FEATURE(DENORMALIZER));
    bool pretokenizer = feature(c, ISOTOK_FEATURE(PRETOKENIZER));
    bool unicode = feature(c, ISOTOK_FEATURE(UNICODE));
    uint32_t pair_words = b->pair_set_count - ISOTOK_PAIR_ASCII_WORDS;
    const struct {
        uint32_t field;
        bool ok;
    } rules[] = {
        {ISOTOK__FIELD_PIECE_ENDS, b->piece_ends_count == b->vocab_size},
        {ISOTOK__FIELD_PIECE_SIZES, b->piece_sizes == NULL},
        {ISOTOK__FIELD_SCORES, b->scores_count == b->vocab_size},
        {ISOTOK__FIELD_TYPES, b->types_count == b->vocab_size},
        {ISOTOK__FIELD_TRIE, is_trie_size(b->trie_count)},
        {ISOTOK__FIELD_TRIE_IDS, b->trie_ids_count == b->trie_count},
        {ISOTOK__FIELD_BYTE_IDS,
         b->byte_ids_count == (feature(c, ISOTOK_FEATURE(BYTE_FALLBACK)) ? 256u : 0u)},
        {ISOTOK__FIELD_PAIR_SET,
         c->model->pretokens ? b->pair_set == NULL
                             : b->pair_set_count > ISOTOK_PAIR_ASCII_WORDS &&
                                   (pair_words & (pair_words - 1)) == 0 && pair_words <= 1u << 26},
        {ISOTOK__FIELD_PRETOK_HEADER, pretokenizer == (b->pretok_header != NULL)},
        {ISOTOK__FIELD_MERGE_SPLITS,
         feature(c, ISOTOK_FEATURE(MERGE_LIST)) == (b->merge_splits != NULL)},
        {ISOTOK__FIELD_SPECIAL_TRIE,
         feature(c, ISOTOK_FEATURE(SPECIAL_TOKENS)) ? is_trie_size(b->special_trie_count)
                                                    : b->special_trie == NULL},
        {ISOTOK__FIELD_USER_TRIE, user ? is_trie_size(b->user_trie_count) : b->user_trie == NULL},
        {ISOTOK__FIELD_CHARSMAP_TRIE,
         charsmap ? b->charsmap_trie_count != 0 && b->charsmap_trie_count % 256 == 0
                  : b->charsmap_trie == NULL},
        {ISOTOK__FIELD_CHARSMAP_TEXT, charsmap == (b->charsmap_text_count != 0)},
        {ISOTOK__FIELD_START_SET,
         b->start_set_count == (!unicode && (user || charsmap) ? ISOTOK_START_WORDS : 0u)},
        {ISOTOK__FIELD_UNICODE_HEADER, unicode == (b->unicode_header != NULL)},
        {ISOTOK__FIELD_UNICODE_TABLES, unicode == (b->unicode_tables != NULL)},
        {ISOTOK__FIELD_UNICODE_TEXT, unicode == (b->unicode_text != NULL)},
        {ISOTOK__FIELD_DENORMALIZER_TRIE,
         denormalizer ? b->denormalizer_trie_count != 0 && b->denormalizer_trie_count % 256 == 0
                      : b->denormalizer_trie == NULL},
        {ISOTOK__FIELD_DENORMALIZER_TEXT, denormalizer == (b->denormalizer_text_count != 0)},
        {ISOTOK__FIELD_UNK_SURFACE, b->unk_surface_count <= 0xFFFFFFu},
    };
    uint32_t i;
    for (i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (!rules[i].ok) return fail_at(c, ISOTOK_WHAT_SECTION, rules[i].field, NULL);
    if (b->exact_scores != NULL && b->exact_scores_count != b->vocab_size + 1)
        return fail_at(c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_EXACT_SCORES, NULL);
    if (feature(c, ISOTOK_FEATURE(PRETOKENS)) && b->word_rules_count < 4 * ISOTOK__RULES)
        return fail_at(c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_WORD_RULES, NULL);
    return ISOTOK_OK;
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
            (operation->flags >> 17) != 0 || (token && operation->argument >= b->vocab_size))
            return false;
    }
    return b->template_ops_count == 0 || sequences == 1;
}

static isotok_status check_operations(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    bool denormalizer = feature(c, ISOTOK_FEATURE(DENORMALIZER));
    bool charsmap = feature(c, ISOTOK_FEATURE(CHARSMAP));
    bool pretokenizer = feature(c, ISOTOK_FEATURE(PRETOKENIZER));
    bool bytes = feature(c, ISOTOK_FEATURE(BYTE_LEVEL));
    static const uint32_t decoder_flags[] = {0, 3, 0, 0, ISOTOK__DECODE_ALL};
    bool unicode = feature(c, ISOTOK_FEATURE(UNICODE));
    bool ok = b->normalizer_count == 1 && b->pretokenizer_count == (pretokenizer ? 1u : 0u) &&
              check_template(b) && b->decoder_count == (denormalizer ? 2u : 1u);
    ok = ok && b->normalizer[0].kind == ISOTOK_OP_NORMALIZE_SENTENCEPIECE &&
         (b->normalizer[0].flags & ~(uint32_t)ISOTOK_NORM_ALL) == 0 &&
         b->normalizer[0].section == (charsmap ? 1u : 0u) && b->normalizer[0].argument == 0;
    /* byte-level models have nothing of what belongs to SentencePiece's */
    ok = ok &&
         (!bytes || (b->algorithm == ISOTOK_BPE && b->normalizer[0].flags == 0 && !denormalizer &&
                     (!charsmap || unicode) && b->user_trie == NULL && b->byte_ids == NULL));
    if (ok && pretokenizer)
        ok = b->pretokenizer[0].kind == ISOTOK_OP_PRETOKENIZE && b->pretokenizer[0].flags == 0 &&
             b->pretokenizer[0].section == 1 && b->pretokenizer[0].argument == 0;
    ok = ok && b->decoder[0].section == 0 && b->decoder[0].kind <= ISOTOK_OP_DECODE_PIECES &&
         b->decoder[0].kind != ISOTOK_OP_DENORMALIZE &&
         bytes == (b->decoder[0].kind == ISOTOK_OP_DECODE_BYTES) &&
         !(denormalizer && b->decoder[0].kind == ISOTOK_OP_DECODE_PIECES) &&
         (b->decoder[0].flags & ~decoder_flags[b->decoder[0].kind]) == 0 &&
         (b->decoder[0].argument == 0 || b->decoder[0].kind == ISOTOK_OP_DECODE_PIECES);
    if (ok && denormalizer)
        ok = b->decoder[1].kind == ISOTOK_OP_DENORMALIZE &&
             (b->decoder[1].flags & ~(uint32_t)ISOTOK_NORM_ALL) == 0 &&
             b->decoder[1].section == 1 && b->decoder[1].argument == 0;
    /* a program does all that a normalizer does; the flag only tells that no space is left */
    if (unicode)
        ok = ok && (b->normalizer[0].flags & ~(uint32_t)ISOTOK_NORM_ESCAPE) == 0 &&
             b->user_trie == NULL;
    /* the internal form needs escaped spaces */
    if (ok && feature(c, ISOTOK_FEATURE(COMPACT_SPACE)))
        ok = (b->normalizer[0].flags & ISOTOK_NORM_ESCAPE) != 0;
    if (!ok)
        return isotok__fail(
            c->error, ISOTOK_E_UNSUPPORTED, ISOTOK_WHAT_OPERATION, 0,
            b->normalizer ? (uint64_t)((const uint8_t *)b->normalizer - c->data) : 0, 0);
    return ISOTOK_OK;
}

static isotok_status check_pieces(const struct check *c)
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

static isotok_status check_byte_ids(const struct check *c)
{
    static const char hex[] = "0123456789ABCDEF";
    uint32_t i, size;
    for (i = 0; i < c->b->byte_ids_count; i++) {
        uint32_t id = c->b->byte_ids[i];
        const uint8_t *text;
        if (id == ISOTOK_NO_TOKEN && c->model->pretokens) continue;
        if (id >= c->b->vocab_size || (c->b->types[id] != ISOTOK_BYTE && !c->model->pretokens))
            return fail_at(c, ISOTOK_WHAT_BYTE_IDS, i, c->b->byte_ids + i);
        text = isotok__piece_text(c->model, id, &size);
        if (size != 6 || text[3] != (uint8_t)hex[i >> 4] || text[4] != (uint8_t)hex[i & 15])
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

/* Links inside the array; a slot has a value exactly where it has an id. */
static isotok_status check_trie(const struct check *c)
{
    const struct isotok__blob *b = c->b;
    uint32_t i, bad = 0, none = ISOTOK_VALUE_NONE, limit = 0xFFFFFFFFu;
    if (b->algorithm == ISOTOK_UNIGRAM) {
        /* |weight| <= 1e30, so that sums stay finite; `wide` models take any finite weight */
        none = ISOTOK_VALUE_NONE_SCORE;
        limit = c->model->pretokens || feature(c, ISOTOK_FEATURE(WIDE)) ? 0x7F7FFFFFu : 0x7149F2CAu;
    }
    for (i = 0; i < b->trie_count; i++) bad |= (uint32_t)((b->trie[i].link >> 8) >= b->trie_count);
    if (bad) return fail_at(c, ISOTOK_WHAT_TRIE, 0, b->trie);
    for (i = 0; i < b->trie_count; i++) {
        uint32_t value = b->trie[i].value, id = b->trie_ids[i];
        bool ends = value != none;
        bad |= (uint32_t)(ends ? id >= b->vocab_size : id != ISOTOK_NO_TOKEN);
        bad |=
            (uint32_t)(ends & (b->algorithm == ISOTOK_UNIGRAM) & ((value & 0x7FFFFFFFu) > limit));
        bad |= (uint32_t)(ends & (b->merge_splits != NULL) &
                          ((value << 1 >> 9) + (value & 0xFFu) > b->merge_splits_count));
    }
    if (bad) return fail_at(c, ISOTOK_WHAT_TRIE_ID, 0, b->trie_ids);
    if (b->trie[0].value != none || (b->trie[0].link & 0xFFu) == 0)
        return fail_at(c, ISOTOK_WHAT_TRIE, 0, b->trie);
    if (b->algorithm == ISOTOK_UNIGRAM) {
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
static isotok_status check_pretokenizer(const struct check *c)
{
    const struct isotok__pretok_arrays arrays = isotok__pretok_arrays(c->b);
    uint32_t byte, slot;
    if (feature(c, ISOTOK_FEATURE(PRETOKENIZER)) && !isotok__pretok_check(&arrays))
        return fail_at(c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_PRETOK_TABLES, c->b->pretok_tables);
    if (!feature(c, ISOTOK_FEATURE(BYTE_LEVEL))) return ISOTOK_OK;
    for (byte = 0; byte < 256; byte++) {
        slot = isotok__trie_step(c->b->trie, 0, (uint8_t)byte);
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
    if (!feature(c, ISOTOK_FEATURE(PRETOKENS))) return ISOTOK_OK;
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

/* Darts units: no byte leads outside; a leaf's value lies in the pool. */
static isotok_status check_charsmap(const struct check *c, const uint32_t *units, uint32_t count,
                                    const uint8_t *text, uint32_t text_size)
{
    uint32_t i;
    if (count == 0) return ISOTOK_OK;
    if (text[text_size - 1] != 0) return fail_at(c, ISOTOK_WHAT_CHARSMAP, 0, text + text_size - 1);
    for (i = 0; i < count; i++) {
        uint32_t unit = units[i], child;
        if (unit & 0x80000000u) continue;
        child = i ^ isotok__darts_offset(unit);
        if ((child | 0xFFu) >= count) return fail_at(c, ISOTOK_WHAT_CHARSMAP, i, units + i);
        if ((unit & 0x100u) &&
            ((units[child] & 0x80000000u) == 0 || (units[child] & 0x7FFFFFFFu) >= text_size))
            return fail_at(c, ISOTOK_WHAT_CHARSMAP, i, units + i);
    }
    if (units[0] & 0x80000000u) return fail_at(c, ISOTOK_WHAT_CHARSMAP, 0, units);
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

/* Whether no replacement is longer than max_expansion says: that bounds a session's memory. */
static bool fits_expansion(const struct check *c, const uint8_t *text, uint32_t size,
                           const struct isotok__operation *operation)
{
    uint32_t space = operation->flags & ISOTOK_NORM_ESCAPE ? 3 : 1;
    return isotok__longest_run(text, size, space, 0) <= c->b->max_expansion;
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
    if (!check_words(&c))
        return fail_at(&c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_WORD_RANGES, b->word_ranges);
    status = check_ids_trie(&c, b->special_trie, b->special_trie_count, ISOTOK__ADDED_FLAGS);
    if (status == ISOTOK_OK) status = check_pretokenizer(&c);
    if (status == ISOTOK_OK) status = check_pretokens(&c);
    if (status == ISOTOK_OK && model->program.on && !isotok__unicode_check(&model->program, b))
        status = fail_at(&c, ISOTOK_WHAT_SECTION, ISOTOK__FIELD_UNICODE_TABLES, b->unicode_tables);
    if (status != ISOTOK_OK) return status;
    if ((status = check_other_ids(&c)) != ISOTOK_OK) return status;
    status = check_charsmap(&c, b->charsmap_trie, b->charsmap_trie_count, b->charsmap_text,
                            b->charsmap_text_count);
    if (status != ISOTOK_OK) return status;
    if (!fits_expansion(&c, b->charsmap_text, b->charsmap_text_count, &b->normalizer[0]) ||
        (b->decoder_count > 1 &&
         !fits_expansion(&c, b->denormalizer_text, b->denormalizer_text_count, &b->decoder[1])))
        return fail_at(&c, ISOTOK_WHAT_SCALAR, ISOTOK__FIELD_MAX_EXPANSION, NULL);
    return check_charsmap(&c, b->denormalizer_trie, b->denormalizer_trie_count,
                          b->denormalizer_text, b->denormalizer_text_count);
}
