/* session.c: a lock-free list of sessions per model.
 *
 * A slot is emptied and filled by one atomic exchange, so there is nothing to lock, no
 * ABA problem, and nothing that a fork could leave locked: a session that another thread
 * holds while the process forks is merely lost in the child.
 */
#include <stdlib.h>

#include "huge_pages.h"
#include "native.h"

/* Bytes of a token cache at first. Cold text gains nothing from more, and fills it slower. */
#define FIRST_CACHE ((size_t)8 << 20)
#define CACHE_GROWTH 4u
#define CACHE_SET 128u /* bytes of a set of the cache */

static void box_free(session_box *box)
{
    if (box == NULL) return;
    free(box->raw);
    free(box->cache);
    free(box->ids);
    free(box);
}

/* The address in memory of `size` + ISOTOK_HUGE_PAGE bytes where the cache begins. */
static void *cache_in(void *memory, size_t size)
{
    const uintptr_t step = size >= ISOTOK_HUGE_PAGE ? ISOTOK_HUGE_PAGE : 64;
    return (void *)(((uintptr_t)memory + step - 1) & ~(step - 1));
}

/* Memory of zeros. Look-ups are all over it: huge pages spare them the walk to a page, and let
 * prefetches through that would be dropped. */
static void *new_cache(size_t size)
{
    void *memory = calloc(size + ISOTOK_HUGE_PAGE, 1);
    if (memory != NULL) isotok_prefer_huge_pages(cache_in(memory, size), size);
    return memory;
}

/* Gives the box's new session its cache; what is in it stays right. Without memory for one, the
 * session does without. */
static isotok_status box_init_cache(model_object *self, session_box *box, isotok_error *error)
{
    if (self->cache_size == 0) return ISOTOK_OK;
    if (box->cache == NULL) {
        box->cache_size = self->cache_size < FIRST_CACHE ? self->cache_size : FIRST_CACHE;
        box->cache = new_cache(box->cache_size);
    }
    if (box->cache == NULL) return ISOTOK_OK;
    return isotok_session_cache(box->session, cache_in(box->cache, box->cache_size),
                                box->cache_size, error);
}

/* Adds what the cache of a box has done since the box was made. */
void box_add_counts(const session_box *box, isotok_cache_info *sum)
{
    const isotok_cache_info *before = &box->counted;
    isotok_cache_info now = {.size = sizeof now};
    if (isotok_session_cache_info(box->session, &now) != ISOTOK_OK) return;
    sum->entries += now.entries;
    sum->probes += before->probes + now.probes;
    sum->hits += before->hits + now.hits;
    sum->uncertified += before->uncertified + now.uncertified;
    sum->bypassed += before->bypassed + now.bypassed;
}

/* Gives the box a new session of the size that ordinary text needs. */
static isotok_status box_init(model_object *self, session_box *box, isotok_error *error)
{
    if (box->raw != NULL) {
        isotok_cache_info sum = {0};
        box_add_counts(box, &sum);
        box->counted = sum;
    }
    free(box->raw);
    box->raw = NULL;
    box->memory_size = self->info.session_size;
    box->memory = aligned_malloc(box->memory_size, &box->raw);
    if (box->memory == NULL) {
        box->raw = NULL;
        return ISOTOK_E_TOO_LARGE;
    }
    isotok_status status =
        isotok_session_init(self->model, box->memory, box->memory_size, &box->session, error);
    return status == ISOTOK_OK ? box_init_cache(self, box, error) : status;
}

static bool box_init_ids(session_box *box)
{
    free(box->ids);
    box->ids = malloc(IDS_CAPACITY * sizeof(uint32_t));
    box->ids_capacity = box->ids == NULL ? 0 : IDS_CAPACITY;
    return box->ids != NULL;
}

static session_box *box_new(model_object *self, isotok_error *error)
{
    session_box *box = calloc(1, sizeof *box);
    if (box == NULL || !box_init_ids(box)) {
        error->status = ISOTOK_E_TOO_LARGE;
        box_free(box);
        return NULL;
    }
    isotok_status status = box_init(self, box, error);
    if (status != ISOTOK_OK) {
        error->status = status;
        box_free(box);
        return NULL;
    }
    return box;
}

/* A session for one call; NULL and `error` filled if there is no memory. */
session_box *box_take(model_object *self, isotok_error *error)
{
    for (int i = 0; i < SESSION_SLOTS; i++) {
        _Atomic(session_box *) *slot = &self->free_boxes[i];
        if (atomic_load_explicit(slot, memory_order_relaxed) == NULL) continue;
        session_box *box = atomic_exchange_explicit(slot, NULL, memory_order_acquire);
        if (box != NULL) return box;
    }
    return box_new(self, error);
}

