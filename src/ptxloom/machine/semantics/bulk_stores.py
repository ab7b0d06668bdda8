"""Regions of shared memory set at once: `st.bulk` (PTX ISA 9.7.9.13)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import WRITE, Access
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.program.symbols import Register
from ptxloom.machine.runtime import bulk_stores
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

family: Final = Family()


@family("st", when=lambda op: op.has("bulk"))
def st_bulk(b: Builder, op: Op) -> None:
    """Set a region to zero."""
    space = space_of(op)
    sizes = _sizes(b, op.operands[1])
    at = addresses_at(b, op.operands[0], space, sizes)
    place = b.scratch(scratch.VALUES)
    b.store(sizes, place, 64)
    stretches = partial(b.load, vector("i32"), place, 64)
    b.touch(Access(WRITE, space, at, 8, is_issued=True, operand=0, stretches=stretches))
    b.check(b.runtime(bulk_stores.clear_shared, W, b.active_mask, at, place, space, op.site))


def _sizes(b: Builder, operand: tree.Operand) -> Value:
    """How many bytes, 32 of 32 bits: what does not fit is too many whatever it is."""
    found = b.find(operand.text) if isinstance(operand, tree.Name) else None
    if not isinstance(found, Register) or found.type.bits == 32:
        return b.read(operand, "u32")
    wide = b.read(operand, "u64")
    return b.resize(b.intrinsic("llvm.umin", wide, b.constant(wide.type, 0xFFFFFFFF)), 32)
