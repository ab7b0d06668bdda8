"""How `wgmma` is built on `mma`: each of the four warps computes its 16 rows, in tiles of `m16n8`.

A tile's registers are those of the `mma` of that shape (PTX ISA 9.7.15.5.1), eight columns of D after the other. In
shared memory, too, each register of an `mma` factor is one core matrix: eight rows of 16 bytes, lane after lane.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm

FP8: Final = ("e4m3", "e5m2")
_TILE_ROWS, _TILE_COLUMNS = 16, 8


def tile(form: MatrixForm) -> MatrixForm:
    """The `mma` that has the factors and the result of one tile of a `wgmma`; any other product unchanged.

    For 8-bit floats PTX may not have it, and its arithmetic is not that of `mma`.
    """
    if form.opcode != "wgmma":
        return form
    return replace(form, opcode="mma", m=_TILE_ROWS, n=_TILE_COLUMNS)


def sign_bits(element: str) -> int:
    """The sign bits of all elements of a type in a register of A."""
    return {"f16": 0x80008000, "bf16": 0x80008000, "tf32": 0x80000000}.get(element, 0x80808080)
