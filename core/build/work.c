/* The arena and the error of a build: see work.h. */
#include "work.h"

void isotok__work_init(isotok__work *work, void *memory, size_t size)
{
    memset(work, 0, sizeof *work);
    work->memory = (uint8_t *)memory;
    work->size = size & ~(size_t)(ISOTOK_ALIGN - 1);
    work->back = work->size;
    work->error.size = sizeof work->error;
    work->error.index = ISOTOK__NO_INDEX;
}

/* count * element_size rounded up to 64, or SIZE_MAX if that is too large. */
static size_t wanted(size_t count, size_t element_size)
{
    if (element_size != 0 && count > (SIZE_MAX - ISOTOK_ALIGN) / element_size) {
        return SIZE_MAX;
    }
    return isotok__align_up(count * element_size, ISOTOK_ALIGN);
}

void *isotok__keep(isotok__work *work, size_t count, size_t element_size)
{
    size_t bytes = wanted(count, element_size);
    if (bytes > work->back - work->front) {
        isotok__need(work, bytes);
        return NULL;
    }
    void *p = work->memory + work->front;
    work->front += bytes;
    return p;
}

void *isotok__temp(isotok__work *work, size_t count, size_t element_size)
{
    size_t bytes = wanted(count, element_size);
    if (bytes > work->back - work->front) {
        isotok__need(work, bytes);
        return NULL;
    }
    work->back -= bytes;
    return work->memory + work->back;
}

void *isotok__rest(isotok__work *work, size_t *out_size)
{
    *out_size = work->back - work->front;
    return work->memory + work->front;
}

bool isotok__behind(isotok__work *work, size_t size, isotok__work *out)
{
    if (size > work->back - work->front) {
        isotok__need(work, size);
        return false;
    }
    isotok__work_init(out, work->memory + work->front, size);
    return true;
}

isotok_status isotok__need(isotok__work *work, size_t extra)
{
    uint64_t need = (uint64_t)work->size + extra;
    if (need < (uint64_t)work->size * 2) {
        need = (uint64_t)work->size * 2;
    }
    if (need < work->need_hint) {
        need = work->need_hint;
    }
    if (work->error.status == ISOTOK_OK) {
        work->error.need = need;
    }
    return isotok__build_fail(work, ISOTOK_NEED_SCRATCH, ISOTOK_WHAT_BUILD_MEMORY, ISOTOK__NO_INDEX,
                              0);
}

isotok_status isotok__build_fail(isotok__work *work, isotok_status status, uint32_t what,
                                 uint32_t index, uint64_t offset)
{
    if (work->error.status == ISOTOK_OK) {
        work->error.status = status;
        work->error.what = what;
        work->error.index = index;
        work->error.offset = offset;
    }
    return work->error.status;
}
