/* Joining parts in text order: ids end to end, runs of unknowns made one, and for a unigram
 * model the float32 score of the whole text, which decides which blocks hold. */
#include "part.h"
#include "unigram.h"

/* Ids that are being written. */
struct output {
    uint32_t *ids;
    size_t capacity, count;
};

/* A run of unknowns may go on over a joint. */
static void put_all(const isotok_model *model, isotok_joint *joint, const uint32_t *ids,
                    size_t count, struct output *out)
{
    const bool fuse = model->blob.byte_ids == NULL;
    if (count == 0) return;
    if (fuse && joint->unknown && ids[0] == model->blob.unk_id) {
        ids++;
        count--;
    }
    memcpy(out->ids + out->count, ids, count * sizeof *ids);
    out->count += count;
    if (count > 0) joint->unknown = fuse && ids[count - 1] == model->blob.unk_id;
}

static bool has_room(const struct output *out, size_t wanted, isotok_error *error)
{
    if (wanted <= out->capacity - out->count) return true;
    isotok__fail(error, ISOTOK_NEED_OUTPUT, ISOTOK_WHAT_NOTHING, 0, 0, wanted);
    return false;
}

/* Segments a block's text again, from the score that was really carried to it. */
static void segment_again(isotok_session *s, const uint8_t *text, uint32_t size,
                          isotok_joint *joint, struct output *out)
{
    uint32_t position = 0, i;
    isotok__unigram(s->model, text, size, &joint->carried, &s->unigram, &s->tokens);
    for (i = 0; i < s->tokens.count; i++) {
        const uint32_t token = s->tokens.slots[i];
        uint32_t ids[3 * 255];
        size_t count = 0;
        isotok__part_emit(s->model, text + position, token >> 8, token & 0xFFu, ids, &count);
        put_all(s->model, joint, ids, count, out);
        position += token & 0xFFu;
    }
    joint->bytes_again += size;
}

static bool holds(const struct isotok__block *block, float carried)
{
    return carried <= block->valid_to && -carried <= block->valid_to;
}

static isotok_status join_block(isotok_session *s, struct isotok_part *part, isotok_joint *joint,
                                struct output *out, isotok_error *error)
{
    const struct isotok__block *block = &part->blocks[part->block];
    const float *weights = part->weights + part->weight;
    if (holds(block, joint->carried)) {
        float carried = joint->carried;
        uint32_t i;
        if (!has_room(out, block->ids, error)) return ISOTOK_NEED_OUTPUT;
        for (i = 0; i < block->tokens; i++) carried += weights[i];
        joint->carried = carried;
        put_all(s->model, joint, part->ids + part->id, block->ids, out);
    } else {
        if (!has_room(out, 3 * (size_t)block->size, error)) return ISOTOK_NEED_OUTPUT;
        if (block->size > s->capacity) return isotok__need_scratch(s, error);
        segment_again(s, part->text + part->position, block->size, joint, out);
    }
    joint->bytes += block->size;
    part->id += block->ids;
    part->weight += block->tokens;
    part->position += block->size;
    part->block++;
    return ISOTOK_OK;
}

isotok_status isotok_part_join(isotok_session *s, isotok_part *part, isotok_joint *joint,
                               uint32_t *ids, size_t capacity, size_t *out_count,
                               isotok_error *error)
{
    struct output out = {ids, capacity, 0};
    isotok_status status = ISOTOK_OK;
    if (s == NULL || part == NULL || joint == NULL || out_count == NULL ||
        (ids == NULL && capacity != 0))
        return isotok__fail(error, ISOTOK_E_ARGUMENT, ISOTOK_WHAT_NULL_POINTER, 0, 0, 0);
    s->mode = ISOTOK__IDLE; /* its arrays are used: what was under way has ended */
    if (part->blocks == NULL) {
        if (!has_room(&out, part->ids_count, error)) {
            status = ISOTOK_NEED_OUTPUT;
        } else if (part->ids_count != 0) { /* else there is no array */
            put_all(s->model, joint, part->ids, part->ids_count, &out);
            part->ids_count = 0;
        }
    } else {
        while (status == ISOTOK_OK && part->block < part->blocks_count)
            status = join_block(s, part, joint, &out, error);
    }
    *out_count = out.count;
    return status;
}
