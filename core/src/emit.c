/* L4: emission. Unknown characters become byte pieces, or one token per run; spans come from
 * the window's offset map. Resumes anywhere: the state is in struct isotok__emitter.
 * SOURCE  sentencepiece 0.2.3: with byte fallback the last byte carries the span. */
#include "emit.h"

/* Whether named tokens have a loop of their own: it pays with vectors that pick the words. */
#if defined(__wasm__)
#define NAMED_LOOP 0
#else
#define NAMED_LOOP 1
#endif

static const uint8_t space_symbol[3] = {0xE2, 0x96, 0x81};

struct span {
    uint64_t begin, end, norm_begin, norm_end;
};

static const struct span none = {0, 0, 0, 0};

/* One entry of two parallel arrays; false if it does not fit. */
static bool put_span(uint32_t *begins, uint32_t *ends, size_t i, uint64_t begin, uint64_t end,
                     uint64_t base)
{
    if (end - base > 0xFFFFFFFFu) return false;
    begins[i] = (uint32_t)(begin - base);
    ends[i] = (uint32_t)(end - base);
    return true;
}

static isotok_status put_id(struct isotok_session *s, isotok_output *o, uint32_t id,
                            const struct span *span)
{
    const isotok_encode_options *options = &s->options;
    if (options->limit != 0 && s->emitter.emitted == options->limit) return ISOTOK_AT_LIMIT;
    if (!(options->flags & ISOTOK_COUNT_ONLY)) {
        if (o->count == o->capacity) return ISOTOK_NEED_OUTPUT;
        if ((options->flags & ISOTOK_OFFSETS) &&
            !put_span(o->begin, o->end, o->count, span->begin, span->end, o->base))
            return ISOTOK_NEED_OUTPUT;
        if ((options->flags & ISOTOK_NORM_SPANS) &&
            !put_span(o->norm_begin, o->norm_end, o->count, span->norm_begin, span->norm_end,
                      o->norm_base))
            return ISOTOK_NEED_OUTPUT;
        o->ids[o->count] = id;
    }
    o->count++;
    s->emitter.emitted++;
    return ISOTOK_OK;
}

static uint32_t token_slot(const struct isotok_session *s, uint32_t i)
{
    return s->tokens.lengths != NULL ? s->tokens.slots[i] : s->tokens.slots[i] >> 8;
}

static uint32_t token_size(const struct isotok_session *s, uint32_t i)
{
    return s->tokens.lengths != NULL ? s->tokens.lengths[i] : s->tokens.slots[i] & 0xFFu;
}

/* Canonical bytes of internal text. */
static uint64_t canonical_size(const isotok_model *model, const uint8_t *text, uint32_t size)
{
    uint64_t result = size;
    uint32_t i;
    if (model->space_size == 1)
        for (i = 0; i < size; i++) result += 2u * (text[i] == 0x20);
    return result;
}

void isotok__trim(const struct isotok_session *s, uint64_t *begin, uint64_t *end, uint32_t lead,
                  uint32_t trail, bool prefix)
{
    const bool first = *begin == 0 || s->emitter.emitted == s->emitter.operation;
    if (!(prefix && first && (s->model->trim & ISOTOK__TRIM_PREFIX)))
        *begin = *begin + lead < *end ? *begin + lead : *end;
    if (trail <= *end) *end = *end - trail > *begin ? *end - trail : *begin;
}

