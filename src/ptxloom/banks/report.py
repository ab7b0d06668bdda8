"""Bank conflicts: wavefronts = for each phase the most distinct words that any one bank must give.

32 banks of 4 bytes; word w lies in bank w % 32. Lanes that want the same word share it, but those of an atomic
operation do not: it takes a wavefront for each lane that wants anything of one bank. Phases merge in one case only:
a plain load of 8 or 16 bytes a lane serves its phases in neighbouring pairs if every active lane's partner is inactive
or wants the same, where the partner is lane XOR 1 for the whole warp, or lane XOR 2 for the whole warp. Measured on an
H200 with ncu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.banks.access import BANKS, WORD_BYTES, Access, access, legal_address
from ptxloom.diagnostics import UsageError
from ptxloom.display import mimebundle
from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.isa.spelled import Spelled

    Counts = npt.NDArray[np.int64]

ALL_LANES: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class BankUse:
    """What one bank must give in one phase.

    Attributes:
        bank: 0 to 31.
        words: The distinct words wanted, as byte addresses, in order; of an atomic operation one for each lane.
        lanes: For each word the lanes that want it.
    """

    bank: int
    words: tuple[int, ...]
    lanes: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """Lanes that are served together.

    Attributes:
        lanes: Those of them that take part.
        wavefronts: How many passes they take, in each round of an atomic operation.
        banks: Every bank that is used, in order.
    """

    lanes: tuple[int, ...]
    wavefronts: int
    banks: tuple[BankUse, ...]

    @property
    def conflicts(self) -> int:
        """Passes beyond the first."""
        return max(0, self.wavefronts - 1)

    @property
    def worst(self) -> tuple[BankUse, ...]:
        """The banks that decide how many passes it takes."""
        return tuple(use for use in self.banks if len(use.words) == self.wavefronts)


@dataclass(frozen=True, slots=True, eq=False)
class BankReport:
    """What one instruction costs, over all warps of the batch.

    Attributes:
        access: What the instruction asks of shared memory.
        addresses: (..., 32) int64, in bytes; those of lanes that name none, or are off, mean nothing.
        active: (..., 32) bool, which lanes take part.
        by_phase: (..., phases) int64, the wavefronts of each phase of each warp.

    Example:
        >>> report = bank_conflicts("ld.shared.b32", [8 * lane for lane in range(32)])
        >>> report.wavefronts, report.ideal, report.conflicts, report.ways
        (2, 1, 1, 2)
    """

    access: Access
    addresses: Counts
    active: npt.NDArray[np.bool_]
    by_phase: Counts

    _repr_mimebundle_ = mimebundle

    @property
    def wavefronts(self) -> int:
        """How many passes all warps take together."""
        return int(self.by_phase.sum()) * self.access.rounds

    @property
    def ideal(self) -> int:
        """How many they would take without conflicts: one for each phase that has an active lane."""
        return int(np.count_nonzero(self.by_phase)) * self.access.rounds

    @property
    def conflicts(self) -> int:
        """Passes beyond the ideal, those of one round."""
        return (self.wavefronts - self.ideal) // self.access.rounds

    @property
    def ways(self) -> int:
        """The most passes that any phase takes; 1 is free of conflicts."""
        return int(self.by_phase.max(initial=0))

    @property
    def by_warp(self) -> Counts:
        """(...) int64, the wavefronts of each warp."""
        return self.by_phase.sum(axis=-1) * self.access.rounds

    @property
    def worst_warp(self) -> tuple[int, ...]:
        """The index of the warp that takes the most passes, the first of them; () for a single warp."""
        return tuple(int(place) for place in np.unravel_index(int(self.by_warp.argmax()), self.by_warp.shape))

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Every phase of the warp that takes the most passes, in detail."""
        if not self.by_phase.size:
            return ()
        warp = self.worst_warp
        addresses: list[int] = self.addresses[warp].tolist()
        active: list[bool] = self.active[warp].tolist()
        return tuple(
            _phase(self.access, [(lane, addresses[lane]) for lane in lanes if active[lane]])
            for lanes in self._served_together(warp)
        )

    def _served_together(self, warp: tuple[int, ...]) -> tuple[range, ...]:
        """The lanes of each phase of a warp, merged ones as one."""
        size = self.access.phase_lanes
        if self.access.merges:
            wanted = np.where(self.active[warp], self.addresses[warp] // _unit(self.access), -1)
            size *= 2 if _merged(self.access, wanted).item() else 1
        return tuple(range(start, start + size) for start in range(0, self.access.lanes, size))

    def warp(self, *index: int) -> BankReport:
        """The report of one warp of the batch.

        Args:
            index: Where it stands in the leading dimensions of the addresses.

        Returns:
            A report of that warp alone.
        """
        return BankReport(self.access, self.addresses[index], self.active[index], self.by_phase[index])

    @property
    def pitch(self) -> int | None:
        """The bytes from each address to the next within the phases of the worst warp, where they are equal."""
        if not self.by_phase.size:
            return None
        lanes = self.addresses[self.worst_warp][: self.access.lanes].reshape(-1, self.access.phase_lanes)
        steps = np.unique(np.diff(lanes, axis=-1))
        everyone = bool(self.active[self.worst_warp][: self.access.lanes].all())
        return int(steps[0]) if everyone and len(steps) == 1 else None

    def __str__(self) -> str:
        what = "rows" if self.access.is_matrix else "lanes"
        where = f"{what} {self.pitch} bytes apart: " if self.pitch is not None else ""
        verdict = f"{self.ways}-way bank conflict" if self.conflicts else "no bank conflict"
        return f"{self.access.spelling}: {where}{verdict}, {self.wavefronts} wavefronts where {self.ideal} would do"


def bank_conflicts(
    instruction: str | Spelled | MatrixMove, addresses: Sequence[int] | npt.NDArray[Any], active: int | None = None
) -> BankReport:
    """How many wavefronts an access to shared memory takes, and which banks decide it.

    Equal to ncu's counts on an H200 in all of 1,610 recorded launches of ldmatrix, stmatrix, plain loads and stores,
    and 306 of atomic operations that shared memory does itself. ldmatrix with `.m16n16` is not measured; its 16 rows
    are taken as two phases of 8.

    Args:
        instruction: ldmatrix, stmatrix, a load or store such as `ld.shared.v4.b32`, or `atom.shared.add.u32`.
        addresses: (..., 32) integers, byte addresses in shared memory by lane.
        active: A mask of the lanes that take part, bit i for lane i; all if left out.

    Returns:
        A report over all warps, with the details of the worst one.

    Raises:
        UnsupportedForm: The instruction is no such access.
        UsageError: The addresses are not integers, not 32 a warp, or misaligned.

    Example:
        >>> print(bank_conflicts("m8n8.x4.b16", [128 * lane for lane in range(32)]))
        ldmatrix.sync.aligned.m8n8.x4.b16: rows 128 bytes apart: 8-way bank conflict, 32 wavefronts where 4 would do
    """
    of = access(instruction)
    given = np.asarray(addresses)
    if given.dtype.kind not in "iu" or given.ndim < 1 or given.shape[-1] != LANES:
        raise UsageError("addresses", f"{given.dtype} of shape {given.shape}", "integers of shape (..., 32)")
    bits = np.array([(ALL_LANES if active is None else active) >> lane & 1 for lane in range(LANES)], np.bool_)
    bits[of.lanes :] = False
    taking_part = np.broadcast_to(bits, given.shape)
    wrong = taking_part & ((given < 0) | (given % of.lane_bytes != 0))
    if wrong.any():
        legal_address("addresses", int(given[wrong][0]), of)
    byte_addresses = np.where(taking_part, given, 0).astype(np.int64)
    return BankReport(of, byte_addresses, taking_part, _count(of, byte_addresses, taking_part))


def _count(of: Access, addresses: Counts, active: npt.NDArray[np.bool_]) -> Counts:
    """(..., phases): the wavefronts of each phase; 0 for one that is served together with the phase before it."""
    wanted = np.where(active, addresses // _unit(of), -1)[..., : of.lanes]
    counts = _distinct(of, wanted, of.phase_lanes)
    if not of.merges:
        return counts
    together = _merged(of, wanted)
    counts[..., 0::2] = np.where(together, _distinct(of, wanted, 2 * of.phase_lanes), counts[..., 0::2])
    counts[..., 1::2] = np.where(together, 0, counts[..., 1::2])
    return counts


def _unit(of: Access) -> int:
    """Bytes that are wanted whole or not at all: aligned accesses of one size are the same or lie apart."""
    return max(WORD_BYTES, of.lane_bytes)


def _merged(of: Access, wanted: Counts) -> npt.NDArray[np.bool_]:
    """(..., 1): whether a warp's phases are served in pairs."""
    merged = np.zeros(wanted.shape[:-1], np.bool_)
    for distance in (1, 2):
        partner = wanted[..., np.arange(of.lanes) ^ distance]
        merged |= ((wanted == partner) | (wanted < 0) | (partner < 0)).all(axis=-1)
    return merged[..., None]


def _distinct(of: Access, wanted: Counts, lanes: int) -> Counts:
    """(..., groups of so many lanes): the most distinct units that lie in one and the same banks."""
    unit_banks = BANKS * WORD_BYTES // _unit(of)
    groups = of.lanes // lanes
    rows = int(np.prod(wanted.shape[:-1], dtype=np.int64)) * groups
    ordered = np.sort(wanted.reshape(rows, lanes), axis=-1)
    first = ordered >= 0
    if not of.is_atomic:
        first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    keys = np.arange(rows)[:, None] * unit_banks + ordered % unit_banks
    counts = np.bincount(keys[first], minlength=rows * unit_banks).reshape(rows, unit_banks)
    return counts.max(axis=-1, initial=0).reshape(*wanted.shape[:-1], groups)


def _phase(of: Access, wanted: list[tuple[int, int]]) -> Phase:
    """One phase in detail, from the (lane, byte address) pairs that take part."""
    by_word: dict[int, list[int]] = {}
    for lane, address in wanted:
        for word in range(address // WORD_BYTES, address // WORD_BYTES + of.words):
            by_word.setdefault(word, []).append(lane)
    banks: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for word, lanes in sorted(by_word.items()):
        groups = [(lane,) for lane in lanes] if of.is_atomic else [tuple(lanes)]
        banks.setdefault(word % BANKS, []).extend((word * WORD_BYTES, group) for group in groups)
    uses = tuple(
        BankUse(bank, tuple(word for word, _ in served), tuple(lanes for _, lanes in served))
        for bank, served in sorted(banks.items())
    )
    return Phase(tuple(lane for lane, _ in wanted), max((len(use.words) for use in uses), default=0), uses)
