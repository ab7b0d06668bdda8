"""Exchange between the lanes of a warp: `shfl.sync` (PTX ISA 9.7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.convergence import converge
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime.warps import lanes
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_MODES: Final = {"up": 0, "down": 1, "bfly": 2, "idx": 3}


@family("shfl", starts=True)
def shfl(b: Builder, op: Op) -> None:
    """Read another lane's register: its lane is found within segments that `c` describes."""
    target, source, distance, clamp, *members = op.operands
    if members:
        converge(b, members[0])
    mode = op.one_of(_MODES)
    by, limit = b.literal(distance), b.literal(clamp)
    if by is not None and limit is not None:
        _shfl_constant(b, op, mode, by, limit)
        return
    b.store(b.read(source, "b32"), b.scratch(scratch.VALUES), 64)
    b.store(b.read(distance, "b32"), b.scratch(scratch.VALUES + 128), 64)
    b.store(b.read(clamp, "b32"), b.scratch(scratch.VALUES + 256), 64)
    places = (
        b.scratch(scratch.VALUES),
        b.scratch(scratch.VALUES + 128),
        b.scratch(scratch.VALUES + 256),
        b.scratch(scratch.VALUES + 384),
    )
    inside = b.runtime(lanes.shuffle, W, *places, _MODES[mode])
    first, second = (target.first, target.second) if isinstance(target, tree.Pair) else (target, None)
    b.write(first, b.load(vector("i32"), b.scratch(scratch.VALUES + 384), 64))
    if second is not None:
        b.write_mask(second, inside)


def shuffle_source(mode: str, lane: int, distance: int, clamp: int) -> tuple[int, bool]:
    """The lane that a lane reads, and whether it is in range (PTX ISA 9.7.9, `shfl.sync`)."""
    segment = clamp >> 8 & 31
    low, high = lane & segment, lane & segment | clamp & ~segment & 31
    by = distance & 31
    match mode:
        case "up":
            source = lane - by
            inside = source >= high
        case "down":
            source = lane + by
            inside = source <= high
        case "bfly":
            source = lane ^ by
            inside = source <= high
        case _:
            source = low | by & ~segment
            inside = source <= high
    return (source if inside else lane), inside


def _shfl_constant(b: Builder, op: Op, mode: str, distance: int, clamp: int) -> None:
    """Distance and clamp are literals: one fixed permutation."""
    target, source = op.operands[:2]
    found = [shuffle_source(mode, lane, distance, clamp) for lane in range(LANES)]
    first, second = (target.first, target.second) if isinstance(target, tree.Pair) else (target, None)
    b.write(first, b.shuffle(b.read(source, "b32"), [lane for lane, _ in found]))
    if second is not None:
        inside = sum(int(ok) << lane for lane, (_, ok) in enumerate(found))
        b.write_mask(second, b.constant("i32", inside - (inside >> 31 << 32)))


@family("activemask")
def activemask(b: Builder, op: Op) -> None:
    """The lanes that run this instruction together."""
    b.write(op.operands[0], b.splat(b.active_mask))
