"""Instructions without a result: fences, cache hints, sleeping (PTX ISA 9.7.9, 9.7.13, 9.7.20)."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen.addresses import space_of
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.warps import reconvergence, warpgroups

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()


def sees_others(op: Op) -> bool:
    """Whether a thread may observe by an instruction what threads of other CTAs have done before."""
    return op.opcode in {"ld", "ldu", "atom", "multimem"} and space_of(op) in {state.GLOBAL, state.GENERIC}


@family("membar", "fence")
def fence(b: Builder, op: Op) -> None:
    """Order memory: warps run in order, other CTAs in other threads see a full fence."""
    b.do("fence seq_cst")


@family("nanosleep")
def nanosleep(b: Builder, op: Op) -> None:
    """Let others run at the next opportunity; the duration is ignored."""
    b.runtime(reconvergence.pause, W)


@family("prefetch", "prefetchu", "applypriority", "discard", "brkpt", "pmevent", "griddepcontrol")
@family("cp", when=lambda op: op.has("prefetch"))
def no_effect(b: Builder, op: Op) -> None:
    """A hint, or a message to a debugger or the hardware: nothing that a program can observe."""


@family("setmaxnreg", starts=True)
def setmaxnreg(b: Builder, op: Op) -> None:
    """Registers are unlimited; only checks that all warps of the warpgroup execute it."""
    aligned(b)
    if "synccheck" in b.checks:
        b.runtime(warpgroups.keep_step, W, op.site, 0)


@family("createpolicy")
def createpolicy(b: Builder, op: Op) -> None:
    """A cache policy: 64 bits that only loads and stores understand, other bits for other policies."""
    policy = zlib.crc32(".".join(op.qualifiers).encode()) << 32
    b.write(op.operands[0], b.constant(vector("i64"), policy | 1))
