/* L1: XXH64, the 64-bit hash of the xxHash family, for the blob's checksum.
 * It finds damage; it is no protection against intent. */
#ifndef ISOTOK_XXH64_H
#define ISOTOK_XXH64_H

#include "base.h"

uint64_t isotok__xxh64(const void *data, size_t size, uint64_t seed);

#endif
