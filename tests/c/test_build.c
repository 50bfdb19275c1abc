/* The model compiler through its public functions: every load error with the piece and
 * byte it stands at, models at the edges, arrays, the packed form, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob_gen.h"
#include "make_model.h"

#define NONE 0xFFFFFFFFu
#define FEATURE(name) ((uint64_t)1 << ISOTOK__FEATURE_##name)

/* Builds a blob and frees the model. NULL if it is refused. */
static uint8_t *build_blob(maker *m, size_t *size, isotok_error *error)
{
    uint8_t *blob;
    isotok_status status = build_source(m->data, m->size, ISOTOK_FORM_BLOB, &blob, size, error);
    CHECK(status == error->status || status == ISOTOK_OK);
    if (status != ISOTOK_OK) {
        free(blob);
        blob = NULL;
    }
    maker_free(m);
    return blob;
}

static uint64_t features_of(maker *m)
{
    size_t size;
    isotok_error error;
    uint64_t features = 0;
    uint8_t *blob = build_blob(m, &size, &error);
    if (CHECK(blob != NULL)) {
        memcpy(&features, blob + ISOTOK__HEADER_FEATURES, 8);
    }
    free(blob);
    return features;
}

static void expect_ok(maker *m)
{
    CHECK((features_of(m) & FEATURE(PACKED)) == 0);
}

/* Refused with `what` at piece `index`; `text`, if not NULL, begins at the offset. */
static void expect_error(maker *m, uint32_t what, uint32_t index, const char *text)
{
    uint8_t *blob;
    size_t size;
    isotok_error error;
    isotok_status status = build_source(m->data, m->size, ISOTOK_FORM_BLOB, &blob, &size, &error);
    bool ok = CHECK(status < 0) && CHECK(error.what == what) && CHECK(error.index == index) &&
              CHECK(isotok_build_name(ISOTOK_NAME_WHAT, (int32_t)error.what)[0] != 0);
    if (text != NULL) {
        size_t length = strlen(text);
        ok = ok && CHECK(error.offset + length <= m->size &&
                         memcmp(m->data + error.offset, text, length) == 0);
    }
    if (!ok) {
        fprintf(stderr, "  expected %u at %u; got status %d, what %u at %u, byte %lu\n", what,
                index, status, error.what, error.index, (unsigned long)error.offset);
    }
    free(blob);
    maker_free(m);
}

/* ---- Load errors ----------------------------------------------------------------- */

static maker start(void)
{
    maker m = {0};
    put_specials(&m);
    put_piece(&m, "a", -1, ISOTOK_NORMAL);
    return m;
}

static void test_piece_errors(void)
{
    maker m = start();
    put_piece(&m, "", -1, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_PIECE_EMPTY, 4, NULL);
    m = start();
    put_piece_bytes(&m, "x\0y", 3, -1, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_PIECE_NUL, 4, "x");
    m = start();
    put_piece_bytes(&m, "\0", 1, -1, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_PIECE_NUL, 4, NULL);
    m = start();
    put_piece(&m, "bc", -1, ISOTOK_NORMAL);
    put_piece(&m, "a", -1, ISOTOK_USER_DEFINED);
    put_piece(&m, "bc", -1, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 5, "a");
    m = start();
    put_piece(&m, "a", -1, ISOTOK_UNUSED);
    expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 4, "a");
    m = start();
    put_piece(&m, "x", -1, ISOTOK_CONTROL);
    put_piece(&m, "x", -1, ISOTOK_UNUSED);
    put_piece(&m, "x", -1, ISOTOK_CONTROL);
    expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 6, "x");
    m = start();
    put_piece(&m, "</s>", -1, ISOTOK_CONTROL);
    expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 4, "</s>");
    m = start();
    put_piece(&m, "<u>", -1, ISOTOK_UNKNOWN);
    expect_error(&m, ISOTOK_WHAT_UNK_TWICE, 4, "<u>");
    m = start();
    put_piece(&m, "<0x41>", -1, ISOTOK_BYTE);
    expect_error(&m, ISOTOK_WHAT_BYTE_UNEXPECTED, 4, "<0x41>");
}

