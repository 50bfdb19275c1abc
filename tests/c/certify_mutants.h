/* The certificate of core/src/certify.c with an error in it, to show that the tests would find one:
 * an addition is said to err a quarter less; a re-centring to be farther away. */
#ifndef ISOTOK_TEST_CERTIFY_MUTANTS_H
#define ISOTOK_TEST_CERTIFY_MUTANTS_H

#include "certify.h"

void mutant_error(const isotok_model *model, const uint8_t *text, uint32_t size,
                  struct isotok__cache_entry *entry);
void mutant_farthest(const isotok_model *model, const uint8_t *text, uint32_t size,
                     struct isotok__cache_entry *entry);

#endif
