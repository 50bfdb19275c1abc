// Runs a `.spm.fb` in the official SentencePiece Lite: tests/full/spm_fb.py compiles this with
// the runtime's own source. Requests on standard input: operation, size, bytes; answers on
// standard output: size, bytes. First comes the status of loading the file.
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "sentencepiece_lite.h"

namespace lite = sentencepiece::lite;

namespace {

void Answer(const void *data, size_t size)
{
    const uint32_t bytes = static_cast<uint32_t>(size);
    fwrite(&bytes, 4, 1, stdout);
    fwrite(data, 1, size, stdout);
}

void AnswerIds(lite::StatusCode status, const std::vector<int> &ids)
{
    Answer(ids.data(), status == lite::StatusCode::kOk ? 4 * ids.size() : 0);
}

bool Read(uint8_t *operation, std::string *data)
{
    uint32_t size;
    if (fread(operation, 1, 1, stdin) != 1 || fread(&size, 4, 1, stdin) != 1) return false;
    data->resize(size);
    return fread(data->data(), 1, size, stdin) == size;
}

void Serve(const lite::SentencePieceLiteProcessor &processor)
{
    uint8_t operation;
    std::string data, text;
    std::vector<int> ids;
    while (Read(&operation, &data)) {
        ids.clear();
        text.clear();
        switch (operation) {
        case 'e': AnswerIds(processor.Encode(data, &ids), ids); break;
        case 'n': AnswerIds(processor.EncodeNormalized(data, &ids), ids); break;
        case 'N':
            processor.Normalize(data, &text);
            Answer(text.data(), text.size());
            break;
        case 'd': {
            const int *begin = reinterpret_cast<const int *>(data.data());
            ids.assign(begin, begin + data.size() / 4);
            processor.Decode(ids, &text);
            Answer(text.data(), text.size());
            break;
        }
        case 'i': {
            const int known[] = {processor.unk_id(), processor.bos_id(), processor.eos_id(),
                                 processor.pad_id(), static_cast<int>(processor.vocab_size())};
            Answer(known, sizeof known);
            break;
        }
        default: Answer("", 0);
        }
    }
}

} // namespace

int main(int, char **arguments)
{
    std::ifstream file(arguments[1], std::ios::binary);
    auto bytes = std::make_shared<std::string>(std::istreambuf_iterator<char>(file),
                                               std::istreambuf_iterator<char>());
    const lite::SentencePieceLiteProcessor processor(bytes);
    const int32_t status = static_cast<int32_t>(processor.status());
    fwrite(&status, 4, 1, stdout);
    if (status == 0) Serve(processor);
    return 0;
}
