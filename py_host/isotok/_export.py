"""The command `isotok export`: a model as a file for SentencePiece or SentencePiece Lite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import isotok
from isotok._commands import backend_option, commands, read_file
from isotok.errors import TokenizerError

if TYPE_CHECKING:
    from isotok._backend import BackendName
    from isotok.compile import Form

__all__ = ["commands", "export_command"]

_FORMS: Final[dict[str, Form]] = {".model": "model", ".spm.fb": "spm.fb"}


def form_of(name: str) -> Form:
    """Tell the form from the ending of a file's name."""
    for ending, form in _FORMS.items():
        if name.endswith(ending):
            return form
    raise click.UsageError(
        f"{name}: what to write is told by the name: give one that ends in {' or '.join(_FORMS)}"
    )


@commands.command("export")
@click.argument("model", type=click.Path())
@click.option("--output", "-o", type=click.Path(), required=True, help="NAME.model or NAME.spm.fb")
@backend_option
def export_command(model: str, output: str, backend: BackendName) -> None:
    """Write MODEL (any file that isotok opens) as a .model or a .spm.fb file.

    A .model gives the same ids in SentencePiece 0.2.3. A .spm.fb gives them in SentencePiece
    Lite; a model for which it would not is refused, saying why.
    """
    from isotok.compile import compile_model

    form = form_of(output)
    data = read_file(model)
    try:
        result = compile_model(data, form, backend=backend)
        isotok.load(result, backend=backend).close()
    except TokenizerError as error:
        error.name_source(model)
        raise
    target = Path(output)
    temporary = target.with_name(target.name + ".tmp")
    try:
        temporary.write_bytes(result)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    click.echo(f"{target}: {len(result):,} bytes from {len(data):,}")
