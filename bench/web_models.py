"""The models of bench web: the file that each comes from, and the library whose ids count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from isotok.compile import compile_model
from support import data, hf, oracle, ranks

SPM = ("llama2", "gemma3", "xlmr")
RANKS = ("o200k_base", "cl100k_base")
JSON = ("llama3", "qwen3", "gpt2", "deepseek_v3", "bert_base_cased")
MODELS = (*SPM, *RANKS, *JSON)

OURS = "isotok"
"""The engine that opens a blob."""
BY_FILE = {"source": "file as it is", "packed": "packed form"}
"""Engines of ours that build the blob from something else at each load."""

_SPM_PEERS = {
    # Others that open a model answer with other ids (kitoken: gemma3), or are the same code (the
    # two sentencepiece-js, of which one is shown for llama2).
    "llama2": ("kitoken", "sctg"),
    "gemma3": ("huggingface",),
    "xlmr": ("kitoken", "agnai", "sctg", "huggingface"),
}
_RANKS_PEERS = ("gpt-tokenizer", "ai-tokenizer", "tiktoken", "js-tiktoken", "kitoken")
_JSON_PEERS = ("huggingface", "kitoken", "web-tokenizers")
_NOT_OPENED = {"qwen3": "web-tokenizers"}
"""It knows no merges that are pairs."""


def engines(model: str) -> tuple[str, ...]:
    """What encodes with a model: first we."""
    if model in RANKS:
        return (OURS, *_RANKS_PEERS)
    if model in SPM:
        return (OURS, *_SPM_PEERS[model])
    return (OURS, *(peer for peer in _JSON_PEERS if peer != _NOT_OPENED.get(model)))


def loaders(model: str) -> tuple[str, ...]:
    """What opens a model, for the times that takes."""
    return (*engines(model), "packed" if model in SPM else "source")


def source(model: str) -> str:
    """Name of the file that a model comes from, as the sessions find it."""
    if model in RANKS:
        return f"{model}.tiktoken"
    return f"{model}.tokenizer.json" if model in JSON else f"{model}.model"


def _path(model: str) -> Path:
    """A large file may be there only as .gz."""
    path = data.models_dir() / source(model)
    return path if path.exists() or model not in JSON else path.with_name(f"{path.name}.gz")


def missing(models: Sequence[str]) -> str | None:
    """What is not here, to be said instead of a result."""
    absent = [path for path in map(_path, models) if not path.exists()]
    if absent:
        return data.absence(absent[0])
    if set(models) & set(SPM) and not oracle.available():
        return f"sentencepiece {oracle.VERSION} is not here; run ./build.sh setup"
    return None


def files(model: str) -> Iterator[tuple[str, bytes]]:
    """What sessions read of a model: names with contents."""
    if model in RANKS:
        raw = ranks.source(model)
    else:
        raw = hf.source(model) if model in JSON else _path(model).read_bytes()
    yield source(model), raw
    yield f"{model}.isotok", compile_model(raw, name=source(model))
    if model in SPM:
        yield f"{model}.packed", compile_model(raw, form="packed")
        if "huggingface" in engines(model):
            yield f"{model}.tokenizer.json", hf.source(model)


@cache
def reference(model: str) -> Callable[[list[str]], Sequence[Sequence[int]]]:
    """The library's ids of texts, without tokens around them."""
    if model in RANKS:
        ordinary = ranks.reference(model).encode_ordinary
        return lambda texts: [ordinary(text) for text in texts]
    if model in JSON:
        encode = hf.reference(model).encode
        return lambda texts: [encode(text, add_special_tokens=False).ids for text in texts]
    return _sentencepiece(model)


def _sentencepiece(model: str) -> Callable[[list[str]], Any]:
    import sentencepiece

    processor = sentencepiece.SentencePieceProcessor(model_file=str(_path(model)))
    return lambda texts: processor.encode(texts, num_threads=1)
