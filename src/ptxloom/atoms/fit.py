"""Whether a copy atom fits an mma operand: whether it puts every element where the mma expects it.

An ldmatrix or stmatrix moves rows at any addresses, so only the pattern inside a register matters: which
element each lane and bit holds, counted from the first. If the patterns agree, the row that each lane must address
follows, and no other choice remains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ptxloom.atoms.copy import CopyAtom
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import must_be
from ptxloom.display import mimebundle
from ptxloom.fragments import fragment
from ptxloom.isa.types import element_type
from ptxloom.layout import LayoutError, recast

if TYPE_CHECKING:
    from collections.abc import Callable

    from ptxloom.atoms.mma import MmaAtom, Operand
    from ptxloom.layout import Layout

Major = Literal["k", "m", "n"]
_ROW_BITS: Final = 128
_REGISTER_BITS: Final = 32
AXES: Final = {"a": "mk", "b": "nk", "c": "mn"}  # the two coordinates of an operand


class Coordinates(NamedTuple):
    """An element of an operand by its two coordinates, (m, k), (n, k) or (m, n)."""

    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Usage:
    """An operand of an mma in shared memory.

    Attributes:
        mma: The mma.
        operand: a, b or c; c also stands for D.
        major: The coordinate along which elements are contiguous.
        element: The element's type in memory, such as `f16` or `e2m1`.
    """

    mma: MmaAtom
    operand: Operand
    major: Major
    element: str

    @property
    def bits(self) -> int:
        """The bits of an element in a register: for C and D, of the stored type."""
        if self.operand == "c":
            return element_type(self.element).container_bits
        return self.mma.instruction.container_bits(self.operand)

    @property
    def memory_bits(self) -> int:
        """The bits of an element in memory."""
        return element_type(self.element).bits if self.element != "tf32" else _REGISTER_BITS

    @property
    def shift(self) -> int:
        """The left shift that the mma needs for elements loaded into the low bits of their container."""
        return 0 if self.operand == "c" else fragment(self.mma.instruction, self.operand).shift

    @property
    def along_first(self) -> bool:
        """Whether the first of the operand's two coordinates is the contiguous one."""
        return AXES[self.operand][0] == self.major

    def __str__(self) -> str:
        return f"{'D' if self.operand == 'c' else self.operand.upper()} of {self.mma}, {self.major.upper()}-major"


@dataclass(frozen=True, slots=True)
class Fit:
    """The verdict.

    Attributes:
        atom: The copy atom.
        usage: The use of an operand.
        reason: Why it does not fit, as a sentence; empty if it does.
        rows: For each lane that provides an address, the first element of its row; it may be in the next tile.
        registers: For each register of the copy, the place of its first element in the operand, or in the next tile.
    """

    atom: CopyAtom
    usage: Usage
    reason: str
    rows: tuple[Coordinates, ...] = ()
    registers: tuple[Coordinates, ...] = ()

    _repr_mimebundle_ = mimebundle

    @property
    def fits(self) -> bool:
        """Whether the atom puts every element where the mma expects it."""
        return not self.reason

    @property
    def whole(self) -> bool:
        """Whether one copy fills exactly the operand of one mma."""
        extent = self.usage.mma.extent(self.usage.operand)
        inside = all(place.first < extent[0] and place.second < extent[1] for place in self.registers)
        return inside and len(self.registers) == len(_registers_of(self.usage))

    def __bool__(self) -> bool:
        return self.fits


def fit(atom: CopyAtom, usage: Usage) -> Fit:
    """Check a copy atom against an operand, element by element.

    Example:
        >>> from ptxloom.atoms import copy_atom, mma_atom
        >>> usage = Usage(mma_atom("SM80_16x8x16_F32F16F16F32_TN"), "a", "m", "f16")
        >>> fit(copy_atom("SM75_U16x8_LDSM_T"), usage).rows[8]
        Coordinates(first=8, second=0)
        >>> print(fit(copy_atom("SM75_U32x4_LDSM_N"), usage).reason.partition(": ")[2])
        lane 0 would hold m=1, k=0 where the mma takes m=0, k=1
    """
    must_be(CopyAtom, "atom", atom, "a copy atom, as `copy_atom` returns one")
    must_be(Usage, "usage", usage, "the use of an operand, as `usage_of` returns it")
    held = None
    reason = _obstacle(atom, usage)
    if not reason:
        held = whole_elements(atom.ref_layout, usage.bits)
        reason = _mismatch(held, usage) if held else f"an element of {usage.bits} bits would be split between threads"
    if held is None or reason:
        return Fit(atom, usage, f"{atom} does not fit {usage}: {reason}")
    return _placed(atom, usage, held)


def whole_elements(reference: Layout, bits: int) -> Layout | None:
    """A (thread, bit) layout as (thread, element); None if a thread holds less than a whole element."""
    try:
        held = recast(reference, 1, bits)
    except LayoutError:
        return None
    return held if held[0].size == reference[0].size else None


