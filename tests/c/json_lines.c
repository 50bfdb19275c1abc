/* See json_lines.h. */
#include "json_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *json_value(const char *line, const char *key)
{
    char quoted[32];
    const char *found;
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    found = strstr(line, quoted);
    return found != NULL ? found + strlen(quoted) : NULL;
}

static unsigned hex_digit(char c)
{
    return (unsigned)(c <= '9' ? c - '0' : c - 'a' + 10);
}

uint8_t *json_hex(const char *value, size_t *size)
{
    const char *digits = value + 1;
    size_t i, count = strcspn(digits, "\"") / 2;
    uint8_t *data = malloc(count > 0 ? count : 1);
    for (i = 0; i < count; i++) {
        data[i] = (uint8_t)(hex_digit(digits[2 * i]) << 4 | hex_digit(digits[2 * i + 1]));
    }
    *size = count;
    return data;
}

uint8_t *json_text(const char *value, size_t *size)
{
    size_t unit, times, i;
    uint8_t *data, *repeated;
    if (*value == '"') {
        return json_hex(value, size);
    }
    data = json_hex(value + 1, &unit);
    times = strtoul(strchr(value, ',') + 1, NULL, 10);
    repeated = malloc(unit * times);
    for (i = 0; i < times; i++) {
        memcpy(repeated + i * unit, data, unit);
    }
    free(data);
    *size = unit * times;
    return repeated;
}

uint32_t *json_numbers(const char *value, size_t *count)
{
    uint32_t *numbers = malloc(strcspn(value, "\n") * sizeof(uint32_t) + 4);
    int depth = 0;
    *count = 0;
    do {
        if (*value == '[') {
            depth++;
        } else if (*value == ']') {
            depth--;
        } else if (*value >= '0' && *value <= '9') {
            char *end;
            numbers[(*count)++] = (uint32_t)strtoul(value, &end, 10);
            value = end - 1;
        }
        value++;
    } while (depth > 0);
    return numbers;
}
