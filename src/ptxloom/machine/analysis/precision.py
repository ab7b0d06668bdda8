"""The types to which a kernel rounds its sums and factors: the precision that a comparison may expect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ptxloom.comparison.rounding import Precision, eps_of_type
from ptxloom.fragments.number_types import FLOATS
from ptxloom.readings.computed import adds, converts, multiplies_operands
from ptxloom.readings.effects import multiplies

if TYPE_CHECKING:
    from ptxloom.machine.program.model import Op, Program

_TYPED: Final = 3  # types that a product names if it names those of A and B, too


def precision_of(program: Program) -> Precision | None:
    """The coarsest types of its tensor cores' products; without products, the finest that it adds in; else None."""
    products = [names for op in program.ops if multiplies(op.node) and (names := _floats(op))]
    if products:
        sums = max((names[0] for names in products), key=eps_of_type)
        named = [name for names in products if len(names) >= _TYPED for name in names[1:3]]
        factors = max(named, key=eps_of_type, default="")
        made = any(converts(op.node) and _floats(op)[:1] == [factors] for op in program.ops)
        return Precision(sums, factors, made and bool(factors))
    added = [name for op in program.ops if adds(op.node) or multiplies_operands(op.node) for name in _floats(op)]
    return Precision(min(added, key=eps_of_type)) if added else None


def _floats(op: Op) -> list[str]:
    """The floating-point types that an instruction names, packed ones by their elements."""
    names = [qualifier.removesuffix("x2") for qualifier in op.qualifiers]
    return [name for name in names if name in FLOATS]
