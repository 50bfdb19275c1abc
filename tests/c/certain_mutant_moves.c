/* See certain_mutants.h. */
#include "certain_mutants.h"

#define ISOTOK__CERTAIN_MOVES 0.0
#define isotok__certain mutant_certain_moves
#include "certain.c"
