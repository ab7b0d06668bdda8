"""Named orders of a fragment's elements: those that a wrong instruction or a wrong vector of registers produces.

An order gives, for each place of the operand in row order, the element that is there instead.
"""

from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ptxloom.dataclass import dataclass
from ptxloom.fragments import fragment
from ptxloom.isa.products import PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.isa.products import MatrixForm

Order = NDArray[np.intp]

_MATRIX: Final = 8  # rows, and 16-bit elements of a row, of the matrices that moves move
_MOST_REGISTERS: Final = 4  # of which every order is tried; of more, every exchange of two


class Swizzle(NamedTuple):
    """Chunks of a row, each at its number XORed with `row >> shift & mask`."""

    shift: int
    mask: int
    chunk_bytes: int


@dataclass(frozen=True, slots=True)
class Named:
    """An order and its name.

    Attributes:
        cause: The id of the cause.
        detail: The details, as the rest of a sentence: "registers 1 and 2 are exchanged".
        steps: The number of errors.
        registers: The order of registers, if there is one: place i holds what register `registers[i]` should.
        distance: The distance of a rotation.
        pitches: For a wrong pitch of rows, in elements: the pitch in the address, and the actual one.
        swizzle: The function of the row by which one side differs from the other, if there is one.
    """

    cause: str
    detail: str
    steps: int = 1
    registers: tuple[int, ...] = ()
    distance: int = 0
    pitches: tuple[int, int] | tuple[()] = ()
    swizzle: Swizzle | None = None


@dataclass(frozen=True, slots=True)
class Square:
    """A square tile of a copy, of 8x8 matrices as `ldmatrix` moves them.

    Attributes:
        size: Its rows and columns.
    """

    size: int


SQUARES: Final = (16, 32, 8)
"""The tiles that copies are judged by."""

_EXCHANGED: Final = Named("order-exchanged", "the matrix is transposed: its layout, `.row` or `.col`, is the other one")
COPIED: Final = {size: Square(size) for size in SQUARES}


