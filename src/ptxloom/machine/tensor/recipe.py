"""How each architecture sums the products of an `mma`: the rules, and the evidence for each.

Hopper (`sm_90`) was measured: every form was run on an H200 with random, structured and special inputs, and the rules
below reproduce every bit (`tests/recorded/mma`). What the tensor core does by itself:

- *Fused sum* (`.f16 .bf16 .tf32`, sparse or not): all products and C are cut, toward zero, to 25 fractional bits below
  the largest exponent among them, added exactly, and rounded once: toward zero to `.f32`, to nearest even to `.f16`.
  A product's exponent is the sum of its factors' exponents, not normalised; subnormals count as the format's smallest
  exponent; zeros do not count. The largest exponent counts as -133 at the least where the result is `.f32`, and as -21
  where it is `.f16`: 7 below the type's own least. Overflow becomes infinity, a rounded zero is +0, every NaN is
  0x7fffffff (0x7fff).
- *Double precision*: a chain of IEEE fused multiply-adds from C over rising k. A NaN operand is propagated, quieted,
  B's before C's before A's; a new NaN is 0xfff8000000000000.
- *Integers*: exact, and modulo 2^32 or saturated once at the end.

`wgmma` sums `.f16 .bf16 .tf32` and integers as `mma` does. Its 8-bit floats have a unit of their own: 13 fractional
bits are kept, and an `.f32` result is cut, toward zero, to 13 bits after its first (`tests/recorded/wgmma`). Where the
largest exponent stops counting cannot be observed there: no product has bits that low.

`tcgen05.mma` has one unit for all: one fused sum over all of k, 25 bits, each format's own smallest exponent; scaled
forms as on `sm_120`, below. It rests on results that were published for a B200 (`tests/recorded/published`).

Built by ptxas from other instructions, as Hopper lacks the unit (read in the SASS, confirmed by the results):

- `.e4m3 .e5m2`: converted to `.f16`; one fused sum from zero over the low two elements of each register, a second one
  on top over the high two, then C added in one IEEE addition.
- `mma.m8n8k4` with `.f16`: `fma` in `.f32` over rising k from zero, then plus C; where D is `.f16`:
  `(C + (a0*b0 + a1*b1)) + (a2*b2 + a3*b3)` in `.f32`, each bracket an `fma` of a product, rounded at the end.
- `wmma`: two `mma.m16n8k16` (`.m8n32k16` with A and B exchanged), a D of another type converted at the end;
  `.m16n16k8` with `.tf32` sums k 0-3 first, then 4-7.

Not measured by us (arXiv 2511.10909 published them, and its authors' MMA-Sim; least exponents: arXiv 2512.07004):

- `sm_75` to `sm_89` keep 24 fractional bits, and sum the longest k of a type in two halves, the lower first. The
  largest exponent counts as -132 or -20 at the least: 6 below the type's own. The fp8 of `sm_89` keep 13, and the
  `.f32` of each half is truncated to 13 bits after its first, as in `wgmma`.
- `sm_100`, `sm_103`, `sm_110`: as Hopper, whose sequence of instructions ptxas emits for them, fp8 included.
- `sm_120`, `sm_121`: as Hopper, but that formats of 8, 6 and 4 bits have a unit: one fused sum over all of k, 25 bits,
  each format's own smallest exponent. Scales of `.mxf8f6f4` are added to the exponents of the products. `.mxf4` and
  `.mxf4nvf4` sum 16 products exactly, multiply the sum by its scales, and align it by their exponents, with 35 bits.
  A NaN scale makes everything NaN. Scaled forms are assumed to have no least exponent, sparse forms to do the same with
  the stored elements.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.float_formats import FLOAT_FORMATS
from ptxloom.isa.products import features_of, matrix_forms
from ptxloom.isa.target import Target
from ptxloom.isa.types import element_type
from ptxloom.isa.version import NEWEST

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.syntax.module import Module


class Accumulation(StrEnum):
    """The kinds of dot products."""

    FUSED = "fused"
    CHAIN = "chain"
    PAIRS = "pairs"
    DOUBLE = "double"
    INTEGER = "integer"
    BITS = "bits"


_BYTE = 8  # bits
_BYTE_BITS = 13  # fractional bits kept of 8-bit floats by the units of Ada and of `wgmma`


@dataclass(frozen=True, slots=True)
class Recipe:
    """The arithmetic of one form on one architecture.

    Attributes:
        sum: The kind of sum.
        steps: For a fused sum, the places along the stored row of `a` that each step adds to the previous result.
        fraction_bits: For a fused sum, the bits kept below the largest exponent.
        wide: For a fused sum, whether each step rounds to `.f32`; else to `.f16`.
        from_zero: The first step starts from zero and C is added at the end by itself.
        least: For a fused sum, the exponents of the subnormals of A and of B.
        group: For a fused sum, the number of products that are added exactly before they are aligned.
        floor_depth: For a fused sum, how far below the result's least exponent the largest one may count.
    """

    sum: Accumulation
    steps: tuple[tuple[int, ...], ...] = ()
    fraction_bits: int = 0
    wide: bool = True
    from_zero: bool = False
    least: tuple[int, int] = (-14, -14)
    group: int = 1
    floor_depth: int = 7


#: The `sm_` numbers whose arithmetic is known.
ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)
_NARROW_UNIT = 120  # from here on, formats of 8 bits and less have a unit of their own


def architecture(target: Target | str) -> int:
    """The number of a target such as `sm_90` or `sm_90a`.

    Raises:
        UsageError: It is not one of `ARCHITECTURES`.
    """
    meant = Target.of(target)
    if meant.number not in ARCHITECTURES or meant.suffix == "f":
        *most, last = (f"`sm_{number}`" for number in ARCHITECTURES)
        raise UsageError("target", str(meant), f"{', '.join(most)} or {last}")
    return meant.number


def recipe(form: MatrixForm, target: str) -> Recipe:
    """How `target` computes `form`.

    Raises:
        UnsupportedForm: The architecture does not have the form.
        UsageError: Its arithmetic is unknown.
    """
    number = architecture(target)
    if form.opcode == "tcgen05":
        return _exact(form) or _narrow(form)
    least = least_architecture(form)
    if least is None:
        first, *_, last = ARCHITECTURES
        raise UnsupportedForm(f"`{form.spelling}` is a form of no target from `sm_{first}` to `sm_{last}`")
    if number < least:
        raise UnsupportedForm(f"`{form.spelling}` needs `sm_{least}` or higher, and `{target}` is below")
    if (exact := _exact(form)) is not None:
        return exact
    if form.quad_pairs and number >= 80:
        return Recipe(Accumulation.PAIRS if form.d_type == "f16" else Accumulation.CHAIN)
    if number >= _NARROW_UNIT and element_type(form.a_type).packed_bits <= _BYTE:
        return _narrow(form)
    return _fused(form, hopper=number >= 90)


@cache
def least_architecture(form: MatrixForm) -> int | None:
    """The least `sm_` number that has a form, of those whose arithmetic is known; None if no such one has it."""
    features = features_of(form)
    targets = (Target(n, suffix) for n in ARCHITECTURES for suffix in ("", "a"))
    return next((t.number for t in targets if all(each.available(NEWEST, t) for each in features)), None)


@cache
def known_forms(target: str = "sm_90") -> tuple[MatrixForm, ...]:
    """Every form of an architecture: `mma`, `mma.sp`, `wmma.mma`.

    Raises:
        UsageError: Its arithmetic is unknown.
    """
    number = architecture(target)
    found = (*matrix_forms("mma"), *matrix_forms("wmma"))
    return tuple(form for form in found if (least := least_architecture(form)) is not None and least <= number)


def _exact(form: MatrixForm) -> Recipe | None:
    """The recipe of a form whose sums are the same on all architectures; None for others."""
    if form.d_type == "s32":
        return Recipe(Accumulation.BITS if form.a_type == "b1" else Accumulation.INTEGER)
    return Recipe(Accumulation.DOUBLE) if form.a_type == "f64" else None


def _narrow(form: MatrixForm) -> Recipe:
    least = _least(form.a_type), _least(form.b_type)
    grouped = form.kind in {"mxf4", "mxf4nvf4"}
    places = tuple(range(form.stored_k))
    bits, group = (35, 16) if grouped else (25, 1)
    return Recipe(Accumulation.FUSED, (places,), bits, "f32" in (form.d_type, form.c_type), least=least, group=group)


def _least(element: str) -> int:
    """The exponent of a type's subnormals, in a unit that supports it directly."""
    return FLOAT_FORMATS[element].least_exponent


