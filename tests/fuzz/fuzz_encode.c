/* Any text with the models of tests/vectors: every plan gives the same tokens, spans lie in
 * the text, counting counts, limits cut. Byte 0 is the model, bytes 1..3 the plan, and half of
 * the time there is a token cache, which the calls fill one after the other. */
#include <string.h>

#include "drive.h"
#include "exercise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_count(const drive_model *m, const drive_plan *plan, const uint8_t *text,
                        size_t size, const drive_tokens *all, uint32_t limit)
{
    isotok_error error;
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_COUNT_ONLY};
    drive_tokens found;
    REQUIRE(drive_encode(m, plan, &options, text, size, &found, &error) == ISOTOK_OK);
    REQUIRE(found.counted == all->count);
    options.flags = 0;
    options.limit = limit;
    isotok_status status = drive_encode(m, plan, &options, text, size, &found, &error);
    REQUIRE(status == (all->count > limit ? ISOTOK_AT_LIMIT : ISOTOK_OK));
    REQUIRE(found.count == (all->count > limit ? limit : all->count));
    REQUIRE(found.count == 0 || memcmp(found.ids, all->ids, found.count * 4) == 0);
    drive_tokens_free(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) {
        return 0;
    }
    const drive_model *m = seed_model(data[0] % seed_model_count());
    drive_plan easy = {0};
    drive_plan plan = {.capacity = data[1] % 32 + 1u,
                       .part = data[2] == 0 ? 0 : data[2],
                       .small = data[3] & 1,
                       .move = (data[3] & 0x0E) == 0x0E && size < 200};
    isotok_encode_options options = {.size = sizeof options,
                                     .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS,
                                     .offset_unit = (data[3] >> 4) % 3u};
    isotok_error error;
    guarded text = guarded_copy(data + 4, size - 4, 1);
    guarded cache = guarded_copy(NULL, data[1] & 0x20 ? data[1] & 0x40 ? 4096 : 65536 : 0, 64);
    drive_tokens a, b;
    drive_bytes na, nb;
    REQUIRE(drive_encode(m, &easy, &options, text.data, text.size, &a, &error) == ISOTOK_OK);
    plan.cache = cache.data;
    plan.cache_size = cache.size;
    for (size_t i = cache.size > 0 ? 3 : 1; i > 0; i--) { /* missed, kept, found */
        REQUIRE(drive_encode(m, &plan, &options, text.data, text.size, &b, &error) == ISOTOK_OK);
        REQUIRE(drive_tokens_equal(&a, &b));
        drive_tokens_free(&b);
    }
    for (size_t i = 0; i < a.count; i++) {
        REQUIRE(a.ids[i] < m->info.vocab_size && a.begin[i] <= a.end[i] && a.end[i] <= text.size);
        REQUIRE(i == 0 || (a.begin[i - 1] <= a.begin[i] && a.end[i - 1] <= a.end[i]));
    }
    check_count(m, &plan, text.data, text.size, &a, data[1] % 9 + 1u);
    uint32_t unit = options.offset_unit;
    REQUIRE(drive_normalize(m, &easy, unit, text.data, text.size, &na, &error) == ISOTOK_OK);
    REQUIRE(drive_normalize(m, &plan, unit, text.data, text.size, &nb, &error) == ISOTOK_OK);
    REQUIRE(na.size == nb.size && memcmp(na.data, nb.data, na.size) == 0);
    REQUIRE(na.size == 0 || memcmp(na.map, nb.map, (na.size + 1) * 4) == 0);
    REQUIRE(na.size <= text.size * (uint64_t)m->info.max_expansion + 16);
    drive_tokens_free(&a);
    drive_bytes_free(&na);
    drive_bytes_free(&nb);
    guarded_free(&cache);
    guarded_free(&text);
    return 0;
}
