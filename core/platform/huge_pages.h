/* Hints to the operating system about large memory. Native hosts only. */
#ifndef ISOTOK_HUGE_PAGES_H
#define ISOTOK_HUGE_PAGES_H

#include <stddef.h>

/* Bytes of one: memory that begins at a multiple of it has no small pages in front. */
#define ISOTOK_HUGE_PAGE ((size_t)2 << 20)

/* Asks for huge pages for memory that is about to be written for the first time; call it before
 * that. Only a hint, and nothing for less than 4 MiB: a session that grew for one long
 * stretch of text would otherwise spend a good part of its time in page faults. */
void isotok_prefer_huge_pages(void *memory, size_t size);

#endif