static void span_of(const struct isotok_session *s, uint32_t position, uint32_t size,
                    struct span *span)
{
    const struct isotok__window *w = &s->window;
    memset(span, 0, sizeof *span);
    if (w->map != NULL && isotok__map_shift(s) != 0) {
        const uint32_t end = size != 0 ? w->map[position + size - 1] : 0;
        span->begin = w->map_base + (w->map[position] >> 3);
        span->end = w->map_base + (end >> 3) + (end & 7);
    } else if (w->map != NULL) {
        /* past the last byte: where the normalizer stands */
        span->begin = w->map_base + w->map[position];
        uint32_t end = position + size;
        if (ISOTOK__HAS(s->model->byte_level)) /* of a character that is divided: all of it */
            while (end < w->size && (w->text[end] & 0xC0) == 0x80) end++;
        span->end = end < w->size ? w->map_base + w->map[end] : s->normalizer.consumed;
    }
    if (ISOTOK__HAS(s->model->trim)) {
        const uint8_t *text = w->text + position;
        uint32_t lead = 0, trail = 0, i;
        for (i = 0; i < size; lead += trail == ++i) trail = text[i] == 0x20 ? trail + 1 : 0;
        isotok__trim(s, &span->begin, &span->end, lead, trail, lead == 1);
    }
    if (s->options.flags & ISOTOK_NORM_SPANS) {
        span->norm_begin = s->emitter.norm_position;
        span->norm_end = span->norm_begin + canonical_size(s->model, w->text + position, size);
    }
}

static isotok_status close_unknown(struct isotok_session *s, isotok_output *o)
{
    struct isotok__emitter *e = &s->emitter;
    struct span span = {e->unknown_begin, e->unknown_end, e->unknown_norm_begin,
                        e->unknown_norm_end};
    isotok_status status;
    if (!e->unknown_open) return ISOTOK_OK;
    status = put_id(s, o, s->model->blob.unk_id, &span);
    if (status == ISOTOK_OK) e->unknown_open = 0;
    return status;
}

static void extend_unknown(struct isotok_session *s, const struct span *span)
{
    struct isotok__emitter *e = &s->emitter;
    if (!e->unknown_open) {
        e->unknown_open = 1;
        e->unknown_begin = span->begin;
        e->unknown_norm_begin = span->norm_begin;
    }
    e->unknown_end = span->end;
    e->unknown_norm_end = span->norm_end;
}

/* One byte piece for each canonical byte; all but the last have an empty span, except with
 * tokenizers, where each has all of it. Those before e->byte were emitted already. */
static isotok_status emit_bytes(struct isotok_session *s, isotok_output *o, uint32_t position,
                                uint32_t size, const struct span *span)
{
    struct isotok__emitter *e = &s->emitter;
    const uint8_t *text = s->window.text + position, *end = text + size;
    uint32_t at = 0;
    for (; text < end; text++) {
        const bool space = s->model->space_size == 1 && *text == 0x20;
        const uint8_t *bytes = space ? space_symbol : text, *stop = bytes + (space ? 3 : 1);
        for (; bytes < stop; bytes++, at++) {
            const bool last = text + 1 == end && bytes + 1 == stop;
            struct span part = *span;
            isotok_status status;
            if (at < e->byte) continue;
            if (!last && s->model->parity != ISOTOK_PARITY_HF) part.end = part.begin;
            part.norm_begin += at;
            part.norm_end = part.norm_begin + 1;
            status = put_id(s, o, s->model->blob.byte_ids[*bytes], &part);
            if (status != ISOTOK_OK) return status;
            e->byte++;
        }
    }
    e->byte = 0;
    return ISOTOK_OK;
}

