"""Series of registers (PTX ISA 5.5): the members of `.reg .b32 %r<3000000>;` that are mentioned, in any spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.names import index_of, stem_of
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Mentioned:
    """The members of series that some functions may mention."""

    def __init__(self, functions: Iterable[tree.Function]) -> None:
        self._indices: dict[str, set[int]] = {}
        for name in {name for function in functions for name in _names(function)}:
            stem = stem_of(name)
            index = index_of(name, stem)
            if index >= 0:
                self._indices.setdefault(stem, set()).add(index)

    def members(self, declarator: tree.Declarator) -> list[str]:
        """The names of a declarator that may be mentioned, in order."""
        if declarator.count is None:
            return [declarator.name]
        indices = (index for index in self._indices.get(declarator.name, ()) if index < declarator.count)
        return [f"{declarator.name}{index}" for index in sorted(indices)]


def _names(function: tree.Function) -> Iterator[str]:
    """The names in a function's instructions."""
    waiting: list[tree.Statement] = [] if function.body is None else [function.body]
    while waiting:
        match waiting.pop():
            case tree.Block(statements=statements):
                waiting += statements
            case tree.Instruction(predicate, _, _, operands):
                if predicate is not None:
                    yield predicate.name
                for operand in operands:
                    if type(operand) is tree.Name:
                        yield operand.text
                    else:
                        yield from (node.text for node in walk(operand) if type(node) is tree.Name)
            case _:
                pass
