"""Remedies for bank conflicts: the swizzle and the padding, tried on the recorded addresses.

A conflict belongs to the layout of a tile in shared memory, so a change moves the tile for every instruction that
touches it: each candidate is applied to the addresses of all of them, and counted as `banks` counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.banks import access, bank_conflicts
from ptxloom.dataclass import dataclass
from ptxloom.layout import Swizzle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.machine.memory.piece import Piece
    from ptxloom.machine.results.counts import ProfileRow, Samples

    Addresses = NDArray[np.int64]
    Move = Callable[[Addresses], Addresses]

_MOST_BITS: Final = 5  # of a swizzle: there are 32 banks
_FAREST: Final = 12  # bits of a byte offset that a swizzle looks at
_CHUNK: Final = 4  # 16 bytes: what a swizzle may keep together even if no instruction needs it
_TRIED: Final = 6  # candidates that are tried on all instructions
_MOST_PADDING: Final = 128
_WORTH_IT: Final = 0.5  # a change that leaves more of the conflicts than this may as well be luck


@dataclass(frozen=True, slots=True)
class Change:
    """Another place for a tile.

    Attributes:
        swizzle: On the index of an element; None for a padding.
        element_bits: The width of an element.
        pitch: Bytes from one row to the next, before and after; None for a swizzle.
        conflicts: The remaining conflicts of all instructions that touch the tile, over the recorded addresses.
    """

    swizzle: Swizzle | None
    element_bits: int
    pitch: tuple[int, int] | None
    conflicts: int

    def __str__(self) -> str:
        if self.swizzle is not None:
            bits, base, shift = self.swizzle.bits, self.swizzle.base, self.swizzle.shift
            return f"Swizzle<{bits},{base},{shift}> of {self.element_bits}-bit elements"
        assert self.pitch is not None
        return f"rows padded from {self.pitch[0]} to {self.pitch[1]} bytes"


@dataclass(frozen=True, slots=True)
class Remedy:
    """A remedy for the bank conflicts of an instruction.

    Attributes:
        row: The instruction.
        array: The shared variable that it touches; empty if it has no name.
        conflicts: The conflicts of the recorded addresses, over all instructions that touch the tile.
        changes: The best swizzle and padding; empty if nothing helps.
    """

    row: ProfileRow
    array: str
    conflicts: int
    changes: tuple[Change, ...]

    @property
    def verdict(self) -> str:
        """The remedy in a few words."""
        free = [change for change in self.changes if not change.conflicts]
        if free:
            return f"{' or '.join(map(str, free))} leaves no conflict"
        if not self.changes:
            return "no swizzle or padding of the tile helps"
        best = self.changes[0]
        return f"{best} leaves {100 * best.conflicts / self.conflicts:.0f} % of the conflicts"

    def __str__(self) -> str:
        counts = self.row.counts
        wavefronts = f"{counts.wavefronts:,} wavefronts where {counts.ideal_wavefronts:,} would do"
        return f"line {self.row.line}: {wavefronts}: {self.verdict}"


def remedies(rows: Iterable[ProfileRow], arrays: Sequence[Piece]) -> tuple[Remedy, ...]:
    """A remedy for each instruction with bank conflicts, those that conflict most first.

    Args:
        rows: The costs of the instructions.
        arrays: The variables in shared memory.
    """
    touching = [row for row in rows if row.samples is not None]
    hurt = sorted((row for row in touching if row.counts.conflicts), key=lambda row: -row.counts.conflicts)
    return tuple(_remedy(row, touching, arrays) for row in hurt)


def _remedy(row: ProfileRow, touching: Sequence[ProfileRow], arrays: Sequence[Piece]) -> Remedy:
    assert row.samples is not None
    base, name = _array(row.samples, arrays)
    others = [other.samples for other in touching if other.samples is not None and _overlap(row.samples, other.samples)]
    unit = max(access(samples.access).lane_bytes for samples in others)
    before = sum(conflicts(samples) for samples in others)
    found: list[Change] = []
    for candidates in (_swizzles(row.samples, unit), _paddings(row.samples, unit)):
        best = _best(candidates, row.samples, others, base)
        if best is not None and best.conflicts <= before * _WORTH_IT:
            found.append(best)
    return Remedy(row, name, before, tuple(sorted(found, key=lambda change: change.conflicts)))


def _array(samples: Samples, arrays: Sequence[Piece]) -> tuple[int, str]:
    """Where the variable starts that holds the first address, and its name."""
    at = int(_used(samples).min())
    for piece in arrays:
        if piece.start <= at < piece.start + piece.size:
            return piece.start, piece.name
    return 0, ""


def _used(samples: Samples) -> Addresses:
    """The addresses of the lanes that took part."""
    lanes = samples.active[:, None] >> np.arange(32, dtype=np.uint32) & 1
    return samples.addresses[lanes.astype(np.bool_)]


def _overlap(first: Samples, second: Samples) -> bool:
    one, other = _used(first), _used(second)
    return bool(one.min() <= other.max() and other.min() <= one.max())


def conflicts(samples: Samples, move: Move | None = None) -> int:
    """The bank conflicts of the recorded addresses, each weighted by its frequency."""
    total = 0
    for mask in np.unique(samples.active).tolist():
        chosen = samples.active == mask
        addresses = samples.addresses[chosen]
        lanes = (mask >> np.arange(32) & 1).astype(np.bool_)
        report = bank_conflicts(
            samples.access, np.where(lanes, addresses if move is None else move(addresses), 0), mask
        )
        beyond = np.maximum(report.by_phase - 1, 0).sum(axis=-1)
        total += int((beyond * samples.times[chosen]).sum())
    return total


def _best(
    candidates: Iterable[tuple[Change, Move]], samples: Samples, others: Sequence[Samples], base: int
) -> Change | None:
    """Of the changes that help the instruction itself most, the one that leaves the fewest conflicts in all."""
    tried = [
        (conflicts(samples, lambda a, move=move: base + move(a - base)), number, change, move)
        for number, (change, move) in enumerate(candidates)
    ]
    best: Change | None = None
    for _, _, change, move in sorted(tried, key=lambda one: one[:2])[:_TRIED]:
        left = sum(conflicts(other, lambda a, move=move: base + move(a - base)) for other in others)
        if best is None or left < best.conflicts:
            best = Change(change.swizzle, change.element_bits, change.pitch, left)
    return best


def _swizzles(samples: Samples, unit: int) -> Iterator[tuple[Change, Move]]:
    """Swizzles that keep what a lane moves together, those of the fewest bits first."""
    together = unit.bit_length() - 1
    bits_of_element = _element_bits(samples.access)
    units = bits_of_element.bit_length() - 4
    for bits in range(1, _MOST_BITS + 1):
        for base in range(max(together, 2), max(together, _CHUNK) + 1):
            for shift in range(bits, _FAREST - base - bits + 1):
                swizzle = Swizzle(bits, base, shift)
                yield Change(Swizzle(bits, base - units, shift), bits_of_element, None, 0), swizzle


def _element_bits(spelling: str) -> int:
    """The width of an element of the tile, as far as the instruction shows it."""
    digits = spelling.rpartition(".")[2].lstrip("busf")
    return max(int(digits), 8) if digits.isdecimal() and "matrix" not in spelling else 16


def _paddings(samples: Samples, unit: int) -> Iterator[tuple[Change, Move]]:
    """Longer rows, the shortest first."""
    for pitch in _pitches(samples, unit):
        for padding in range(unit, _MOST_PADDING + 1, unit):

            def move(a: Addresses, pitch: int = pitch, padding: int = padding) -> Addresses:
                return a + a // pitch * padding

            yield Change(None, _element_bits(samples.access), (pitch, pitch + padding), 0), move


def _pitches(samples: Samples, unit: int) -> tuple[int, ...]:
    """Candidates for the row pitch: the commonest steps between neighbouring lanes that exceed a lane's bytes."""
    of = access(samples.access)
    steps = np.abs(np.diff(samples.addresses[:, : of.lanes], axis=1)).ravel()
    known, counts = np.unique(steps[(steps > of.lane_bytes) & (steps % unit == 0)], return_counts=True)
    return tuple(int(step) for step in known[np.argsort(-counts, kind="stable")][:3])
