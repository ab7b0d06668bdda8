"""What a trace keeps of an instruction, as native code and Python share it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ptxloom.machine.native import language

if TYPE_CHECKING:
    from ptxloom.machine.native.language import Slice, u64


class TracedSite(language.Sealed):
    """An instruction that is traced."""

    blocks: Annotated[Slice[u64], "block_count"]  # the indices of the CTAs, in order
    block_count: u64
    warps: u64  # one bit per warp of a CTA
    rooms: Annotated[Slice[u64], "rooms_bytes // 8"]  # of each warp of each CTA
    rooms_bytes: u64
    room_bytes: u64  # of one warp: the number of times it ran the instruction, then its records
    record_bytes: u64
    first: u64  # executions that are skipped
    limit: u64  # records of a warp
