"""The areas of a warp's scratch: buffers for operands and results of run-time calls, for one instruction each."""

from __future__ import annotations

from typing import Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.runtime import state

_ADDRESSES_BYTES: Final = LANES * 8

ADDRESSES: Final = 0  # 32 of 64 bits: where the lanes access memory
SOURCES: Final = ADDRESSES + _ADDRESSES_BYTES  # another 32, of the second operand of copies; addresses made narrow
VALUES: Final = SOURCES + _ADDRESSES_BYTES  # operands and results
BARRIERS: Final = VALUES + 4 * _ADDRESSES_BYTES  # where the mbarriers lie that stores report to; these are of 16 bytes
PLACES: Final = state.SCRATCH_BYTES - 64  # where in the host's memory the values lie that are stored, 8 at most
