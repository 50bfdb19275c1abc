"""Our `.spm.fb` files in the official SentencePiece Lite: ids, texts and normalization.

Needs the source of sentencepiece 0.2.3 in the folder ISOTOK_SENTENCEPIECE (the one that
holds `lite`); the runtime is compiled in a temporary folder.
"""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.full.limits import Check
from tests.support import data, spine, texts

ENVIRONMENT = "ISOTOK_SENTENCEPIECE"
HERE = Path(__file__).parent
STRESS = 100_000  # bytes of each stress file: Lite's bpe is not made for more
Request = tuple[str, bytes]


def build(source: Path, folder: Path) -> Path:
    """Compile the runtime and our driver with the flatbuffers of this environment."""
    prefix, lite = Path(sys.prefix), source / "lite"
    schema = lite / "sentencepiece_lite.fbs"
    command: list[str | Path] = [
        prefix / "bin/flatc", "-c", "--gen-object-api", "-o", folder, schema
    ]  # fmt: skip
    subprocess.run(command, check=True)
    program = folder / "lite"
    includes = [f"-I{each}" for each in (folder, lite, source, prefix / "include")]
    sources = [HERE / "lite.cc", lite / "sentencepiece_lite.cc"]
    compiler = ["g++", "-std=c++20", "-O2", "-w", *includes, "-o", program]
    subprocess.run([*compiler, *sources], check=True)
    return program


def ask(program: Path, file: Path, requests: Sequence[Request]) -> list[bytes] | None:
    """Answers to requests; None if the runtime refuses the file."""
    stream = b"".join(
        kind.encode() + struct.pack("<I", len(body)) + body for kind, body in requests
    )
    out = subprocess.run([program, file], input=stream, capture_output=True, check=True).stdout
    if struct.unpack_from("<i", out)[0] != 0:
        return None
    answers: list[bytes] = []
    at = 4
    for _ in requests:
        size = struct.unpack_from("<I", out, at)[0]
        answers.append(out[at + 4 : at + 4 + size])
        at += 4 + size
    return answers


def words(ids: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(ids)}i", *ids)


def vector_texts(model: str) -> Iterator[bytes]:
    """Texts of SentencePiece's vectors (beside the data) for a model."""
    lines = (data.vectors_dir() / "semantics_vectors.jsonl").read_text().split("\n")
    for vector in map(json.loads, filter(None, lines)):
        if vector["model"] != model:
            continue
        if "input_file" in vector:
            file = data.vectors_dir() / "models/data" / vector["input_file"]
            yield file.read_bytes() * vector["repeat"]
        elif "input_hex" in vector:
            yield bytes.fromhex(vector["input_hex"])


def texts_for(path: Path, tokenizer: Any) -> list[bytes]:
    """Corner texts, texts of the model's pieces, its vectors; of a real model the corpora."""
    generator = texts.from_pieces(
        [tokenizer.id_to_bytes(index) for index in range(len(tokenizer))], random.Random(path.stem)
    )
    found = [*texts.CORNERS, *(next(generator) for _ in range(300))]
    if path.parent == data.VECTOR_MODELS:
        found += (spine.text_of(each["text"]) for each in spine.vectors_of(path.stem, "encode"))
    elif path.parent != data.models_dir():
        found += vector_texts(path.name)
    else:
        found += (each.read_bytes() for each in sorted(data.corpora_dir().glob("*.txt")))
        stress = sorted(data.corpora_dir().glob("stress/*"))
        found += (each.read_bytes()[:STRESS] for each in stress)
    return found


def compare(program: Path, file: Path, path: Path, made: bytes) -> Check:
    """One model: how many texts were compared, how many answers differ."""
    import isotok

    tokenizer = isotok.load(path)
    file.write_bytes(made)
    every = texts_for(path, tokenizer)
    normalized = [tokenizer.normalize(text) for text in every]
    ids = [tokenizer.encode(text) for text in every]
    generator = random.Random(path.stem)
    any_ids = [generator.choices(range(len(tokenizer)), k=12) for _ in range(100)]
    known = (tokenizer.unk_id, tokenizer.bos_id, tokenizer.eos_id, tokenizer.pad_id)
    requests: list[Request] = [("i", b"")]
    expected = [words([-1 if each is None else each for each in known] + [len(tokenizer)])]
    for text, norm, found in zip(every, normalized, ids, strict=True):
        requests += [("e", text), ("n", norm), ("N", text)]
        expected += [words(found), words(found), norm]
    for found in [*ids, *any_ids]:
        requests.append(("d", words(found)))
        expected.append(tokenizer.decode(found).encode())
    answers = ask(program, file, requests)
    what = f"{path.stem} in SentencePiece Lite: {len(every)} texts, {sum(map(len, ids)):,} tokens"
    if answers is None:
        return what, "refused", "0 differ", False
    for number, (kind, _) in enumerate(requests):
        if kind == "d":  # as a str has it
            answers[number] = answers[number].decode(errors="replace").encode()
    differ = sum(a != b for a, b in zip(answers, expected, strict=True))
    return what, f"{differ} differ", "0 differ", differ == 0


def spm_fb() -> Iterator[Check]:
    """Every model that can be exported."""
    from isotok.compile import compile_model
    from isotok.errors import TokenizerError

    source = os.environ.get(ENVIRONMENT)
    if not source:
        print(f"skipped: {ENVIRONMENT} is not set to the source of sentencepiece 0.2.3")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = build(Path(source), folder)
        folders = (data.VECTOR_MODELS, data.vectors_dir() / "models", data.models_dir())
        for path in (path for each in folders for path in sorted(each.glob("*.model"))):
            try:
                made = compile_model(path.read_bytes(), "spm.fb")
            except TokenizerError:
                continue
            yield compare(program, folder / "model.spm.fb", path, made)


ALL = {"spm_fb": spm_fb}
