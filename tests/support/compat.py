"""The package sentencepiece and isotok's drop-in side by side: same calls, same outcomes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from support import data

ROWS = json.loads((data.ROOT / "tests/py/compat_rows.json").read_text("utf-8"))
# What messages of the C++ library have in front of the reason.
_PLACE = re.compile(r"src/\w+\.cc\(\d+\) \[.*?\] ?(?=[A-Z\w]|$)")
# Messages of its binding that say only that no signature fits.
_BINDING = ("incompatible function arguments", "incompatible constructor", "Unable to cast Python")


@dataclass(frozen=True)
class Failure:
    """An exception."""

    kind: type[BaseException]
    message: str

    def __repr__(self) -> str:
        return f"{self.kind.__name__}: {self.message[:300]}"


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call in a form that can be compared, or its Failure."""
    try:
        return plain(call())
    except Exception as error:
        return Failure(type(error), str(error))


def plain(value: Any) -> Any:
    """Make a value comparable: with its type, and those of its elements."""
    if hasattr(value, "SerializeToString"):
        return type(value).__name__, value.SerializeToString()
    if hasattr(value, "dtype") and hasattr(value, "flags"):
        return "array", str(value.dtype), value.tolist(), value.flags.writeable
    if isinstance(value, (list, tuple)):
        return type(value).__name__, *map(plain, value)
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, float) and math.isnan(value):
        return "float", "nan"
    if type(value).__module__.startswith(("sentencepiece", "isotok")):
        return type(value).__name__
    return type(value).__name__, value


def same(theirs: Any, ours: Any) -> bool:
    """Whether outcomes are equal: of errors the type (or a kind of it) and the reason."""
    if isinstance(theirs, Failure) and isinstance(ours, Failure):
        return issubclass(ours.kind, theirs.kind) and same_reason(theirs.message, ours.message)
    return bool(theirs == ours)


def same_reason(theirs: str, ours: str) -> bool:
    """Whether messages are equal but for what only C++ has to say."""
    if any(text in theirs for text in _BINDING):
        return True
    reason = _PLACE.sub("", theirs).strip()
    return reason in ("INTERNAL:", "") or reason.lower() == ours.lower()


@dataclass
class Comparison:
    """Two modules, the checks so far and those that differ."""

    theirs: Any
    ours: Any
    count: int = 0
    differ: list[str] = field(default_factory=list)

    def check(self, what: str, call: Callable[[Any], Any]) -> None:
        """Make the same call on both sides; `call` gets theirs, then ours."""
        expected, found = outcome(lambda: call(self.theirs)), outcome(lambda: call(self.ours))
        self.count += 1
        if not same(expected, found):
            self.differ.append(f"{what}\n    theirs {expected!r:.400}\n    ours   {found!r:.400}")

    def judge(self) -> None:
        """Fail if anything differs."""
        shown = "\n".join(self.differ[:10])
        assert not self.differ, f"{len(self.differ)} of {self.count} differ:\n{shown}"


def modules() -> tuple[Any, Any]:
    """Return sentencepiece and the drop-in."""
    import sentencepiece
    from isotok.compat import sentencepiece as ours

    sentencepiece.SetNBestTimeout(0)  # no clock in tests
    return sentencepiece, ours


def processors(model: bytes, **options: Any) -> Comparison:
    """Open a model with both."""
    theirs, ours = modules()
    return Comparison(
        theirs.SentencePieceProcessor(model_proto=model, **options),
        ours.SentencePieceProcessor(model_proto=model, **options),
    )
