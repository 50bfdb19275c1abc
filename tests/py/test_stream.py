"""Texts and ids that come in chunks: the same as at once, wherever they are cut."""

from __future__ import annotations

import copy
import gc
import pickle
import random
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path

import isotok
import pytest
from conftest import Opener, need
from isotok import ClosedError, TokenIdError, TokenizerError
from support import chunks, data
from support.toy import HELLO, WORLD, byte_model

OWN = sorted(data.VECTOR_MODELS.glob("*.model"))
CHUNKINGS = -(-10_000 // (2 * len(OWN)))
"""Of each model on each back end, so that there are 10,000 in all."""
TEXT = "hello wörld 😀 日本 \ufffd\ufeff ﬁ 👩‍💻\0"


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend=backend)


# ---- Every chunking ---------------------------------------------------------------------


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_random_chunkings_of_texts(path: Path, backend: str, opened: Opener) -> None:
    tok = opened(path, backend)
    pieces = chunks.pieces_of(tok)
    for number in range(CHUNKINGS):
        chunks.check_encode(tok, pieces, f"{path.stem} {backend} text {number}")


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_random_chunkings_of_ids(path: Path, backend: str, opened: Opener) -> None:
    tok = opened(path, backend)
    for number in range(40):
        chunks.check_decode(tok, f"{path.stem} {backend} ids {number}")


