"""Conversions to and from pairs and quadruples of narrow numbers: `cvt` (PTX ISA 9.7.9.21).

Conversions to e4m3 and e5m2 to nearest match an H200. All others follow the manual and CUDA's host functions; how
random bits are used also follows observations of Quack's authors on a B200 and a B300 (`quack/rounding.py`), not ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.meaning.arithmetic import narrow_formats, numbers
from ptxloom.meaning.arithmetic.narrow_formats import HALVES, NARROW, Chance
from ptxloom.meaning.family import Family

if TYPE_CHECKING:
    from ptxloom.meaning.types import Type
    from ptxloom.meaning.words import Op, W, Words

family: Final = Family()

_CHANCES: Final = {"f16": 13, "bf16": 16}  # random bits per element; 8 for the others
_B300: Final = 103
#: The byte of the random bits for each of four elements, from the lowest on, and whether its bits are reversed, by
#: the bits of an element. For four bits it is only documented in the manual.
_BYTES: Final = {
    8: ((0, False), (1, False), (2, False), (3, False)),
    4: ((0, False), (2, False), (1, False), (3, False)),
}
_BYTES_B300: Final = {
    8: ((1, False), (0, True), (3, False), (2, True)),
    4: ((2, False), (0, True), (3, False), (1, True)),
}


def _element(type_: Type) -> str:
    return type_.name.partition("x")[0]


def paired(b: Words[W], low: W, high: W, bits: int) -> W:
    """Two values of `bits` bits side by side, in an integer twice as wide."""
    width = max(2 * bits, 8)
    upper = b.resize(high, width)
    return b.apply("or", b.apply("shl", upper, b.constant(upper.type, bits)), b.resize(low, width))


def halves(b: Words[W], value: W, bits: int) -> tuple[W, W]:
    """The low and the high part of integers of 2 * `bits` bits, in whole bytes; bits above the low part are kept."""
    high = b.apply("lshr", value, b.constant(value.type, bits))
    return b.resize(value, max(bits, 8)), b.resize(high, max(bits, 8))


def _sources(b: Words[W], op: Op) -> tuple[W, W]:
    """The low and the high number to convert, as f32; negative ones as 0 if the instruction says so."""
    if op.type.name == "f32":
        high, low = (b.read(o, "f32") for o in op.operands[1:3])
    else:
        pair = halves(b, b.read(op.operands[1], "b32"), 16)
        low, high = (numbers.widen(b, v, _element(op.type)) for v in pair)
    if op.has("relu"):
        low, high = numbers.relu(b, low), numbers.relu(b, high)
    return low, high


@family("cvt", when=lambda op: _element(op.types[0]) in NARROW and not op.has("rs"), lanewise=True, converts=True)
def to_narrow(b: Words[W], op: Op) -> None:
    """Two f32, or a pair of halves, as two narrow floats; overflow gives the largest."""
    name = _element(op.types[0])
    low, high = (narrow_formats.narrow(b, v, name) for v in _sources(b, op))
    b.write(op.operands[0], paired(b, low, high, NARROW[name].container))


def _factors(b: Words[W], op: Op) -> tuple[W, W] | None:
    """The low and the high factor as f32, if the instruction has them."""
    if not op.has("scaled::n2::ue8m0"):
        return None
    low, high = halves(b, b.read(op.operands[-1], "b16"), 8)
    return narrow_formats.power(b, low), narrow_formats.power(b, high)


@family("cvt", when=lambda op: _element(op.type) in {*NARROW, "s2f6", "ue8m0"}, lanewise=True, converts=True)
def from_narrow(b: Words[W], op: Op) -> None:
    """Two narrow numbers, each times its factor if there is one, as a pair of halves."""
    source, name = _element(op.type), _element(op.types[0])
    pair = halves(b, b.read(op.operands[1], "b8" if source == "e2m1" else "b16"), 4 if source == "e2m1" else 8)
    low, high = (_widened(b, v, source) for v in pair)
    if (factors := _factors(b, op)) is not None:  # exact except for overflow: no product has more than 8 bits
        low, high = b.apply("fmul", low, factors[0]), b.apply("fmul", high, factors[1])
    if op.has("relu"):
        low, high = numbers.relu(b, low), numbers.relu(b, high)
    low, high = (numbers.narrow(b, v, name) for v in (low, high))
    if op.has("satfinite"):
        low, high = numbers.finite(b, low, name), numbers.finite(b, high, name)
    b.write(op.operands[0], paired(b, low, high, 16))


def _widened(b: Words[W], bits: W, name: str) -> W:
    match name:
        case "s2f6":
            return narrow_formats.fixed(b, bits)
        case "ue8m0":
            return narrow_formats.power(b, bits)
        case _:
            return narrow_formats.widen(b, bits, name)


@family("cvt", when=lambda op: op.types[0].name == "ue8m0x2", lanewise=True, converts=True)
def to_powers(b: Words[W], op: Op) -> None:
    """The powers of two at, below or above two magnitudes."""
    up, finite = op.has("rp"), op.has("satfinite")
    low, high = (narrow_formats.power_bits(b, v, up=up, finite=finite) for v in _sources(b, op))
    b.write(op.operands[0], paired(b, low, high, 8))


@family("cvt", when=lambda op: op.types[0].name == "s2f6x2", lanewise=True, converts=True)
def to_fixed(b: Words[W], op: Op) -> None:
    """Two numbers, each divided by its factor if there is one, as fixed-point ones."""
    values = [b.convert("fpext", v, "double") for v in _sources(b, op)]
    if (factors := _factors(b, op)) is not None:
        values = [b.apply("fdiv", v, b.convert("fpext", f, "double")) for v, f in zip(values, factors, strict=True)]
    low, high = (narrow_formats.fixed_bits(b, v, op.one_of(("rz", "rn"))) for v in values)
    b.write(op.operands[0], paired(b, low, high, 8))


@family("cvt", when=lambda op: op.has("rs") and _element(op.types[0]) in HALVES, lanewise=True, converts=True)
def halves_at_random(b: Words[W], op: Op) -> None:
    """Two f32 as halves, each rounded by the random bits of its half of the last operand."""
    name = _element(op.types[0])
    mask = (1 << _CHANCES[name]) - 1
    given = b.read(op.operands[3], "b32")
    chances = (given, b.apply("lshr", given, b.constant(given.type, 16)))
    low, high = (
        narrow_formats.narrow_at_random(
            b, v, HALVES[name], Chance(b.apply("and", c, b.constant(c.type, mask)), _CHANCES[name]), op.has("satfinite")
        )
        for v, c in zip(_sources(b, op), chances, strict=True)
    )
    b.write(op.operands[0], paired(b, low, high, 16))


@family("cvt", when=lambda op: op.has("rs") and _element(op.types[0]) in NARROW, lanewise=True, converts=True)
def quadruple_at_random(b: Words[W], op: Op) -> None:
    """Four f32, the first into the highest bits, each rounded by eight random bits."""
    form = NARROW[_element(op.types[0])]
    given = b.read(op.operands[2], "b32")
    elements: list[W] = []
    for value, (byte, backwards) in zip(
        reversed(b.read_all(op.operands[1], "f32")), _bytes(b, form.container), strict=True
    ):
        chance = b.resize(b.apply("lshr", given, b.constant(given.type, 8 * byte)), 8)
        chance = b.resize(b.intrinsic("llvm.bitreverse", chance) if backwards else chance, 32)
        clamped = numbers.relu(b, value) if op.has("relu") else value
        elements.append(narrow_formats.narrow_at_random(b, clamped, form, Chance(chance, 8), finite=True))
    low, high = (paired(b, elements[n], elements[n + 1], form.container) for n in (0, 2))
    b.write(op.operands[0], paired(b, low, high, 2 * form.container))


def _bytes(b: Words[W], container: int) -> tuple[tuple[int, bool], ...]:
    """The assignment of random bits to elements: a B300 (sm_103) differs from a B200."""
    return (_BYTES_B300 if b.architecture == _B300 else _BYTES)[container]
