"""From stages to machines: as few passes over the text as possible.

A stage whose machine is immediate runs inside the next one (`fuse`). After one that is
not, the next machine makes another pass, over the pieces of that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from isotok.compile.pretok.alphabet import Alphabet, make_alphabet
from isotok.compile.pretok.code_points import CodePoints
from isotok.compile.pretok.contexts import make_contexts
from isotok.compile.pretok.errors import PatternError
from isotok.compile.pretok.fuse import Earlier, fuse
from isotok.compile.pretok.linear import checked_time
from isotok.compile.pretok.lookahead import Reverse, make_reverse
from isotok.compile.pretok.machine import Cell, Cut, Machine, minimized
from isotok.compile.pretok.nfa import (
    Before,
    Glance,
    Peek,
    Program,
    Take,
    compile_program,
    refuse_many_folds,
)
from isotok.compile.pretok.nodes import Look
from isotok.compile.pretok.stages import Stage
from isotok.compile.pretok.symbols import Symbols, plain_symbols
from isotok.compile.pretok.tokens import Tokens


@dataclass(frozen=True)
class Pass:
    """One pass over the text or over the pieces of the pass before."""

    machine: Machine
    reverse: Reverse | None
    on_bytes: bool


@dataclass(frozen=True)
class Chain:
    """The passes of a pre-tokenizer.

    Parameters
    ----------
    alphabet, byte_alphabet : Alphabet
        The classes of code points, and of the letters that stand for bytes.
    passes : tuple of Pass
        In order; those over bytes come last.
    """

    alphabet: Alphabet
    byte_alphabet: Alphabet
    passes: tuple[Pass, ...]


def make_chain(stages: Sequence[Stage]) -> Chain:
    """Compile stages.

    Parameters
    ----------
    stages : sequence of Stage
        At least one; in the order in which they are applied.

    Returns
    -------
    Chain
        It cuts exactly as they do.

    Raises
    ------
    PatternError
        They cannot be reproduced exactly or in linear time.
    """
    programs = [_program(stage) for stage in stages]
    for stage, program in zip(stages, programs, strict=True):
        refuse_many_folds(program, stage.many_folds, stage.pattern)
    alphabets: list[Alphabet] = []
    passes: list[Pass] = []
    for on_bytes in (False, True):
        todo = [
            (stage, program)
            for stage, program in zip(stages, programs, strict=True)
            if stage.on_bytes == on_bytes
        ]
        alphabets.append(make_alphabet(points for _, program in todo for points in _sets(program)))
        while todo:
            one, count = _make_pass(todo, alphabets[-1])
            passes.append(one)
            todo = todo[count:]
    return Chain(alphabets[0], alphabets[1], tuple(passes))


def _program(stage: Stage) -> Program:
    """Compile a pattern; one that only cuts becomes a single look-ahead."""
    node = Look(stage.node, negative=False, offset=0) if stage.is_cut else stage.node
    return compile_program(node, stage.pattern)


def _sets(program: Program) -> Iterable[CodePoints]:
    for instruction in program.code:
        if isinstance(instruction, Take | Peek | Before):
            yield instruction.points


def _make_pass(todo: list[tuple[Stage, Program]], alphabet: Alphabet) -> tuple[Pass, int]:
    """Compile as many stages as go into one machine; return how many."""
    stage, program = todo[0]
    reverse, symbols = None, plain_symbols(alphabet)
    if program.looks:
        if stage.on_bytes:
            raise PatternError("a long look-ahead after ByteLevel", stage.pattern)
        contexts = make_contexts(program, alphabet)
        reverse, symbols = make_reverse(program, alphabet, contexts, stage.pattern)
    machine = _machine(stage, program, symbols, Earlier(None))
    count = 1
    while count < len(todo):
        drops = machine.piece_drops()
        if drops is None or todo[count][1].looks:
            break
        stage, program = todo[count]
        machine = _machine(stage, program, symbols, Earlier(machine, drops))
        count += 1
    return Pass(checked_time(machine, stage.pattern), reverse, stage.on_bytes), count


def _machine(stage: Stage, program: Program, symbols: Symbols, earlier: Earlier) -> Machine:
    contexts = make_contexts(program, symbols.alphabet)
    tokens = Tokens(program, symbols, contexts, stage.pattern)
    if stage.is_cut:
        return _cutter(program, tokens)
    return fuse(tokens, stage.behavior, earlier)


def _cutter(program: Program, tokens: Tokens) -> Machine:
    """Return the machine of a program that is one look-ahead: it cuts where that matches."""
    glance = program.code[program.start]
    assert isinstance(glance, Glance)
    symbols, contexts = tokens.symbols, tokens.contexts
    first = program.looks.index(glance.look) * contexts.count
    after = [Cell(1 + tokens.context_after(symbol)) for symbol in range(symbols.end)]
    end = Cell(0, here=Cut(drop=False, join=False))
    rows = [(*after, Cell(0))]
    for context in range(contexts.count):
        mask = symbols.look_mask(first + context, glance.negative)
        cells = (
            replace(cell, here=Cut(drop=False, join=False)) if mask >> symbol & 1 else cell
            for symbol, cell in enumerate(after)
        )
        rows.append((*cells, end))
    return minimized(Machine(symbols, tuple(rows)))
