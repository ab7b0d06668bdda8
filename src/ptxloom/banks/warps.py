"""Bank conflicts of one warp: wavefronts = for each phase the most distinct words that any one bank must serve.

32 banks of 4 bytes; word w is in bank w % 32. Lanes that access the same word share it, except in an atomic operation:
it takes a wavefront for each lane that accesses one bank. Phases merge in one case only: a plain load of 8 or 16 bytes
a lane serves its phases in neighbouring pairs if every active lane's partner is inactive or accesses the same, where
the partner is lane XOR 1 for the whole warp, or lane XOR 2 for the whole warp. Measured on an H200 with ncu.
`ptxloom.banks.batches` counts many warps at once by the same rules.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from ptxloom.banks.access import Access, legal_address
from ptxloom.dataclass import dataclass
from ptxloom.isa.limits import BANK_BYTES, BANKS, LANES

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_LANES: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class BankUse:
    """What one bank must serve in one phase.

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


@dataclass(frozen=True, slots=True)
class WarpAccesses:
    """What one warp asks of shared memory.

    Attributes:
        access: By which instruction.
        addresses: 32 byte addresses; those of lanes that take no part are 0.
        active: Bit i for lane i: whether it takes part and names an address.
    """

    access: Access
    addresses: tuple[int, ...]
    active: int

    def served_together(self) -> tuple[range, ...]:
        """The lanes of each phase, merged ones as one."""
        size = self.access.phase_lanes * (2 if self.access.merges and self._merged() else 1)
        return tuple(range(start, start + size) for start in range(0, self.access.lanes, size))

    def _merged(self) -> bool:
        """Whether the phases are served in pairs."""
        lanes = [lane for lane in range(self.access.lanes) if self.active >> lane & 1]
        return any(
            all(not self.active >> (lane ^ d) & 1 or self.addresses[lane] == self.addresses[lane ^ d] for lane in lanes)
            for d in (1, 2)
        )

    def wavefronts(self) -> tuple[int, ...]:
        """The passes of each phase, in each round of an atomic operation; 0 for one in which no lane takes part."""
        unit = max(BANK_BYTES, self.access.lane_bytes)
        return tuple(self._passes(lanes, unit) for lanes in self.served_together())

    def _passes(self, lanes: range, unit: int) -> int:
        """The most distinct units in the same banks; aligned accesses of one size are equal or disjoint."""
        wanted = [self.addresses[lane] // unit for lane in lanes if self.active >> lane & 1]
        by_banks: dict[int, int] = {}
        for one in wanted if self.access.is_atomic else set(wanted):
            bank = one % (BANKS * BANK_BYTES // unit)
            by_banks[bank] = by_banks.get(bank, 0) + 1
        return max(by_banks.values(), default=0)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Every phase in detail."""
        return tuple(
            _phase(self.access, [(lane, self.addresses[lane]) for lane in lanes if self.active >> lane & 1])
            for lanes in self.served_together()
        )

    @property
    def pitch(self) -> int | None:
        """The bytes from each address to the next within the phases, where they are equal."""
        if self.active != (1 << self.access.lanes) - 1:
            return None
        size = self.access.phase_lanes
        starts = range(0, self.access.lanes, size)
        steps = {b - a for start in starts for a, b in pairwise(self.addresses[start : start + size])}
        return steps.pop() if len(steps) == 1 else None


def make_warp(of: Access, addresses: Sequence[int], active: int = ALL_LANES) -> WarpAccesses:
    """One warp's accesses.

    Args:
        of: The instruction's.
        addresses: 32 byte addresses.
        active: A mask of the lanes that take part.

    Returns:
        The warp, without what lanes name that take no part.

    Raises:
        UsageError: An address is misaligned or negative.
    """
    mask = active & (1 << of.lanes) - 1
    for lane in range(LANES):
        if mask >> lane & 1:
            legal_address("addresses", addresses[lane], of)
    return WarpAccesses(of, tuple(at if mask >> lane & 1 else 0 for lane, at in enumerate(addresses)), mask)


def _phase(of: Access, wanted: list[tuple[int, int]]) -> Phase:
    """One phase in detail, from the (lane, byte address) pairs that take part."""
    by_word: dict[int, list[int]] = {}
    for lane, address in wanted:
        for word in range(address // BANK_BYTES, address // BANK_BYTES + of.words):
            by_word.setdefault(word, []).append(lane)
    banks: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
    for word, lanes in sorted(by_word.items()):
        groups = [(lane,) for lane in lanes] if of.is_atomic else [tuple(lanes)]
        banks.setdefault(word % BANKS, []).extend((word * BANK_BYTES, group) for group in groups)
    uses = tuple(
        BankUse(bank, tuple(word for word, _ in served), tuple(lanes for _, lanes in served))
        for bank, served in sorted(banks.items())
    )
    return Phase(tuple(lane for lane, _ in wanted), max((len(use.words) for use in uses), default=0), uses)
