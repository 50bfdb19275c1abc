"""isotok.compat.sentencepiece has the names and signatures of sentencepiece 0.2.3."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import isotok.compat.sentencepiece as ours
import pytest
from isotok.compile import compile_model
from support import compat, data
from support.toy import byte_model, toy_model

CLASSES = ("SentencePieceProcessor", "SentencePieceNormalizer", "SentencePieceTrainer")
MESSAGES = {
    "sentencepiece_pb2": ("SentencePieceText", "NBestSentencePieceText"),
    "sentencepiece_model_pb2": ("ModelProto", "TrainerSpec", "NormalizerSpec"),
}


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


OF_ISOTOK = ("compat", inspect.Parameter.KEYWORD_ONLY, None)  # the one parameter that is added


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    found = inspect.signature(function).parameters.values()
    return [(each.name, each.kind, each.default) for each in found]


@pytest.mark.usefixtures("sentencepiece")
def test_names() -> None:
    import sentencepiece

    modules = {"os", "sys", "csv", "io", "importlib", "sentencepiece_pb2"}
    wanted = public(sentencepiece) - modules - {"sentencepiece_model_pb2"}
    assert wanted <= public(ours)
    assert set(ours.__all__) >= wanted
    for name in CLASSES:
        assert public(getattr(sentencepiece, name)) <= public(getattr(ours, name)), name


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize("name", CLASSES[:2])
def test_signatures(name: str) -> None:
    """Also the order of parameters, for those who do not name them."""
    import sentencepiece

    theirs, mine = getattr(sentencepiece, name), getattr(ours, name)
    compared = 0
    for method in {"__init__", *public(theirs)}:
        expected = parameters(getattr(theirs, method))
        if (name, method) == (CLASSES[0], "__init__"):
            expected = [*expected, OF_ISOTOK]
        assert parameters(getattr(mine, method)) == expected, method
        compared += 1
    assert compared > (60 if name == CLASSES[0] else 5)
    assert parameters(ours.ConvertToFlatbuffer) == parameters(sentencepiece.ConvertToFlatbuffer)


@pytest.mark.parametrize("name", CLASSES)
def test_every_name_in_both_spellings(name: str) -> None:
    kind = getattr(ours, name)
    for method in public(kind):
        if method[0].isupper():
            words = "".join(f"_{c.lower()}" if c.isupper() else c for c in method)
            snake = words.lstrip("_").replace("n_best", "nbest")
            assert getattr(kind, snake) is getattr(kind, method), snake


@pytest.mark.usefixtures("sentencepiece")
@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in MESSAGES.items() for name in names]
)
def test_messages(module: str, name: str) -> None:
    """Equal fields: numbers, types, labels, defaults."""
    theirs = getattr(__import__(f"sentencepiece.{module}", fromlist=[name]), name)
    mine = getattr(__import__(f"isotok.compat.sentencepiece.{module}", fromlist=[name]), name)
    assert described(mine.DESCRIPTOR) == described(theirs.DESCRIPTOR)


def described(message: Any) -> Any:
    fields = [
        (
            field.number, field.name, field.type, field.is_repeated, field.has_presence,
            field.default_value if field.type != field.TYPE_MESSAGE else None,
            field.message_type.full_name if field.message_type else None,
            field.enum_type.full_name if field.enum_type else None,
        )
        for field in message.fields
    ]  # fmt: skip
    enums = {e.name: {v.name: v.number for v in e.values} for e in message.enum_types}
    return message.full_name, sorted(fields), enums, list(map(described, message.nested_types))


def test_messages_hold_models() -> None:
    from isotok.compat.sentencepiece import sentencepiece_model_pb2 as messages

    model = messages.ModelProto.FromString(byte_model())
    assert model.SerializeToString() == byte_model()
    assert model.trainer_spec.byte_fallback
    assert model.pieces[0].type == messages.ModelProto.SentencePiece.UNKNOWN
    model.normalizer_spec.add_dummy_prefix = False
    sp = ours.SentencePieceProcessor(model_proto=model)
    assert sp.encode("hello", out_type=str)[0] == "h"


@pytest.mark.usefixtures("sentencepiece")
def test_state_is_that_of_sentencepiece() -> None:
    """A pickled state of one can be given to the other."""
    theirs, _ = compat.modules()
    options: dict[str, Any] = {"out_type": str, "add_bos": True, "alpha": 0.7}
    a = theirs.SentencePieceProcessor(model_proto=toy_model(), **options)
    b = ours.SentencePieceProcessor(model_proto=toy_model(), **options)
    assert a.__getstate__() == b.__getstate__()
    b.__setstate__(a.__getstate__())
    a.__setstate__(b.__getstate__())
    assert a.encode("hello world") == b.encode("hello world") == ["<s>", "▁hello", "▁world"]


def test_examples_of_the_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (data.ROOT / "docs/compat.md").read_text("utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "m.model").write_bytes(toy_model())
    monkeypatch.chdir(tmp_path)
    for code in examples:
        exec(compile(code, "docs/compat.md", "exec"), {})
    assert [code.count("assert") for code in examples] == [5, 2, 4]


class Named(ours.SentencePieceProcessor):
    """A subclass with an attribute of its own."""

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(**options)
        self.name = name


@pytest.mark.parametrize(
    "copier", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies(copier: Any) -> None:
    sp = ours.SentencePieceProcessor(model_proto=toy_model(), add_eos=True)
    assert copier(sp).encode("hello") == sp.encode("hello") == [3, 2]
    named = copier(Named("x", model_proto=toy_model(), out_type=str))
    assert isinstance(named, ours.SentencePieceProcessor)
    assert named.name == "x" and named.encode("hello") == ["▁hello"]
    normalizer = ours.SentencePieceNormalizer(norm_map=[("a", "b")], add_dummy_prefix=False)
    assert copier(normalizer).normalize("aa") == "bb"


def test_pickles_of_older_versions_hold_the_model_alone() -> None:
    sp = ours.SentencePieceProcessor.__new__(ours.SentencePieceProcessor)
    sp.__setstate__(toy_model())
    assert sp.encode("hello world") == [3, 4]


def test_a_failed_load_leaves_no_model() -> None:
    sp = ours.SentencePieceProcessor(model_proto=toy_model())
    with pytest.raises(RuntimeError, match="INTERNAL"):
        sp.LoadFromSerializedProto(b"nonsense")
    assert sp.GetPieceSize() == 0
    with pytest.raises(RuntimeError, match="not initialized"):
        sp.encode("a")


@pytest.mark.parametrize("form", ["blob", "packed", "spm.fb"])
def test_files_of_other_forms(form: Any, tmp_path: Path) -> None:
    """Whatever isotok opens; the ModelProto is made when it is asked for."""
    path = tmp_path / "model"
    path.write_bytes(compile_model(toy_model(), form))
    sp = ours.SentencePieceProcessor(model_file=path)
    assert sp.encode("hello world") == [3, 4]
    assert sp.decode([0, 3], out_type="offset_mapping")["text"] == " \u2047  hello"
    again = ours.SentencePieceProcessor(model_proto=sp.serialized_model_proto())
    assert again.encode("hello world") == [3, 4]
    assert ours.SentencePieceNormalizer(model_file=path).normalize(" a  b") == "▁a▁b"


def test_a_missing_file_is_an_error_of_both_kinds() -> None:
    """RuntimeError as in 0.2.3, OSError as before."""
    for kind in (RuntimeError, OSError):
        with pytest.raises(kind, match="no such file"):
            ours.SentencePieceProcessor(model_file="no such file")


def test_training_says_that_it_is_not_there() -> None:
    for train in (ours.SentencePieceTrainer.Train, ours.SentencePieceTrainer.train):
        with pytest.raises(NotImplementedError, match="does not train models yet"):
            train("--input=x --model_prefix=m")


def test_threads_share_a_processor() -> None:
    sp = ours.SentencePieceProcessor(model_proto=byte_model())
    text = "hello wörld <tag> Ａ"
    expected = sp.encode(text, out_type="serialized_proto")
    found: list[bytes] = []

    def work() -> None:
        found.extend(sp.encode(text, out_type="serialized_proto") for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 200


def test_batches_in_threads() -> None:
    sp = ours.SentencePieceProcessor(model_file=str(data.VECTOR_MODELS / "trained_unigram.model"))
    texts = ["the shashalo gol . " * 200] * 40
    expected = [sp.encode(texts[0])] * 40
    pool = ours.ThreadPool(3)
    assert pool.num_threads() == 3
    for options in (
        {"num_threads": 1},
        {"num_threads": 2},
        {"num_threads": -1},
        {"thread_pool": pool},
    ):
        assert sp.encode(texts, **options) == expected


def test_import_loads_neither_numpy_nor_protobuf() -> None:
    code = (
        "import sys; from isotok.compat import sentencepiece; "
        "print([n for n in ('numpy', 'google.protobuf', 'sentencepiece') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


WITHOUT = """
import sys
sys.modules[{package!r}] = None
from isotok.compat import sentencepiece as spm
try:
    spm.SentencePieceProcessor(model_file={path!r}).encode("hello", out_type={kind!r})
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(("kind", "package"), [("numpy", "numpy"), ("proto", "google.protobuf")])
def test_missing_packages_are_named(kind: str, package: str, tmp_path: Path) -> None:
    path = tmp_path / "toy.model"
    path.write_bytes(toy_model())
    code = WITHOUT.format(package=package, path=str(path), kind=kind)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"pip install {package.split('.')[-1]}" in done.stdout
