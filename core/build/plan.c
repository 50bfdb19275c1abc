/* The passes in their order, and the small sections. See plan.h. */
#include "plan.h"

#include "isotok_build.h"

/* Kinds of operations, FORMAT.md section 7. */
enum { NORMALIZE_SENTENCEPIECE = 1, PRETOKENIZE = 1 };
enum { ISOTOK__PROGRAM_WORDS = 16, ISOTOK__PROGRAM_EXPANSION = 15 }; /* FORMAT.md section 14 */
enum { DECODE_SENTENCEPIECE = 1, DECODE_DENORMALIZE = 2, DECODE_BYTES = 3, DECODE_PIECES = 4 };

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The charsmaps and the bounds that follow from them and from the pieces. An ill-formed
 * byte and an escaped space become three bytes; four bytes hold any character. */
static isotok_status plan_charsmaps(isotok__work *work, const isotok__spec *spec,
                                    isotok__plan *plan)
{
    isotok_status status =
        isotok__charsmap_read(work, spec->charsmap, spec->charsmap_at,
                              (spec->normalizer_flags & ISOTOK__NORM_ESCAPE) != 0, &plan->charsmap);
    if (status == ISOTOK_OK) {
        status = isotok__charsmap_read(work, spec->denormalizer_charsmap, spec->denormalizer_at,
                                       (spec->denormalizer_flags & ISOTOK__NORM_ESCAPE) != 0,
                                       &plan->denormalizer);
    }
    plan->max_expansion =
        larger(3, larger(plan->charsmap.max_expansion, plan->denormalizer.max_expansion));
    if (spec->unicode_header.size >= ISOTOK__PROGRAM_WORDS) {
        plan->max_expansion =
            larger(plan->max_expansion,
                   isotok__load_u32(spec->unicode_header.data + 4 * ISOTOK__PROGRAM_EXPANSION));
    }
    plan->max_key_bytes =
        larger(4, larger(plan->charsmap.max_key_bytes, plan->denormalizer.max_key_bytes));
    return status;
}

/* User-defined pieces are keys of the normalizer as well, and special tokens are held back like
 * them. */
static void bound_user_defined(const isotok__spec *spec, isotok__plan *plan)
{
    for (uint32_t id = 0; id < spec->vocab_size; id++) {
        if (spec->types[id] == ISOTOK_USER_DEFINED || isotok__is_added(spec, id, NULL)) {
            plan->max_key_bytes =
                larger(plan->max_key_bytes, (uint32_t)isotok__piece(spec, id).size);
        }
    }
}

static isotok_status plan_start_set(isotok__work *work, const isotok__spec *spec,
                                    isotok__plan *plan)
{
    if ((plan->charsmap.units == NULL && plan->user_trie.nodes == NULL) ||
        spec->unicode_header.size != 0) {
        return ISOTOK_OK;
    }
    plan->start_set = ISOTOK__KEEP(work, uint64_t, ISOTOK__START_WORDS);
    if (plan->start_set != NULL) {
        isotok__start_set(&plan->charsmap, &plan->user_trie, plan->start_set);
    }
    return work->error.status;
}

static isotok_status plan_byte_ids(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    if (!spec->byte_fallback) {
        return ISOTOK_OK;
    }
    plan->byte_ids = ISOTOK__KEEP(work, uint32_t, 256);
    if (plan->byte_ids != NULL) {
        memset(plan->byte_ids, 0xFF, 256 * sizeof *plan->byte_ids); /* ISOTOK_NO_TOKEN */
    }
    for (uint32_t id = 0; plan->byte_ids != NULL && id < spec->vocab_size; id++) {
        int byte = isotok__byte_of_piece(isotok__piece(spec, id));
        if (spec->types[id] == ISOTOK_BYTE ||
            (spec->pretokens && byte >= 0 && isotok__is_matched(spec, id))) {
            plan->byte_ids[byte] = id;
        }
    }
    return work->error.status;
}

typedef struct isotok__operation operation;

