"""Calls of sentencepiece 0.2.1, made beside another version of the package.

    python -I old_calls.py FOLDER <request, JSON >answer, JSON

FOLDER holds the package. The request names a model and either `calls`, each with its
arguments, which are answered one by one, or `corpora`, of which the ids go to files.
It uses the standard library only.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Iterable
from typing import Any


def as_hex(value: bytes | str) -> str:
    """Hex of bytes; of nothing the old release makes a str."""
    return (value if isinstance(value, bytes) else value.encode()).hex()


def call(processor: Any, name: str, value: Any, *rest: Any) -> Any:
    """One call; messages as hex."""
    if name == "find":
        return processor.PieceToId(value)
    if name in ("decode", "decode_pieces"):
        kind = "Ids" if name == "decode" else "Pieces"
        return as_hex(getattr(processor, f"Decode{kind}AsSerializedProto")(value))
    data = bytes.fromhex(value)
    if name == "nbest":
        return as_hex(processor.NBestEncodeAsSerializedProto(data, *rest))
    if name == "normalize":
        return as_hex(processor.Normalize(data))
    # Of a text that it cannot encode there are no ids, and of the message a part.
    return [processor.EncodeAsIds(data), as_hex(processor.EncodeAsSerializedProto(data))]


def write(path: str, ids: Iterable[list[int]]) -> None:
    """Ids of documents end to end, -1 behind each, as int32."""
    flat = array("i")
    for each in ids:
        flat.extend(each)
        flat.append(-1)
    with open(path, "wb") as file:
        flat.tofile(file)


def encode_corpus(processor: Any, corpus: dict[str, Any]) -> None:
    """Encode a file whole and line by line; decode the whole one."""
    with open(corpus["path"], "rb") as file:
        data = file.read(corpus["size"]) if corpus["size"] else file.read()
    whole = processor.EncodeAsIds(data)
    write(corpus["whole"], [whole])
    write(corpus["lines"], (processor.EncodeAsIds(line) for line in data.split(b"\n")))
    with open(corpus["text"], "wb") as file:
        file.write(processor.DecodeIds(whole).encode() if whole else b"")


def main() -> None:
    """Answer the request."""
    sys.path.insert(0, sys.argv[1])
    import sentencepiece

    request = json.load(sys.stdin)
    answer: Any = None
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.Load(request["model"])
    except RuntimeError as error:
        answer = str(error)
    else:
        if "calls" in request:
            answer = [call(processor, *each) for each in request["calls"]]
        for corpus in request.get("corpora", ()):
            encode_corpus(processor, corpus)
    print(json.dumps({"version": sentencepiece.__version__, "answer": answer}))


if __name__ == "__main__":
    main()
