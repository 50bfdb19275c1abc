/* Distilled models: the memo changes no token, longest match and priority are what a plain search
 * over the vocabulary finds, and damaged sections are refused or harmless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blob.h"
#include "cache_texts.h"
#include "isotok_distil.h"

static const char *const MODELS[] = {"trained_unigram", "uni_ties",       "uni_user_scores",
                                     "uni_rules",       "uni_no_unk",     "uni_space_bytes",
                                     "uni_rounding",    "uni_recentre",   "uni_noescape",
                                     "uni_suffix",      "uni_denormalizer"};
static uint64_t answered, refused, accepted;
static isotok_error problem = {.size = sizeof problem};

static uint8_t *aligned_copy(const void *data, size_t size)
{
    uint8_t *copy = aligned_memory(size);
    memcpy(copy, data, size);
    return copy;
}

static bool open_distilled(isotok_distil *distil, uint32_t algorithm, const float *priorities,
                           drive_model *out)
{
    isotok_train_error error = {0};
    const void *data;
    size_t size;
    if (!CHECK(isotok_distil_blob(distil, algorithm, priorities, &data, &size, &error) ==
               ISOTOK_TRAIN_OK))
        return false;
    return CHECK(drive_open(out, aligned_copy(data, size), size, ISOTOK_VERIFY_FULL, &problem) ==
                 ISOTOK_OK);
}

/* With and without a cache, in parts and at once. */
static void check_same(const drive_model *teacher, const drive_model *exact, const cache_text *text)
{
    const isotok_encode_options options = {.size = sizeof options,
                                           .flags = ISOTOK_OFFSETS | ISOTOK_NORM_SPANS};
    drive_tokens wanted, found;
    drive_plan plain = {0};
    CHECK(drive_encode(teacher, &plain, &options, text->data, text->size, &wanted, &problem) >= 0);
    for (int way = 0; way < 6; way++) {
        isotok_cache_info info = {.size = sizeof info};
        void *cache = way / 2 ? cache_new(4096) : NULL;
        const drive_plan plan = {.part = way % 2 ? 7 : 0,
                                 .capacity = way % 2 ? 3 : 0,
                                 .small = way % 2,
                                 .cache = cache,
                                 .cache_size = cache ? 4096 : 0,
                                 .cache_info = &info};
        for (int again = 0; again < 2; again++) {
            CHECK(drive_encode(exact, &plan, &options, text->data, text->size, &found, &problem) >= 0);
            CHECK(drive_tokens_equal(&wanted, &found));
            drive_tokens_free(&found);
        }
        answered += info.hits;
        free(cache);
    }
    drive_tokens_free(&wanted);
}

static bool is_plain(const drive_model *m, uint32_t id)
{
    isotok_piece piece;
    return isotok_piece_get(m->model, id, &piece) == ISOTOK_OK &&
           (piece.type == ISOTOK_NORMAL || piece.type == ISOTOK_USER_DEFINED);
}

/* Bytes of the piece that is chosen at text[0..size), and its id; 0: none. */
static size_t choose(const drive_model *m, const uint8_t *text, size_t size,
                     const float *priorities, uint32_t *out_id)
{
    size_t best = 0;
    for (size_t n = 1; n <= size && n <= m->info.max_piece_bytes; n++) {
        const uint32_t id = isotok_piece_find(m->model, text, n);
        if (id == ISOTOK_NO_TOKEN || !is_plain(m, id)) continue;
        if (best != 0 && priorities != NULL && priorities[id] < priorities[*out_id]) continue;
        best = n;
        *out_id = id;
    }
    return best;
}

/* Against a search over the vocabulary: tokens that are pieces, by their place. */
static void check_greedy(const drive_model *m, const float *priorities, const cache_text *text)
{
    const isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_NORM_SPANS};
    const drive_plan plan = {0}, parts = {.part = 5, .capacity = 2, .small = true};
    drive_bytes normalized;
    drive_tokens tokens, other;
    size_t at = 0, i = 0;
    CHECK(drive_normalize(m, &plan, ISOTOK_UNIT_BYTE, text->data, text->size, &normalized, &problem) >=
          0);
    CHECK(drive_encode(m, &plan, &options, text->data, text->size, &tokens, &problem) >= 0);
    CHECK(drive_encode(m, &parts, &options, text->data, text->size, &other, &problem) >= 0);
    CHECK(drive_tokens_equal(&tokens, &other));
    while (at < normalized.size) {
        uint32_t id = ISOTOK_NO_TOKEN;
        size_t n = choose(m, normalized.data + at, normalized.size - at, priorities, &id);
        while (i < tokens.count && !is_plain(m, tokens.ids[i])) i++;
        if (n == 0) { /* an unknown character */
            for (n = 1; (normalized.data[at + n] & 0xC0) == 0x80 && at + n < normalized.size;) n++;
        } else if (!CHECK(i < tokens.count && tokens.ids[i] == id && tokens.norm_begin[i] == at)) {
            break;
        } else {
            i++;
        }
        at += n;
    }
    drive_bytes_free(&normalized);
    drive_tokens_free(&tokens);
    drive_tokens_free(&other);
}

