/* The four memory functions that the core may use, for a compiler without a C library. */
#ifndef ISOTOK_FREESTANDING_STRING_H
#define ISOTOK_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#endif
