"""Surfaces: loads, stores and reductions, which are accesses to the array of global memory (PTX ISA 9.7.11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.machine.runtime.textures import surfaces
from ptxloom.machine.semantics.atomics import combine_at
from ptxloom.machine.semantics.textures import GEOMETRIES, coordinates, handles
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.native.ir import Value
    from ptxloom.machine.program.model import Op

family: Final = Family()

_OUTSIDE: Final = {"trap": 0, "clamp": surfaces.HOLDS, "zero": surfaces.IGNORES}
_SURFACES: Final = ("1d", "2d", "3d", "a1d", "a2d")
_OPERATIONS: Final = ("add", "min", "max", "and", "or")


@family("suld")
def suld(b: Builder, op: Op) -> None:
    """Load bits; outside they are 0, or those of the nearest place."""
    target, where = op.operands
    bits, parts = op.type.bits, _parts(op)
    reached = _reach(b, op, where, bits // 8 * parts)
    b.touch(Access(READ, state.GLOBAL, b.scratch(), bits, parts=parts, lanes=reached))
    room = b.scratch(scratch.VALUES)
    kind = vector(f"i{bits}")
    places = [b.scratch(scratch.VALUES + 4 * bits * n) for n in range(parts)]
    for place in places:
        b.store(b.constant(kind, 0), place, 32)
    b.check(b.runtime(surfaces.move_surface, W, room, b.scratch(), reached, bits // 8, parts, 0, op.site))
    b.write_all(target, tuple(b.load(kind, place, 32) for place in places))


@family("sust", when=lambda op: op.has("b"))
def sust(b: Builder, op: Op) -> None:
    """Store bits; outside nothing is stored, or in the nearest place."""
    where, source = op.operands
    bits, parts = op.type.bits, _parts(op)
    reached = _reach(b, op, where, bits // 8 * parts)
    places = tuple(b.scratch(scratch.VALUES + 4 * bits * n) for n in range(parts))
    for place, value in zip(places, b.read_all(source, f"b{bits}"), strict=True):
        b.store(value, place, 32)
    b.touch(Access(WRITE, state.GLOBAL, b.scratch(), bits, parts=parts, places=places, lanes=reached))
    b.check(b.runtime(surfaces.move_surface, W, places[0], b.scratch(), reached, bits // 8, parts, 1, op.site))


@family("sured", when=lambda op: op.has("b"))
def sured(b: Builder, op: Op) -> None:
    """Combine with an element in one step."""
    where, source = op.operands
    reached = _reach(b, op, where, op.type.bits // 8)
    combine_at(b, op, op.one_of(_OPERATIONS), b.read(source, f"b{op.type.bits}"), reached)


def _parts(op: Op) -> int:
    return 4 if op.has("v4") else 2 if op.has("v2") else 1


def _reach(b: Builder, op: Op, where: tree.Operand, size: int) -> Value:
    """Put the addresses of an access into the scratch; returns the lanes that make it."""
    assert isinstance(where, tree.Address)
    geometry = op.one_of(_SURFACES)
    place = coordinates(b, op, where.extra[0], geometry)
    at = handles(b, op, where)
    for number, value in enumerate(place):
        b.store(value, b.scratch(scratch.VALUES + 128 * number), 64)
    form = GEOMETRIES[geometry] | _OUTSIDE[op.one_of(tuple(_OUTSIDE))]
    facts = (size, form, op.site)
    reached = b.runtime(surfaces.reach_surface, W, b.active_mask, at, b.scratch(scratch.VALUES), *facts)
    b.check(b.runtime(lane_access.has_fault, W))
    return reached
