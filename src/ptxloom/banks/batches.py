"""Bank conflicts of many warps at once, in NumPy arrays: the rules of `ptxloom.banks.warps`, vectorised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ptxloom.banks.access import Access, legal_address
from ptxloom.banks.warps import WarpAccesses
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.isa.limits import BANK_BYTES, BANKS, LANES

if TYPE_CHECKING:
    import numpy.typing as npt

    Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The accesses of the warps of a batch, and their cost.

    Attributes:
        access: The instruction's access.
        addresses: (..., 32) int64, in bytes; those of lanes that name no address, or are off, are 0.
        active: (..., 32) bool, which lanes take part.
        by_phase: (..., phases) int64, the wavefronts of each phase of each warp; 0 for one that is served together
            with the phase before it.
    """

    access: Access
    addresses: Counts
    active: npt.NDArray[np.bool_]
    by_phase: Counts

    @property
    def by_warp(self) -> Counts:
        """(...) int64, the wavefronts of each warp."""
        return self.by_phase.sum(axis=-1) * self.access.rounds

    def warp(self, index: tuple[int, ...]) -> WarpAccesses:
        """One of them."""
        mask = sum(1 << lane for lane, on in enumerate(self.active[index].tolist()) if on)
        return WarpAccesses(self.access, tuple(self.addresses[index].tolist()), mask)


def make_batch(of: Access, addresses: npt.NDArray[Any], active: int) -> Batch:
    """Count every warp.

    Args:
        of: The instruction's access.
        addresses: (..., 32) integers.
        active: A mask of the lanes that take part.

    Raises:
        UsageError: The addresses are not integers, not 32 a warp, or misaligned.
    """
    if addresses.dtype.kind not in "iu" or addresses.ndim < 1 or addresses.shape[-1] != LANES:
        raise UsageError("addresses", f"{addresses.dtype} of shape {addresses.shape}", "integers of shape (..., 32)")
    bits = np.array([active >> lane & 1 for lane in range(LANES)], np.bool_)
    bits[of.lanes :] = False
    taking_part = np.broadcast_to(bits, addresses.shape)
    wrong = taking_part & ((addresses < 0) | (addresses % of.lane_bytes != 0))
    if wrong.any():
        legal_address("addresses", int(addresses[wrong][0]), of)
    byte_addresses = np.where(taking_part, addresses, 0).astype(np.int64)
    return Batch(of, byte_addresses, taking_part, _count(of, byte_addresses, taking_part))


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
    """Bytes that are accessed whole or not at all: aligned accesses of one size are equal or disjoint."""
    return max(BANK_BYTES, of.lane_bytes)


def _merged(of: Access, wanted: Counts) -> npt.NDArray[np.bool_]:
    """(..., 1): whether a warp's phases are served in pairs."""
    merged = np.zeros(wanted.shape[:-1], np.bool_)
    for distance in (1, 2):
        partner = wanted[..., np.arange(of.lanes) ^ distance]
        merged |= ((wanted == partner) | (wanted < 0) | (partner < 0)).all(axis=-1)
    return merged[..., None]


def _distinct(of: Access, wanted: Counts, lanes: int) -> Counts:
    """(..., groups of `lanes` lanes): the most distinct units in the same banks."""
    unit_banks = BANKS * BANK_BYTES // _unit(of)
    groups = of.lanes // lanes
    rows = int(np.prod(wanted.shape[:-1], dtype=np.int64)) * groups
    ordered = np.sort(wanted.reshape(rows, lanes), axis=-1)
    first = ordered >= 0
    if not of.is_atomic:
        first[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    keys = np.arange(rows)[:, None] * unit_banks + ordered % unit_banks
    counts = np.bincount(keys[first], minlength=rows * unit_banks).reshape(rows, unit_banks)
    return counts.max(axis=-1, initial=0).reshape(*wanted.shape[:-1], groups)
