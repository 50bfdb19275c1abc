/* See huge_pages.h. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* madvise */
#include <sys/mman.h>
#endif

#include <stdint.h>

#include "huge_pages.h"

#define HUGE_PAGE ((uintptr_t)ISOTOK_HUGE_PAGE)

void isotok_prefer_huge_pages(void *memory, size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(HUGE_PAGE - 1);
    if (size >= 2 * HUGE_PAGE && begin < end)
        (void)madvise((void *)begin, (size_t)(end - begin), MADV_HUGEPAGE);
#else
    (void)memory;
    (void)size;
#endif
}