/* Bpe has one map for all pieces, the others one for reserved and one for visible pieces. */
static void test_shared_text(void)
{
    for (uint32_t type = ISOTOK_UNIGRAM; type <= ISOTOK_CHAR; type++) {
        maker m = start();
        put_piece(&m, "<s>", -1, ISOTOK_NORMAL);
        put_trainer(&m, type, false);
        if (type == ISOTOK_BPE) {
            expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 4, "<s>");
        } else {
            expect_ok(&m);
        }
        m = start();
        put_piece(&m, "a", -1, ISOTOK_CONTROL);
        put_piece(&m, "<s>", -1, ISOTOK_UNUSED);
        put_trainer(&m, type, false);
        if (type == ISOTOK_BPE) {
            expect_error(&m, ISOTOK_WHAT_PIECE_TWICE, 4, "a");
        } else {
            expect_ok(&m);
        }
    }
}

static void test_byte_errors(void)
{
    static const char *const bad[] = {"<0x4a>", "<0X41>", "<0x411", "0x41", "<0x41> ", "<0xG1>"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        maker m = start();
        put_byte_pieces(&m);
        put_piece(&m, bad[i], 0, ISOTOK_BYTE);
        put_trainer(&m, ISOTOK_UNIGRAM, true);
        expect_error(&m, ISOTOK_WHAT_BYTE_SPELLING, 260, bad[i]);
    }
    maker m = start();
    put_trainer(&m, ISOTOK_UNIGRAM, true);
    expect_error(&m, ISOTOK_WHAT_BYTE_MISSING, 0, NULL);
    m = (maker){0};
    put_byte_pieces(&m);
    put_piece(&m, "a", -1, ISOTOK_NORMAL);
    put_piece_bytes(&m, "\0", 1, -1, ISOTOK_NORMAL); /* becomes UNUSED */
    put_piece_bytes(&m, "\0", 1, -1, ISOTOK_CONTROL);
    put_trainer(&m, ISOTOK_UNIGRAM, true);
    expect_ok(&m);
}

static void test_model_errors(void)
{
    maker m = {0};
    expect_error(&m, ISOTOK_WHAT_UNK_MISSING, NONE, NULL);
    put_piece(&m, "a", -1, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_UNK_MISSING, NONE, NULL);
    put_specials(&m);
    expect_error(&m, ISOTOK_WHAT_NO_USABLE_PIECE, NONE, NULL);
    put_specials(&m);
    put_piece_bytes(&m, "\0", 1, -1, ISOTOK_UNUSED);
    expect_error(&m, ISOTOK_WHAT_NO_USABLE_PIECE, NONE, NULL);
    put_specials(&m);
    put_trainer(&m, ISOTOK_BPE, false);
    expect_ok(&m);
    put_specials(&m);
    put_piece(&m, "a", -1, ISOTOK_UNUSED);
    expect_ok(&m);
}

static void test_scores(void)
{
    const float infinite = 1e38f * 10;
    for (uint32_t type = ISOTOK_UNIGRAM; type <= ISOTOK_CHAR; type++) {
        maker m = start();
        put_piece(&m, "b", -infinite, ISOTOK_CONTROL);
        put_trainer(&m, type, false);
        if (type == ISOTOK_UNIGRAM) {
            expect_error(&m, ISOTOK_WHAT_SCORE_NOT_FINITE, 4, "b");
        } else {
            expect_ok(&m);
        }
    }
    maker m = start();
    put_piece(&m, "b", infinite - infinite, ISOTOK_NORMAL);
    expect_error(&m, ISOTOK_WHAT_SCORE_NOT_FINITE, 4, "b");
}

/* ---- Protobuf -------------------------------------------------------------------- */

/* Every strict prefix is either cut inside a field or a smaller model. */
static void test_prefixes(void)
{
    maker m = start();
    put_trainer(&m, ISOTOK_BPE, false);
    for (size_t size = 0; size < m.size; size++) {
        uint8_t *blob;
        size_t blob_size;
        isotok_error error;
        uint8_t *copy = malloc(size + 1); /* exactly as large, so that ASan sees an overrun */
        memcpy(copy, m.data, size);
        copy = realloc(copy, size > 0 ? size : 1);
        isotok_status status =
            build_source(copy, size, ISOTOK_FORM_BLOB, &blob, &blob_size, &error);
        CHECK(status == ISOTOK_OK || error.what == ISOTOK_WHAT_PROTOBUF ||
              error.what == ISOTOK_WHAT_UNK_MISSING || error.what == ISOTOK_WHAT_NO_USABLE_PIECE);
        CHECK(error.what != ISOTOK_WHAT_PROTOBUF || error.offset <= size);
        free(blob);
        free(copy);
    }
    maker_free(&m);
}

