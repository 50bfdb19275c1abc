/* The blob and the packed form from spec and plan: header and sections. */
#ifndef ISOTOK_BUILD_WRITE_BLOB_H
#define ISOTOK_BUILD_WRITE_BLOB_H

#include "plan.h"
#include "write_flatbuffer.h"

/* Makes one form (ISOTOK_FORM_…) as parts. Those of the packed form are in temp memory, which the
 * next pass may use. */
isotok_status isotok__blob_parts(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan, uint32_t form, isotok__parts *out);

/* Copies them to `out`. NEED_OUTPUT: *out_size is the size wanted. */
isotok_status isotok__parts_write(const isotok__parts *parts, uint8_t *out, size_t capacity,
                                  size_t *out_size);

#endif
