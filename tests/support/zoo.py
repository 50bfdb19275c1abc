"""The hand-made models of tests/vectors: each puts one trap into a small file.

`MODELS` maps a name to (what it is for, a function that gives its bytes).
"""

from __future__ import annotations

from collections.abc import Callable

from support.models import (
    BPE,
    BYTES,
    CHAR,
    CONTROL,
    NORMAL,
    SPECIALS,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    WORD,
    Piece,
    charsmap,
    model,
)

MODELS: dict[str, tuple[str, Callable[[], bytes]]] = {}

KEEP = {"add_dummy_prefix": False, "remove_extra_whitespaces": False}
FDFA = "صلى الله عليه وسلم"  # what U+FDFA becomes under NFKC: 33 bytes

# A charsmap of our own in the manner of nmt_nfkc: widths, ligatures, a long expansion,
# deletions, white space, keys of several characters, a replacement with spaces.
RULES: dict[str | bytes, str | bytes] = {
    **{chr(0xFF01 + i): chr(0x21 + i) for i in range(94)},
    "\ufdfa": FDFA,
    "ﬁ": "fi",
    "ﬃ": "ffi",
    "½": "1\u20442",
    "\u00a8": " \u0308",
    "㌔": "キロ",
    "か\u3099": "が",
    "ｶﾞ": "ガ",
    "ｶ": "カ",
    "①": "1",
    "A\u030a": "Å",
    "\u212b": "Å",
    "\u0007": "",
    "\u00ad": "",
    "\t": " ",
    "\n": " ",
    "\r": " ",
    "\u3000": " ",
    "\u00a0": " ",
    "\ufeff": " ",
    "\ufffd": " ",
    "\u2581": " ",
    "…": "...",
    "‥ ": "  .  ",
}


def hand_made(purpose: str) -> Callable[[Callable[[], bytes]], Callable[[], bytes]]:
    """Register a model under its function's name."""

    def register(build: Callable[[], bytes]) -> Callable[[], bytes]:
        MODELS[build.__name__] = (purpose, build)
        return build

    return register


def letters(text: str, score: float = -4.0) -> list[Piece]:
    return [(letter, score, NORMAL) for letter in text]


def scored(text: str, start: float = -1.0, kind: int = NORMAL) -> list[Piece]:
    """Pieces separated by blanks, with falling scores."""
    return [(each, start - index, kind) for index, each in enumerate(text.split())]


# ---- Unigram ------------------------------------------------------------------------


@hand_made("ties: equal sums, decided by the start position; runs of unknowns")
def uni_ties() -> bytes:
    pieces = [("ab", -2, NORMAL), ("bc", -2, NORMAL), ("abc", -3, NORMAL), ("abab", -4, NORMAL)]
    return model([*SPECIALS, ("▁", -1.0, NORMAL), *letters("abc", -1.0), *pieces])


@hand_made("charsmap, user-defined pieces that it would rewrite, byte fallback")
def uni_rules() -> bytes:
    user = [
        (text, 0.0, USER_DEFINED) for text in ("\n", "①②", "ＡＢ", "▁▁", "<x>", "a b", "ab" * 9)
    ]
    pieces = scored("▁ ▁a a ab ▁fi f i 1 2 が キロ Å ... . ▁the the h e t の صلى ▁الله", -2.0)
    rules = {"precompiled_charsmap": charsmap(RULES)}
    return model([*SPECIALS, *BYTES, *user, *pieces], {"byte_fallback": True}, rules)


@hand_made("charsmap without byte fallback; spaces kept, no dummy prefix")
def uni_rules_keep() -> bytes:
    pieces = scored("▁ ▁▁ ▁▁▁ a ▁a f i fi . ... Å キ ロ")
    return model([*SPECIALS, *pieces], None, {"precompiled_charsmap": charsmap(RULES), **KEEP})


@hand_made("U+FDFA: 33 ids from three bytes")
def uni_expand() -> bytes:
    rules = {"precompiled_charsmap": charsmap(RULES), "add_dummy_prefix": False}
    return model([*SPECIALS, *BYTES, ("a", -1, NORMAL)], {"byte_fallback": True}, rules)


