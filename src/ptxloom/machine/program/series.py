"""Series of registers (PTX ISA 5.5): of `.reg .b32 %r<3000000>;` those that are mentioned, however they are spelled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ptxloom.binding.names import index_of, stem_of
from ptxloom.syntax import tree
from ptxloom.syntax.visitor import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Mentioned:
    """The members of series that some functions may mention.

    Attributes:
        respelled: By names with needless zeros (`%r01`): the name of the same register without them.
    """

    def __init__(self, functions: Iterable[tree.Function]) -> None:
        self.respelled: dict[str, str] = {}
        self._indices: dict[str, set[int]] = {}
        for name in {name for function in functions for name in _names(function)}:
            stem = stem_of(name)
            index = index_of(name, stem)
            if index >= 0:
                self._indices.setdefault(stem, set()).add(index)
                if name != f"{stem}{index}":
                    self.respelled[name] = f"{stem}{index}"

    def members(self, declarator: tree.Declarator) -> list[str]:
        """The names that a declarator declares and somebody may mention, in order."""
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


def renamed(instruction: tree.Instruction, names: dict[str, str]) -> tree.Instruction:
    """An instruction with other names for some."""
    predicate = instruction.predicate
    if predicate is not None and predicate.name in names:
        predicate = predicate.replace(name=names[predicate.name])
    operands = tuple(_renamed(operand, names) for operand in instruction.operands)
    return instruction.replace(predicate=predicate, operands=operands)


def _renamed(operand: tree.Operand, names: dict[str, str]) -> tree.Operand:  # noqa: PLR0911 - one case a node
    match operand:
        case tree.Name(text=text) if text in names:
            return operand.replace(text=names[text])
        case tree.Component(base=base) | tree.Address(base=base):
            return operand.replace(base=_renamed(base, names))
        case tree.Vector(elements=elements) | tree.Arguments(elements=elements):
            return operand.replace(elements=tuple(_renamed(one, names) for one in elements))
        case tree.Pair(first=first, second=second):
            return operand.replace(first=_renamed(first, names), second=_renamed(second, names))
        case tree.Indexed(index=index):
            return operand.replace(index=_renamed(index, names))
        case tree.Unary(operand=inner):
            return operand.replace(operand=_renamed(inner, names))
        case tree.Binary(left=left, right=right):
            return operand.replace(left=_renamed(left, names), right=_renamed(right, names))
        case _:
            return operand
