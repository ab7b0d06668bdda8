"""Comparison and selection: `setp`, `set`, `selp`, `slct` (PTX ISA 9.7.6, 9.7.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.family import Family
from ptxloom.meaning.types import Type, ptx_type
from ptxloom.meaning.vectors import integer_like
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_UNSIGNED: Final = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_ORDERED: Final = ("lt", "le", "gt", "ge")
_FLOAT: Final = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "num": "ord", "nan": "uno",
    "equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge",
}  # fmt: skip
_COMPARISONS: Final = frozenset((*_UNSIGNED, *_FLOAT))
_COMBINATIONS: Final = ("and", "or", "xor")


def _compare(b: Words[W], op: Op, left: tree.Operand, right: tree.Operand) -> W:
    """Where the comparison holds: i1 elements, two per lane for packed types."""
    name = op.one_of(_COMPARISONS)
    if not name:
        raise op.unsupported("it names no comparison")
    x, y = b.read(left, op.type), b.read(right, op.type)
    if op.type.is_float:
        return _compare_floats(b, op, name, x, y)
    if name in {"eq", "ne"}:
        return b.compare(name, x, y)
    if name not in _ORDERED and name not in _UNSIGNED:
        raise op.unsupported(f"`.{name}` compares floating-point values")
    signed = op.type.signed and name not in _UNSIGNED
    return b.compare(("s" if signed else "u") + _UNSIGNED.get(name, name), x, y)


def _compare_floats(b: Words[W], op: Op, name: str, x: W, y: W) -> W:
    form = op.type.name.removesuffix("x2")
    if op.has("ftz"):
        x, y = (numbers.flush(b, numbers.bits_of(b, v), form) for v in (x, y))
        x, y = (numbers.widen(b, v, form) for v in (x, y))
    elif form in {"f16", "bf16"}:
        x, y = (numbers.widen(b, numbers.bits_of(b, v), form) for v in (x, y))
    return b.compare(_FLOAT[name], x, y)


def _combine(b: Words[W], op: Op, found: W) -> W:
    """A mask combined with the predicate by `.and`, `.or` or `.xor`."""
    combination = op.one_of(_COMBINATIONS)
    return b.apply(combination, found, b.read_mask(op.operands[3])) if combination else found


@family("setp", lanewise=True)
def setp(b: Words[W], op: Op) -> None:
    """Compare and set one predicate, or two: the second the opposite, or, for packed types, the upper half's."""
    target, left, right, *_ = op.operands
    found = _compare(b, op, left, right)
    if op.type.packed > 1:
        outcomes = [b.mask_of(b.shuffle(found, range(half, 2 * b.width, 2))) for half in range(2)]
    else:
        lanes = b.mask_of(found)
        outcomes = [lanes]
        if isinstance(target, tree.Pair):
            outcomes.append(b.apply("xor", lanes, b.constant("i32", -1)))
    targets = (target.first, target.second) if isinstance(target, tree.Pair) else (target,)
    for one, outcome in zip(targets, [_combine(b, op, o) for o in outcomes], strict=False):
        b.write_mask(one, outcome)


@family("set", lanewise=True)
def set_(b: Words[W], op: Op) -> None:
    """Compare: all ones or 1.0 if true, else zero."""
    result = op.types[0]
    found = _compare(b, op, op.operands[1], op.operands[2])
    combination = op.one_of(_COMBINATIONS)
    if combination:
        joined = b.lanes(b.read_mask(op.operands[3]))
        if op.type.packed > 1:
            joined = b.shuffle(joined, [lane // 2 for lane in range(2 * b.width)])
        found = b.apply(combination, found, joined)
    if result.is_float:
        form = numbers.FORMATS[result.name.removesuffix("x2")]
        true = form.one
    else:
        form, true = None, -1
    bits = form.bits if form is not None else result.bits // op.type.packed
    wide = b.resize(found, bits)
    one = b.constant(wide.type, true)
    b.write(op.operands[0], b.select(found, one, b.constant(wide.type, 0)))


@family("selp", lanewise=True)
def selp(b: Words[W], op: Op) -> None:
    """One of two values, by a predicate."""
    target, first, second, chooser = op.operands
    plain = _plain(op.type)
    b.write(target, b.select(b.lanes(b.read_mask(chooser)), b.read(first, plain), b.read(second, plain)))


def _plain(type_: Type) -> Type:
    """The untyped bits of a type: a selection does not change them."""
    return ptx_type(f"b{type_.bits}")


@family("slct", lanewise=True)
def slct(b: Words[W], op: Op) -> None:
    """The first value where the selector is not negative, else the second; NaN selects the second."""
    target, first, second, chooser = op.operands
    plain = _plain(op.types[0])
    value = b.read(chooser, op.type)
    if op.type.is_float:
        if op.has("ftz"):
            value = numbers.flush_float(b, value)
        chosen = b.compare("oge", value, b.constant(value.type, "0.0"))
    else:
        chosen = b.compare("sge", value, b.constant(integer_like(value.type), 0))
    b.write(target, b.select(chosen, b.read(first, plain), b.read(second, plain)))