static void expect_raw(const char *bytes, size_t size, bool ok)
{
    maker m = start();
    size_t at = m.size;
    put_raw(&m, bytes, size);
    if (ok) {
        expect_ok(&m);
    } else {
        uint8_t *blob;
        size_t blob_size;
        isotok_error error;
        CHECK(build_source(m.data, m.size, ISOTOK_FORM_BLOB, &blob, &blob_size, &error) ==
              ISOTOK_E_CORRUPT);
        CHECK(error.what == ISOTOK_WHAT_PROTOBUF);
        CHECK(error.offset >= at && error.offset <= m.size);
        maker_free(&m);
    }
}

#define RAW(bytes, ok) expect_raw(bytes, sizeof bytes - 1, ok)

static void test_wire_format(void)
{
    RAW("\x48\x01", true); /* unknown number */
    RAW("\x4A\x03"
        "abc",
        true); /* unknown bytes */
    RAW("\x49"
        "12345678",
        true); /* unknown fixed64 */
    RAW("\x4D"
        "1234",
        true);                              /* unknown fixed32 */
    RAW("\x4B\x08\x01\x53\x54\x4C", true);  /* groups, one in another */
    RAW("\x08\x05", true);                  /* pieces as a number: unknown */
    RAW("\xCA\x80\x80\x80\x00\x01x", true); /* a tag of five bytes */
    RAW("\x48\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7F", true);
    RAW("\x48\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", false);
    RAW("\x00", false);         /* field 0 */
    RAW("\x4E", false);         /* wire type 6 */
    RAW("\x4C", false);         /* end of no group */
    RAW("\x4B\x08\x01", false); /* group without an end */
    RAW("\x4B\x54", false);     /* another group's end */
    RAW("\x4A\x05"
        "abc",
        false); /* length beyond the file */
    RAW("\x4A\xFF\xFF\xFF\xFF\x07", false);
    RAW("\x4A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", false);
    RAW("\x49"
        "123",
        false);
    RAW("\x4D"
        "123",
        false);
    RAW("\x0A\x02\x0A\x05", false); /* a piece's text beyond the piece */
    RAW("\x12\x01\x18", false);     /* trainer_spec cut inside */
}

/* The library's limit of nesting: 100 levels, of which a piece is one. */
static void test_groups(void)
{
    for (unsigned depth = 98; depth <= 101; depth++) {
        uint8_t bytes[202];
        maker piece = {0};
        memset(bytes, 0x4B, depth);
        memset(bytes + depth, 0x4C, depth);
        expect_raw((const char *)bytes, 2 * (size_t)depth, depth <= 100);
        put_bytes(&piece, 1, "b", 1);
        put_raw(&piece, bytes, 2 * (size_t)depth);
        maker pieces = {0};
        put_bytes(&pieces, 1, piece.data, piece.size);
        expect_raw((const char *)pieces.data, pieces.size, depth <= 99);
        maker_free(&piece);
        maker_free(&pieces);
    }
}

/* Unknown enum values are unknown fields; the last known value of a field counts; a
 * message that comes twice is merged. */
static void test_proto2_values(void)
{
    maker m = start();
    put_piece(&m, "b", -1, 9);
    put_piece(&m, "c", -1, 0);
    put_trainer(&m, 99, false);
    CHECK((features_of(&m) & 15) == FEATURE(UNIGRAM));
    m = start();
    put_trainer(&m, ISOTOK_BPE, false);
    put_trainer(&m, 77, false);
    CHECK((features_of(&m) & 15) == FEATURE(BPE));
    m = start();
    put_byte_pieces(&m);
    put_trainer(&m, ISOTOK_CHAR, false);
    put_raw(&m, "\x12\x03\x98\x02\x01", 5); /* byte_fallback alone */
    CHECK((features_of(&m) & (15 | FEATURE(BYTE_FALLBACK))) ==
          (FEATURE(CHAR) | FEATURE(BYTE_FALLBACK)));
}

/* ---- Sizes ----------------------------------------------------------------------- */

static void test_long_pieces(void)
{
    static const size_t sizes[] = {254, 255, 256, 300, 7999, 8000};
    char text[8000];
    memset(text, 'q', sizeof text);
    for (uint32_t type = ISOTOK_UNIGRAM; type <= ISOTOK_CHAR; type++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            maker m = start();
            put_piece_bytes(&m, text, sizes[i], -1, ISOTOK_NORMAL);
            put_trainer(&m, type, false);
            if (sizes[i] == 8000) {
                expect_error(&m, ISOTOK_WHAT_PIECE_LONG, 4, "qqqq");
                continue;
            }
            uint64_t features = features_of(&m);
            CHECK(((features & FEATURE(WIDE)) != 0) == (type == ISOTOK_UNIGRAM && sizes[i] > 254));
        }
    }
}

