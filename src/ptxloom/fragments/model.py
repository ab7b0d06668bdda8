"""A fragment as a value: a one-to-one map between (lane, register, bit) and (matrix, row, column).

Every map of the manual sends each binary digit of the lane number and of the value number to one binary digit of a
coordinate. So a fragment is a handful of digits, evaluated rather than tabulated. Extents are powers of two, but where
a tile is repeated any number of times: then the highest digit of the value number has that many values.

A warp's lane numbers have five digits, those of a warpgroup seven: a lane is then a thread of its four warps. Tensor
memory is described in the same way: a lane is then one of its 128 lanes (of a pair of CTAs 256, those of the even CTA
first), a register one of its columns of 32 bits, counted from where the operand's address points.
"""

from __future__ import annotations

from enum import StrEnum
from math import prod
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.display import mimebundle
from ptxloom.isa.limits import TENSOR_LANES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LANE_DIGITS: Final = (5, 7, 8)  # of a warp, of a warpgroup or of tensor memory, of a pair's
_PAIR_DIGITS: Final = 8


class Axis(StrEnum):
    """A coordinate of an element."""

    MATRIX = "matrix"
    ROW = "row"
    COLUMN = "column"
    COPY = "copy"  # of an element that is held several times
    ADDRESS = "address"  # lanes that are reached if the operand's address names them


class Digit(NamedTuple):
    """One digit of a coordinate: `weight` is its place value, a power of two, and `radix` the number of its values."""

    axis: Axis
    weight: int
    radix: int = 2


class Evidence(StrEnum):
    """The evidence for the fragment of a form.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> fragment("ldmatrix.m8n8.x1.b16").confirmed
        <Evidence.SILICON: 'run on an H200'>
    """

    SILICON = "run on an H200"
    DOCUMENTS = "rests on ptxas, CUTLASS and the manual"


class Element(NamedTuple):
    """One element of a matrix and the place that holds it.

    `bit` is where its value starts in the register and `width` how many bits it has. `row` and `column` count in
    the frame of memory for ldmatrix and stmatrix (row = an addressed row), in the frame of the matrix for mma.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> fragment("ldmatrix.m8n8.x1.b16").where(lane=5, register=0, bit=16)
        Element(lane=5, register=0, bit=16, width=16, matrix=0, row=1, column=3)
    """

    lane: int
    register: int
    bit: int
    width: int
    matrix: int
    row: int
    column: int


