"""Arithmetic in f16 and bf16, alone and in pairs (PTX ISA 9.7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.arithmetic import numbers
from ptxloom.meaning.arithmetic.floating import packed_bits
from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_OUT_OF_BOUNDS: Final = 0x7FF7
_HALVES: Final = "f16 bf16 f16x2 bf16x2"


@family("add", "sub", "mul", "fma", types=_HALVES, lanewise=True)
def arithmetic(b: Words[W], op: Op) -> None:
    """Exact, rounded once to nearest even."""
    pairs = [packed_bits(b, op, o) for o in op.operands[1:]]
    name = pairs[0][0]
    narrow = numbers.narrow_flushed if op.has("ftz") else numbers.narrow
    bits = narrow(b, _exact(b, op, name, [p[1] for p in pairs]), name)
    if op.has("sat"):
        bits = numbers.narrow(b, numbers.saturate(b, numbers.widen(b, bits, name)), name)
    if op.has("relu"):
        bits = numbers.narrow(b, numbers.relu(b, numbers.widen(b, bits, name)), name)
    if op.has("oob"):
        bits = _in_bounds(b, bits, [p[1] for p in pairs[:2]])
    b.write(op.operands[0], bits)


def _exact(b: Words[W], op: Op, name: str, bits: list[W]) -> W:
    """The result before the last rounding: exact, rounded to odd, or wide enough that rounding twice is harmless."""
    floats = [numbers.widen(b, v, name) for v in bits]
    if op.opcode in {"add", "sub"}:  # 24 bits are at least 2 * 11 + 2: rounding twice is rounding once
        return b.apply(f"f{op.opcode}", *floats)
    if op.opcode == "mul" and name == "f16":  # 22 bits, far from f32's subnormals
        return b.apply("fmul", *floats)
    doubles = [b.convert("fpext", v, "double") for v in floats]
    product = b.apply("fmul", doubles[0], doubles[1])
    return numbers.odd_sum(b, product, doubles[2]) if op.opcode == "fma" else product


def _in_bounds(b: Words[W], bits: W, factors: list[W]) -> W:
    """Zero where a factor is the out-of-bounds NaN, the fill value of tensor copies, of either sign."""
    for factor in factors:
        magnitude = b.apply("and", factor, b.constant(factor.type, 0x7FFF))
        outside = b.compare("eq", magnitude, b.constant(factor.type, _OUT_OF_BOUNDS))
        bits = b.select(outside, b.constant(bits.type, 0), bits)
    return bits
