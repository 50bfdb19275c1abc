"""isotok reference: what a SentencePiece model does to text, in plain Python.

Slow and readable, standard library only. It was written from the rules, not from the
C core, and is one of the two oracles of the tests (the other is sentencepiece 0.2.3).

    reference = load(Path("x.model").read_bytes())
    reference.encode(b"hello world")     -> [Token(id, piece, begin, end), ...]
    reference.decode([1, 2, 3])          -> b"..."

Everything is bytes. Offsets are bytes of the raw text; see `unit_positions` for others.
Sections: 1 the model and its checks, 2 normalizer, 3 segmenters, 4 tokens, 5 decoder;
wire.py beside this file reads protobuf.
"""

from __future__ import annotations

import ctypes
import heapq
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from wire import Message, ModelError

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
UNIGRAM, BPE, WORD, CHAR = range(1, 5)
MATCHABLE = (NORMAL, USER_DEFINED, UNUSED)  # the others are "reserved"

SPACE = "\u2581".encode()  # what a space becomes where the model escapes spaces
REPLACEMENT = "\ufffd".encode()
FLT_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]
RESET = 100000.0  # Unigram scores are re-centred beyond +-RESET
MAX_USER_PREFIXES, MAX_RULE_PREFIXES = 64, 32  # matches that sentencepiece looks at
MAX_RESPLIT_DEPTH = 100
END = -1  # in a trie node: a key ends here


def f32(value: float) -> float:
    """Round to float32 (to nearest; overflow gives an infinity, as in C)."""
    return ctypes.c_float(value).value


def char_size(text: bytes, at: int) -> int:
    """Bytes of the character at `at`, judged by its lead byte, clipped to the text."""
    lead = text[at]
    size = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    return min(size, len(text) - at)


def well_formed_size(text: bytes, at: int) -> int:
    """Bytes of the well-formed UTF-8 scalar at `at`, 0 if there is none."""
    size = char_size(text, at)
    try:
        return size if len(text[at : at + size].decode()) == 1 else 0
    except UnicodeDecodeError:
        return 0


def unit_positions(text: bytes, unit: str) -> list[int]:
    """For every byte offset 0..len(text), the position in `unit`s.

    `unit` is "byte", "codepoint" or "utf16". Ill-formed bytes count one each; an offset
    inside a character has the position of the character.
    """
    if unit == "byte":
        return list(range(len(text) + 1))
    positions: list[int] = []
    count = 0
    while len(positions) < len(text):
        size = well_formed_size(text, len(positions)) or 1
        positions += [count] * size
        count += 2 if unit == "utf16" and size == 4 else 1
    return [*positions, count]


# ---- 1. The model -------------------------------------------------------------------


class Piece(NamedTuple):
    text: bytes
    score_bytes: bytes  # float32, little-endian
    kind: int

    @property
    def score(self) -> float:
        return struct.unpack("<f", self.score_bytes)[0]

    @property
    def rank(self) -> int:
        """Order of BPE merges: of the float's bits, so that -0.0 < +0.0."""
        bits = struct.unpack("<I", self.score_bytes)[0]
        return bits if bits < 0x80000000 else -(bits & 0x7FFFFFFF) - 1


def read_piece(data: bytes, force_unused_nul: bool) -> Piece:
    message = Message(data)
    kind = message.choice(3, NORMAL, range(1, 7))
    text = message.bytes.get(1, b"")
    if force_unused_nul and text == b"\0":
        kind = UNUSED
    return Piece(text, message.words.get(2, b"\0\0\0\0"), kind)


BYTE_PIECES = [b"<0x%02X>" % value for value in range(256)]


@dataclass
class Vocabulary:
    """The pieces, and the two maps from text to id that look-ups go through."""

    pieces: list[Piece]
    visible: dict[bytes, int] = field(default_factory=dict)  # what text can match
    reserved: dict[bytes, int] = field(default_factory=dict)
    unk: int = -1

    def find(self, text: bytes) -> int:
        """Id of the piece with this text; the unknown id (-1 if none) without one."""
        return self.reserved.get(text, self.visible.get(text, self.unk))

    def special(self, text: bytes, kind: int) -> int:
        found = self.find(text)
        return found if found >= 0 and self.pieces[found].kind == kind else -1


