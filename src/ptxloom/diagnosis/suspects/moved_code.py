"""Whose line is named for an instruction that a compiler moved: out of a loop, it has lost its own."""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from ptxloom.diagnosis.suspects.sources import names_of, results_of
from ptxloom.machine.program.mentions import written
from ptxloom.readings.effects import loads, stores, updates_memory
from ptxloom.solver import nearest
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.machine.program.model import Op, Program
    from ptxloom.machine.program.symbols import Register

_ADDRESS_BITS: Final = 64
_MOST: Final = 64  # instructions that are followed


def told_at(op: Op, program: Program) -> Op:
    """The instruction whose source line is named for another.

    It is that itself if its line is recorded, or if no line is. Else it is the first that takes its result, directly
    or by others; where an address is computed, the first that accesses memory there.
    """
    if home_line(program.module, op.node.start) is not None:
        return op
    readers = _readers(program.ops)
    ops = {one.site: one for one in program.ops}

    def users(site: int) -> Iterator[int]:
        function = ops[site].function.number
        return (other.site for name, _ in results_of(ops[site]) for other in readers[function, name])

    named: Op | None = None
    for site in islice(nearest((op.site,), users), 1, _MOST):
        one = ops[site]
        if home_line(program.module, one.node.start) is not None:
            if _accesses(one) or not any(_is_address(each) for each in written(one)):
                return one
            named = named or one
    return named or op


def _readers(ops: Iterable[Op]) -> defaultdict[tuple[int, str], list[Op]]:
    """The instructions that read each register and do not write it, by function and name."""
    found: defaultdict[tuple[int, str], list[Op]] = defaultdict(list)
    for op in ops:
        results = {name for name, _ in results_of(op)}
        for name in names_of(op):
            if name not in results:
                found[op.function.number, name].append(op)
    return found


def _accesses(op: Op) -> bool:
    return loads(op.node) or stores(op.node) or updates_memory(op.node)


def _is_address(register: Register) -> bool:
    return register.type.kind not in "fp" and register.type.bits == _ADDRESS_BITS