def _obstacle(atom: CopyAtom, usage: Usage) -> str:
    """Why an atom is ruled out regardless of its layout; empty if it is not."""
    move = atom.instruction
    packed = move.source.bits != move.destination.bits
    memory, registers = usage.memory_bits, usage.bits
    if move.opcode == "movmatrix":
        reason = "it moves registers, not shared memory"
    elif registers > _REGISTER_BITS:
        reason = f"an element of {registers} bits spans two registers, and the lanes get 32 bits of a row each"
    elif not packed and memory != registers:
        reason = f"it does not unpack: an element has {memory} bits in memory, {registers} in registers"
    elif packed and (memory, registers) != (move.source.bits, move.destination.bits):
        reason = f"it unpacks {move.source.bits} bits to {move.destination.bits}, not {memory} to {registers}"
    elif packed and move.source.signed != usage.element.startswith("s"):
        reason = "it extends signs" if move.source.signed else "it does not extend signs"
    else:
        reason = ""
    return reason


def _registers_of(usage: Usage) -> list[list[Coordinates]]:
    """The contents of each register of the operand, by lane, then from bit 0 upwards."""
    layout = usage.mma.layout(usage.operand)
    height = usage.mma.extent(usage.operand)[0]
    return _by_register(layout, usage.bits, lambda index: Coordinates(index % height, index // height))


def _by_register(layout: Layout, bits: int, place: Callable[[int], Coordinates]) -> list[list[Coordinates]]:
    count = max(1, _REGISTER_BITS // bits)
    values = layout[1].size
    return [
        [place(layout(thread, start + i)) for thread in range(layout[0].size) for i in range(count)]
        for start in range(0, values, count)
    ]


def _offered(held: Layout, usage: Usage) -> list[list[Coordinates]]:
    """The contents of each register of the copy, in the operand's coordinates relative to the copy's first element."""
    across = _ROW_BITS // usage.bits

    def place(index: int) -> Coordinates:
        row, column = divmod(index, across)
        return Coordinates(column, row) if usage.along_first else Coordinates(row, column)

    return _by_register(held, usage.bits, place)


def _mismatch(held: Layout, usage: Usage) -> str:
    """How a register of the copy differs from one of the operand; empty if it does not."""
    offered, wanted = _offered(held, usage)[0], _registers_of(usage)[0]
    if len(offered) != len(wanted):
        return f"{usage.mma.thr_id.size} lanes share a product, not a warp"
    difference = _first_difference(offered, wanted)
    return "" if difference is None else _said(difference, usage, len(offered) // held[0].size)


def _placed(atom: CopyAtom, usage: Usage, held: Layout) -> Fit:
    """Pair the copy's registers with the operand's, matrix by matrix; its addresses follow."""
    offered = _offered(held, usage)
    free = _origins(usage, _registers_of(usage), len(offered))
    rows_of_matrix = 8 if atom.permuted else atom.instruction.rows
    shifts: dict[int, Coordinates] = {}
    registers: list[Coordinates] = []
    for register in offered:
        origin = register[0]
        matrix = _row(origin, usage) // rows_of_matrix
        shift = shifts.get(matrix) or Coordinates(free[0].first - origin.first, free[0].second - origin.second)
        shifts[matrix] = shift
        target = Coordinates(origin.first + shift.first, origin.second + shift.second)
        if target not in free:
            return Fit(atom, usage, f"{atom} does not fit {usage}: its registers belong to tiles that are apart")
        free.remove(target)
        registers.append(target)
    rows = tuple(_start(atom, lane, usage, shifts, rows_of_matrix) for lane in range(atom.instruction.address_lanes))
    return Fit(atom, usage, "", rows, tuple(registers))


def _row(place: Coordinates, usage: Usage) -> int:
    return place.second if usage.along_first else place.first


def _start(atom: CopyAtom, lane: int, usage: Usage, shifts: dict[int, Coordinates], rows_of_matrix: int) -> Coordinates:
    """The first element of the row that a lane addresses."""
    row = atom.src_layout(lane, 0) // _ROW_BITS if atom.loads else atom.dst_layout(lane, 0) // _ROW_BITS
    shift = shifts[row // rows_of_matrix]
    return (
        Coordinates(shift.first, shift.second + row)
        if usage.along_first
        else Coordinates(shift.first + row, shift.second)
    )


def _origins(usage: Usage, wanted: list[list[Coordinates]], needed: int) -> list[Coordinates]:
    """The first elements of registers: those of the operand in order, then of the adjacent tiles along M or N."""
    height = usage.mma.extent(usage.operand)[0]
    tiles = max(2, -(-needed // len(wanted)) + 1)
    return [Coordinates(w[0].first + tile * height, w[0].second) for tile in range(tiles) for w in wanted]


def _first_difference(
    offered: list[Coordinates], wanted: list[Coordinates]
) -> tuple[int, Coordinates, Coordinates] | None:
    """The first slot that differs, and both contents, relative to the first element."""
    a, b = offered[0], wanted[0]
    for slot, (mine, theirs) in enumerate(zip(offered, wanted, strict=True)):
        here = Coordinates(mine.first - a.first, mine.second - a.second)
        there = Coordinates(theirs.first - b.first, theirs.second - b.second)
        if here != there:
            return slot, here, there
    return None


def _said(difference: tuple[int, Coordinates, Coordinates], usage: Usage, per_lane: int) -> str:
    slot, here, there = difference
    x, y = AXES[usage.operand]
    return (
        f"lane {slot // per_lane} would hold {x}={here.first}, {y}={here.second} "
        f"where the mma takes {x}={there.first}, {y}={there.second}"
    )
