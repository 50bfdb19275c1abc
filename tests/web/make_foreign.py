#!/usr/bin/env python3
"""Makes small model files of other libraries, and what Python answers: every host must too.

    python tests/web/make_foreign.py FOLDER

FOLDER gets the files and foreign.json: for each file the digest of its blob, and ids and texts
with the options that models of other libraries have; of a file that is refused, the message.
For the tests in Node it answers for files of the data folder too.
"""

from __future__ import annotations

import base64
import copy
import gzip
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests", "py_host")]

import isotok  # noqa: E402
from isotok.compile import compile_model  # noqa: E402
from isotok.compile.normalizers import known  # noqa: E402
from isotok.compile.pretok.known import HUGGING_FACE, TIKTOKEN  # noqa: E402
from support import data  # noqa: E402

TEXTS = (
    "",
    "hello world",
    " Hello  <mask>World, it's [CLS] the end</s> of 1234 \ufb01les\n\n",
    "<|endofprompt|><|endoftext|> hello<|endoftext|",
    "e\u0301 \u00c9t\u00e9 \uff11\uff12\u3000\u6771\u4eac a\u2581b `` '' \U0001f600",
)
CHOICES: tuple[dict[str, Any], ...] = (
    {},
    {"special": "none"},
    {"special": "all", "add_special_tokens": False},
    {"add_special_tokens": True},
    {"special": []},
    {"special": ["<mask>", 1]},  # not in every model: there it is an error
    {"special": ["<|endoftext|>"], "add_special_tokens": False},
)

Json = dict[str, Any]


# ---- Files ----------------------------------------------------------------------------


