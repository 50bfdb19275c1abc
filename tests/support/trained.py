"""Small models of every kind as tokenizer.json, trained by tokenizers on a few lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

LINES = [
    "hello world hello there",
    "the quick brown fox jumps over the lazy dog",
    "été à la plage, naïve",
    "日本語 のテスト",
    "aaa bbb ccc 123 456",
] * 5
SPECIAL = ["<unk>", "<s>", "<mask>"]
ALPHABET = [*SPECIAL, *" \t\n▁,aQxΩжéﬁ１中☃", "  ", "hello", "world", "日本", "the "]
"""What texts are put together from."""

KINDS = (
    "bytes",
    "bytes_prefix",
    "bpe",
    "unigram",
    "unigram_first",
    "unigram_never",
    "unigram_lowercase",
    "unigram_nfkc",
    "word_piece",
    "word_level",
)


@cache
def trained(kind: str) -> str:
    """Return a model of this kind."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    unigram: Callable[[], Any] = models.Unigram
    of_unigram = trainers.UnigramTrainer(vocab_size=60, special_tokens=SPECIAL, unk_token="<unk>")
    of_bytes = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    of_bpe = trainers.BpeTrainer(vocab_size=60, special_tokens=SPECIAL, show_progress=False)
    space = pre_tokenizers.Metaspace
    byte = pre_tokenizers.ByteLevel
    recipes: dict[str, tuple[Any, Any, Any, Any]] = {
        "bytes": (models.BPE(), of_bytes, byte(add_prefix_space=False), None),
        "bytes_prefix": (models.BPE(), of_bytes, byte(add_prefix_space=True), None),
        "bpe": (models.BPE(unk_token="<unk>", fuse_unk=True), of_bpe, None, None),
        "unigram": (unigram(), of_unigram, space(), None),
        "unigram_first": (unigram(), of_unigram, space(prepend_scheme="first"), None),
        "unigram_never": (unigram(), of_unigram, space(prepend_scheme="never"), None),
        "unigram_lowercase": (unigram(), of_unigram, None, normalizers.Lowercase()),
        "unigram_nfkc": (unigram(), of_unigram, space(), normalizers.NFKC()),
        "word_piece": (
            models.WordPiece(unk_token="<unk>"),
            trainers.WordPieceTrainer(vocab_size=80, special_tokens=SPECIAL, show_progress=False),
            pre_tokenizers.BertPreTokenizer(),
            normalizers.BertNormalizer(),
        ),
        "word_level": (
            models.WordLevel(unk_token="<unk>"),
            trainers.WordLevelTrainer(vocab_size=20, special_tokens=SPECIAL, show_progress=False),
            pre_tokenizers.Whitespace(),
            None,
        ),
    }
    model, trainer, cuts, normalizer = recipes[kind]
    tokenizer = Tokenizer(model)
    if cuts is not None:
        tokenizer.pre_tokenizer = cuts
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.train_from_iterator(LINES, trainer)
    if kind.startswith("bytes"):
        tokenizer.decoder = decoders.ByteLevel()
    return str(tokenizer.to_str())


def varied(kind: str, *, post_processor: object = None, added: dict[str, Any] | None = None) -> str:
    """Return a model with another post_processor, and other members of ``<mask>``."""
    whole: dict[str, Any] = json.loads(trained(kind))
    whole["post_processor"] = post_processor
    whole["added_tokens"][2].update(added or {})
    return json.dumps(whole, ensure_ascii=False)
