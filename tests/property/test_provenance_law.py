"""Provenance chooses its rules by effects and words: those that it chose by opcode before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from property.spellings import legal
from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import touches
from ptxloom.isa.types import is_type
from ptxloom.machine.instruments.provenance import rule_of
from ptxloom.machine.program.model import Op
from ptxloom.meaning.types import ptx_type

if TYPE_CHECKING:
    from ptxloom.machine.program.model import FunctionPlan
    from ptxloom.machine.program.symbols import Scope
    from ptxloom.syntax.tree import Instruction

BY_OPCODE: Final = {
    **dict.fromkeys(("ld", "ldu"), "load"), **dict.fromkeys(("mov", "cvta"), "move"),
    **dict.fromkeys(("ldmatrix", "stmatrix"), "matrix"), **dict.fromkeys(("atom", "red"), "update"),
    **dict.fromkeys(("shl", "shr"), "shift"), **dict.fromkeys(("and", "or", "xor", "not", "lop3"), "logic"),
    **dict.fromkeys(("cp", "call"), "nothing"),
    "st": "store", "selp": "choose", "shfl": "exchange", "movmatrix": "transpose", "cvt": "convert",
    "mma": "product", "wgmma": "warpgroup", "prmt": "permute", "shf": "funnel", "bfe": "extract", "bfi": "insert",
}  # fmt: skip
"""The rule of each opcode; others have none: what they write is computed of what they read."""
LEAST: Final = 3_500


def _rule(node: Instruction) -> str | None:
    types = tuple(ptx_type(word) for word in node.qualifiers if is_type(word))
    rule = rule_of(Op(node, cast("Scope", None), 0, types, cast("FunctionPlan", None)))
    return _of_no_register(node) if rule is None else rule.__name__


def _wanted(node: Instruction) -> str | None:
    moves = {"load": "fragment", "store": "fragment", "mma": "product"}
    if node.opcode == "wmma":
        return moves[node.qualifiers[0]]
    if node.opcode == "st" and not {"async", "bulk"}.isdisjoint(node.qualifiers):
        return _of_no_register(node)
    return BY_OPCODE.get(node.opcode) or _of_no_register(node)


def _of_no_register(node: Instruction) -> str | None:
    """What is computed of nothing, and to do nothing, come to the same."""
    return None if destinations(node) else "nothing"


def test_every_rule_is_that_of_the_opcode() -> None:
    spelled = {name: one for name, one in legal().items() if destinations(one) or touches(one)}
    others = {name: (_wanted(one), _rule(one)) for name, one in spelled.items() if _wanted(one) != _rule(one)}
    assert not others
    assert len(spelled) > LEAST
