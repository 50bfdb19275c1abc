"""Small corpora, made the same way each time."""

from __future__ import annotations

import random

SPECIAL = ["<|endoftext|>", "<pad>"]
ALPHABETS = {
    "ties": "ab",
    "letters": "abcde  '",
    "english": "the cat sat on a mat, it's 12 o'clock.\n ",
    "han": "你好世界人工智能，。 ",
    "mixed": "你好abc é1, ",
    "kana": "こんにちは世界カタカナ、",
    "hangul": "안녕하세요 세계 ",
    "thai": "สวัสดีชาวโลก ",
    "wide": "😀😃a你𠀀𠀁 \u200b\x01",
    "code": "if (x == y) {\n\treturn z;\n}\n",
}


def corpus(name: str, seed: int = 0, texts: int = 40, longest: int = 60) -> list[str]:
    """Texts over the letters of a name."""
    rng = random.Random(f"{name} {seed}")
    letters = ALPHABETS[name]
    found = ["".join(rng.choices(letters, k=rng.randint(0, longest))) for _ in range(texts)]
    found[0] += SPECIAL[0] + letters
    return found


def word_table(rng: random.Random, letters: str) -> dict[str, int]:
    """Words with counts, many of them equal."""
    words = {"".join(rng.choices(letters, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 20))}
    return {word: rng.randint(1, 4) for word in sorted(words)}
