"""The native trainer beside Hugging Face's: tokens and merges, and their order."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path
from typing import Any

import isotok
import numpy as np
import pytest
from isotok import _native

tokenizers = pytest.importorskip("tokenizers")

DATA = Path(os.environ.get("ISOTOK_DATA", "../shared/data"))
PATTERN = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LETTERS = [
    *range(33, 127), *range(161, 173), *range(174, 256), *range(33), *range(127, 161), 173,
]  # fmt: skip
NAMES = {
    byte: chr(byte if index < 188 else 256 + index - 188) for index, byte in enumerate(LETTERS)
}
MERGE = np.dtype([(name, "u4") for name in ("left", "right", "made", "unused")] + [("count", "i8")])
NONE = 0xFFFFFFFF


def text_of(name: str, size: int) -> str:
    path = DATA / "corpora" / f"{name}.txt"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path.read_bytes()[:size].decode("utf-8", "ignore")


def lists(run: Any) -> tuple[list[bytes], list[tuple[int, int, int, int]]]:
    """Return tokens and merges of a run."""
    pool, ends = (bytes(part) for part in run.tokens())
    places = [0, *np.frombuffer(ends, "u8").tolist()]
    tokens = [pool[begin:end] for begin, end in itertools.pairwise(places)]
    rows = np.frombuffer(run.merges(), MERGE)[["left", "right", "made", "count"]]
    return tokens, rows.tolist()


def base() -> tuple[bytes, bytes]:
    return bytes(LETTERS), np.arange(1, 257, dtype="u8").tobytes()


def start(counts: Any, **options: Any) -> Any:
    """Return a run; the options are those of bpe_run.c."""
    known: dict[str, Any] = {
        "unit": 0, "tie_break": 0, "base": base(), "byte_ids": None, "min_frequency": 1,
        "max_token_bytes": 0, "limit_alphabet": NONE, "forbidden": None, "window": 0,
    }  # fmt: skip
    assert options.keys() <= known.keys()
    return _native.bpe_run(counts, *(known | options).values())


def counts_of(words: dict[bytes, int]) -> Any:
    counts = _native.word_counts(None)
    ends = np.cumsum([len(word) for word in words], dtype="u8")
    counts.add_table(b"".join(words), ends, np.array(list(words.values()), "i8"))
    return counts


def hugging_face(words: dict[bytes, int], size: int, **options: Any) -> Any:
    """Train on words that no pre-tokenizer cuts; return tokens and merges."""
    from tokenizers import Tokenizer, models, trainers

    spelled = [
        "".join(NAMES[byte] for byte in word) for word, count in words.items() for _ in range(count)
    ]
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size, show_progress=False, initial_alphabet=[*NAMES.values()], **options
    )
    tokenizer.train_from_iterator(spelled, trainer)
    return results(tokenizer)


def results(tokenizer: Any) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    import json

    model = json.loads(tokenizer.to_str())["model"]
    bytes_of = {name: byte for byte, name in NAMES.items()}

    def unspelled(text: str) -> bytes:
        return bytes(bytes_of[letter] for letter in text)

    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    pairs = [tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in model["merges"]]
    return [*map(unspelled, tokens)], [(unspelled(a), unspelled(b)) for a, b in pairs]


def spelled_merges(run: Any) -> tuple[list[bytes], list[tuple[bytes, bytes]]]:
    tokens, merges = lists(run)
    return tokens, [(tokens[left], tokens[right]) for left, right, _, _ in merges]


def random_words(seed: int) -> dict[bytes, int]:
    draw = random.Random(seed)
    letters = b"abcde"[: draw.randint(1, 5)]
    words: dict[bytes, int] = {}
    for _ in range(draw.randint(1, 40)):
        word = bytes(draw.choice(letters) for _ in range(draw.randint(1, 12)))
        words[word] = draw.randint(1, 4)
    return words


@pytest.mark.parametrize("seed", range(200))
def test_random_words_as_hugging_face(seed: int) -> None:
    words = random_words(seed)
    size = 256 + seed % 40
    expected = hugging_face(words, size, min_frequency=1 + seed % 3)
    for window in (0, 1, 5):
        run = start(counts_of(words), min_frequency=1 + seed % 3, window=window)
        run.run(size, None)
        assert spelled_merges(run) == expected


@pytest.mark.parametrize("theirs", [0, 1, 2, 3, 4, 6, 9])
def test_longest_token_as_hugging_face(theirs: int) -> None:
    """Theirs is exclusive, and not asked about pairs of two letters; a byte is a letter here."""
    for seed in range(50):
        words = random_words(seed)
        expected = hugging_face(words, 300, min_frequency=1, max_token_length=theirs)
        run = start(counts_of(words), max_token_bytes=max(2, theirs - 1))
        run.run(300, None)
        assert spelled_merges(run) == expected


@pytest.mark.parametrize(
    ("text", "size"), [("abcdefgh", 8), ("éàüöñçêë", 16), ("你好世界人工智能", 24)]
)
def test_what_the_longest_token_counts(text: str, size: int) -> None:
    """Theirs counts letters of the alphabet, ours bytes: with ByteLevel these are the same."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def longest(byte_level: bool, most: int) -> int:
        tokenizer = Tokenizer(models.BPE())
        if byte_level:
            tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        options: Any = {"max_token_length": most, "show_progress": False}
        tokenizer.train_from_iterator([text] * 2, trainers.BpeTrainer(vocab_size=999, **options))
        return max(map(len, tokenizer.get_vocab()))

    assert longest(False, 9) == 8 > longest(False, 8)
    assert longest(True, size + 1) == size > longest(True, size)
    for most in (size - 1, size):
        run = start(counts_of({text.encode(): 2}), max_token_bytes=most)
        run.run(999, None)
        assert (lists(run)[0][-1] == text.encode()) == (most == size)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("unit", [0, 1])
