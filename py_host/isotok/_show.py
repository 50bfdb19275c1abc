"""Terminal output with rich: descriptions of models, coloured pieces."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Readable with black letters on them, and different from their neighbours.
_COLOURS: Final = ("#a6cee3", "#b2df8a", "#fdbf6f", "#cab2d6", "#ffff99", "#fb9a99")


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command line: rich would end the program with code 1."""
        raise BrokenPipeError


def console() -> Console:
    """Console on standard output; plain where that is no terminal."""
    return _Console(highlight=False, soft_wrap=True)


def coloured(pieces: list[str]) -> Text:
    """Pieces side by side, each on a colour of its own."""
    text = Text()
    for index, piece in enumerate(pieces):
        text.append(piece, style=f"black on {_COLOURS[index % len(_COLOURS)]}")
    return text


def show_description(description: dict[str, Any]) -> None:
    """Print what `_inspect.describe` found."""
    out = console()
    keys = ("file", "kind", "form", "format", "size", "checksum", "parity", "compat", "algorithm")
    for key in keys:
        value = description[key]
        if value is not None:
            out.print(f"{key:14}", f"{value:,}" if isinstance(value, int) else value)
    out.print(f"{'features':14}", ", ".join(description["features"]) or "none")
    for group in ("vocabulary", "trie", "distilled"):
        _show_group(out, group, description.get(group, {}))
    for name, steps in description["operations"].items():
        for step in steps:
            out.print(f"{name:14}", ", ".join(f"{key} {value}" for key, value in step.items()))
    out.print(_section_table(description["sections"], description["size"]))


def _show_group(out: Console, group: str, values: dict[str, Any]) -> None:
    for key, value in values.items():
        if key == "types":
            shown = ", ".join(f"{name} {count:,}" for name, count in value.items())
        else:
            shown = f"{value:,}" if isinstance(value, int) else str(value)
        out.print(f"{group:14}", f"{key:16}", shown)


def _section_table(sections: list[dict[str, Any]], total: int) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("section")
    for name in ("offset", "elements", "bytes", "share"):
        table.add_column(name, justify="right")
    for section in sections:
        size = section["size"]
        cells = (section["name"], f"{section['offset']:,}", f"{section['count']:,}", f"{size:,}")
        table.add_row(*cells, f"{size / total:.1%}")
    return table
