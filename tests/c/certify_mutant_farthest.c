/* See certify_mutants.h. */
#include "certify_mutants.h"

#define ISOTOK__CERTIFY_FARTHEST 100500.0
#define isotok__certify mutant_farthest
#include "certify.c"
