/* L2: walking the edges of a lattice. See lattice.h. */
#include "lattice.h"

#include "trie.h"
#include "utf8.h"

void isotok__edges_begin(struct isotok__edges *e, const struct isotok_model *model,
                         const uint8_t *text, uint32_t size, uint32_t begin)
{
    const uint32_t longest = model->blob.max_piece_bytes;
    memset(e, 0, sizeof *e);
    e->model = model;
    e->text = text;
    e->size = size;
    e->begin = e->at = e->character_end = begin;
    e->limit = size - begin < longest ? size : begin + longest;
}

static float weight_of(const struct isotok__edges *e)
{
    const struct isotok__blob *b = &e->model->blob;
    float weight;
    memcpy(&weight, &b->trie[e->slot].value, sizeof weight);
    if (b->user_trie == NULL || b->types[b->trie_ids[e->slot]] != ISOTOK_USER_DEFINED)
        return weight;
    if (e->model->is_0_2_1) return (float)isotok__user_weight_0_2_1(weight, e->characters);
    return (float)(0.1 * (double)(e->characters - 1));
}

static void fill(const struct isotok__edges *e, struct isotok__edge *out)
{
    out->slot = e->slot;
    out->end = e->character_end;
    out->size = e->at - e->begin;
    out->weight = weight_of(e);
}

static bool next_piece(struct isotok__edges *e, struct isotok__edge *out)
{
    const struct isotok__blob *b = &e->model->blob;
    while (e->at < e->limit) {
        if (e->at == e->character_end) {
            e->character_end = isotok__char_end(e->text, e->at, e->size);
            e->characters++;
        }
        e->slot = isotok__trie_step(b->trie, e->slot, e->text[e->at++]);
        if (e->slot == ISOTOK_NO_SLOT) break;
        if (b->trie_ids[e->slot] == ISOTOK_NO_TOKEN) continue;
        /* narrow tokens have 8 bits for the length: only an ill-formed piece gets here */
        if (!e->model->wide && e->character_end - e->begin > 0xFF) break;
        fill(e, out);
        return true;
    }
    e->limit = e->at;
    return false;
}

bool isotok__edges_next(struct isotok__edges *e, struct isotok__edge *out)
{
    if (next_piece(e, out)) {
        if (e->characters == 1) e->single = 1;
        return true;
    }
    if (e->single) return false;
    e->single = 1;
    out->slot = ISOTOK_UNK_SLOT;
    out->end = isotok__char_end(e->text, e->begin, e->size);
    out->size = out->end - e->begin;
    out->weight = e->model->blob.unk_score;
    return true;
}