/* Gives a large buffer of ids back, or makes one where it was taken; false: there is none. */
bool box_trim_ids(session_box *box)
{
    return (box->ids != NULL && box->ids_capacity <= KEPT_IDS_CAPACITY) || box_init_ids(box);
}

/* Brings a box that a difficult text has grown back to normal size. */
static bool box_trim(model_object *self, session_box *box)
{
    if (!box_trim_ids(box)) return false;
    if (box->memory_size == self->info.session_size) return true;
    isotok_error error = error_new();
    return box_init(self, box, &error) == ISOTOK_OK;
}

/* Makes the cache larger, up to the model's limit, when it was missed as often as it has sets: the
 * texts have more different chunks than it holds. The new one begins empty; without memory for it
 * the old one stays. */
static void box_grow_cache(model_object *self, session_box *box)
{
    isotok_cache_info now = {.size = sizeof now};
    if (box->cache_size >= self->cache_size || box->cache == NULL ||
        isotok_session_cache_info(box->session, &now) != ISOTOK_OK ||
        now.probes - now.hits < box->cache_size / CACHE_SET)
        return;
    const size_t most = self->cache_size / CACHE_GROWTH;
    const size_t size = box->cache_size < most ? box->cache_size * CACHE_GROWTH : self->cache_size;
    void *memory = new_cache(size), *old = box->cache;
    isotok_cache_info sum = {0};
    isotok_error error = error_new();
    box_add_counts(box, &sum);
    if (memory == NULL) return;
    if (isotok_session_cache(box->session, cache_in(memory, size), size, &error) != ISOTOK_OK) {
        free(memory);
        return;
    }
    box->counted = sum;
    box->cache = memory;
    box->cache_size = size;
    free(old);
}

void box_give(model_object *self, session_box *box)
{
    box_grow_cache(self, box);
    if (!box_trim(self, box)) {
        box_free(box);
        return;
    }
    for (int i = 0; i < SESSION_SLOTS; i++) {
        session_box *empty = NULL;
        if (atomic_compare_exchange_strong_explicit(&self->free_boxes[i], &empty, box,
                                                    memory_order_release, memory_order_relaxed))
            return;
    }
    box_free(box);
}

void boxes_free(model_object *self)
{
    for (int i = 0; i < SESSION_SLOTS; i++) box_free(atomic_exchange(&self->free_boxes[i], NULL));
}

/* Memory for a session that grows: what is large begins with a huge page, not in small ones. */
static void *grown_malloc(size_t size, void **out_raw)
{
    const size_t page = ISOTOK_HUGE_PAGE;
    if (size < 2 * page) return aligned_malloc(size, out_raw);
    char *raw = size <= SIZE_MAX - page ? malloc(size + page) : NULL;
    if (raw == NULL) return NULL;
    *out_raw = raw;
    void *memory = raw + (page - (uintptr_t)raw % page) % page;
    isotok_prefer_huge_pages(memory, size);
    return memory;
}

/* After NEED_SCRATCH. Growth is fourfold, as memory that nothing is written to costs nothing, but
 * moving does. */
isotok_status box_grow_session(session_box *box, isotok_error *error)
{
    size_t size = box->memory_size;
    if (size > SIZE_MAX / 4 || error->need > SIZE_MAX / 4) return ISOTOK_E_TOO_LARGE;
    size = error->need > 4 * size ? (size_t)error->need : 4 * size;
    void *raw;
    void *memory = grown_malloc(size, &raw);
    if (memory == NULL) return ISOTOK_E_TOO_LARGE;
    isotok_status status = isotok_session_move(box->session, memory, size, &box->session, error);
    if (status != ISOTOK_OK) {
        free(raw);
        return status;
    }
    free(box->raw);
    box->raw = raw;
    box->memory = memory;
    box->memory_size = size;
    return ISOTOK_OK;
}

/* Room for `wanted` ids; what is written stays. */
bool box_grow_ids(session_box *box, size_t wanted)
{
    if (wanted <= box->ids_capacity) return true;
    if (wanted > SIZE_MAX / sizeof(uint32_t)) return false;
    uint32_t *ids = realloc(box->ids, wanted * sizeof(uint32_t));
    if (ids == NULL) return false;
    box->ids = ids;
    box->ids_capacity = wanted;
    return true;
}

/* Lets Ctrl-C through during long work. False: an exception is set. */
bool box_signals(session_box *box)
{
    if (box->released != NULL) PyEval_RestoreThread(box->released);
    bool clear = PyErr_CheckSignals() == 0;
    if (box->released != NULL) box->released = PyEval_SaveThread();
    return clear;
}
