"""Atomic operations on memory: `atom` and `red` (PTX ISA 9.7.13.5, 9.7.13.6).

Each operation is one LLVM function over the lanes of a warp, lowest lane first (`atomic_lanes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.isa.limits import LANES
from ptxloom.machine.codegen import scratch
from ptxloom.machine.codegen.access import UPDATE, Access
from ptxloom.machine.codegen.addresses import addresses_at, base_and_offset, resolved_space, space_of
from ptxloom.machine.codegen.family import Family
from ptxloom.machine.codegen.warp import W
from ptxloom.machine.native.ir import Emitter, Value, vector
from ptxloom.machine.program.parts import parts_of
from ptxloom.machine.runtime import state
from ptxloom.machine.runtime.memory import lane_access
from ptxloom.machine.runtime.tensor_boxes import model as maps
from ptxloom.machine.semantics.atomic_lanes import warp_function
from ptxloom.machine.semantics.atomic_steps import step
from ptxloom.meaning.types import ptx_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op
    from ptxloom.meaning.types import Type
    from ptxloom.syntax import tree

family: Final = Family()

_OPERATIONS: Final = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas")
_INTEGERS: Final = {maps.U32: ("u32", False), maps.S32: ("s32", False), maps.U64: ("u64", False)}
_HALVES: Final = {maps.F16: ("f16", False), maps.BF16: ("bf16", False)}
_FLOATS: Final = {maps.F32: ("f32", False), maps.F32_FTZ: ("f32", True), maps.F64: ("f64", False)}
_EXTREMES: Final = _INTEGERS | {maps.S64: ("s64", False)} | _HALVES
#: By operation: the types of tensors that it takes, by their numbers, and whether subnormal ones count as zero.
TENSOR_REDUCTIONS: Final = {
    "add": _INTEGERS | _HALVES | _FLOATS,
    "min": _EXTREMES,
    "max": _EXTREMES,
    "inc": {maps.U32: ("u32", False)},
    "dec": {maps.U32: ("u32", False)},
    "and": _INTEGERS,
    "or": _INTEGERS,
    "xor": _INTEGERS,
}


@family("atom", "red")
def atom(b: Builder, op: Op) -> None:
    """Read, combine and write back in one step; `atom` returns the old value."""
    returns = op.opcode == "atom"
    target = op.operands[0] if returns else None
    address, *sources = op.operands[1:] if returns else op.operands
    name = op.one_of(_OPERATIONS)
    if not name:
        raise op.unsupported("it names no operation")
    parts, size = parts_of(op), op.type.bits // 8
    hosts, near = _hosts(b, op, address, size * parts)
    count = 2 if name == "cas" else 1  # what follows may be a cache policy, which changes no result
    values = [b.read_all(s, f"b{op.type.bits}") for s in sources[:count]]
    room = 32 * size
    places = [b.scratch(scratch.VALUES + room * n) for n in range(3)]
    results: list[Value] = []
    for part in range(parts):
        for value, place in zip(values, places, strict=False):
            b.store(value[part], place, 64)
        offset = Value("i64", str(part * size))
        for in_cache, lanes in _ways(b, op, near):
            b.call(_function(b, op, name, in_cache=in_cache), hosts, offset, *places, lanes)
        results.append(b.load(vector(f"i{op.type.bits}"), places[2], 64))
    if target is not None:
        b.write_all(target, tuple(results))


def _hosts(b: Builder, op: Op, address: tree.Operand, size: int) -> tuple[Value, Value | None]:
    """The place in the scratch of the lanes' checked host addresses; and the lanes that bypass the cache.

    These are the lanes whose generic address leads to shared or local memory; None where the instruction names a space.
    """
    base, _ = base_and_offset(op, address)
    space = resolved_space(b, base, space_of(op))
    addresses_at(b, address, space, size)
    if space == state.GENERIC and parts_of(op) > 1:
        space = state.GLOBAL  # the manual's vectors are of global memory; elsewhere an H200 leaves anything
    near = None
    if space_of(op) == state.GENERIC:
        words = b.load(vector("i64", LANES), b.scratch(), 64)
        near = b.mask_of(b.compare("uge", words, b.constant(words.type, state.SHARED_WINDOW)))
    b.touch(Access(UPDATE, space, b.scratch(), 8 * size, strong=True))
    b.check(b.runtime(lane_access.place_lanes_of, W, b.scratch(), b.active_mask, space, size, 1, op.site))
    return b.scratch(), near


def _ways(b: Builder, op: Op, near: Value | None) -> Iterator[tuple[bool, Value]]:
    """Whether the cache combines, and in which lanes: it adds floats differently from shared memory."""
    if near is None or not op.type.is_float or op.one_of(_OPERATIONS) != "add":
        yield space_of(op) not in {state.SHARED, state.LOCAL}, b.active_mask
        return
    yield True, b.apply("and", b.active_mask, b.apply("xor", near, b.constant("i32", 0xFFFFFFFF)))
    yield False, b.apply("and", b.active_mask, near)


def combine_at(b: Builder, op: Op, name: str, value: Value, lanes: Value) -> None:
    """Combine a value with global memory at the addresses in the scratch, in some lanes."""
    size = op.type.bits // 8
    b.touch(Access(UPDATE, state.GLOBAL, b.scratch(), 8 * size, strong=True, lanes=lanes))
    b.check(b.runtime(lane_access.place_lanes_of, W, b.scratch(), lanes, state.GLOBAL, size, 1, op.site))
    places = [b.scratch(scratch.VALUES + 32 * size * n) for n in range(3)]
    b.store(value, places[0], 64)
    b.call(_function(b, op, name, in_cache=True), b.scratch(), Value("i64", "0"), *places, lanes)


def _function(b: Builder, op: Op, name: str, *, in_cache: bool) -> str:
    """The symbol of the function for an operation and a type, in the cache or in shared memory.

    It takes (host addresses, byte offset, operands, second operands, results, mask).
    """
    symbol = f"ptxloom_atom_{name}_{op.type.name}{'_global' if in_cache else ''}"
    b.helper(symbol, warp_function(symbol, name, op.type, in_cache=in_cache))
    b.declarations[symbol] = f"declare void @{symbol}(ptr, i64, ptr, ptr, ptr, i32)"
    return symbol


def combiner(b: Builder, op: Op, space: int) -> str:
    """The symbol of the function that does the operation of `cp.reduce` for every element of a stretch.

    It takes a pointer to (target, source, bytes) and returns 0; the addresses are the host's.
    """
    name = op.one_of(_OPERATIONS)
    if not name or name in {"exch", "cas"}:
        raise op.unsupported("it names no operation")
    in_cache = space not in {state.SHARED, state.LOCAL}
    symbol = f"ptxloom_combine_{name}_{op.type.name}{'_global' if in_cache else ''}"
    b.helper(symbol, _combining("", symbol, name, op.type, in_cache=in_cache, flushes=False))
    b.declarations[symbol] = f"declare i32 @{symbol}(ptr)"
    return symbol


def tensor_combiner(b: Builder, op: Op) -> str:
    """The symbol of the same for tensors, whose map holds the type of their elements.

    It takes a pointer to (target, source, bytes, number of the type), and returns 1 for a type that it does not know.
    """
    name = op.one_of(TENSOR_REDUCTIONS)
    symbol = f"ptxloom_combine_tensor_{name}"
    functions: list[str] = []
    cases: list[str] = []
    calls: list[str] = []
    for number, (word, flushes) in TENSOR_REDUCTIONS[name].items():
        own = f"{symbol}_{number}"
        functions.append(_combining("internal ", own, name, ptx_type(word), in_cache=True, flushes=flushes))
        cases.append(f"i64 {number}, label %is{number}")
        calls.append(f"is{number}:\n%r{number} = call i32 @{own}(ptr %facts)\nret i32 %r{number}")
    lines = "\n".join(functions).splitlines()
    declarations = dict.fromkeys(line for line in lines if line.startswith("declare "))
    b.helper(
        symbol,
        "\n".join([*declarations, *(line for line in lines if line not in declarations)])
        + f"""
