"""Barriers that are missing between accesses that race, or that not all threads reach; waits that end too early."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from ptxloom.diagnosis.suspects.changes import Change, Rewrite, of_node
from ptxloom.diagnosis.suspects.confusions import meant
from ptxloom.flow import flow_graph
from ptxloom.meaning.effects import Reach
from ptxloom.readings.effects import meets
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.machine.program.model import Op, Program

CAUSE: Final = "missing-barrier"
_BARRIER: Final = "bar.sync 0;"
_MOST: Final = 96  # places where one is tried


class _Place(NamedTuple):
    """Where an instruction may be inserted: ahead of another or behind it, which every thread there executes."""

    op: Op
    ahead: bool

    def with_more(self, line: str) -> tuple[Op, Rewrite]:
        own = of_node(self.op.node).lines
        return self.op, Rewrite((line, *own) if self.ahead else (*own, line))


def barriers(sides: Sequence[Op], program: Program) -> Iterator[Change]:
    """One more barrier, one that is elsewhere, or a wait for more copies.

    Args:
        sides: The instructions whose order a tool misses.
        program: Theirs.
    """
    for number in dict.fromkeys(op.function.number for op in sides):
        own = [op for op in program.ops if op.function.number == number]
        named = next(op for op in sides if op.function.number == number)
        near = [place for op in sides if op.function.number == number for place in _beside(op, own)]
        places = list(dict.fromkeys((*near, *_everywhere(own))))[:_MOST]
        for rank, place in enumerate(places):
            where = f"a barrier {_words(place)}"
            yield Change(CAUSE, where, (place.with_more(_BARRIER),), rank >= len(near), told=named, entire=True)
        for op in own:
            yield from _moved(op, places)
            yield from _waits(op)


def _moved(op: Op, places: Sequence[_Place]) -> Iterator[Change]:
    """A barrier, or the end of a group of copies, at another place."""
    if meets(op.node) < Reach.CTA and not re.fullmatch(meant("groups")[0]["end"], op.node.spelling):
        return
    line = of_node(op.node).lines[0]
    for place in places:
        if place.op is not op:
            what = f"`{line.rstrip(';')}` {_words(place)}"
            yield Change(CAUSE, what, ((op, Rewrite(())), place.with_more(line)), 1, entire=True)


def _waits(op: Op) -> Iterator[Change]:
    """A wait for groups of copies that leaves fewer of them unfinished."""
    if re.fullmatch(meant("groups")[0]["wait"], op.node.spelling):
        for place, operand in enumerate(op.operands):
            if isinstance(operand, tree.Integer):
                for number in range(operand.value):
                    operands = (*op.operands[:place], tree.Integer(number), *op.operands[place + 1 :])
                    new = of_node(op.node.replace(operands=operands))
                    what = f"{number} in place of {operand.value} groups of copies that may be unfinished"
                    yield Change("wrong-constant", what, ((op, new),), 0, entire=True)


def _words(place: _Place) -> str:
    return f"{'ahead of' if place.ahead else 'behind'} PTX line {place.op.line}"


def _beside(op: Op, own: Sequence[Op]) -> Iterator[_Place]:
    """Ahead of an instruction and behind it; where it has a guard, as near as all threads come."""
    block = [one for one in own if one.node.start in _starts(op)]
    at = block.index(op) if op in block else 0
    before = next((one for one in reversed(block[: at + 1]) if one.node.predicate is None), None)
    after = next((one for one in block[at:] if one.node.predicate is None), None)
    if before is not None:
        yield _Place(before, ahead=before is op)
    if after is not None:
        yield _Place(after, ahead=after is not op)


def _starts(op: Op) -> set[int]:
    block = flow_graph(op.function.node).block_at(op.node.start)
    return set() if block is None else {one.start for one in block.instructions}


def _everywhere(own: Sequence[Op]) -> Iterator[_Place]:
    """At the start and the end of each block."""
    by_start = {op.node.start: op for op in own}
    for block in flow_graph(own[0].function.node).blocks:
        inside = [by_start[one.start] for one in block.instructions if one.start in by_start]
        plain = [op for op in inside if op.node.predicate is None]
        if plain:
            yield _Place(plain[0], ahead=True)
            yield _Place(plain[-1], ahead=plain[-1] is inside[-1])
