"""Tensor maps that kernels change: `tensormap.replace`, `tensormap.cp_fenceproxy` (PTX ISA 9.7.9.28, 9.7.13.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, UPDATE, WRITE, Access
from ptxloom.machine.codegen.addresses import addresses_at, space_of
from ptxloom.machine.codegen.convergence import aligned
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.tensor_boxes import model as tensor_copy
from ptxloom.machine.runtime.tensor_maps import fields

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()
_PARTS: Final = tensor_copy.MAP_BYTES // 8  # a map is accessed as a whole, in parts of 64 bits


@family("tensormap", when=lambda op: op.has("replace"))
def replace(b: Builder, op: Op) -> None:
    """Set a field of a tensor map, of one dimension where it has several."""
    word = op.one_of(fields.FIELDS)
    if not word:
        raise op.unsupported("it names no field that is known")
    address, *numbered, value = op.operands
    ordinal = b.literal(numbered[0]) if numbered else 0
    if ordinal is None:
        raise op.unsupported("the number of a dimension is a constant")
    space = space_of(op)
    at = addresses_at(b, address, space, tensor_copy.MAP_BYTES)
    wide = "b64" if word in {"global_address", "global_stride"} else "b32"
    b.store(b.resize(b.read(value, wide), 64), b.scratch(scratch.VALUES), 64)
    b.touch(Access(UPDATE, space, at, 64, parts=_PARTS))
    facts = (fields.FIELDS.index(word), ordinal, space, op.site)
    b.check(b.runtime(fields.replace_field, W, b.active_mask, at, b.scratch(scratch.VALUES), *facts))


@family("tensormap", when=lambda op: op.has("cp_fenceproxy"), starts=True)
def cp_fenceproxy(b: Builder, op: Op) -> None:
    """Copy a tensor map from shared to global memory, the warp as one."""
    aligned(b)
    target, source = op.operands[:2]
    into = addresses_at(b, target, state.GLOBAL, tensor_copy.MAP_BYTES)
    at = addresses_at(b, source, state.SHARED, tensor_copy.MAP_BYTES, scratch.SOURCES)
    lanes = b.active_mask
    first = b.apply("and", lanes, b.apply("sub", Value("i32", "0"), lanes))
    b.touch(Access(READ, state.SHARED, at, 64, parts=_PARTS, lanes=first, operand=1))
    b.touch(Access(WRITE, state.GLOBAL, into, 64, parts=_PARTS, lanes=first, operand=0))
    b.check(b.runtime(fields.copy_map, W, first, into, at, op.site))
