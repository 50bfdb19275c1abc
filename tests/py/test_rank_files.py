"""Published rank files: ids, offsets and texts of tiktoken, from the model and from the drop-in."""

from __future__ import annotations

import random

import pytest
from isotok.compat import tiktoken as drop_in
from support import hf, ranks

tiktoken = pytest.importorskip("tiktoken", reason="the reference library is not installed")

SIZE = 5_000
RANDOM = {"native": 200, "wasm": 60}


@pytest.mark.parametrize("name", ranks.NAMES)
def test_corpora(name: str, backend: str) -> None:
    """Lines, documents and all of it, with special tokens and without."""
    tok, ref, rng = ranks.opened(name, backend), ranks.reference(name), random.Random(name)
    samples = [hf.corpus(language, SIZE, 400_000) for language in hf.CORPORA]
    for text in [*samples, *hf.stress(SIZE).values()]:
        texts = [text, *text.splitlines(), *hf.documents(text)]
        for add in (True, False):
            ranks.same_encodings(tok, ref, texts, add=add)
            if backend == "native":
                found = ranks.Answers(ref, texts, add=add)
                ranks.same_columns(ranks.compatible(name, backend), found, range(len(texts)))
        ranks.same_texts(tok, ref, ref.encode_ordinary(text), rng)
        ranks.same_streams(tok, ref, text, rng)


@pytest.mark.parametrize("name", ranks.NAMES)
def test_random_texts(name: str, backend: str) -> None:
    """Pieces, special tokens, white space, digits, marks and scripts; random ids."""
    tok, ref = ranks.opened(name, backend, 0), ranks.reference(name)
    makes, rng = ranks.Texts(name), random.Random(f"{name} 20261130")
    texts = [makes.text(rng) for _ in range(RANDOM[backend])]
    for add in (True, False):
        ranks.same_encodings(tok, ref, texts, add=add)
    for text in texts:
        ranks.same_in_units(tok, ref, text)
        ranks.same_limits(tok, ref, text, rng)
        ranks.same_streams(tok, ref, text, rng)
        ranks.same_texts(tok, ref, makes.ids(rng), rng)


def test_two_texts_of_one_id() -> None:
    """o200k_harmony has 200018 twice: the drop-in finds both, and decodes the first."""
    ref, ours = ranks.reference("o200k_harmony"), ranks.compatible("o200k_harmony", "native")
    second = ranks.SECOND_TEXTS["o200k_harmony"]
    for text in (second, f"a{second}b<|endofprompt|>", f"<|start|>{second}{second[:-1]}"):
        wanted = ref.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == wanted
        assert ours.encode_batch([text, "a"], allowed_special="all")[0] == wanted
        assert ours.encode_to_numpy(text, allowed_special="all").tolist() == wanted
        assert ours.decode(wanted) == ref.decode(wanted)
        allowed = {second, "<|start|>"}
        for encoding in (ours, ref):
            with pytest.raises(ValueError, match="disallowed special token"):
                encoding.encode(text)
        wanted = ref.encode(text, allowed_special=allowed, disallowed_special=())
        assert ours.encode(text, allowed_special=allowed, disallowed_special=()) == wanted
    assert isinstance(ours, drop_in.Encoding)
