"""Provenance chooses its rules by effects and words: those that it chose by opcode before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from corpus_files import corpus_files
from machine.opcode_cases import families
from ptxloom.binding.effects import destinations
from ptxloom.binding.touches import touches
from ptxloom.isa.load import known
from ptxloom.isa.types import is_type
from ptxloom.machine.instruments.provenance import rule_of
from ptxloom.machine.program.model import Op
from ptxloom.meaning.types import ptx_type
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.bind import bind

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def _written() -> Iterator[Instruction]:
    """Every recorded form of what computes, and all instructions of the corpus of kernels."""
    for _, cases in families():
        for case in cases:
            yield from instructions(parse(case.text.format(d="d", a="a", b="b", c="c")))
    for file in corpus_files():
        yield from instructions(parse(file.read()))


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
    legal: dict[str, Instruction] = {}
    for node in _written():
        if known(node.opcode) and (destinations(node) or touches(node)) and bind(node).form is not None:
            legal.setdefault(".".join((node.opcode, *node.qualifiers, str(len(node.operands)))), node)
    others = {name: (_wanted(one), _rule(one)) for name, one in legal.items() if _wanted(one) != _rule(one)}
    assert not others
    assert len(legal) > LEAST
