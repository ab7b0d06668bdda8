"""Loads and stores: `ld`, `ldu`, `st` in every state space (PTX ISA 9.7.9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import READ, WRITE, Access, AccessPiece, is_strong
from ptxloom.machine.codegen.addresses import (
    addresses_at,
    addresses_or_register,
    base_and_offset,
    resolved_space,
    space_of,
)
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Value, vector
from ptxloom.machine.program.parts import Part, is_sink, is_whole, moved, parts_of
from ptxloom.machine.program.symbols import Register, Variable
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.syntax import tree
from ptxloom.syntax.constants import wrapped

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

family: Final = Family()

_WINDOWS: Final = {  # the spaces that whole warps access at once: which function does, bits of an address
    state.SHARED: ("shared", 32),
    state.LOCAL: ("local", 64),
    **dict.fromkeys((state.GLOBAL, state.GENERIC, state.CONST), ("global", 64)),
}
_WORD: Final = 8  # bytes of the widest value that these move
_ALIGNED: Final = 16  # arrays of the host start at multiples of this
_KINDS: Final = {"load": READ, "store": WRITE}


def _uniform_parameter(b: Builder, op: Op, operand: tree.Operand) -> Value | None:
    """The host address of a parameter of the entry, if the address is plain."""
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
    """Read one value or a vector per lane."""
    target, source = op.operands[0], op.operands[1]
    parts, bits = parts_of(op), op.type.bits
    if not is_whole(op):
        _load_partly(b, op)
        return
    place = _uniform_parameter(b, op, source)
    if place is not None:
        values = [b.load(f"i{bits}", b.offset(place, n * bits // 8), 1) for n in range(parts)]
        b.write_all(target, tuple(b.splat(v) for v in values), op.type.signed)
        return
    direct = _direct(b, target, bits, parts)
    places = direct or _scratch_places(b, bits, parts)
    _access(b, op, "load", source, places)
    if direct is None:
        got = tuple(b.load(vector(f"i{bits}"), place, 32) for place in places)
        b.write_all(target, got, op.type.signed)


def _direct(b: Builder, operand: tree.Operand, bits: int, parts: int) -> tuple[Value, ...] | None:
    """The places of registers that hold (or take) the values as they lie in memory; None if they do not."""
    names = tree.elements_of(operand)
    registers = [b.find(n.text) if isinstance(n, tree.Name) else None for n in names]
    plain = [r for r in registers if isinstance(r, Register) and r.type.bits == bits and r.vector == 1]
    if len(plain) != parts or len({r.offset for r in plain}) != parts:
        return None
    return tuple(b.register_place(r) for r in plain)


def _scratch_places(b: Builder, bits: int, parts: int) -> tuple[Value, ...]:
    return tuple(b.scratch(scratch.VALUES + n * LANES * bits // 8) for n in range(parts))


@family("st")
def st(b: Builder, op: Op) -> None:
    """Write one value or a vector per lane."""
    if space_of(op) == state.CONST:
        raise op.unsupported("constant memory is read-only")
    target, source = op.operands[0], op.operands[1]
    parts, bits = parts_of(op), op.type.bits
    if not is_whole(op):
        _store_partly(b, op)
        return
    places = _direct(b, source, bits, parts)
    if places is None:
        places = _scratch_places(b, bits, parts)
        for place, value in zip(places, b.read_all(source, f"b{bits}"), strict=True):
            b.store(value, place, 32)
    _access(b, op, "store", target, places)


def _load_partly(b: Builder, op: Op) -> None:
    """Read some of the bytes; the others are zero."""
    size = op.type.bits // 8
    read = _access_partly(b, op, "load", op.operands[1])
    values: list[Value] = []
    for number in range(parts_of(op)):
        value = b.constant(vector(f"i{op.type.bits}"), 0)
        for part in read:
            if part.at // size == number or part.at < number * size < part.at + part.bytes:
                bits = 8 * min(part.bytes, size)
                piece = b.load(vector(f"i{bits}"), _byte_place(b, max(part.at, number * size)), 32)
                shift = b.constant(value.type, 8 * (part.at % size))  # 0 of a part that is larger: it starts an element
                value = b.apply("or", value, b.apply("shl", b.resize(piece, op.type.bits), shift))
        values.append(value)
    b.write_all(op.operands[0], tuple(values), op.type.signed)


def _store_partly(b: Builder, op: Op) -> None:
    """Write the elements that are given."""
    assert isinstance(op.operands[1], tree.Vector)
    for number, element in enumerate(op.operands[1].elements):
        if not is_sink(element):
            value = b.read(element, f"b{op.type.bits}")
            b.store(value, _byte_place(b, number * op.type.bits // 8), 32)
    _access_partly(b, op, "store", op.operands[0])


def _byte_place(b: Builder, at: int) -> Value:
    """Where in the scratch the lanes' values lie of what is `at` bytes from the start of an access."""
    return b.scratch(scratch.VALUES + LANES * at)


