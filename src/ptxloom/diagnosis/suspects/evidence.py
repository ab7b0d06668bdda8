"""How the instructions of a kernel relate to the wrong elements: disturb each, and record what changes.

This is mutation-based fault localisation with Ochiai's coefficient: an instruction that affects all wrong elements and
few others is the likeliest; one that does not affect them all cannot mend them all.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np

from ptxloom.diagnosis.suspects.changes import Change, Rewrite, of_node
from ptxloom.diagnosis.suspects.parts import different
from ptxloom.diagnosis.suspects.sources import names_of, results_of
from ptxloom.machine.program.mentions import written
from ptxloom.meaning.moves import is_copy
from ptxloom.readings.effects import loads, multiplies, stores, updates_memory
from ptxloom.syntax import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.trials import Judged
    from ptxloom.machine.program.model import Op
    from ptxloom.machine.program.symbols import Register

_UNKNOWN: Final = 0.5  # the score of what could not be disturbed
_FLOATS: Final = (  # a factor and an addend: one way or the other comes through a maximum or a minimum
    {32: ("0f3FC00000", "0f3E800000"), 64: ("0d3FF8000000000000", "0d3FD0000000000000")},
    {32: ("0fBFC00000", "0fBE800000"), 64: ("0dBFF8000000000000", "0dBFD0000000000000")},
)
WAYS: Final = len(_FLOATS)  # to disturb an instruction
_HALVES: Final = "0x02000200"  # bits of two mantissas


def disturbed(op: Op, way: int) -> Rewrite | None:
    """The instruction with different results, or one that does not store or add; None if it has no result to change."""
    if stores(op.node) or updates_memory(op.node):
        return None if way else Rewrite(())
    own = of_node(op.node).lines
    lines = [line for name, register in _results(op) for line in _other(op, name, register, way)]
    return Rewrite((*own, *lines)) if lines else None


def _counters(ops: Sequence[Op]) -> set[tuple[int, str]]:
    """Integer registers that several instructions write, or that are copied to such, by function and name."""
    writers = Counter(key for op in ops for key in _whole_numbers(op))
    found = {one for one, count in writers.items() if count > 1}
    for op in ops:
        if is_copy(op) and not found.isdisjoint(_whole_numbers(op)):
            read = ((op.function.number, name) for name in names_of(op))
            found.update(one for one in read if one in writers)
    return found


def _whole_numbers(op: Op) -> list[tuple[int, str]]:
    return [(op.function.number, name) for name, one in results_of(op) if one.type.kind not in "fp"]


def _results(op: Op) -> list[tuple[str, Register]]:
    results, first = written(op), op.operands[0] if op.operands else None
    names = first.elements if isinstance(first, tree.Vector) else (first,)
    texts = [one.text for one in names if isinstance(one, tree.Name)]
    return list(zip(texts, results, strict=True)) if len(texts) == len(results) else []


def _other(op: Op, name: str, register: Register, way: int) -> list[str]:
    kind, bits = register.type.kind, register.type.bits
    if kind == "f" and bits in _FLOATS[way]:
        factor, added = _FLOATS[way][bits]
        return [f"fma.rn.f{bits} {name}, {name}, {factor}, {added};"]
    if kind == "p" or way or bits not in (16, 32, 64):
        return []
    if bits == 16:
        return [f"xor.b16 {name}, {name}, 0x0200;"]
    packed = bits == 32 and (loads(op.node) or multiplies(op.node)) and op.types and op.type.kind == "b"
    return [f"xor.b{bits} {name}, {name}, {_HALVES if packed else {32: '1', 64: '4'}[bits]};"]


class Evidence:
    """What each instruction affects.

    Args:
        before: The kernel's results.
    """

    def __init__(self, before: Judged) -> None:
        self._before = before
        self._reached: dict[int, NDArray[np.bool_]] = {}

    @staticmethod
    def changes(ops: Iterable[Op], line_of: Mapping[int, object]) -> list[Change]:
        """The disturbances to try; equal instructions of one line are disturbed together.

        Possible loop counters are left alone: a disturbed loop might never end.
        """
        alike: dict[object, list[tuple[Op, Rewrite]]] = {}
        ops = list(ops)
        counters = _counters(ops)
        for op in ops:
            if not counters.isdisjoint(_whole_numbers(op)):
                continue
            for way in range(WAYS):
                if (new := disturbed(op, way)) is not None:
                    alike.setdefault((line_of.get(op.site) or op.site, op.spelling, way), []).append((op, new))
        return [Change("", "", tuple(several)) for several in alike.values()]

    def note(self, sites: Sequence[int], after: Judged) -> None:
        """Record what changed when the instructions at these sites were disturbed."""
        if after.ran:
            other = different(after.values, self._before.values)
            for site in sites:
                self._reached[site] = self._reached.get(site, False) | other

    def reached(self, op: Op) -> NDArray[np.bool_] | None:
        """(elements of all compared arrays,) what becomes different if it is disturbed; None if that was not tried."""
        return self._reached.get(op.site)

    def score(self, change: Change) -> float:
        """Ochiai's coefficient of a change's instructions; lowered if they seem not to affect all wrong elements."""
        op, wrong = change.op, self._before.wrong
        reached = self._reached.get(op.site)
        if reached is None:
            return _UNKNOWN
        wrong = wrong & (reached | np.isfinite(self._before.values))  # what is no number may remain so
        both = int(np.count_nonzero(reached & wrong))
        all_wrong = int(np.count_nonzero(wrong))
        if not all_wrong:
            return _UNKNOWN
        if not both:
            return 0.0
        share = both / all_wrong if _computes(op) else 1.0
        return share * both / (all_wrong * int(np.count_nonzero(reached))) ** 0.5


def _computes(op: Op) -> bool:
    """Whether everything that an instruction can mend is computed from its results: they are loaded, or not indices."""
    results = written(op)
    if stores(op.node) or updates_memory(op.node) or not results:
        return False
    return loads(op.node) or multiplies(op.node) or all(one.type.kind == "f" for one in results)
