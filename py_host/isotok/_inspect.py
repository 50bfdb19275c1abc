"""What `isotok inspect` says about a model file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from isotok import _layout_gen as abi
from isotok._blob_gen import BlobView, Operation, Section
from isotok._info import ALGORITHMS, PARITIES, PieceType, compat_of, id_or_none

_NONE: Final = 0xFFFFFFFF


def describe(data: bytes | bytearray | memoryview) -> dict[str, Any]:
    """Describe a blob or packed model.

    Parameters
    ----------
    data : bytes-like
        A whole file whose structure has been checked by opening it.

    Returns
    -------
    dict
        Of values that JSON has.
    """
    view = BlobView(data)
    description: dict[str, Any] = {
        "form": "packed" if "packed" in view.feature_names() else "blob",
        "format": view.format,
        "size": view.total_size,
        "checksum": f"{view.checksum:016x}",
        "features": view.feature_names(),
        "parity": PARITIES.get(view.parity, str(view.parity)),
        "compat": compat_of(view.features),
        "algorithm": ALGORITHMS.get(view.algorithm, str(view.algorithm)),
        "vocabulary": _vocabulary(view),
        "operations": {
            "normalizer": _operations(view.normalizer),
            "pretokenizer": _operations(view.pretokenizer),
            "decoder": _operations(view.decoder),
            "template": _operations(view.template_ops),
        },
        "sections": [_section(section) for section in view.sections()],
    }
    if view.has("trie"):
        description["trie"] = _trie(view.trie, view.trie_ids)
    if view.has("memo") or view.algorithm in (abi.LONGEST, abi.PRIORITY):
        description["distilled"] = _distilled(view)
    return description


def _distilled(view: BlobView) -> dict[str, Any]:
    """What a distilled model has beside its teacher (FORMAT.md, sections 18 and 19)."""
    if view.has("memo"):
        sizes = [word >> 32 & 0xFF for word in view.memo[7::8]]
        chunks = len(sizes) - sizes.count(0)
        return {"mode": "exact", "memo_bytes": 64 * len(sizes), "memo_chunks": chunks}
    if view.algorithm == abi.PRIORITY:
        return {"mode": "priority"}
    words: Sequence[int] = view.exceptions if view.has("exceptions") else ()
    at = count = 0
    while at < len(words):
        at += 1 + (words[at] >> 8)
        count += 1
    return {"mode": "compact" if count else "longest", "exceptions": count}


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "offset": section.offset,
        "count": section.count,
        "size": section.size,
    }


def _vocabulary(view: BlobView) -> dict[str, Any]:
    kinds = Counter(view.types)
    names = {int(kind): kind.name.lower() for kind in PieceType}
    return {
        "size": view.vocab_size,
        "types": {names.get(kind, str(kind)): kinds[kind] for kind in sorted(kinds)},
        "unk_id": id_or_none(view.unk_id),
        "bos_id": id_or_none(view.bos_id),
        "eos_id": id_or_none(view.eos_id),
        "pad_id": id_or_none(view.pad_id),
        "text_bytes": len(view.piece_text),
        "max_piece_bytes": view.max_piece_bytes,
        "max_expansion": view.max_expansion,
        "lowest_score": min(view.scores, default=None),
        "highest_score": max(view.scores, default=None),
    }


def _operations(words: memoryview[int]) -> list[dict[str, int]]:
    return [operation._asdict() for operation in Operation.each(words)]


def _trie(words: memoryview[int], ids: memoryview[int]) -> dict[str, Any]:
    """Count the slots of the double array that belong to a node (FORMAT.md, section 4)."""
    links = words[::2].tolist()
    bases = {link >> 8 for link in links if link >> 8}
    used = sum((slot ^ link & 0xFF) in bases for slot, link in enumerate(links))
    pieces = sum(token != _NONE for token in ids)
    return {
        "slots": len(links),
        "used": used,
        "filled": round(used / max(len(links), 1), 4),
        "branching": len(bases),
        "pieces": pieces,
        "slots_per_piece": round(len(links) / max(pieces, 1), 3),
    }