@hand_made("spaces stay spaces; pieces with a raw space and with ▁ side by side")
def uni_noescape() -> bytes:
    pieces = [(" ", -1, NORMAL), ("a b", -1, NORMAL), (" a", -2, NORMAL), ("▁a", -2, NORMAL)]
    return model([*SPECIALS, *pieces, *letters("ab▁")], None, {"escape_whitespaces": False})


@hand_made("spaces escaped, yet pieces hold raw spaces, which never match")
def uni_raw_space() -> bytes:
    pieces = [("a b", -1, NORMAL), (" ", -1, NORMAL), ("▁b", -1, NORMAL), ("x y", 0, USER_DEFINED)]
    return model([*SPECIALS, *pieces, *letters("abxy▁")])


@hand_made("treat_whitespace_as_suffix")
def uni_suffix() -> bytes:
    pieces = scored("a▁ ▁ b▁ ab ab▁ a b ▁▁")
    return model([*SPECIALS, *pieces], {"treat_whitespace_as_suffix": True})


@hand_made("suffix, spaces kept, byte fallback")
def uni_suffix_keep() -> bytes:
    trainer = {"treat_whitespace_as_suffix": True, "byte_fallback": True}
    return model(
        [*SPECIALS, *BYTES, *scored("a▁ ▁ b▁ a b")], trainer, {"remove_extra_whitespaces": False}
    )


@hand_made("pieces of 255, 256, 300 and 7,999 bytes")
def uni_long() -> bytes:
    long = [("a" * size, -size / 100, NORMAL) for size in (255, 256, 300, 7999)]
    user = [("é" * 127, 0, USER_DEFINED), ("é" * 128, 0, USER_DEFINED)]
    return model([*SPECIALS, ("▁", -1, NORMAL), *letters("abé"), *long, *user])


@hand_made("sums that overflow to -inf, and NaN after re-centring")
def uni_infinite() -> bytes:
    pieces = [("a", -3e38, NORMAL), ("b", -3.4e38, NORMAL), ("aa", -3.2e38, NORMAL)]
    return model([*SPECIALS, ("▁", -1, NORMAL), ("c", 3e38, NORMAL), ("ab", 1e38, NORMAL), *pieces])


@hand_made("sums beyond +-1e5 within a few characters: re-centring, also off the path")
def uni_recentre() -> bytes:
    pieces = [("a", -40000.3, NORMAL), ("b", -60000.7, NORMAL), ("aba", -99999.9, NORMAL)]
    more = [("bab", -130000.1, NORMAL), ("c", 70000.5, NORMAL), ("cc", 150000.2, NORMAL)]
    return model([*SPECIALS, ("▁", -0.1, NORMAL), *pieces, *more, ("aab", -100000.0, NORMAL)])


@hand_made("scores that float32 rounds: long runs of near ties")
def uni_rounding() -> bytes:
    pieces = [("-", -12.508309, NORMAL), ("-" * 13, -9.914877, NORMAL), ("-" * 5, -9.1, NORMAL)]
    return model([*SPECIALS, ("▁", -3.3, NORMAL), *pieces, *letters("ab", -7.7)])


@hand_made("an unknown character beside a piece that holds it: near ties of their sums")
def uni_unknown_ties() -> bytes:
    pieces = [("a", 10.0, NORMAL), ("ab", -12.3, NORMAL), ("c", -0.7, NORMAL)]  # b: -22.3
    return model([*SPECIALS, ("▁", -1.1, NORMAL), *pieces])


@hand_made("an unknown ▁ falls back to three bytes")
def uni_space_bytes() -> bytes:
    return model([*SPECIALS, *BYTES, *letters("abc", -2)], {"byte_fallback": True})


@hand_made("byte fallback without an UNKNOWN piece")
def uni_no_unk() -> bytes:
    return model([*SPECIALS[1:], *BYTES, *letters("ab▁", -2)], {"byte_fallback": True})


