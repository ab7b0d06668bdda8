"""Which instructions begin a block: those whose rows wait for lanes, or say that lanes have come, and no others."""

from __future__ import annotations

from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from ptxloom.machine import semantics
from ptxloom.machine.codegen import convergence

if TYPE_CHECKING:
    from collections.abc import Iterator

MEETS = (convergence.aligned, convergence.converge, convergence.arrive)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inside in code.co_consts:
        if isinstance(inside, CodeType):
            yield from _names(inside)


def _reached(first: FunctionType) -> set[object]:
    """What a function names, with what functions and classes of its own module name that it reaches."""
    known: set[object] = set()
    waiting: list[object] = [first]
    while waiting:
        one = waiting.pop()
        if one in known:
            continue
        known.add(one)
        if isinstance(one, type) and one.__module__ == first.__module__:
            waiting += [each for each in vars(one).values() if isinstance(each, FunctionType)]
        elif isinstance(one, FunctionType) and one.__module__ == first.__module__:
            named = (one.__globals__.get(name) for name in _names(one.__code__))
            waiting += [each for each in named if isinstance(each, FunctionType | type)]
    return known


def test_what_waits_for_lanes_begins_a_block_and_nothing_else_does() -> None:
    rows = [(opcode, row) for opcode, family in semantics.ROWS.items() for row in family]
    wrong = [
        (opcode, row.build.__qualname__)
        for opcode, row in rows
        if isinstance(row.build, FunctionType) and row.starts == _reached(row.build).isdisjoint(MEETS)
    ]
    assert wrong == []
    assert sum(row.starts for _, row in rows) >= 29
