"""The components of a tokenizer, and the file that they make."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import RLock
from typing import Any, Final

from isotok.compat.tokenizers._component import Changes, Component, component_of
from isotok.compat.tokenizers._decoders import Decoder
from isotok.compat.tokenizers._file import File
from isotok.compat.tokenizers._limits import Padding, Truncation
from isotok.compat.tokenizers._processors import PostProcessor as Processor
from isotok.compat.tokenizers._processors import read_post_processor
from isotok.compat.tokenizers.models import Model, Unigram
from isotok.compat.tokenizers.normalizers import Normalizer
from isotok.compat.tokenizers.pre_tokenizers import PreTokenizer
from isotok.compat.tokenizers.processors import PostProcessor
from isotok.compile.tokenizer_json.around import read_template
from isotok.compile.tokenizer_json.floats import read_float

_BASES: Final[Mapping[str, type[Component]]] = {
    "normalizer": Normalizer,
    "pre_tokenizer": PreTokenizer,
    "post_processor": PostProcessor,
    "decoder": Decoder,
    "model": Model,
}
_UNKNOWN: Final = ()
"""Is no state."""
EMPTY: Final = b'{"version":"1.0","model":{"type":"BPE","vocab":{},"merges":[]}}'


class Parts:
    """Components that were given away, or were given, with the file that they are of.

    Parameters
    ----------
    file : File
    """

    def __init__(self, file: File) -> None:
        self._lock = RLock()
        self._file = file
        self._given: dict[str, Component | None] = {}
        self._known: dict[str, object] = {}
        self._seen = Changes.count
        self._processor: tuple[File, Processor | None] | None = None
        self.generation = 0
        """Another number when the model has to be compiled again."""

    @property
    def file(self) -> File:
        """The file as it is now."""
        if self._seen != Changes.count:
            self._look()
        return self._file

    def take(self, file: File) -> None:
        """Go on with another file, that has other added tokens."""
        with self._lock:
            self._file = file
            self.generation += 1

    def get(self, name: str) -> Any:
        """Return a component: the one that was given, or one made of the file."""
        with self._lock:
            if name not in self._given:
                made = self._made(name)
                self._given[name] = made
                self._known[name] = _state(made)
            return self._given[name]

    def _made(self, name: str) -> Component | None:
        if name != "model":
            part: Mapping[str, Any] | None = getattr(self._file.document, name)
        else:
            model: dict[str, Any] = json.loads(self._file.data, parse_float=read_float)["model"]
            part = {**model, "type": self._file.kind}
        return component_of(_BASES[name], part)

    def put(self, name: str, component: Component | None) -> None:
        """Set a component."""
        with self._lock:
            before = self._given.get(name), self._known.get(name)
            self._given[name], self._known[name] = component, _UNKNOWN
            try:
                self._look()
            except NotImplementedError:  # the model stays what it was
                self._given[name], self._known[name] = before
                raise

    def _look(self) -> None:
        """Make another file, if a component is not what it was."""
        with self._lock:
            count = Changes.count
            found: dict[str, Any] = {}
            states: dict[str, object] = {}
            for name, component in self._given.items():
                state = _state(component)
                if state != self._known[name]:
                    states[name], found[name] = state, _json(component)
            if found:
                self._file = self._file.changed_parts(found)
                self._known |= states
                self.generation += found.keys() != {"post_processor"}
            self._seen = count

    @property
    def processor(self) -> Processor | None:
        """What the post_processor does."""
        file, made = self.file, self._processor
        if made is None or made[0] is not file:
            post_processor = file.document.post_processor
            read_template(post_processor)  # refused here, if it is
            made = file, read_post_processor(post_processor)
            self._processor = made
        return made[1]

    def check(self) -> None:
        """Refuse a model that draws samples; NotImplementedError."""
        model = self._given.get("model")
        if isinstance(model, Unigram):
            model._check()  # pyright: ignore[reportPrivateUsage]

    def document(self, truncation: Truncation | None, padding: Padding | None) -> dict[str, Any]:
        """Return the file's members as tokenizers writes them."""
        whole = self.file.whole(truncation, padding)
        for name in _BASES:
            component = self._given[name] if name in self._given else self._made(name)
            whole[name] = _json(component)
        return whole


def _state(component: Component | None) -> object:
    """Return something that tells whether a component was changed."""
    if isinstance(component, Model):
        return component, component._version  # pyright: ignore[reportPrivateUsage]
    return _json(component)


def _json(component: Component | None) -> dict[str, Any] | None:
    return None if component is None else component._to_json()  # pyright: ignore[reportPrivateUsage]
