"""Sums and maxima of many values within what a result is computed from: the statistics of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.diagnosis.origins.arithmetic import MULTIPLY, PASS, SUM, roles_of
from ptxloom.machine.results.provenance import Kind
from ptxloom.readings.computed import is_extreme, subtracts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.origins.tiles import Integers, Truth
    from ptxloom.machine.program.model import Program

ADDED, EXTREME = 1, 2
_NOT, _PASSED = 0, 3
_LEAST: Final = 8  # values that a statistic joins
_ADDEND: Final = 2
_ROUNDS: Final = 4 * _LEAST  # by which numbers up to the least have come through values that only pass them on


class Reductions:
    """Which values join many others by additions, or by maxima or minima.

    Args:
        nodes: What values were computed from.
        program: The instructions.

    Attributes:
        kind: (nodes,) `ADDED`, `EXTREME`, or 0.
        through: (nodes, 3) bool: which sources are of the same reduction.
        roots: (nodes,) bool: which values join at least eight others, and are used as a whole somewhere.
    """

    def __init__(self, nodes: NDArray[Any], program: Program) -> None:
        sources = nodes["sources"]
        made = np.where(sources["kind"] == Kind.COMPUTED, np.maximum(sources["node"], 0), 0)
        kinds, slots = _of_sites(nodes["site"][1:], program)
        kind, edges = kinds[nodes["site"]], slots[nodes["site"]]
        kind[0] = _NOT
        passed = kind == _PASSED
        for _ in range(_LEAST):
            if not passed.any():
                break
            kind[passed] = kind[made[passed, 0]]
            passed = kind == _PASSED
        kind[passed] = _NOT
        self.kind = kind
        self.through: Truth = edges & (made > 0) & (kind[made] == kind[:, None]) & (kind[:, None] != _NOT)
        self.roots = (_counted(sources["kind"], made, self.through, kind) >= _LEAST) & (kind != _NOT)
        inner = np.zeros(len(nodes), np.bool_)
        inner[made[self.through]] = True
        used = np.zeros(len(nodes), np.bool_)
        used[made[~self.through]] = True
        self.roots &= used | ~inner
        self.roots[0] = False


def _of_sites(sites: Integers, program: Program) -> tuple[Integers, Truth]:
    """(sites,) each instruction's kind of reduction, and (sites, 3) which of its sources continue the reduction."""
    different: list[int] = np.unique(sites).tolist()
    size = max(different, default=0) + 1
    kinds, slots = np.zeros(size, np.int64), np.zeros((size, 3), np.bool_)
    for site, role in roles_of(program, different).items():
        node = program.ops[site].node
        if is_extreme(node):
            kinds[site], slots[site] = EXTREME, True
        elif role.kind == SUM and not subtracts(node):
            kinds[site], slots[site] = ADDED, True
        elif role.kind == MULTIPLY and role.slots[_ADDEND] >= 0:
            kinds[site] = ADDED  # a sum may be scaled before more is added, as that of a softmax
            slots[site, [slot for slot in role.slots if slot >= 0]] = True
        elif role.kind == PASS:
            kinds[site], slots[site] = _PASSED, True
    return kinds, slots


def _counted(kinds: Integers, made: Integers, through: Truth, kind: Integers) -> Integers:
    """(nodes,) the number of values that each combines, capped at the least that makes a statistic."""
    own = np.count_nonzero((kinds != Kind.NONE) & ~through, axis=1)
    count = np.where(kind != _NOT, np.minimum(own, _LEAST), 0)
    for _ in range(_ROUNDS):
        more = np.minimum(own + (count[made] * through).sum(axis=1), _LEAST)
        more[kind == _NOT] = 0
        if (more == count).all():
            break
        count = more
    return count
