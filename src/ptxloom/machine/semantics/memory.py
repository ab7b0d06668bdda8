"""Loads and stores: `ld`, `ldu`, `st` in every state space (PTX ISA 9.7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.builder import VALUES, W
from ptxloom.machine.ir import LANES, Value, vector
from ptxloom.machine.runtime import memory, state
from ptxloom.machine.semantics.family import Family
from ptxloom.machine.symbols import Register, Variable
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op

family: Final = Family()

SPACES: Final = {
    "global": state.GLOBAL,
    "shared": state.SHARED,
    "shared::cta": state.SHARED,
    "shared::cluster": state.SHARED,
    "local": state.LOCAL,
    "const": state.CONST,
    "param": state.PARAM,
    "param::entry": state.PARAM,
    "param::func": state.LOCAL,
}


def space_of(op: Op) -> int:
    """The state space an instruction names; generic if it names none."""
    return next((SPACES[q] for q in op.qualifiers if q in SPACES), state.GENERIC)


def parts_of(op: Op) -> int:
    """How many elements a lane moves: `.v2`, `.v4`, `.v8`."""
    return int(op.one_of(("v2", "v4", "v8"), "v1")[1:])


def base_and_offset(op: Op, operand: tree.Operand) -> tuple[tree.Operand, int]:
    """The base of an address operand and the bytes added to it."""
    match operand:
        case tree.Address(base=tree.Binary(operator="+", left=left, right=tree.Integer(value=by)), offset=offset):
            return left, offset + by
        case tree.Address(base=base, offset=offset, minus=minus):
            return base, -offset if minus else offset
        case tree.Indexed(base=base, index=tree.Integer(value=index)):
            return base, index * max(op.type.bits // 8, 1)
        case _:
            raise op.unsupported(f"`{operand}` is no address")


def resolved_space(b: Builder, base: tree.Operand, space: int) -> int:
    """The space meant: `.param` names the frame in a function that is called."""
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if isinstance(found, Variable):
        named = SPACES[found.space]
        if space in {state.PARAM, state.GENERIC}:
            return named
    elif space == state.PARAM and not b.op.function.is_entry:
        return state.LOCAL
    return space


def lane_addresses(b: Builder, operand: tree.Operand, space: int) -> None:
    """Store the 32 addresses of an address operand (within `space`) to the start of the scratch, `<32 x i64>`."""
    base, offset = base_and_offset(b.op, operand)
    at = address_values(b, base, offset)
    if space in {state.SHARED, state.LOCAL, state.PARAM}:
        at = b.apply("and", at, b.constant(at.type, state.WINDOW_BYTES - 1))
    b.store(at, b.scratch(), 64)


def address_values(b: Builder, base: tree.Operand, offset: int) -> Value:
    """The 32 addresses `base + offset`, `<32 x i64>`."""
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if isinstance(found, Variable):
        return b.address_of(found, offset)
    wide = b.resize(b.read(base, f"b{found.type.bits}"), 64) if isinstance(found, Register) else b.read(base, "b64")
    return b.apply("add", wide, b.constant(wide.type, offset)) if offset else wide


def _uniform_parameter(b: Builder, op: Op, operand: tree.Operand) -> Value | None:
    """Where a parameter of the entry lies in the host's memory, if the address is plain."""
    base, offset = base_and_offset(op, operand)
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if not isinstance(found, Variable) or found.space != "param":
        return None
    if (
        found.offset + offset < 0
        or found.offset + offset + op.type.bits // 8 * parts_of(op) > b.program.parameter_bytes
    ):
        raise op.unsupported("it reads past the end of the parameters")
    return b.offset(b.load("ptr", b.field("params"), 8), found.offset + offset)


@family("ld", "ldu")
def ld(b: Builder, op: Op) -> None:
    """Read one value or a vector a lane."""
    target, source = op.operands[0], op.operands[1]
    parts, scalar = parts_of(op), f"i{op.type.bits}"
    place = _uniform_parameter(b, op, source)
    if place is not None:
        values = [b.load(scalar, b.offset(place, n * op.type.bits // 8), 1) for n in range(parts)]
        b.write_all(target, tuple(b.splat(v) for v in values), op.type.signed)
        return
    direct = _direct(b, target, op.type.bits) if parts == 1 else None
    out = direct or b.scratch(VALUES)
    _access(b, op, "load", source, out, parts=parts)
    if direct is None:
        step = LANES * op.type.bits // 8
        got = tuple(b.load(vector(scalar), b.offset(out, n * step), 32) for n in range(parts))
        b.write_all(target, got, op.type.signed)


def _direct(b: Builder, target: tree.Operand, bits: int) -> Value | None:
    """The place of a destination register that takes loaded values as they are."""
    name = target.elements[0] if isinstance(target, tree.Vector) and len(target.elements) == 1 else target
    found = b.find(name.text) if isinstance(name, tree.Name) else None
    if isinstance(found, Register) and found.type.bits == bits and found.vector == 1:
        return b.register_place(found)
    return None


@family("st")
def st(b: Builder, op: Op) -> None:
    """Write one value or a vector a lane."""
    target, source = op.operands[0], op.operands[1]
    parts, bits = parts_of(op), op.type.bits
    values = _direct(b, source, bits) if parts == 1 else None
    if values is None:
        values = b.scratch(VALUES)
        for n, value in enumerate(b.read_all(source, f"b{bits}")):
            b.store(value, b.offset(values, n * LANES * bits // 8), 32)
    _access(b, op, "store", target, values, parts=parts)


def _access(b: Builder, op: Op, verb: str, operand: tree.Operand, values: Value, *, parts: int) -> None:
    base, offset = base_and_offset(op, operand)
    space = resolved_space(b, base, space_of(op))
    size = op.type.bits
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    register = found if isinstance(found, Register) else None
    if space == state.SHARED and size <= 64:
        if register is not None and register.type.bits == 32:
            places, extra = b.register_place(register), offset
        else:
            places, extra = b.scratch(), 0
            b.store(b.resize(address_values(b, base, offset), 32), places, 64)
        b.access(f"ptxloom_{verb}_shared_{size}x{parts}", values, places, extra, space)
        return
    if space in {state.GLOBAL, state.GENERIC, state.CONST} and size <= 64:
        if register is not None and register.type.bits == 64:
            places, extra = b.register_place(register), offset
        else:
            places, extra = b.scratch(), 0
            b.store(address_values(b, base, offset), places, 64)
        b.access(f"ptxloom_{verb}_global_{size}x{parts}", values, places, extra, space)
        return
    lane_addresses(b, operand, space)
    function = memory.load_lanes if verb == "load" else memory.store_lanes
    lanes = b.active_mask
    b.check(b.runtime(function, W, values, b.scratch(), 0, lanes, space, size // 8, parts, op.site))


@family("prefetch", "prefetchu", "applypriority", "discard")
def no_effect(b: Builder, op: Op) -> None:
    """A hint: nothing that a program can see."""
