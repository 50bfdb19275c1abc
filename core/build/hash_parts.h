/* XXH64 of parts end to end: what isotok__xxh64 gives for them as one. */
#ifndef ISOTOK_BUILD_HASH_PARTS_H
#define ISOTOK_BUILD_HASH_PARTS_H

#include "base.h"
#include "isotok_build.h"

/* Without the first `skip` bytes of the first part, which has as many. */
uint64_t isotok__hash_parts(const isotok_build_part *parts, size_t count, size_t skip);

#endif
