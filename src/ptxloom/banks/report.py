"""The cost of an access to shared memory: for one warp, or for every warp of a NumPy array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ptxloom.banks.access import Access, access
from ptxloom.banks.warps import ALL_LANES, Phase, WarpAccesses, make_warp
from ptxloom.dataclass import dataclass
from ptxloom.display import mimebundle
from ptxloom.extras import needed
from ptxloom.isa.limits import LANES

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ptxloom.banks.batches import Batch
    from ptxloom.isa.matrix import MatrixMove
    from ptxloom.isa.spelled import Spelled

    Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BankReport:
    """The cost of one instruction, over all warps of the batch.

    Attributes:
        access: The instruction's access to shared memory.
        wavefronts: The number of passes of all warps together.
        ideal: The passes without conflicts: one for each phase that has an active lane.
        ways: The most passes that any phase takes; 1 is free of conflicts.
        worst_warp: The index of the warp that takes the most passes, the first of them; () for a single warp.

    Example:
        >>> report = bank_conflicts("ld.shared.b32", [8 * lane for lane in range(32)])
        >>> report.wavefronts, report.ideal, report.conflicts, report.ways
        (2, 1, 1, 2)
    """

    access: Access
    wavefronts: int
    ideal: int
    ways: int
    worst_warp: tuple[int, ...]
    _worst: WarpAccesses | None = field(repr=False)  # None without warps
    _batch: Batch | None = field(repr=False)

    _repr_mimebundle_ = mimebundle

    @property
    def conflicts(self) -> int:
        """Passes beyond the ideal, those of one round."""
        return (self.wavefronts - self.ideal) // self.access.rounds

    @property
    def phases(self) -> tuple[Phase, ...]:
        """Every phase of the warp that takes the most passes, in detail."""
        return () if self._worst is None else self._worst.phases

    @property
    def pitch(self) -> int | None:
        """The bytes from each address to the next within the phases of the worst warp, where they are equal."""
        return None if self._worst is None else self._worst.pitch

    @property
    def _arrays(self) -> Batch:
        """The arrays of all warps; a single warp's are made when they are asked for, which takes NumPy."""
        if self._batch is not None:
            return self._batch
        with needed():
            import numpy as np  # noqa: PLC0415 - only where arrays are wanted

            from ptxloom.banks.batches import make_batch  # noqa: PLC0415 - likewise

        assert self._worst is not None  # noqa: S101 - only a batch can be empty
        return make_batch(self.access, np.array(self._worst.addresses, np.int64), self._worst.active)

    @property
    def addresses(self) -> Counts:
        """(..., 32) int64, in bytes; those of lanes that name no address, or are off, are ignored."""
        return self._arrays.addresses

    @property
    def active(self) -> npt.NDArray[np.bool_]:
        """(..., 32) bool, which lanes take part."""
        return self._arrays.active

    @property
    def by_phase(self) -> Counts:
        """(..., phases) int64, the wavefronts of each phase of each warp."""
        return self._arrays.by_phase

    @property
    def by_warp(self) -> Counts:
        """(...) int64, the wavefronts of each warp."""
        return self._arrays.by_warp

    def warp(self, *index: int) -> BankReport:
        """The report of one warp of the batch.

        Args:
            index: Where it stands in the leading dimensions of the addresses.

        Returns:
            A report of that warp alone.
        """
        return _of_warp(self._arrays.warp(index))

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
        addresses: 32 byte addresses in shared memory, by lane; or (..., 32) integers in a NumPy array, for many warps.
        active: A mask of the lanes that take part, bit i for lane i; all if left out.

    Returns:
        A report over all warps, with the details of the worst one.

    Raises:
        UnsupportedForm: The instruction is not such an access.
        UsageError: The addresses are not integers, not 32 a warp, or misaligned.

    Example:
        >>> print(bank_conflicts("m8n8.x4.b16", [128 * lane for lane in range(32)]))
        ldmatrix.sync.aligned.m8n8.x4.b16: rows 128 bytes apart: 8-way bank conflict, 32 wavefronts where 4 would do
    """
    of = access(instruction)
    mask = ALL_LANES if active is None else active
    if isinstance(addresses, Sequence) and len(addresses) == LANES and all(type(at) is int for at in addresses):
        return _of_warp(make_warp(of, addresses, mask))
    with needed():
        import numpy as np  # noqa: PLC0415 - only where arrays are

        from ptxloom.banks.batches import make_batch  # noqa: PLC0415 - likewise

    return _of_batch(make_batch(of, np.asarray(addresses), mask))


def _of_warp(warp: WarpAccesses) -> BankReport:
    """A report of one warp."""
    counts, rounds = warp.wavefronts(), warp.access.rounds
    ideal = rounds * sum(1 for count in counts if count)
    return BankReport(warp.access, rounds * sum(counts), ideal, max(counts, default=0), (), warp, None)


def _of_batch(batch: Batch) -> BankReport:
    """A report of an array of warps."""
    import numpy as np  # noqa: PLC0415 - only where arrays are

    by_phase, rounds = batch.by_phase, batch.access.rounds
    at = (
        tuple(int(n) for n in np.unravel_index(int(batch.by_warp.argmax()), batch.by_warp.shape))
        if by_phase.size
        else ()
    )
    return BankReport(
        batch.access,
        int(by_phase.sum()) * rounds,
        int(np.count_nonzero(by_phase)) * rounds,
        int(by_phase.max(initial=0)),
        at,
        batch.warp(at) if by_phase.size else None,
        batch,
    )
