"""Names that sentencepiece had up to 0.2.1, and samples, of the drop-in.

What is drawn is held against exact distributions, computed here from all segmentations.
`./build.sh test full --only compat_old_names` compares with the wheel of 0.2.1 itself.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import isotok.compat.sentencepiece as ours
import pytest
from isotok.compat.sentencepiece._encoding import Aligner
from support import compat, data
from support.models import CONTROL, NORMAL, SPECIALS, UNUSED, USER_DEFINED, Piece, model
from support.toy import bare_model, byte_model, toy_model

LETTERS: list[Piece] = [("a", -2.0, NORMAL), ("b", -2.5, NORMAL), ("c", -3.0, NORMAL)]
PAIRS: list[Piece] = [("ab", -3.5, NORMAL), ("bc", -4.0, NORMAL), ("abc", -5.0, NORMAL)]
PLAIN = {"add_dummy_prefix": False}
SMALL = model([*SPECIALS, *LETTERS, *PAIRS], None, PLAIN)
ALPHAS = (0.0, 0.2, 1.0, 3.0)
Path_ = tuple[str, ...]


def paths(text: str, scores: dict[str, float]) -> Iterator[tuple[Path_, float]]:
    """All segmentations of a text with their scores."""
    if not text:
        yield (), 0.0
    for size in range(1, len(text) + 1):
        if text[:size] in scores:
            for rest, score in paths(text[size:], scores):
                yield (text[:size], *rest), scores[text[:size]] + score


def probabilities(text: str, alpha: float) -> dict[Path_, float]:
    scores = {str(piece): score for piece, score, _ in [*LETTERS, *PAIRS]}
    weights = {path: math.exp(alpha * score) for path, score in paths(text, scores)}
    total = sum(weights.values())
    return {path: weight / total for path, weight in weights.items()}


def small() -> ours.SentencePieceProcessor:
    ours.set_random_generator_seed(5)
    return ours.SentencePieceProcessor(model_proto=SMALL, out_type=str)


def close(counts: Counter[Path_], expected: dict[Path_, float]) -> None:
    """Chi-squared with room: five standard deviations of its own distribution."""
    draws = sum(counts.values())
    assert set(counts) <= set(expected)
    statistic = sum((counts[p] - draws * q) ** 2 / (draws * q) for p, q in expected.items())
    free = len(expected) - 1
    assert statistic < free + 5 * math.sqrt(2 * free), (statistic, free)


# ---- Samples ------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
def test_samples_have_their_distribution(alpha: float) -> None:
    """Of `encode(enable_sampling=True)`: from the lattice, and of the n best."""
    sp, expected = small(), probabilities("abcab", alpha)
    drawn = Counter(
        tuple(sp.encode("abcab", enable_sampling=True, alpha=alpha)) for _ in range(4000)
    )
    close(drawn, expected)
    best = {tuple(path) for path in sp.nbest_encode("abcab", nbest_size=3)}
    total = sum(expected[path] for path in best)
    drawn = Counter(
        tuple(sp.encode("abcab", enable_sampling=True, alpha=alpha, nbest_size=3))
        for _ in range(4000)
    )
    close(drawn, {path: expected[path] / total for path in best})


def test_dropout_has_its_distribution() -> None:
    """One merge, left out with probability alpha; of the two equal ones the same."""
    bpe = model([*SPECIALS, *LETTERS, ("ab", -1.0, NORMAL)], {"model_type": 2}, PLAIN)
    ours.set_random_generator_seed(6)
    sp = ours.SentencePieceProcessor(model_proto=bpe, out_type=str, enable_sampling=True, alpha=0.3)
    drawn = Counter(tuple(sp.encode("ab")) for _ in range(4000))
    close(drawn, {("ab",): 0.7, ("a", "b"): 0.3})
    assert sp.encode("abab", alpha=1.5) == ["a", "b", "a", "b"]
    assert sp.encode("abab", alpha=0.0) == ["ab", "ab"]


def test_one_seed_the_same_samples() -> None:
    sp = small()

    def draw() -> list[Any]:
        ours.SetRandomGeneratorSeed(11)
        return [
            [sp.encode("abcabc", enable_sampling=True, alpha=0.1) for _ in range(10)],
            [sp.sample_encode_as_ids("abcabc", 4, 0.1) for _ in range(10)],
            sp.SampleEncodeAndScore("abcabc", num_samples=5, alpha=0.1),
            sp.SampleEncodeAndScore("abcabc", num_samples=5, alpha=0.1, wor=True),
        ]

    first = draw()
    assert draw() == first
    assert len({str(each) for each in first[0]}) > 1


@pytest.mark.parametrize("kind", [int, str, "serialized_proto", "offset_mapping"])
@pytest.mark.parametrize("size", [-1, 5])
def test_forms_of_a_sample_agree(kind: Any, size: int) -> None:
    """One seed: tokens with places are the ids and pieces that are drawn without."""
    sp = ours.SentencePieceProcessor(model_proto=byte_model())
    text = "hello é wörld <tag> Ａ"

    def draw(wanted: Any) -> Any:
        ours.set_random_generator_seed(3)
        return sp.encode(text, out_type=wanted, enable_sampling=True, nbest_size=size, alpha=0.1)

    mapping = draw("offset_mapping")
    found = draw(kind)
    if kind is int:
        assert found == mapping["ids"]
    elif kind is str:
        assert found == mapping["pieces"]
    assert sp.decode(mapping["ids"]) == sp.decode(sp.encode(text))
    covered = [text[begin:end] for begin, end in mapping["offsets"]]
    assert "".join(covered) == text.rstrip()


@pytest.mark.usefixtures("sentencepiece")
def test_runs_of_unknown_characters_are_found_again() -> None:
    """Of samples only ids are drawn: where each run of unknown characters is, is worked out."""
    pieces: list[Piece] = [
        *LETTERS,
        ("xa", -1.0, NORMAL),
        ("ax", -1.5, NORMAL),
        ("xx", -2.0, NORMAL),
    ]
    pair = compat.processors(model([*SPECIALS, *pieces], None, PLAIN))
    choose = random.Random(4)
    for _ in range(60):
        text = "".join(choose.choices("axxy", k=choose.randrange(1, 9)))
        pair.check(
            text,
            lambda sp, t=text: sorted(
                (each.score, each.SerializeToString())
                for each in sp.nbest_encode(t, nbest_size=200, out_type="proto").nbests
            ),
        )
    pair.judge()


def divisions(model: Any, ids: Sequence[int], text: bytes) -> Iterator[list[tuple[int, int]]]:
    """Every way to divide a text between tokens, tried out."""

    def from_(position: int, begin: int) -> Iterator[list[tuple[int, int]]]:
        if position == len(ids):
            if begin == len(text):
                yield []
            return
        for end in range(begin + 1, len(text) + 1):
            part = text[begin:end]
            fits = part == model.piece(ids[position])
            if ids[position] == model.unk_id:
                fits = set(part) <= set(b"xy")
            if fits:
                for rest in from_(position + 1, end):
                    yield [(begin, end), *rest]

    yield from from_(0, 0)


def test_all_places_of_runs_are_found() -> None:
    """x and y are unknown but in pairs, so there are many ways, and many that lead nowhere."""
    pieces: list[Piece] = [(pair, -1.0, NORMAL) for pair in ("xx", "xy", "ax", "ya", "xxx", "axy")]
    sp = ours.SentencePieceProcessor(model_proto=model([*SPECIALS, *LETTERS, *pieces], None, PLAIN))
    opened = sp._model
    assert opened is not None
    choose = random.Random(8)
    several = 0
    for number in range(400):
        text = "".join(choose.choices("axxxxyyb", k=choose.randrange(1, 14))).encode()
        ids = choose.choices([0, 0, *range(3, len(sp))], k=choose.randrange(1, 7))
        if number % 2:  # ids that fit: what stands in the text, or unknown
            cuts = sorted(choose.choices(range(len(text) + 1), k=6))
            ids = [sp.piece_to_id(text[a:b]) for a, b in pairwise([0, *cuts, len(text)]) if a < b]
        expected = list(divisions(opened, ids, text))
        assert sorted(Aligner(opened, text)._divisions(tuple(ids))) == sorted(expected), (text, ids)
        several += len(expected) > 1
    assert several > 10


# ---- Scores and entropy -------------------------------------------------------------


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("text", ["a", "ab", "abcab", "abcabcab"])
def test_entropy(text: str, alpha: float) -> None:
    expected = -sum(p * math.log(p) for p in probabilities(text, alpha).values())
    assert math.isclose(small().calculate_entropy(text, alpha), expected, abs_tol=1e-9)


def test_entropy_of_lists_and_of_nothing() -> None:
    sp = small()
    assert sp.CalculateEntropy([], 1.0) == []
    assert sp.calculate_entropy(["", "ab"], 1.0) == [0.0, sp.calculate_entropy("ab", 1.0)]
    assert sp.calculate_entropy(b"ab", 1.0, num_threads=2) == sp.calculate_entropy("ab", 1.0)
    with pytest.raises(TypeError, match="num_threads"):
        sp.calculate_entropy("ab", 1.0, num_threads="x")
    bpe = ours.SentencePieceProcessor(model_file=str(data.VECTOR_MODELS / "bpe_plain.model"))
    with pytest.raises(RuntimeError, match="not available for the current model"):
        bpe.calculate_entropy("ab", 1.0)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_scored_samples(alpha: float) -> None:
    sp, expected = small(), probabilities("abcab", alpha)
    found = sp.sample_encode_and_score("abcab", num_samples=4000, alpha=alpha)
    for pieces, score in found:
        assert math.isclose(score, math.log(expected[tuple(pieces)]), abs_tol=1e-5)
    close(Counter(tuple(pieces) for pieces, _ in found), expected)


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("size", [1, 3])
def test_samples_without_replacement(alpha: float, size: int) -> None:
    """They come as if drawn one after the other, and 1 / (inclusion) makes sums unbiased."""
    sp, expected = small(), probabilities("abcab", alpha)
    runs = 3000
    orders: Counter[Path_] = Counter()
    sums: Counter[Path_] = Counter()
    for _ in range(runs):
        found = sp.SampleEncodeAndScore("abcab", num_samples=size, alpha=alpha, wor=True)
        drawn = [tuple(pieces) for pieces, _ in found]
        assert len(set(drawn)) == size
        orders[drawn[0]] += 1
        for path, (_, score) in zip(drawn, found, strict=True):
            sums[path] += expected[path] / math.exp(score)
    close(orders, expected)
    assert math.isclose(sum(sums.values()) / runs, 1.0, abs_tol=0.1)


def test_the_best_and_samples_without_replacement() -> None:
    sp, expected = small(), probabilities("abcab", 0.5)
    for _ in range(100):
        found = sp.SampleEncodeAndScore(
            "abcab", num_samples=3, alpha=0.5, wor=True, include_best=True
        )
        assert found[0] == (sp.encode("abcab"), 0.0)
        assert len({tuple(pieces) for pieces, _ in found}) == 3
    # As many as there are, or more: all are certain.
    for include_best in (False, True):
        found = sp.SampleEncodeAndScore(
            "abcab", num_samples=50, alpha=0.5, wor=True, include_best=include_best
        )
        assert {tuple(pieces) for pieces, _ in found} == set(expected)
        assert {score for _, score in found} == {0.0}
        if include_best:
            assert found[0][0] == sp.encode("abcab")


def test_arguments_of_scored_samples() -> None:
    sp = small()
    for arguments, message in (
        ({"num_samples": 0}, "must be positive"),
        ({"include_best": True}, "wor = True"),
    ):
        with pytest.raises(RuntimeError, match=message):
            sp.SampleEncodeAndScore("a", **arguments)
    with pytest.raises(RuntimeError, match="UNIMPLEMENTED"):
        sp.SampleEncodeAndScoreAsSerializedProto("a", add_bos=True)
    assert sp.SampleEncodeAndScore("", num_samples=2) == []
    ids, _ = sp.SampleEncodeAndScoreAsIds("abc", 1, 5.0, add_bos=True, reverse=True)[0]
    assert ids[0] == sp.bos_id()
    assert len(sp.sample_encode_and_score(["a", "ab"], num_samples=2)) == 2
    immutable = sp.SampleEncodeAndScoreAsImmutableProto("abc", 2, 1.0)
    assert [each.text for each in immutable.nbests] == ["abc", "abc"]
    assert immutable.nbests[0].score < 0


def test_unknown_characters_and_bytes_in_scored_samples() -> None:
    sp = ours.SentencePieceProcessor(model_proto=byte_model(), out_type=str)
    (pieces, _), *_ = sp.SampleEncodeAndScore("é<tag>", num_samples=1, alpha=5.0)
    assert pieces == sp.encode("é<tag>")
    sp = ours.SentencePieceProcessor(model_proto=toy_model(), out_type="immutable_proto")
    (found,) = sp.SampleEncodeAndScore("hé藤é", num_samples=1, alpha=5.0).nbests
    assert str(found.pieces) == str(sp.encode("hé藤é").pieces)


# ---- Vocabulary ---------------------------------------------------------------------


def changed(source: bytes, kinds: Callable[[bytes, int], int]) -> bytes:
    """A model with other types, by the official messages."""
    from sentencepiece import sentencepiece_model_pb2

    proto = sentencepiece_model_pb2.ModelProto.FromString(source)
    for piece in proto.pieces:
        piece.type = kinds(piece.piece.encode(), piece.type)
    return proto.SerializeToString()


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", ["trained_unigram", "trained_bpe"])
def test_vocabulary(name: str) -> None:
    """As a model whose other pieces are UNUSED, in sentencepiece itself."""
    theirs, _ = compat.modules()
    source = (data.VECTOR_MODELS / f"{name}.model").read_bytes()
    sp = ours.SentencePieceProcessor(model_proto=source, out_type=str)
    choose = random.Random(name)
    names = [sp.id_to_piece(index) for index in range(len(sp))]
    texts = ["".join(choose.choices(names, k=6)).replace("▁", " ") for _ in range(60)]
    for share in (0.0, 0.3, 0.9):
        wanted = [piece for piece in names if choose.random() < share]

        def kind(piece: bytes, old: int, wanted: list[str] = wanted) -> int:
            if old not in (NORMAL, UNUSED):
                return old
            return NORMAL if piece.decode() in wanted or len(piece.decode()) == 1 else UNUSED

        assert sp.SetVocabulary(wanted) is True
        expected = theirs.SentencePieceProcessor(model_proto=changed(source, kind), out_type=str)
        assert sp.encode(texts) == expected.encode(texts)
        every = list(range(len(sp)))
        for method in ("IsUnused", "IdToPiece", "GetScore", "IsByte", "IsControl"):
            assert getattr(sp, method)(every) == getattr(expected, method)(every), method
        assert sp.decode(sp.encode(texts)) == expected.decode(expected.encode(texts))
        again = ours.SentencePieceProcessor(model_proto=sp.serialized_model_proto(), out_type=str)
        assert again.IsUnused(every) == expected.IsUnused(every)
    assert sp.reset_vocabulary() is True
    assert sp.encode(texts) == theirs.SentencePieceProcessor(model_proto=source).encode(
        texts, out_type=str
    )


def test_vocabulary_keeps_the_score_of_unknown_characters() -> None:
    """It comes of the lowest score in the file, also if that piece is not wanted any more."""
    pieces: list[Piece] = [("ab", -25.0, NORMAL), ("éa", -60.0, NORMAL), ("low", -90.0, NORMAL)]
    source = model([*SPECIALS, ("a", 20.0, NORMAL), ("b", -1.0, NORMAL), *pieces], None, PLAIN)
    sp = ours.SentencePieceProcessor(model_proto=source, out_type=str)
    assert sp.encode("éab") == ["éa", "b"]  # -61; é is unknown: -90 - 10 + 20 - 1
    sp.set_vocabulary(["éa"])  # without "low" é would have -60 - 10
    assert sp.encode("éab") == ["éa", "b"]
    assert sp.is_unused(7) and sp.id_to_piece(7) == "low" and len(sp) == 8
    assert sp.piece_to_id("low") == 7
    sp.override_normalizer_spec(add_dummy_prefix=True)
    assert sp.encode("éab") == [" ", "éa", "b"] or sp.encode("éab") == ["▁", "éa", "b"]
    sp.reset_vocabulary()
    assert not sp.is_unused(7)


def test_vocabulary_of_other_models() -> None:
    word = ours.SentencePieceProcessor(model_file=str(data.VECTOR_MODELS / "word_plain.model"))
    for call in (lambda: word.SetVocabulary([]), word.ResetVocabulary):
        with pytest.raises(RuntimeError, match="unigram and bpe"):
            call()
    sp = small()
    for wrong in ("ab", None, [1], ["a", None]):
        with pytest.raises(TypeError):
            sp.set_vocabulary(wrong)  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="not initialized"):
        ours.SentencePieceProcessor().set_vocabulary([])


def test_reset_makes_unused_pieces_usable() -> None:
    source = model([*SPECIALS, *LETTERS, ("ab", -1.0, UNUSED)], None, PLAIN)
    sp = ours.SentencePieceProcessor(model_proto=source, out_type=str)
    assert sp.encode("ab") == ["a", "b"]
    sp.ResetVocabulary()
    assert sp.encode("ab") == ["ab"]
    assert not sp.is_unused(sp.piece_to_id("ab"))


def test_vocabulary_file(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.tsv"
    path.write_text("ab\t10\nbc\t3\nabc\n")
    sp = small()
    for threshold, expected in ((5, ["ab", "c"]), (3, ["a", "bc"]), (11, ["a", "b", "c"])):
        assert sp.LoadVocabulary(str(path), threshold) is True
        assert sp.encode("abc") == expected
    assert sp.load_vocabulary(path, 1) and sp.encode("abc") == ["abc"]
    with pytest.raises(OSError, match="no such file"):
        sp.LoadVocabulary("no such file", 1)
    path.write_text("ab\tmany\n")
    with pytest.raises(RuntimeError, match='"many"'):
        sp.LoadVocabulary(str(path), 1)


# ---- Options ------------------------------------------------------------------------


def test_extra_options_in_their_order() -> None:
    sp = ours.SentencePieceProcessor(model_proto=toy_model())
    plain = sp.encode("hello world")
    for options, expected in (
        ("bos", [1, *plain]),
        ("eos:reverse", [2, *plain[::-1]]),
        ("reverse:eos", [*plain[::-1], 2]),
        ("bos:eos", [1, *plain, 2]),
        ("", plain),
    ):
        assert sp.SetEncodeExtraOptions(options) is True
        assert sp.encode("hello world") == expected
        assert sp.encode(["hello world"], out_type="numpy")[0].tolist() == expected
    sp.set_encode_extra_options("unk")
    assert sp.encode("é", out_type=str) == ["▁", "<unk>"]
    with pytest.raises(RuntimeError, match='option "nonsense" is not available'):
        sp.set_encode_extra_options("bos:nonsense:eos")
    assert sp.encode("hello world") == [1, *plain]  # what came before it
    sp.set_encode_extra_options("")
    sp.set_decode_extra_options("reverse")
    assert sp.decode([3, 4]) == "world hello"
    bare = ours.SentencePieceProcessor(model_proto=bare_model())
    with pytest.raises(RuntimeError, match="not defined"):
        bare.SetDecodeExtraOptions("eos")


def test_override_normalizer_spec() -> None:
    sp = ours.SentencePieceProcessor(model_proto=toy_model(), out_type=str)
    assert sp.OverrideNormalizerSpec(add_dummy_prefix=False, remove_extra_whitespaces="false")
    assert sp.encode("hello  world") == ["h", "e", "l", "l", "o", "▁", "▁world"]
    assert sp.normalize(" a ") == "▁a▁"
    assert sp.override_normalizer_spec(add_dummy_prefix="1", name="x")
    assert sp.encode(" hello")[:2] == ["▁", "▁hello"]
    for wrong, kind in (({"nonsense": 1}, OSError), ({"add_dummy_prefix": "x"}, ValueError)):
        with pytest.raises(kind):
            sp.OverrideNormalizerSpec(**wrong)


def test_init() -> None:
    sp = ours.SentencePieceProcessor()
    sp.Init(model_proto=toy_model(), out_type=str)
    assert sp.encode("hello") == ["▁hello"]
    sp.init(model_proto=toy_model(), add_bos=True)
    assert sp.encode("hello") == [1, 3]


# ---- Immutable messages -------------------------------------------------------------


def test_immutable_messages() -> None:
    sp = ours.SentencePieceProcessor(model_proto=toy_model())
    found = sp.encode("é hello", out_type="immutable_proto")
    assert isinstance(found, ours.ImmutableSentencePieceText)
    assert found.text == "é hello" and found.text_as_bytes == "é hello".encode()
    assert found.score == 0.0
    assert [(p.piece, p.surface, p.id, p.begin, p.end) for p in found.pieces] == [
        ("▁", "", 5, 0, 0),
        ("é", "é", 0, 0, 1),
        ("▁hello", " hello", 3, 1, 7),
    ]
    assert found.pieces[-1] == found.pieces[2] != found.pieces[0]
    assert (
        found.pieces[0].surface_as_bytes == b"" and found.pieces[1].piece_as_bytes == "é".encode()
    )
    assert [p.id for p in found.pieces[::2]] == [5, 3]
    assert len(found.pieces) == 3 and len({*found.pieces}) == 3
    for index in (3, -4):
        with pytest.raises(IndexError, match="piece index is out of range"):
            found.pieces[index]
    with pytest.raises(AttributeError):
        found.text = "x"  # type: ignore[misc]
    again = sp.EncodeAsImmutableProto("é hello")
    assert (
        again == found and hash(again) == hash(found) and again != sp.encode_as_immutable_proto("a")
    )
    assert str(found).startswith('text: "é hello"\nscore: 0.0\npieces {\npiece: "▁"\nid: 5\n')
    several = sp.NBestEncodeAsImmutableProto("hello", 2)
    assert len(several.nbests) == 2 and several.nbests[0].score > several.nbests[1].score
    with pytest.raises(IndexError, match="nbests index"):
        several.nbests[2]
    assert several == sp.nbest_encode_as_immutable_proto("hello", 2)
    assert several.SerializeAsString() == sp.NBestEncodeAsSerializedProto("hello", 2)
    decoded = sp.DecodeIdsAsImmutableProto([0, 3])
    assert decoded.text == " \u2047  hello" and decoded.pieces[1].begin == 3
    assert sp.decode_pieces_as_immutable_proto(["▁hello"]).text == "hello"
    assert ours.ImmutableSentencePieceText() == ours.ImmutableSentencePieceText()
    assert ours.ImmutableNBestSentencePieceText().nbests[:] == []


def test_return_type_is_the_newer_name() -> None:
    """out_type="immutable_proto" is of 0.2.1, which had no return_type: that one refuses it."""
    sp = ours.SentencePieceProcessor(model_proto=toy_model())
    for call in (
        lambda: sp.encode("a", return_type="immutable_proto"),
        lambda: sp.decode([3], "immutable_proto"),
    ):
        with pytest.raises(ValueError, match="deprecated"):
            call()


def test_control_and_user_defined_pieces_stay_in_a_vocabulary() -> None:
    user: list[Piece] = [("<x>", 0.0, USER_DEFINED), ("<c>", 0.0, CONTROL)]
    sp = ours.SentencePieceProcessor(
        model_proto=model([*SPECIALS, *LETTERS, *PAIRS, *user], None, PLAIN), out_type=str
    )
    sp.SetVocabulary([])
    assert sp.encode("ab<x>c") == ["a", "b", "<x>", "c"]
    assert sp.is_control(sp.piece_to_id("<c>"))
