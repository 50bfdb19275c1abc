/* The core's public functions, one by one: every argument that must be refused, the header's
 * checks, calls in the wrong order, batches, NULs for everything that may be NULL.
 * Results are the business of test_vectors.c. Runs from the project's root. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob_gen.h"
#include "drive.h"
#include "make_model.h"

#define MODELS "tests/vectors/models/"

static const uint8_t text[] = "ab abc a  zz";
#define TEXT_SIZE (sizeof text - 1)

typedef struct fixture {
    drive_model m;
    void *memory;
    isotok_session *session;
} fixture;

static void open_fixture(fixture *f, const char *name)
{
    char path[128];
    isotok_error error = {.size = sizeof error};
    snprintf(path, sizeof path, MODELS "%s.model", name);
    if (!drive_open_file(&f->m, path)) {
        exit(1);
    }
    f->memory = aligned_memory(f->m.info.session_size);
    CHECK(isotok_session_init(f->m.model, f->memory, f->m.info.session_size, &f->session, &error) ==
          ISOTOK_OK);
}

static void close_fixture(fixture *f)
{
    free(f->memory);
    drive_close(&f->m);
}

/* ---- Names ----------------------------------------------------------------------- */

static void test_names(void)
{
    CHECK(isotok_abi() == (ISOTOK_ABI_MAJOR << 16 | ISOTOK_ABI_MINOR));
#define ISOTOK_X(name, number, words) \
    CHECK(strcmp(isotok_name(ISOTOK_NAME_STATUS, number), words) == 0);
    ISOTOK_STATUS_MAP(ISOTOK_X)
#undef ISOTOK_X
#define ISOTOK_X(name, number, words) \
    CHECK(strcmp(isotok_name(ISOTOK_NAME_WHAT, number), words) == 0);
    ISOTOK_RUN_WHAT_MAP(ISOTOK_X)
#undef ISOTOK_X
    CHECK(strcmp(isotok_name(ISOTOK_NAME_FEATURE, 0), "unigram") == 0);
    CHECK(strcmp(isotok_name(ISOTOK_NAME_FEATURE, 63), "packed") == 0);
    CHECK(isotok_name(ISOTOK_NAME_FEATURE, 40)[0] == 0);
    CHECK(isotok_name(ISOTOK_NAME_STATUS, 99)[0] == 0);
    CHECK(isotok_name(77, 0)[0] == 0);
    CHECK(isotok_model_size() < 2048);
}

/* ---- Opening --------------------------------------------------------------------- */

/* Opens a copy of the blob with `size` bytes at `at` replaced. */
static isotok_status open_changed(const drive_model *m, size_t at, const void *bytes, size_t size,
                                  uint32_t verify, isotok_error *error)
{
    uint8_t *blob = aligned_memory(m->blob_size);
    drive_model changed;
    isotok_status status;
    memcpy(blob, m->blob, m->blob_size);
    memcpy(blob + at, bytes, size);
    memset(error, 0, sizeof *error);
    status = drive_open(&changed, blob, m->blob_size, verify, error);
    if (status == ISOTOK_OK) {
        drive_close(&changed);
    }
    return status;
}

