"""The command `isotok distil`: a Unigram model and texts to a blob that segments faster."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import click

from isotok._train_command import commands

if TYPE_CHECKING:
    from isotok.train import Distilled

__all__ = ["commands", "distil_command"]


@commands.command("distil")
@click.argument("teacher", type=click.Path())
@click.option("--corpus", type=click.Path(), multiple=True, required=True, help="Repeatable.")
@click.option("--output", "-o", type=click.Path(), required=True, help="NAME.isotok")
@click.option(
    "--mode",
    type=click.Choice(["exact", "compact", "longest", "priority"]),
    default="exact",
    show_default=True,
)
@click.option("--memo-bytes", type=click.IntRange(min=0), default=16 << 20, show_default=True)
@click.option("--exceptions", type=click.IntRange(min=0), default=1 << 16, show_default=True)
@click.option("--min-frequency", type=click.IntRange(min=1), default=2, show_default=True)
@click.option("--alpha", type=float, help="Default: the best of some on held-out text.")
@click.option("--column", default="text", show_default=True, help="Of tables and JSON lines.")
@click.option("--report", type=click.Path(), help="Write what was measured as JSON.")
def distil_command(teacher: str, corpus: tuple[str, ...], output: str, **given: Any) -> None:
    """Distil TEACHER, a Unigram model, on texts: .txt, .jsonl (.gz, .zst), .parquet, .arrow."""
    import isotok
    from isotok.train import distil, files
    from isotok.train._atomic import write_atomic

    report, column = given.pop("report"), given.pop("column")
    made = distil(
        isotok.load(teacher, backend="native", cache_bytes=0),
        files(*corpus, column=column),
        progress="bar" if sys.stderr.isatty() else None,
        **given,
    )
    made.save(output)
    described = _described(made)
    if report:
        write_atomic(report, json.dumps(described, indent=1).encode())
    _show(described)
    click.echo(output)


def _described(made: Distilled) -> dict[str, Any]:
    return {
        "mode": made.mode,
        "blob_bytes": len(made.blob),
        "held_out": made.agreement.as_dict(),
        "corpus": made.stats,
        "tried": made.tried,
    }


def _show(described: dict[str, Any]) -> None:
    held = described["held_out"]
    click.echo(
        f"{described['mode']}: {described['blob_bytes']:,} bytes; on {held['texts']:,} texts that "
        f"were held out: token F1 {held['token_f1']:.4f}, boundary F1 {held['boundary_f1']:.4f}, "
        f"equal texts {held['equal_texts']:.1%}, fertility {held['fertility']:.4f}"
    )
    for row in described["tried"]:
        click.echo("  " + ", ".join(f"{name} {value:g}" for name, value in row.items()))
