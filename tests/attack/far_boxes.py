"""Tensor maps that no driver would make, whose boxes reach 2^40 rows: what a store by one comes to, and what it costs.

A process that prints what each came to; who asks for it sees to it that it ends.
"""

from __future__ import annotations

import struct
import sys
from typing import Final

import numpy as np

import ptxloom as pl

CHECKS: Final = ("memcheck", "racecheck", "racecheck:global", "initcheck", "initcheck:global")
WIDEST: Final = 0xFFFFFFFF  # a tensor of 2^32 elements along a dimension
FAR: Final = 1 << 20
# By name: how far the tensor reaches along each dimension, less one; where the box begins in each.
BOXES: Final = {
    "outside": (0, FAR),
    "touched by its first row": (0, 0),
    "inside": (WIDEST, 0),
}
_KERNEL: Final = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128], .param .u32 at) {
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>;
  .shared .align 128 .b8 tile[64];
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 2; mov.u32 %r2, tile; add.u32 %r2, %r2, %r1; add.u32 %r1, %r0, 1;
  setp.lt.u32 %p, %r0, 16; @%p st.shared.u32 [%r2], %r1;
  fence.proxy.async; bar.sync 0; setp.ne.u32 %p, %r0, 0; @%p bra DONE;
  mov.b64 %d0, map; cvta.param.u64 %d0, %d0; ld.param.u32 %r3, [at];
  cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%d0, {%r3, %r3, %r3, %r3, %r3}], [tile];
  cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;
DONE: ret;
}
"""


def map_of(array: np.ndarray[tuple[int], np.dtype[np.uint8]], last: int) -> bytes:
    """A map of rank 5 of slices of 16 bytes, whose box has 256 elements along each dimension; strides are 0."""
    words = [0] * 32
    words[0], words[1] = struct.unpack("<2I", struct.pack("<Q", array.ctypes.data))
    words[2] = 4 << 4 | 1 << 11
    words[8:13] = [last] * 5
    words[13] = 255 << 24
    words[14] = WIDEST
    return struct.pack("<32I", *words)


def stored(last: int, at: int, checks: tuple[str, ...]) -> str:
    """What a store of such a box comes to: the rule of its first hazard, else the first words of the tensor."""
    whole = np.zeros(64, np.uint8)
    array = whole[-whole.ctypes.data % 16 :][:16]
    kernel = pl.kernel(pl.parse(_KERNEL), "k")
    try:
        result = kernel.launch(1, 32, [array, map_of(array, last), at], checks=checks)
    except pl.LaunchError as error:
        return error.hazards[0].rule
    return ", ".join([*(hazard.rule for hazard in result.hazards), str(array.view(np.uint32).tolist())])


def main() -> int:
    """The command."""
    for name, (last, at) in BOXES.items():
        for checks in (("memcheck",), CHECKS):
            print(f"{name}: {stored(last, at, checks)}", flush=True)  # noqa: T201 - to the test
    return 0


if __name__ == "__main__":
    sys.exit(main())
