"""From registers to columns and back: the fragment maps of `fragments`, as shuffles.

Every map of `mma` puts row g of a tile of eight into lanes 4g to 4g+3 (columns of `b` likewise). Four vectors of eight
lanes, transposed in blocks of 4x4, therefore yield one column of eight rows each, in the order `ROWS`.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.fragments import fragment
from ptxloom.machine.native.ir import Value, vector

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder

ROWS = (0, 2, 4, 6, 1, 3, 5, 7)
_LOW, _HIGH = (0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15)
_EVEN, _ODD = (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)


@dataclass(frozen=True, slots=True)
class Column:
    """The place of an operand's column (a row of `b`): a register for each tile of eight rows, and lane 4g + `step`."""

    registers: tuple[int, ...]
    step: int
    bit: int


@cache
def columns(form: MatrixForm, operand: str) -> tuple[Column, ...]:
    """The columns of `a`, `c` or `d`, or the rows of `b`."""
    held = fragment(form, operand)
    across, along = (held.columns, held.rows) if operand == "b" else (held.rows, held.columns)
    found: list[Column] = []
    for place in range(along):
        first = held.holder(row=place, column=0) if operand == "b" else held.holder(row=0, column=place)
        registers: list[int] = []
        for line in range(across):
            element = held.holder(row=place, column=line) if operand == "b" else held.holder(row=line, column=place)
            if (element.lane, element.bit) != (4 * (line % 8) + first.lane, first.bit):
                raise AssertionError(f"{held} is not made of tiles of eight lines")
            if line % 8 == 0:
                registers.append(element.register)
        found.append(Column(tuple(registers), first.lane, first.bit))
    return tuple(found)


def transpose(b: TensorBuilder, vectors: tuple[Value, ...]) -> tuple[Value, ...]:
    """4x4 blocks of four `<8 x i32>`, transposed; its own inverse."""
    first, second, third, fourth = vectors
    low, low_too = b.shuffle(first, _LOW, second), b.shuffle(third, _LOW, fourth)
    high, high_too = b.shuffle(first, _HIGH, second), b.shuffle(third, _HIGH, fourth)
    return (
        b.shuffle(low, _EVEN, low_too),
        b.shuffle(low, _ODD, low_too),
        b.shuffle(high, _EVEN, high_too),
        b.shuffle(high, _ODD, high_too),
    )


class RegisterColumns:
    """The registers of one operand, read as columns of 32-bit words: `<8 x i32>` per tile of rows."""

    def __init__(self, b: TensorBuilder, registers: tuple[Value, ...]) -> None:
        self._b = b
        self._registers = registers
        self._read: dict[int, tuple[Value, ...]] = {}

    def column(self, register: int, step: int) -> Value:
        """Lanes `step`, `step + 4`, ... of a register, in the order `ROWS`."""
        if register not in self._read:
            place = self._registers[register]
            parts = tuple(self._b.load(vector("i32", 8), self._b.offset(place, 32 * part), 4) for part in range(4))
            self._read[register] = transpose(self._b, parts)
        return self._read[register][step]

    def rows(self, column: Column) -> Value:
        """One column of words over all tiles of rows: `<8 x i32>` or `<16 x i32>`."""
        return self._b.concat(tuple(self.column(register, column.step) for register in column.registers))


def store_words(b: TensorBuilder, registers: tuple[Value, ...], words: dict[tuple[int, int], Value]) -> None:
    """Write registers from columns of words: `(register, step) -> <8 x i32>`."""
    for index, place in enumerate(registers):
        parts = transpose(b, tuple(words[index, step] for step in range(4)))
        for part, value in enumerate(parts):
            b.store(value, b.offset(place, 32 * part), 4)