@dataclass(frozen=True, slots=True)
class Fragment:
    """Where every element of a matrix operand lives that a warp or a warpgroup holds.

    A lane's *values* are its elements in order, from bit 0 of register 0 upwards: V0, V1, and so on. Value V of a
    lane starts at bit `V * stride` of the lane's registers laid end to end.

    Attributes:
        spelling: The instruction.
        operand: Which of its operands: "a", "b", "c" or "d" of products and movmatrix, "e" for metadata, "sfa" and
            "sfb" for the scales of A and B; "r" of instructions with a single one.
        lanes: The meaning of the binary digits of the lane number, lowest first: five of a warp, seven of a warpgroup
            and of tensor memory, eight of a pair's.
        values: The meaning of the digits of the value number, lowest first; the last may have any radix.
        width: Bits that carry the value of one element.
        stride: Bits from one element to the next in a register.
        shift: Bit at which an element's value starts in its `stride` bits.
        register_bits: Width of one register: 64 for f64, otherwise 32.
        addressed: Whether lanes name the rows' addresses: ldmatrix and stmatrix.
        confirmed: The evidence for the map.
        in_tensor_memory: Whether tensor memory holds it: lanes and registers are then its lanes and columns.

    Example:
        >>> from ptxloom.fragments import fragment
        >>> b = fragment("m16n8k16.row.col.f32.f16.f16.f32", "b")
        >>> b.registers, b.rows, b.columns
        (2, 16, 8)
        >>> b.holder(row=3, column=5)
        Element(lane=21, register=0, bit=16, width=16, matrix=0, row=3, column=5)
    """

    spelling: str
    operand: str
    lanes: tuple[Digit, ...]
    values: tuple[Digit, ...]
    width: int
    stride: int
    shift: int
    register_bits: int
    addressed: bool
    confirmed: Evidence
    in_tensor_memory: bool = False

    _repr_mimebundle_ = mimebundle

    def __post_init__(self) -> None:
        """Check that the map is one-to-one: each digit of each coordinate occurs exactly once."""
        digits = (*self.lanes, *self.values)
        if len(self.lanes) not in _LANE_DIGITS or any(digit.radix != 2 for digit in digits[:-1]):
            raise UsageError("digits", digits, "five, seven or eight of lanes, and of base two except for the last")
        for axis in Axis:
            weight = 1
            for digit in sorted(digit for digit in digits if digit.axis is axis):
                if digit.weight != weight:
                    raise UsageError("digits", digits, f"each place below the extent once on the {axis} axis")
                weight *= digit.radix

    @property
    def registers(self) -> int:
        """The number of registers per lane: the length of the vector expression."""
        return self.values_per_lane * self.stride // self.register_bits

    @property
    def values_per_lane(self) -> int:
        """The number of elements per lane."""
        return prod(digit.radix for digit in self.values)

    @property
    def lane_count(self) -> int:
        """The number of lanes: 32 of a warp, 128 of a warpgroup and of tensor memory, 256 of a pair's."""
        return 1 << len(self.lanes)

    @property
    def matrices(self) -> int:
        """The number of matrices in the operand."""
        return self.extent(Axis.MATRIX)

    @property
    def copies(self) -> int:
        """The number of copies of each element: more than one in some fragments of `wmma` and in tensor memory."""
        return self.extent(Axis.COPY)

    @property
    def rows(self) -> int:
        """Rows of one matrix."""
        return self.extent(Axis.ROW)

    @property
    def columns(self) -> int:
        """Columns of one matrix."""
        return self.extent(Axis.COLUMN)

    @property
    def elements(self) -> tuple[Element, ...]:
        """Every element, by lane, then value."""
        lanes = filter(self.reaches, range(self.lane_count))
        return tuple(self.at(lane, value) for lane in lanes for value in range(self.values_per_lane))

    @property
    def is_pair(self) -> bool:
        """Whether the tensor memory of two CTAs holds it."""
        return self.in_tensor_memory and len(self.lanes) == _PAIR_DIGITS

    def reaches(self, lane: int) -> bool:
        """Whether a lane holds any of it, or would if the operand's address named another lane than 0.

        Args:
            lane: From 0 to `lane_count - 1`.

        Returns:
            False for lanes of tensor memory that are left free.
        """
        return not any(digit.axis is Axis.ADDRESS and count for digit, count in numerals(lane, self.lanes))

    @property
    def address_lanes(self) -> int:
        """The number of lanes, from lane 0, that name a row's address; the others' addresses are ignored."""
        return self.matrices * self.rows if self.addressed else 0

    def extent(self, axis: Axis) -> int:
        """The extent of a coordinate.

        Args:
            axis: Which of matrix, row and column.

        Returns:
            Their number.
        """
        return prod(digit.radix for digit in (*self.lanes, *self.values) if digit.axis is axis)

    def at(self, lane: int, value: int) -> Element:
        """The element that is a lane's value V, counted across its registers.

        Args:
            lane: From 0 to `lane_count - 1`.
            value: From 0 to `values_per_lane - 1`.

        Returns:
            The element with its place.

        Raises:
            UsageError: There is no such lane or value.
        """
        _expect("lane", lane, self.lane_count)
        _expect("value", value, self.values_per_lane)
        if not self.reaches(lane):
            raise UsageError("lane", lane, "one that the operand reaches, such as lane 0; its address can name others")
        coordinate = dict.fromkeys(Axis, 0)
        for number, digits in ((lane, self.lanes), (value, self.values)):
            for digit, count in numerals(number, digits):
                coordinate[digit.axis] += digit.weight * count
        register, bit = divmod(value * self.stride, self.register_bits)
        matrix, row, column, *_ = coordinate.values()
        return Element(lane, register, bit + self.shift, self.width, matrix, row, column)

    def where(self, *, lane: int, register: int, bit: int = 0) -> Element:
        """The element that a bit of a lane's register belongs to.

        A bit of the padding around a narrow element belongs to that element.

        Args:
            lane: From 0 to `lane_count - 1`.
            register: From 0 to `registers - 1`.
            bit: Any bit of the register.

        Returns:
            The element with its place.

        Raises:
            UsageError: There is no such lane, register or bit.
        """
        _expect("lane", lane, self.lane_count)
        _expect("register", register, self.registers)
        _expect("bit", bit, self.register_bits)
        return self.at(lane, (register * self.register_bits + bit) // self.stride)

    def holder(self, *, matrix: int = 0, row: int, column: int) -> Element:
        """The element at a coordinate, and so the lane, register and bit that hold it; of several copies the first.

        Args:
            matrix: Which of several matrices.
            row: The element's row.
            column: Its column.

        Returns:
            The element with its place.

        Raises:
            UsageError: The coordinate is outside the matrix.
        """
        _expect("matrix", matrix, self.matrices)
        _expect("row", row, self.rows)
        _expect("column", column, self.columns)
        return self._held(matrix, row, column, 0)

    def holders(self, *, matrix: int = 0, row: int, column: int) -> tuple[Element, ...]:
        """Every place that holds the element at a coordinate; `holder` returns the first.

        Args:
            matrix: Which of several matrices.
            row: The element's row.
            column: Its column.

        Returns:
            `copies` elements.

        Raises:
            UsageError: The coordinate is outside the matrix.
        """
        first = self.holder(matrix=matrix, row=row, column=column)
        return (first, *(self._held(matrix, row, column, copy) for copy in range(1, self.copies)))

    def _held(self, matrix: int, row: int, column: int, copy: int) -> Element:
        coordinate = {Axis.MATRIX: matrix, Axis.ROW: row, Axis.COLUMN: column, Axis.COPY: copy, Axis.ADDRESS: 0}
        lane, value = (_number(coordinate, digits) for digits in (self.lanes, self.values))
        return self.at(lane, value)

    def held_by(self, lane: int) -> tuple[Element, ...]:
        """The elements of a lane, in the order of its values.

        Args:
            lane: From 0 to `lane_count - 1`.

        Returns:
            `values_per_lane` elements.
        """
        return tuple(self.at(lane, value) for value in range(self.values_per_lane))

    def value_of(self, element: Element) -> int:
        """V of an element: its place among its lane's values.

        Args:
            element: One of this fragment.

        Returns:
            From 0 to `values_per_lane - 1`.
        """
        return (element.register * self.register_bits + element.bit - self.shift) // self.stride

    def label(self, element: Element) -> str:
        """An element's holder as CuTe users write it: thread, value and register, such as `T5 V1:R0`.

        In tensor memory it is the lane and the column, such as `L5 C1`; of a pair's second CTA, `CTA1 L5 C1`; of a
        column that has several elements, which of them, from bit 0 up: `L5 C1.0`.

        Args:
            element: One of this fragment.

        Returns:
            The label.
        """
        if not self.in_tensor_memory:
            return f"T{element.lane} V{self.value_of(element)}:R{element.register}"
        cta, lane = divmod(element.lane, TENSOR_LANES)
        part = f".{(element.bit - self.shift) // self.stride}" * (self.stride < self.register_bits)
        return "CTA1 " * cta + f"L{lane} C{element.register}{part}"

    def address_lane(self, *, matrix: int = 0, row: int) -> int:
        """The lane whose address operand names a row of ldmatrix or stmatrix.

        Args:
            matrix: Which of several matrices.
            row: The row.

        Returns:
            From 0 to 31.

        Raises:
            UsageError: The operand has no addresses, or the row is outside the matrix.
        """
        if not self.addressed:
            raise UsageError("instruction", self.spelling, "an ldmatrix or stmatrix, whose lanes name row addresses")
        _expect("matrix", matrix, self.matrices)
        _expect("row", row, self.rows)
        return matrix * self.rows + row

    def addressed_row(self, lane: int) -> tuple[int, int] | None:
        """The (matrix, row) whose address a lane names; None if its address is ignored.

        Args:
            lane: From 0 to `lane_count - 1`.

        Returns:
            Both from 0, or None.
        """
        _expect("lane", lane, self.lane_count)
        return divmod(lane, self.rows) if lane < self.address_lanes else None

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def __str__(self) -> str:
        return f"{self.spelling} operand {self.operand}: {self.matrices} x {self.rows} x {self.columns}"


def numerals(number: int, digits: Sequence[Digit]) -> Iterator[tuple[Digit, int]]:
    """The digits of a lane or value number, lowest first, each with the value that it has."""
    for digit in digits:
        number, count = divmod(number, digit.radix)
        yield digit, count


def _number(coordinate: Mapping[Axis, int], digits: Sequence[Digit]) -> int:
    """The lane or value number whose digits stand for a coordinate."""
    number, worth = 0, 1
    for digit in digits:
        number += coordinate[digit.axis] // digit.weight % digit.radix * worth
        worth *= digit.radix
    return number


def _expect(argument: str, value: int, extent: int) -> None:
    if not 0 <= value < extent:
        raise UsageError(argument, value, "0" if extent == 1 else f"from 0 to {extent - 1}")
