"""The cost of instructions, as numbers that add up, with some of the addresses that caused it."""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Final

from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ptxloom.syntax.origins import SourceLine

SECTORS_A_WAVEFRONT: Final = 4


@dataclass(frozen=True, slots=True)
class Counts:
    """The cost of some instructions together; costs add up.

    Attributes:
        executions: Warp instructions, those whose predicate holds in no lane included.
        lanes: The lanes that took part, over all executions.
        wavefronts: Passes of shared memory, as ncu counts them.
        ideal_wavefronts: The wavefronts without bank conflicts.
        conflicts: Bank conflicts: wavefronts beyond the ideal; half of that for a compare-and-swap, which takes each
            twice.
        sectors: Sectors of 32 bytes that accesses to global memory asked for.
        ideal_sectors: The sectors if the lanes' bytes were contiguous; at most `sectors`.
        divergent: Branches that sent the lanes of a warp to different places.
        bulk_global_bytes: Bytes of global memory that bulk copies read or wrote; for a box, those inside the tensor.
        bulk_shared_bytes: The same for shared memory; for a box, all that a load fills; for a multicast, in each CTA.
    """

    executions: int = 0
    lanes: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    conflicts: int = 0
    sectors: int = 0
    ideal_sectors: int = 0
    divergent: int = 0
    bulk_global_bytes: int = 0
    bulk_shared_bytes: int = 0

    @property
    def cost(self) -> float:
        """Cycles of resources that a multiprocessor's warps share: one to issue an instruction, one per memory pass.

        A pass is a wavefront of shared memory, or four sectors. Tables are sorted by it; it does not predict time.
        """
        return self.executions + self.wavefronts + self.sectors / SECTORS_A_WAVEFRONT

    @property
    def bulk_bytes(self) -> int:
        """The bytes that bulk copies read and wrote."""
        return self.bulk_global_bytes + self.bulk_shared_bytes

    def __str__(self) -> str:
        parts = [f"{self.executions:,} warp instructions"]
        if self.wavefronts:
            conflicts = f"{self.conflicts:,} of them bank conflicts" if self.conflicts else "no bank conflict"
            parts.append(f"{self.wavefronts:,} wavefronts of shared memory ({conflicts})")
        if self.sectors:
            parts.append(f"{self.sectors:,} sectors of global memory (ideally {self.ideal_sectors:,})")
        if self.divergent:
            parts.append(f"{self.divergent:,} divergent branch{'es' if self.divergent > 1 else ''}")
        if self.bulk_bytes:
            moved = f"{self.bulk_global_bytes:,} bytes of global and {self.bulk_shared_bytes:,} of shared memory"
            parts.append(f"{moved} by bulk copies")
        return ", ".join(parts)

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Counts)))


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Some of the addresses that an instruction put to shared memory, the worst among them.

    Attributes:
        access: The access as `bank_conflicts` takes it: `ld.shared.b32`, `ldmatrix...`.
        addresses: (n, 32) int64, bytes within shared memory.
        active: (n,) uint32, the lanes that took part.
        times: (n,) int64, how often each came, moved by a constant or not.
    """

    access: str
    addresses: NDArray[np.int64]
    active: NDArray[np.uint32]
    times: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """One PTX instruction.

    Attributes:
        line: The PTX line.
        instruction: The instruction as PTX.
        function: The kernel or function that contains it.
        origin: The line of the compiled program that it comes from, if the module records it.
        counts: What it cost.
        samples: Addresses in shared memory that it accessed; None if there are no samples.
    """

    line: int
    instruction: str
    function: str
    origin: SourceLine | None
    counts: Counts
    samples: Samples | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One line of the program that was compiled."""

    origin: SourceLine
    counts: Counts
