"""The poison of an instruction's result, from the poison of the registers that it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.initcheck import poison
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.program.symbols import Register

NONE: Final = Value("i32", "0")


def poisoned_lanes(b: Builder, registers: Iterable[Register]) -> Value:
    """The lanes in which any of some registers is poison."""
    total = NONE
    for register in {r.poison: r for r in registers}.values():
        place = b.poison_place(register)
        if register.type.kind == "p":
            lanes = b.load("i32", place, 4)
        else:
            held = b.load(vector(f"i{register.type.bits}"), place, 64)
            lanes = b.mask_of(b.compare("ne", held, b.constant(held.type, 0)))
        total = lanes if total is NONE else b.apply("or", total, lanes)
    return total


def spread(b: Builder, values: list[Register], result: Register) -> Value:
    """Poison of whole results, for instructions that the run-time computes."""
    lanes = poisoned_lanes(b, values)
    if result.type.kind == "p":
        return lanes
    zero = b.constant(vector(f"i{result.type.bits}"), 0)
    return b.select(b.lanes(lanes), b.constant(zero.type, -1), zero)


def computed_or(b: Builder, values: list[Register], done: Value) -> Value:
    """The flags of a result's bits: COMPUTED if those of a source have it."""
    for value in {one.poison: one for one in values}.values():
        some = b.runtime(poison.is_computed, W, value.poison, value.lane_bytes, b.active_mask)
        done = b.select(b.compare("ne", some, NONE), Value("i32", str(state.COMPUTED)), done)
    return done


def in_addresses(op: Op) -> frozenset[int]:
    """The names that stand in addresses, by identity."""
    kinds = (tree.Address, tree.Indexed)
    return frozenset(id(node) for operand in op.operands if isinstance(operand, kinds) for node in walk(operand))