def read_vocabulary(data: list[bytes], algorithm: int, byte_fallback: bool) -> Vocabulary:
    vocabulary = Vocabulary([read_piece(piece, byte_fallback) for piece in data])
    byte_pieces: set[bytes] = set()
    if any(len(piece.text) >= 8000 for piece in vocabulary.pieces):
        raise ModelError("piece is 8,000 bytes or longer")
    for index, piece in enumerate(vocabulary.pieces):
        if not piece.text:
            raise ModelError(f"piece {index} is empty")
        if piece.text == b"\0" and piece.kind == UNUSED:
            continue
        if b"\0" in piece.text:
            raise ModelError(f"piece {index} holds a NUL byte")
        # BPE has one map; the others keep reserved pieces apart.
        apart = algorithm != BPE and piece.kind not in MATCHABLE
        target = vocabulary.reserved if apart else vocabulary.visible
        if piece.text in target:
            raise ModelError(f"piece {index} is defined twice")
        target[piece.text] = index
        if piece.kind == UNKNOWN:
            if vocabulary.unk >= 0:
                raise ModelError(f"piece {index} is a second UNKNOWN piece")
            vocabulary.unk = index
        if piece.kind == BYTE:
            if not byte_fallback or piece.text not in BYTE_PIECES:
                raise ModelError(f"piece {index} must not be a BYTE piece")
            byte_pieces.add(piece.text)
    if vocabulary.unk < 0 and not byte_fallback:
        raise ModelError("no UNKNOWN piece")
    if byte_fallback and len(byte_pieces) < 256:
        raise ModelError("byte_fallback without 256 BYTE pieces")
    if algorithm == UNIGRAM:
        if not all(abs(piece.score) <= FLT_MAX for piece in vocabulary.pieces):
            raise ModelError("score is NaN or infinite")
        if not vocabulary.visible:
            raise ModelError("no piece can be matched in text")
    return vocabulary


# ---- 2. Normalizer ------------------------------------------------------------------


class Charsmap:
    """SentencePiece's precompiled_charsmap: a Darts double array of rules and a pool."""

    def __init__(self, data: bytes) -> None:
        size = struct.unpack_from("<I", data)[0] if len(data) > 4 else 0
        if size < 1024 or size % 1024 or size >= len(data) - 4:
            raise ModelError("charsmap: bad trie size")
        self.units = struct.unpack_from(f"<{size // 4}I", data, 4)
        self.pool = data[4 + size :]
        if self.pool[-1:] != b"\0":
            raise ModelError("charsmap: the last replacement has no end")
        self.check()

    @staticmethod
    def step(unit: int) -> int:
        """How far (by exclusive or) the children of a node lie from it."""
        return (unit >> 10) << ((unit & 0x200) >> 6)

    def check(self) -> None:
        if self.units[0] >> 31 or self.units[0] & 0x1FF or self.step(self.units[0]) == 0:
            raise ModelError("charsmap: bad root")
        for at, unit in enumerate(self.units):
            if unit >> 31:
                if unit & 0x7FFFFFFF >= len(self.pool):
                    raise ModelError("charsmap: a rule leaves the pool")
                continue
            child = at ^ self.step(unit)
            if child | 0xFF >= len(self.units):
                raise ModelError("charsmap: a link leaves the trie")
            if unit & 0x100 and not self.units[child] >> 31:
                raise ModelError("charsmap: a rule without a value")

    def longest(self, text: bytes, at: int) -> tuple[bytes, int] | None:
        """(replacement, bytes of the longest key that starts at `at`)."""
        found: tuple[int, int] | None = None
        matches = 0
        node = self.step(self.units[0])
        for end in range(at, len(text)):
            node ^= text[end]
            unit = self.units[node]
            if unit & 0x800000FF != text[end]:
                break
            node ^= self.step(unit)
            if unit & 0x100:
                found = (self.units[node] & 0x7FFFFFFF, end + 1 - at)
                matches += 1
                if matches == MAX_RULE_PREFIXES:
                    break
        if found is None:
            return None
        value, size = found
        return self.pool[value : self.pool.index(b"\0", value)], size


class Trie:
    """Keys with values; finds all keys that start at a place in a text."""

    def __init__(self, keys: Iterable[tuple[bytes, int]]) -> None:
        self.root: dict[int, Any] = {}  # byte -> node; END -> value of the key that ends here
        for key, value in keys:
            node = self.root
            for byte in key:
                node = node.setdefault(byte, {})
            node[END] = value

    def matches(self, text: bytes, at: int) -> Iterator[tuple[int, int]]:
        """Yield (end of the key in the text, value), shorter keys first."""
        node = self.root
        while at < len(text) and (node := node.get(text[at])) is not None:
            at += 1
            if END in node:
                yield at, node[END]

    def longest(self, text: bytes, at: int) -> int:
        """Size of the longest key, 0 if none matches; looks at 64 of them at most."""
        found = list(islice(self.matches(text, at), MAX_USER_PREFIXES))
        return found[-1][0] - at if found else 0


