/* See certify_mutants.h. */
#include "certify_mutants.h"

#define ISOTOK__CERTIFY_ERROR (0.75 / 256)
#define isotok__certify mutant_error
#include "certify.c"
