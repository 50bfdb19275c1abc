"""The class Tokenizer on both back ends, on models of our own."""

from __future__ import annotations

from array import array

import isotok
import pytest
from isotok import PieceType
from support.arrays import np
from support.toy import HELLO, WORLD, bare_model, byte_model, toy_model

TEXTS = [
    "",
    " ",
    "hello",
    "hello world",
    "wörld hello",
    "日本語 hello",
    "x" * 3000,
    "hello " * 5000,
]


@pytest.fixture
def tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(toy_model(), backend=backend)


@pytest.fixture
def bytes_tok(backend: str) -> isotok.Tokenizer:
    return isotok.load(byte_model(), backend=backend)


def test_encode(tok: isotok.Tokenizer) -> None:
    assert tok.encode("hello world") == [HELLO, WORLD]
    assert tok.encode(b"hello world") == [HELLO, WORLD]
    assert tok.encode("") == []


def test_encode_bos_eos(tok: isotok.Tokenizer) -> None:
    assert tok.encode("hello", bos=True) == [1, HELLO]
    assert tok.encode("hello", eos=True) == [HELLO, 2]
    assert tok.encode("", bos=True, eos=True) == [1, 2]


@pytest.mark.parametrize("text", TEXTS)
def test_all_ways_to_encode_agree(tok: isotok.Tokenizer, text: str) -> None:
    ids = tok.encode(text, bos=True)
    assert tok.encode(text.encode(), bos=True) == ids
    found = tok.encode_to_numpy(text, bos=True)
    assert found.dtype == np.uint32
    assert found.tolist() == ids
    assert tok.encode_with_offsets(text, bos=True).ids == ids
    assert tok.count(text, bos=True) == len(ids)
    buffer = array("I", [7]) * (len(ids) + 1)
    assert tok.encode_into(buffer, text, bos=True) == len(ids)
    assert buffer.tolist() == [*ids, 7]
    assert tok.encode_batch([text], bos=True, output="list") == [ids]
    for limit in (0, 1, 2, len(ids) - 1, len(ids), len(ids) + 1):
        assert tok.fits(text, limit, bos=True) == (len(ids) <= limit)
        assert tok.truncate(text, limit, bos=True) == ids[:limit]


def test_numpy_array_is_the_callers(tok: isotok.Tokenizer) -> None:
    first = tok.encode_to_numpy("hello world")
    first[0] = 9
    assert tok.encode_to_numpy("hello world").tolist() == [HELLO, WORLD]


@pytest.mark.parametrize("threads", [1, 3])
def test_batch(tok: isotok.Tokenizer, threads: int) -> None:
    texts = [*TEXTS, *(text.encode() for text in TEXTS)] * 3
    lists = [tok.encode(text) for text in texts]
    batch = tok.encode_batch(iter(texts), threads=threads)
    assert batch.ids.dtype == np.uint32
    assert batch.offsets.tolist() == np.cumsum([0, *map(len, lists)]).tolist()
    begins, ends = batch.offsets[:-1], batch.offsets[1:]
    assert [batch.ids[a:b].tolist() for a, b in zip(begins, ends, strict=True)] == lists
    assert tok.encode_batch(texts, threads=threads, output="list") == lists


def test_batch_of_nothing(tok: isotok.Tokenizer) -> None:
    assert tok.encode_batch([], output="list") == []
    batch = tok.encode_batch([])
    assert (batch.ids.tolist(), batch.offsets.tolist()) == ([], [0])
    batch = tok.encode_batch(["", ""], threads=2)
    assert (batch.ids.tolist(), batch.offsets.tolist()) == ([], [0, 0, 0])


def test_many_short_texts(tok: isotok.Tokenizer) -> None:
    """More than fit one crossing into wasm."""
    texts = [("hello " * (i % 40)).strip() for i in range(20_000)]
    batch = tok.encode_batch(texts, eos=True)
    assert np.diff(batch.offsets).tolist() == [i % 40 + 1 for i in range(20_000)]


def test_offsets_and_pieces_of_unknowns(tok: isotok.Tokenizer) -> None:
    encoding = tok.encode_with_offsets("hello wöörld 日", bos=True)
    assert encoding.pieces == ["<s>", "▁hello", "▁", "w", "öö", "r", "ld", "▁", "日"]
    assert encoding.offsets[1:] == [
        (0, 5), (5, 6), (6, 7), (7, 9), (9, 10), (10, 12), (12, 13), (13, 14),
    ]  # fmt: skip
    assert encoding.ids[4] == encoding.ids[8] == tok.unk_id


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("codepoint", [(0, 1), (1, 2), (2, 8)]),
        ("byte", [(0, 4), (4, 5), (5, 11)]),
        ("utf16", [(0, 2), (2, 3), (3, 9)]),
    ],
)
def test_offset_units(tok: isotok.Tokenizer, unit: isotok.Unit, expected: object) -> None:
    encoding = tok.encode_with_offsets("😀h hello", unit=unit)
    assert encoding.pieces[1:] == ["😀", "h", "▁hello"]
    assert encoding.offsets[1:] == expected


