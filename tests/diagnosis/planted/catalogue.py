"""Every planted bug: `BUGS`, the mistakes; `KERNELS`, the right kernels that they are planted in."""

from __future__ import annotations

from diagnosis.planted import (
    blackwell_bugs,
    compiled_bugs,
    fragment_bugs,
    hopper_bugs,
    order_bugs,
    other_bugs,
    paired_bugs,
    scaled_bugs,
    store_bugs,
    tile_bugs,
)
from diagnosis.planted.kernels import KERNELS

__all__ = ["BUGS", "KERNELS"]

_OF_REGISTERS = (
    *fragment_bugs.BUGS,
    *tile_bugs.BUGS,
    *store_bugs.BUGS,
    *other_bugs.BUGS,
    *compiled_bugs.BUGS,
    *order_bugs.BUGS,
)
BUGS = (*_OF_REGISTERS, *hopper_bugs.BUGS, *blackwell_bugs.BUGS, *scaled_bugs.BUGS, *paired_bugs.BUGS)
