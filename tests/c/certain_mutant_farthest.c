/* See certain_mutants.h. */
#include "certain_mutants.h"

#define ISOTOK__CERTAIN_FARTHEST 100500.0
#define isotok__certain mutant_certain_farthest
#include "certain.c"