@dataclass
class Normalizer:
    charsmap: Charsmap | None
    add_dummy_prefix: bool
    remove_extra_whitespaces: bool
    escape_whitespaces: bool
    space_as_suffix: bool
    user: Trie

    def prefix(self, text: bytes, at: int) -> tuple[bytes, int]:
        """What the text at `at` becomes, and how many bytes of it that is."""
        size = self.user.longest(text, at)
        if size:
            return text[at : at + size], size
        rule = self.charsmap.longest(text, at) if self.charsmap else None
        if rule:
            return rule
        size = well_formed_size(text, at)
        return (text[at : at + size], size) if size else (REPLACEMENT, 1)

    def normalize(self, text: bytes) -> tuple[bytes, list[int]]:
        """Normalized text, and for each of its bytes (and its end) the raw offset."""
        at = 0
        if self.remove_extra_whitespaces:
            while at < len(text):
                output, size = self.prefix(text, at)
                if output != b" ":
                    break
                at += size
        if at == len(text):
            return b"", []
        space = SPACE if self.escape_whitespaces else b" "
        out = bytearray()
        offsets: list[int] = []

        def emit(data: bytes) -> None:
            out.extend(data)
            offsets.extend([at] * len(data))

        if self.add_dummy_prefix and not self.space_as_suffix:
            emit(space)
        after_space = self.remove_extra_whitespaces
        while at < len(text):
            output, size = self.prefix(text, at)
            if after_space:
                output = output.lstrip(b" ")
            if output:
                emit(output.replace(b" ", space))
                after_space = self.remove_extra_whitespaces and output.endswith(b" ")
            at += size
        if self.remove_extra_whitespaces:
            while out.endswith(space):
                del out[-len(space) :]
                at = offsets[len(out)]
                del offsets[len(out) :]
        if self.add_dummy_prefix and self.space_as_suffix:
            emit(space)
        return bytes(out), [*offsets, at]


def read_normalizer(spec: Message, suffix: bool, user: Trie) -> Normalizer:
    data = spec.bytes.get(2, b"")
    return Normalizer(
        Charsmap(data) if data else None,
        spec.flag(3, True),
        spec.flag(4, True),
        spec.flag(5, True),
        suffix,
        user,
    )


# ---- 3. Segmenters: normalized text -> [(piece text, id)] ---------------------------

Segments = list[tuple[bytes, int]]


class Unigram:
    """Viterbi in float32 over the whole text."""

    def __init__(self, vocabulary: Vocabulary, user: Trie) -> None:
        pieces = vocabulary.pieces
        normal = [piece.score for piece in pieces if piece.kind == NORMAL]
        self.unk = vocabulary.unk
        self.unk_score = f32(min(normal, default=FLT_MAX) - 10)
        self.weights = [self.weight(piece) for piece in pieces]
        usable = [(key, i) for key, i in vocabulary.visible.items() if pieces[i].kind != UNUSED]
        self.trie = Trie(usable)

    @staticmethod
    def weight(piece: Piece) -> float:
        bonus = f32(0.1 * (len(piece.text) - 1))
        return bonus if piece.kind == USER_DEFINED else piece.score

    def segment(self, text: bytes) -> Segments:
        best = [0.0] * (len(text) + 1)
        start = [-1] * (len(text) + 1)
        ids = [-1] * (len(text) + 1)
        frontier = at = 0

        def offer(end: int, score: float, index: int) -> None:
            nonlocal frontier
            frontier = max(frontier, end)
            if start[end] == -1 or score > best[end]:
                best[end], start[end], ids[end] = score, at, index

        while at < len(text):
            size = char_size(text, at)
            base = best[at]
            if abs(base) > RESET:
                for k in range(at, frontier + 1):
                    if k == at or start[k] != -1:
                        best[k] = f32(best[k] - base)
                base = 0.0
            single = False
            for end, index in self.trie.matches(text, at):
                offer(end, f32(self.weights[index] + base), index)
                single |= end - at == size
            if not single:
                offer(at + size, f32(self.unk_score + base), self.unk)
            at += size
        result: Segments = []
        while at > 0:
            result.append((text[start[at] : at], ids[at]))
            at = start[at]
        return result[::-1]


