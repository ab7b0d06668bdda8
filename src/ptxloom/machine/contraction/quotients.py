"""Decomposes approximate quotients as ptxas does: a scaled dividend times a reciprocal (PTX ISA 9.7.3.7).

The scale keeps divisor and reciprocal from the subnormals, which the unit for reciprocals flushes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.syntax import parse, print_operand
from ptxloom.syntax.tree import Instruction, Name

if TYPE_CHECKING:
    from collections.abc import Callable

_HUGE: Final = "0f7E800000"  # 2^126: reciprocals of what is larger are subnormal
_TINY: Final = "0f00800000"  # 2^-126: what is smaller is subnormal
_ONE: Final = "0f3F800000"


class Factors(NamedTuple):
    """A quotient as a product: its factors, and the instructions that compute them."""

    instructions: tuple[Instruction, ...]
    reciprocal: Name
    dividend: Name


def factors(node: Instruction, own: Callable[[str], Name]) -> Factors:
    """The factors of an approximate quotient.

    Args:
        node: A `div` with `.approx` or `.full`, or an `rcp.approx`.
        own: Returns a register of a type that is not used elsewhere.
    """
    divisor = print_operand(node.operands[-1])
    inverts = len(node.operands) == 2
    dividend = _ONE if inverts else print_operand(node.operands[1])
    ftz = ".ftz" if "ftz" in node.qualifiers else ""
    size, scale, top, bottom, reciprocal = (own("b32") for _ in range(5))
    is_so = own("pred")
    lines = [f"abs.f32 {size.text}, {divisor};", f"mov.b32 {scale.text}, {_ONE};"]
    if "approx" not in node.qualifiers or inverts:
        lines += [f"setp.gt.f32 {is_so.text}, {size.text}, {_HUGE};"]
        lines += [f"selp.f32 {scale.text}, 0f3E800000, {scale.text}, {is_so.text};"]
    if not ftz:
        lines += [f"setp.lt.f32 {is_so.text}, {size.text}, {_TINY};"]
        lines += [f"selp.f32 {scale.text}, 0f4B800000, {scale.text}, {is_so.text};"]
    lines += [f"mul.rn{ftz}.f32 {bottom.text}, {divisor}, {scale.text};"]
    lines += [f"mul.rn{ftz}.f32 {top.text}, {dividend}, {scale.text};"]
    lines += [f"rcp.approx.ftz.f32 {reciprocal.text}, {bottom.text};"]
    steps = (one for one in parse(" ".join(lines)).statements if isinstance(one, Instruction))
    placed = tuple(node.replace(opcode=s.opcode, qualifiers=s.qualifiers, operands=s.operands) for s in steps)
    return Factors(placed, reciprocal, top)