def letters() -> list[str]:
    """The letters of bytes, by byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256, 512))
    return [chr(byte if byte in plain else next(others)) for byte in range(256)]


def token(number: int, content: str, **flags: bool) -> Json:
    names = ("special", "lstrip", "rstrip", "single_word", "normalized")
    return {"id": number, "content": content, **dict.fromkeys(names, False), **flags}


def added(*, plain: bool = True) -> list[Json]:
    """Added tokens with all flags that there are."""
    found = [
        token(0, "<s>", special=True),
        token(1, "</s>", special=True),
        token(900, "<mask>", special=True, lstrip=True),
        token(901, "[CLS]", special=True, rstrip=True),
    ]
    return [*found, token(902, "the end", single_word=True)] if plain else found


def file_of(model: Json, **members: Any) -> Json:
    names = ("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder")
    return {"version": "1.0", **dict.fromkeys(names), "added_tokens": [], "model": model, **members}


def merges_of(words: list[str]) -> tuple[list[str], list[list[str]]]:
    """Tokens and merges that build words from the left."""
    tokens: dict[str, None] = {}
    merges: dict[tuple[str, str], None] = {}
    for word in words:
        for end in range(2, len(word) + 1):
            tokens[word[:end]] = None
            merges[word[: end - 1], word[end - 1]] = None
    return list(tokens), [list(pair) for pair in merges]


def byte_level(**members: Any) -> Json:
    tokens, merges = merges_of(["hello", "\u0120world", "\u0120the", "12", "\u00c3\u00a9", "end"])
    vocab = {text: i for i, text in enumerate(["<s>", "</s>", *letters(), *tokens])}
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    return file_of(
        model,
        added_tokens=added(),
        pre_tokenizer=HUGGING_FACE["gpt2"],
        decoder={"type": "ByteLevel"},
        **members,
    )


def characters(**members: Any) -> Json:
    tokens, merges = merges_of(["\u2581hello", "\u2581world", "\u2581the", "files"])
    singles = sorted({*"".join(tokens), *"abcdefghijklmnopqrstuvwxyzABCDEFGH,'\u3000"})
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    texts = dict.fromkeys(["<s>", "</s>", "<unk>", *byte_tokens, *singles, *tokens])
    model = {
        "type": "BPE",
        "vocab": {text: i for i, text in enumerate(texts)},
        "merges": [" ".join(pair) for pair in merges],
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
    }
    return file_of(model, **{"added_tokens": added(), "decoder": LLAMA_DECODER, **members})


LLAMA_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "end", "type_id": 0}},
    ],
    "pair": [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "end", "type_id": 1}},
        {"Sequence": {"id": "B", "type_id": 1}},
    ],
    "special_tokens": {
        "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
        "end": {"id": "end", "ids": [1, 0], "tokens": ["</s>", "<s>"]},
    },
}


CTC = {"type": "CTC", "pad_token": "<s>", "word_delimiter_token": ",", "cleanup": True}


def clip() -> Json:
    """Bytes as CLIP has them: the last one of a word is spelled with </w>."""
    tokens, merges = merges_of(["hello", "world", "the", "12", "\u00c3\u00a9"])
    ends = [[a, f"{b}</w>"] for a, b in merges]
    texts = [*letters(), *(f"{letter}</w>" for letter in letters()), *tokens]
    texts = [*texts, *("".join(pair) for pair in ends), "<s>", "</s>"]
    vocab = {text: i for i, text in enumerate(texts)}
    model = {"type": "BPE", "vocab": vocab, "merges": ends + merges, "unk_token": "</s>"}
    model |= {"end_of_word_suffix": "</w>", "continuing_subword_prefix": "", "fuse_unk": False}
    special = [token(vocab[text], text, special=True) for text in ("<s>", "</s>")]
    return file_of(
        model,
        added_tokens=special,
        normalizer=_normalizer("clip"),
        pre_tokenizer=HUGGING_FACE["clip"],
        decoder={"type": "ByteLevel"},
    )


def spelled(prefix: str, suffix: str, **members: Any) -> Json:
    """Characters, with what is spelled behind the first one of a word, and at its end."""
    tokens, merges = merges_of(["hello", "world", "the", "iles"])
    singles = sorted({*"".join(tokens), *"fd,'H\u6771"})
    pairs = [[a, prefix + b] for a, b in merges] + [[a, prefix + b + suffix] for a, b in merges]
    pairs += [[prefix + a, b] for a, b in pairs if prefix]
    texts = ["<s>", "</s>", "<unk>"]
    texts += [before + one + after for one in singles for before, after in _places(prefix, suffix)]
    texts += [a + b[len(prefix) :] for a, b in pairs]
    vocab = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    model = {"type": "BPE", "vocab": vocab, "merges": pairs, "unk_token": "<unk>"}
    model |= {"end_of_word_suffix": suffix, "continuing_subword_prefix": prefix, "fuse_unk": False}
    found = file_of(model | members.pop("model", {}), pre_tokenizer=HUGGING_FACE["bert"])
    return found | {"added_tokens": added(plain=False)} | members


def _places(prefix: str, suffix: str) -> list[tuple[str, str]]:
    return [(before, after) for before in ("", prefix) for after in ("", suffix)]


def made() -> Json:
    """Bytes with special tokens that merges give."""
    found = byte_level()
    special = [token(found["model"]["vocab"][text], text, special=True) for text in ("hell", "a")]
    return found | {"added_tokens": special}


def word_piece(**members: Any) -> Json:
    words = (
        "[UNK] hello world hell ##o ##rld wo it ' s , the end \u6771 \u4eac e \u00e9 Hello f ##iles"
    )
    texts = dict.fromkeys(["<s>", "</s>", *words.split(), *map(str, range(10)), "##2", "##34"])
    model = {
        "type": "WordPiece",
        "vocab": {text: i for i, text in enumerate(texts)},
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    }
    found = {
        "added_tokens": added(plain=False),
        "pre_tokenizer": HUGGING_FACE["bert"],
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "post_processor": {"type": "BertProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]},
    }
    return file_of(model, **found | members)


def word_level() -> Json:
    texts = ["<s>", "</s>", "<unk>", "hello", "world", ",", "it", "1234"]
    vocab = {text: 3 * i for i, text in enumerate(texts)}
    model = {"type": "WordLevel", "vocab": vocab, "unk_token": "<unk>"}
    return file_of(model, pre_tokenizer=HUGGING_FACE["whitespace"])


def unigram(*, rounded: bool = True, **members: Any) -> Json:
    words = "\u2581hello \u2581world \u2581 hello wor ld the e n d l o ' , 1 2"
    texts = ["<s>", "</s>", "<unk>", *words.split()]
    scores = [0.0, 0.0, 0.0, *(-2.5 - 0.25 * i for i in range(len(texts) - 3))]
    if not rounded:
        scores = [score + 0.1 for score in scores]
    model = {"type": "Unigram", "vocab": [list(pair) for pair in zip(texts, scores, strict=True)]}
    found = {
        "added_tokens": added(plain=False),
        "pre_tokenizer": HUGGING_FACE["albert"],
        "decoder": {"type": "Metaspace", "replacement": "\u2581", "add_prefix_space": True},
        "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]},
    }
    return file_of(model | {"unk_id": 2, "byte_fallback": False}, **found | members)


def ranks(size: int) -> dict[bytes, int]:
    tokens = [*(bytes([byte]) for byte in range(256)), b"he", b"ll", b"hell", b"hello", b" world"]
    return {text: i for i, text in enumerate(tokens[:size])}


def rank_file() -> bytes:
    lines = (b"%s %d\n" % (base64.b64encode(text), rank) for text, rank in ranks(300).items())
    return b"".join(lines)


def tekken() -> Json:
    vocab = [
        {"rank": rank, "token_bytes": base64.b64encode(text).decode(), "token_str": None}
        for text, rank in ranks(300).items()
    ]
    config = {
        "pattern": TIKTOKEN["tekken"],
        "default_vocab_size": 280,
        "default_num_special_tokens": 22,
        "version": "v3",
    }
    return {"config": config, "vocab": vocab, "special_tokens": None}


def with_program(normalizer: object) -> Iterator[tuple[str, Json]]:
    """Files for the normalizers of the table that no charsmap is needed for."""
    for name, value, pre in known.known():
        if "Precompiled" in json.dumps(value):
            continue
        if pre.byte_level:
            prefix = HUGGING_FACE["gpt2_prefix"]
            yield f"program {name}", byte_level() | {"normalizer": value, "pre_tokenizer": prefix}
        elif value is not None and pre.prefix_place == "none":
            yield f"program {name}", word_piece(normalizer=value)


def files() -> Iterator[tuple[str, bytes]]:
    found: dict[str, Json] = {
        "bytes": byte_level(),
        "bytes, template": byte_level(post_processor=TEMPLATE),
        "bytes, Roberta": byte_level(
            post_processor={"type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0]}
        ),
        "bytes, whole": byte_level()
        | {"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}},
        "llama": characters(normalizer=_normalizer("llama2"), post_processor=TEMPLATE),
        "gemma": characters(normalizer=_normalizer("gemma"), pre_tokenizer=HUGGING_FACE["gemma3"]),
        "bytes, normalizer": byte_level(normalizer={"type": "ByteLevel"}) | {"pre_tokenizer": None},
        "bytes, normalizers": byte_level(
            normalizer={
                "type": "Sequence",
                "normalizers": [{"type": "NFC"}, {"type": "ByteLevel"}],
            }
        )
        | {"pre_tokenizer": None},
        "clip": clip(),
        "bytes, made": made(),
        "suffix": spelled("", "</w>"),
        "prefix": spelled("##", "", model={"fuse_unk": True}),
        "affixes": spelled("##", "</w>", pre_tokenizer=None),
        "decoder BPE": spelled("", "</w>", decoder={"type": "BPEDecoder", "suffix": "</w>"}),
        "decoder CTC": word_level() | {"decoder": CTC},
        "no affixes": spelled("", "", pre_tokenizer=HUGGING_FACE["whitespace"]),
        "no affixes, Metaspace": spelled(
            "", "", pre_tokenizer=HUGGING_FACE["albert"], model={"fuse_unk": True}
        ),
        "word piece": word_piece(normalizer=_normalizer("bert 100")),
        "word level": word_level(),
        "unigram": unigram(),
        "unigram, exact": unigram(rounded=False),
        "unigram, words": unigram(pre_tokenizer=HUGGING_FACE["t5"]),
        "unigram, first": unigram(pre_tokenizer=HUGGING_FACE["metaspace_first"]),
        "unigram, never": unigram(pre_tokenizer=HUGGING_FACE["metaspace_never"], decoder=None),
        "tekken": tekken(),
        **dict(with_program(None)),
    }
    for name, value in HUGGING_FACE.items():
        if "ByteLevel" in json.dumps(value):
            found[f"cuts {name}"] = byte_level() | {"pre_tokenizer": value, "added_tokens": []}
    for name, value in found.items():
        yield f"{name}.json", json.dumps(value, ensure_ascii=False).encode()
    for name in ("cl100k_base", "o200k_base", "gpt2", "p50k_edit", "o200k_harmony"):
        yield f"{name}.tiktoken", rank_file()
    yield "other.tiktoken", rank_file()
    yield "damaged/cl100k_base.tiktoken", rank_file() + b"AAAA twelve\n"
    for name, value in broken():
        yield f"refused {name}.json", json.dumps(value).encode()
    yield "refused, cut.json", b'{"version": "1.0", "model": {'


def _normalizer(name: str) -> object:
    return next(value for each, value, _ in known.known() if each == name)


def broken() -> Iterator[tuple[str, Json]]:
    """Files that are refused, each for one member."""
    changes: list[tuple[str, Any]] = [
        ("version", "2.0"),
        ("model", []),
        ("model.type", "Other"),
        ("model.vocab", ["a"]),
        ("model.vocab.hello", "a"),
        ("model.vocab.hello", 5),
        ("model.vocab.hello", 1 << 23),
        ("model.dropout", 0.1),
        ("model.end_of_word_suffix", "</w>"),
        ("model.end_of_word_suffix", "\u2581"),
        ("model.continuing_subword_prefix", "@@"),
        ("model.continuing_subword_prefix", "h"),
        ("model.byte_fallback", True),
        ("model.ignore_merges", 1),
        ("model.merges", {}),
        ("model.merges", ["h e", ["h", "e"]]),
        ("model.merges", ["a b c"]),
        ("model.merges", [["no", "thing"]]),
        ("added_tokens", [{"id": -1, "content": "a"}]),
        ("added_tokens", [{"id": 1, "content": 5}]),
        ("added_tokens", [token(1, "\udc00")]),
        ("added_tokens", [token(1, "\u00e9\u00e8")]),
        ("added_tokens", [token(1, "abc"), token(2, "cde", normalized=True)]),
        ("post_processor", {"type": "Other"}),
        ("post_processor", {"type": "BertProcessing", "sep": ["a"], "cls": ["b", 1]}),
        ("post_processor", TEMPLATE | {"single": []}),
        ("post_processor", TEMPLATE | {"single": [{"Other": {}}]}),
        ("post_processor", TEMPLATE | {"special_tokens": {}}),
        ("decoder", None),
        ("decoder", {"type": "Sequence"}),
        ("pre_tokenizer", {}),
        ("pre_tokenizer", {"type": "Metaspace", "replacement": "ab"}),
        ("normalizer", {"type": "Sequence", "normalizers": 5}),
        ("normalizer", {"type": "ByteLevel"}),
        ("normalizer", {"type": "Sequence", "normalizers": [{"type": "ByteLevel"}] * 2}),
    ]
    for number, (path, value) in enumerate(changes):
        file = copy.deepcopy(byte_level())
        *names, last = path.split(".")
        part = file
        for name in names:
            part = part[name]
        part[last] = value
        yield f"{number} {path}", file
    yield (
        "byte",
        byte_level() | {"model": byte_level()["model"] | {"vocab": {"a": 0}, "merges": []}},
    )
    bad = {
        "fallback": {"byte_fallback": True},
        "ignore_merges": {"ignore_merges": True},
        "unk": {"unk_token": "##o</w>"},
        "none": {"unk_token": None},
        "prefix": {"continuing_subword_prefix": "##x"},
        "ends": {"end_of_word_suffix": "#"},
        "merge": {"merges": [["h", "e"], ["h", "##\u6771"]]},
    }
    for name, members in bad.items():
        yield f"affixes, {name}", spelled("##", "</w>", model=members)
    yield "affixes, trimmed", clip() | {"post_processor": {"type": "ByteLevel"}, "normalizer": None}
    bytes_first = byte_level(normalizer={"type": "ByteLevel"}) | {"pre_tokenizer": None}
    for flags in ({"content": "a b"}, {"content": "ab", "lstrip": True}):
        late = token(1, "", normalized=True) | flags
        yield f"late {flags['content']}", bytes_first | {"added_tokens": [late]}
    yield "CTC", word_level() | {"decoder": CTC | {"pad_token": "o"}}
    yield "suffix", word_level() | {"decoder": {"type": "BPEDecoder", "suffix": "l"}}
    yield "affixes, literal", spelled("", "o")
    yield "scores", unigram() | {"model": unigram()["model"] | {"vocab": [["a", "b"]]}}
    yield "unk_id", unigram() | {"model": unigram()["model"] | {"unk_id": 99}}
    yield "tekken", tekken() | {"vocab": tekken()["vocab"][5:]}


# ---- Added tokens ---------------------------------------------------------------------

ADDED: tuple[Json, ...] = (
    {"content": "hello", "special": True},
    {"content": "<user>"},
    {"content": "the end", "lstrip": True, "special": True},
    {"content": "1234", "single_word": True},
    {"content": "</s>", "special": True, "rstrip": True},
    {"content": "\u6771\u4eac a"},
)


# ---- Answers --------------------------------------------------------------------------


def answers(name: str, content: bytes) -> Json:
    try:
        blob = compile_model(content, name=name)
    except isotok.TokenizerError as error:
        return {"name": name, "refused": str(error), "exact": name.startswith("refused ")}
    with isotok.load(blob) as tokenizer:
        rows = [row_of(tokenizer, text, choice) for text in TEXTS for choice in CHOICES]
    found = {"name": name, "blob": hashlib.sha256(blob).hexdigest(), "rows": rows}
    given = [{_camel(n): value for n, value in each.items()} for each in ADDED]
    try:
        with isotok.load(blob, added_tokens=ADDED) as tokenizer:
            rows = [row_of(tokenizer, text, choice) for text in TEXTS for choice in CHOICES]
    except isotok.TokenizerError as error:
        _, _, reason = str(error).partition(": ")
        return found | {"added": {"tokens": given, "refused": reason}}
    return found | {"added": {"tokens": given, "rows": rows}}


def row_of(tokenizer: isotok.Tokenizer, text: str, choice: Json) -> Json:
    row: Json = {"text": text, "options": {_camel(n): value for n, value in choice.items()}}
    try:
        row["ids"] = list(tokenizer.encode(text, **choice))
    except isotok.TokenizerError:  # there is nothing for an unknown character
        return row | {"ids": None}
    texts = [tokenizer.decode(row["ids"], skip_special_tokens=c) for c in (None, True, False)]
    return row | {"decoded": texts}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def real_files() -> list[Path]:
    """The files of the data folder that are not SentencePiece's."""
    names = ("*.tokenizer.json", "*.tokenizer.json.gz", "*.tiktoken")
    return sorted(path for name in names for path in data.models_dir().glob(name))


def write(folder: Path, real: list[Path]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Json] = []
    for number, (name, content) in enumerate(files()):
        (folder / str(number)).write_bytes(content)
        found.append({"file": str(number), "real": False, **answers(name, content)})
    for path in real:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        found.append({"file": path.name, "real": True, **answers(path.name, content)})
    (folder / "foreign.json").write_text(json.dumps(found))


if __name__ == "__main__":
    write(Path(sys.argv[1]), [])
