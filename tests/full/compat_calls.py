"""Calls of the names that sentencepiece had up to 0.2.1, the same for it and for isotok's.

`deterministic` gives what must be equal, `draws` counts of what is drawn. As a program it
runs them with the sentencepiece that is installed and prints JSON:

    python compat_calls.py REQUESTS.json

It uses the standard library only: it runs beside another version of the package.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

KINDS: dict[str, Any] = {
    "ids": int,
    "pieces": str,
    "serialized": "serialized_proto",
    "immutable": "immutable_proto",
}
ENCODE_OPTIONS = ("bos", "eos", "bos:eos", "reverse", "reverse:eos", "eos:reverse:bos", "unk")
DECODE_OPTIONS = ("reverse", "bos:eos", "unk:reverse")
NORMALIZERS = (
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"escape_whitespaces": False, "add_dummy_prefix": "true"},
)
ALPHAS = (0.0, 0.1, 0.5, 1.0, 2.0)
Row = tuple[str, Any]


def plain(value: Any) -> Any:
    """Return a value that JSON can hold and that differs where the results differ."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "SerializeAsString"):
        return [str(value), value.SerializeAsString().hex()]
    return value


def attempt(call: Callable[[], Any]) -> Any:
    """Return a plain result, or that there was an error."""
    try:
        return plain(call())
    except Exception as error:
        return f"error: {type(error).__mro__[-3].__name__}"


def deterministic(spm: Any, request: dict[str, Any]) -> Iterator[Row]:
    """Every call whose result is known; names are made of the call."""
    sp = spm.SentencePieceProcessor(model_file=request["model"])
    texts: list[str] = request["texts"]
    yield from _messages(sp, texts)
    yield from _extra_options(sp, texts)
    if request["scored"]:
        yield from _entropy(sp, texts)
    if request["vocabulary"]:
        yield from _vocabulary(sp, request)
    for flags in NORMALIZERS:
        sp = spm.SentencePieceProcessor(model_file=request["model"])
        yield (
            f"override {flags}",
            attempt(lambda sp=sp, flags=flags: sp.OverrideNormalizerSpec(**flags)),
        )
        for text in texts:
            yield (
                f"{flags} {text!r}",
                attempt(lambda sp=sp, t=text: [sp.encode(t, out_type=str), sp.normalize(t)]),
            )
            yield f"{flags} decode {text!r}", attempt(lambda sp=sp, t=text: sp.decode(sp.encode(t)))


def _messages(sp: Any, texts: list[str]) -> Iterator[Row]:
    for text in texts:
        for call in ("EncodeAsImmutableProto", "encode_as_serialized_proto"):
            yield f"{call} {text!r}", attempt(lambda c=call, t=text: getattr(sp, c)(t))
        found = attempt(lambda t=text: _parts(sp.encode(t, out_type="immutable_proto")))
        yield f"parts of {text!r}", found
        ids = sp.encode(text, out_type=int)
        pieces = sp.encode(text, out_type=str)
        if ids:
            for call in ("DecodeIdsAsImmutableProto", "decode_ids_as_serialized_proto"):
                yield f"{call} {ids}", attempt(lambda c=call, i=ids: getattr(sp, c)(i))
            for call in ("DecodePiecesAsImmutableProto", "decode_pieces_as_serialized_proto"):
                yield f"{call} {pieces}", attempt(lambda c=call, p=pieces: getattr(sp, c)(p))


def _parts(proto: Any) -> list[Any]:
    """Whatever can be read of an immutable message."""
    pieces = proto.pieces
    return [
        proto.text,
        proto.score,
        len(pieces),
        [[p.piece, p.surface, p.id, p.begin, p.end] for p in pieces],
        [str(each) for each in pieces[1:-1]],
        [str(each) for each in pieces[::-2]],
        str(pieces[-1]) if len(pieces) else "",
        pieces[0] == pieces[-1] if len(pieces) else None,
        proto == proto,
        hash(proto) == hash(proto),
    ]


def _extra_options(sp: Any, texts: list[str]) -> Iterator[Row]:
    for options in ENCODE_OPTIONS:
        yield f"encode options {options}", attempt(lambda o=options: sp.SetEncodeExtraOptions(o))
        for text in texts:
            for name, kind in KINDS.items():
                call = f"{options} {name} {text!r}"
                yield call, attempt(lambda t=text, k=kind: sp.encode(t, out_type=k))
            with_flags = attempt(lambda t=text: sp.encode(t, add_bos=True, reverse=True))
            yield f"{options} add_bos reverse {text!r}", with_flags
    yield "encode options, unknown", attempt(lambda: sp.SetEncodeExtraOptions("eos:nonsense:bos"))
    yield "after it", attempt(lambda: sp.encode(texts[0]))
    yield "no encode options", attempt(lambda: sp.set_encode_extra_options(""))
    for options in DECODE_OPTIONS:
        yield f"decode options {options}", attempt(lambda o=options: sp.SetDecodeExtraOptions(o))
        for text in texts:
            ids = sp.encode(text, out_type=int)
            if ids:
                yield f"{options} {ids}", attempt(lambda i=ids: sp.decode(i))
                serialized = attempt(lambda i=ids: sp.decode(i, out_type="serialized_proto"))
                yield f"{options} serialized {ids}", serialized
    yield "no decode options", attempt(lambda: sp.set_decode_extra_options(""))