static isotok_status emit_token(struct isotok_session *s, isotok_output *o)
{
    struct isotok__emitter *e = &s->emitter;
    const struct isotok__blob *b = &s->model->blob;
    uint32_t slot = token_slot(s, e->token), size = token_size(s, e->token);
    uint32_t parts = 1, rest = 0;
    struct span span;
    isotok_status status = ISOTOK_OK;
    while (slot == ISOTOK_JOIN_SLOT) {
        slot = token_slot(s, e->token + parts);
        size += token_size(s, e->token + parts++);
    }
    if (slot < ISOTOK_JOIN_SLOT && !s->tokens.named && slot != 0) slot = b->trie_ids[slot];
    if (ISOTOK__HAS(s->options.flags & ISOTOK_NO_CONTROL) && slot < ISOTOK_JOIN_SLOT &&
        slot != b->unk_id && b->types[slot] == ISOTOK_CONTROL) {
        slot = ISOTOK_UNK_SLOT;
        if (parts == 1 && s->tokens.lengths == NULL) { /* its first byte, the rest is next */
            slot &= b->trie_ids[isotok__find_slot(s->model, s->window.text + e->position, 1)];
            rest = size - 1;
            size = 1;
        }
    }
    span_of(s, e->position, size, &span);
    if (slot == ISOTOK_SKIP_SLOT) {
    } else if (slot != ISOTOK_UNK_SLOT) {
        status = close_unknown(s, o);
        if (status == ISOTOK_OK) status = put_id(s, o, slot, &span);
    } else if (b->byte_ids != NULL) {
        status = emit_bytes(s, o, e->position, size, &span);
    } else if (b->unk_id != ISOTOK_NO_TOKEN) {
        extend_unknown(s, &span);
    }
    if (status != ISOTOK_OK) return status;
    s->tokens.slots[e->token] -= rest != 0;
    if (rest == 0) e->token += parts;
    e->position += size;
    e->norm_position = span.norm_end;
    return ISOTOK_OK;
}

/* The ids of named tokens, all of which are pieces; false if one is not, or there is no room. */
static bool emit_named(struct isotok_session *s, isotok_output *o)
{
    const uint32_t *tokens = s->tokens.slots + s->emitter.token;
    const uint32_t count = s->tokens.count - s->emitter.token;
    uint32_t *out = o->ids + o->count, i;
    int32_t most = INT32_MIN;
    if (o->capacity - o->count < count) return false;
    for (i = 0; i < count; i++) {
        const int32_t token = (int32_t)(tokens[i] ^ 0x80000000u);
        out[i] = tokens[i] >> 8;
        most = token > most ? token : most;
    }
    if (most >= (int32_t)(ISOTOK_JOIN_SLOT << 8 ^ 0x80000000u)) return false;
    o->count += count;
    s->emitter.emitted += count;
    s->emitter.token = s->tokens.count;
    s->emitter.position = s->ready;
    return true;
}

/* The common case: ids only, or only their number, without a limit. Stops where there is no
 * room, or at an unknown that takes more than its bytes (a space, a word). */
static void emit_usual(struct isotok_session *s, isotok_output *o, bool counting)
{
    const struct isotok__blob *b = &s->model->blob;
    const uint32_t *slots = s->tokens.slots, *ids = b->trie_ids, count = s->tokens.count;
    const uint32_t *byte_ids = b->byte_ids;
    struct isotok__emitter *e = &s->emitter;
    uint32_t i = e->token, position = e->position, k;
    const bool named = s->tokens.named != 0;
    bool open = e->unknown_open != 0; /* not in memory, which `out` might be */
    uint32_t *out = counting || o->ids == NULL ? NULL : o->ids + o->count;
    const size_t room = counting ? SIZE_MAX : o->capacity - o->count;
    size_t n = 0;
    for (; i < count; i++) {
        const uint32_t slot = slots[i] >> 8, size = slots[i] & 0xFFu;
        if (ISOTOK_LIKELY(slot < ISOTOK_JOIN_SLOT)) {
            if (ISOTOK_UNLIKELY(open) && n < room) {
                if (!counting) out[n] = b->unk_id;
                n++;
                open = false;
            }
            if (n == room) break;
            if (!counting) out[n] = named ? slot : ids[slot];
            n++;
        } else if (slot == ISOTOK_JOIN_SLOT) {
            break;
        } else if (slot == ISOTOK_SKIP_SLOT) {
            /* no token */
        } else if (byte_ids == NULL) {
            open = true;
        } else {
            const uint8_t *text = s->window.text + position;
            if (size > 4 || text[0] == 0x20 || room - n < size) break;
            for (k = 0; k < size && !counting; k++) out[n + k] = byte_ids[text[k]];
            n += size;
        }
        position += size;
    }
    o->count += n;
    e->emitted += n;
    e->token = i;
    e->position = position;
    e->unknown_open = open;
}

