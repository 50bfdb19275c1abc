"""What examples/c/train.c prints, from the Python package."""

from __future__ import annotations

from pathlib import Path

from isotok.train import BpeModel, BpeTrainer, PreTokenizer, files, train_bpe

# Ties, characters beyond ASCII, white space at both ends of words, what C escapes.
LINES = 30 * 'the cat "sat" on\tthe mat\\ é日本語、語\n\n  newest  newer\n' + "no line end"


def corpus_and_model(folder: Path) -> tuple[Path, Path]:
    """Write a text, and a model with GPT-2's pattern for words; return (model, text)."""
    text, blob = folder / "corpus.txt", folder / "words.isotok"
    text.write_text(LINES, "utf-8", newline="")
    train_bpe(["a"], vocab_size=256).save_isotok(blob)
    return blob, text


def merges_of(text: Path, vocab_size: int, blob: Path | None = None) -> str:
    """Return the output of `train TEXT VOCAB_SIZE [BLOB]`; the blob has GPT-2's pattern."""
    source = files(text)
    trainer = BpeTrainer([])
    if blob is None:
        trainer.add_words((line, 1) for line in source.scan())
    else:
        counter = PreTokenizer([]).word_counter()
        counter.add_source(source)
        trainer.add_words(counter.items())
    words = trainer.memory_usage["word_entries"]
    trainer.train(vocab_size)
    model = trainer.validate_model()
    rows = [*_rows(model), f"{words} words, {model.vocab_size} tokens"]
    short = model.vocab_size < vocab_size
    return "\n".join(rows) + (": no pair is left\n" if short else "\n")


def _rows(model: BpeModel) -> list[str]:
    tokens = model.data.tokens
    return [
        f"{count} {_quoted(tokens[left])} {_quoted(tokens[right])}"
        for left, right, _, count in model.data.merges
    ]


def _quoted(token: bytes) -> str:
    letters = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in token
    )
    return f'"{"".join(letters)}"'
