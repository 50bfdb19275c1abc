"""`Component`: what a tokenizer is put together from, as a part of a tokenizer.json."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar, cast

from isotok.compat.tokenizers._arguments import need_bool, need_str, usize
from isotok.compat.tokenizers._json import dump
from isotok.compat.tokenizers._shown import shown
from isotok.compile.tokenizer_json.errors import broken
from isotok.compile.tokenizer_json.floats import read_float

Json = Mapping[str, Any]
C = TypeVar("C", bound="Component")
Check = Callable[[object, str], object]

_PACKAGE: Final = __name__.rpartition(".")[0]


class Changes:
    """How many changes there were of any components: who holds some looks when it was one more."""

    count: int = 0


class Component:
    """A part of a tokenizer.json that can be changed.

    A subclass names its members with their defaults, in the order of the file. It is shared, as
    there: a tokenizer notices changes of a component that it was given.
    """

    _role: ClassVar[str] = ""
    """Member of the file whose value it is."""
    _type: ClassVar[str] = ""
    _defaults: ClassVar[Mapping[str, Any]] = {}
    """With their defaults."""
    _kinds: ClassVar[dict[str, type[Component]]]
    """Of a role, its classes by their type."""

    _given: Mapping[str, Any] = MappingProxyType({})
    """Members that are not as by default."""

    def __init__(self) -> None:
        raise TypeError(f"cannot create {type(self).__name__!r} instances")

    def __init_subclass__(cls, *, role: str = "") -> None:
        """Begin a role, or take the class up among those of its role."""
        if role:
            cls._role, cls._kinds = role, {}
        elif cls.__module__.startswith(_PACKAGE):
            cls._type = cls.__name__
            cls._kinds[cls.__name__] = cls

    @property
    def _members(self) -> dict[str, Any]:
        return {**self._defaults, **self._given}

    def _set(self, **members: Any) -> None:
        self._given = {**self._given, **members}
        Changes.count += 1

    def _steps(self) -> list[Component]:
        """Of a Sequence, its steps."""
        return [self]

    def _to_json(self) -> dict[str, Any]:
        return {"type": self._type, **self._members}

    def _read(self, part: Json) -> None:
        """Take over the members of a file; those that are missing are as by default."""
        self._given = {name: part[name] for name in self._defaults if name in part}

    def __getstate__(self) -> bytes:
        """Return it as JSON, as tokenizers does."""
        return dump(self._to_json()).encode()

    def __setstate__(self, state: bytes) -> None:
        """Take over what `__getstate__` has returned."""
        self._read(json.loads(state, parse_float=read_float))
        Changes.count += 1

    def __repr__(self) -> str:
        """Return it with its members."""
        return shown(self._to_json(), short=False)

    def __str__(self) -> str:
        """Return it with its first members."""
        return shown(self._to_json(), short=True)


def component_of(base: type[C], part: Json | None) -> C | None:
    """Return the component of a role that a file has.

    Raises
    ------
    TokenizerError
        There is no such component.
    """
    if part is None:
        return None
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in base._kinds:
        raise broken(base._role, f"{kind!r} is none of {', '.join(base._kinds)}")
    made = base._kinds[kind].__new__(base._kinds[kind])
    made._read(part)
    return cast("C", made)


def need_component(base: type[C], argument: object) -> C:
    """Return a component of a role; else TypeError."""
    if not isinstance(argument, base):
        raise TypeError(
            f"'{type(argument).__name__}' object is not an instance of {base.__name__!r}"
        )
    return argument


def copied(component: C) -> C:
    """Return a component like another; the steps of a Sequence are copied too."""
    made = type(component).__new__(type(component))
    made._read(component._to_json())
    return made


# ---- Members --------------------------------------------------------------------------


def member(name: str, check: Check, doc: str) -> Any:
    """Return a property that reads and sets a member."""

    def get(self: Component) -> Any:
        return self._members[name]

    def put(self: Component, value: object) -> None:
        self._set(**{name: check(value, name)})

    return property(get, put, doc=doc)


def behavior_member(doc: str) -> Any:
    """Return a property for what becomes of separators.

    It is not read as it is set: without the underscores, as there.
    """

    def get(self: Component) -> str:
        return self._members["behavior"].lower()

    def put(self: Component, value: object) -> None:
        self._set(behavior=need_behavior(value, "behavior"))

    return property(get, put, doc=doc)


def maybe(check: Check) -> Check:
    """Return a check that lets None through."""
    return lambda argument, name: None if argument is None else check(argument, name)


def need_char(argument: object, name: str) -> str:
    """Return one character; else TypeError or ValueError."""
    if len(need_str(argument, name)) != 1:
        raise ValueError("expected a string of length 1")
    return cast("str", argument)


def need_scheme(argument: object, name: str) -> str:
    """Return where Metaspace puts its symbol; else ValueError."""
    scheme = need_str(argument, name)
    if scheme not in ("first", "never", "always"):
        raise ValueError(
            f"{scheme} is an unknown variant, should be one of ['first', 'never', 'always']"
        )
    return scheme


BEHAVIORS: Final = {
    "removed": "Removed",
    "isolated": "Isolated",
    "merged_with_previous": "MergedWithPrevious",
    "merged_with_next": "MergedWithNext",
    "contiguous": "Contiguous",
}


def need_behavior(argument: object, name: str) -> str:
    """Return what becomes of what separates pieces, as a file calls it; else ValueError."""
    behavior = need_str(getattr(argument, "value", argument), name)  # or SplitDelimiterBehavior
    if behavior not in BEHAVIORS:
        raise ValueError(
            f"Wrong value for SplitDelimiterBehavior, expected one of: `{', '.join(BEHAVIORS)}`"
        )
    return BEHAVIORS[behavior]


BOOL: Final[Check] = need_bool
TEXT: Final[Check] = need_str
SIZE: Final[Check] = usize


# ---- Sequences ------------------------------------------------------------------------


class Steps:
    """The list of a Sequence. To be mixed into a component."""

    _steps_name: ClassVar[str] = ""
    _list: list[Any]

    def _take(self, base: type[Component], steps: object) -> None:
        if not isinstance(steps, list):
            raise TypeError(f"'{type(steps).__name__}' object is not an instance of 'list'")
        every = [need_component(base, step) for step in cast("list[object]", steps)]
        self._list = [one for step in every for one in step._steps()]

    def _steps(self) -> list[Any]:
        return self._list

    def _to_json(self) -> dict[str, Any]:
        steps = [step._to_json() for step in self._list]
        return {"type": "Sequence", self._steps_name: steps}

    def _read_steps(self, base: type[Component], part: Json) -> None:
        self._list = [component_of(base, step) for step in part[self._steps_name]]


class Indexed(Steps):
    """A Sequence whose steps can be got at. To be mixed into a component."""

    def _at(self, index: object) -> int:
        place = usize(index, "index")
        if place >= len(self._list):
            raise IndexError("Index not found")
        return place

    def __getitem__(self, index: int) -> Any:
        """Return a step: itself, not a copy."""
        return self._list[self._at(index)]

    def __iter__(self) -> Iterator[Any]:
        """Return the steps."""
        return iter(list(self._list))

    def _put(self, base: type[Component], index: object, value: object) -> None:
        step = need_component(base, value)
        if step._steps() != [step]:
            raise ValueError(f"{base.__name__} should not be a sequence")
        self._list[self._at(index)] = copied(step)
        Changes.count += 1