@hand_made("UNKNOWN is the last piece; other names for BOS, EOS and PAD; empty unk_surface")
def uni_names() -> bytes:
    pieces = [("[B]", 0, CONTROL), ("[E]", 0, CONTROL), ("[P]", 0, CONTROL), *scored("▁ a [B] b")]
    names = {"bos_piece": "[B]", "eos_piece": "[E]", "pad_piece": "[P]", "unk_surface": ""}
    return model([*pieces[:3], *pieces[3:], ("▁unk", 0, UNKNOWN)], names)


@hand_made("the unknown piece begins with ▁ and decodes to nothing")
def uni_unknown_space() -> bytes:
    pieces = scored("▁ ▁a a b ▁▁b")
    flags = {"remove_extra_whitespaces": False}
    return model([("▁u", 0, UNKNOWN), *SPECIALS[1:], *pieces], {"unk_surface": ""}, flags)


@hand_made("one text as CONTROL and as NORMAL; UNUSED pieces; a lone NUL piece")
def uni_twice() -> bytes:
    twice = [("<s>", -1, NORMAL), ("a", -1, NORMAL), ("ab", -0.5, UNUSED), ("b", -1, UNUSED)]
    return model([*SPECIALS, *twice, ("\0", 0, UNUSED), *letters("<s>▁")])


@hand_made("no NORMAL piece: the unknown score is FLT_MAX - 10")
def uni_only_user() -> bytes:
    return model([*SPECIALS, ("ab", 0, USER_DEFINED), ("▁", 0, USER_DEFINED), ("x", 0, UNUSED)])


@hand_made("user-defined scores: bytes count, long ones win, positive neighbours win over them")
def uni_user_scores() -> bytes:
    user = [(text, 5.0, USER_DEFINED) for text in ("éé", "abc", "bcd", "ab", "cd", "abcdefghij")]
    return model([*SPECIALS, *user, *letters("abcdefghij▁é", -0.05), ("cde", 9.0, NORMAL)])


@hand_made("70 user-defined pieces nested in each other: the first 64 prefixes count")
def uni_nested_user() -> bytes:
    nested = [("a" * size, 0, USER_DEFINED) for size in range(1, 71)]
    return model([*SPECIALS, *nested, *letters("b▁")], None, {"escape_whitespaces": True})


@hand_made("40 charsmap keys nested in each other: the first 32 prefixes count")
def uni_nested_rules() -> bytes:
    nested: dict[str | bytes, str | bytes] = {"a" * size: f"{size}." for size in range(1, 41)}
    pieces = letters("0123456789.▁ab", -3)
    return model([*SPECIALS, *pieces], None, {"precompiled_charsmap": charsmap(nested)})


@hand_made("pieces that are not well-formed UTF-8")
def uni_ill_formed() -> bytes:
    pieces = [(b"\xe3\x81", -1, NORMAL), (b"\x82", -1, NORMAL), (b"\xf0\x9f\x98a", -1, NORMAL)]
    rules: dict[str | bytes, str | bytes] = {"x": b"\xe3", "y": b"\xf0\x9f", "z": b"\x82\x20"}
    return model(
        [*SPECIALS, *pieces, (b"\xe3\x81\x82a", -1, NORMAL), *letters("▁aあ")],
        None,
        {"precompiled_charsmap": charsmap(rules)},
    )


@hand_made("a charsmap that turns into nothing, into spaces, and into many spaces")
def uni_spaces() -> bytes:
    rules: dict[str | bytes, str | bytes] = {
        "x": " ",
        "y": "  a  ",
        "z": "",
        "w": "   ",
        "ab": " b",
    }
    return model(
        [*SPECIALS, *scored("▁ ▁▁ a ▁a b ▁b"), ("x", 0, USER_DEFINED)],
        None,
        {"precompiled_charsmap": charsmap(rules)},
    )


@hand_made("a denormalizer")
def uni_denormalizer() -> bytes:
    back = charsmap({"a": "A", "b ": "B_", "c": "", "あ": "ア", "  ": "+"})
    flags = {"precompiled_charsmap": back, "escape_whitespaces": False, **KEEP}
    return model([*SPECIALS, *scored("▁ a b c あ ▁a ▁▁")], None, None, flags)