/* ---- Features -------------------------------------------------------------------- */

static void test_features(void)
{
    maker m = start();
    CHECK(features_of(&m) == (FEATURE(UNIGRAM) | FEATURE(COMPACT_SPACE)));
    m = start();
    put_piece(&m, "x y", -1, ISOTOK_NORMAL);
    CHECK(features_of(&m) == FEATURE(UNIGRAM));
    m = start();
    put_piece(&m, "x y", -1, ISOTOK_CONTROL); /* never in the trie */
    CHECK(features_of(&m) == (FEATURE(UNIGRAM) | FEATURE(COMPACT_SPACE)));
    m = start();
    put_piece(&m, "\xE2\x96", -1, ISOTOK_NORMAL);
    CHECK(features_of(&m) == (FEATURE(UNIGRAM) | FEATURE(WHOLE_TEXT)));
    m = start();
    put_raw(&m, "\x1A\x02\x28\x00", 4); /* escape_whitespaces: false */
    CHECK(features_of(&m) == FEATURE(UNIGRAM));
    m = start();
    put_piece(&m, "zz", 2e30f, ISOTOK_NORMAL);
    CHECK(features_of(&m) == (FEATURE(UNIGRAM) | FEATURE(COMPACT_SPACE) | FEATURE(WIDE)));
    m = (maker){0}; /* no NORMAL piece: unk scores FLT_MAX - 10 */
    put_specials(&m);
    put_piece(&m, "u", 0, ISOTOK_USER_DEFINED);
    CHECK(features_of(&m) ==
          (FEATURE(UNIGRAM) | FEATURE(COMPACT_SPACE) | FEATURE(WIDE) | FEATURE(USER_DEFINED)));
}

/* UNUSED bpe pieces: one way to arise is split back, two forbid cutting. */
static void test_unused(void)
{
    const uint64_t base = FEATURE(BPE) | FEATURE(COMPACT_SPACE);
    maker m = start();
    put_piece(&m, "ab", -1, ISOTOK_UNUSED);
    put_trainer(&m, ISOTOK_BPE, false);
    CHECK(features_of(&m) == (base | FEATURE(UNUSED_MERGES)));
    m = start();
    put_piece(&m, "abc", -1, ISOTOK_UNUSED); /* neither ab nor bc is a piece */
    put_trainer(&m, ISOTOK_BPE, false);
    CHECK(features_of(&m) == base);
    m = start();
    put_piece(&m, "ab", -1, ISOTOK_NORMAL);
    put_piece(&m, "bc", -1, ISOTOK_NORMAL);
    put_piece(&m, "abc", -1, ISOTOK_UNUSED);
    put_trainer(&m, ISOTOK_BPE, false);
    CHECK(features_of(&m) == (base | FEATURE(UNUSED_MERGES) | FEATURE(WHOLE_TEXT)));
    m = start();
    put_piece(&m, "b", -1, ISOTOK_UNUSED); /* a character is a symbol of its own */
    put_trainer(&m, ISOTOK_BPE, false);
    CHECK(features_of(&m) == (base | FEATURE(UNUSED_MERGES)));
}

/* ---- Memory and states ----------------------------------------------------------- */

static maker some_model(void)
{
    maker m = {0};
    uint32_t state = 1;
    put_specials(&m);
    for (uint32_t i = 0; i < 3000; i++) {
        char text[32];
        state = state * 1664525u + 1013904223u;
        snprintf(text, sizeof text, "\xE2\x96\x81%x.%x", state >> (i % 20), i);
        put_piece(&m, text, -(float)i, ISOTOK_NORMAL);
        snprintf(text, sizeof text, "%u", i);
        put_piece(&m, text, -(float)i, i % 50 == 0 ? ISOTOK_USER_DEFINED : ISOTOK_NORMAL);
    }
    return m;
}

