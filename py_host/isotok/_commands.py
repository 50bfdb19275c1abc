"""The commands of `isotok`, on click; their work is in the modules they call."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import click

import isotok
from isotok import _files
from isotok._backend import BACKENDS, BackendName
from isotok._info import Compat
from isotok._tokenizer import Tokenizer
from isotok.errors import TokenizerError

T = TypeVar("T")

model_option = click.option(
    "--model", "-m", type=click.Path(), help="Model file; default: the one in the package."
)
backend_option = click.option(
    "--backend", type=click.Choice(BACKENDS), default="auto", show_default=True
)
bos_option = click.option("--bos", is_flag=True, help="Put the BOS id in front.")
eos_option = click.option("--eos", is_flag=True, help="Put the EOS id at the end.")
text_option = click.option("--text", "-t", multiple=True, help="A text; may be repeated.")
lines_option = click.option("--lines", is_flag=True, help="Take each line as a text.")
files_argument = click.argument("files", nargs=-1, type=click.Path())


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(isotok.__version__, prog_name="isotok")
def commands() -> None:
    """Tokenize text with SentencePiece models: the same ids natively and in WebAssembly."""


# -- input and output -----------------------------------------------------------------


def read_file(name: str) -> bytes:
    """Bytes of a file, or of standard input for "-"."""
    if name == "-":
        if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise TokenizerError("standard input is closed; give a file or --text")
        return sys.stdin.buffer.read()
    with _files.open_file(name) as file:
        return file.read()


@contextmanager
def naming(name: str) -> Generator[None]:
    """Put the name of the file in front of an error about what is in it."""
    try:
        yield
    except TokenizerError as error:
        error.name_source(shown_name(name))
        raise


def shown_name(name: str) -> str:
    """Name of a file in messages."""
    return "standard input" if name == "-" else name


def input_texts(text: tuple[str, ...], files: tuple[str, ...], lines: bool) -> Iterator[bytes]:
    """Texts of --text and of the files; of standard input if there are neither."""
    for each in text:
        yield os.fsencode(each)
    for name in files or (() if text else ("-",)):
        data = read_file(name)
        if lines:
            yield from split_lines(data)
        else:
            yield data


def split_lines(data: bytes) -> list[bytes]:
    """Lines without their newline; a newline at the end begins no line."""
    lines = data.split(b"\n")
    return lines[:-1] if not lines[-1] else lines


def progress(items: Iterable[T], total: int, what: str) -> Iterable[T]:
    """Show a bar on a terminal if it takes more than a second."""
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    return tqdm(items, total=total, desc=what, delay=1, unit=" texts", file=sys.stderr)


def write_bytes(data: bytes) -> None:
    """Write to standard output as it is."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)


def open_model(model: str | None, backend: str, verify: str = "safe") -> Tokenizer:
    """Open a model as the options say."""
    return isotok.load(model, backend=backend, verify=verify)  # type: ignore[arg-type]


# -- compile, inspect -------------------------------------------------------------------


@commands.command("compile")
@click.argument("source", type=click.Path())
@click.option("--output", "-o", type=click.Path(), help="File to write; default: by SOURCE.")
@click.option("--packed", is_flag=True, help="Write the packed form: smaller, compiled at load.")
@click.option(
    "--compat", type=click.Choice(["0.2.1"]), help="Give the ids of sentencepiece up to this."
)
@backend_option
def compile_command(
    source: str, output: str | None, packed: bool, compat: Compat | None, backend: BackendName
) -> None:
    """Compile SOURCE (.model, .spm.fb, tokenizer.json, .tiktoken, packed model) to a blob."""
    from isotok.compile import compile_model

    data = read_file(source)
    if _files.kind_of(data[:64]) == "blob":
        raise click.UsageError(f"{source} is a blob already")
    suffix = ".isotok-packed" if packed else ".isotok"
    target = Path(output) if output else Path(source.removesuffix(".fb")).with_suffix(suffix)
    with naming(source):
        form = "packed" if packed else "blob"
        result = compile_model(data, form, backend=backend, compat=compat, name=source)
        isotok.load(result, backend=backend, verify="full").close()
    temporary = target.with_name(target.name + ".tmp")
    try:
        temporary.write_bytes(result)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    click.echo(f"{target}: {len(result):,} bytes from {len(data):,}")


@commands.command("inspect")
@click.argument("file", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@backend_option
def inspect_command(file: str, as_json: bool, backend: BackendName) -> None:
    """Say what is in FILE; a foreign file is compiled first. Every piece is checked."""
    from isotok import _inspect
    from isotok.compile import compile_model

    data = read_file(file)
    kind = _files.kind_of(data[:64])
    with naming(file):
        isotok.load(data, backend=backend, verify="full").close()
        blob = compile_model(data, backend=backend) if kind == "source" else data
    description = {"file": file, "kind": kind, **_inspect.describe(blob)}
    if as_json:
        click.echo(json.dumps(description, indent=2, ensure_ascii=False))
        return
    from isotok._show import show_description

    show_description(description)


# -- encode, decode, count ----------------------------------------------------------------


@commands.command("encode")
@files_argument
@model_option
@text_option
@lines_option
@bos_option
@eos_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["ids", "pieces", "json", "numpy"]),
    default="ids",
    show_default=True,
    help="numpy: one .npy array of uint32 ids on standard output.",
)
@backend_option
def encode_command(
    files: tuple[str, ...],
    model: str | None,
    text: tuple[str, ...],
    lines: bool,
    bos: bool,
    eos: bool,
    form: str,
    backend: str,
) -> None:
    """Encode texts: of --text, of FILES, or of standard input."""
    tokenizer = open_model(model, backend)
    texts = list(input_texts(text, files, lines))
    if form == "numpy":
        write_npy(tokenizer, texts, bos, eos)
        return
    for each in progress(texts, len(texts), "encode"):
        click.echo(encoded_line(tokenizer, each, bos, eos, form))


