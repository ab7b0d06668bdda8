"""The swizzle finder: every Swizzle<B,M,S> and padding under which all accesses to a tile are free of bank conflicts.

Nothing is looked up: each candidate is applied to the addresses of every warp of every access, and counted as the
banks count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from ptxloom.banks.access import access
from ptxloom.banks.warps import ALL_LANES, Warp
from ptxloom.descriptors import swizzle_mode
from ptxloom.diagnostics import PtxloomError, UsageError, must_be, must_be_several
from ptxloom.display import mimebundle
from ptxloom.isa.limits import LANES, SHARED_BYTES
from ptxloom.isa.types import element_type
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.descriptors import SwizzleMode

    Lanes = tuple[int, ...]

_ROW_BYTES: Final = 16  # of a matrix row, and what addresses are aligned to
_MOST_BITS: Final = 5  # of a swizzle: there are 32 banks
_BY_TMA: Final = tuple(map(swizzle_mode, ("128B", "64B", "32B")))


class NoTile(PtxloomError):  # noqa: N818 - reads as what it says
    """A tile or an access does not fit the other."""


@dataclass(frozen=True, slots=True)
class Tile:
    """A tile in shared memory, its columns contiguous.

    Attributes:
        rows: How many rows.
        columns: How many elements in a row.
        element: The element's type.
        pitch_bytes: From one row to the next, before any padding.
    """

    rows: int
    columns: int
    element: str
    pitch_bytes: int

    @property
    def element_bits(self) -> int:
        """How wide an element lies in memory."""
        return element_type(self.element).container_bits

    @property
    def row_bytes(self) -> int:
        """How many bytes of a row hold elements."""
        return self.columns * self.element_bits // 8

    def __str__(self) -> str:
        return f"{self.rows}x{self.columns} {self.element}, rows {self.pitch_bytes} bytes apart"


"""The most shared memory that a block can have on any target so far."""


def make_tile(rows: int, columns: int, element: str, pitch_bytes: int | None = None) -> Tile:
    """A tile, its rows as close as they can be if no pitch is given.

    Args:
        rows: How many rows.
        columns: How many elements a row has; they lie side by side.
        element: Their type, such as `f16`.
        pitch_bytes: From one row to the next.

    Returns:
        The tile, for `find_swizzles`.

    Raises:
        UsageError: The rows are not a multiple of 16 bytes, or overlap, or are more than shared memory holds.

    Example:
        >>> print(make_tile(64, 32, "f16"))
        64x32 f16, rows 64 bytes apart
    """
    must_be(int, "rows", rows, "a whole number")
    must_be(int, "columns", columns, "a whole number")
    tile = Tile(rows, columns, element, pitch_bytes or columns * element_type(element).container_bits // 8)
    if rows < 1 or columns < 1 or columns * tile.element_bits % (8 * _ROW_BYTES):
        raise UsageError("tile", f"{rows}x{columns} {element}", "of rows that are a multiple of 16 bytes")
    if tile.pitch_bytes < tile.row_bytes or tile.pitch_bytes % _ROW_BYTES:
        raise UsageError("pitch", tile.pitch_bytes, f"a multiple of 16, at least {tile.row_bytes}")
    if rows * tile.pitch_bytes > SHARED_BYTES:
        raise UsageError("tile", f"{rows}x{columns} {element}", f"no larger than shared memory, {SHARED_BYTES:,} bytes")
    return tile


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """One way in which a tile is touched, by as many warps as it takes.

    Attributes:
        name: What the user called it.
        instruction: The instruction of shared memory that the banks serve; empty for TMA, which they do not delay.
        rows: For each address in turn, lane after lane and warp after warp, the tile's row that it is in.
        byte_columns: The byte in that row.
    """

    name: str
    instruction: str
    rows: Lanes
    byte_columns: Lanes


@dataclass(frozen=True, slots=True)
class Arrangement:
    """How a tile may lie in memory: its rows padded, then its offsets swizzled.

    Attributes:
        tile: The tile.
        padding_bytes: Added to each row's pitch.
        swizzle: On byte offsets; None for none.
        box_bytes: So many bytes of every row make a box, and the boxes lie one behind the other, as TMA writes them;
            None for whole rows.
    """

    tile: Tile
    padding_bytes: int = 0
    swizzle: Swizzle | None = None
    box_bytes: int | None = None

    @property
    def pitch_bytes(self) -> int:
        """From one row to the next, of a box where there are boxes."""
        return self.box_bytes or self.tile.pitch_bytes + self.padding_bytes

    @property
    def boxes(self) -> int:
        """How many boxes lie side by side in the tile."""
        return self.tile.row_bytes // self.box_bytes if self.box_bytes else 1

    @property
    def box_columns(self) -> int:
        """How many elements wide a box is."""
        return self.tile.columns // self.boxes

    @property
    def tma_mode(self) -> SwizzleMode | None:
        """The mode in which a tensor map writes the tile so, in boxes as wide as the mode's span."""
        wide = self.box_bytes or self.tile.row_bytes
        fits = (
            mode for mode in _BY_TMA if mode.swizzle == self.swizzle and mode.span_bytes == wide == self.pitch_bytes
        )
        return next(fits, None)

    def offset(self, row: int, byte_column: int) -> int:
        """The byte at which something lies, before the swizzle."""
        box, within = divmod(byte_column, self.box_bytes) if self.box_bytes else (0, byte_column)
        return (box * self.tile.rows + row) * self.pitch_bytes + within

    @property
    def of_elements(self) -> Swizzle | None:
        """The swizzle on element indices, as CuTe writes it for a layout of these elements."""
        if self.swizzle is None:
            return None
        base = self.swizzle.base + 3 - (self.tile.element_bits.bit_length() - 1)
        return Swizzle(self.swizzle.bits, base, self.swizzle.shift)

    @property
    def storage_bytes(self) -> int:
        """How much memory the tile takes; a swizzle moves bytes within blocks, of which the last counts whole."""
        last = self.box_bytes or self.tile.row_bytes
        dense = self.pitch_bytes * (self.boxes * self.tile.rows - 1) + last
        block = 1 << (self.swizzle.base + self.swizzle.bits) if self.swizzle else 1
        return -(-dense // block) * block

    @property
    def expression(self) -> str:
        """The element index as C, of `row` and `column`."""
        pitch = self.pitch_bytes * 8 // self.tile.element_bits
        index = f"row * {pitch} + column"
        if self.boxes > 1:
            index = f"column / {pitch} * {self.tile.rows * pitch} + row * {pitch} + column % {pitch}"
        swizzle = self.of_elements
        if swizzle is None:
            return index
        mask, shift = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift
        picked = f"(i >> {shift} & {mask})" + (f" << {swizzle.base}" if swizzle.base else "")
        return f"(i = {index}, i ^ ({picked}))"

    @property
    def cute(self) -> str:
        """The layout as CuTe C++ writes it."""
        pitch = self.pitch_bytes * 8 // self.tile.element_bits
        shape = f"Shape<_{self.tile.rows}, _{self.tile.columns}>, Stride<Int<{pitch}>, _1>"
        if self.boxes > 1:
            columns = f"Shape<_{pitch}, _{self.boxes}>>, Stride<_{pitch}, Stride<_1, Int<{self.tile.rows * pitch}>>>"
            shape = f"Shape<_{self.tile.rows}, {columns}"
        swizzle = self.of_elements
        if swizzle is None:
            return f"Layout<{shape}>{{}}"
        return f"composition(Swizzle<{swizzle.bits}, {swizzle.base}, {swizzle.shift}>{{}}, Layout<{shape}>{{}})"

    def __str__(self) -> str:
        if self.padding_bytes:
            return f"{self.padding_bytes} bytes of padding"
        swizzle = self.of_elements
        where = f" in {self.boxes} boxes of {self.box_columns} columns" if self.boxes > 1 else ""
        return f"Swizzle<{swizzle.bits},{swizzle.base},{swizzle.shift}>{where}" if swizzle else "as it is"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one access costs under an arrangement, over all its warps."""

    name: str
    wavefronts: int
    ideal: int

    @property
    def ways(self) -> float:
        """Wavefronts for each that would do."""
        return self.wavefronts / self.ideal if self.ideal else 1.0


@dataclass(frozen=True, slots=True)
class Choice:
    """An arrangement and what each access costs under it."""

    arrangement: Arrangement
    costs: tuple[Cost, ...]

    @property
    def conflicts(self) -> int:
        """Wavefronts beyond those that would do."""
        return sum(cost.wavefronts - cost.ideal for cost in self.costs)


@dataclass(frozen=True, slots=True)
class Found:
    """The finder's answer.

    Attributes:
        tile: The tile.
        plain: What the accesses cost as the tile is.
        choices: Every swizzle of the fewest bits, and the smallest padding, that leave no conflict; best first.
        best: What costs least, where nothing leaves none.
        by_tma: What costs least of what a tensor map can write; None if the rows fit none of its modes.
    """

    tile: Tile
    plain: Choice
    choices: tuple[Choice, ...]
    best: Choice
    by_tma: Choice | None = None

    _repr_mimebundle_ = mimebundle

    @property
    def free(self) -> bool:
        """Whether something leaves no conflict."""
        return bool(self.choices)


def find_swizzles(tile: Tile, accesses: Sequence[str]) -> Found:
    """Search every swizzle and padding of a tile for those that leave no access a bank conflict.

    Args:
        tile: The tile.
        accesses: `cp.async` (16 bytes a thread), `ldmatrix`, `stmatrix` (any form; its matrices may stand at any
            multiple of 8 rows and 16 bytes), `ld.shared.v4.b32` and its like, neighbouring lanes along the rows, or
            down a column with `@column`; `tma` for a tile that TMA writes or reads, which allows its own swizzles only.

    Returns:
        The arrangements, proven by counting every warp of every access.

    Raises:
        NoTile: An access does not fit the tile, or is not one.
        UnsupportedForm: It is spelled wrong.

    Example:
        >>> found = find_swizzles(make_tile(64, 64, "f16"), ["cp.async", "ldmatrix.x4.trans"])
        >>> print(found.choices[0].arrangement, found.choices[0].arrangement.expression)
        Swizzle<3,3,3> (i = row * 64 + column, i ^ ((i >> 6 & 7) << 3))
    """
    must_be(Tile, "tile", tile, "a tile, as `make_tile` gives it")
    must_be_several("accesses", accesses, "accesses, such as ldmatrix.x4")
    if not accesses:
        raise UsageError("accesses", accesses, "at least one, such as ldmatrix.x4")
    traffic = [traffic_of(tile, name) for name in accesses]
    by_tma = any(one.name == "tma" for one in traffic)
    plain = cost_of(Arrangement(tile), traffic)
    boxed = [cost_of(one, traffic) for one in _boxed(tile)]
    swizzled = boxed if by_tma else [cost_of(one, traffic) for one in _swizzled(tile, traffic)]
    padded = [] if by_tma else [cost_of(one, traffic) for one in _padded(tile)]
    free = [one for one in (plain, *swizzled) if not one.conflicts]
    fewest = min(map(_effort, free), default=None)
    choices = [one for one in free if _effort(one) == fewest]
    padding = next((one for one in padded if not one.conflicts), None)
    if plain.conflicts and padding is not None:
        choices.append(padding)
    best = min(
        (plain, *swizzled, *padded), key=lambda one: (one.conflicts, one.arrangement.storage_bytes, _effort(one))
    )
    return Found(tile, plain, tuple(sorted(choices, key=_rank)), best, min(boxed, key=_conflicts, default=None))


def _conflicts(choice: Choice) -> int:
    return choice.conflicts


def _effort(choice: Choice) -> tuple[int, int]:
    """Fewer boxes are fewer copies; then the swizzle of fewer bits."""
    arrangement = choice.arrangement
    return arrangement.boxes, arrangement.swizzle.bits if arrangement.swizzle else 0


def _rank(choice: Choice) -> tuple[int, int, int, int]:
    """Least memory first, then the swizzle that reaches least far."""
    swizzle = choice.arrangement.swizzle
    base, shift = (swizzle.base, swizzle.shift) if swizzle else (0, 0)
    return choice.arrangement.padding_bytes, choice.arrangement.storage_bytes, base, shift


def cost_of(arrangement: Arrangement, traffic: Sequence[Traffic]) -> Choice:
    """Count every access under one arrangement."""
    costs: list[Cost] = []
    for one in traffic:
        if not one.instruction:
            costs.append(Cost(one.name, 0, 0))
            continue
        of, wavefronts, ideal = access(one.instruction), 0, 0
        for offsets, times in _alike(one, replace(arrangement, swizzle=None)):
            placed = offsets if arrangement.swizzle is None else tuple(map(arrangement.swizzle, offsets))
            counts = Warp(of, placed + (0,) * (LANES - len(placed)), ALL_LANES >> LANES - len(placed)).wavefronts()
            wavefronts += times * of.rounds * sum(counts)
            ideal += times * of.rounds * sum(map(bool, counts))
        costs.append(Cost(one.name, wavefronts, ideal))
    return Choice(arrangement, tuple(costs))


@lru_cache(maxsize=32)
def _alike(traffic: Traffic, arrangement: Arrangement) -> tuple[tuple[Lanes, int], ...]:
    """Warps by the byte offsets of their lanes, and how many there are of each kind; the last may have fewer lanes.

    Two whose offsets differ by one XOR cost the same under every swizzle: a swizzle is linear over XOR, and so are
    words and banks.
    """
    lanes = access(traffic.instruction).lanes
    offsets = list(map(arrangement.offset, traffic.rows, traffic.byte_columns))
    found: dict[Lanes, int] = {}
    for start in range(0, len(offsets), lanes):
        kind = tuple(offset ^ offsets[start] for offset in offsets[start : start + lanes])
        found[kind] = found.get(kind, 0) + 1
    return tuple(found.items())


def _boxed(tile: Tile) -> Iterator[Arrangement]:
    """What a tensor map can write: boxes as wide as the span of its mode, or one that is the whole row."""
    for mode in _BY_TMA:
        if tile.pitch_bytes == mode.span_bytes:
            yield Arrangement(tile, swizzle=mode.swizzle)
        elif tile.pitch_bytes == tile.row_bytes and tile.row_bytes % mode.span_bytes == 0:
            yield Arrangement(tile, swizzle=mode.swizzle, box_bytes=mode.span_bytes)


def _swizzled(tile: Tile, traffic: Sequence[Traffic]) -> Iterator[Arrangement]:
    """Every swizzle that keeps each lane's bytes together and reaches no further than the tile."""
    together = max(access_bytes(one) for one in traffic).bit_length() - 1
    top = (tile.pitch_bytes * tile.rows - 1).bit_length()
    for bits in range(1, _MOST_BITS + 1):
        for base in range(together, top):
            for shift in range(bits, top - base - bits + 1):
                yield Arrangement(tile, swizzle=Swizzle(bits, base, shift))


def access_bytes(traffic: Traffic) -> int:
    """How many bytes of a lane must stay together."""
    return access(traffic.instruction).lane_bytes if traffic.instruction else _ROW_BYTES


def _padded(tile: Tile) -> Iterator[Arrangement]:
    """Paddings that keep rows aligned, up to one row of banks."""
    for padding in range(_ROW_BYTES, 128 + _ROW_BYTES, _ROW_BYTES):
        yield Arrangement(tile, padding_bytes=padding)


def traffic_of(tile: Tile, name: str) -> Traffic:
    """The addresses that an access puts to a tile.

    Raises:
        NoTile: It does not fit the tile, or is not an access.
        UnsupportedForm: It is spelled wrong.
    """
    what, _, along = name.partition("@")
    if what == "tma":
        return Traffic("tma", "", (), ())
    if what.partition(".")[0] in {"ldmatrix", "stmatrix"}:
        return _matrices(tile, name, _spelled(what))
    if what.startswith("cp.async"):
        return _threads(tile, name, "st.shared.v4.b32", along)
    if what.partition(".")[0] not in {"ld", "st"}:
        raise NoTile(
            f"`{name}` is not an access that can be laid out; name tma, cp.async, ldmatrix.x4, stmatrix.x4, or a load "
            "or store such as ld.shared.v4.b32"
        )
    return _threads(tile, name, what, along)


def _spelled(what: str) -> str:
    """A matrix move that leaves out what it need not say here: `ldmatrix.x4.trans` is one of 8x8 matrices."""
    opcode, *words = what.split(".")
    if not any(word.startswith("m") for word in words):
        number = [word for word in words if word.startswith("x")] or ["x4"]
        words = ["m8n8", *number, *(["trans"] if "trans" in words else []), "b16"]
    return ".".join((opcode, *(word for word in ("sync", "aligned") if word not in words), *words))


def _matrices(tile: Tile, name: str, spelling: str) -> Traffic:
    """Matrices at every multiple of their rows and of 16 bytes, dealt to warps one after the other down the tile."""
    height = 16 if ".m16n16" in spelling else 8
    if tile.rows % height:
        raise NoTile(f"`{name}` takes matrices of {height} rows, which do not divide the {tile.rows} of the tile")
    places = [(row, column) for column in range(0, tile.row_bytes, _ROW_BYTES) for row in range(tile.rows)]
    return _traffic(name, spelling, places)


def _traffic(name: str, instruction: str, places: Sequence[tuple[int, int]]) -> Traffic:
    """The (row, byte column) of each address."""
    return Traffic(name, instruction, tuple(row for row, _ in places), tuple(column for _, column in places))


def _threads(tile: Tile, name: str, instruction: str, along: str) -> Traffic:
    """Each thread its own vector: neighbouring lanes along a row, or down a column."""
    of = access(instruction)
    if along not in {"", "row", "column"}:
        raise UsageError("access", name, "`@row` or `@column` after the instruction")
    if tile.row_bytes % of.lane_bytes:
        raise NoTile(f"`{name}` moves {of.lane_bytes} bytes a lane, which do not divide a row of {tile.row_bytes}")
    columns = range(0, tile.row_bytes, of.lane_bytes)
    by_row = [(row, column) for row in range(tile.rows) for column in columns]
    return _traffic(name, instruction, sorted(by_row, key=itemgetter(1)) if along == "column" else by_row)