/* The size of the memory does not show in the bytes. */
static void test_memory(void)
{
    maker m = some_model();
    uint8_t *blob;
    size_t size;
    isotok_error error;
    isotok_status status = build_source(m.data, m.size, ISOTOK_FORM_BLOB, &blob, &size, &error);
    if (CHECK(status == ISOTOK_OK)) {
        uint8_t *again = aligned_memory(size);
        for (size_t memory = 1u << 20; memory <= 64u << 20; memory *= 4) {
            isotok_build *build;
            size_t out_size;
            void *arena = aligned_memory(memory);
            memset(arena, 0xAB, memory);
            memset(again, 0xCD, size);
            CHECK(isotok_build_init(arena, memory, &build, &error) == ISOTOK_OK);
            status =
                isotok_build_source(build, ISOTOK_SOURCE_SENTENCEPIECE, m.data, m.size, &error);
            if (status == ISOTOK_OK) {
                status =
                    isotok_build_finish(build, ISOTOK_FORM_BLOB, again, size, &out_size, &error);
            }
            CHECK(status == ISOTOK_NEED_SCRATCH ||
                  (status == ISOTOK_OK && out_size == size && memcmp(blob, again, size) == 0));
            CHECK(status != ISOTOK_NEED_SCRATCH || error.need >= 2 * (uint64_t)(memory - 4096));
            free(arena);
        }
        free(again);
    }
    free(blob);
    maker_free(&m);
}

/* Every small size of memory is refused, never overrun. */
static void test_small_memory(void)
{
    maker m = some_model();
    isotok_error error = {.size = sizeof error};
    isotok_build *build;
    size_t out_size;
    unsigned done = 0;
    for (size_t memory = 4096; memory < 1200000; memory += memory / 3 + 64) {
        void *arena = aligned_memory(memory);
        isotok_status status = isotok_build_init(arena, memory & ~(size_t)63, &build, &error);
        if (status == ISOTOK_OK) {
            status = isotok_build_source(build, ISOTOK_SOURCE_AUTO, m.data, m.size, &error);
        }
        if (status == ISOTOK_OK) {
            status = isotok_build_finish(build, ISOTOK_FORM_BLOB, NULL, 0, &out_size, &error);
        }
        CHECK(status == ISOTOK_NEED_SCRATCH || status == ISOTOK_NEED_OUTPUT);
        done += status == ISOTOK_NEED_OUTPUT;
        free(arena);
    }
    CHECK(done > 0);
    CHECK(isotok_build_init(&error, 4095, &build, NULL) < 0 ||
          isotok_build_init(&error, 4095, &build, NULL) == ISOTOK_NEED_SCRATCH);
    maker_free(&m);
}

static void test_states(void)
{
    maker m = start();
    isotok_error error = {.size = sizeof error};
    isotok_build *build;
    size_t size;
    size_t blob_size;
    uint8_t *arena = aligned_memory(1u << 20);
    uint8_t *out = aligned_memory(1u << 16);
    const uint32_t one = 1;
    CHECK(isotok_build_init(arena + 1, 1u << 16, &build, &error) == ISOTOK_E_ALIGNMENT);
    CHECK(isotok_build_init(NULL, 1u << 16, &build, &error) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_build_init(arena, 1u << 20, &build, &error) == ISOTOK_OK);
    CHECK(isotok_build_source(build, ISOTOK_SOURCE_AUTO, m.data, m.size, &error) == ISOTOK_OK);
    CHECK(isotok_build_source(build, ISOTOK_SOURCE_AUTO, m.data, m.size, &error) == ISOTOK_E_STATE);
    CHECK(isotok_build_set(build, ISOTOK_FIELD_PARITY, &one, 1, &error) == ISOTOK_E_STATE);
    CHECK(isotok_build_finish(build, 7, out, 1u << 16, &size, &error) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_build_finish(build, 0, out + 1, 100, &size, &error) == ISOTOK_E_ALIGNMENT);
    CHECK(isotok_build_finish(build, 0, out, 100, &size, &error) == ISOTOK_NEED_OUTPUT);
    CHECK(error.what == ISOTOK_WHAT_BUILD_OUTPUT && error.need == size);
    blob_size = size;
    CHECK(isotok_build_finish(build, 0, out, size - 1, &size, NULL) == ISOTOK_NEED_OUTPUT);
    CHECK(isotok_build_finish(build, 0, out, blob_size, &size, &error) == ISOTOK_OK);
    CHECK(size == blob_size);
    CHECK(isotok_build_finish(build, ISOTOK_FORM_PACKED, out, 1u << 16, &size, &error) ==
          ISOTOK_OK);
    CHECK(size < blob_size);
    CHECK(isotok_build_init(arena, 1u << 20, &build, &error) == ISOTOK_OK);
    CHECK(isotok_build_source(build, ISOTOK_SOURCE_AUTO, "\xFF", 1, &error) == ISOTOK_E_CORRUPT);
    CHECK(isotok_build_finish(build, 0, out, 1u << 16, &size, &error) == ISOTOK_E_STATE);
    free(out);
    free(arena);
    maker_free(&m);
}