def encoded_line(tokenizer: Tokenizer, text: bytes, bos: bool, eos: bool, form: str) -> str:
    """One text as a line of output."""
    if form == "ids":
        return " ".join(map(str, tokenizer.encode(text, bos=bos, eos=eos)))
    encoding = tokenizer.encode_with_offsets(text, bos=bos, eos=eos)
    if form == "pieces":
        return " ".join(encoding.pieces)
    return json.dumps(encoding._asdict(), ensure_ascii=False)


def write_npy(tokenizer: Tokenizer, texts: list[bytes], bos: bool, eos: bool) -> None:
    """Write the ids of all texts end to end as a .npy file."""
    import io

    import numpy as np

    stream = io.BytesIO()
    np.save(stream, tokenizer.encode_batch(texts, bos=bos, eos=eos).ids)
    write_bytes(stream.getvalue())


@commands.command("decode")
@files_argument
@model_option
@click.option("--raw", is_flag=True, help="Bytes of byte pieces as they are.")
@backend_option
def decode_command(files: tuple[str, ...], model: str | None, raw: bool, backend: str) -> None:
    """Decode ids, a text a line, from FILES or standard input.

    Ids are numbers with blanks or commas between them, or JSON lists.
    """
    tokenizer = open_model(model, backend)
    for name in files or ("-",):
        for number, line in enumerate(split_lines(read_file(name)), 1):
            where = f"{shown_name(name)}, line {number}"
            ids = parse_ids(line, where)
            with naming(where):
                data = tokenizer.decode_bytes(ids) if raw else tokenizer.decode(ids).encode()
            write_bytes(data + b"\n")


def parse_ids(line: bytes, where: str) -> list[int]:
    """Numbers of a line."""
    words = line.decode(errors="replace").strip().strip("[]").replace(",", " ").split()
    try:
        return [int(word) for word in words]
    except ValueError as error:
        raise click.UsageError(f"{where}: ids must be numbers ({error})") from error


@commands.command("count")
@files_argument
@model_option
@text_option
@bos_option
@eos_option
@click.option("--limit", type=click.IntRange(min=0), help="Exit with 1 if there are more.")
@backend_option
def count_command(
    files: tuple[str, ...],
    model: str | None,
    text: tuple[str, ...],
    bos: bool,
    eos: bool,
    limit: int | None,
    backend: str,
) -> int:
    """Count the tokens of texts: of --text, of FILES, or of standard input."""
    tokenizer = open_model(model, backend)
    names = [*("--text" for _ in text), *(files or (() if text else ("-",)))]
    total = 0
    for name, data in zip(names, input_texts(text, files, False), strict=True):
        count = tokenizer.count(data, bos=bos, eos=eos)
        total += count
        click.echo(f"{count}\t{name}" if len(names) > 1 else str(count))
    if len(names) > 1:
        click.echo(f"{total}\ttotal")
    return int(limit is not None and total > limit)


# -- verify, demo -------------------------------------------------------------------------


@commands.command("verify")
@click.argument("model", type=click.Path())
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--blob", type=click.Path(), help="Compare this blob instead of compiling MODEL.")
@backend_option
def verify_command(
    model: str, files: tuple[str, ...], blob: str | None, backend: BackendName
) -> int:
    """Compare with sentencepiece on FILES, line by line and whole.

    MODEL is a SentencePiece .model. The first difference is shown; exit code 1 says that
    there is one.
    """
    from isotok import _verify

    proto = read_file(model)
    with naming(model):
        reference = _verify.sentencepiece_encoder(proto)
    with naming(blob or model):
        tokenizer = isotok.load(blob or proto, backend=backend)
    failed = False
    for name in files:
        data = read_file(name)
        for way, texts in (("lines", split_lines(data)), ("whole", [data])):
            shown = progress(texts, len(texts), f"{name} {way}")
            outcome = _verify.compare(tokenizer, reference, shown)
            failed |= outcome.differing > 0
            click.echo(
                f"{name}: {way}: {outcome.texts:,} texts, {outcome.tokens:,} tokens, "
                f"{outcome.differing:,} differ"
            )
            if outcome.first is not None:
                click.echo(f"  first: text {outcome.number}")
                click.echo(_verify.explain(tokenizer, outcome.first))
    return int(failed)


@commands.command("demo")
@model_option
@click.option("--seconds", type=float, default=1.0, show_default=True, help="Per measurement.")
def demo_command(model: str | None, seconds: float) -> int:
    """Show pieces, ids, counts and speed natively and in wasm, and that the ids are equal."""
    from isotok import _demo

    return _demo.demo(model, seconds)