@cache
def named_orders(form: MatrixForm | Square, role: str) -> tuple[tuple[Named, Order], ...]:
    """Every order of an operand that has a name, the plainest first; some are the same, seen in two ways."""
    if isinstance(form, Square):
        return tuple(_of_square(form.size))
    if form.is_opaque:  # whose registers only its own moves fill
        return tuple(_of_layout(*form.extent(role)))
    if not _in_registers(form, role):
        return ()
    slots = _Slots.of(form, role)
    single = [*_transposed(slots), *_of_registers(slots), *_inside(slots)]
    pairs = [
        (Named(first.cause, f"{first.detail}, and {second.detail}", 2, second.registers), order[other])
        for first, order in single
        if first.cause == "transposed"
        for second, other in single
        if second.cause in ("registers-exchanged", "halves-exchanged")
    ]
    return tuple((name, order) for name, order in (*single, *pairs) if not np.array_equal(order, slots.identity))


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """The places of an operand by lane, register and number within the register."""

    rows: int
    columns: int
    lane: Order
    register: Order
    within: Order
    place: NDArray[np.intp]  # (lane, register, within) -> flat place in the operand

    @property
    def identity(self) -> Order:
        return np.arange(self.rows * self.columns)

    @property
    def registers(self) -> int:
        return int(self.place.shape[1])

    @property
    def per_register(self) -> int:
        return int(self.place.shape[2])

    def order(self, lane: Order, register: Order, within: Order) -> Order:
        """The order in which each place holds the element of the given one."""
        return self.place[lane, register, within]

    @classmethod
    def of(cls, form: MatrixForm, role: str) -> _Slots:
        held = fragment(form, role)
        rows, lanes = held.rows // form.warps, held.lane_count // form.warps
        size, count = rows * held.columns, held.register_bits // held.stride
        lane, register, within = (np.zeros(size, np.intp) for _ in range(3))
        place = np.zeros((lanes, held.registers, count), np.intp)
        for element in held:
            if element.lane >= lanes:  # those of a warpgroup's other warps hold further rows alike
                continue
            flat = element.row * held.columns + element.column
            number = (element.bit - held.shift) // held.stride
            lane[flat], register[flat], within[flat] = element.lane, element.register, number
            place[element.lane, element.register, number] = flat
        if role == "d" and count == 1:  # moved in pairs: packed, or by one store of two registers
            register, within = np.divmod(register, 2)
            place = place.reshape(lanes, held.registers // 2, 2)
        return cls(rows, held.columns, lane, register, within, place)


def _transposed(slots: _Slots) -> Iterator[tuple[Named, Order]]:
    """Every 8x8 matrix of 16-bit elements transposed, as `.trans` does; of other widths also each 8x8 of elements."""
    name = Named("transposed", "every 8x8 matrix is transposed")
    if slots.per_register > 1:
        part = slots.per_register // 2
        half, rest = np.divmod(slots.within, part)
        line, word = np.divmod(slots.lane % 32, 4)
        lane = slots.lane // 32 * 32 + 4 * (2 * word + half) + line // 2
        yield name, slots.order(lane, slots.register, line % 2 * part + rest)
    if slots.per_register != 2 and slots.rows % _MATRIX == 0 and slots.columns % _MATRIX == 0:
        row, column = np.divmod(slots.identity, slots.columns)
        there = row // _MATRIX * _MATRIX + column % _MATRIX, column // _MATRIX * _MATRIX + row % _MATRIX
        yield name, there[0] * slots.columns + there[1]


def _of_registers(slots: _Slots) -> Iterator[tuple[Named, Order]]:
    for order in _orders(slots.registers):
        changed = [place for place, found in enumerate(order) if place != found]
        if not changed:
            continue
        if len(changed) == 2:
            detail = f"registers {changed[0]} and {changed[1]} are exchanged"
        else:
            detail = f"the registers hold what {', '.join(map(str, order))} should"
        at = np.array(order)[slots.register]
        steps = 1 if len(changed) == 2 else 2
        yield Named("registers-exchanged", detail, steps, order), slots.order(slots.lane, at, slots.within)


def _orders(count: int) -> Iterator[tuple[int, ...]]:
    if count <= _MOST_REGISTERS:
        yield from permutations(range(count))
        return
    for first in range(min(count, 32)):
        for second in range(first + 1, min(count, 32)):
            order = list(range(count))
            order[first], order[second] = second, first
            yield tuple(order)


def _inside(slots: _Slots) -> Iterator[tuple[Named, Order]]:
    """Elements of a register in another order: its halves, its bytes, its nibbles."""
    count = slots.per_register
    if count == 4:
        flips = ((0, 1, 2, 3), (1, 0, 3, 2), (2, 3, 0, 1), (3, 2, 1, 0))
        for order in permutations(range(4)):
            if order not in flips:
                name = Named("halves-exchanged", f"the bytes of each register are in the order {order}")
                yield name, slots.order(slots.lane, slots.register, np.array(order)[slots.within])
    words = {2: ("halves",), 4: ("bytes of each half", "halves", "bytes"), 8: ("nibbles", "bytes", "halves", "all")}
    flips = {2: (1,), 4: (1, 2, 3), 8: (1, 6, 4, 7)}
    for word, flip in zip(words.get(count, ()), flips.get(count, ()), strict=True):
        detail = f"the {word} of each register are in reverse order" if count > 2 else "the halves are exchanged"
        name = Named("halves-exchanged", detail)
        yield name, slots.order(slots.lane, slots.register, slots.within ^ flip)
    for number in range(slots.registers if count == 2 and 1 < slots.registers <= _MOST_REGISTERS else 0):
        name = Named("halves-exchanged", f"the halves of register {number} are exchanged")
        yield name, slots.order(slots.lane, slots.register, slots.within ^ (slots.register == number))


def _of_layout(rows: int, columns: int) -> Iterator[tuple[Named, Order]]:
    """The order of the other layout, `.col` for `.row`, where the operand is square."""
    if rows == columns:
        yield _EXCHANGED, np.arange(rows * columns).reshape(rows, columns).T.ravel()


def _of_square(size: int) -> Iterator[tuple[Named, Order]]:
    """Orders of a square tile: its matrices transposed or exchanged, all of it transposed, its words turned."""
    row, column = np.divmod(np.arange(size * size), size)
    block = row // _MATRIX, column // _MATRIX
    there = block[0] * _MATRIX + column % _MATRIX, block[1] * _MATRIX + row % _MATRIX
    yield Named("transposed", "every 8x8 matrix is transposed"), there[0] * size + there[1]
    yield Named("halves-exchanged", "the halves of each word are exchanged"), row * size + (column ^ 1)
    if size == _MATRIX:
        return
    yield Named("order-exchanged", f"every tile of {size} x {size} is transposed"), column * size + row
    if size == 2 * _MATRIX:
        for number in range(4):
            here = block[0] * 2 + block[1] == number
            turned = np.where(here, there[0] * size + there[1], np.arange(size * size))
            yield Named("transposed", f"matrix {number} of each 16 x 16 is transposed", 2), turned
        for order in _orders(4):
            if order != (0, 1, 2, 3):
                at = np.array(order)[block[0] * 2 + block[1]]
                moved = (at // 2 * _MATRIX + row % _MATRIX) * size + at % 2 * _MATRIX + column % _MATRIX
                steps = 1 if sum(place != found for place, found in enumerate(order)) == 2 else 2
                yield Named("matrices-exchanged", f"the matrices of each 16 x 16 are {order}", steps), moved


@cache
def registers_of(form: MatrixForm | Square, role: str) -> Order:
    """(rows, columns): the register, or the matrix of a copy, that holds each element."""
    if isinstance(form, Square):
        row, column = np.divmod(np.arange(form.size**2), form.size)
        return (row // _MATRIX * (form.size // _MATRIX) + column // _MATRIX).reshape(form.size, form.size)
    if not _in_registers(form, role):
        rows, columns = form.extent(role)
        return np.zeros((rows // (form.warps if role == "a" else 1), columns), np.intp)
    slots = _Slots.of(form, role)
    return slots.register.reshape(slots.rows, slots.columns)


def _in_registers(form: MatrixForm, role: str) -> bool:
    """Whether lanes and registers hold an operand: not tensor memory, nor shared memory."""
    return form.opcode in PRODUCTS and (form.warps == 1 or role == "d")
