"""Fast tokenizers of transformers on isotok answer as they do without it."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import isotok
import numpy as np
import pytest
from isotok.compat.transformers import Backend, accelerate, restore
from support import data, toy_hf
from support.encodings import both

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
tokenizers = pytest.importorskip("tokenizers", reason="the reference library is not installed")

MODELS = ("gpt2", "qwen3", "bert_base_cased", "xlnet_base_cased", "llama2")
SPECIAL = {
    "gpt2": {"eos_token": "<|endoftext|>"},
    "bert_base_cased": {"cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"},
    "llama2": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
}
CHAT = (
    "{% for message in messages %}<|{{ message['role'] }}|>{{ message['content'] }}"
    "{% if loop.last and add_generation_prompt %}<|assistant|>{% endif %}{% endfor %}"
)
MESSAGES = [
    {"role": "user", "content": "Hello, wörld\n"},
    {"role": "assistant", "content": "<s> 日本語 [SEP]"},
]
BITS = [
    "Hello",
    " world",
    "\n",
    "  ",
    "é",
    "中",
    "▁",
    "23",
    "👍🏽",
    "[MASK]",
    "<|eot_id|>",
    "</s>",
    "'s",
]
Pair = tuple[Any, Any]


def _file(name: str, folder: Path) -> Path:
    for path in data.models_dir().glob(f"{name}.tokenizer.json*"):
        raw = path.read_bytes()
        made = folder / "tokenizer.json"
        made.write_bytes(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        return made
    pytest.skip(f"no {name}.tokenizer.json")


def _made(path: Path, **options: Any) -> Any:
    return transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), **options)


@cache
def _opened(name: str, folder: Path) -> Pair:
    path = _file(name, folder)
    options: dict[str, Any] = {"pad_token": "[PAD]", "chat_template": CHAT, **SPECIAL.get(name, {})}
    return _made(path, **options), accelerate(_made(path, **options))


@pytest.fixture(params=MODELS)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.getbasetemp() / str(request.param)
    folder.mkdir(exist_ok=True)
    return _opened(str(request.param), folder)


@cache
def _toy() -> Pair:
    made: list[Any] = []
    for _ in range(2):
        backend = tokenizers.Tokenizer.from_str(toy_hf.dump(toy_hf.word_piece(toy_hf.BERT)))
        options = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]"}
        made.append(transformers.PreTrainedTokenizerFast(tokenizer_object=backend, **options))
    return made[0], accelerate(made[1])


def _plain(found: Any) -> Any:
    """What can be compared with ==, its types included."""
    if isinstance(found, np.ndarray):
        return found.dtype.str, found.shape, found.tolist()
    if isinstance(found, transformers.BatchEncoding):
        return {name: _plain(value) for name, value in found.items()}
    return found


def _same(pair: Pair, call: Callable[[Any], Any]) -> Any:
    found = both(*pair, call)
    if found is not None:
        assert _plain(found[1]) == _plain(found[0])
    return None if found is None else found[1]


def _text(rng: random.Random) -> str:
    return "".join(rng.choice(BITS) for _ in range(rng.randrange(1, 12)))


def _options(rng: random.Random) -> dict[str, Any]:
    names = (
        "return_offsets_mapping",
        "return_special_tokens_mask",
        "return_token_type_ids",
        "return_length",
    )
    options: dict[str, Any] = {name: rng.random() < 0.5 for name in names}
    options["add_special_tokens"] = rng.random() < 0.7
    options["padding"] = rng.choice([False, True, "max_length"])
    options["truncation"] = rng.choice([False, True, "only_first", "longest_first"])
    options["max_length"] = rng.choice([5, 9, 30])
    if rng.random() < 0.3:
        options["pad_to_multiple_of"] = rng.choice([4, 8])
    if rng.random() < 0.3:
        options["padding_side"] = rng.choice(["left", "right"])
    if rng.random() < 0.3 and options["truncation"]:
        options |= {"return_overflowing_tokens": True, "stride": 2}
    if rng.random() < 0.3:
        options["split_special_tokens"] = True
    return options


def _call(rng: random.Random) -> Callable[[Any], Any]:
    options, kind = _options(rng), rng.randrange(5)
    one, other = _text(rng), _text(rng)
    if kind == 0:
        return lambda tokenizer: tokenizer(one, **options)
    if kind == 1:
        return lambda tokenizer: tokenizer(one, other, **options)
    if kind == 2:
        return lambda tokenizer: tokenizer(one.split(), is_split_into_words=True, **options)
    if kind == 3:
        return lambda tokenizer: tokenizer([(one, other), (other, one)], **options)
    options |= {"padding": "max_length", "truncation": True, "return_tensors": "np"}
    return lambda tokenizer: tokenizer([one, other, "a"], **options)


def test_calls(pair: Pair) -> None:
    assert isinstance(pair[1]._tokenizer, Backend)
    rng = random.Random("calls of transformers")
    made = 0
    for _ in range(80):
        found = _same(pair, _call(rng))
        made += found is not None
    assert made > 40
    assert pair[1]._tokenizer.padding == pair[0]._tokenizer.padding


def test_places(pair: Pair) -> None:
    text = "Hello wörld, 日本語 23"
    wanted, found = (one([text, "a b"], ["c", text]) for one in pair)
    for i in range(2):
        assert found.tokens(i) == wanted.tokens(i)
        assert found.word_ids(i) == wanted.word_ids(i)
        assert found.sequence_ids(i) == wanted.sequence_ids(i)
        for j in range(len(wanted.tokens(i))):
            assert found.token_to_chars(i, j) == wanted.token_to_chars(i, j)
            assert found.token_to_word(i, j) == wanted.token_to_word(i, j)
    assert found.char_to_token(0, 3) == wanted.char_to_token(0, 3)


def test_decode_and_vocabulary(pair: Pair) -> None:
    rng = random.Random("ids for transformers")
    size = len(pair[0])
    assert len(pair[1]) == size
    for _ in range(40):
        ids = [rng.randrange(size) for _ in range(rng.randrange(1, 8))]
        rows = np.array([ids, ids[::-1]])
        for skip in (True, False):
            _same(pair, lambda one, skip=skip: one.decode(ids, skip_special_tokens=skip))  # noqa: B023
            _same(pair, lambda one, skip=skip: one.batch_decode(rows, skip_special_tokens=skip))  # noqa: B023
            _same(pair, lambda one, skip=skip: one.convert_ids_to_tokens(ids, skip))  # noqa: B023
        tokens = pair[0].convert_ids_to_tokens(ids)
        _same(pair, lambda one: one.convert_tokens_to_ids(tokens))  # noqa: B023
        _same(pair, lambda one: one.convert_tokens_to_string(tokens))  # noqa: B023
        _same(pair, lambda one: one.decode(ids, clean_up_tokenization_spaces=True))  # noqa: B023
    text = "".join(BITS)
    _same(pair, lambda one: one.encode(text))
    _same(pair, lambda one: one.tokenize(text, add_special_tokens=True))
    for name in ("all_special_tokens", "all_special_ids", "special_tokens_map", "vocab_size"):
        _same(pair, lambda one: getattr(one, name))  # noqa: B023
    _same(pair, lambda one: one.get_vocab())
    _same(pair, lambda one: one.added_tokens_decoder)


def test_chat_template(pair: Pair) -> None:
    for options in ({}, {"tokenize": False}, {"add_generation_prompt": True}):
        _same(pair, lambda one: one.apply_chat_template(MESSAGES, **options))  # noqa: B023
    batch = [MESSAGES, MESSAGES[:1]]
    options = {"return_tensors": "np", "padding": True, "return_dict": True}
    _same(pair, lambda one: one.apply_chat_template(batch, **options))


def test_saved(pair: Pair, tmp_path: Path) -> None:
    folders = [tmp_path / "wanted", tmp_path / "found"]
    for one, folder in zip(pair, folders, strict=True):
        one.save_pretrained(folder)
    files = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert files[0] == files[1]
    again = accelerate(transformers.PreTrainedTokenizerFast.from_pretrained(folders[1]))
    assert _plain(again("Hello wörld")) == _plain(pair[0]("Hello wörld"))


def test_copies() -> None:
    theirs, ours = _toy()
    for made in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
        assert isinstance(made._tokenizer, Backend)
        made.add_tokens([X])
        assert _plain(ours("<x> abc")) == _plain(theirs("<x> abc")) != _plain(made("<x> abc"))


def test_changes_after_opening() -> None:
    """Tokens that are added, components that are set or changed in place."""
    pair = copy.deepcopy(_toy())
    text = "ABC <x> [CLS] a中b [x]ab é 1"
    changes: list[Callable[[Any], Any]] = [
        lambda one: one.add_tokens([X]),
        lambda one: one.add_tokens([X]),
        lambda one: one.add_special_tokens({"eos_token": "é"}),
        lambda one: setattr(one.backend_tokenizer.normalizer, "lowercase", False),
        lambda one: setattr(one.backend_tokenizer, "normalizer", None),
        lambda one: setattr(one.backend_tokenizer.model, "unk_token", "[SEP]"),
        lambda one: setattr(
            one.backend_tokenizer,
            "post_processor",
            tokenizers.processors.TemplateProcessing("[CLS] $A", None, [("[CLS]", 1)]),
        ),
        lambda one: setattr(one.backend_tokenizer, "pre_tokenizer", WHITE_SPACE),
        lambda one: setattr(one, "padding_side", "left"),
    ]
    before = _plain(pair[0](text))
    for i, change in enumerate(changes):
        _same(pair, change)
        _same(pair, lambda one: one([text, "ab"], padding=True, return_offsets_mapping=True))
        _same(pair, lambda one: one.decode(one(text)["input_ids"]))
        _same(pair, lambda one: one.num_special_tokens_to_add())
        now = _plain(pair[0](text))
        assert (now == before) == (i in (1, 8)), i  # each of the others changes something
        before = now
    with pytest.raises(isotok.TokenizerError, match="back-reference"):
        pair[1].backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(
            tokenizers.Regex(r"(a)\1"), "isolated"
        )
        pair[1](text)


def test_tokens_in_normalized_text() -> None:
    """What `add_tokens` makes of a str."""
    pair = copy.deepcopy(_toy())
    for one in pair:
        one.add_tokens(["[X]a", "Été"])
    for text in ("a [x]A", "[X\u0301]a b [x] a", "ete ÉTÉ éte\u0301 été."):
        found = _same(pair, lambda one: one(text, return_offsets_mapping=True))  # noqa: B023
        ids = found["input_ids"]
        _same(pair, lambda one: one.decode(ids))  # noqa: B023
        _same(pair, lambda one: one.convert_ids_to_tokens(ids))  # noqa: B023
        assert pair[1](text).tokens() == pair[0](text).tokens()
    _same(pair, lambda one: one.get_added_vocab())


X = tokenizers.AddedToken("<x>", normalized=False)
WHITE_SPACE = tokenizers.pre_tokenizers.WhitespaceSplit()


def test_replaced_methods_stay() -> None:
    """CLIP's classes put another `decode` into the object that they keep."""
    tokenizer = copy.deepcopy(_toy()[0])
    tokenizer._tokenizer.decode = lambda ids, skip_special_tokens=True: "replaced"
    assert accelerate(tokenizer).decode([5, 6]) == "replaced"


def test_there_and_back() -> None:
    tokenizer = copy.deepcopy(_toy()[0])
    original = tokenizer._tokenizer
    assert accelerate(accelerate(tokenizer)) is tokenizer
    assert tokenizer._tokenizer.original is original
    assert set(dir(original)) <= set(dir(tokenizer._tokenizer))
    assert restore(restore(tokenizer))._tokenizer is original


def test_refusals() -> None:
    with pytest.raises(TypeError, match="no fast tokenizer"):
        accelerate(object())
    source = json.loads(toy_hf.dump(toy_hf.bytes_bpe()))
    split = {"type": "Split", "pattern": {"Regex": r"(a)\1"}, "behavior": "Isolated"}
    steps = [split | {"invert": False}, source["pre_tokenizer"] | {"use_regex": False}]
    source["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}
    backend = tokenizers.Tokenizer.from_str(json.dumps(source))
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend)
    with pytest.raises(isotok.TokenizerError, match="back-reference"):
        accelerate(tokenizer)
    assert isinstance(tokenizer._tokenizer, tokenizers.Tokenizer)
