"""Values that are not set again: what a loop carries on from turn to turn is given its first value at each turn."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.changes import Change, Rewrite, of_node
from ptxloom.diagnosis.suspects.sources import names_in, results_of
from ptxloom.flow import flow_graph
from ptxloom.meaning.moves import is_copy
from ptxloom.syntax import print_operand, tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.program.model import Op
    from ptxloom.machine.program.symbols import Register

CAUSE: Final = "wrong-operand"
_MOST: Final = 400  # changes that are made
_ZERO: Final = {("f", 32): "0f00000000", ("f", 64): "0d0000000000000000"}
_LEAST: Final = {("f", 32): "0fFF800000"}  # which a maximum begins with


def resets(ops: Sequence[Op]) -> Iterator[Change]:
    """The changes by which a register has its first value again whenever a turn of a loop begins.

    The first value is the literal that it gets ahead of the loop; without one it is 0. Each is reported where the loop
    first reads the register.

    Args:
        ops: The instructions of the kernel, in order.
    """
    made = 0
    for function in {op.function.number: op.function for op in ops}.values():
        own = [op for op in ops if op.function.number == function.number]
        graph = flow_graph(function.node)
        for loop in graph.loops:
            head = next(iter(graph.blocks[loop.header].instructions), None)
            starts = {one.start for block in loop.blocks for one in graph.blocks[block].instructions}
            first = next((op for op in own if head is not None and op.node.start == head.start), None)
            if first is None:
                continue
            for change in _of_loop(first, [op for op in own if op.node.start in starts], own, starts):
                made += 1
                if made > _MOST:
                    return
                yield change


def _of_loop(head: Op, inside: Sequence[Op], own: Sequence[Op], starts: set[int]) -> Iterator[Change]:
    writers: defaultdict[str, list[Op]] = defaultdict(list)
    registers: dict[str, Register] = {}
    for op in own:
        for name, register in results_of(op):
            writers[name].append(op)
            registers[name] = register
    for name, several in writers.items():
        register = registers[name]
        ahead = [op for op in several if op.node.start not in starts]
        if not ahead or len(ahead) == len(several):
            continue
        readers = [op for op in inside if name in _read(op) and not is_copy(op)]
        if not readers:
            continue
        for value in _values(ahead, register):
            kind = "f" if register.type.kind == "f" else "b"
            move = f"mov.{kind}{register.type.bits} {name}, {value};"
            lines = Rewrite((move, *of_node(head.node).lines))
            what = f"`{name}` set to {_said(value)} whenever a turn of the loop at line {head.line} begins"
            yield Change(CAUSE, what, ((head, lines),), 1, key=(name, value, head.site), told=readers[0])


def _read(op: Op) -> set[str]:
    return {name for one in op.operands[1:] for name in names_in(one)}


def _values(ahead: Sequence[Op], register: Register) -> list[str]:
    """The literals that a register gets ahead of a loop, and 0."""
    kind = "f" if register.type.kind == "f" else "b", register.type.bits
    if register.type.kind == "p" or register.type.bits not in (32, 64):
        return []
    literals = [
        print_operand(op.operands[1])
        for op in ahead
        if is_copy(op) and len(op.operands) > 1 and isinstance(op.operands[1], tree.Integer | tree.Float)
    ]
    return list(dict.fromkeys((*literals, _ZERO.get(kind, "0"), *([_LEAST[kind]] if kind in _LEAST else []))))


def _said(value: str) -> str:
    return {"0f00000000": "0", "0d0000000000000000": "0", "0fFF800000": "-inf"}.get(value, value)
