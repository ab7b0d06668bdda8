"""Memory on a thread's stack: `alloca`, `stacksave`, `stackrestore` (PTX ISA 9.7.18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime.warps import calls

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_ALIGNMENT: Final = 8  # if it is not stated
_ALIGNMENT_LIMIT: Final = 1 << 23


@family("alloca")
def alloca(b: Builder, op: Op) -> None:
    """Take bytes of local memory until the function returns; its result is their address there."""
    target, size, *rest = op.operands
    alignment = b.literal(rest[0]) if rest else _ALIGNMENT
    if alignment is None or not 0 < alignment <= _ALIGNMENT_LIMIT or alignment & alignment - 1:
        raise op.unsupported(f"it aligns to a power of two up to {_ALIGNMENT_LIMIT}")
    sizes, out = b.scratch(), b.scratch(scratch.VALUES)
    b.store(b.resize(b.read(size, op.type), 64), sizes, 64)
    facts = (sizes, out, max(alignment, _ALIGNMENT), op.function.frame_bytes, op.site)
    b.check(b.runtime(calls.allocate, W, b.active_mask, *facts))
    b.write(target, b.resize(b.load(vector("i64"), out, 64), op.type.bits))


@family("stacksave")
def stacksave(b: Builder, op: Op) -> None:
    """A token for the current top of the stack."""
    b.write(op.operands[0], b.resize(b.load(vector("i32"), b.field("stack"), 4), op.type.bits))


@family("stackrestore")
def stackrestore(b: Builder, op: Op) -> None:
    """Free everything allocated since a token was made."""
    b.store(b.resize(b.read(op.operands[0], op.type), 64), b.scratch(), 64)
    b.check(b.runtime(calls.restore_stack, W, b.active_mask, b.scratch(), op.site))