class Char:
    """Every character, or user-defined piece, is a token. BPE and WORD build on it."""

    def __init__(self, vocabulary: Vocabulary, user: Trie) -> None:
        self.vocabulary = vocabulary
        self.user = user

    def split(self, text: bytes) -> list[tuple[bytes, bool]]:
        """Return [(symbol, frozen)]."""
        symbols: list[tuple[bytes, bool]] = []
        at = 0
        while at < len(text):
            user = self.user.longest(text, at)
            size = user or char_size(text, at)
            symbols.append((text[at : at + size], user > 0))
            at += size
        return symbols

    def segment(self, text: bytes) -> Segments:
        return [(symbol, self.lookup(symbol)) for symbol, _ in self.split(text)]

    def lookup(self, text: bytes) -> int:
        """Id of a visible piece that is not UNUSED, else the unknown id."""
        index = self.vocabulary.visible.get(text, self.vocabulary.unk)
        usable = index >= 0 and self.vocabulary.pieces[index].kind in (NORMAL, USER_DEFINED)
        return index if usable else self.vocabulary.unk


class Word(Char):
    def segment(self, text: bytes) -> Segments:
        words: list[bytearray] = []
        at = 0
        while at < len(text):
            size = char_size(text, at)
            if not words or text[at : at + size] == SPACE:
                words.append(bytearray())
            words[-1] += text[at : at + size]
            at += size
        return [(bytes(word), self.lookup(bytes(word))) for word in words]


class Bpe(Char):
    """Merge the pair with the best score, the leftmost first, until none is left."""

    def segment(self, text: bytes) -> Segments:
        split = self.split(text)
        symbols = [symbol for symbol, _ in split]
        frozen = [is_frozen for _, is_frozen in split]
        before = list(range(-1, len(symbols) - 1))
        after = [*range(1, len(symbols)), -1]
        agenda: list[tuple[int, int, int, int]] = []
        parts: dict[bytes, tuple[bytes, bytes]] = {}  # of UNUSED pieces

        def offer(left: int, right: int) -> None:
            if left < 0 or right < 0 or frozen[left] or frozen[right]:
                return
            joined = symbols[left] + symbols[right]
            index = self.vocabulary.visible.get(joined, -1)
            if index < 0 or self.vocabulary.pieces[index].kind not in MATCHABLE:
                return
            piece = self.vocabulary.pieces[index]
            heapq.heappush(agenda, (-piece.rank, left, right, len(joined)))
            if piece.kind == UNUSED:
                parts[joined] = (symbols[left], symbols[right])

        for left in range(len(symbols) - 1):
            offer(left, left + 1)
        while agenda:
            _, left, right, size = heapq.heappop(agenda)
            fresh = symbols[left] and symbols[right]
            if not fresh or len(symbols[left]) + len(symbols[right]) != size:
                continue
            symbols[left] += symbols[right]
            symbols[right] = b""
            after[left] = after[right]
            if after[right] >= 0:
                before[after[right]] = left
            offer(before[left], left)
            offer(left, after[left])
        result: Segments = []
        for symbol in symbols:
            if symbol:
                result += self.resplit(symbol, parts)
        return result

    def resplit(self, symbol: bytes, parts: dict[bytes, tuple[bytes, bytes]]) -> Segments:
        """Take an UNUSED piece apart again, the way its text was last put together."""
        result: Segments = []
        stack = [(symbol, 0)]
        while stack:
            text, depth = stack.pop()
            index = self.vocabulary.visible.get(text, -1)
            unused = index >= 0 and self.vocabulary.pieces[index].kind == UNUSED
            if depth > MAX_RESPLIT_DEPTH and unused:
                result.append((text, index))
            elif unused and text in parts:
                stack += [(part, depth + 1) for part in reversed(parts[text])]
            else:
                result.append((text, self.lookup(text)))
        return result


# ---- 4. Tokens ----------------------------------------------------------------------


class Token(NamedTuple):
    id: int
    piece: bytes
    begin: int  # bytes of the raw text
    end: int


