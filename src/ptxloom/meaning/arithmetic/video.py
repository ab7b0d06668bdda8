"""Video instructions, scalar and SIMD (PTX ISA 9.7.17): extract parts, compute exactly, saturate, merge or combine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.family import Family
from ptxloom.meaning.vectors import vector
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_COMPARISONS: Final = ("eq", "ne", "lt", "le", "gt", "ge")
_SECOND: Final = ("add", "min", "max")


def _selected(operand: tree.Operand) -> tuple[tree.Operand, str]:
    """An operand and its selector: r and "h1" for `r.h1`, r and "" for `r`."""
    match operand:
        case tree.Component(base=base, field=field):
            return base, field
        case _:
            return operand, ""


def _part(b: Words[W], operand: tree.Operand, type_: Type) -> W:
    """The byte, half or word that an operand names, exactly, as i64."""
    negated = isinstance(operand, tree.Unary) and operand.operator == "-"
    inner, selector = _selected(operand.operand if isinstance(operand, tree.Unary) and negated else operand)
    bits = _bits(selector)
    value = _take(b, b.read(inner, "b32"), int(selector[1:] or 0), bits)
    wide = b.resize(value, 64, type_.signed)
    return b.apply("sub", b.constant(wide.type, 0), wide) if negated else wide


def _bits(selector: str) -> int:
    return {"b": 8, "h": 16}.get(selector[:1], 32)


def _take(b: Words[W], value: W, index: int, bits: int) -> W:
    """Part number `index`, of `bits` bits, of each 32-bit word."""
    if bits == 32:
        return value
    count = b.width * 32 // bits
    parts = b.bitcast(value, vector(f"i{bits}", count))
    return b.shuffle(parts, range(index, count, 32 // bits))


def _clamp(b: Words[W], value: W, bits: int, *, signed: bool) -> W:
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    above = b.intrinsic("llvm.smax", value, b.constant(value.type, low))
    return b.intrinsic("llvm.smin", above, b.constant(value.type, high))


def _finish(b: Words[W], op: Op, value: W, type_: Type, *, saturate: bool, word_only: bool = False) -> None:
    """Saturate; then put the part into c, or combine it with c, and write it.

    `word_only`: an extreme with c uses only the low word of the value, sign-extended.
    """
    target, selector = _selected(op.operands[0])
    bits = _bits(selector)
    whole = _saturated(b, value, bits, signed=type_.signed) if saturate else value
    word = b.resize(whole, 32)
    second = op.one_of(_SECOND)
    if selector:
        place = int(selector[1:]) * bits
        mask = ((1 << bits) - 1) << place
        kept = b.apply("and", b.read(op.operands[-1], "b32"), b.constant(word.type, ~mask & 0xFFFFFFFF))
        moved = b.apply("and", b.apply("shl", word, b.constant(word.type, place)), b.constant(word.type, mask))
        word = b.apply("or", kept, moved)
    elif second:
        first = b.resize(word, 64, signed=True) if word_only else whole
        word = _combine(b, second, first, b.read(op.operands[-1], "b32"), signed=type_.signed)
    b.write(target, word)


def _saturated(b: Words[W], value: W, bits: int, *, signed: bool) -> W:
    """A value of 34 bits saturated like ptxas's emulation on an H200.

    A signed word is clamped; an unsigned word only from below; a byte or half only from above, where negative values
    count as large.
    """
    value = _34_bits(b, value)
    if bits == 32:
        low, high = (-(1 << 31), (1 << 31) - 1) if signed else (0, (1 << 34) - 1)
        above = b.intrinsic("llvm.smax", value, b.constant(value.type, low))
        return b.intrinsic("llvm.smin", above, b.constant(value.type, high))
    largest = (1 << bits - signed) - 1
    return b.intrinsic("llvm.umin", value, b.constant(value.type, largest))


def _34_bits(b: Words[W], value: W) -> W:
    """The low 34 bits of a value, the highest of them its sign."""
    top = b.apply("shl", value, b.constant(value.type, 30))
    return b.apply("ashr", top, b.constant(value.type, 30))


def _combine(b: Words[W], name: str, x: W, y: W, *, signed: bool) -> W:
    """The second operation, on 64 bits; an unsigned extreme treats negative values as large."""
    if name == "add":
        return b.apply("add", b.resize(x, 32), y)
    return b.resize(b.intrinsic(f"llvm.{'s' if signed else 'u'}{name}", x, b.resize(y, 64, signed)), 32)


def _apply(b: Words[W], name: str, x: W, y: W) -> W:
    """The exact result of the primary operation."""
    match name:
        case "vadd":
            return b.apply("add", x, y)
        case "vsub":
            return b.apply("sub", x, y)
        case "vabsdiff":
            return b.apply("sub", b.intrinsic("llvm.smax", x, y), b.intrinsic("llvm.smin", x, y))
        case "vmin" | "vmax":
            return b.intrinsic(f"llvm.s{name[1:]}", x, y)
        case _:  # vavrg: rounded half away from zero
            total = b.apply("add", x, y)
            up = b.compare("sge", total, b.constant(total.type, 0))
            rounded = b.apply("add", total, b.convert("zext", up, total.element))
            return b.apply("ashr", rounded, b.constant(total.type, 1))


@family("vadd", "vsub", "vabsdiff", "vmin", "vmax")
def scalar(b: Words[W], op: Op) -> None:
    """One operation on chosen parts."""
    result, of_a, of_b = op.types[:3]
    value = _apply(b, op.opcode, _part(b, op.operands[1], of_a), _part(b, op.operands[2], of_b))
    _finish(b, op, value, result, saturate=op.has("sat"), word_only=op.opcode in {"vadd", "vsub"})


@family("vshl", "vshr")
def shift(b: Words[W], op: Op) -> None:
    """A shift by at most 32 (`.clamp`) or by the low five bits (`.wrap`); saturation applies to the word, not the part.

    On an H200 ptxas emulates it, like the whole family: an extreme uses all 64 bits of an unsaturated value.
    """
    result, of_a, of_b = op.types[:3]
    value, by = _part(b, op.operands[1], of_a), _part(b, op.operands[2], of_b)
    if op.has("wrap"):
        by = b.apply("and", by, b.constant(by.type, 31))
    else:
        by = b.intrinsic("llvm.umin", by, b.constant(by.type, 32))
    moved = b.apply("shl" if op.opcode == "vshl" else "ashr", value, by)
    if op.has("sat"):
        moved = _clamp(b, _34_bits(b, moved), 32, signed=result.signed)
    _finish(b, op, moved, result, saturate=False, word_only=op.has("sat"))


@family("vmad")
def vmad(b: Words[W], op: Op) -> None:
    """A product of parts plus c (plus one), shifted down.

    As in ptxas's code for an H200: the words that hold the parts, and c, are treated as signed; the shift and the
    saturation are signed if a source is or is negated, whatever the result's type.
    """
    result, of_a, of_b = op.types[:3]
    addend = op.operands[3]
    minus = any(isinstance(o, tree.Unary) for o in op.operands[1:])
    signed = of_a.signed or of_b.signed or minus
    factors = (_part(b, _positive(o), t) for o, t in zip(op.operands[1:3], (of_a, of_b), strict=True))
    words = (b.resize(b.resize(f, 32), 64, signed=True) for f in factors)
    product = b.apply("mul", *words)
    if any(isinstance(o, tree.Unary) for o in op.operands[1:3]):
        product = b.apply("sub", b.constant(product.type, 0), product)
    wide = b.resize(b.read(_positive(addend), "b32"), 64, signed=True)
    total = b.apply("sub" if isinstance(addend, tree.Unary) else "add", product, wide)
    if op.has("po"):
        total = b.apply("add", total, b.constant(total.type, 1))
    scale = op.one_of(("shr7", "shr15"))
    if scale:
        total = b.apply("ashr" if signed else "lshr", total, b.constant(total.type, int(scale[3:])))
    if op.has("sat"):
        total = _clamp(b, total, 32, signed=signed)
    _finish(b, op, total, result, saturate=False)


def _positive(operand: tree.Operand) -> tree.Operand:
    return operand.operand if isinstance(operand, tree.Unary) else operand


@family("vset")
def vset(b: Words[W], op: Op) -> None:
    """1 where a comparison of parts holds."""
    of_a, of_b = op.types[:2]
    x, y = _part(b, op.operands[1], of_a), _part(b, op.operands[2], of_b)
    value = b.convert("zext", _compare(b, op, x, y), "i64")
    _finish(b, op, value, of_a, saturate=False)


def _compare(b: Words[W], op: Op, x: W, y: W) -> W:
    name = op.one_of(_COMPARISONS)
    return b.compare(name if name in {"eq", "ne"} else f"s{name}", x, y)


_SIMD: Final = tuple(f"{name}{n}" for name in ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax") for n in (2, 4))


@family(*_SIMD, "vset2", "vset4")
def simd(b: Words[W], op: Op) -> None:
    """Two or four operations side by side; `.add` sums their results onto c."""
    lanes = int(op.opcode[-1])
    bits = 32 // lanes
    name = op.opcode[:-1]
    is_set = name == "vset"
    of_a, of_b = op.types[-2:]
    result = of_a if is_set else op.types[0]
    target, mask = _selected(op.operands[0])
    addend = b.read(op.operands[3], "b32")
    written = {int(digit) for digit in mask[1:]} or set(range(lanes))
    sources = [_lanes(b, op, n, lanes) for n in (1, 2)]
    word = b.constant(addend.type, 0)
    for lane in range(lanes):
        x, y = (b.resize(s[lane], 64, t.signed) for s, t in zip(sources, (of_a, of_b), strict=True))
        value = b.convert("zext", _compare(b, op, x, y), "i64") if is_set else _apply(b, name, x, y)
        if op.has("sat"):
            value = _clamp(b, value, bits, signed=result.signed)
        part = b.resize(value, 32)
        if op.has("add"):
            word = b.apply("add", word, part) if lane in written else word
            continue
        place, ones = lane * bits, b.constant(word.type, ((1 << bits) - 1) << lane * bits)
        moved = b.apply("shl", part, b.constant(word.type, place)) if lane in written else addend
        word = b.apply("or", word, b.apply("and", moved, ones))
    b.write(target, b.apply("add", word, addend) if op.has("add") else word)


def _lanes(b: Words[W], op: Op, which: int, lanes: int) -> list[W]:
    """The parts of source a (1) or b (2), the lowest first, chosen from the parts of both."""
    _, selector = _selected(op.operands[which])
    words = [b.read(_selected(op.operands[n])[0], "b32") for n in (1, 2)]
    default = range(lanes) if which == 1 else range(lanes, 2 * lanes)
    chosen = [int(digit) for digit in reversed(selector[1:])] or list(default)
    return [_take(b, words[n // lanes], n % lanes, 32 // lanes) for n in chosen]
