"""The code that builds a tile's descriptors: PTX and CUDA C++."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ptxloom.descriptors.matrix import GENERATIONS
from ptxloom.descriptors.swizzling import CHUNK_BYTES

if TYPE_CHECKING:
    from ptxloom.descriptors.tile import SharedTile

LANGUAGES: Final = ("cuda", "ptx")

_CUDA: Final = """\
// The descriptor for {instruction} of {what}.
// The tile is in shared memory at a multiple of {align}.
__device__ inline uint64_t {name}(const void* tile) {{
    uint64_t address = __cvta_generic_to_shared(tile);
    return 0x{bits:016x}ull | (address & 0x3FFFF) >> 4;
}}
"""
_PTX: Final = """\
// The descriptor for {instruction} of {what}.
// %tile: its shared address, a multiple of {align}. %desc, %next: .b64
cvt.u64.u32 %desc, %tile;
bfe.u64 %desc, %desc, 4, 14;
or.b64 %desc, %desc, 0x{bits:016x};
"""


def code(tile: SharedTile, language: str) -> str:
    """Code that builds the descriptor of a tile at any address, and that advances to the next products along K.

    Args:
        tile: The tile; its start address is ignored.
        language: "cuda" or "ptx".

    Example:
        >>> from ptxloom.descriptors import SharedTile
        >>> print(code(SharedTile(64, 64), "ptx").splitlines()[4])
        or.b64 %desc, %desc, 0x4000004000010000;
    """
    at_zero = replace(tile, start_address=0)
    head = (_CUDA if language == "cuda" else _PTX).format(
        instruction=GENERATIONS[tile.generation].instruction,
        what=described(tile),
        align=tile.mode.alignment_bytes,
        name=f"descriptor_{tile.element}_{tile.major}_{tile.swizzle}",
        bits=at_zero.descriptor.bits,
    )
    return head + "".join(_steps(at_zero, language))


def described(tile: SharedTile) -> str:
    """A tile in words.

    Example:
        >>> from ptxloom.descriptors import SharedTile
        >>> described(SharedTile(64, 32, "f16", "k", "none"))
        'a 64x32 tile of f16, K-major, no swizzle'
    """
    swizzle = "no swizzle" if tile.swizzle == "none" else f"{tile.swizzle} swizzle"
    return f"a {tile.rows}x{tile.columns} tile of {tile.element}, {tile.major.upper()}-major, {swizzle}"


def _steps(tile: SharedTile, language: str) -> list[str]:
    """A line for each further product along K: addresses count in units of 16 bytes."""
    lines: list[str] = []
    for step in tile.steps[1:]:
        units = step.offset_bytes // CHUNK_BYTES
        what = f"// K = {step.column} to {step.column + tile.step_columns - 1}"
        lines.append(f"{what}: + {units}\n" if language == "cuda" else f"add.u64 %next, %desc, {units};  {what}\n")
    return lines
