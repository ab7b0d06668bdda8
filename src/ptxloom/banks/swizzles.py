"""The swizzle finder: every Swizzle<B,M,S> and padding under which all accesses to a tile are free of bank conflicts.

Nothing is looked up: each candidate is applied to the addresses of every warp of every access, and counted as the
banks count.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ptxloom.banks.access import access
from ptxloom.banks.tiles import ROW_BYTES, TMA_MODES, Arrangement, Tile
from ptxloom.banks.traffic import access_bytes, traffic_of
from ptxloom.banks.warps import ALL_LANES, WarpAccesses
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError, must_be, must_be_several
from ptxloom.display import mimebundle
from ptxloom.isa.limits import LANES, LINE_BYTES
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.banks.traffic import Traffic

    Lanes = tuple[int, ...]

_MOST_BITS: Final = 5  # of a swizzle: there are 32 banks


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
    """The finder's result.

    Attributes:
        tile: The tile.
        plain: The cost of the accesses with the tile as it is.
        choices: Every swizzle of the fewest bits, and the smallest padding, that leave no conflict; best first.
        best: The cheapest choice, if every choice leaves conflicts.
        by_tma: The cheapest choice that a tensor map can write; None if the rows fit none of its modes.
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
        accesses: `cp.async` (16 bytes a thread), `ldmatrix`, `stmatrix` (any form; its matrices may be at any multiple
            of 8 rows and 16 bytes), `ld.shared.v4.b32` and its like, neighbouring lanes along the rows, or down a
            column with `@column`; `tma` for a tile that TMA writes or reads, which allows its own swizzles only.

    Returns:
        The arrangements, proven by counting every warp of every access.

    Raises:
        NoTile: An access does not fit the tile, or is not one.
        UnsupportedForm: It is spelled wrong.

    Example:
        >>> from ptxloom.banks.tiles import make_tile
        >>> found = find_swizzles(make_tile(64, 64, "f16"), ["cp.async", "ldmatrix.x4.trans"])
        >>> print(found.choices[0].arrangement, found.choices[0].arrangement.expression)
        Swizzle<3,3,3> (i = row * 64 + column, i ^ ((i >> 6 & 7) << 3))
    """
    must_be(Tile, "tile", tile, "a tile, as `make_tile` returns it")
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
            counts = WarpAccesses(
                of, placed + (0,) * (LANES - len(placed)), ALL_LANES >> LANES - len(placed)
            ).wavefronts()
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
    """Layouts that a tensor map can write: boxes as wide as its mode's span, without gaps between their rows."""
    for mode in TMA_MODES:
        if tile.pitch_bytes == tile.row_bytes and tile.row_bytes % mode.span_bytes == 0:
            boxed = tile.row_bytes > mode.span_bytes
            yield Arrangement(tile, swizzle=mode.swizzle, box_bytes=mode.span_bytes if boxed else None)


def _swizzled(tile: Tile, traffic: Sequence[Traffic]) -> Iterator[Arrangement]:
    """Every swizzle that keeps each lane's bytes together and reaches no further than the tile."""
    together = max(access_bytes(one) for one in traffic).bit_length() - 1
    top = (tile.pitch_bytes * tile.rows - 1).bit_length()
    for bits in range(1, _MOST_BITS + 1):
        for base in range(together, top):
            for shift in range(bits, top - base - bits + 1):
                yield Arrangement(tile, swizzle=Swizzle(bits, base, shift))


def _padded(tile: Tile) -> Iterator[Arrangement]:
    """Paddings that keep rows aligned, up to one row of banks."""
    for padding in range(ROW_BYTES, LINE_BYTES + ROW_BYTES, ROW_BYTES):
        yield Arrangement(tile, padding_bytes=padding)
