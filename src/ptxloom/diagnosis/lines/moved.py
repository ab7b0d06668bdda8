"""Loads that a compiler moved: the line that it writes for them is that of the code around their new place.

A `.loc` holds until the next one, and moved code gets none. So a load that shares no data with the instructions of its
line before it, and is not the first of them, belongs to another line: that of the instruction that uses its result.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

from ptxloom.binding.effects import destinations
from ptxloom.diagnosis.lines.addresses import made_of, readers_of
from ptxloom.machine.analysis.definite_assignment import names_read
from ptxloom.readings.effects import copies, loads
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ptxloom.machine.program.model import Op, Program

_MOST: Final = 32  # instructions of a line that are examined


def where_used(op: Op, program: Program) -> Op:
    """The first instruction that uses a load's result, if only its place gives the load its line; else the load itself.

    Args:
        op: The load; others are returned as they are.
        program: Their program.
    """
    line = home_line(program.module, op.node.start)
    if line is None or not loads(op.node):
        return op

    def same(one: Op) -> bool:
        return one.function is op.function and home_line(program.module, one.node.start) == line

    before = list(takewhile(same, reversed(program.ops[max(op.site - _MOST, 0) : op.site])))
    after = list(takewhile(same, program.ops[op.site + 1 : op.site + 1 + _MOST]))
    results = {name.text for name, _ in destinations(op.node)}
    if not before or _share(before, made_of(op, program)) or any(loads(one.node) or copies(one.node) for one in before):
        return op
    if any(read.text in results for one in after for _, read in names_read(one)):
        return op
    users = [user for name in sorted(results) for user in readers_of(op, name, program)]
    lines = {home_line(program.module, user.node.start) for user in users}
    return users[0] if len(lines) == 1 and None not in lines else op


def _share(ops: Iterable[Op], makers: Iterable[Op]) -> bool:
    return not set(ops).isdisjoint(makers)


def shared_index(ops: Sequence[Op], program: Program) -> Op | None:
    """The instruction, on another line, that computes what the addresses of several loads have in common.

    It is the one nearest to the loads; None if they share no such computation.
    """
    makers = [made_of(op, program) for op in ops]
    lines = {home_line(program.module, op.node.start) for op in ops}
    common = [one for one in makers[0] if all(one in each for each in makers[1:])] if makers else []
    told = ((one, home_line(program.module, one.node.start)) for one in common)
    return next((one for one, line in told if line is not None and line not in lines and not _is_counter(one)), None)


def _is_counter(op: Op) -> bool:
    """Whether an instruction advances what it reads, as loops do."""
    written = {name.text for name, _ in destinations(op.node)}
    return any(read.text in written for _, read in names_read(op))
