"""Which registers an instruction writes or mentions, and the label to which it may branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ptxloom.binding.effects import destinations
from ptxloom.machine.program.symbols import BlockLabel, BranchTable, Register
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.program.model import Op


def written(op: Op) -> list[Register]:
    """The registers an instruction writes, parts of them too."""
    named = (op.scope.find(name.text) for name, _ in destinations(op.node))
    return [found for found in named if isinstance(found, Register)]


def mentioned(op: Op, operands: Sequence[tree.Operand] | None = None) -> list[Register]:
    """Every register in the operands (by default all) and the predicate of an instruction, the last one first."""
    find = op.scope.find
    predicate = op.node.predicate
    found = [] if predicate is None else [find(predicate.name)]
    for operand in reversed(op.operands if operands is None else operands):
        if type(operand) is tree.Name:  # as most are
            found.append(find(operand.text))
        else:
            found += [find(name) for name in _names(operand)]
    return [one for one in found if isinstance(one, Register)]


def _names(operand: tree.Operand) -> Iterator[str]:
    waiting: list[object] = [operand]
    while waiting:
        node = waiting.pop()
        if isinstance(node, tree.Name):
            yield node.text
        elif isinstance(node, tuple):
            waiting.extend(cast("tuple[object, ...]", node))  # nodes are tuples of their fields


def destination(op: Op) -> BlockLabel | BranchTable | None:
    """The label or the list of labels to which an instruction may branch."""
    labels = (op.scope.label(operand.text) for operand in op.operands if isinstance(operand, tree.Name))
    return next((found for found in labels if isinstance(found, (BlockLabel, BranchTable))), None)
