/* L4: opening a model and looking pieces up; names of statuses, errors and features. */
#include "session.h"
#include "trie.h"
#include "utf8.h"

uint32_t isotok_abi(void)
{
    return ISOTOK_ABI_MAJOR << 16 | ISOTOK_ABI_MINOR;
}

#ifdef ISOTOK_NO_TEXTS
const char *isotok_name(uint32_t kind, int32_t number)
{
    (void)kind;
    (void)number;
    return "";
}
#else
struct name {
    int32_t number;
    const char *text;
};

static const struct name status_names[] = {
#define ISOTOK_X(name, number, text) {number, text},
    ISOTOK_STATUS_MAP(ISOTOK_X)
#undef ISOTOK_X
};
static const struct name what_names[] = {
#define ISOTOK_X(name, number, text) {number, text},
    ISOTOK_RUN_WHAT_MAP(ISOTOK_X)
#undef ISOTOK_X
};
static const struct name feature_names[] = {
#define ISOTOK_X(name, number, text) {number, text},
    ISOTOK__FEATURE_MAP(ISOTOK_X)
#undef ISOTOK_X
};

static const char *find_name(const struct name *names, size_t count, int32_t number)
{
    size_t i;
    for (i = 0; i < count; i++)
        if (names[i].number == number) return names[i].text;
    return "";
}

const char *isotok_name(uint32_t kind, int32_t number)
{
    switch (kind) {
    case ISOTOK_NAME_STATUS:
        return find_name(status_names, sizeof status_names / sizeof status_names[0], number);
    case ISOTOK_NAME_WHAT:
        return find_name(what_names, sizeof what_names / sizeof what_names[0], number);
    case ISOTOK_NAME_FEATURE:
        return find_name(feature_names, sizeof feature_names / sizeof feature_names[0], number);
    default: return "";
    }
}
#endif

size_t isotok_model_size(void)
{
    return sizeof(struct isotok_model);
}

isotok_status isotok_model_open(const void *blob, size_t blob_size, uint32_t verify, void *memory,
                                size_t memory_size, const isotok_model **out_model,
                                isotok_error *error)
{
    struct isotok_model *model;
    isotok_status status;
    if (blob == NULL || memory == NULL || out_model == NULL)
        return isotok__argument(error, ISOTOK_WHAT_NULL_POINTER, 0);
    if ((verify & ~(uint32_t)ISOTOK_VERIFY_ADDED) > ISOTOK_VERIFY_TRUSTED)
        return isotok__argument(error, ISOTOK_WHAT_OPTION, verify);
    if (memory_size < sizeof(struct isotok_model) || !isotok__is_aligned(memory, 8))
        return isotok__needs(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_MODEL_MEMORY,
                             sizeof(struct isotok_model));
    model = (struct isotok_model *)memory;
    status = isotok__blob_open((const uint8_t *)blob, blob_size, verify, model, error);
    *out_model = status == ISOTOK_OK ? model : NULL;
    return status;
}

isotok_status isotok_model_info(const isotok_model *model, isotok_info *out_info)
{
    const struct isotok__blob *b;
    isotok_info info;
    if (model == NULL || out_info == NULL) return ISOTOK_E_ARGUMENT;
    b = &model->blob;
    memset(&info, 0, sizeof info);
    info.parity = model->parity;
    info.vocab_size = b->vocab_size;
    info.algorithm = b->algorithm;
    info.features = model->features;
    info.unk = b->unk_id;
    info.bos = b->bos_id;
    info.eos = b->eos_id;
    info.pad = b->pad_id;
    info.max_piece_bytes = b->max_piece_bytes;
    info.max_expansion = b->max_expansion;
    info.max_key_bytes = b->max_key_bytes;
    info.session_min = (uint32_t)isotok__session_minimum(model);
    info.session_size = (uint32_t)isotok__session_usual(model);
    return isotok__give_info(out_info, 16, &info, sizeof info);
}

isotok_status isotok_piece_get(const isotok_model *model, uint32_t id, isotok_piece *out_piece)
{
    if (model == NULL || out_piece == NULL) return ISOTOK_E_ARGUMENT;
    if (id >= model->blob.vocab_size) return ISOTOK_E_ID_RANGE;
    out_piece->text = isotok__piece_text(model, id, &out_piece->size);
    out_piece->type = model->blob.types[id];
    out_piece->score = model->blob.scores[id];
    return ISOTOK_OK;
}

static int compare(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    int order = memcmp(a, b, isotok__min(a_size, b_size));
    return order != 0 ? order : (a_size > b_size) - (a_size < b_size);
}

/* First of other_ids (sorted by text, reserved types first) with this text. */
static uint32_t find_other(const isotok_model *model, const uint8_t *text, size_t size)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t low = 0, high = b->other_ids_count, piece_size;
    const uint8_t *piece;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        piece = isotok__piece_text(model, b->other_ids[middle], &piece_size);
        if (compare(piece, piece_size, text, size) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == b->other_ids_count) return ISOTOK_NO_TOKEN;
    piece = isotok__piece_text(model, b->other_ids[low], &piece_size);
    return compare(piece, piece_size, text, size) == 0 ? b->other_ids[low] : ISOTOK_NO_TOKEN;
}

uint32_t isotok_piece_find(const isotok_model *model, const uint8_t *text, size_t size)
{
    const struct isotok__blob *b = &model->blob;
    uint32_t slot = 0, id;
    size_t i = 0;
    if (text == NULL || size == 0 || size > b->max_piece_bytes) return ISOTOK_NO_TOKEN;
    id = find_other(model, text, size);
    if (id != ISOTOK_NO_TOKEN) return id;
    while (i < size) {
        uint8_t byte = text[i];
        if (model->space_size == 1) {
            if (byte == 0x20) return ISOTOK_NO_TOKEN; /* no piece holds one */
            if (isotok__is_symbol(text + i, size - i)) {
                byte = 0x20;
                i += 2;
            }
        }
        i++;
        slot = isotok__trie_child(b->trie, slot, byte);
        if (slot == ISOTOK_NO_SLOT) return ISOTOK_NO_TOKEN;
    }
    return b->trie_ids[slot];
}