void isotok__plan_operations(const isotok__spec *spec, isotok__plan *plan)
{
    uint32_t charsmap = plan->charsmap.units != NULL;
    plan->operations[0] = (operation){NORMALIZE_SENTENCEPIECE,
                                      spec->normalizer_flags & ISOTOK__NORM_ALL, charsmap, 0};
    plan->operations[1] = (operation){
        DECODE_SENTENCEPIECE,
        spec->normalizer_flags & (ISOTOK__NORM_DUMMY_PREFIX | ISOTOK__NORM_REMOVE_SPACES), 0, 0};
    if (spec->byte_level) {
        plan->operations[1] = (operation){DECODE_BYTES, 0, 0, 0};
    }
    if (spec->has_decoder) {
        plan->operations[1] =
            (operation){DECODE_PIECES, spec->decoder_flags, 0, spec->decoder_argument};
    }
    plan->operations[3] = (operation){PRETOKENIZE, 0, 1, 0};
    plan->operations[2] =
        (operation){DECODE_DENORMALIZE, spec->denormalizer_flags & ISOTOK__NORM_ALL, 1, 0};
}

static isotok_status plan_template(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    size_t count = spec->template_ops.size / 3;
    plan->template_count = (uint32_t)count;
    plan->template_ops = ISOTOK__KEEP(work, operation, count);
    for (size_t i = 0; plan->template_ops != NULL && i < count; i++) {
        plan->template_ops[i] = (operation){isotok__number(spec->template_ops, 3 * i),
                                            isotok__number(spec->template_ops, 3 * i + 1), 0,
                                            isotok__number(spec->template_ops, 3 * i + 2)};
    }
    return work->error.status;
}

/* The bits that the spec alone decides. */
static uint64_t spec_features(const isotok__spec *spec, const isotok__plan *plan)
{
    uint32_t algorithm =
        spec->algorithm == ISOTOK_WORDPIECE ? (uint32_t)ISOTOK_WORD : spec->algorithm;
    uint64_t features = (uint64_t)1 << (algorithm - 1);
    features |= plan->charsmap.units != NULL ? ISOTOK__FEATURE_BIT(CHARSMAP) : 0;
    features |= plan->denormalizer.units != NULL ? ISOTOK__FEATURE_BIT(DENORMALIZER) : 0;
    features |= spec->byte_fallback ? ISOTOK__FEATURE_BIT(BYTE_FALLBACK) : 0;
    if (spec->byte_level) {
        features |= ISOTOK__FEATURE_BIT(BYTE_LEVEL);
        features |=
            spec->byte_level & ISOTOK_BYTE_LEVEL_WHOLE ? ISOTOK__FEATURE_BIT(WHOLE_PIECES) : 0;
    }
    features |= spec->pretok_header.size != 0 ? ISOTOK__FEATURE_BIT(PRETOKENIZER) : 0;
    features |= spec->pretokens ? ISOTOK__FEATURE_BIT(PRETOKENS) : 0;
    features |= isotok__affixes(spec) != 0 ? ISOTOK__FEATURE_BIT(AFFIXES) : 0;
    features |= spec->unicode_header.size != 0 ? ISOTOK__FEATURE_BIT(UNICODE) : 0;
    features |= spec->is_0_2_1 ? ISOTOK__FEATURE_BIT(SENTENCEPIECE_0_2_1) : 0;
    return features;
}

isotok_status isotok__plan_make(isotok__work *work, const isotok__spec *spec, isotok__plan *plan)
{
    memset(plan, 0, sizeof *plan);
    isotok_status status = plan_charsmaps(work, spec, plan);
    if (status != ISOTOK_OK) {
        return status;
    }
    plan->features = spec_features(spec, plan);
    bound_user_defined(spec, plan);
    isotok__plan_operations(spec, plan);
    status = plan_template(work, spec, plan);
    if (status == ISOTOK_OK) {
        status = isotok__plan_keys(work, spec, plan);
    }
    if (status == ISOTOK_OK) {
        status = isotok__plan_trie(work, spec, plan);
    }
    if (status == ISOTOK_OK && spec->algorithm == ISOTOK_BPE) {
        status = isotok__plan_merges(work, spec, plan);
    }
    if (status == ISOTOK_OK && (!isotok__by_pretokens(spec) || plan->char_joints != NULL)) {
        status = isotok__plan_pairs(work, plan);
    }
    if (status == ISOTOK_OK && spec->pretok_header.size != 0) {
        status = isotok__plan_windows(work, spec, plan);
    }
    if (status == ISOTOK_OK) {
        status = plan_start_set(work, spec, plan);
    }
    return status == ISOTOK_OK ? plan_byte_ids(work, spec, plan) : status;
}
