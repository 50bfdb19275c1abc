"""The trainer against the one that counts everything again before each merge."""

from __future__ import annotations

import random
from typing import Any

import pytest
from isotok.train import BpeTrainer
from isotok.train._python import LETTER_ORDER
from reference_trainer import Reference
from texts import word_table

SEEDS = 1000
LETTERS = ["ab", "abcd", "abé你", "你好世界", "ab你好😀"]


def options_of(rng: random.Random) -> dict[str, Any]:
    """Options, most of them as by default."""

    def some(values: list[Any], default: Any) -> Any:
        return rng.choice(values) if rng.random() < 0.3 else default

    unit = rng.choice(["byte", "unicode"])
    unicode_unit = unit == "unicode"
    alphabet = some(["byte_level", *([["你", "龘"]] if unicode_unit else [])], "raw")
    return {
        "unit": unit,
        "initial_alphabet": alphabet,
        "tie_break": some(["largest_content"], "smallest_pair_id"),
        "min_frequency": some([1, 2, 5], 0),
        "max_token_length": some([2, 3, 5], None),
        "limit_alphabet": some([0, 1, 3], None) if unicode_unit else None,
        "forbidden_merges": some([[("a", "b")], [("你", "好"), ("b", "a")]], []),
    }


@pytest.mark.parametrize("part", range(10))
def test_agrees_on_random_corpora(part: int) -> None:
    for seed in range(part * SEEDS // 10, (part + 1) * SEEDS // 10):
        rng = random.Random(seed)
        options = options_of(rng)
        words = word_table(rng, rng.choice(LETTERS))
        special = rng.choice([[], ["<s>"], ["<s>", "</s>"]])
        place = rng.choice(["first", "last"])
        grown = rng.randint(2, 30)
        ratio = rng.choice([0.0, 0.3, 0.5, 0.9])
        fallback = (
            options["unit"] == "unicode"
            and not options["limit_alphabet"]
            and isinstance(options["initial_alphabet"], str)
            and options["max_token_length"] is None
            and not options["forbidden_merges"]
            and options["limit_alphabet"] is None
            and rng.random() < 0.5
        )
        reference = Reference(words, **options)
        trainer = BpeTrainer(special, special_tokens_position=place, **options)
        trainer.add_words(words)
        base = 256 + grown
        if fallback:
            reference.run_with_fallback(base, ratio)
            trainer.train_with_bbpe_fallback(base + len(special), primary_vocab_ratio=ratio)
        else:
            reference.run(base)
            trainer.train(max(base + len(special), trainer.vocab_size))
        model = trainer.validate_model()
        marks = [text.encode() for text in special]
        expected = [*marks, *reference.tokens] if place == "first" else [*reference.tokens, *marks]
        assert list(model.data.tokens) == expected, (seed, options)
        assert model.merges == reference.merges, (seed, options)


def test_letters_are_in_the_order_of_hugging_face() -> None:
    from isotok.train._spelling import spell

    spelled = [spell(bytes([byte]), "gpt2") for byte in LETTER_ORDER]
    assert spelled == sorted(spelled)


def test_step_is_train_one_by_one() -> None:
    words = word_table(random.Random(5), "abc你")
    whole, steps = BpeTrainer([], unit="unicode"), BpeTrainer([], unit="unicode")
    for trainer in (whole, steps):
        trainer.add_words(words)
    whole.train(266)
    while steps.vocab_size < 266:
        steps.step()
    assert whole.validate_model().data == steps.validate_model().data