/* Changes bytes of a section: the blob is refused, or whatever it gives stays inside. */
static void check_damage(const drive_model *m, const void *section, size_t size,
                         const cache_text *text)
{
    const isotok_encode_options options = {.size = sizeof options, .flags = ISOTOK_OFFSETS};
    const drive_plan plan = {0};
    const size_t begin = (size_t)((const uint8_t *)section - m->blob);
    for (int i = 0; i < 200 && size != 0; i++) {
        drive_model damaged = {0};
        drive_tokens tokens;
        uint8_t *blob = aligned_copy(m->blob, m->blob_size);
        for (uint32_t changes = 1 + text_random(3); changes-- > 0;)
            blob[begin + text_random((uint32_t)size)] = (uint8_t)text_random(256);
        if (drive_open(&damaged, blob, m->blob_size, ISOTOK_VERIFY_SAFE, &problem) != ISOTOK_OK) {
            refused++;
            continue;
        }
        accepted++;
        CHECK(drive_encode(&damaged, &plan, &options, text->data, text->size, &tokens, &problem) >= 0);
        drive_tokens_free(&tokens);
        drive_close(&damaged);
    }
}

static void check_distilled(const drive_model *teacher, isotok_distil *distil,
                            const cache_text *text)
{
    isotok_train_error error = {0};
    const uint32_t vocab_size = teacher->info.vocab_size;
    float *priorities = calloc(vocab_size, sizeof *priorities);
    isotok_distil_stats stats;
    drive_model m = {0};
    for (uint32_t i = 0; i < vocab_size; i++) priorities[i] = (float)text_random(100) - 90;
    for (size_t size = 2048; size <= 65536; size *= 32) {
        CHECK(isotok_distil_memo(distil, size, &error) == ISOTOK_TRAIN_OK);
        if (!open_distilled(distil, ISOTOK_UNIGRAM, NULL, &m)) continue;
        check_same(teacher, &m, text);
        check_damage(&m, m.model->blob.memo, m.model->blob.memo_count * 8, text);
        drive_close(&m);
    }
    for (uint32_t most = 0; most <= 1000; most += 500) {
        CHECK(isotok_distil_learn(distil, most, 1, &error) == ISOTOK_TRAIN_OK);
        isotok_distil_get_stats(distil, &stats);
        CHECK(stats.exceptions <= most && stats.repaired >= stats.broken);
        if (!open_distilled(distil, ISOTOK_LONGEST, NULL, &m)) continue;
        CHECK(m.info.parity == ISOTOK_PARITY_DISTILLED && m.info.algorithm == ISOTOK_LONGEST);
        if (most == 0) check_greedy(&m, NULL, text);
        check_damage(&m, m.model->blob.exceptions, m.model->blob.exceptions_count * 4, text);
        check_damage(&m, m.model->blob.trie, m.model->blob.trie_count * 8, text);
        drive_close(&m);
    }
    if (open_distilled(distil, ISOTOK_PRIORITY, priorities, &m)) {
        check_greedy(&m, priorities, text);
        drive_close(&m);
    }
    free(priorities);
}

static void check_model(const char *name)
{
    char path[128];
    drive_model teacher = {0};
    cache_text corpus, text;
    isotok_train_error error = {0};
    isotok_counts *counts = isotok_counts_new(NULL);
    isotok_chunks *chunks;
    isotok_distil *distil;
    snprintf(path, sizeof path, "tests/vectors/models/%s.model", name);
    if (!CHECK(drive_open_file(&teacher, path))) return;
    chunks = isotok_chunks_new(teacher.model);
    text_of_words(teacher.model, teacher.info.vocab_size, 20000, &corpus);
    text_of_words(teacher.model, teacher.info.vocab_size, 3000, &text);
    text_put(&text, corpus.data, 3000);
    if (CHECK(chunks != NULL)) {
        CHECK(isotok_distil_new(teacher.model, counts, &error) == NULL &&
              error.status == ISOTOK_TRAIN_E_EMPTY);
        CHECK(isotok_chunks_add_text(chunks, counts, corpus.data, corpus.size, &error) ==
              ISOTOK_TRAIN_OK);
        distil = isotok_distil_new(teacher.model, counts, &error);
        if (CHECK(distil != NULL)) check_distilled(&teacher, distil, &text);
        isotok_distil_free(distil);
    }
    isotok_chunks_free(chunks);
    isotok_counts_free(counts);
    text_free(&corpus);
    text_free(&text);
    drive_close(&teacher);
}

static void check_refused(const char *name)
{
    char path[128];
    drive_model m = {0};
    snprintf(path, sizeof path, "tests/vectors/models/%s.model", name);
    if (!CHECK(drive_open_file(&m, path))) return;
    CHECK(isotok_chunks_new(m.model) == NULL);
    drive_close(&m);
}

int main(void)
{
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) check_model(MODELS[i]);
    check_refused("trained_bpe");
    check_refused("word_plain");
    check_refused("uni_long");       /* pieces of more than 254 bytes */
    check_refused("uni_ill_formed"); /* never cut */
    printf("%llu look-ups answered; damage: %llu refused, %llu harmless\n",
           (unsigned long long)answered, (unsigned long long)refused,
           (unsigned long long)accepted);
    CHECK(answered > 10000 && refused > 1000 && accepted > 100);
    return test_result();
}
