/* The one memory and the one error of a build.
 *
 * MEMORY  A two-ended bump arena over the caller's bytes: what lives until the blob is
 *         written grows from the front (keep), what a pass needs for itself from the
 *         back (temp), and a pass gives its temp memory back when it ends. Nothing is
 *         freed otherwise. Everything is 64-aligned.
 * ERROR   The first failure wins; it is copied to the caller's isotok_error at the end
 *         of the public call. */
#ifndef ISOTOK_BUILD_WORK_H
#define ISOTOK_BUILD_WORK_H

#include "base.h"

#define ISOTOK__NO_INDEX 0xFFFFFFFFu

typedef struct isotok__work {
    uint8_t *memory;
    size_t size;      /* bytes of memory */
    size_t front;     /* keep: [0, front) is in use */
    size_t back;      /* temp: [back, size) is in use */
    size_t need_hint; /* an estimate of what the whole build needs; 0 = none yet */
    isotok_error error;
} isotok__work;

static inline size_t isotok__align_up(size_t size, size_t alignment)
{
    return (size + alignment - 1) & ~(alignment - 1);
}

void isotok__work_init(isotok__work *work, void *memory, size_t size);

/* Memory for `count` elements that live as long as the build; NULL (with the error set)
 * if there is no room. Not cleared. */
void *isotok__keep(isotok__work *work, size_t count, size_t element_size);

/* Memory that lives until isotok__temp_end(work, mark of before). */
void *isotok__temp(isotok__work *work, size_t count, size_t element_size);

static inline size_t isotok__temp_begin(const isotok__work *work)
{
    return work->back;
}

static inline void isotok__temp_end(isotok__work *work, size_t mark)
{
    work->back = mark;
}

/* The same, typed. */
#define ISOTOK__KEEP(work, type, count) ((type *)isotok__keep((work), (count), sizeof(type)))
#define ISOTOK__TEMP(work, type, count) ((type *)isotok__temp((work), (count), sizeof(type)))

/* All that is left, for a thing whose size shows only while it grows: write to it, then
 * isotok__keep exactly as many bytes as were used (it starts at the same address). */
void *isotok__rest(isotok__work *work, size_t *out_size);

/* Temp memory of so many bytes directly behind what is kept, as a work of its own that ends
 * with the next isotok__keep: what a pass touches there is kept memory later on, so that less
 * is touched in all. False (with the error set) if there is no room. */
bool isotok__behind(isotok__work *work, size_t size, isotok__work *out);

/* Records "too small": `extra` = bytes that did not fit. Returns ISOTOK_NEED_SCRATCH. */
isotok_status isotok__need(isotok__work *work, size_t extra);

/* Records an error and returns its status. */
isotok_status isotok__build_fail(isotok__work *work, isotok_status status, uint32_t what,
                                 uint32_t index, uint64_t offset);

#endif
