"""How bytes are swizzled in shared memory: the modes that tensor maps and matrix descriptors share (PTX ISA 5.5.6).

A mode works on addresses, not on offsets in a tile: it XORs bits from 7 up into bits from 4 up (CuTe: Swizzle<B,4,3>).
So what TMA writes is where wgmma looks for it, wherever the tile begins. Confirmed on an H200 for 32B, 64B and 128B.
"""

from __future__ import annotations

from typing import Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.layout import Swizzle

CHUNK_BYTES: Final = 16
"""What stays together under most modes: a row of a core matrix."""
LINE_BITS: Final = 7
"""The lowest address bit that moves a chunk: all banks of shared memory are one line of 128 bytes."""


@dataclass(frozen=True, slots=True)
class SwizzleMode:
    """One of the ways in which the chunks of a row change places.

    Attributes:
        name: As `cuTensorMapEncodeTiled` calls it, such as "128B".
        span_bytes: How wide a row is in shared memory; chunks change places within it.
        atom_bytes: What stays together.
        pattern_lines: After how many lines of 128 bytes the pattern begins anew; 0: as many as there are atoms.
        flips: Whether the halves of each 16 bytes change places in every other line.

    Example:
        >>> mode = swizzle_mode("128B")
        >>> print(mode.swizzle, mode.pattern_bytes, hex(mode(0x480)))
        Sw<3,4,3> 1024 0x490
    """

    name: str
    span_bytes: int
    atom_bytes: int = CHUNK_BYTES
    pattern_lines: int = 0
    flips: bool = False

    @property
    def swizzle(self) -> Swizzle:
        """What it does to byte addresses, except for what it flips."""
        base = self.atom_bytes.bit_length() - 1
        lines = self.pattern_lines or self.span_bytes // self.atom_bytes
        return Swizzle(lines.bit_length() - 1, base, LINE_BITS - base)

    @property
    def chunks(self) -> int:
        """How many chunks of 16 bytes a row has."""
        return self.span_bytes // CHUNK_BYTES

    @property
    def pattern_bytes(self) -> int:
        """After how many bytes the pattern begins anew; without a swizzle, a core matrix."""
        return self.swizzle.span

    @property
    def pattern_rows(self) -> int:
        """After how many rows the pattern begins anew."""
        return self.pattern_bytes // self.span_bytes

    @property
    def alignment_bytes(self) -> int:
        """Where a pattern begins: a multiple of this."""
        return self.pattern_bytes if self.swizzle.bits else CHUNK_BYTES

    def __call__(self, address: Any, base_offset: int = 0) -> Any:
        """The address after swizzling of the byte at `address`; arrays work like integers.

        Args:
            address: In shared memory, in bytes.
            base_offset: In units of 128 bytes, what a matrix descriptor subtracts before it uses an address.
        """
        shifted = address - (base_offset << LINE_BITS)
        moved = address ^ self.swizzle(shifted) ^ shifted
        return moved ^ _FLIP(shifted) ^ shifted if self.flips else moved

    def __str__(self) -> str:
        return self.name


_FLIP: Final = Swizzle(1, 3, LINE_BITS - 3)
SWIZZLE_MODES: Final[dict[str, SwizzleMode]] = {
    mode.name: mode
    for mode in (
        SwizzleMode("none", CHUNK_BYTES),
        SwizzleMode("32B", 32),
        SwizzleMode("64B", 64),
        SwizzleMode("128B", 128),
        SwizzleMode("128B_ATOM_32B", 128, 32),
        SwizzleMode("128B_ATOM_32B_FLIP_8B", 128, 32, flips=True),
        SwizzleMode("128B_ATOM_64B", 128, 64),
        SwizzleMode("96B", 96, pattern_lines=2),
    )
}
"""By name; those with an atom are sm_100's, 96B is sm_103's, by the manual and not run on silicon by us."""


def swizzle_mode(name: str) -> SwizzleMode:
    """The mode of a name.

    Raises:
        UsageError: No mode has that name.
    """
    found = SWIZZLE_MODES.get(name)
    if found is None:
        raise UsageError("swizzle", name, f"one of {', '.join(SWIZZLE_MODES)}")
    return found
