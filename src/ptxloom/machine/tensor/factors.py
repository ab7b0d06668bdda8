"""The multiplicands of a form, unpacked to exact floats on the stack, ready to be multiplied.

A sum may take several steps over equal shares of the stored row of `a`. *Positions* count through the shares in
order; a `Window` shows one share, its positions counted from 0. All shares look alike, so one piece of code does them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ptxloom.fragments import fragment
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.tensor.convert import decode, has_half_conversions
from ptxloom.machine.tensor.registers import Column, RegisterColumns, columns, transpose

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.isa.products import MatrixForm
    from ptxloom.machine.tensor.builder import TensorBuilder

COLUMNS = 8  # of b, c and d in every form of `mma`
PLANE_BYTES = 128
SUMMARY_BYTES = 64


class Window(Protocol):
    """One share of the multiplicands. A position is a number, or an `i64` that a loop counts."""

    rows: int
    depth: int

    def a(self, position: int | Value, first: Value | None = None, rows: int | None = None) -> Value:
        """Rows of a column of `a`: `<rows x float>`."""
        ...

    def multiplier(self, position: int | Value, n: Value, first: Value | None = None, rows: int | None = None) -> Value:
        """The multipliers of these rows for column `n` of D: `<rows x float>`."""
        ...


def _row_vector(b: TensorBuilder, base: Value, position: int | Value, shape: tuple[int, int, Value | None]) -> Value:
    """Some rows, from `first` on, of the column at a position of an array `[position][row]`."""
    total, lanes, first = shape
    column = b.offset(base, position * total * 4) if isinstance(position, int) else b.at(base, position, total * 4)
    place = column if first is None else b.at(column, first, 4)
    return b.load(vector("float", lanes), place, 4 * lanes)


class Factors:
    """`a` as columns of `rows` floats, `b` as planes: each plane has the same element of a register from every lane.

    Column n of row k of `b` is float `4n + step` of its plane. Both are on the stack, or in `arrays`; after the floats
    there is room for the results of `Exponents`.
    """

    def __init__(
        self,
        b: TensorBuilder,
        form: MatrixForm,
        steps: tuple[tuple[int, ...], ...],
        arrays: tuple[Value | None, Value | None] = (None, None),
    ) -> None:
        self.b = b
        self.form = form
        self.rows = form.m
        self.depth = len(steps[0])
        self.positions = tuple(place for step in steps for place in step)
        self.b_columns = columns(form, "b")
        order = range(form.k) if form.sparse else self.positions
        self.planes = tuple(dict.fromkeys(_plane(self.b_columns[k]) for k in order))
        #: The distance between lanes, in bytes: the two planes of a register of `.f16` are interleaved.
        self.lane_bytes = 8 if _converts_whole(form.b_type) else 4
        #: The number of floats of each operand.
        self.a_floats = len(self.positions) * self.rows
        self.b_floats = len(self.planes) * PLANE_BYTES // 4
        self.a_array = arrays[0] or b.array(self.a_bytes)
        self.b_array = arrays[1] or b.array(self.b_bytes)

    @property
    def a_bytes(self) -> int:
        """The size of `a`: its floats, a byte for each, and a summary."""
        return self.a_floats * 5 + SUMMARY_BYTES

    @property
    def b_bytes(self) -> int:
        """The size of `b`: its floats, two bytes for each, and a summary."""
        return self.b_floats * 6 + SUMMARY_BYTES

    def unpack_a(self, registers: tuple[Value, ...]) -> None:
        """Fill `a`."""
        b = self.b
        held = columns(self.form, "a")
        whole = _column_reader(b, self.form.a_type, registers)
        for position, place in enumerate(self.positions):
            b.store(whole(held[place]), b.offset(self.a_array, position * self.rows * 4), 4 * self.rows)

    def unpack_b(self, registers: tuple[Value, ...]) -> None:
        """Fill `b`."""
        b = self.b
        for index, (register, bit) in enumerate(self.planes):
            place = b.offset(self.b_array, index * PLANE_BYTES)
            if self.lane_bytes == 4:
                word = b.load(vector("i32", 32), registers[register], 4)
                b.store(decode(b, word, bit, self.form.b_type), place, 64)
            elif bit == 0:
                halves = b.load(vector("half", 64), registers[register], 4)
                b.store(b.convert("fpext", halves, "float"), place, 64)

    def b_offset(self, k: int) -> int:
        """The offset of row `k` of `b` in the planes, in bytes; its columns are four lanes apart."""
        column = self.b_columns[k]
        plane = self.planes.index(_plane(column))
        if self.lane_bytes == 8:
            return (plane - plane % 2) * PLANE_BYTES + column.step * 8 + plane % 2 * 4
        return plane * PLANE_BYTES + column.step * 4

    def window(self, step: Value) -> Window:
        """The share of a step."""
        return _DenseWindow(self, step, self.depth)

    def whole(self) -> Window:
        """The shares of all steps as one."""
        return _DenseWindow(self, Value("i64", "0"), len(self.positions))


def _converts_whole(element: str) -> bool:
    """Whether whole registers are converted, both halves at once."""
    return element == "f16" and has_half_conversions()


def _column_reader(b: TensorBuilder, element: str, registers: tuple[Value, ...]) -> Callable[[Column], Value]:
    """A function that returns a column of `a` as floats, all rows in the order `ROWS`, tile after tile."""
    if not _converts_whole(element):
        words = RegisterColumns(b, registers)
        return lambda column: decode(b, words.rows(column), column.bit, element)
    halves = tuple(_half_columns(b, register) for register in registers)
    return lambda column: b.concat([halves[index][2 * column.step + column.bit // 16] for index in column.registers])


def _half_columns(b: TensorBuilder, register: Value) -> tuple[Value, ...]:
    """The eight columns that a register of `.f16` holds, as `<8 x float>`."""
    lines = [
        b.convert("fpext", b.load(vector("half", 8), b.offset(register, 16 * line), 4), "float") for line in range(8)
    ]
    even = transpose(b, (lines[0], lines[2], lines[4], lines[6]))
    odd = transpose(b, (lines[1], lines[3], lines[5], lines[7]))
    pairs = tuple(zip(even, odd, strict=True))
    low, high = (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)
    return tuple(b.shuffle(first, half, second) for half in (low, high) for first, second in pairs)


def _plane(column: Column) -> tuple[int, int]:
    return column.registers[0], column.bit


class _DenseWindow:
    def __init__(self, factors: Factors, step: Value, depth: int) -> None:
        self.b = factors.b
        self.rows = factors.rows
        self.depth = depth
        shares = len(factors.positions) // factors.depth
        self._a = self.b.at(factors.a_array, step, factors.depth * factors.rows * 4)
        self._planes = self.b.at(factors.b_array, step, len(factors.planes) // shares * PLANE_BYTES)
        self._column_bytes = 4 * factors.lane_bytes
        self._offsets = tuple(factors.b_offset(place) for place in factors.positions[:depth])

    def a(self, position: int | Value, first: Value | None = None, rows: int | None = None) -> Value:
        return _row_vector(self.b, self._a, position, (self.rows, rows or self.rows, first))

    def multiplier(self, position: int | Value, n: Value, first: Value | None = None, rows: int | None = None) -> Value:
        del first
        b = self.b
        column = b.at(self._planes, n, self._column_bytes)
        if isinstance(position, int):
            place = b.offset(column, self._offsets[position])
        else:
            place = b.offset(column, b.resize(b.load("i32", b.at(b.table(self._offsets), position, 4), 4), 64))
        return b.splat(b.load("float", place, 4), rows or self.rows)


class SparseFactors(Factors):
    """`a` with metadata: each row picks, for each stored element, one of four (or two) rows of `b`.

    The fragment of `e` has the places of the metadata.
    """

    def __init__(
        self,
        b: TensorBuilder,
        form: MatrixForm,
        registers: tuple[tuple[Value, ...], tuple[Value, ...]],
        steps: tuple[tuple[int, ...], ...],
        metadata: tuple[Value, int],
    ) -> None:
        super().__init__(b, form, steps)
        self.unpack_a(registers[0])
        self.unpack_b(registers[1])
        self.chosen = b.array(COLUMNS * len(self.positions) * self.rows * 4)
        self._choose(self._choices(metadata))

    def _choices(self, metadata: tuple[Value, int]) -> Value:
        """The metadata of each chunk of each row in the low bits of words: `[chunk][row]`."""
        b, form = self.b, self.form
        lanes = RegisterColumns(b, (metadata[0],))
        places = fragment(form, "e")
        choices = b.array(places.columns * self.rows * 4)
        for chunk in range(places.columns):
            firsts = (places.holder(matrix=metadata[1], row=row, column=chunk) for row in range(0, self.rows, 8))
            halves = tuple(b.shift_right(lanes.column(0, first.lane), first.bit) for first in firsts)
            b.store(b.concat(halves), b.offset(choices, chunk * self.rows * 4), 64)
        return choices

    def _choose(self, choices: Value) -> None:
        """Fill `chosen`, `[position][n][row]`."""
        b, rows = self.b, self.rows
        plans = [_plan(self.form, place) for place in self.positions]
        table = b.table(
            tuple(
                number
                for chunk, shift, candidates in plans
                for number in (chunk * rows * 4, shift, *(self.b_offset(k) for k in candidates))
            )
        )
        size = 2 + len(plans[0][2])
        with b.loop(len(plans)) as position:
            plan = [b.load("i32", b.at(table, position, size * 4, index * 4), 4) for index in range(size)]
            word = b.load(vector("i32", rows), b.offset(choices, b.resize(plan[0], 64)), 64)
            word = b.apply("lshr", word, b.splat(plan[1], rows))
            low, high = (b.compare("ne", b.mask(word, bit), b.like(word, 0)) for bit in (1, 2))
            with b.loop(COLUMNS) as n:
                column = b.at(self.b_array, n, 4 * self.lane_bytes)
                found = [b.load("float", b.offset(column, b.resize(offset, 64)), 4) for offset in plan[2:]]
                spread = [b.splat(value, rows) for value in found]
                value = b.select(low, spread[1], spread[0])
                if len(spread) == 4:
                    value = b.select(high, b.select(low, spread[3], spread[2]), value)
                row = b.at(b.at(self.chosen, position, COLUMNS * rows * 4), n, rows * 4)
                b.store(value, row, 64)

    def window(self, step: Value) -> Window:
        """The share of a step."""
        return _SparseWindow(self, step)


def _plan(form: MatrixForm, place: int) -> tuple[int, int, tuple[int, ...]]:
    """For a stored element: its chunk, the bit of metadata where its choice starts, and the rows of `b` to choose from.

    `.tf32` chooses between two by the second bit; 4-bit elements are chosen in pairs.
    """
    chunk, index = divmod(place, form.chunk // 2)
    base = chunk * form.chunk
    if form.chunk == 2:
        return chunk, 1, (base, base + 1)
    width = form.chunk // 4
    which, within = divmod(index, width)
    return chunk, 2 * which, tuple(base + width * choice + within for choice in range(4))


class _SparseWindow:
    def __init__(self, factors: SparseFactors, step: Value) -> None:
        self.b = factors.b
        self.rows = factors.rows
        self.depth = factors.depth
        self._a = self.b.at(factors.a_array, step, factors.depth * factors.rows * 4)
        self._chosen = self.b.at(factors.chosen, step, factors.depth * COLUMNS * factors.rows * 4)

    def a(self, position: int | Value, first: Value | None = None, rows: int | None = None) -> Value:
        return _row_vector(self.b, self._a, position, (self.rows, rows or self.rows, first))

    def multiplier(self, position: int | Value, n: Value, first: Value | None = None, rows: int | None = None) -> Value:
        column = self.b.at(self._chosen, n, self.rows * 4)
        return _row_vector(self.b, column, position, (self.rows * COLUMNS, rows or self.rows, first))