class Reference:
    """One model."""

    def __init__(self, data: bytes) -> None:
        model = Message(data)
        trainer = Message(model.merged.get(2, b""))
        normalizer = Message(model.merged.get(3, b""))
        denormalizer = Message(model.merged.get(5, b""))
        self.algorithm = trainer.choice(3, UNIGRAM, range(1, 5))
        self.byte_fallback = trainer.flag(35, False)
        self.unk_surface = trainer.bytes.get(44, " \u2047 ".encode())
        self.vocabulary = read_vocabulary(
            model.repeated.get(1, []), self.algorithm, self.byte_fallback
        )
        pieces = self.vocabulary.pieces
        self.bos = self.vocabulary.special(trainer.bytes.get(46) or b"<s>", CONTROL)
        self.eos = self.vocabulary.special(trainer.bytes.get(47) or b"</s>", CONTROL)
        self.pad = self.vocabulary.special(trainer.bytes.get(48) or b"<pad>", CONTROL)
        user = Trie((piece.text, 0) for piece in pieces if piece.kind == USER_DEFINED)
        self.normalizer = read_normalizer(normalizer, trainer.flag(24, False), user)
        self.denormalizer: Normalizer | None = None
        if denormalizer.bytes.get(2):
            self.denormalizer = read_normalizer(denormalizer, False, Trie([]))
        segmenter = (Unigram, Bpe, Word, Char)[self.algorithm - 1]
        self.segmenter = segmenter(self.vocabulary, user)

    def normalize(self, text: bytes) -> tuple[bytes, list[int]]:
        return self.normalizer.normalize(text)

    def encode(self, text: bytes, *, bos: bool = False, eos: bool = False) -> list[Token]:
        normalized, offsets = self.normalize(text)
        tokens: list[Token] = []
        at, after_unknown = 0, False
        for piece, index in self.segmenter.segment(normalized):
            begin, end = offsets[at], offsets[at + len(piece)]
            at += len(piece)
            unknown = index == self.vocabulary.unk
            if unknown and self.byte_fallback:
                names = [BYTE_PIECES[byte] for byte in piece]
                tokens += [Token(self.vocabulary.find(name), name, begin, begin) for name in names]
                tokens[-1] = tokens[-1]._replace(end=end)  # the last one has the span
            elif unknown and after_unknown:
                joined = tokens[-1].piece + piece
                tokens[-1] = tokens[-1]._replace(piece=joined, end=end)
            else:
                tokens.append(Token(index, piece, begin, end))
            after_unknown = unknown
        first = [Token(self.bos, self.vocabulary.pieces[self.bos].text, 0, 0)] if bos else []
        size = len(text)
        last = [Token(self.eos, self.vocabulary.pieces[self.eos].text, size, size)] if eos else []
        return first + tokens + last

    def encode_ids(self, text: bytes) -> list[int]:
        return [token.id for token in self.encode(text)]

    # ---- 5. Decoder -----------------------------------------------------------------

    def decode(self, ids: Sequence[int], *, raw: bool = False) -> bytes:
        """Text of token ids; `raw` keeps byte pieces as they are, ill-formed or not."""
        pieces = self.vocabulary.pieces
        if not all(0 <= index < len(pieces) for index in ids):
            raise IndexError("token id out of range")
        return self.decode_tokens([(pieces[index].text, index) for index in ids], raw)

    def decode_pieces(self, pieces: Sequence[bytes], *, raw: bool = False) -> bytes:
        """Text of tokens given by piece; a text that is no piece is passed on."""
        return self.decode_tokens([(piece, self.vocabulary.find(piece)) for piece in pieces], raw)

    def decode_tokens(self, tokens: Segments, raw: bool) -> bytes:
        out = bytearray()
        pending = bytearray()  # of a run of byte pieces
        at_start = True
        strip_all = self.normalizer.remove_extra_whitespaces
        strip = strip_all or self.normalizer.add_dummy_prefix

        def flush() -> None:
            at = 0
            while at < len(pending):
                size = well_formed_size(pending, at) or int(raw)
                out.extend(pending[at : at + size] or REPLACEMENT)
                at += max(size, 1)
            pending.clear()

        for text, index in tokens:
            kind = self.vocabulary.pieces[index].kind if index >= 0 else UNKNOWN
            if kind == BYTE:
                pending.append(BYTE_PIECES.index(text))
                continue
            flush()
            if out:
                at_start = False
            if kind == CONTROL:
                continue
            stripped = at_start and strip and text.startswith(SPACE)
            if kind == UNKNOWN:
                known = index >= 0 and self.vocabulary.pieces[index].text == text
                out += self.unk_surface if known else text
            else:
                out += text[len(SPACE) if stripped else 0 :].replace(SPACE, b" ")
            if out or (stripped and not strip_all):
                at_start = False
        flush()
        if self.denormalizer:
            return self.denormalizer.normalize(bytes(out))[0]
        return bytes(out)


def load(data: bytes) -> Reference:
    """Open the bytes of a `.model`; raise ModelError as sentencepiece would refuse."""
    return Reference(data)