def test_replay_goes_on(seed: int, unit: int) -> None:
    draw = random.Random(seed)
    words = {}
    for _ in range(30):
        word = "".join(draw.choice("aé語b") for _ in range(draw.randint(1, 9)))
        words[word.encode()] = draw.randint(1, 5)
    whole = start(counts_of(words), unit=unit)
    whole.run(290, None)
    part = start(counts_of(words), unit=unit, window=3)
    part.run(270, None)
    tokens, _ = lists(part)
    again = start(counts_of(words), unit=unit)
    rest = tokens[256:]
    ends = np.cumsum([len(token) for token in rest], dtype="u8")
    again.replay(b"".join(rest), ends, part.merges())
    assert lists(again) == lists(part)
    again.run(290, None)
    assert lists(again) == lists(whole)


def test_forbidden_and_errors() -> None:
    counts = counts_of({b"abab": 3})
    run = start(counts, forbidden=(b"abab", np.array([1, 2, 3, 4], "u8")))
    assert run.run(300, None) == 1
    assert lists(run)[0][256:] == [b"ba", b"aba", b"abab"]
    with pytest.raises(isotok.TokenizerError, match="fewer tokens"):
        run.run(200, None)
    with pytest.raises(isotok.TokenizerError, match="no words"):
        start(_native.word_counts(None))
    with pytest.raises(isotok.TokenizerError, match="UTF-8"):
        start(counts_of({b"\xff\xfe": 1}), unit=1)
    with pytest.raises(isotok.TokenizerError, match="2\\^63"):
        start(counts_of({b"abc": (1 << 63) - 1}))
    with pytest.raises(isotok.TokenizerError, match="2\\^63"):
        counts_of({b"a": (1 << 63) - 1}).merge(counts_of({b"a": 1}))


def test_progress_stops() -> None:
    counts = counts_of({bytes([65 + i, 66 + i, 67 + i]): i + 1 for i in range(20)})
    run = start(counts)
    seen: list[tuple[int, int]] = []
    assert run.run(280, lambda done, total: seen.append((done, total)) or True) == 2
    assert seen == [(256, 280)]
    assert run.run(280, None) == 0
    with pytest.raises(ZeroDivisionError):
        run.run(300, lambda *_: 1 / 0)


def model_of() -> Any:
    """Return a model that holds the pre-tokenizer of GPT-2."""
    import json

    document = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True,
                          "trim_offsets": False},
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {name: i for i, name in enumerate(NAMES.values())},
                  "merges": []},
    }  # fmt: skip
    tokenizer = isotok.load(json.dumps(document).encode(), backend="native")
    return tokenizer._backend


@pytest.mark.parametrize("name", ["en", "zh", "ja", "code", "multi"])
def test_corpora_as_hugging_face(name: str) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    size = int(os.environ.get("ISOTOK_TRAIN_BYTES", "300000"))
    vocabulary = int(os.environ.get("ISOTOK_TRAIN_VOCABULARY", "3000"))
    lines = text_of(name, size).splitlines(keepends=True)
    counts = _native.word_counts(model_of())
    counts.add_texts(lines)
    run = start(counts, min_frequency=2)
    run.run(vocabulary, None)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.train_from_iterator(
        lines,
        trainers.BpeTrainer(
            vocab_size=vocabulary,
            min_frequency=2,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    assert spelled_merges(run) == results(tokenizer)