/* ---- Arrays ---------------------------------------------------------------------- */

typedef struct field {
    uint32_t field;
    const void *data;
    size_t count;
} field;

static isotok_status build_arrays(const field *fields, size_t count, uint8_t *out, size_t capacity,
                                  size_t *size, isotok_error *error)
{
    uint8_t *arena = aligned_memory(1u << 20);
    isotok_build *build;
    isotok_status status = isotok_build_init(arena, 1u << 20, &build, error);
    for (size_t i = 0; status == ISOTOK_OK && i < count; i++) {
        status = isotok_build_set(build, fields[i].field, fields[i].data, fields[i].count, error);
    }
    if (status == ISOTOK_OK) {
        status = isotok_build_finish(build, ISOTOK_FORM_BLOB, out, capacity, size, error);
    }
    free(arena);
    return status;
}

static void test_arrays(void)
{
    static const uint16_t sizes[] = {5, 3, 4, 1, 2};
    static const float scores[] = {0, 0, 0, -1, -2};
    static const uint8_t types[] = {ISOTOK_UNKNOWN, ISOTOK_CONTROL, ISOTOK_CONTROL, ISOTOK_NORMAL,
                                    ISOTOK_NORMAL};
    static const uint32_t parity = ISOTOK_PARITY_SENTENCEPIECE;
    static const uint32_t bad = 9;
    field fields[] = {
        {ISOTOK_FIELD_PIECE_TEXT, "<unk><s></s>aab", 15},
        {ISOTOK_FIELD_PIECE_SIZES, sizes, 5},
        {ISOTOK_FIELD_SCORES, scores, 5},
        {ISOTOK_FIELD_TYPES, types, 5},
        {ISOTOK_FIELD_PARITY, &parity, 1},
    };
    isotok_error error = {.size = sizeof error};
    uint8_t *out = aligned_memory(1u << 16);
    size_t size;
    size_t blob_size;
    maker m = start();
    put_piece(&m, "ab", -2, ISOTOK_NORMAL);
    uint8_t *blob = build_blob(&m, &blob_size, &error);
    CHECK(build_arrays(fields, 5, out, 1u << 16, &size, &error) == ISOTOK_OK);
    CHECK(blob != NULL && size == blob_size && memcmp(blob, out, size) == 0);
    CHECK(build_arrays(fields, 4, out, 1u << 16, &size, &error) == ISOTOK_OK);
    CHECK(out[ISOTOK__HEADER_PARITY] == ISOTOK_PARITY_ISOTOK);
    CHECK(build_arrays(fields, 3, out, 1u << 16, &size, &error) == ISOTOK_E_CORRUPT);
    CHECK(error.what == ISOTOK_WHAT_UNK_MISSING);
    fields[0].count = 14;
    CHECK(build_arrays(fields, 5, out, 1u << 16, &size, &error) == ISOTOK_E_ARGUMENT);
    CHECK(error.what == ISOTOK_WHAT_FIELD && error.index == ISOTOK_FIELD_PIECE_SIZES);
    fields[0].count = 15;
    fields[2].count = 4;
    CHECK(build_arrays(fields, 5, out, 1u << 16, &size, &error) == ISOTOK_E_ARGUMENT);
    CHECK(error.what == ISOTOK_WHAT_FIELD && error.index == ISOTOK_FIELD_SCORES);
    fields[2].count = 5;
    fields[4] = (field){ISOTOK_FIELD_ALGORITHM, &bad, 1};
    CHECK(build_arrays(fields, 5, out, 1u << 16, &size, &error) == ISOTOK_E_ARGUMENT);
    fields[4] = (field){99, &bad, 1};
    CHECK(build_arrays(fields, 5, out, 1u << 16, &size, &error) == ISOTOK_E_ARGUMENT);
    free(blob);
    free(out);
}

int main(void)
{
    test_piece_errors();
    test_shared_text();
    test_byte_errors();
    test_model_errors();
    test_scores();
    test_prefixes();
    test_wire_format();
    test_groups();
    test_proto2_values();
    test_long_pieces();
    test_features();
    test_unused();
    test_memory();
    test_small_memory();
    test_states();
    test_arrays();
    return test_result();
}