@hand_made("a denormalizer that escapes, strips and prefixes; byte pieces")
def uni_denormalizer_full() -> bytes:
    back = {"precompiled_charsmap": charsmap({"a": " A", "\ufffd": "?"})}
    return model([*SPECIALS, *BYTES, *scored("▁ a b ▁a")], {"byte_fallback": True}, None, back)


# ---- BPE ----------------------------------------------------------------------------


@hand_made("merges by score, then from the left; a piece that no merge reaches")
def bpe_plain() -> bytes:
    pieces = scored("▁ a b c d ab bc cd abc bcd ▁a ▁ab hello he ll")
    return model([*SPECIALS, *pieces, *letters("helo", -20)], {"model_type": BPE})


@hand_made("fractional, equal, positive and zero scores of both signs")
def bpe_scores() -> bytes:
    pairs = [("ab", -1.75), ("bc", -1.25), ("cd", 0.0), ("de", -0.0), ("ef", 2.5), ("fg", 2.5)]
    zeros: list[Piece] = [("hi", -0.0, NORMAL), ("ij", 0.0, NORMAL), *letters("hij")]
    pieces: list[Piece] = [(text, score, NORMAL) for text, score in pairs]
    return model(
        [*SPECIALS, *letters("▁abcdefg"), *pieces, ("abc", 1e30, NORMAL), *zeros],
        {"model_type": BPE},
    )


@hand_made("scores that are infinite or NaN: the order of the bits")
def bpe_not_finite() -> bytes:
    pairs = [("ab", float("inf")), ("bc", float("nan")), ("cd", float("-inf")), ("de", -1.0)]
    pieces: list[Piece] = [(text, score, NORMAL) for text, score in pairs]
    return model([*SPECIALS, *letters("▁abcde"), *pieces], {"model_type": BPE})


@hand_made("UNUSED pieces as steps of merges, split back; two ways to the same text")
def bpe_unused() -> bytes:
    unused = [("ab", -1, UNUSED), ("cd", -1.5, UNUSED), ("abcd", -2, UNUSED), ("bc", -3, UNUSED)]
    more: list[Piece] = [("abc", -4, UNUSED), ("abcde", -5, NORMAL), ("c", -9, UNUSED)]
    return model([*SPECIALS, *letters("▁abde"), *unused, *more], {"model_type": BPE})


CHAIN = "".join(map(chr, range(0x4E00, 0x4E00 + 120)))  # each character once


@hand_made("a chain of 120 UNUSED pieces: re-splitting stops at depth 100")
def bpe_unused_deep() -> bytes:
    chain: list[Piece] = [(CHAIN[:size], -size, UNUSED) for size in range(2, 121)]
    return model(
        [*SPECIALS, *letters("▁" + CHAIN, -1000), *chain],
        {"model_type": BPE},
        {"add_dummy_prefix": False},
    )


@hand_made("user-defined pieces are frozen; they shield from the charsmap")
def bpe_user() -> bytes:
    user = [(text, 0, USER_DEFINED) for text in ("<x>", "aa", "▁▁", "\n", "Ａb", "aaa")]
    pieces = scored("▁ a b A ab ▁a aab baa ▁▁a ▁b", -3)
    rules = {"precompiled_charsmap": charsmap(RULES), "remove_extra_whitespaces": False}
    return model([*SPECIALS, *user, *pieces], {"model_type": BPE}, rules)


@hand_made("as Gemma and Llama: byte fallback, runs of spaces, no normalization")
def bpe_bytes() -> bytes:
    pieces = scored("▁▁ ▁▁▁▁ th the ▁the ▁th an and ▁an ▁and é日 日本 \r\n \r\r", -1)
    singles = letters("▁thean d\r\né日本", -50)
    user = [("<start>", 0, USER_DEFINED), ("\n\n", 0, USER_DEFINED)]
    return model(
        [*SPECIALS, *BYTES, *user, *pieces, *[each for each in singles if each[0] != " "]],
        {"model_type": BPE, "byte_fallback": True},
        KEEP,
    )