@pytest.mark.parametrize("path", data.real_models(), ids=lambda path: path.stem)
def test_real_models(path: Path, backend: str, opened: Opener) -> None:
    tok = opened(path, backend)
    for corpus in sorted(need(data.corpora_dir()).glob("*.txt")):
        seed = f"{path.stem} {corpus.stem}"
        generator = random.Random(seed)
        with corpus.open("rb") as file:
            file.seek(corpus.stat().st_size // 3)
            text = file.read(60_000)
        ids = tok.encode(text)
        for longest in (200, 30_000):
            parts = chunks.cut(text, generator, longest)
            assert chunks.encode(tok, parts, False, False) == ids, seed
        found = "".join(tok.decode_stream(chunks.cut(ids, generator, 50)))
        assert found == tok.decode(ids), seed


def test_single_bytes_and_long_keys(backend: str, opened: Opener) -> None:
    """What is held back is longer than many chunks."""
    tok = opened(data.VECTOR_MODELS / "uni_nested_user.model", backend)
    pieces = chunks.pieces_of(tok)
    text = b" ".join(pieces * 3)
    single = [text[at : at + 1] for at in range(len(text))]
    assert chunks.encode(tok, single, False, False) == tok.encode(text)


def test_a_text_without_a_cut(backend: str, opened: Opener) -> None:
    """The session grows with it; afterwards the next text is as any other."""
    tok = opened(data.VECTOR_MODELS / "bpe_runs.model", backend)
    text = "a" * 300_000
    assert len(tok.safe_boundaries(tok.normalize(text))) == 1
    with tok.encoder() as encoder:
        assert [encoder.push(text[:100_000]) for _ in range(3)] == [[], [], []]
        assert encoder.flush() == tok.encode(text)
        assert encoder.push("aab aa") + encoder.flush() == tok.encode("aab aa")


def test_one_large_chunk(tok: isotok.Tokenizer) -> None:
    text = "hello wörld " * 100_000
    with tok.encoder() as encoder:
        first, rest = encoder.push(text), encoder.flush()
        assert first + rest == tok.encode(text)
        assert len(rest) < 10


# ---- Encoder ----------------------------------------------------------------------------


def test_ids_come_when_they_are_final(tok: isotok.Tokenizer) -> None:
    encoder = tok.encoder(bos=True, eos=True)
    found = [*map(encoder.push, ("hello ", "wor", "ld hello", " hello", " hello"))]
    assert found == [[1], [], [HELLO], [WORLD], [HELLO]]
    assert encoder.flush() == [HELLO, HELLO, 2]


def test_surrogates_meet(tok: isotok.Tokenizer) -> None:
    expected = tok.encode("a😀b")
    for parts in (["a\ud83d", "\ude00b"], ["a", "\ud83d", "", "\ude00", "b"]):
        assert chunks.encode(tok, parts, False, False) == expected
    lone = tok.encode("a\ufffdb")
    for parts in (["a\ud83d", "b"], ["a", "\ud83d", b"", b"b"], ["a", "\udc80b"]):
        assert chunks.encode(tok, parts, False, False) == lone
    assert chunks.encode(tok, ["a\ud83d"], False, False) == tok.encode("a\ufffd")
    assert chunks.encode(tok, ["\ud83d\ud83d", "\ude00"], False, False) == tok.encode("\ufffd😀")


def test_str_and_bytes_mix(tok: isotok.Tokenizer) -> None:
    assert chunks.encode(
        tok, ["h", b"ell", "o wörl", b"d \xf0", b"\x9f\x98\x80"], False, False
    ) == (tok.encode("hello wörld 😀"))


def test_flush_begins_another_text(tok: isotok.Tokenizer) -> None:
    encoder, decoder = tok.encoder(bos=True), tok.decoder()
    for _ in range(3):
        assert encoder.push("hello wor") + encoder.push("ld") + encoder.flush() == [1, HELLO, WORLD]
        assert decoder.push([HELLO]) + decoder.push(WORLD) + decoder.flush() == "hello world"
    assert encoder.flush() == [1]
    assert decoder.flush() == ""


def test_wrong_chunks(tok: isotok.Tokenizer) -> None:
    with pytest.raises(TypeError, match="must be an iterable of texts"):
        tok.encode_stream("hello")
    with pytest.raises(TypeError, match="a chunk must be str or bytes"):
        list(tok.encode_stream(["a", 5]))  # type: ignore[list-item]
    with tok.encoder() as encoder:
        begun = encoder.push("hel")
        with pytest.raises(TypeError, match="must be str or bytes"):
            encoder.push(None)  # type: ignore[arg-type]
        assert begun + encoder.push("lo") + encoder.flush() == [HELLO]  # it goes on
    no_bos = isotok.load(data.VECTOR_MODELS / "char_plain.model", backend=tok.backend)
    with no_bos.encoder() as encoder:
        assert encoder.push("a") + encoder.flush() == no_bos.encode("a")


def test_the_source_fails(tok: isotok.Tokenizer) -> None:
    """Its exception comes through, and the session is given back."""

    def source() -> Iterator[str]:
        yield "hello world hello "
        raise OSError("the file is gone")

    found: list[list[int]] = []
    with pytest.raises(OSError, match="gone"):
        found.extend(tok.encode_stream(source()))
    assert tok.encode("hello") == [HELLO]


# ---- Decoder ----------------------------------------------------------------------------


def test_a_character_comes_when_it_is_whole(tok: isotok.Tokenizer) -> None:
    decoder = tok.decoder()
    ids = tok.encode("😀é")
    assert [*map(decoder.push, ids), decoder.flush()] == ["", "", "", "", "😀", "", "é", ""]


def test_a_genuine_replacement_character_comes_at_once(tok: isotok.Tokenizer) -> None:
    euro, letter = tok.piece_to_id("<0xE2>"), tok.piece_to_id("<0x41>")
    assert euro is not None and letter is not None
    decoder = tok.decoder()
    assert decoder.push(tok.encode("\ufffd")[1:]) == "\ufffd"
    assert decoder.push(euro) == ""
    assert decoder.push(letter) == "\ufffdA"
    assert decoder.push(euro) == ""
    assert decoder.flush() == "\ufffd"


def test_ids_of_any_kind(tok: isotok.Tokenizer) -> None:
    np = pytest.importorskip("numpy")
    ids = tok.encode(TEXT)
    parts = [ids[0], ids[1:5], tuple(ids[5:9]), np.array(ids[9:12]), np.uint32(ids[12]), ids[13:]]
    assert "".join(tok.decode_stream(parts)) == tok.decode(ids)
    assert "".join(tok.decode_stream(np.array(ids, np.uint32))) == tok.decode(ids)
    with pytest.raises(TypeError, match="sequence of int"):
        list(tok.decode_stream(["a"]))  # type: ignore[list-item]


@pytest.mark.parametrize("wrong", [-1, 10**6, 2**32 - 1, 2**40])
def test_an_id_out_of_range_has_its_position(tok: isotok.Tokenizer, wrong: int) -> None:
    decoder = tok.decoder()
    decoder.push([HELLO] * 1000)
    decoder.push(HELLO)
    with pytest.raises(TokenIdError, match=r"ids\[1003\]") as caught:
        decoder.push([HELLO, HELLO, wrong, HELLO])
    assert caught.value.index == 1003
    # The text is over; the next id begins another one.
    assert decoder.push(HELLO) == "hello"
    with pytest.raises(TokenIdError, match=r"ids\[1\]"):
        decoder.push(wrong)
    with pytest.raises(TokenIdError, match=r"ids\[2\]"):
        list(tok.decode_stream([HELLO, HELLO, wrong]))


# ---- Life -------------------------------------------------------------------------------


def test_closed(tok: isotok.Tokenizer) -> None:
    encoder, decoder = tok.encoder(), tok.decoder()
    for stream in (encoder, decoder):
        stream.close()
        stream.close()
        with pytest.raises(ClosedError, match="is closed; ask the tokenizer for another"):
            stream.flush()
    with pytest.raises(ClosedError, match="the encoder is closed"):
        encoder.push("a")
    with pytest.raises(ClosedError, match="the decoder is closed"):
        decoder.push(3)


def test_closed_tokenizer(tok: isotok.Tokenizer) -> None:
    encoder, decoder = tok.encoder(), tok.decoder()
    encoder.push("hello")
    waiting = tok.encode_stream(["a"])
    tok.close()
    for call in (encoder.flush, decoder.flush, tok.encoder, tok.decoder, lambda: next(waiting)):
        with pytest.raises(ClosedError, match="the tokenizer is closed"):
            call()
    encoder.close()


def test_not_pickled(tok: isotok.Tokenizer) -> None:
    for stream in (tok.encoder(), tok.decoder()):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot pickle or copy the (en|de)coder"):
                attempt(stream)


def test_used_by_two_threads(tok: isotok.Tokenizer) -> None:
    """The second one is told, the first one goes on."""
    encoder = tok.encoder()
    text = "hello " * 1_000_000
    ids: list[int] = []
    started = threading.Event()

    def work() -> None:
        started.set()
        ids.extend(encoder.push(text))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    refused = 0
    while thread.is_alive() and not refused:
        try:
            encoder.push("")
        except TokenizerError as error:
            assert "used by another thread" in str(error)
            refused += 1
    thread.join()
    assert ids + encoder.flush() == [HELLO] * 1_000_000
    assert refused


def test_other_calls_and_streams_in_between(tok: isotok.Tokenizer) -> None:
    ids = tok.encode(TEXT)
    encoders, decoders = [tok.encoder() for _ in range(3)], [tok.decoder() for _ in range(3)]
    found: list[list[int]] = [[], [], []]
    said = ["", "", ""]
    for character, each in zip(TEXT.ljust(len(ids)), ids, strict=True):
        for i in range(3):
            if character:
                found[i] += encoders[i].push(character)
            said[i] += decoders[i].push(each)
        assert tok.decode(tok.encode("in between")) == "in between"
    expected = tok.encode(TEXT.ljust(len(ids)))
    assert [one + encoder.flush() for one, encoder in zip(found, encoders, strict=True)] == (
        [expected] * 3
    )
    assert {one + decoder.flush() for one, decoder in zip(said, decoders, strict=True)} == {
        tok.decode(ids)
    }


def test_streams_in_threads_of_their_own(tok: isotok.Tokenizer) -> None:
    text = TEXT * 300
    ids = tok.encode(text)
    outcomes: list[bool] = []

    def work(seed: int) -> None:
        parts = chunks.cut(text, random.Random(seed), 50)
        outcomes.append(chunks.encode(tok, parts, False, False) == ids)
        outcomes.append("".join(tok.decode_stream(ids)) == tok.decode(ids))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == [True] * 12


def test_memory_is_given_back_by_close() -> None:
    tok = isotok.load(byte_model(), backend="wasm")
    free = tok._backend._free  # type: ignore[attr-defined]
    encoder = tok.encoder()
    encoder.push("hello")
    assert len(free) == 0
    encoder.close()
    assert len(free) == 1
    assert tok.encode("hello world") == [HELLO, WORLD]
    native = isotok.load(byte_model(), backend="native")
    decoder = native.decoder()
    sessions = native._backend.sessions  # type: ignore[attr-defined]
    assert sessions() == []
    decoder.close()
    assert len(sessions()) == 1


def test_memory_goes_with_the_last_reference() -> None:
    """Without the garbage collector."""
    gc.collect()
    gc.disable()
    try:
        tok = isotok.load(byte_model(), backend="wasm")
        decoder = tok.decoder()
        stream = decoder._stream
        machine = weakref.ref(stream._instance.machine)  # type: ignore[union-attr]
        del decoder, stream
        assert machine() is None
        native = isotok.load(byte_model(), backend="native")
        encoder = native.encoder()
        encoder.push("hello")
        del encoder
        assert len(native._backend.sessions()) == 1  # type: ignore[attr-defined]
    finally:
        gc.enable()


def test_limits_hold_for_streams() -> None:
    """Every push has its own fuel; a text without a cut may not take more memory."""
    limits = {"memory": 8 << 20, "fuel": 100_000_000}
    tok = isotok.load(data.VECTOR_MODELS / "bpe_runs.model", limits=limits)
    with tok.encoder() as encoder:
        for _ in range(40):
            encoder.push("aab b " * 4000)
        with pytest.raises(isotok.LimitError, match=r"limits\.memory"):
            for _ in range(40):
                encoder.push("a" * 100_000)
        assert encoder.push("aab b") + encoder.flush() == tok.encode("aab b")


MEMORY = """
import re, sys
import isotok
from support.toy import byte_model
# a larger cache lies on huge pages, which come one by one as words are kept
tok = isotok.load(byte_model(), backend=sys.argv[1], cache_bytes=1 << 20)
chunk = "hello wörld 日本 <tag> "
def run(size):
    many = (chunk * 50 for _ in range(size // len((chunk * 50).encode())))
    return sum(len(tok.decode_stream.__self__.decode(ids)) for ids in tok.encode_stream(many))
def peak():  # not ru_maxrss: that begins with what the parent process had
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
run(1 << 20)
before = peak()
run(int(sys.argv[2]))
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_the_text(backend: str) -> None:
    """16 MB take no more than 1 MB took, give or take 1 MB; test full has 64 MB."""
    command = [sys.executable, "-c", MEMORY, backend, str(16 << 20)]
    environment = {"PYTHONPATH": f"{data.ROOT / 'py_host'}:{data.ROOT / 'tests'}"}
    out = subprocess.run(
        command, env=environment, cwd=data.ROOT, capture_output=True, text=True, check=True
    )
    assert int(out.stdout) <= 1024  # KiB


def test_the_examples_of_the_docs() -> None:
    text = (data.ROOT / "docs/streaming.md").read_text("utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(examples) == 4
    exec(compile("".join(examples), "docs/streaming.md", "exec"), {})