isotok_status isotok__emit_tokens(struct isotok_session *s, isotok_output *o)
{
    const uint32_t special =
        ISOTOK_OFFSETS | ISOTOK_NORM_SPANS | ISOTOK_PRETOKENS | ISOTOK_NO_CONTROL;
    bool plain = (s->options.flags & special) == 0 && s->options.limit == 0 && !s->model->wide;
    while (s->emitter.token < s->tokens.count) {
        isotok_status status;
        if (plain && s->emitter.byte == 0) {
            if (NAMED_LOOP && s->tokens.named && !s->emitter.unknown_open &&
                !(s->options.flags & ISOTOK_COUNT_ONLY) && emit_named(s, o))
                break;
            emit_usual(s, o, (s->options.flags & ISOTOK_COUNT_ONLY) != 0);
            if (s->emitter.token == s->tokens.count) break;
        }
        status = emit_token(s, o);
        if (status != ISOTOK_OK) return status;
    }
    return ISOTOK_OK;
}

/* The tokens of the template from the next operation on, up to its sequence or end. */
static isotok_status emit_template(struct isotok_session *s, isotok_output *o)
{
    const struct isotok__blob *b = &s->model->blob;
    if (!ISOTOK__HAS(s->options.flags & ISOTOK_TEMPLATE)) return ISOTOK_OK;
    for (; s->emitter.operation < b->template_ops_count; s->emitter.operation++) {
        const struct isotok__operation *operation = b->template_ops + s->emitter.operation;
        isotok_status status;
        if (operation->kind != ISOTOK_OP_TOKEN || (operation->flags & ISOTOK_TEMPLATE_PAIR)) break;
        status = put_id(s, o, operation->argument, &none);
        if (status != ISOTOK_OK) return status;
    }
    return ISOTOK_OK;
}

isotok_status isotok__emit_begin(struct isotok_session *s, isotok_output *o)
{
    isotok_status status = ISOTOK_OK;
    if (s->emitter.stage != ISOTOK__STAGE_BOS) return ISOTOK_OK;
    if (s->options.flags & ISOTOK_BOS) status = put_id(s, o, s->model->blob.bos_id, &none);
    if (status == ISOTOK_OK) status = emit_template(s, o);
    if (status == ISOTOK_OK) s->emitter.stage = ISOTOK__STAGE_TEXT;
    return status;
}

isotok_status isotok__emit_special(struct isotok_session *s, isotok_output *o, uint32_t id,
                                   uint64_t begin, uint64_t end)
{
    const struct span span = {begin, end, s->emitter.norm_position, s->emitter.norm_position};
    const isotok_status status = close_unknown(s, o);
    return status == ISOTOK_OK ? put_id(s, o, id, &span) : status;
}

isotok_status isotok__emit_end(struct isotok_session *s, isotok_output *o)
{
    uint64_t end = s->normalizer.consumed, norm_end = s->emitter.norm_position;
    const struct span at_end = {end, end, norm_end, norm_end};
    isotok_status status = ISOTOK_OK;
    if (s->emitter.stage == ISOTOK__STAGE_TEXT) {
        status = close_unknown(s, o);
        if (status != ISOTOK_OK) return status;
        s->emitter.operation++; /* the sequence */
        s->emitter.stage = ISOTOK__STAGE_EOS;
    }
    if (s->emitter.stage == ISOTOK__STAGE_EOS) {
        status = emit_template(s, o);
        if (status != ISOTOK_OK) return status;
        if (s->options.flags & ISOTOK_EOS) status = put_id(s, o, s->model->blob.eos_id, &at_end);
        if (status == ISOTOK_OK) s->emitter.stage = ISOTOK__STAGE_DONE;
    }
    return status;
}