@hand_made("merges of one letter to powers of two and to three")
def bpe_runs() -> bytes:
    runs: list[Piece] = [("a" * size, -size, NORMAL) for size in (2, 3, 4, 8, 16, 64)]
    return model(
        [*SPECIALS, *letters("▁ab", -99), *runs, *scored("▁a ab aab", -5)], {"model_type": BPE}
    )


@hand_made("pieces spelled as CONTROL and BYTE names must not come out of text")
def bpe_reserved() -> bytes:
    pieces = scored("<s <0 <0x x4 41 1> s> /s", -1)
    return model(
        [*SPECIALS, *BYTES, *pieces, *letters("▁<s>/0x41a", -9)],
        {"model_type": BPE, "byte_fallback": True},
    )


@hand_made("BPE over spaces that stay spaces, and pieces with both kinds")
def bpe_noescape() -> bytes:
    pieces = scored("| |▁ |a", -1)
    spaced = [(str(text).replace("|", " "), score, kind) for text, score, kind in pieces]
    return model(
        [*SPECIALS, *spaced, *letters("▁ab", -9), ("▁a", -3, NORMAL)],
        {"model_type": BPE},
        {"escape_whitespaces": False, "remove_extra_whitespaces": False},
    )


@hand_made("pieces of 255, 256 and 300 bytes, reached by doubling")
def bpe_long() -> bytes:
    sizes = [2, 4, 8, 16, 32, 64, 128, 255, 256, 44, 300]
    runs: list[Piece] = [("a" * size, -size, NORMAL) for size in sizes]
    more: list[Piece] = [("b" * size, -size, NORMAL) for size in (2, 3, 4, 127, 128, 7999)]
    return model([*SPECIALS, *letters("▁abé", -9e3), *runs, *more], {"model_type": BPE})


@hand_made("pieces that are not well-formed UTF-8")
def bpe_ill_formed() -> bytes:
    pieces = [(b"\xe3\x81", -1, NORMAL), (b"\x82a", -2, NORMAL), (b"\xe3\x81\x82a", -3, NORMAL)]
    rules: dict[str | bytes, str | bytes] = {"x": b"\xe3", "y": b"\x81", "z": b"\x82"}
    return model(
        [*SPECIALS, *pieces, *letters("▁aあ"), (b"\x82", -1, NORMAL), ("ああ", -5, NORMAL)],
        {"model_type": BPE},
        {"precompiled_charsmap": charsmap(rules)},
    )


# ---- Word and char ------------------------------------------------------------------


@hand_made("words, with an UNUSED one")
def word_plain() -> bytes:
    pieces = [*scored("▁the ▁a the ▁ ▁日本 ▁a▁"), ("▁b", -1, UNUSED)]
    return model([*SPECIALS, *pieces], {"model_type": WORD})


@hand_made("words with byte fallback, user-defined pieces and a charsmap")
def word_bytes() -> bytes:
    pieces = [*scored("▁the ▁a ▁ fi ▁fi"), ("ＡＢ", 0, USER_DEFINED), ("▁ＡＢ", -9, NORMAL)]
    trainer = {"model_type": WORD, "byte_fallback": True, "treat_whitespace_as_suffix": True}
    rules = {"precompiled_charsmap": charsmap(RULES)}
    return model([*SPECIALS, *BYTES, *pieces], trainer, rules)


@hand_made("characters, user-defined pieces, UNUSED ones")
def char_plain() -> bytes:
    user = [(text, 0, USER_DEFINED) for text in ("abc", "ab", "日本")]
    return model([*SPECIALS, *user, *letters("▁abcd日"), ("x", -1, UNUSED)], {"model_type": CHAR})


@hand_made("characters with byte fallback, spaces kept")
def char_bytes() -> bytes:
    return model(
        [*SPECIALS, *BYTES, *letters("▁abc<0x41>日")],
        {"model_type": CHAR, "byte_fallback": True},
        KEEP,
    )