def _fused(form: MatrixForm, *, hopper: bool) -> Recipe:
    fp8 = element_type(form.a_type).packed_bits == _BYTE
    exponent = _least("f16" if fp8 else form.a_type)
    least = exponent, exponent
    wide = "f32" in (form.d_type, form.c_type)
    places = tuple(range(form.stored_k))
    if fp8 and form.opcode == "wgmma":
        least = _least(form.a_type), _least(form.b_type)
        return Recipe(Accumulation.FUSED, (places,), _BYTE_BITS, wide, least=least)
    if hopper and fp8:
        low = tuple(place for place in places if place % 4 < 2)
        high = tuple(place for place in places if place % 4 >= 2)
        return Recipe(Accumulation.FUSED, (low, high), 25, wide, from_zero=True, least=least)
    halves = (places[: len(places) // 2], places[len(places) // 2 :])
    if hopper:
        split = form.opcode == "wmma" and form.a_type == "tf32"
        return Recipe(Accumulation.FUSED, halves if split else (places,), 25, wide, least=least)
    if fp8:
        least = _least(form.a_type), _least(form.b_type)
    longest = len(places) * element_type(form.a_type).packed_bits == 256
    bits = _BYTE_BITS if fp8 else 24
    return Recipe(Accumulation.FUSED, halves if longest else (places,), bits, wide, least=least, floor_depth=6)


def tensor_target(module: Module) -> str:
    """The architecture whose tensor cores a module's target stands for."""
    numbers = [Target.parse(name).number for name in module.target if name.startswith("sm_")]
    known = [n for n in ARCHITECTURES if n <= (numbers[0] if numbers else ARCHITECTURES[-1])]
    return f"sm_{known[-1] if known else ARCHITECTURES[0]}"
