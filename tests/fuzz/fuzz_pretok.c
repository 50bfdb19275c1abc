/* Any bytes as the arrays of a pre-tokenizer, windows among them, and a text. Arrays that pass the
 * check must cut any text, also in parts, without touching anything else, into segments that are
 * not empty, and come to an end. */
#include <stdlib.h>
#include <string.h>

#include "exercise.h"
#include "pretokenize.h"

#define HEAD 8u
#define MOST_ENDS 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exactly as long as it should be: a sanitizer sees what is read behind. */
static void *copy(const uint8_t **data, size_t *left, size_t size)
{
    void *found = malloc(size ? size : 1);
    if (size > *left) size = *left;
    if (found) memcpy(found, *data, size);
    *data += size;
    *left -= size;
    return found;
}

/* `some` bytes, again and again, each time others; groups that are none only if `any` is set. */
static uint8_t *fill_windows(const uint8_t **data, size_t *left, size_t some, bool any)
{
    uint8_t *pattern = calloc(1, some), *windows = malloc(ISOTOK__WINDOWS_SIZE);
    const size_t given = some < *left ? some : *left;
    uint32_t i;
    if (pattern && windows) {
        memcpy(pattern, *data, given);
        for (i = 0; i < ISOTOK__WINDOWS_SIZE; i++) {
            windows[i] = (uint8_t)(pattern[i % some] + i / some * 29);
            if (i < ISOTOK__WINDOW_VECTORS && !any) windows[i] &= 15;
        }
    }
    free(pattern);
    *data += given;
    *left -= given;
    return windows;
}

/* Cuts a text that comes `step` bytes at a time and is moved away; returns how many ends. */
static uint32_t cut_in_parts(const struct isotok__pretokenizer *opened, const uint8_t *text,
                             uint32_t size, uint32_t step, uint32_t capacity, uint32_t *out)
{
    struct isotok__cutter cutter = {0};
    uint32_t gone = 0, shown = 0, total = 0, last = 0, i;
    uint8_t *symbols = calloc(1, size + 1);
    uint32_t *ends = malloc(capacity * sizeof *ends);
    while (symbols && ends && !cutter.done) {
        uint32_t count;
        uint8_t *window;
        shown = size - shown > step ? shown + step : size;
        do {
            window = malloc(shown - gone + 1);
            if (!window) break;
            memcpy(window, text + gone, shown - gone);
            count = isotok__pretokenize(opened, &cutter, window, shown - gone, shown == size,
                                        symbols + gone, ends, capacity);
            free(window);
            REQUIRE(count <= capacity);
            for (i = 0; i < count; i++) {
                uint32_t end = (ends[i] & ~ISOTOK__DROPPED) + gone;
                REQUIRE(end > last && end <= shown);
                last = end;
                if (total < MOST_ENDS) out[total++] = end | (ends[i] & ISOTOK__DROPPED);
            }
            if (count) {
                isotok__pretok_move(opened, &cutter, last - gone);
                gone = last;
            }
        } while (count && !cutter.done);
        REQUIRE(shown < size || cutter.done);
    }
    free(symbols);
    free(ends);
    return total;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct isotok__pretok_arrays arrays;
    struct isotok__pretokenizer opened;
    static uint32_t whole[MOST_ENDS], parts[MOST_ENDS];
    uint32_t count, step, capacity, windows;
    if (size < HEAD) return 0;
    arrays.header_count = data[0];
    arrays.tables_count = (uint32_t)(data[1] | data[2] << 8);
    arrays.classes_count = (uint32_t)(data[3] | data[4] << 8);
    step = data[5] + 1u;
    capacity = ISOTOK__PRETOK_ROOM + data[6];
    windows = data[7]; /* bytes they are made of; 0: none */
    data += HEAD;
    size -= HEAD;
    arrays.header = copy(&data, &size, arrays.header_count * sizeof(uint32_t));
    arrays.tables = copy(&data, &size, arrays.tables_count * sizeof(uint16_t));
    arrays.classes = copy(&data, &size, arrays.classes_count);
    arrays.windows = NULL;
    if (windows) arrays.windows = fill_windows(&data, &size, windows, windows == 255);
    if (size < MOST_ENDS && isotok__pretok_check(&arrays)) {
        REQUIRE(isotok__pretok_open(&opened, &arrays));
        count = cut_in_parts(&opened, data, (uint32_t)size, (uint32_t)size + 1, MOST_ENDS, whole);
        REQUIRE(count <= size);
        cut_in_parts(&opened, data, (uint32_t)size, step, capacity, parts);
    }
    free((void *)(uintptr_t)arrays.header);
    free((void *)(uintptr_t)arrays.tables);
    free((void *)(uintptr_t)arrays.classes);
    free((void *)(uintptr_t)arrays.windows);
    return 0;
}
