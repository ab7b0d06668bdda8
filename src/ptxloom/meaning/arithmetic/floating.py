"""Floating-point arithmetic in f32 and f64 (PTX ISA 9.7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words
    from ptxloom.syntax import tree

family: Final = Family()

_EXACT: Final = "f32 f64"


def _direction(op: Op) -> str:
    return op.one_of(numbers.DIRECTIONS, "rn")


def _read(b: Words[W], op: Op, operand: tree.Operand) -> W:
    value = b.read(operand, op.type)
    return numbers.flush_float(b, value) if op.has("ftz") else value


def _rounded(b: Words[W], op: Op, name: str, *operands: W) -> W:
    """Rounded once, subnormals flushed if the instruction says so."""
    rounded = numbers.rounded_flushed if op.has("ftz") else numbers.rounded
    return rounded(b, name, _direction(op), *operands)


def _write(b: Words[W], op: Op, value: W) -> None:
    """Write a result: saturated, NaN made canonical, as the instruction requires."""
    value = numbers.saturate(b, value) if op.has("sat") else numbers.canonical(b, value)
    b.write(op.operands[0], value)


@family(
    "add", "sub", "mul", "div", "fma", "mad", types=_EXACT, when=lambda op: not op.has("approx", "full"), lanewise=True
)
def arithmetic(b: Words[W], op: Op) -> None:
    """Exact, rounded once."""
    name = "fma" if op.opcode in {"fma", "mad"} else f"f{op.opcode}"
    values = [_read(b, op, o) for o in op.operands[1:]]
    result = _rounded(b, op, name, *values)
    if op.type.name == "f64":  # a NaN in b takes precedence, then c's, then a's; in a quotient a's
        result = numbers.first_nan(b, result, *(values if op.opcode == "div" else (*values[1:], values[0])))
    _write(b, op, result)


@family("add", "sub", "mul", "fma", types="f32x2", lanewise=True)
def pairs(b: Words[W], op: Op) -> None:
    """Two f32 in each lane, each computed separately: by the manual, not confirmed on a Blackwell."""
    arithmetic(b, op)


@family("add", "sub", "fma", types="f16 bf16", when=lambda op: len(op.types) == 2, lanewise=True)
def mixed(b: Words[W], op: Op) -> None:
    """`.f32.f16`: all but the last operand are narrow; exact, rounded once to f32."""
    name, wide = op.type.name, op.types[0]
    *narrow, last = op.operands[1:]
    values = [numbers.widen(b, numbers.bits_of(b, b.read(o, op.type)), name) for o in narrow]
    name = "fma" if op.opcode == "fma" else f"f{op.opcode}"
    result = numbers.rounded(b, name, _direction(op), *values, b.read(last, wide))
    b.write(op.operands[0], numbers.saturate(b, result) if op.has("sat") else numbers.canonical(b, result))


@family("rcp", types=_EXACT, when=lambda op: not op.has("approx"), lanewise=True)
def rcp(b: Words[W], op: Op) -> None:
    """1 / a, rounded once."""
    value = _read(b, op, op.operands[1])
    _write(b, op, _rounded(b, op, "fdiv", b.constant(value.type, "1.0"), value))


@family("sqrt", types=_EXACT, when=lambda op: not op.has("approx"), lanewise=True)
def sqrt(b: Words[W], op: Op) -> None:
    """The square root, rounded once."""
    _write(b, op, _rounded(b, op, "sqrt", _read(b, op, op.operands[1])))


@family("abs", "neg", types="f32 f64 f16 bf16 f16x2 bf16x2", lanewise=True)
def sign(b: Words[W], op: Op) -> None:
    """The magnitude, or the value with the other sign; a NaN becomes the canonical one."""
    name, bits = packed_bits(b, op, op.operands[1])
    form = numbers.FORMATS[name]
    if op.opcode == "abs":
        changed = numbers.magnitude(b, bits, name)
    else:
        changed = b.apply("xor", bits, b.constant(bits.type, form.sign - (1 << form.bits)))
    value = numbers.widen(b, bits, name)
    if name == "f64":
        quiet = b.apply("or", bits, b.constant(bits.type, 1 << form.fraction - 1))
        changed = b.select(numbers.is_nan(b, value), quiet, changed)
    else:
        changed = b.select(numbers.is_nan(b, value), b.constant(bits.type, form.nan), changed)
    b.write(op.operands[0], changed)


@family("min", "max", types="f32 f64 f16 bf16 f16x2 bf16x2", lanewise=True)
def min_max(b: Words[W], op: Op) -> None:
    """The smaller or larger; `.NaN` propagates NaN, `.xorsign.abs` compares magnitudes and multiplies signs."""
    target, *sources = op.operands
    name, result = packed_bits(b, op, sources[0])
    largest, nan, xorsign = op.opcode == "max", op.has("NaN"), op.has("xorsign")
    magnitudes = op.has("abs") and not xorsign  # with three operands
    result = numbers.magnitude(b, result, name) if magnitudes else result
    for source in sources[1:]:
        _, other = packed_bits(b, op, source)
        other = numbers.magnitude(b, other, name) if magnitudes else other
        result = numbers.extreme(b, result, other, name, largest=largest, nan=nan, xorsign=xorsign)
    b.write(target, result)


def packed_bits(b: Words[W], op: Op, operand: tree.Operand) -> tuple[str, W]:
    """The format of an operand's elements and their bits, flushed if the instruction says so."""
    name = op.type.name.removesuffix("x2")
    bits = numbers.bits_of(b, b.read(operand, op.type))
    return name, numbers.flush(b, bits, name) if op.has("ftz") else bits


@family("copysign", types=_EXACT, lanewise=True)
def copysign(b: Words[W], op: Op) -> None:
    """The magnitude of b with the sign of a."""
    target, signed, magnitude = op.operands
    b.write(target, b.intrinsic("llvm.copysign", b.read(magnitude, op.type), b.read(signed, op.type)))


@family("testp", types=_EXACT, lanewise=True)
def testp(b: Words[W], op: Op) -> None:
    """Whether a value is of a given class."""
    form = numbers.FORMATS[op.type.name]
    bits = numbers.bits_of(b, b.read(op.operands[1], op.type))
    magnitude = numbers.magnitude(b, bits, op.type.name)
    infinity, smallest = b.constant(bits.type, form.infinity), b.constant(bits.type, 1 << form.fraction)
    match op.qualifiers[0]:
        case "finite":
            found = b.compare("ult", magnitude, infinity)
        case "infinite":
            found = b.compare("eq", magnitude, infinity)
        case "number":
            found = b.compare("ule", magnitude, infinity)
        case "notanumber":
            found = b.compare("ugt", magnitude, infinity)
        case "normal":  # zero counts as normal on an H200
            large = b.compare("uge", magnitude, smallest), b.compare("ult", magnitude, infinity)
            zero = b.compare("eq", magnitude, b.constant(bits.type, 0))
            found = b.apply("or", b.apply("and", *large), zero)
        case _:
            tests = b.compare("ult", magnitude, smallest), b.compare("ne", magnitude, b.constant(bits.type, 0))
            found = b.apply("and", *tests)
    b.write_mask(op.operands[0], b.mask_of(found))