define i32 @{symbol}(ptr %facts) #0 {{
%fourth = getelementptr i64, ptr %facts, i64 3
%kind = load i64, ptr %fourth
switch i64 %kind, label %none [ {" ".join(cases)} ]
{chr(10).join(calls)}
none:
ret i32 1
}}""",
    )
    b.declarations[symbol] = f"declare i32 @{symbol}(ptr)"
    return symbol


def _combining(linkage: str, symbol: str, name: str, type_: Type, *, in_cache: bool, flushes: bool) -> str:
    """A function that does an operation for every element of a stretch."""
    e = Emitter()
    size = type_.bits // 8
    value = e.load(f"i{type_.bits}", Value("ptr", "%source"), size)
    step(e, name, type_, (Value("ptr", "%place"), value, value), in_cache=in_cache, flushes=flushes)
    body = "\n".join(e.lines)
    declarations = "\n".join(e.declarations.values())
    return f"""{declarations}
define {linkage}i32 @{symbol}(ptr %facts) #0 {{
entry:
%second = getelementptr i64, ptr %facts, i64 1
%third = getelementptr i64, ptr %facts, i64 2
%to = load ptr, ptr %facts
%from = load ptr, ptr %second
%bytes = load i64, ptr %third
br label %loop
loop:
%at = phi i64 [ 0, %entry ], [ %next, %following ]
%left = icmp ult i64 %at, %bytes
br i1 %left, label %act, label %end
act:
%place = getelementptr i8, ptr %to, i64 %at
%source = getelementptr i8, ptr %from, i64 %at
{body}
br label %following
following:
%next = add i64 %at, {size}
br label %loop
end:
ret i32 0
}}"""
