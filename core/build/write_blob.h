/* The blob and the packed form from spec and plan: header and sections. */
#ifndef ISOTOK_BUILD_WRITE_BLOB_H
#define ISOTOK_BUILD_WRITE_BLOB_H

#include "plan.h"

/* Writes one form (ISOTOK_FORM_…). NEED_OUTPUT: *out_size is the size wanted. */
isotok_status isotok__blob_write(isotok__work *work, const isotok__spec *spec,
                                 const isotok__plan *plan, uint32_t form, uint8_t *out,
                                 size_t capacity, size_t *out_size);

#endif