def test_offsets_of_joined_surrogates_count_in_the_given_text(tok: isotok.Tokenizer) -> None:
    text = "\ud83d\ude00h\udc80 hello"
    encoding = tok.encode_with_offsets(text)
    assert encoding.pieces == ["▁", "😀", "h", "\ufffd", "▁hello"]
    assert encoding.offsets == [(0, 0), (0, 2), (2, 3), (3, 4), (4, 10)]
    assert text[3:4] == "\udc80"
    assert tok.encode_with_offsets(text, unit="utf16").offsets == encoding.offsets
    assert tok.normalize(text, with_offsets=True).offsets == [0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10]


def test_byte_fallback(bytes_tok: isotok.Tokenizer) -> None:
    ids = bytes_tok.encode("é")
    assert [bytes_tok.id_to_piece(i) for i in ids] == ["▁", "<0xC3>", "<0xA9>"]
    assert bytes_tok.encode_with_offsets("é").offsets == [(0, 0), (0, 0), (0, 1)]
    assert bytes_tok.decode(ids) == "é"
    assert bytes_tok.decode(ids[:2]) == "\ufffd"
    assert bytes_tok.decode_bytes(ids[:2]) == b"\xc3"
    assert bytes_tok.decode_bytes(bytes_tok.encode(b"\xff")) == "\ufffd".encode()


def test_normalize(bytes_tok: isotok.Tokenizer) -> None:
    assert bytes_tok.normalize("  Ａﬁ\thello ") == "▁afi▁hello"
    assert bytes_tok.normalize("  Ａ ".encode()) == "▁a".encode()
    found = bytes_tok.normalize("Ａﬁ", with_offsets=True)
    assert found == ("▁afi", [0, 0, 1, 1, 2])
    assert bytes_tok.normalize("Ａﬁ", with_offsets=True, unit="byte").offsets == [0, 0, 3, 3, 6]
    raw = bytes_tok.normalize("Ａﬁ".encode(), with_offsets=True, unit="byte")
    assert raw == ("▁afi".encode(), [0, 0, 0, 0, 3, 3, 6])
    assert bytes_tok.normalize("é", with_offsets=True) == ("▁é", [0, 0, 1])
    assert bytes_tok.normalize("", with_offsets=True) == ("", [0])
    assert bytes_tok.normalize(b"\xffh") == "▁\ufffdh".encode()


def test_deleted_characters(bytes_tok: isotok.Tokenizer) -> None:
    assert bytes_tok.normalize("h\u0007e") == "▁he"
    assert bytes_tok.encode_with_offsets("h\u0007e").offsets == [(0, 0), (0, 2), (2, 3)]


def test_decode(tok: isotok.Tokenizer) -> None:
    ids = [HELLO, WORLD]
    assert tok.decode(ids) == "hello world"
    assert tok.decode(tuple(ids)) == "hello world"
    assert tok.decode(iter_as_range()) == " \u2047  \u2047 "[:0] + tok.decode(list(iter_as_range()))
    for kind in (np.uint32, np.int64, np.int32, np.uint16):
        assert tok.decode(np.array(ids, dtype=kind)) == "hello world"
    assert tok.decode(np.array([HELLO, 9, WORLD, 9], dtype=np.uint32)[::2]) == "hello world"
    assert tok.decode(array("q", ids)) == "hello world"
    assert tok.decode([]) == ""
    assert tok.decode([0]) == " \u2047 "
    assert tok.decode([1, HELLO, 2]) == "hello"
    assert tok.decode_bytes(ids) == b"hello world"


def iter_as_range() -> range:
    return range(3, 5)


def test_decode_long(tok: isotok.Tokenizer) -> None:
    """More than one window of ids, and more text than one window of results."""
    ids = [HELLO, WORLD] * 200_000
    assert tok.decode(ids) == "hello world " * 199_999 + "hello world"
    assert tok.decode_bytes(np.array(ids, dtype=np.uint32)) == tok.decode(ids).encode()


def test_decode_pieces(tok: isotok.Tokenizer, bytes_tok: isotok.Tokenizer) -> None:
    assert tok.decode_pieces(["▁hello", "▁world"]) == "hello world"
    assert tok.decode_pieces(["▁hello", "no piece▁"]) == "hellono piece▁"
    assert tok.decode_pieces(["<s>", "▁hello".encode(), "</s>"]) == "hello"
    assert tok.decode_pieces(iter(["<unk>"])) == " \u2047 "
    assert tok.decode_pieces([]) == ""
    assert bytes_tok.decode_pieces(["<0xC3>", "<0xA9>"]) == "é"
    assert tok.decode_pieces(["▁hello", "y" * 700_000]) == "hello" + "y" * 700_000


