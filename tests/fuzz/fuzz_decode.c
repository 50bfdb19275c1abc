/* Any ids, and any pieces, with the models of tests/vectors: every plan gives the same text;
 * an id out of range is refused at its position. Byte 0 is the model, bytes 1..3 the plan. */
#include <stdlib.h>
#include <string.h>

#include "drive.h"
#include "exercise.h"
#include "make_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require_same(const drive_bytes *a, const drive_bytes *b)
{
    REQUIRE(a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0));
}

static void check_ids(const drive_model *m, const drive_plan *plan, uint32_t flags,
                      const uint8_t *data, size_t size)
{
    size_t count = size / 2, wrong = count;
    guarded memory = guarded_copy(data, count * 4 <= size ? count * 4 : 0, 4);
    uint32_t *ids = aligned_memory(count * 4 + 4);
    drive_plan easy = {0};
    drive_bytes a, b;
    isotok_error error;
    guarded_free(&memory);
    for (size_t i = count; i-- > 0;) {
        uint32_t value = data[2 * i] | (uint32_t)data[2 * i + 1] << 8;
        ids[i] = value == 0xFFFF ? ISOTOK_NO_TOKEN : value % m->info.vocab_size;
        wrong = value == 0xFFFF ? i : wrong;
    }
    guarded exact = guarded_copy(ids, count * 4, 4);
    const uint32_t *exact_ids = (const uint32_t *)(const void *)exact.data;
    isotok_status status = drive_decode(m, &easy, flags, exact_ids, count, &a, &error);
    if (wrong < count) {
        REQUIRE(status == ISOTOK_E_ID_RANGE && error.index == wrong);
    } else {
        REQUIRE(status == ISOTOK_OK);
        REQUIRE(drive_decode(m, plan, flags, exact_ids, count, &b, &error) == ISOTOK_OK);
        require_same(&a, &b);
        drive_bytes_free(&b);
    }
    drive_bytes_free(&a);
    guarded_free(&exact);
    free(ids);
}

/* Pieces of 0..7 bytes, the low bits of each first byte. */
static void check_pieces(const drive_model *m, const drive_plan *plan, const uint8_t *data,
                         size_t size)
{
    size_t sizes[64], count = 0, used = 0;
    drive_plan easy = {0};
    drive_bytes a, b;
    isotok_error error;
    while (count < 64 && used < size) {
        size_t piece = data[used] & 7;
        sizes[count] = piece < size - used ? piece + 1 : size - used;
        used += sizes[count++];
    }
    guarded exact = guarded_copy(data, used, 1);
    REQUIRE(drive_decode_pieces(m, &easy, exact.data, sizes, count, &a, &error) == ISOTOK_OK);
    REQUIRE(drive_decode_pieces(m, plan, exact.data, sizes, count, &b, &error) == ISOTOK_OK);
    require_same(&a, &b);
    drive_bytes_free(&a);
    drive_bytes_free(&b);
    guarded_free(&exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4) {
        return 0;
    }
    const drive_model *m = seed_model(data[0] % seed_model_count());
    drive_plan plan = {.capacity = data[1] % 16 + 1u, .part = data[2] % 5, .small = data[3] & 1};
    if (data[3] & 2) {
        check_pieces(m, &plan, data + 4, size - 4);
    } else {
        check_ids(m, &plan, data[3] & 4 ? ISOTOK_RAW_BYTES : 0, data + 4, size - 4);
    }
    return 0;
}