def _entropy(sp: Any, texts: list[str]) -> Iterator[Row]:
    for alpha in ALPHAS:
        for text in texts:
            call = f"entropy {alpha} {text!r}"
            yield call, attempt(lambda t=text, a=alpha: sp.CalculateEntropy(t, a))
        every = attempt(lambda a=alpha: sp.calculate_entropy(texts, a))
        yield f"entropy {alpha} of all", every


def _vocabulary(sp: Any, request: dict[str, Any]) -> Iterator[Row]:
    texts: list[str] = request["texts"]
    for name, pieces in request["vocabularies"].items():
        yield f"vocabulary {name}", attempt(lambda p=pieces: sp.SetVocabulary(p))
        # 0.2.1 calls pieces of bytes unused too, and goes on using them.
        unused = [i for i in range(len(sp)) if sp.IsUnused(i) and "<0x" not in sp.IdToPiece(i)]
        yield f"vocabulary {name}: unused", unused
        for text in texts:
            yield f"vocabulary {name} {text!r}", attempt(lambda t=text: sp.encode(t, out_type=str))
            yield f"vocabulary {name} ids {text!r}", attempt(lambda t=text: sp.encode(t))
    for threshold in (-1000, 0, 1, 5, 100):
        file = request["vocabulary_file"]
        loaded = attempt(lambda f=file, n=threshold: sp.LoadVocabulary(f, n))
        yield f"vocabulary file {threshold}", loaded
        for text in texts:
            call = f"vocabulary file {threshold} {text!r}"
            yield call, attempt(lambda t=text: sp.encode(t, out_type=str))
    yield "vocabulary file, missing", attempt(lambda: sp.LoadVocabulary("no such file", 1))
    yield "reset", attempt(lambda: sp.ResetVocabulary())
    for text in texts:
        yield f"reset {text!r}", attempt(lambda t=text: sp.encode(t, out_type=str))


def draws(spm: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Sample with replacement and without: counts, and the score of each path."""
    spm.SetRandomGeneratorSeed(3)
    sp = spm.SentencePieceProcessor(model_file=request["model"])
    result: dict[str, Any] = {}
    for text in request["draw_texts"]:
        counts: Counter[str] = Counter()
        scores: dict[str, float] = {}
        found = sp.SampleEncodeAndScore(
            text, num_samples=request["draws"], alpha=request["alpha"], out_type=str
        )
        for pieces, score in found:
            counts[" ".join(pieces)] += 1
            scores[" ".join(pieces)] = score
        result[f"independent {text!r}"] = {"counts": counts, "scores": scores}
        for best in (False, True):
            result[f"distinct, best {best} {text!r}"] = _distinct(sp, request, text, best)
    return result


def _distinct(sp: Any, request: dict[str, Any], text: str, best: bool) -> dict[str, Any]:
    """Count how often each path is among the drawn, and how many are drawn at a time."""
    counts: Counter[str] = Counter()
    sizes: Counter[int] = Counter()
    mean: Counter[str] = Counter()
    for _ in range(request["distinct_draws"]):
        found = sp.SampleEncodeAndScore(
            text,
            num_samples=request["distinct"],
            alpha=request["alpha"],
            wor=True,
            include_best=best,
            out_type=str,
        )
        sizes[len(found)] += 1
        names = [" ".join(pieces) for pieces, _ in found]
        assert len(set(names)) == len(names), names
        for name, (_, score) in zip(names, found, strict=True):
            assert score <= 0, score
            counts[name] += 1
            mean[name] += score
    scores = {name: mean[name] / count for name, count in counts.items()}
    return {"counts": counts, "sizes": sizes, "scores": scores}


def answers(spm: Any, requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All of it, for each model."""
    return [
        {
            "deterministic": list(deterministic(spm, request)),
            "draws": draws(spm, request) if request["scored"] else {},
            "names": sorted(name for name in dir(spm.SentencePieceProcessor) if name[0] != "_"),
        }
        for request in requests
    ]


if __name__ == "__main__":
    import sentencepiece

    with open(sys.argv[1], encoding="utf-8") as file:
        wanted = json.load(file)
    print(
        json.dumps(
            {"version": sentencepiece.__version__, "answers": answers(sentencepiece, wanted)}
        )
    )
