/* Arguments of isotok_boundaries, and of encode with NORMALIZED, that cannot be used. What both
 * give for good ones is checked on every vector, see check_normalized.h. */
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "make_model.h"

#define MODEL "tests/vectors/models/trained_unigram.model"

static const uint8_t good[] = "\xE2\x96\x81hello\xE2\x96\x81world"; /* two chunks or more */
static const size_t good_size = sizeof good - 1;

static void check_arguments(const drive_model *m)
{
    isotok_error error = {.size = sizeof error};
    uint32_t ends[64];
    size_t position = 0, count = 7;
    CHECK(isotok_boundaries(NULL, good, good_size, &position, ends, 64, &count, &error) ==
          ISOTOK_E_ARGUMENT);
    CHECK(error.what == ISOTOK_WHAT_NULL_POINTER);
    CHECK(isotok_boundaries(m->model, NULL, 1, &position, ends, 64, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_boundaries(m->model, good, good_size, NULL, ends, 64, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_boundaries(m->model, good, good_size, &position, NULL, 64, &count, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_boundaries(m->model, good, good_size, &position, ends, 64, NULL, NULL) ==
          ISOTOK_E_ARGUMENT);
    CHECK(position == 0);
    position = good_size + 1;
    CHECK(isotok_boundaries(m->model, good, good_size, &position, ends, 64, &count, &error) ==
          ISOTOK_E_ARGUMENT);
    CHECK(error.what == ISOTOK_WHAT_OPTION && error.offset == good_size + 1);
#if SIZE_MAX > 0xFFFFFFFFu
    position = 0;
    CHECK(isotok_boundaries(m->model, good, (size_t)1 << 32, &position, ends, 64, &count, &error) ==
          ISOTOK_E_TOO_LARGE);
    CHECK(error.what == ISOTOK_WHAT_TEXT_SIZE);
#endif
}

static void check_capacity(const drive_model *m)
{
    isotok_error error = {.size = sizeof error};
    uint32_t ends[64];
    size_t position = 0, count = 7, all;
    CHECK(isotok_boundaries(m->model, NULL, 0, &position, NULL, 0, &count, NULL) == ISOTOK_OK);
    CHECK(count == 0 && position == 0);
    CHECK(isotok_boundaries(m->model, good, good_size, &position, NULL, 0, &count, &error) ==
          ISOTOK_NEED_OUTPUT);
    CHECK(count == 0 && position == 0 && error.need == good_size);
    CHECK(isotok_boundaries(m->model, good, good_size, &position, ends, 64, &all, NULL) ==
          ISOTOK_OK);
    CHECK(all > 1 && ends[all - 1] == good_size && position == good_size);
    CHECK(isotok_boundaries(m->model, good, good_size, &position, ends, 64, &count, NULL) ==
          ISOTOK_OK);
    CHECK(count == 0);
}

static void check_text(const drive_model *m)
{
    isotok_error error = {.size = sizeof error};
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_NORMALIZED};
    const drive_plan plan = {0};
    drive_tokens tokens;
    uint32_t ends[64];
    size_t position = 0, count;
    uint8_t bad[sizeof good];
    memcpy(bad, good, sizeof good);
    bad[good_size - 1] = ' ';
    CHECK(isotok_boundaries(m->model, bad, good_size, &position, ends, 64, &count, &error) ==
          ISOTOK_E_TEXT);
    CHECK(error.what == ISOTOK_WHAT_NORMALIZED_TEXT && error.offset == good_size - 1);
    CHECK(drive_encode(m, &plan, &options, bad, good_size, &tokens, &error) == ISOTOK_E_TEXT);
    CHECK(error.what == ISOTOK_WHAT_NORMALIZED_TEXT && error.offset == good_size - 1);
    drive_tokens_free(&tokens);
    /* a character that the last part cuts off */
    CHECK(drive_encode(m, &plan, &options, good, 2, &tokens, &error) == ISOTOK_E_TEXT);
    CHECK(error.offset == 0);
    drive_tokens_free(&tokens);
}

/* After the error the session must begin again. */
static void check_state(const drive_model *m)
{
    isotok_error error = {.size = sizeof error};
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_NORMALIZED};
    isotok_session *session;
    void *memory = aligned_memory(m->info.session_size);
    uint32_t ids[8];
    isotok_input input = {(const uint8_t *)"\xFF", 1, 0, ISOTOK_PART_LAST};
    isotok_output output = {.ids = ids, .capacity = 8};
    CHECK(isotok_session_init(m->model, memory, m->info.session_size, &session, &error) ==
          ISOTOK_OK);
    CHECK(isotok_encode_begin(session, &options, &error) == ISOTOK_OK);
    CHECK(isotok_encode_step(session, &input, &output, &error) == ISOTOK_E_TEXT);
    CHECK(isotok_encode_step(session, &input, &output, &error) == ISOTOK_E_STATE);
    CHECK(isotok_encode_begin(session, NULL, &error) == ISOTOK_OK);
    CHECK(isotok_encode_step(session, &input, &output, &error) == ISOTOK_OK && output.count > 0);
    free(memory);
}

int main(void)
{
    drive_model m = {0};
    if (!drive_open_file(&m, MODEL)) {
        return 1;
    }
    check_arguments(&m);
    check_capacity(&m);
    check_text(&m);
    check_state(&m);
    drive_close(&m);
    return test_result();
}