def _access_partly(b: Builder, op: Op, verb: str, operand: tree.Operand) -> tuple[Part, ...]:
    """Move some of the bytes of a vector, each part by itself; the address is aligned to the whole anyway."""
    space = resolved_space(b, base_and_offset(op, operand)[0], space_of(op))
    size = op.type.bits // 8
    addresses_at(b, operand, space, size * parts_of(op))
    at = b.load(vector("i64"), b.scratch(), 64)
    found = moved(op)
    pieces = tuple(_piece(b, part, size) for part in found)
    strong = is_strong(op)
    access = Access(_KINDS[verb], space, b.scratch(), 8 * size, parts=parts_of(op), strong=strong, only=pieces)
    b.touch(access)
    low = b.apply("and", at, b.constant(at.type, min(size * parts_of(op), _ALIGNED) - 1))
    wrong = b.apply("and", b.mask_of(b.compare("ne", low, b.constant(at.type, 0))), b.active_mask)
    facts = (space, state.MISALIGNED, size * parts_of(op), int(verb == "store"), op.site)
    b.check(b.runtime(lane_access.fault_if_any, W, b.scratch(), wrong, *facts))
    for piece in pieces:
        if space in _WINDOWS and piece.bits <= 8 * _WORD:
            window, width = _WINDOWS[space]
            narrow = b.scratch(scratch.SOURCES)
            b.store(b.resize(at, width), narrow, 64)
            b.access(verb, window, piece.places, narrow, piece.at, bits=piece.bits, space=space)
        else:
            facts = (piece.bits // 8, piece.parts)
            _move_lanes(b, op, verb, piece.places[0], piece.at, space=space, size=facts[0], parts=facts[1])
    return found


def _piece(b: Builder, part: Part, size: int) -> AccessPiece:
    """Bytes that are moved as one, in values of an element's size at most."""
    each = min(part.bytes, size)
    places = tuple(_byte_place(b, part.at + n * each) for n in range(part.bytes // each))
    return AccessPiece(part.at, 8 * each, len(places), places)


def _access(b: Builder, op: Op, verb: str, operand: tree.Operand, places: tuple[Value, ...]) -> None:
    base, offset = base_and_offset(op, operand)
    space = resolved_space(b, base, space_of(op))
    bits = op.type.bits
    if space not in _WINDOWS or bits > 64:
        _lane_by_lane(b, op, verb, operand, places, space=space)
        return
    window, width = _WINDOWS[space]
    if op.site in b.sums:
        sum_ = b.sums[op.site]
        common = _common(b, sum_.common, offset)
        b.access(verb, window, places, b.register_place(b.register(sum_.varying)[0]), common, bits=bits, space=space)
        return
    addresses, offset = addresses_or_register(b, operand, space, bits // 8 * len(places), width)
    access = Access(_KINDS[verb], space, addresses, bits, offset, len(places), width, places, is_strong(op))
    b.touch(access)
    b.access(verb, window, places, addresses, offset, bits=bits, space=space)


def _common(b: Builder, operand: tree.Operand, offset: int) -> Value:
    """The part of an address that all lanes have in common, i64."""
    if isinstance(operand, tree.Integer):
        return Value("i64", str(wrapped(operand.value + offset)))
    start = b.scalar(b.register(operand)[0])
    return b.apply("add", start, Value("i64", str(offset))) if offset else start


def _lane_by_lane(
    b: Builder, op: Op, verb: str, operand: tree.Operand, places: tuple[Value, ...], *, space: int
) -> None:
    """Parameters and 128-bit values: through the scratch, one lane after the other."""
    bits = op.type.bits
    addresses_at(b, operand, space, bits // 8 * len(places))
    rooms = _scratch_places(b, bits, len(places))
    for place, room in zip(places, rooms, strict=True):
        if place != room:
            b.store(b.load(vector(f"i{bits}"), place, 32), room, 32)
    b.touch(Access(_KINDS[verb], space, b.scratch(), bits, parts=len(rooms), places=rooms, strong=is_strong(op)))
    _move_lanes(b, op, verb, rooms[0], 0, space=space, size=bits // 8, parts=len(places))
    for place, room in zip(places, rooms, strict=True):
        if place != room and verb == "load":
            b.store(b.load(vector(f"i{bits}"), room, 32), place, 32)


def _move_lanes(b: Builder, op: Op, verb: str, room: Value, offset: int, *, space: int, size: int, parts: int) -> None:
    """Load or store lane by lane, `offset` bytes from the addresses in the scratch."""
    facts = (offset, b.active_mask, space, size, parts, int(verb == "store"), op.site)
    b.check(b.runtime(lane_access.move_lanes, W, room, b.scratch(), *facts))
