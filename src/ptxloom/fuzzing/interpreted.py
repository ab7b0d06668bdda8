"""The opinion `interpreter`: a program run with plain numbers, sharing only the rows with compiled code.

Each lane decides which parts it runs: a part is run for all lanes of a warp, and its results are kept for those
that take part. Memory and operations across lanes are not supported: programs with these have no such opinion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.fuzzing.banks import BANKS, BLOCK, CELL_BYTES, CELLS, FRAME_BYTES
from ptxloom.fuzzing.nodes import Fork, Invoke, Repeat, Step, Switch
from ptxloom.fuzzing.writer import begun
from ptxloom.isa.limits import LANES
from ptxloom.meaning import table
from ptxloom.meaning.form import Form, Unreadable
from ptxloom.meaning.types import ptx_type
from ptxloom.readings.interpreter import Cell, Interpreter
from ptxloom.syntax import parse
from ptxloom.syntax.tree import Block, Declaration, Instruction

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.fuzzing.frames import Frames
    from ptxloom.fuzzing.nodes import Node, Program, Region
    from ptxloom.syntax.tree import Node as Statement

    Registers = dict[str, Cell]

_EVERYBODY: Final = (1,) * LANES


def interpreted(program: Program, used: set[str], given: Frames) -> Frames:
    """The results of a program, frame by frame.

    Args:
        program: The program.
        used: The banks and cells that its kernel stores.
        given: The initial frames of its threads.

    Raises:
        Unreadable: It does something that this reading does not support.
    """
    left = np.zeros_like(given)
    letters = [letter for letter in sorted(used) if letter in BANKS]
    for first in range(0, BLOCK, LANES):
        rows = slice(first, first + LANES)
        registers = _loaded(letters, given[rows])
        _Reader(registers).region(program.body, _EVERYBODY)
        left[rows] = _stored(letters, registers)
    for cell in used & set(CELLS):
        at = CELLS[cell]
        left[:, at : at + CELL_BYTES] = given[:, at : at + CELL_BYTES]
    return left


def _loaded(letters: Iterable[str], rows: Frames) -> Registers:
    registers: Registers = {}
    for letter in letters:
        bank = BANKS[letter]
        width = bank.frame_bits // 8
        for at, name in enumerate(bank):
            place = bank.offset + at * width
            values = (int.from_bytes(row[place : place + width].tobytes(), "little") for row in rows)
            kept = tuple(value & 1 for value in values) if bank.bits == 1 else tuple(values)
            registers[name] = Cell(bank.bits, kept)
    return registers


def _stored(letters: Iterable[str], registers: Registers) -> Frames:
    rows = np.zeros((LANES, FRAME_BYTES), np.uint8)
    for letter in letters:
        bank = BANKS[letter]
        width = bank.frame_bits // 8
        for at, name in enumerate(bank):
            place = bank.offset + at * width
            content = b"".join(value.to_bytes(width, "little") for value in registers[name].values)
            rows[:, place : place + width] = np.frombuffer(content, np.uint8).reshape(LANES, width)
    return rows


class _Reader:
    """Runs parts of a program on registers; a lane takes part or not."""

    def __init__(self, registers: Registers) -> None:
        self.registers = registers
        self.reader = Interpreter(registers)

    def region(self, region: Region, there: Sequence[int]) -> None:
        for node in region:
            self.node(node, there)

    def node(self, node: Node, there: Sequence[int]) -> None:
        match node:
            case Step():
                self.text(node.guard + node.text, there)
            case Fork() if not node.voted:
                chosen = self.registers[node.predicate].values
                self.region(node.bodies[0], _both(there, chosen))
                if len(node.bodies) > 1:
                    self.region(node.bodies[1], _both(there, tuple(1 - one for one in chosen)))
            case Repeat():
                counts = self.registers[node.counted_by].values if node.counted_by else (node.times,) * LANES
                many = tuple(one & 3 if node.counted_by else one for one in counts)
                for at in range(max(many)):
                    self.region(node.bodies[0], _both(there, tuple(int(one > at) for one in many)))
            case Switch():
                chosen = self.registers[node.selector].values
                for at, body in enumerate(node.bodies):
                    picked = tuple(int(one & len(node.bodies) - 1 == at) for one in chosen)
                    self.region(body, _both(there, picked))
            case Invoke():
                self.invoke(node, there)
            case _:
                raise Unreadable("a vote")

    def invoke(self, node: Invoke, there: Sequence[int]) -> None:
        given = (Cell(bits, self.registers[name].values) for bits, name in zip((32, 64, 32), node.given, strict=True))
        inner: Registers = dict(zip(("%a", "%b", "%c"), given, strict=True))
        inner |= {"%n": Cell(32), "%m": Cell(16)}
        for bank in BANKS.values():
            inner |= {name: Cell(bank.bits) for name in bank}
        reader = _Reader(inner)
        for bank in BANKS.values():
            reader.text(begun(bank), _EVERYBODY)
        reader.region(node.bodies[0], there)
        for name, result in zip(node.taken, ("%w1", "%d0", "%f0"), strict=True):
            self.put(name, inner[result].values, there)

    def put(self, name: str, values: Sequence[int], there: Sequence[int]) -> None:
        old = self.registers[name]
        old.values = tuple(new if on else was for new, was, on in zip(values, old.values, there, strict=True))

    def text(self, text: str, there: Sequence[int]) -> None:
        """Run statements, including declarations."""
        waiting: list[Statement] = list(parse(text).statements)
        while waiting:
            node = waiting.pop(0)
            if isinstance(node, Block):
                waiting = [*node.statements, *waiting]
            elif isinstance(node, Declaration) and node.space == "reg":
                self.declare(node)
            elif isinstance(node, Instruction):
                self.instruction(node, there)
            else:
                raise Unreadable(text)

    def declare(self, node: Declaration) -> None:
        for one in node.declarators:
            bits = ptx_type(node.type).bits
            names = [one.name] if one.count is None else [f"{one.name}{at}" for at in range(one.count)]
            self.registers.update({name: Cell(bits) for name in names})

    def instruction(self, node: Instruction, there: Sequence[int]) -> None:
        op = Form(node)
        row = table.find(op)
        if row is None:
            raise Unreadable(node.opcode)
        if node.predicate is not None:
            held = self.registers[node.predicate.name].values
            there = _both(there, tuple(1 - one for one in held) if node.predicate.negated else held)
        before = {name: cell.values for name, cell in self.registers.items()}
        row.build(self.reader, op)
        for name, values in before.items():
            cell = self.registers[name]
            if cell.values is not values:
                new, cell.values = cell.values, values
                self.put(name, new, there)


def _both(there: Sequence[int], chosen: Sequence[int]) -> tuple[int, ...]:
    return tuple(a & b for a, b in zip(there, chosen, strict=True))
