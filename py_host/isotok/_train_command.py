"""The command `isotok train`: files to a model."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from isotok._export import commands

if TYPE_CHECKING:
    from isotok.train import BpeModel, WordCounter

__all__ = ["commands", "train_command"]


_ENDINGS: Final = {".isotok", ".json", ".tiktoken", ""}


@commands.command("train")
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--vocab-size", "-n", type=click.IntRange(min=1), required=True)
@click.option(
    "--output",
    "-o",
    type=click.Path(),
    multiple=True,
    required=True,
    help="NAME.isotok, NAME.json (tokenizer.json), NAME.tiktoken, or a folder (of "
    "save_pretrained); NAME.model with --algorithm unigram. May be repeated.",
)
@click.option(
    "--algorithm", type=click.Choice(["bpe", "unigram"]), default="bpe", show_default=True
)
@click.option("--unit", type=click.Choice(["byte", "unicode"]), default="byte", show_default=True)
@click.option("--special", "-s", multiple=True, help="A special token; may be repeated.")
@click.option("--special-last", is_flag=True, help="Give special tokens the last ids.")
@click.option("--pattern", help="Regular expression of a word; default: GPT-2's.")
@click.option("--column", default="text", show_default=True, help="Of tables and JSON lines.")
@click.option("--documents", type=click.Choice(["line", "file"]), default="line", show_default=True)
@click.option("--separator", help="What stands between documents of text files instead.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace", "skip"]),
    default="strict",
    show_default=True,
    help="What becomes of text that is not UTF-8.",
)
@click.option("--counts", type=click.Path(), help="Train on these counts instead of FILES.")
@click.option("--save-counts", type=click.Path(), help="Write the counts of words too.")
@click.option("--min-frequency", type=click.IntRange(min=0), default=0)
@click.option("--max-token-length", type=click.IntRange(min=1), help="In bytes.")
@click.option("--limit-alphabet", type=click.IntRange(min=0), help="Unicode units only.")
@click.option("--initial-alphabet", help='"raw", "byte_level", or characters (Unicode units).')
@click.option("--tie-break", type=click.Choice(["smallest_pair_id", "largest_content"]))
@click.option("--forbid", nargs=2, multiple=True, help="Two tokens that are never merged.")
@click.option("--start", type=click.Path(), help="Folder of a model to go on from.")
@click.option("--fallback-ratio", type=click.FloatRange(0, 1), help="Unicode units: byte fallback.")
@click.option("--bigrams", type=click.IntRange(min=0), help="Keep this many pairs of characters.")
@click.option("--bigram-min-frequency", type=click.IntRange(min=0), default=16, show_default=True)
@click.option("--bigram-boundary", type=click.Choice(["keep", "split"]), default="keep")
@click.option("--lossless", is_flag=True, help="Unicode units: less memory, the same model.")
@click.option("--hot-pairs", type=click.IntRange(min=1), help="Pairs that keep their places.")
@click.option("--memory-budget", type=click.IntRange(min=1), help="Bytes of counts in memory.")
@click.option("--spill-dir", type=click.Path(), help="Where counts go above it.")
@click.option("--checkpoint", type=click.Path(), help="Folder to go on from after a stop.")
@click.option("--checkpoint-seconds", type=float, default=60.0, show_default=True)
@click.option(
    "--progress",
    type=click.Choice(["auto", "none", "bar", "json"]),
    default="auto",
    show_default=True,
    help="On standard error; auto: a bar on a terminal.",
)
def train_command(files: tuple[str, ...], output: tuple[str, ...], **given: Any) -> None:
    """Train a tokenizer from FILES: text, .jsonl (and .gz, .zst of them), .parquet, .arrow."""
    _check_outputs(output, given["algorithm"])
    if bool(files) == bool(given["counts"]):
        raise click.UsageError("give FILES or --counts")
    if given["progress"] == "auto":
        given["progress"] = "bar" if sys.stderr.isatty() else "none"
    given["progress"] = None if given["progress"] == "none" else given["progress"]
    if given["algorithm"] == "unigram":
        _train_unigram(files, output, given)
    else:
        _train_bpe(files, output, given)


def _check_outputs(output: tuple[str, ...], algorithm: str) -> None:
    """Refuse what cannot be written, before hours of work."""
    endings = {".isotok", ".model"} if algorithm == "unigram" else _ENDINGS
    for name in output:
        if Path(name).suffix not in endings:
            known = ", ".join(ending or "a folder" for ending in sorted(endings))
            raise click.UsageError(f"{name}: --algorithm {algorithm} writes {known}")
        folder = Path(name).absolute().parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):
            raise click.UsageError(f"{name}: {folder} is no folder that can be written to")


def _source(files: tuple[str, ...], given: dict[str, Any]) -> Any:
    from isotok.train import files as read_files

    return read_files(
        *files,
        column=given["column"],
        documents=given["documents"],
        separator=given["separator"],
        errors=given["errors"],
    )


def _train_unigram(files: tuple[str, ...], output: tuple[str, ...], given: dict[str, Any]) -> None:
    from isotok.train.unigram import train_unigram

    if not files:
        raise click.UsageError("--algorithm unigram needs FILES")
    symbols = list(given["special"])
    options: dict[str, Any] = {"user_defined_symbols": symbols} if symbols else {}
    model = train_unigram(
        _source(files, given),
        vocab_size=given["vocab_size"],
        progress=given["progress"],
        byte_fallback=True,
        **options,
    )
    for name in output:
        model.save(name)
        click.echo(name)
    if model.lines_left_out:
        click.echo(f"{model.lines_left_out:,} lines were too long and left out", err=True)


def _train_bpe(files: tuple[str, ...], output: tuple[str, ...], given: dict[str, Any]) -> None:
    from isotok.train import Bigrams, BpeModel, train_bpe

    start = BpeModel.from_pretrained(given["start"]) if given["start"] else None
    if given["counts"] or given["save_counts"]:
        texts = _counter(files, given, start)
    else:
        texts = _source(files, given)
    bigrams = None
    if given["bigrams"] is not None:
        bigrams = Bigrams(given["bigrams"], given["bigram_min_frequency"], given["bigram_boundary"])
    model = train_bpe(
        texts,
        vocab_size=given["vocab_size"],
        special_tokens=given["special"],
        special_tokens_position="last" if given["special_last"] else "first",
        unit=given["unit"],
        pat_str=given["pattern"],
        min_frequency=given["min_frequency"],
        max_token_length=given["max_token_length"],
        limit_alphabet=given["limit_alphabet"],
        initial_alphabet=_alphabet(given["initial_alphabet"]),
        tie_break=given["tie_break"],
        forbidden_merges=given["forbid"] or None,
        start=start,
        primary_vocab_ratio=given["fallback_ratio"],
        bigrams=bigrams,
        lossless=given["lossless"],
        hot_pair_window_size=given["hot_pairs"],
        memory_budget=given["memory_budget"],
        spill_dir=given["spill_dir"],
        checkpoint=given["checkpoint"],
        checkpoint_seconds=given["checkpoint_seconds"],
        progress=given["progress"],
    )
    for name in output:
        _write(model, name)
        click.echo(f"{name}: {model.vocab_size:,} tokens")


def _counter(files: tuple[str, ...], given: dict[str, Any], start: BpeModel | None) -> WordCounter:
    """Return the counts of --counts, or those of FILES, saved if that is asked for."""
    from isotok.train import PreTokenizer, WordCounter
    from isotok.train._progress import progress_of

    special, pattern = given["special"], given["pattern"]
    if start is not None:  # its words are counted, as `train_bpe` does
        special, pattern = start.special_tokens, pattern or start.data.pat_str
    pre_tokenizer = PreTokenizer(special, None, pattern)
    if given["counts"]:
        counter = WordCounter.load(given["counts"], pre_tokenizer)
    else:
        budget, folder = given["memory_budget"], given["spill_dir"]
        counter = WordCounter(pre_tokenizer, memory_budget=budget, spill_dir=folder)
        counter.add_source(_source(files, given), progress=progress_of(given["progress"]))
    if given["save_counts"]:
        counter.save(given["save_counts"])
    return counter


def _alphabet(text: str | None) -> Any:
    return text if text in (None, "raw", "byte_level") else list(text)


def _write(model: BpeModel, name: str) -> None:
    ending = Path(name).suffix
    if ending == ".isotok":
        model.save_isotok(name)
    elif ending == ".json":
        model.save_tokenizer_json(name)
    elif ending == ".tiktoken":
        model.save_tiktoken(name)
    else:
        model.save_pretrained(name)
