"""Address operands: their base and offset, their state space, and the 32 addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.binding.touches import READS, done_at
from ptxloom.isa.limits import LANES
from ptxloom.isa.spaces import QUALIFIERS
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.meaning.types import ptx_type
from ptxloom.syntax import print_operand, tree
from ptxloom.syntax.constants import constant, wrapped

if TYPE_CHECKING:
    from ptxloom.machine.codegen.operands import Operands
    from ptxloom.machine.program.model import Op

SPACES: Final = {word: space.number for word, space in QUALIFIERS.items()} | {"param::func": state.LOCAL}
"""By qualifier: parameters of calls are in frames."""
_WINDOWED: Final = frozenset((state.SHARED, state.LOCAL, state.PARAM))
_NARROW: Final = 32
"""Bits of an address within shared memory."""


def space_of(op: Op) -> int:
    """The state space that an instruction names; generic if it names none, but global for multicast addresses."""
    otherwise = state.GLOBAL if op.is_multicast else state.GENERIC
    return next((SPACES[q] for q in op.qualifiers if q in SPACES), otherwise)


def base_and_offset(op: Op, operand: tree.Operand) -> tuple[tree.Operand, int]:
    """The base of an address operand and the bytes added to it; an element that a register counts is a base itself."""
    base, offset = _split(op, operand)
    return base, wrapped(offset)


def _split(op: Op, operand: tree.Operand) -> tuple[tree.Operand, int]:
    match operand:
        case tree.Address(base=tree.Binary(operator="+", left=left, right=tree.Integer(value=by)), offset=offset):
            return left, offset + by
        case tree.Address(base=base, offset=offset, minus=minus):
            return base, -offset if minus else offset
        case tree.Indexed(base=tree.Name(text=name) as base, index=index):
            found = op.scope.find(name)
            count = constant(index)
            if isinstance(found, Variable) and count is not None:
                return base, count * _element_bytes(found)
            if isinstance(found, Variable) and _counter(op, index) is not None:
                return operand, 0
            raise op.unsupported(f"`{print_operand(operand)}` is not an address")
        case _:
            raise op.unsupported(f"`{print_operand(operand)}` is not an address")


def _element_bytes(array: Variable) -> int:
    """The unit of an index: the declared scalar type, whatever the instruction moves."""
    return ptx_type(array.type).bits // 8


def _counter(op: Op, index: tree.Operand) -> tuple[tree.Name, int] | None:
    """The register of an index and the elements added to it: `%r1`, `%r1+4`; None if it is something else."""
    match index:
        case tree.Name(text=name) if isinstance(found := op.scope.find(name), Register):
            return (index, 0) if found.type.kind in "sub" and found.vector == 1 else None
        case tree.Binary(operator="+", left=left, right=right):
            counter, more = _counter(op, left), constant(right)
            return None if counter is None or more is None else (counter[0], counter[1] + more)
        case _:
            return None


def _element_addresses(b: Operands, element: tree.Indexed) -> Value:
    """The 32 addresses of elements that a register counts: the distance is an unsigned number of 32 bits."""
    counter = _counter(b.op, element.index)
    array = b.find(element.base.text) if isinstance(element.base, tree.Name) else None
    assert counter is not None
    assert isinstance(array, Variable)
    name, more = counter
    register = b.register(name)[0]
    count = b.resize(b.read(name, f"b{register.type.bits}"), 32, register.type.signed)
    count = b.apply("add", count, b.constant(count.type, more))
    distance = b.resize(b.apply("mul", count, b.constant(count.type, _element_bytes(array))), 64)
    return b.apply("add", distance, b.address_of(array))


def resolved_space(b: Operands, base: tree.Operand, space: int) -> int:
    """The resolved space: `.param` means the frame in a called function."""
    if isinstance(base, tree.Indexed):
        base = base.base
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if isinstance(found, Variable):
        named = SPACES[found.space]
        if space in {state.PARAM, state.GENERIC}:
            return named
    elif space == state.PARAM and not b.op.function.is_entry:
        return state.LOCAL
    return space


def addresses_at(
    b: Operands, operand: tree.Operand, space: int, size: int | Value, at: int = scratch.ADDRESSES, *, bits: int = 64
) -> Value:
    """Store the 32 addresses of an address operand in the scratch; returns their place.

    Args:
        b: The builder.
        operand: The operand of the instruction at hand.
        space: The state space that the addresses are in.
        size: The bytes that a lane touches there, for reports: a number, 32 of 32 bits, or 0 if it is not known yet.
        at: The offset in the scratch.
        bits: The width of an address.
    """
    values = lane_values(b, operand, space, size, at)
    if space in _WINDOWED and bits > _NARROW:
        values = b.apply("and", values, b.constant(values.type, state.WINDOW_BYTES - 1))
    b.store(b.resize(values, bits), b.scratch(at), 64)
    return b.scratch(at)


def addresses_or_register(b: Operands, operand: tree.Operand, space: int, size: int, bits: int) -> tuple[Value, int]:
    """The place of the 32 addresses of an operand, `bits` each, and the bytes to add to each."""
    base, offset = base_and_offset(b.op, operand)
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    plain = space != state.LOCAL and not (b.program.is_paired and space in {state.SHARED, state.GENERIC})
    if plain and isinstance(found, Register) and found.type.bits == bits and found.vector == 1:
        return b.register_place(found), offset
    if isinstance(found, Variable) and space == state.SHARED and bits == _NARROW:
        return b.field("nowhere"), found.offset + offset
    return addresses_at(b, operand, space, size, bits=bits), 0


def within_cta(b: Operands, addresses: Value, space: int) -> Value:
    """Addresses in the run-time's form: the upper half is 0 for the own CTA, else 1 more than the rank of another.

    In programs for pairs of CTAs shared addresses carry the rank itself, as they do on hardware (measured on an H100):
    clearing its lowest bit yields the place in the first CTA of the pair, and programs rely on that.
    """
    if not b.program.is_paired or space not in {state.SHARED, state.GENERIC}:
        return addresses
    bits = b.constant(addresses.type, 0xFF << state.CLUSTER_SHIFT)
    named = b.apply("and", addresses, bits)
    own = b.splat(b.resize(b.load("i32", b.field("rank_bits"), 4), addresses.bits))
    one = b.constant(addresses.type, 1 << state.CLUSTER_SHIFT)
    other = b.select(b.compare("eq", named, own), b.constant(addresses.type, 0), b.apply("add", named, one))
    mapped = b.apply("or", b.apply("xor", b.apply("or", addresses, bits), bits), other)
    if space == state.SHARED:
        return mapped
    window = b.apply("lshr", addresses, b.constant(addresses.type, 32))
    is_shared = b.compare("eq", window, b.constant(addresses.type, state.SHARED_WINDOW >> 32))
    return b.select(is_shared, mapped, addresses)


def lane_values(
    b: Operands, operand: tree.Operand, space: int, size: int | Value, at: int = scratch.ADDRESSES
) -> Value:
    """The 32 addresses of an address operand, `<32 x i64>`; in shared and local memory their low 32 bits count.

    Ends the kernel where 64-bit addresses of shared or local memory are generic ones, with their window in the top.
    """
    base, offset = base_and_offset(b.op, operand)
    values = within_cta(b, address_values(b, base, offset), space)
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if space in {state.SHARED, state.LOCAL} and isinstance(found, Register) and found.type.bits > _NARROW:
        _refuse_generic(b, operand, values, size, b.scratch(at))
    return values


def _refuse_generic(b: Operands, operand: tree.Operand, addresses: Value, size: int | Value, place: Value) -> None:
    top = b.apply("ashr", addresses, b.constant(addresses.type, 32))
    generic = b.mask_of(b.compare("sgt", top, b.constant(top.type, 0)))
    wrong = b.apply("and", generic, b.active_mask)
    number = next(number for number, one in enumerate(b.op.operands) if one is operand)
    write = int(done_at(b.op.node, number) != READS)  # who operates on an object there may change it
    if isinstance(size, Value):
        first = b.apply("and", b.intrinsic("llvm.cttz", wrong, Value("i1", "false")), Value("i32", str(LANES - 1)))
        known: int | Value = b.emit("i32", f"extractelement {size}, {first}")
    else:
        known = size
    b.store(addresses, place, 64)
    facts = (state.GENERIC, state.WRONG_SPACE, known, write, b.op.site)
    b.check(b.runtime(lane_access.fault_if_any, W, place, wrong, *facts))


def address_values(b: Operands, base: tree.Operand, offset: int) -> Value:
    """The 32 addresses `base + offset`, `<32 x i64>`."""
    if isinstance(base, tree.Indexed):
        return _element_addresses(b, base)
    found = b.find(base.text) if isinstance(base, tree.Name) else None
    if isinstance(found, Variable):
        return b.address_of(found, offset)
    wide = b.resize(b.read(base, f"b{found.type.bits}"), 64) if isinstance(found, Register) else b.read(base, "b64")
    return b.apply("add", wide, b.constant(wide.type, offset)) if offset else wide
