/* Reads records {kind u32, size u32, bytes} from standard input and does with each what the
 * fuzz targets do; answers each with a line "status what index offset". Kinds: 0 a blob,
 * 1 a model file. An input that takes longer than LIMIT seconds ends the program. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exercise.h"
#include "isotok_build.h"

#define LIMIT 60

int main(void)
{
    uint32_t head[2];
    while (fread(head, sizeof head, 1, stdin) == 1) {
        isotok_error error;
        uint8_t *data = malloc(head[1] > 0 ? head[1] : 1);
        if (data == NULL || fread(data, 1, head[1], stdin) != head[1]) {
            fputs("replay: a record is cut short\n", stderr);
            return 1;
        }
        alarm(LIMIT);
        isotok_status status = head[0] == 0
                                   ? exercise_blob(data, head[1], ISOTOK_VERIFY_SAFE, &error)
                                   : exercise_source(data, head[1], ISOTOK_SOURCE_AUTO, &error);
        alarm(0);
        if (status == ISOTOK_OK) {
            puts("0 0 0 0");
        } else {
            printf("%d %u %u %llu\n", status, error.what, error.index,
                   (unsigned long long)error.offset);
        }
        fflush(stdout);
        free(data);
    }
    return 0;
}
