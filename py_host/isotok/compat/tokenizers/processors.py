"""Post-processors: what is put around a text, or a pair, as parts of a tokenizer."""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence as Elements
from typing import Any, ClassVar

from isotok.compat.tokenizers._arguments import need_bool
from isotok.compat.tokenizers._component import (
    BOOL,
    Component,
    Indexed,
    Json,
    member,
)
from isotok.compat.tokenizers._encoding import Encoding, content_of
from isotok.compat.tokenizers._processors import read_post_processor
from isotok.compat.tokenizers._templates import (
    Template,
    check_templates,
    need_token,
    pieces_of,
    shown_pieces,
    special_tokens_of,
)

__all__ = [
    "BertProcessing",
    "ByteLevel",
    "PostProcessor",
    "RobertaProcessing",
    "Sequence",
    "TemplateProcessing",
]


class PostProcessor(Component, role="post_processor"):
    """What all post-processors can do. It is made as one of its subclasses."""

    def num_special_tokens_to_add(self, is_pair: bool) -> int:
        """Return how many tokens are put around a text, or around a pair."""
        made = read_post_processor(self._to_json())
        assert made is not None
        return made.pair if need_bool(is_pair, "is_pair") else made.single

    def process(
        self, encoding: Encoding, pair: Encoding | None = None, add_special_tokens: bool = True
    ) -> Encoding:
        """Put tokens around a text, or around a pair.

        Parameters
        ----------
        encoding, pair : Encoding
        add_special_tokens : bool
        """
        one, other = content_of(encoding, "encoding"), content_of(pair, "pair")
        if one is None:
            raise TypeError("argument 'encoding': 'NoneType' object is not an 'Encoding'")
        add = need_bool(add_special_tokens, "add_special_tokens")
        made = read_post_processor(self._to_json())
        assert made is not None
        return Encoding._of(made.process(one, other, add))


class BertProcessing(PostProcessor):
    """The template of BERT.

    Parameters
    ----------
    sep : (str, int)
        What is behind each text.
    cls_token : (str, int)
        What is in front of the first.
    """

    _defaults: ClassVar = {"sep": ("", 0), "cls": ("", 0)}
    sep = member("sep", need_token, "What is behind each text.")
    cls = member("cls", need_token, "What is in front of the first.")

    def __init__(self, sep: tuple[str, int], cls_token: tuple[str, int]) -> None:
        self.sep = sep
        self.cls = cls_token

    def _read(self, part: Json) -> None:
        super()._read(_with_tokens(part))


class RobertaProcessing(PostProcessor):
    """The template of RoBERTa.

    Parameters
    ----------
    sep : (str, int)
        What is behind each text, and in front of the second.
    cls_token : (str, int)
        What is in front of the first.
    trim_offsets : bool
        Leave white space out of the places of tokens.
    add_prefix_space : bool
        But not a space that was put in front of the text.
    """

    _defaults: ClassVar = {
        "sep": ("", 0),
        "cls": ("", 0),
        "trim_offsets": True,
        "add_prefix_space": True,
    }
    sep = member("sep", need_token, "What is behind each text.")
    cls = member("cls", need_token, "What is in front of the first.")
    trim_offsets = member("trim_offsets", BOOL, "Whether places leave white space out.")
    add_prefix_space = member("add_prefix_space", BOOL, "Whether there was a space put in front.")

    def __init__(
        self,
        sep: tuple[str, int],
        cls_token: tuple[str, int],
        trim_offsets: bool = True,
        add_prefix_space: bool = True,
    ) -> None:
        self.sep = sep
        self.cls = cls_token
        self.trim_offsets = trim_offsets
        self.add_prefix_space = add_prefix_space

    def _read(self, part: Json) -> None:
        super()._read(_with_tokens(part))


def _with_tokens(part: Json) -> Json:
    tokens = {name: need_token(tuple(part[name]), name) for name in ("sep", "cls")}
    return {**part, **tokens}


class ByteLevel(PostProcessor):
    """Places of tokens without the white space in them.

    Parameters
    ----------
    add_prefix_space : bool, optional
        There was a space put in front of the text. By default it was.
    trim_offsets : bool, optional
        False: it does nothing.
    use_regex : bool, optional
        Of no account here: of the pre-tokenizer.
    """

    _defaults: ClassVar = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    add_prefix_space = member("add_prefix_space", BOOL, "Whether there was a space put in front.")
    trim_offsets = member("trim_offsets", BOOL, "Whether places leave white space out.")
    use_regex = member("use_regex", BOOL, "Of no account here.")

    def __init__(
        self,
        add_prefix_space: bool | None = None,
        trim_offsets: bool | None = None,
        use_regex: bool | None = None,
        **_kwargs: object,
    ) -> None:
        self.add_prefix_space = True if add_prefix_space is None else add_prefix_space
        self.trim_offsets = True if trim_offsets is None else trim_offsets
        self.use_regex = True if use_regex is None else use_regex


class TemplateProcessing(PostProcessor):
    """Any template.

    Parameters
    ----------
    single, pair : str, or list of str
        Tokens, and ``$A`` and ``$B`` for the texts; each may have a type, as ``[SEP]:1``. In one
        str they are separated by spaces.
    special_tokens : list
        The tokens with their ids: pairs, or dicts with `id`, `ids` and `tokens` for names that
        stand for several.

    Raises
    ------
    ValueError
        Something else begins with ``$``, a token is not among `special_tokens`, or `pair` lacks
        one of the texts.
    """

    _defaults: ClassVar = {
        "single": [{"Sequence": {"id": "A", "type_id": 0}}],
        "pair": [
            {"Sequence": {"id": "A", "type_id": 0}},
            {"Sequence": {"id": "B", "type_id": 1}},
        ],
        "special_tokens": {},
    }

    def __init__(
        self,
        single: Template | None = None,
        pair: Template | None = None,
        special_tokens: Elements[Any] | None = None,
    ) -> None:
        given: dict[str, Any] = {}
        if single is not None:
            given["single"] = pieces_of(single)
        if pair is not None:
            given["pair"] = pieces_of(pair)
        if special_tokens is not None:
            given["special_tokens"] = special_tokens_of(special_tokens)
        check_templates(given)
        self._set(**given)

    @property
    def single(self) -> str:
        """What is put around one text, as tokenizers shows it."""
        return shown_pieces(self._members["single"])

    @single.setter
    def single(self, single: Template) -> None:
        self._set(single=pieces_of(single))


class Sequence(Indexed, PostProcessor):
    """One after the other.

    Parameters
    ----------
    processors : list of PostProcessor
    """

    _steps_name = "processors"

    def __init__(self, processors: list[PostProcessor]) -> None:
        self._take(PostProcessor, processors)

    def __setitem__(self, index: int, value: PostProcessor) -> None:
        """Put a copy of a post-processor in the place of another."""
        self._put(PostProcessor, index, value)

    def _read(self, part: Json) -> None:
        self._read_steps(PostProcessor, part)
