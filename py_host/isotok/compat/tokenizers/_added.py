"""`AddedToken`: a token that is found in the text before anything else is done to it."""

from __future__ import annotations

from typing import Any, Final

from isotok.compat.tokenizers._arguments import ignored, need_bool, need_str, shown_as

_OPTIONS: Final = ("single_word", "lstrip", "rstrip", "normalized", "special")


class AddedToken:
    """A token that is looked for in the text as it is.

    Parameters
    ----------
    content : str
        Its text.
    single_word : bool
        It is not found inside a word.
    lstrip, rstrip : bool
        It takes the white space beside it along.
    normalized : bool
        It is looked for in normalized text. By default it is, unless it is special.
    special : bool
        `decode` leaves it out.
    """

    @shown_as(
        content=None,
        single_word=False,
        lstrip=False,
        rstrip=False,
        normalized=True,
        special=False,
    )
    def __new__(cls, content: str | None = None, **kwargs: bool) -> AddedToken:
        self = super().__new__(cls)
        self._content = need_str("" if content is None else content, "content")
        self._options = {}
        for name, option in kwargs.items():
            if name in _OPTIONS:
                self._options[name] = need_bool(option, name)
            else:
                ignored(name)
        return self

    _content: str
    _options: dict[str, bool]  # those that were given

    @property
    def content(self) -> str:
        """Its text."""
        return self._content

    @content.setter
    def content(self, content: str) -> None:
        self._content = need_str(content, "content")

    @property
    def special(self) -> bool:
        """Whether `decode` leaves it out."""
        return self._options.get("special", False)

    @special.setter
    def special(self, special: bool) -> None:
        self._options["special"] = need_bool(special, "special")

    @property
    def single_word(self) -> bool:
        """Whether it is not found inside a word."""
        return self._options.get("single_word", False)

    @property
    def lstrip(self) -> bool:
        """Whether it takes the white space in front of it along."""
        return self._options.get("lstrip", False)

    @property
    def rstrip(self) -> bool:
        """Whether it takes the white space behind it along."""
        return self._options.get("rstrip", False)

    @property
    def normalized(self) -> bool:
        """Whether it is looked for in normalized text."""
        return self._options.get("normalized", not self.special)

    def __getstate__(self) -> dict[str, Any]:
        """Return all members."""
        return {
            "content": self.content,
            "single_word": self.single_word,
            "lstrip": self.lstrip,
            "rstrip": self.rstrip,
            "normalized": self.normalized,
            "special": self.special,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take members over."""
        for name, member in state.items():
            if name == "content":
                self._content = need_str(member, name)
            elif name in _OPTIONS:
                self._options[name] = need_bool(member, name)

    def __str__(self) -> str:
        """Return the text of the token."""
        return self.content

    def __repr__(self) -> str:
        """Return the token with its options."""
        return (
            f'AddedToken("{self.content}", rstrip={self.rstrip}, lstrip={self.lstrip}, '
            f"single_word={self.single_word}, normalized={self.normalized}, "
            f"special={self.special})"
        )

    def __eq__(self, other: object) -> bool:
        """Whether all members are equal."""
        if not isinstance(other, AddedToken):
            return NotImplemented
        return self.__getstate__() == other.__getstate__()

    def __lt__(self, other: object) -> bool:
        """Tokens have no order."""
        return False if isinstance(other, AddedToken) else NotImplemented

    __le__ = __gt__ = __ge__ = __lt__

    def __hash__(self) -> int:
        """Hash of the text."""
        return hash(self.content)


def make(content: str, special: bool) -> AddedToken:
    """Return the token that a text alone stands for."""
    return AddedToken(content, special=special)
