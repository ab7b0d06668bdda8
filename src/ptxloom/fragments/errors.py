"""Undefined behaviour met while an instruction is executed on arrays."""

from __future__ import annotations

from ptxloom.diagnostics import PtxloomError


class UndefinedBehavior(PtxloomError):  # noqa: N818 - the design's public name
    """A warp did something that the manual leaves undefined; the message names the warp, the lane and the address.

    Attributes:
        reason: What is wrong, as a clause: "is not a multiple of 16 bytes".
        warp: The warp's index over the leading dimensions of the batch; `()` for a single warp.
        lane: The lane whose address it is.
        address: That address, in bytes.
        matrix: The matrix whose row it names.
        row: The row of that matrix.

    Example:
        >>> import numpy as np
        >>> from ptxloom.fragments.execute import ldmatrix
        >>> ldmatrix("m8n8.x1.b16", np.zeros(128, np.uint8), np.arange(32) * 8)
        Traceback (most recent call last):
        ptxloom.fragments.errors.UndefinedBehavior: lane 1: address 0x8 (matrix 0, row 1) is not a multiple of 16 bytes
    """

    def __init__(self, reason: str, *, warp: tuple[int, ...], lane: int, address: int, matrix: int, row: int) -> None:
        which = f"warp {warp[0] if len(warp) == 1 else warp}, " if warp else ""
        super().__init__(f"{which}lane {lane}: address {address:#x} (matrix {matrix}, row {row}) {reason}")
        self.reason = reason
        self.warp = warp
        self.lane = lane
        self.address = address
        self.matrix = matrix
        self.row = row
