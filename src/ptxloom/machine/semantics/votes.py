"""Collective operations of a warp's lanes: `vote`, `match`, `redux`, `elect` (PTX ISA 9.7.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.convergence import converge
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, constant_vector, vector
from ptxloom.machine.runtime.warps import groups
from ptxloom.meaning.arithmetic import numbers
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_REDUCTIONS: Final = {
    ("add", "u"): groups.ADD,
    ("add", "s"): groups.ADD,
    ("min", "u"): groups.MIN,
    ("max", "u"): groups.MAX,
    ("min", "s"): groups.MIN_SIGNED,
    ("max", "s"): groups.MAX_SIGNED,
    ("and", "b"): groups.AND,
    ("or", "b"): groups.OR,
    ("xor", "b"): groups.XOR,
}


def _members(b: Builder, op: Op, operand: tree.Operand) -> Value:
    """Each lane's members that execute the instruction, `<32 x i32>`; the lanes have come together."""
    converge(b, operand)
    return b.apply("and", b.read(operand, "b32"), b.splat(b.active_mask))


@family("vote", starts=True)
def vote(b: Builder, op: Op) -> None:
    """Whether a predicate holds in all, in any, or alike in all members; or in which."""
    target, source, *members = op.operands
    here = _members(b, op, members[0]) if members else b.splat(b.active_mask)
    holds = b.apply("and", b.splat(b.read_mask(source)), here)
    if op.has("ballot"):
        b.write(target, holds)
        return
    none = b.compare("eq", holds, b.constant(holds.type, 0))
    all_ = b.compare("eq", holds, here)
    match op.one_of(("all", "any", "uni")):
        case "all":
            found = all_
        case "any":
            found = b.apply("xor", none, b.constant(none.type, "true"))
        case _:
            found = b.apply("or", all_, none)
    b.write_mask(target, b.mask_of(found))


@family("match", starts=True)
def match_(b: Builder, op: Op) -> None:
    """The members that hold the same value, or whether all do."""
    target, source, members = op.operands
    here = _members(b, op, members)
    places = [b.scratch(scratch.VALUES + 256 * n) for n in range(3)]
    b.store(b.resize(b.read(source, op.type), 64), places[0], 64)
    b.store(here, places[1], 64)
    function = groups.match_any if op.has("any") else groups.match_all
    equal = b.runtime(function, W, *places, b.active_mask)
    first, second = (target.first, target.second) if isinstance(target, tree.Pair) else (target, None)
    b.write(first, b.load(vector("i32"), places[2], 64))
    if second is not None:
        b.write_mask(second, equal)


@family("redux", types="u32 s32 b32", starts=True)
def redux(b: Builder, op: Op) -> None:
    """The members' values reduced to one, which all of them receive."""
    target, source, members = op.operands
    operation = _REDUCTIONS.get((op.one_of(("add", "min", "max", "and", "or", "xor")), op.type.kind))
    if operation is None:
        raise op.unsupported()
    here = _members(b, op, members)
    b.write(target, _reduced(b, b.read(source, "b32"), here, operation))


def _reduced(b: Builder, values: Value, members: Value, operation: int) -> Value:
    """For each lane, the values of its members as one."""
    places = [b.scratch(scratch.VALUES + 128 * n) for n in range(3)]
    b.store(values, places[0], 64)
    b.store(members, places[1], 64)
    b.runtime(groups.reduce, W, *places, b.active_mask, operation)
    return b.load(vector("i32"), places[2], 64)


@family("redux", types="f32", starts=True)
def redux_float(b: Builder, op: Op) -> None:
    """The least or the greatest of the members' floats, -0 below +0; as in the manual, not confirmed on a Blackwell.

    Numbers are compared as integers of their order, NaN as one that is never chosen, or with `.NaN` always.
    """
    target, source, members = op.operands
    largest, number = op.has("max"), numbers.FORMATS["f32"]
    here = _members(b, op, members)
    bits = b.read(source, "b32")
    bits = numbers.magnitude(b, bits, "f32") if op.has("abs") else bits
    nan = b.constant(bits.type, number.sign - 1 if largest == op.has("NaN") else -number.sign)
    values = b.select(numbers.nan_bits(b, bits, "f32"), nan, numbers.ordered(b, bits, "f32"))
    found = _reduced(b, values, here, groups.MAX_SIGNED if largest else groups.MIN_SIGNED)
    none = b.compare("eq", found, nan)
    b.write(target, b.select(none, b.constant(bits.type, number.nan), numbers.ordered(b, found, "f32")))


@family("elect", starts=True)
def elect(b: Builder, op: Op) -> None:
    """The lowest member leads: its number, and a predicate that is true in it alone."""
    target, members = op.operands
    here = _members(b, op, members)
    leader = b.intrinsic("llvm.cttz", here, Value("i1", "false"))
    first, second = (target.first, target.second) if isinstance(target, tree.Pair) else (target, None)
    b.write(first, leader)
    if second is not None:
        lanes = constant_vector("i32", range(LANES))
        b.write_mask(second, b.mask_of(b.compare("eq", leader, lanes)))
