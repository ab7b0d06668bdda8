"""Logic, shifts, comparison and selection on integers and bits (PTX ISA 9.7.6, 9.7.8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.machine.ir import Value, vector
from ptxloom.machine.semantics.family import Family
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.machine.builder import Builder
    from ptxloom.machine.program import Op

family: Final = Family()

_BITS: Final = "b16 b32 b64"
_ORDERED: Final = {"lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_FLOAT: Final = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno",
    "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
}  # fmt: skip
_COMPARISONS: Final = frozenset((*_ORDERED, *_FLOAT))


@family("and", "or", "xor", types="pred")
def logic_predicate(b: Builder, op: Op) -> None:
    """Bitwise on predicates."""
    target, left, right = op.operands
    b.write_mask(target, b.apply(op.opcode, b.read_mask(left), b.read_mask(right)))


@family("and", "or", "xor", types=_BITS)
def logic(b: Builder, op: Op) -> None:
    """Bitwise on words."""
    target, left, right = op.operands
    b.write(target, b.apply(op.opcode, b.read(left, op.type), b.read(right, op.type)))


@family("not", types="pred")
def not_predicate(b: Builder, op: Op) -> None:
    """The other truth value."""
    b.write_mask(op.operands[0], b.apply("xor", b.read_mask(op.operands[1]), Value("i32", "-1")))


@family("not", types=_BITS)
def not_(b: Builder, op: Op) -> None:
    """Every bit the other way round."""
    value = b.read(op.operands[1], op.type)
    b.write(op.operands[0], b.apply("xor", value, b.constant(value.type, -1)))


@family("cnot", types=_BITS)
def cnot(b: Builder, op: Op) -> None:
    """1 for 0, 0 for all else."""
    value = b.read(op.operands[1], op.type)
    zero = b.compare("eq", value, b.constant(value.type, 0))
    b.write(op.operands[0], b.resize(zero, op.type.bits))


@family("shl", "shr", types="b16 b32 b64 s16 s32 s64 u16 u32 u64")
def shift(b: Builder, op: Op) -> None:
    """Shift by an u32 amount, clamped at the width."""
    target, source, amount = op.operands
    value = b.read(source, op.type)
    bits = op.type.bits
    name = "shl" if op.opcode == "shl" else "ashr" if op.type.signed else "lshr"
    count = b.literal(amount)
    if count is not None:
        count &= 0xFFFFFFFF
        if count >= bits and name != "ashr":
            b.write(target, b.constant(value.type, 0))
        else:
            b.write(target, b.apply(name, value, b.constant(value.type, min(count, bits - 1))))
        return
    by = b.read(amount, "u32")
    limit = b.intrinsic("llvm.umin", by, b.constant(by.type, bits - 1))
    shifted = b.apply(name, value, b.resize(limit, bits))
    if name != "ashr":
        inside = b.compare("ult", by, b.constant(by.type, bits))
        shifted = b.select(inside, shifted, b.constant(shifted.type, 0))
    b.write(target, shifted)


@family("setp")
def setp(b: Builder, op: Op) -> None:
    """Compare, combine with a predicate, and set one or two predicates."""
    name = op.one_of(_COMPARISONS)
    if not name or op.type.packed > 1 or op.type.name in {"f16", "bf16"}:
        raise op.unsupported()
    target, left, right, *rest = op.operands
    found = compare(b, op, name, left, right)
    combine = op.one_of(("and", "or", "xor"))
    outcomes = [found]
    if isinstance(target, tree.Pair):
        outcomes.append(b.apply("xor", found, Value("i32", "-1")))
    if combine:
        other = b.read_mask(rest[0])
        outcomes = [b.apply(combine, o, other) for o in outcomes]
    targets = (target.first, target.second) if isinstance(target, tree.Pair) else (target,)
    for one, outcome in zip(targets, outcomes, strict=True):
        b.write_mask(one, outcome)


def compare(b: Builder, op: Op, name: str, left: tree.Operand, right: tree.Operand) -> Value:
    """The lanes for which a comparison in the instruction's type holds, as a mask."""
    x, y = b.read(left, op.type), b.read(right, op.type)
    if op.type.is_float:
        return b.mask_of(b.compare(_FLOAT[name], x, y))
    if name in {"eq", "ne"}:
        return b.mask_of(b.compare(name, x, y))
    if name not in _ORDERED:
        raise op.unsupported(f"`.{name}` compares floating-point values")
    unsigned = not op.type.signed or name in {"lo", "ls", "hi", "hs"}
    return b.mask_of(b.compare(("u" if unsigned else "s") + _ORDERED[name], x, y))


@family("selp")
def selp(b: Builder, op: Op) -> None:
    """One of two values, by a predicate."""
    target, first, second, chooser = op.operands
    type_ = f"b{op.type.bits}"
    x, y = b.read(first, op.type), b.read(second, op.type)
    x, y = (b.bitcast(v, vector(f"i{op.type.bits}")) for v in (x, y))
    del type_
    b.write(target, b.select(b.lanes(b.read_mask(chooser)), x, y))