static void test_header(void)
{
    fixture f;
    isotok_error e;
    uint64_t features;
    uint32_t format = 2;
    open_fixture(&f, "uni_ties");
    memcpy(&features, f.m.blob + ISOTOK__HEADER_FEATURES, 8);

    CHECK(open_changed(&f.m, 0, "JSTK", 4, ISOTOK_VERIFY_SAFE, &e) == ISOTOK_E_CORRUPT);
    CHECK(e.what == ISOTOK_WHAT_HEADER);
    CHECK(open_changed(&f.m, ISOTOK__HEADER_FORMAT, &format, 4, ISOTOK_VERIFY_SAFE, &e) ==
          ISOTOK_E_UNSUPPORTED);
    CHECK(e.what == ISOTOK_WHAT_FORMAT && e.index == 2);

    /* An unknown feature is named, the lowest first; whatever the level. */
    uint64_t unknown = features | (uint64_t)1 << 50 | (uint64_t)1 << 61;
    for (uint32_t verify = ISOTOK_VERIFY_SAFE; verify <= ISOTOK_VERIFY_TRUSTED; verify++) {
        CHECK(open_changed(&f.m, ISOTOK__HEADER_FEATURES, &unknown, 8, verify, &e) ==
              ISOTOK_E_UNSUPPORTED);
        CHECK(e.what == ISOTOK_WHAT_FEATURES && e.index == 50);
        CHECK(e.offset == ISOTOK__HEADER_FEATURES);
    }
    uint64_t packed = features | (uint64_t)1 << 63;
    CHECK(open_changed(&f.m, ISOTOK__HEADER_FEATURES, &packed, 8, ISOTOK_VERIFY_SAFE, &e) ==
          ISOTOK_E_UNSUPPORTED);
    CHECK(e.what == ISOTOK_WHAT_PACKED);

    uint64_t total = f.m.blob_size + 1;
    CHECK(open_changed(&f.m, ISOTOK__HEADER_TOTAL_SIZE, &total, 8, ISOTOK_VERIFY_SAFE, &e) ==
          ISOTOK_E_CORRUPT);
    CHECK(e.what == ISOTOK_WHAT_TOTAL_SIZE && e.need == total);

    /* The checksum is a matter of FULL. */
    uint64_t checksum = 12345;
    CHECK(open_changed(&f.m, ISOTOK__HEADER_CHECKSUM, &checksum, 8, ISOTOK_VERIFY_SAFE, &e) ==
          ISOTOK_OK);
    CHECK(open_changed(&f.m, ISOTOK__HEADER_CHECKSUM, &checksum, 8, ISOTOK_VERIFY_FULL, &e) ==
          ISOTOK_E_CORRUPT);
    CHECK(e.what == ISOTOK_WHAT_CHECKSUM);
    close_fixture(&f);
}

