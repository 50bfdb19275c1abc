/* See certain_mutants.h. */
#include "certain_mutants.h"

#define ISOTOK__CERTAIN_ERROR (1.0 / 512)
#define isotok__certain mutant_certain_error
#include "certain.c"
