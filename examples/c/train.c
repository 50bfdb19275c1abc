/* Counts the words of a text file, trains BPE on them and prints the merges, the most frequent
 * first. The pre-tokenizer of a compiled model finds words; without one a line is a word, so that
 * merges go over spaces. A line is a document: no word goes over its end.
 * train FILE TOKENS [MODEL.isotok] */
#include "example.h"
#include "isotok_train.h"

static void check_train(isotok_train_status status, const isotok_train_error *error)
{
    if (status >= ISOTOK_TRAIN_OK) return;
    fprintf(stderr, "train: %s (%llu)\n", error->message, (unsigned long long)error->index);
    exit(1);
}

static void count_lines(isotok_counts *counts, const uint8_t *text, size_t size)
{
    isotok_train_error error;
    const uint8_t *end = text + size, *next;
    for (; text < end; text = next) {
        next = (const uint8_t *)memchr(text, '\n', (size_t)(end - text));
        next = next != NULL ? next + 1 : end;
        check_train(isotok_counts_add_text(counts, text, (size_t)(next - text), &error), &error);
    }
}

static isotok_counts *count_file(const char *path, const isotok_model *model)
{
    size_t size;
    isotok_counts *counts = isotok_counts_new(model);
    if (counts == NULL) {
        fprintf(stderr, "train: the model has no pre-tokenizer, or there is no memory\n");
        exit(1);
    }
    uint8_t *text = read_file(path, &size);
    count_lines(counts, text, size);
    free(text);
    return counts;
}

/* A token may be part of a character: what is not printable ASCII is printed as \xNN. */
static void print_token(const isotok_bpe *bpe, uint32_t id)
{
    uint32_t size;
    const uint8_t *text = isotok_bpe_token(bpe, id, &size);
    putchar('"');
    for (uint32_t i = 0; i < size; i++) {
        const int plain = text[i] >= ' ' && text[i] <= '~' && text[i] != '"' && text[i] != '\\';
        printf(plain ? "%c" : "\\x%02X", text[i]);
    }
    putchar('"');
}

static void print_merges(const isotok_bpe *bpe)
{
    const isotok_bpe_merge *merges;
    const uint32_t count = isotok_bpe_merges(bpe, &merges);
    for (uint32_t i = 0; i < count; i++) {
        printf("%lld ", (long long)merges[i].count);
        print_token(bpe, merges[i].left);
        putchar(' ');
        print_token(bpe, merges[i].right);
        putchar('\n');
    }
}

static void train(const isotok_counts *counts, uint32_t tokens)
{
    const isotok_bpe_options options = isotok_bpe_options_new();
    isotok_train_error error = {0};
    isotok_bpe *bpe = isotok_bpe_new(&options, counts, &error);
    check_train(error.status, &error);
    const isotok_train_status status = isotok_bpe_run(bpe, tokens, NULL, NULL, &error);
    check_train(status, &error);
    print_merges(bpe);
    printf("%u words, %u tokens%s\n", isotok_counts_size(counts), isotok_bpe_tokens(bpe),
           status == ISOTOK_TRAIN_EXHAUSTED ? ": no pair is left" : "");
    isotok_bpe_free(bpe);
}

/* 0: not a number of tokens. */
static uint32_t read_number(const char *text)
{
    char *end;
    const unsigned long long number = strtoull(text, &end, 10);
    return *text < '0' || *text > '9' || *end != '\0' || number > UINT32_MAX ? 0 : (uint32_t)number;
}

int main(int argc, char **argv)
{
    const uint32_t tokens = argc == 3 || argc == 4 ? read_number(argv[2]) : 0;
    if (tokens == 0) {
        fprintf(stderr, "usage: train FILE TOKENS [MODEL.isotok], TOKENS: 256 bytes and merges\n");
        return 2;
    }
    const isotok_model *model = NULL;
    void *blob = NULL;
    size_t size;
    if (argc == 4) {
        blob = read_file(argv[3], &size);
        model = open_model(blob, size);
    }
    isotok_counts *counts = count_file(argv[1], model);
    train(counts, tokens);
    isotok_counts_free(counts);
    free((void *)model);
    free(blob);
    return 0;
}
