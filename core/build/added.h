/* Tokens that are added to a model that is there: the sections of its blob that change, as a blob
 * of their own (FORMAT.md section 16). */
#ifndef ISOTOK_BUILD_ADDED_H
#define ISOTOK_BUILD_ADDED_H

#include "plan.h"

/* Adds the tokens of `source` (isotok_build_added) to a spec that a reader has filled. */
isotok_status isotok__added_take(isotok__work *work, isotok__spec *spec, isotok__span source);

#endif
