"""Made-up prose in several scripts: what the tests train on and read, free of any source."""

from __future__ import annotations

import random

SYLLABLES = [
    *("ka", "lo", "mi", "ter", "un", "den", "sha", "ro", "vi", "est"),
    *("or", "na", "pel", "qui", "ban", "thu", "se", "ing", "ary", "gol"),
]
KANA = "あいうえおかきくけこさしすせそたちつてとなにぬねのまみむめもらりるれろ"
HAN = "山川日月水火木金土人大小中上下本学生先年時分行来見聞"
GREEK = "αβγδεικλμνοπρστω"
CYRILLIC = "абвгдеиклмнопрстуя"
EMOJI = ["😀", "🚀", "👩‍👩‍👧", "🇯🇵", "❤️"]


def vocabulary(generator: random.Random, count: int) -> list[str]:
    return [
        "".join(generator.choice(SYLLABLES) for _ in range(generator.choice([1, 1, 2, 2, 3])))
        for _ in range(count)
    ]


def word(generator: random.Random, common: list[str]) -> str:
    kind = generator.random()
    if kind < 0.72:  # few words are common, many are rare
        found = common[int(len(common) * generator.random() ** 3)]
        return found.capitalize() if generator.random() < 0.1 else found
    if kind < 0.86:
        size = generator.randrange(2, 9)
        return "".join(
            generator.choice(KANA if generator.random() < 0.6 else HAN) for _ in range(size)
        )
    if kind < 0.92:
        script = generator.choice([GREEK, CYRILLIC])
        return "".join(generator.choice(script) for _ in range(generator.randrange(3, 8)))
    if kind < 0.98:
        return str(generator.randrange(10 ** generator.randrange(1, 6)))
    return generator.choice(EMOJI)


def prose(size: int, seed: int) -> str:
    """About `size` bytes of text; the same seed gives the same text."""
    generator = random.Random(f"prose {seed}")
    common = vocabulary(random.Random("common words"), 400)
    parts: list[str] = []
    total = 0
    while total < size:
        sentence = " ".join(word(generator, common) for _ in range(generator.randrange(4, 14)))
        end = generator.choice([". ", ".\n", "! ", "。", ", ", "  ", '."\n\n'])
        parts.append(sentence + end)
        total += len(parts[-1].encode())
    return "".join(parts)