static void test_open_arguments(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    const isotok_model *model = NULL;
    size_t need = isotok_model_size();
    uint8_t *memory = aligned_memory(need + 64), *shifted;
    open_fixture(&f, "uni_ties");
    const uint8_t *blob = f.m.blob;
    size_t size = f.m.blob_size;

#define OPEN(b, n, verify, mem, m_size, out) isotok_model_open(b, n, verify, mem, m_size, out, &e)
    CHECK(OPEN(blob, size, ISOTOK_VERIFY_SAFE, memory, need, &model) == ISOTOK_OK);
    CHECK(OPEN(NULL, size, ISOTOK_VERIFY_SAFE, memory, need, &model) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_NULL_POINTER);
    CHECK(OPEN(blob, size, ISOTOK_VERIFY_SAFE, NULL, need, &model) == ISOTOK_E_ARGUMENT);
    CHECK(OPEN(blob, size, ISOTOK_VERIFY_SAFE, memory, need, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(OPEN(blob, size, 3, memory, need, &model) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_OPTION);
    CHECK(OPEN(blob, size, ISOTOK_VERIFY_SAFE, memory, need - 1, &model) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_MODEL_MEMORY && e.need == need);
    CHECK(OPEN(blob, size, ISOTOK_VERIFY_SAFE, memory + 4, need, &model) < 0);
    CHECK(e.what == ISOTOK_WHAT_MODEL_MEMORY);

    /* Shorter and shorter: never a look beyond (each copy has exactly its size). */
    for (size_t cut = 0; cut < size; cut += cut < 300 ? 1 : 37) {
        uint8_t *copy = aligned_memory(cut > 0 ? cut : 1);
        memcpy(copy, blob, cut);
        CHECK(OPEN(copy, cut, ISOTOK_VERIFY_SAFE, memory, need, &model) == ISOTOK_E_CORRUPT);
        CHECK(model == NULL && isotok_name(ISOTOK_NAME_WHAT, (int32_t)e.what)[0] != 0);
        free(copy);
    }
    /* At every address that is not a multiple of 64. */
    shifted = aligned_memory(size + 64);
    for (size_t shift = 1; shift < 64; shift++) {
        memcpy(shifted + shift, blob, size);
        CHECK(OPEN(shifted + shift, size, ISOTOK_VERIFY_SAFE, memory, need, &model) ==
              ISOTOK_E_ALIGNMENT);
        CHECK(e.what == ISOTOK_WHAT_BLOB_ADDRESS);
    }
    /* Without an error struct. */
    CHECK(isotok_model_open(blob, 3, 0, memory, need, &model, NULL) == ISOTOK_E_CORRUPT);
    free(shifted);
    free(memory);
    close_fixture(&f);
}

static void test_pieces(void)
{
    fixture f;
    isotok_piece piece;
    isotok_info info = {.size = 8};
    open_fixture(&f, "uni_ties");
    CHECK(isotok_model_info(f.m.model, &info) == ISOTOK_E_ABI);
    CHECK(isotok_model_info(f.m.model, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_piece_get(f.m.model, 3, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(f.m.info.vocab_size == 11 && f.m.info.algorithm == ISOTOK_UNIGRAM);
    CHECK(f.m.info.unk == 0 && f.m.info.bos == 1 && f.m.info.eos == 2);
    CHECK(f.m.info.pad == ISOTOK_NO_TOKEN);
    CHECK(f.m.info.parity == ISOTOK_PARITY_SENTENCEPIECE);
    CHECK(isotok_piece_get(f.m.model, 3, &piece) == ISOTOK_OK);
    CHECK(piece.size == 3 && memcmp(piece.text, "\xE2\x96\x81", 3) == 0);
    CHECK(piece.type == ISOTOK_NORMAL && piece.score == -1.0f);
    CHECK(isotok_piece_get(f.m.model, 11, &piece) == ISOTOK_E_ID_RANGE);
    CHECK(isotok_piece_get(f.m.model, ISOTOK_NO_TOKEN, &piece) == ISOTOK_E_ID_RANGE);
    CHECK(isotok_piece_find(f.m.model, (const uint8_t *)"abc", 3) == 9);
    CHECK(isotok_piece_find(f.m.model, (const uint8_t *)"abcz", 4) == ISOTOK_NO_TOKEN);
    CHECK(isotok_piece_find(f.m.model, (const uint8_t *)"", 0) == ISOTOK_NO_TOKEN);
    CHECK(isotok_piece_find(f.m.model, (const uint8_t *)" ", 1) == ISOTOK_NO_TOKEN);
    close_fixture(&f);
}

/* ---- Sessions -------------------------------------------------------------------- */

static void test_session_arguments(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    isotok_session *s = NULL, *moved = NULL;
    open_fixture(&f, "bpe_plain");
    size_t least = f.m.info.session_min;
    uint8_t *memory = aligned_memory(2 * least + 128);
    CHECK(isotok_session_init(f.m.model, memory, least, &s, &e) == ISOTOK_OK);
    CHECK(isotok_session_init(f.m.model, memory, least - 1, &s, &e) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_SESSION_MEMORY && e.need == least);
    CHECK(isotok_session_init(f.m.model, memory + 8, least, &s, &e) == ISOTOK_E_ALIGNMENT);
    CHECK(isotok_session_init(f.m.model, NULL, least, &s, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_init(NULL, memory, least, &s, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_init(f.m.model, memory, least, NULL, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_init(f.m.model, memory, least - 1, &s, NULL) == ISOTOK_E_ARGUMENT);

    CHECK(isotok_session_init(f.m.model, memory, least, &s, &e) == ISOTOK_OK);
    uint8_t *other = aligned_memory(least);
    CHECK(isotok_session_move(NULL, other, least, &moved, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_move(s, NULL, least, &moved, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_move(s, other, least, NULL, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_move(s, other, least - 64, &moved, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_session_move(s, other + 4, least, &moved, &e) == ISOTOK_E_ALIGNMENT);
    free(other);
    free(memory);
    close_fixture(&f);
}

/* ---- Encode ---------------------------------------------------------------------- */

static isotok_status begin(fixture *f, uint32_t flags, isotok_error *e)
{
    isotok_encode_options options = {.size = sizeof options, .flags = flags};
    return isotok_encode_begin(f->session, &options, e);
}

static void test_encode_options(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    isotok_encode_options options = {.size = sizeof options};
    struct {
        isotok_encode_options known;
        uint64_t more;
    } newer = {{.size = sizeof newer}, 0};
    open_fixture(&f, "uni_ties");
    CHECK(isotok_encode_begin(f.session, NULL, &e) == ISOTOK_OK);
    CHECK(isotok_encode_begin(f.session, &options, &e) == ISOTOK_OK);
    CHECK(isotok_encode_begin(NULL, &options, &e) == ISOTOK_E_ARGUMENT);
    /* A newer caller's additional fields are fine as long as they are not set. */
    CHECK(isotok_encode_begin(f.session, &newer.known, &e) == ISOTOK_OK);
    newer.more = 1;
    CHECK(isotok_encode_begin(f.session, &newer.known, &e) == ISOTOK_E_ABI);
    CHECK(e.what == ISOTOK_WHAT_STRUCT_SIZE);
    options.size = 0;
    CHECK(isotok_encode_begin(f.session, &options, &e) == ISOTOK_E_ABI);
    options = (isotok_encode_options){.size = sizeof options, .flags = 1u << 20};
    CHECK(isotok_encode_begin(f.session, &options, &e) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_OPTION && e.index == 1u << 20);
    options.flags = ISOTOK_KEEP_ILL_FORMED; /* for normalize only */
    CHECK(isotok_encode_begin(f.session, &options, &e) == ISOTOK_E_ARGUMENT);
    options = (isotok_encode_options){.size = sizeof options, .offset_unit = 3};
    CHECK(isotok_encode_begin(f.session, &options, &e) == ISOTOK_E_ARGUMENT);
    CHECK(begin(&f, ISOTOK_BOS | ISOTOK_EOS, &e) == ISOTOK_OK);
    close_fixture(&f);

    open_fixture(&f, "uni_names"); /* its BOS is [B]; the text "[B]" is also a NORMAL piece */
    CHECK(begin(&f, ISOTOK_BOS, &e) == ISOTOK_OK);
    close_fixture(&f);
}

static void test_no_bos(void)
{
    maker source = {0};
    drive_model m;
    isotok_error e = {.size = sizeof e};
    isotok_session *s;
    put_piece(&source, "<unk>", 0, ISOTOK_UNKNOWN);
    put_piece(&source, "a", -1, ISOTOK_NORMAL);
    CHECK(drive_open_source(&m, source.data, source.size, &e) == ISOTOK_OK);
    void *memory = aligned_memory(m.info.session_min);
    CHECK(isotok_session_init(m.model, memory, m.info.session_min, &s, &e) == ISOTOK_OK);
    for (uint32_t flag = ISOTOK_BOS; flag <= ISOTOK_EOS; flag *= 2) {
        isotok_encode_options options = {.size = sizeof options, .flags = flag};
        CHECK(isotok_encode_begin(s, &options, &e) == ISOTOK_E_ARGUMENT);
        CHECK(e.what == ISOTOK_WHAT_NO_SUCH_END);
    }
    free(memory);
    drive_close(&m);
    maker_free(&source);
}

static void test_encode_arguments(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    uint32_t ids[64], spans[4][64];
    open_fixture(&f, "uni_ties");
    isotok_input input = {text, TEXT_SIZE, 0, ISOTOK_PART_LAST};
    isotok_output output = {.ids = ids, .capacity = 64};
#define STEP(in, out) isotok_encode_step(f.session, in, out, &e)
    CHECK(STEP(&input, &output) == ISOTOK_E_STATE); /* before begin */
    CHECK(e.what == ISOTOK_WHAT_NOT_BEGUN);
    CHECK(begin(&f, 0, &e) == ISOTOK_OK);
    CHECK(isotok_encode_step(NULL, &input, &output, &e) == ISOTOK_E_ARGUMENT);
    CHECK(STEP(NULL, &output) == ISOTOK_E_ARGUMENT);
    CHECK(STEP(&input, NULL) == ISOTOK_E_ARGUMENT);
    input.text = NULL;
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    input = (isotok_input){text, TEXT_SIZE, TEXT_SIZE + 1, ISOTOK_PART_LAST};
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    input = (isotok_input){text, TEXT_SIZE, 0, 2};
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    input.part = ISOTOK_PART_LAST;
    output.ids = NULL;
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_NULL_POINTER);

    output.ids = ids;
    CHECK(begin(&f, ISOTOK_OFFSETS | ISOTOK_NORM_SPANS, &e) == ISOTOK_OK);
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    output.begin = spans[0];
    output.end = spans[1];
    CHECK(STEP(&input, &output) == ISOTOK_E_ARGUMENT);
    output.norm_begin = spans[2];
    output.norm_end = spans[3];
    CHECK(STEP(&input, &output) == ISOTOK_OK);
    CHECK(output.count > 0 && input.consumed == TEXT_SIZE && output.base == 0);
    CHECK(STEP(&input, &output) == ISOTOK_E_STATE); /* after the end */

    /* Another operation's step; then decode in the same session. */
    uint8_t bytes[64];
    size_t count, consumed = 0;
    CHECK(begin(&f, 0, &e) == ISOTOK_OK);
    input.consumed = 0;
    CHECK(isotok_normalize_step(f.session, &input, bytes, NULL, 64, &count, NULL, &e) ==
          ISOTOK_E_STATE);
    CHECK(isotok_decode_step(f.session, ids, 1, &consumed, 1, bytes, 64, &count, &e) ==
          ISOTOK_E_STATE);
    CHECK(isotok_decode_begin(f.session, 0, &e) == ISOTOK_OK);
    CHECK(STEP(&input, &output) == ISOTOK_E_STATE);
    CHECK(isotok_decode_step(f.session, ids, 1, &consumed, 1, bytes, 64, &count, &e) == ISOTOK_OK);

    /* An empty text may be NULL; a capacity of 0 asks for output without losing anything. */
    input = (isotok_input){NULL, 0, 0, ISOTOK_PART_LAST};
    CHECK(begin(&f, ISOTOK_BOS | ISOTOK_EOS, &e) == ISOTOK_OK);
    output = (isotok_output){0};
    CHECK(STEP(&input, &output) == ISOTOK_NEED_OUTPUT && output.count == 0);
    output = (isotok_output){.ids = ids, .capacity = 2};
    isotok_status status = STEP(&input, &output);
    CHECK(status == ISOTOK_OK && output.count == 2 && ids[0] == 1 && ids[1] == 2);
    CHECK(isotok_encode_step(f.session, &input, &output, NULL) == ISOTOK_E_STATE);
    close_fixture(&f);
}

static void test_batch(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    static const uint8_t texts[] = "ab abc"
                                   ""
                                   "zz"
                                   "a"
                                   ""
                                   "abab abab";
    static const uint32_t ends[] = {6, 6, 8, 9, 9, 18};
    enum { TEXTS = 6, ROOM = 64 };
    uint32_t ids[ROOM], begins[ROOM], spans_end[ROOM], id_ends[TEXTS] = {0};
    uint32_t flags[] = {0, ISOTOK_OFFSETS, ISOTOK_BOS | ISOTOK_EOS, ISOTOK_OFFSETS | ISOTOK_EOS};
    open_fixture(&f, "uni_ties");
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        for (uint64_t limit = 0; limit < 6; limit++) {
            for (size_t capacity = 1; capacity < ROOM; capacity += 9) {
                isotok_encode_options options = {
                    .size = sizeof options, .flags = flags[k], .limit = limit};
                isotok_output output = {
                    .ids = ids, .begin = begins, .end = spans_end, .capacity = capacity};
                size_t done = 0;
                isotok_status status;
                /* Larger and larger arrays hold what was written so far. */
                while ((status = isotok_encode_batch(f.session, &options, texts, ends, TEXTS, &done,
                                                     &output, id_ends, &e)) == ISOTOK_NEED_OUTPUT) {
                    output.capacity = output.capacity + 1 + capacity / 2;
                    if (!CHECK(output.capacity <= ROOM)) {
                        break;
                    }
                }
                CHECK(status == ISOTOK_OK && done == TEXTS);
                for (size_t i = 0, first = 0; i < TEXTS; first = id_ends[i++]) {
                    size_t from = i == 0 ? 0 : ends[i - 1];
                    drive_tokens one;
                    drive_plan plan = {0};
                    drive_encode(&f.m, &plan, &options, texts + from, ends[i] - from, &one, &e);
                    bool same = id_ends[i] - first == one.count;
                    for (size_t j = 0; same && j < one.count; j++) {
                        same = ids[first + j] == one.ids[j];
                        if (same && one.begin != NULL) {
                            same = begins[first + j] == one.begin[j] &&
                                   spans_end[first + j] == one.end[j];
                        }
                    }
                    CHECK(same);
                    drive_tokens_free(&one);
                }
            }
        }
    }
    isotok_output output = {.ids = ids, .capacity = ROOM};
    size_t done = 0;
    uint32_t bad[] = {6, 4};
#define BATCH(t, e_, n, d, o, i) isotok_encode_batch(f.session, NULL, t, e_, n, d, o, i, &e)
    CHECK(BATCH(texts, bad, 2, &done, &output, id_ends) == ISOTOK_E_ARGUMENT);
    CHECK(e.what == ISOTOK_WHAT_TEXT_ENDS && e.index == 1);
    CHECK(BATCH(NULL, ends, TEXTS, &done, &output, id_ends) == ISOTOK_E_ARGUMENT);
    CHECK(BATCH(texts, NULL, TEXTS, &done, &output, id_ends) == ISOTOK_E_ARGUMENT);
    CHECK(BATCH(texts, ends, TEXTS, NULL, &output, id_ends) == ISOTOK_E_ARGUMENT);
    CHECK(BATCH(texts, ends, TEXTS, &done, NULL, id_ends) == ISOTOK_E_ARGUMENT);
    CHECK(BATCH(texts, ends, TEXTS, &done, &output, NULL) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_encode_batch(NULL, NULL, texts, ends, TEXTS, &done, &output, id_ends, &e) ==
          ISOTOK_E_ARGUMENT);
    CHECK(BATCH(NULL, NULL, 0, &done, &output, NULL) == ISOTOK_OK && output.count == 0);
    close_fixture(&f);
}

/* ---- Normalize and decode -------------------------------------------------------- */

static void test_normalize(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_KEEP_ILL_FORMED};
    static const uint8_t ill[] = "a\xFFz\xE3\x81";
    uint8_t out[64];
    uint32_t end = 0;
    size_t count;
    open_fixture(&f, "uni_ties");
    isotok_input input = {ill, 5, 0, ISOTOK_PART_LAST};
#define NORMALIZE(in) isotok_normalize_step(f.session, in, out, NULL, 64, &count, &end, &e)
    CHECK(NORMALIZE(&input) == ISOTOK_E_STATE);
    CHECK(isotok_normalize_begin(NULL, NULL, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_normalize_begin(f.session, &options, &e) == ISOTOK_OK);
    CHECK(NORMALIZE(NULL) == ISOTOK_E_ARGUMENT);
    CHECK(NORMALIZE(&input) == ISOTOK_OK && end == 5);
    CHECK(count == 8 && memcmp(out,
                               "\xE2\x96\x81"
                               "a\xFFz\xE3\x81",
                               8) == 0);
    CHECK(NORMALIZE(&input) == ISOTOK_E_STATE);
    options.flags = 0;
    input.consumed = 0;
    CHECK(isotok_normalize_begin(f.session, &options, &e) == ISOTOK_OK);
    CHECK(NORMALIZE(&input) == ISOTOK_OK && count == 14);
    CHECK(memcmp(out,
                 "\xE2\x96\x81"
                 "a\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD",
                 14) == 0);
    options.flags = ISOTOK_BOS;
    CHECK(isotok_normalize_begin(f.session, &options, &e) == ISOTOK_E_ARGUMENT);
    close_fixture(&f);
}

static void test_decode(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    uint32_t ids[] = {3, 4, 5, 11, 3};
    uint8_t out[64];
    size_t count = 0, consumed = 0;
    open_fixture(&f, "uni_ties");
#define DECODE(n, last) isotok_decode_step(f.session, ids, n, &consumed, last, out, 64, &count, &e)
    CHECK(DECODE(1, 1) == ISOTOK_E_STATE);
    CHECK(isotok_decode_begin(NULL, 0, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_begin(f.session, 8, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_begin(f.session, 0, &e) == ISOTOK_OK);
    CHECK(DECODE(5, 1) == ISOTOK_E_ID_RANGE);
    CHECK(e.what == ISOTOK_WHAT_TOKEN_ID && e.index == 3);
    consumed = 0;
    CHECK(isotok_decode_begin(f.session, 0, &e) == ISOTOK_OK);
    CHECK(DECODE(3, 1) == ISOTOK_OK && count == 2 && memcmp(out, "ab", 2) == 0);
    CHECK(DECODE(3, 1) == ISOTOK_E_STATE);
    CHECK(isotok_decode_begin(f.session, 0, &e) == ISOTOK_OK);
    CHECK(isotok_decode_step(f.session, NULL, 3, &consumed, 1, out, 64, &count, &e) ==
          ISOTOK_E_ARGUMENT);
    consumed = 4;
    CHECK(DECODE(3, 1) == ISOTOK_E_ARGUMENT);
    consumed = 0;
    CHECK(isotok_decode_step(f.session, ids, 3, NULL, 1, out, 64, &count, &e) == ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_step(f.session, ids, 3, &consumed, 1, NULL, 64, &count, &e) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_step(f.session, ids, 3, &consumed, 1, out, 64, NULL, &e) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_piece(f.session, NULL, 1, &consumed, 1, out, 64, &count, &e) ==
          ISOTOK_E_ARGUMENT);
    CHECK(isotok_decode_piece(f.session, NULL, 0, &consumed, 1, out, 64, &count, &e) == ISOTOK_OK);
    close_fixture(&f);
}

/* Byte pieces: raw bytes as they are; else one U+FFFD for each ill-formed byte, and a
 * character only when it is complete. */
static void test_byte_pieces(void)
{
    fixture f;
    isotok_error e = {.size = sizeof e};
    uint32_t ids[4];
    uint8_t out[64];
    size_t count, consumed;
    open_fixture(&f, "uni_space_bytes");
    static const char *const names[] = {"<0xE3>", "<0x81>", "<0x82>", "<0xFF>"};
    for (size_t i = 0; i < 4; i++) {
        ids[i] = isotok_piece_find(f.m.model, (const uint8_t *)names[i], 6);
        CHECK(ids[i] != ISOTOK_NO_TOKEN);
    }
    CHECK(isotok_decode_begin(f.session, 0, &e) == ISOTOK_OK);
    size_t sizes[] = {0, 0, 3};
    for (size_t i = 0; i < 3; i++) {
        consumed = 0;
        CHECK(isotok_decode_step(f.session, ids + i, 1, &consumed, i == 2, out, 64, &count, &e) ==
              ISOTOK_OK);
        CHECK(count == sizes[i]);
    }
    CHECK(memcmp(out, "\xE3\x81\x82", 3) == 0);
    for (uint32_t flags = 0; flags <= ISOTOK_RAW_BYTES; flags++) {
        uint32_t broken[] = {ids[0], ids[1], ids[3]};
        consumed = 0;
        CHECK(isotok_decode_begin(f.session, flags, &e) == ISOTOK_OK);
        CHECK(isotok_decode_step(f.session, broken, 3, &consumed, 1, out, 64, &count, &e) ==
              ISOTOK_OK);
        CHECK(count == (flags ? 3 : 9));
        CHECK(memcmp(out, flags ? "\xE3\x81\xFF" : "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD", count) ==
              0);
    }
    close_fixture(&f);
}

/* Decodes `piece`, in memory of exactly its size, with the blob whose word at `at` is `id`, if
 * that makes the piece have this id. */
static bool decode_with(const drive_model *m, size_t at, uint32_t id, const char *piece)
{
    uint8_t *blob = aligned_memory(m->blob_size), out[64], *exact;
    size_t size = strlen(piece), consumed = 0, count;
    isotok_error e = {.size = sizeof e};
    isotok_session *session;
    drive_model changed;
    bool has_id;
    memcpy(blob, m->blob, m->blob_size);
    memcpy(blob + at, &id, sizeof id);
    if (drive_open(&changed, blob, m->blob_size, ISOTOK_VERIFY_SAFE, &e) != ISOTOK_OK) {
        return false;
    }
    has_id = isotok_piece_find(changed.model, (const uint8_t *)piece, size) == id;
    void *memory = aligned_memory(changed.info.session_size);
    isotok_session_init(changed.model, memory, changed.info.session_size, &session, &e);
    exact = malloc(size);
    memcpy(exact, piece, size);
    CHECK(isotok_decode_begin(session, 0, &e) == ISOTOK_OK);
    CHECK(isotok_decode_piece(session, exact, size, &consumed, 1, out, 64, &count, &e) ==
          ISOTOK_OK);
    CHECK(!has_id || (count == 1 && out[0] == 'A'));
    free(exact);
    free(memory);
    drive_close(&changed);
    return has_id;
}

/* A trie may say that any text is a byte piece: the byte is read from that piece, not from the
 * text, which may be shorter. */
static void test_lying_trie(void)
{
    fixture f;
    size_t found = 0;
    open_fixture(&f, "uni_space_bytes");
    const uint32_t letter = isotok_piece_find(f.m.model, (const uint8_t *)"a", 1);
    const uint32_t byte = isotok_piece_find(f.m.model, (const uint8_t *)"<0x41>", 6);
    for (size_t at = 64; at + 4 <= f.m.blob_size; at += 4) {
        if (memcmp(f.m.blob + at, &letter, 4) == 0) {
            found += decode_with(&f.m, at, byte, "a");
        }
    }
    CHECK(found == 1);
    close_fixture(&f);
}

int main(void)
{
    test_names();
    test_header();
    test_open_arguments();
    test_pieces();
    test_session_arguments();
    test_encode_options();
    test_no_bos();
    test_encode_arguments();
    test_batch();
    test_normalize();
    test_decode();
    test_byte_pieces();
    test_lying_trie();
    return test_result();
}
