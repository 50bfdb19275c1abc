/* Drives isotok_nbest as drive.h does the others: a session that starts small, no room for ids at
 * first, work space of exactly the size that is asked for. */
#ifndef ISOTOK_TEST_DRIVE_NBEST_H
#define ISOTOK_TEST_DRIVE_NBEST_H

#include "drive.h"

#define DRIVE_MOST_PATHS 512

typedef struct drive_paths {
    uint32_t *ids, ends[DRIVE_MOST_PATHS];
    float scores[DRIVE_MOST_PATHS];
    size_t count;
    unsigned moves, works, outputs; /* how often each was too small */
} drive_paths;

/* OK or an error; `work_size` bytes of work space at first. The result is freed by the caller. */
isotok_status drive_nbest(const drive_model *m, const isotok_encode_options *options,
                          const uint8_t *text, size_t size, uint32_t n, size_t work_size,
                          drive_paths *out, isotok_error *error);
void drive_paths_free(drive_paths *paths);

#endif
