"""Swizzling of bytes in shared memory: the modes that tensor maps and matrix descriptors share (PTX ISA 5.5.6).

A mode works on addresses, not on offsets in a tile: it XORs bits from 7 up into bits from 4 up (CuTe: Swizzle<B,4,3>).
So TMA writes data where wgmma expects it, wherever the tile starts. Confirmed on an H200 for 32B, 64B and 128B.
"""

from __future__ import annotations

from typing import Any, Final

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UsageError
from ptxloom.layout import Swizzle

CHUNK_BYTES: Final = 16
"""The unit that most modes keep together: a row of a core matrix."""
LINE_BITS: Final = 7
"""The lowest address bit that moves a chunk: all banks of shared memory are one line of 128 bytes."""


@dataclass(frozen=True, slots=True)
class SwizzleMode:
    """A permutation of the chunks of rows.

    Attributes:
        name: Its name as in `cuTensorMapEncodeTiled`, such as "128B".
        span_bytes: The width of a row in shared memory, within which chunks are permuted.
        atom_bytes: The bytes that stay together.
        pattern_lines: The period of the pattern in lines of 128 bytes; 0: the number of atoms.
        flips: Whether the halves of each 16 bytes are exchanged in every other line.

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
        """Its effect on byte addresses, apart from flipping."""
        base = self.atom_bytes.bit_length() - 1
        lines = self.pattern_lines or self.span_bytes // self.atom_bytes
        return Swizzle(lines.bit_length() - 1, base, LINE_BITS - base)

    @property
    def chunks(self) -> int:
        """The number of 16-byte chunks in a row."""
        return self.span_bytes // CHUNK_BYTES

    @property
    def pattern_bytes(self) -> int:
        """The period of the pattern in bytes; without a swizzle, a core matrix."""
        return self.swizzle.span

    @property
    def pattern_rows(self) -> int:
        """The period of the pattern in rows."""
        return self.pattern_bytes // self.span_bytes

    @property
    def alignment_bytes(self) -> int:
        """The alignment of a pattern."""
        return self.pattern_bytes if self.swizzle.bits else CHUNK_BYTES

    def __call__(self, address: Any, base_offset: int = 0) -> Any:
        """The address after swizzling of the byte at `address`; arrays work like integers.

        Args:
            address: A shared address, in bytes.
            base_offset: A matrix descriptor's base offset, in units of 128 bytes, subtracted from addresses before use.
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
    """The mode with a name.

    Raises:
        UsageError: There is no such mode.
    """
    found = SWIZZLE_MODES.get(name)
    if found is None:
        raise UsageError("swizzle", name, f"one of {', '.join(SWIZZLE_MODES)}")
    return found