def test_vocabulary(tok: isotok.Tokenizer, bytes_tok: isotok.Tokenizer) -> None:
    assert tok.vocab_size == len(tok) == 14
    assert bytes_tok.id_to_piece(HELLO) == "▁hello"
    assert tok.id_to_bytes(HELLO) == "▁hello".encode()
    assert tok.piece_to_id("▁world") == tok.piece_to_id("▁world".encode()) == WORLD
    assert tok.piece_to_id("nothing") == tok.unk_id == 0
    assert "▁world" in tok
    assert "nothing" not in tok
    assert tok.score(HELLO) == -1.0
    assert [tok.piece_type(i) for i in (0, 1, HELLO)] == [
        PieceType.UNKNOWN,
        PieceType.CONTROL,
        PieceType.NORMAL,
    ]
    assert tok.is_unknown(0) and tok.is_control(2) and not tok.is_control(0)
    tag, byte = bytes_tok.piece_to_id("<tag>"), bytes_tok.piece_to_id("<0x00>")
    assert tag is not None and byte is not None
    assert bytes_tok.is_user_defined(tag) and bytes_tok.is_byte(byte)
    assert not bytes_tok.is_unused(tag)
    pieces = [bytes_tok.id_to_piece(i) for i in range(len(bytes_tok))]
    assert [bytes_tok.piece_to_id(piece) for piece in pieces] == list(range(len(bytes_tok)))


def test_special_ids(tok: isotok.Tokenizer, bytes_tok: isotok.Tokenizer, backend: str) -> None:
    assert (tok.unk_id, tok.bos_id, tok.eos_id, tok.pad_id) == (0, 1, 2, None)
    assert bytes_tok.pad_id == bytes_tok.piece_to_id("<pad>")
    bare = isotok.load(bare_model(), backend=backend)
    assert (bare.unk_id, bare.bos_id, bare.eos_id, bare.pad_id) == (None,) * 4
    assert bare.piece_to_id("nothing") is None


def test_info(tok: isotok.Tokenizer, backend: str) -> None:
    assert tok.info.algorithm == "unigram"
    assert tok.info.parity == "sentencepiece"
    assert tok.info.max_piece_bytes == len("▁hello".encode())
    assert tok.info.session_size > 0
    assert tok.backend == backend
    assert repr(tok) == f"<isotok.Tokenizer: unigram, 14 pieces, {backend}>"


def test_truth_does_not_depend_on_size(tok: isotok.Tokenizer) -> None:
    assert tok
    assert bool(isotok.Tokenizer())


def test_lone_surrogates(bytes_tok: isotok.Tokenizer) -> None:
    assert bytes_tok.encode("\ud83d\ude00") == bytes_tok.encode("😀")
    assert bytes_tok.encode("h\udc80") == bytes_tok.encode("h\ufffd")
    assert bytes_tok.decode_pieces(["\udc80"]) == "\ufffd"


class Text(str):
    """A subclass, as libraries make them."""


def test_subclasses_of_str(tok: isotok.Tokenizer) -> None:
    assert tok.encode(Text("hello world")) == [HELLO, WORLD]
    assert tok.count(Text("hello ö\udc80")) == tok.count("hello ö\ufffd")


@pytest.mark.parametrize("size", [1_000, 70_000, 300_000])
@pytest.mark.parametrize("unit", ["hello ", "hello wörld 日本 ", "x", "<tag>", "é", " ", "\udc80h"])
def test_long_texts(backend: str, size: int, unit: str) -> None:
    """Texts beyond every buffer that is there at first: same ids as in pieces of a line."""
    tok = isotok.load(byte_model(), backend=backend)
    text = unit * (size // len(unit))
    ids = tok.encode(text)
    encoding = tok.encode_with_offsets(text)
    assert encoding.ids == ids == tok.encode_to_numpy(text).tolist()
    assert tok.count(text) == len(ids)
    assert tok.encode_batch([text, unit, text], output="list") == [ids, tok.encode(unit), ids]
    ends = [end for _, end in encoding.offsets]
    assert ends == sorted(ends)
    if unit != " ":
        assert ends[-1] == len(text.rstrip())
    assert tok.normalize(text, with_offsets=True).text == tok.normalize(text)
    cut = len(ids) // 2
    assert tok.truncate(text, cut) == ids[:cut]
    assert tok.fits(text, len(ids)) and (not ids or not tok.fits(text, len(ids) - 1))
    buffer = array("I", [0]) * len(ids)
    assert tok.encode_into(buffer, text) == len(ids)
    assert buffer.tolist() == ids
    assert tok.decode(ids) == tok.normalize(text).replace("▁", " ")[1:]
