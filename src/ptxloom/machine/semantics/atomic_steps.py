"""One lane's atomic operation, as LLVM IR.

Operations that LLVM has as `atomicrmw` use it; floating-point sums and extremes use compare-and-swap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.native.ir import Value, vector
from ptxloom.meaning.arithmetic import numbers

if TYPE_CHECKING:
    from ptxloom.machine.native.ir import Emitter
    from ptxloom.meaning.types import Type

_LLVM: Final = {"inc": "uinc_wrap", "dec": "udec_wrap", "exch": "xchg"}


def step(
    e: Emitter, name: str, type_: Type, operands: tuple[Value, Value, Value], *, in_cache: bool, flushes: bool
) -> Value:
    """One lane's operation on (place, operand, second operand), whole for other threads; returns the old value.

    `flushes`: subnormal f32 count as zero.
    """
    place, value, second = operands
    align = f"align {type_.bits // 8}"
    if name == "cas":
        found = e.emit("pair", f"cmpxchg {place}, {value}, {second.type} {second.text} acq_rel acquire, {align}")
        return e.emit(value.type, f"extractvalue {{ {value.type}, i1 }} {found.text}, 0")
    if type_.is_float and name != "exch":
        return _swap_loop(e, name, type_, place, value, in_cache=in_cache, flushes=flushes)
    return swapped(e, name, type_, place, value)


def swapped(e: Emitter, name: str, type_: Type, place: Value, value: Value) -> Value:
    """An operation on integers that LLVM has as `atomicrmw`; returns the old value."""
    word = _LLVM.get(name, name)
    if name in {"min", "max"} and not type_.signed:
        word = f"u{name}"
    return e.emit(value.type, f"atomicrmw {word} {place}, {value} acq_rel, align {type_.bits // 8}")


def alone(e: Emitter, name: str, type_: Type, operands: tuple[Value, Value, Value]) -> Value:
    """The same in memory that no other thread of the host reaches: a load and a store."""
    place, value, second = operands
    old = e.load(value.type, place, type_.bits // 8)
    if type_.is_float and name not in {"exch", "cas"}:
        new = _combined(e, name, type_, old, value, in_cache=False, flushes=False)
    elif name == "cas":
        new = e.select(e.compare("eq", old, value), second, old)
    else:
        new = value if name == "exch" else joined(e, name, type_, old, value)
    e.store(new, place, type_.bits // 8)
    return old


def joined(e: Emitter, name: str, type_: Type, old: Value, value: Value) -> Value:
    """What an operation on integers makes of the old value and its operand."""
    if name in {"min", "max"}:
        order = ("s" if type_.signed else "u") + ("lt" if name == "min" else "gt")
        return e.select(e.compare(order, value, old), value, old)
    if name not in {"inc", "dec"}:
        return e.apply(name, old, value)
    none, one = (Value(old.type, text) for text in "01")
    if name == "inc":
        return e.select(e.compare("uge", old, value), none, e.apply("add", old, one))
    wraps = e.apply("or", e.compare("eq", old, none), e.compare("ugt", old, value))
    return e.select(wraps, value, e.apply("sub", old, one))


def _swap_loop(
    e: Emitter, name: str, type_: Type, place: Value, value: Value, *, in_cache: bool, flushes: bool
) -> Value:
    """Compare and swap until no other thread interferes."""
    align = f"align {type_.bits // 8}"
    start = e.emit(value.type, f"load atomic {value.type}, {place} acquire, {align}")
    e.do("br label %again")
    e.label("again")
    old = Value(value.type, "%old")
    e.do(f"%old = phi {value.type} [ {start.text}, %act ], [ %found, %again ]")
    new = _combined(e, name, type_, old, value, in_cache=in_cache, flushes=flushes)
    pair = e.emit("pair", f"cmpxchg {place}, {old}, {new} acq_rel acquire, {align}")
    e.do(f"%found = extractvalue {{ {value.type}, i1 }} {pair.text}, 0")
    e.do(f"%swapped = extractvalue {{ {value.type}, i1 }} {pair.text}, 1")
    e.do("br i1 %swapped, label %settled, label %again")
    e.label("settled")
    return old


def _combined(e: Emitter, name: str, type_: Type, old: Value, value: Value, *, in_cache: bool, flushes: bool) -> Value:
    """The new bits of a floating-point operation, elements of a packed type side by side.

    As an H200 computes: shared memory adds like `add`, the cache hands on a NaN in f64 as it is, the operand's before
    the memory's, and flushes subnormal f32 unless they come by `cp.reduce`.
    """
    form = type_.name.removesuffix("x2")
    width = numbers.FORMATS[form].bits
    shape = vector(f"i{width}", type_.packed) if type_.packed > 1 else f"i{width}"
    x, y = (e.bitcast(v, shape) for v in (old, value))
    if name in {"min", "max"}:
        result = numbers.extreme(e, x, y, form, largest=name == "max", nan=False, xorsign=False)
        return e.bitcast(result, old.type)
    flushes = flushes and form == "f32"
    if flushes:
        x, y = (numbers.flush(e, v, form) for v in (x, y))
    floats = [numbers.widen(e, v, form) for v in (x, y)]
    total = e.apply("fadd", *floats)
    if form == "f64":
        memory_nan, operand_nan = (numbers.is_nan(e, v) for v in floats)
        if in_cache:
            total = e.select(operand_nan, floats[1], e.select(memory_nan, floats[0], total))
        else:
            total = numbers.first_nan(e, total, *floats)
    result = numbers.narrow(e, total, form)
    if flushes:
        result = numbers.flush(e, result, form)
    return e.bitcast(result, old.type)
