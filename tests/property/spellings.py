"""Every legal spelling of the recorded forms of what computes, and of the corpus of kernels: one instruction each."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from corpus_files import corpus_files
from machine.opcode_cases import families
from ptxloom.isa.load import known
from ptxloom.syntax import instructions, parse
from ptxloom.syntax.bind import bind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.syntax.tree import Instruction


@cache
def legal() -> Mapping[str, Instruction]:
    """The first instruction of each spelling and number of operands, by that."""
    found: dict[str, Instruction] = {}
    for node in _written():
        if known(node.opcode) and bind(node).form is not None:
            found.setdefault(".".join((node.opcode, *node.qualifiers, str(len(node.operands)))), node)
    return found


def _written() -> Iterator[Instruction]:
    for _, cases in families():
        for case in cases:
            yield from instructions(parse(case.text.format(d="d", a="a", b="b", c="c")))
    for file in corpus_files():
        yield from instructions(parse(file.read()))
