"""Normalizers of published models, with what their pre-tokenizers rewrite.

Their programs are checked in, for hosts that cannot compile them (tools/normalizer_known.py).
A program depends on the rules of a charsmap, which are made here from Unicode's data, and is
found by the digest of the charsmap that published models have.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from itertools import product
from typing import Final, cast

from isotok.compile.normalizers.charsmap import Charsmap
from isotok.compile.pretok.huggingface import PreTokenizer, read_pre_tokenizer
from isotok.compile.pretok.known import HUGGING_FACE

Json = dict[str, object]
Key = list[list[object]]

_MEMBERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Strip": ("strip_left", "strip_right"),
    "Prepend": ("prepend",),
    "BertNormalizer": ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"),
}
"""Members that decide what a step does; the other types have none."""

SPACES: Final[list[object]] = ["spaces"]
"""Last step of the key of a second program, where a first one would leave no U+0020: in front of
ByteLevel, or of what cuts elsewhere than at spaces and rewrites none."""


def key_of(normalizer: object, pre: PreTokenizer) -> Key:
    """Return what a normalizer and a pre-tokenizer rewrite, step by step.

    Equal results mean equal programs, but for `SPACES`. This needs no data about characters:
    other hosts look the result up in the table of known programs. An empty one stands for no
    program.
    """
    steps = [step for part in _flat(normalizer) for step in _steps(part)]
    if pre.prefix_place == "pieces":
        return [*steps, ["words", pre.prefix]]
    if pre.space:
        steps.append(["space", pre.space])
    if pre.prefix_place != "none":
        steps.append(["prefix", pre.prefix, pre.prefix_place])
    return steps


def _flat(value: object, depth: int = 0) -> list[Mapping[str, object]]:
    if not isinstance(value, Mapping) or depth > 10:
        return []
    part = cast("Mapping[str, object]", value)
    if part.get("type") != "Sequence":
        return [part]
    steps = cast("list[object]", part.get("normalizers") or [])
    return [one for step in steps for one in _flat(step, depth + 1)]


def _steps(part: Mapping[str, object]) -> Key:
    kind = str(part.get("type"))
    if kind == "Replace":
        pattern = cast("Mapping[str, object]", part.get("pattern") or {})
        texts = [text for pair in pattern.items() for text in pair]
        return [[kind, *texts, part.get("content")]]
    if kind == "Precompiled":
        return [[kind, _digest(part.get("precompiled_charsmap"))]]
    if kind == "Prepend" and not part.get("prepend"):
        return []
    values = {name: part.get(name) for name in _MEMBERS.get(kind, ())}
    if kind == "BertNormalizer" and values["strip_accents"] is None:
        values["strip_accents"] = values["lowercase"]
    return [[kind, *values.values()]]


def _digest(charsmap: object) -> str:
    try:
        return hashlib.sha256(base64.b64decode(str(charsmap), validate=True)).hexdigest()
    except (binascii.Error, ValueError):
        return ""


# ---- Charsmaps ------------------------------------------------------------------------

NMT_NFKC: Final = "0942789e0111452f1cc446f70036e26d24458c3c7858c53cc12ca4d87531279b"
"""Digest of the charsmap nmt_nfkc of sentencepiece before 0.2: T5, XLM-R, XLNet, ALBERT …"""

_YOUNG: Final = (
    (0x61C,), (0x32FF,), (0xA7F1, 0xA7F4), (0xAB69,), (0x105D2,), (0x105DA,), (0x10781, 0x107BA),
    (0x11382, 0x113C9), (0x11930, 0x11935), (0x1611E, 0x16129), (0x16D63, 0x16D67),
    (0x1CCD6, 0x1CCF9), (0x1E030, 0x1E06D), (0x1F16C,), (0x1F23B,), (0x1FBF0, 0x1FBF9),
)  # fmt: skip
"""Characters of rules that Unicode has since version 9 only, which that charsmap does not know."""


def nmt_nfkc() -> bytes:
    """Return a charsmap with the rules of that one; its bytes are others."""
    from isotok.compat.sentencepiece._charsmap import compile_rules
    from isotok.compat.sentencepiece._rules import charsmap_of

    young = {chr(point) for ends in _YOUNG for point in range(ends[0], ends[-1] + 1)}
    rules = Charsmap(charsmap_of("nmt_nfkc")).rules()
    old = {key: text for key, text in rules if young.isdisjoint(key)}
    old["\u200d"] = " "
    return compile_rules({key.encode(): text.encode() for key, text in old.items()})


def precompiled(charsmap: bytes) -> Json:
    """Return a normalizer with a charsmap."""
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}


# ---- The list -------------------------------------------------------------------------


def _step(kind: str, **members: object) -> Json:
    return {"type": kind, **members}


def _sequence(*steps: Json) -> Json:
    return _step("Sequence", normalizers=list(steps))


def _replace(text: str, content: str, kind: str = "String") -> Json:
    return _step("Replace", pattern={kind: text}, content=content)


def _bert(chinese: bool, strip: bool, lower: bool) -> Json:
    return _step(
        "BertNormalizer",
        clean_text=True,
        handle_chinese_chars=chinese,
        strip_accents=strip,
        lowercase=lower,
    )


_NONE: Final = PreTokenizer()
_BYTES: Final = PreTokenizer(prefix=" ", prefix_place="segments", byte_level=True)
_ALWAYS: Final = PreTokenizer(prefix="▁", prefix_place="segments", space="▁")
_FIRST: Final = PreTokenizer(prefix="▁", prefix_place="start", space="▁")
_NEVER: Final = PreTokenizer(space="▁")
_WORDS: Final = read_pre_tokenizer(HUGGING_FACE["t5"])
_QUOTES: Final = (_replace("``", '"'), _replace("''", '"'))
_TWO: Final = " {2,}"


def known() -> list[tuple[str, object, PreTokenizer]]:
    """Return names, normalizers and pre-tokenizers."""
    charsmap = precompiled(nmt_nfkc())
    nfkd = (*_QUOTES, _step("NFKD"), _step("StripAccents"))
    found: list[tuple[str, object, PreTokenizer]] = [
        ("prefix", None, _BYTES),
        ("metaspace", None, _ALWAYS),
        ("metaspace first", None, _FIRST),
        ("metaspace never", None, _NEVER),
        ("metaspace words", None, _WORDS),
        ("gemma", _replace(" ", "▁"), _NONE),
        ("llama2", _sequence(_step("Prepend", prepend="▁"), _replace(" ", "▁")), _NONE),
        ("nfc prefix", _step("NFC"), _BYTES),
        (
            "clip",
            _sequence(_step("NFC"), _replace(r"\s+", " ", "Regex"), _step("Lowercase")),
            _NONE,
        ),
        ("lowercase", _step("Lowercase"), _NONE),
        *((form, _step(form), _NONE) for form in ("NFC", "NFD", "NFKC", "NFKD")),
        ("electra", _sequence(_step("NFD"), _step("Lowercase"), _step("StripAccents")), _NONE),
        ("nmt_nfkc", charsmap, _NONE),
        ("t5", charsmap, _WORDS),
        ("t5 new", charsmap, _ALWAYS),
        (
            "t5 spaces",
            _sequence(
                charsmap,
                _step("Strip", strip_left=False, strip_right=True),
                _replace(_TWO, "▁", "Regex"),
            ),
            _ALWAYS,
        ),
        ("bge-m3", _sequence(charsmap, _replace(_TWO, " ", "Regex")), _ALWAYS),
        (
            "deberta-v3",
            _sequence(
                _step("Strip", strip_left=True, strip_right=True),
                charsmap,
                _replace(_TWO, " ", "Regex"),
            ),
            _ALWAYS,
        ),
        ("xlnet", _sequence(*nfkd, charsmap), _WORDS),
        ("xlnet new", _sequence(*nfkd, charsmap), _ALWAYS),
        ("albert", _sequence(*nfkd, _step("Lowercase"), charsmap), _WORDS),
        ("albert new", _sequence(*nfkd, _step("Lowercase"), charsmap), _ALWAYS),
    ]
    for chinese, strip, lower in product((True, False), repeat=3):
        name = f"bert {chinese:d}{strip:d}{lower:d}"
        found.append((name, _bert(chinese, strip, lower), _NONE))
    return found
