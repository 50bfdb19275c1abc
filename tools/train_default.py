"""Train the embedded default model.

Unigram, 16,000 pieces, byte fallback, on the public-domain corpora en.txt and ja.txt
(novels), with sentencepiece's trainer; lossless: identity normalization, spaces kept.
The result is committed in packed form as py_host/isotok/data/default.isotok-packed.

    python tools/train_default.py DATA_FOLDER OUT.model
    isotok compile OUT.model --packed -o py_host/isotok/data/default.isotok-packed
"""

from __future__ import annotations

import sys
from pathlib import Path

import sentencepiece


def main() -> None:
    """Train the model from DATA_FOLDER/corpora/{en,ja}.txt and write it to OUT.model."""
    data, out = Path(sys.argv[1]), Path(sys.argv[2])
    corpora = [data / "corpora" / name for name in ("en.txt", "ja.txt")]
    with out.open("wb") as writer:
        sentencepiece.SentencePieceTrainer.train(
            input=[str(path) for path in corpora],
            model_writer=writer,
            model_type="unigram",
            vocab_size=16_000,
            byte_fallback=True,
            character_coverage=0.9995,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            add_dummy_prefix=False,
            split_by_number=True,
            split_digits=True,
            max_sentence_length=65_536,
            num_threads=1,
            minloglevel=1,
        )


if __name__ == "__main__":
    main()
