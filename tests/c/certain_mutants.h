/* core/parallel/certain.c with an error in it, to show that the tests would find one: an addition
 * is said to err half; a re-centring to be farther away; the tokens of a block not to
 * move the score. */
#ifndef ISOTOK_TEST_CERTAIN_MUTANTS_H
#define ISOTOK_TEST_CERTAIN_MUTANTS_H

#include "part.h"

typedef isotok_status certain_function(isotok_session *session, struct isotok_part *part,
                                       const uint8_t *text, uint32_t size);

certain_function mutant_certain_error, mutant_certain_farthest, mutant_certain_moves;

#endif
