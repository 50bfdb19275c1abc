/* For the C tests: our JSON files of vectors, one a line, of which only the keys that are asked
 * for are read. What is returned as memory is the caller's. */
#ifndef ISOTOK_TEST_JSON_LINES_H
#define ISOTOK_TEST_JSON_LINES_H

#include <stddef.h>
#include <stdint.h>

/* The value of `key` in the line, NULL if it has none. */
const char *json_value(const char *line, const char *key);
/* Reads "hex"; the memory has exactly the size. */
uint8_t *json_hex(const char *value, size_t *size);
/* Reads "hex" or ["hex", times]. */
uint8_t *json_text(const char *value, size_t *size);
/* Reads the numbers between brackets, nested or not. */
uint32_t *json_numbers(const char *value, size_t *count);

#endif
