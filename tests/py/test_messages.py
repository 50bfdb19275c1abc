"""What users run into: the message names the argument, and nothing hangs."""

from __future__ import annotations

import isotok
import pytest
from isotok.compat import sentencepiece as spm
from isotok.compile import compile_model
from isotok.errors import TokenizerError

from tests.support import data
from tests.support.toy import toy_model


@pytest.mark.parametrize("flag", ["bos", "eos"])
def test_no_bos_or_eos(backend: str, flag: str) -> None:
    """It is the option that is wrong, not the text."""
    tok = isotok.load(data.VECTOR_MODELS / "trained_unigram.model", backend=backend)
    none = isotok.load(compile_model(_without_ends()), backend=backend)
    assert tok.encode("a", **{flag: True}) != tok.encode("a")
    for call in (none.encode, none.count, lambda text, **ends: none.encode_batch([text], **ends)):
        with pytest.raises(TokenizerError, match=r"^options: .*no BOS, or no EOS; leave"):
            call("a", **{flag: True})


def _without_ends() -> bytes:
    """The toy model, its BOS and EOS under other names."""
    return toy_model().replace(b"<s>", b"<q>").replace(b"</s>", b"</q>")


def test_sampling_that_the_model_has_not(backend: str) -> None:
    """No index in the middle of the sentence."""
    tok = isotok.load(data.VECTOR_MODELS / "trained_bpe.model", backend=backend)
    with pytest.raises(TokenizerError, match=r"^options: .*dropout: bpe; others: unigram\)$"):
        tok.nbest("a", 2)


@pytest.mark.parametrize("threads", [10**7, 2**31, 2**70])
def test_more_threads_than_texts(backend: str, threads: int) -> None:
    """Only as many as there is work for."""
    tok = isotok.load(toy_model(), backend=backend)
    texts = ["hello", "hello world"]
    assert tok.encode_batch(texts, threads=threads, output="list") == [[3], [3, 4]]
    assert tok.count_batch(texts, threads=threads) == [1, 2]
    assert tok.decode_batch([[3], [3, 4]], threads=threads) == texts


def test_threads_below_zero() -> None:
    """None, 0 and 1 are one thread."""
    tok = isotok.load(toy_model())
    with pytest.raises(TokenizerError, match="threads: -1 is negative; use 0 or more"):
        tok.encode_batch(["a", "b"], threads=-1)


def test_alpha_that_is_no_double() -> None:
    """An int that overflows is out of range as infinity is."""
    tok = isotok.load(toy_model())
    with pytest.raises(TokenizerError, match="alpha: inf is out of range"):
        tok.sample("hello", alpha=2**2000)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (b"", "it has no bytes; get the file again"),
        (b'{"version": "1.0"}', 'tokenizer.json: the member "model" is missing'),
        (b"\x1f\x8b\x08\0", "gzip"),
    ],
)
def test_other_files(source: bytes, reason: str) -> None:
    """They are not damaged models."""
    with pytest.raises(TokenizerError, match=reason):
        isotok.load(source)


def test_memory_to_begin_with() -> None:
    """The number that would have been enough to start."""
    pytest.importorskip("wasmtime")
    with pytest.raises(isotok.LimitError, match="262144 bytes of memory are needed") as caught:
        isotok.load(toy_model(), limits={"memory": 65536})
    assert caught.value.need == 262144


@pytest.mark.parametrize("kind", ["serialized_proto", "immutable_proto"])
def test_decoding_nothing_to_protos(kind: str) -> None:
    """sentencepiece 0.2.1 gives an empty str."""
    sp = spm.SentencePieceProcessor(model_proto=toy_model())
    assert sp.decode([], out_type="immutable_proto") == ""
    assert getattr(sp, f"decode_ids_as_{kind}")([]) == ""
