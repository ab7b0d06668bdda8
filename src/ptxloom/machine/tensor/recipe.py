"""How each architecture adds up the products of an `mma`: the rules, and what each one rests on.

Hopper (`sm_90`) was measured: every form was run on an H200 with random, structured and special inputs, and the rules
below reproduce every bit (`tests/recorded/mma`). What the tensor core does by itself:

- *Fused sum* (`.f16 .bf16 .tf32`, sparse or not): all products and C are cut, toward zero, to 25 fractional bits under
  the largest exponent among them, added exactly, and rounded once: toward zero to `.f32`, to nearest even to `.f16`.
  A product's exponent is the sum of its factors' exponents, not normalised; subnormals count as the format's smallest
  exponent; zeros do not count. Too large becomes infinity, what rounds to zero is +0, every NaN is 0x7fffffff (0x7fff).
- *Double precision*: a chain of IEEE fused multiply-adds from C over rising k. A NaN operand is passed on, quieted,
  B's before C's before A's; a NaN that arises is 0xfff8000000000000.
- *Integers*: exact, and modulo 2^32 or saturated once at the end.

What ptxas builds from other instructions, since Hopper lacks the unit (read in the SASS, confirmed by the results):

- `.e4m3 .e5m2`: turned into `.f16`; one fused sum from zero over the low two elements of each register, a second one
  on top over the high two, then C added in one IEEE addition.
- `mma.m8n8k4` with `.f16`: `fma` in `.f32` over rising k from zero, then plus C; where D is `.f16`:
  `(C + (a0*b0 + a1*b1)) + (a2*b2 + a3*b3)` in `.f32`, each bracket an `fma` of a product, rounded at the end.
- `wmma`: two `mma.m16n8k16` (`.m8n32k16` with A and B exchanged), a D of another type converted at the end;
  `.m16n16k8` with `.tf32` sums k 0-3 first, then 4-7.

Not measured by us (arXiv 2511.10909 published them): `sm_75` to `sm_89` keep 24 fractional bits, and sum the longest
k of a type in two halves, the lower first. `sm_89` is taken to sum fp8 as it does `.f16`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

from ptxloom.diagnostics import UnsupportedForm, UsageError
from ptxloom.isa.products import features_of, matrix_forms
from ptxloom.isa.target import Target
from ptxloom.isa.types import element_type
from ptxloom.isa.version import versions

if TYPE_CHECKING:
    from ptxloom.isa.products import MatrixForm
    from ptxloom.syntax.module import Module


class Sum(StrEnum):
    """How dot products are formed."""

    FUSED = "fused"
    CHAIN = "chain"
    PAIRS = "pairs"
    DOUBLE = "double"
    INTEGER = "integer"
    BITS = "bits"


@dataclass(frozen=True, slots=True)
class Recipe:
    """The arithmetic of one form on one architecture.

    Attributes:
        sum: What kind of sum.
        steps: Of a fused sum: the places along the stored row of `a` that each step adds to the result before it.
        fraction_bits: Of a fused sum: bits kept under the largest exponent.
        wide: Of a fused sum: each step rounds to `.f32`; else to `.f16`.
        from_zero: The first step starts from zero and C is added at the end by itself.
    """

    sum: Sum
    steps: tuple[tuple[int, ...], ...] = ()
    fraction_bits: int = 0
    wide: bool = True
    from_zero: bool = False


#: The `sm_` numbers whose arithmetic is known.
ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90)


def architecture(target: Target | str) -> int:
    """The number of a target such as `sm_90` or `sm_90a`.

    Raises:
        UsageError: It is not one of `sm_75` to `sm_90`.
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
        UsageError: Nobody knows how it computes.
    """
    number = architecture(target)
    least = least_architecture(form)
    if least is None:
        first, *_, last = ARCHITECTURES
        raise UnsupportedForm(f"`{form.spelling}` is a form of no target from `sm_{first}` to `sm_{last}`")
    if number < least:
        raise UnsupportedForm(f"`{form.spelling}` needs `sm_{least}` or higher, and `{target}` is below")
    if form.a_type == "f64":
        return Recipe(Sum.DOUBLE)
    if form.a_type == "b1":
        return Recipe(Sum.BITS)
    if form.d_type == "s32":
        return Recipe(Sum.INTEGER)
    if form.quad_pairs and number >= 80:
        return Recipe(Sum.PAIRS if form.d_type == "f16" else Sum.CHAIN)
    return _fused(form, hopper=number >= 90)


@cache
def least_architecture(form: MatrixForm) -> int | None:
    """The least `sm_` number that has a form, of those whose arithmetic is known; None if none has it."""
    features = features_of(form)
    return next((n for n in ARCHITECTURES if all(each.available(versions()[-1], Target(n)) for each in features)), None)


@cache
def known_forms() -> tuple[MatrixForm, ...]:
    """Every form whose arithmetic is known: `mma`, `mma.sp`, `wmma.mma`."""
    found = (*matrix_forms("mma"), *matrix_forms("wmma"))
    return tuple(form for form in found if least_architecture(form) is not None)


def _fused(form: MatrixForm, *, hopper: bool) -> Recipe:
    wide = "f32" in (form.d_type, form.c_type)
    places = tuple(range(form.stored_k))
    fp8 = element_type(form.a_type).packed_bits == 8
    if hopper and fp8:
        low = tuple(place for place in places if place % 4 < 2)
        high = tuple(place for place in places if place % 4 >= 2)
        return Recipe(Sum.FUSED, (low, high), 25, wide, from_zero=True)
    halves = (places[: len(places) // 2], places[len(places) // 2 :])
    if hopper:
        split = form.opcode == "wmma" and form.a_type == "tf32"
        return Recipe(Sum.FUSED, halves if split else (places,), 25, wide)
    longest = len(places) * element_type(form.a_type).packed_bits == 256
    return Recipe(Sum.FUSED, halves if longest else (places,), 24, wide)


def tensor_target(module: Module) -> str:
    """The architecture whose tensor cores a module's target stands for."""
    numbers = [Target.parse(name).number for name in module.target if name.startswith("sm_")]
    known = [n for n in ARCHITECTURES if n <= (numbers[0] if numbers else ARCHITECTURES[-1])]
    return f"sm_{known[-1] if known else ARCHITECTURES[0]}"
