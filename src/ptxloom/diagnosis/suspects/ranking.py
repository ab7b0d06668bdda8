"""The lines that go best with what is wrong, where no change mends all of it: they are suspected, and no more.

Two kinds of evidence: what becomes different when an instruction is disturbed (Ochiai's coefficient over elements),
and what a change makes right and wrong: a mistake is likely where a change mends many elements and spoils few.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ptxloom.diagnosis.suspects.moved_code import told_at
from ptxloom.meaning.moves import is_copy
from ptxloom.readings.effects import stores
from ptxloom.syntax.places import home_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.diagnosis.suspects.evidence import Evidence
    from ptxloom.diagnosis.suspects.trials import Judged
    from ptxloom.machine.program.model import Op, Program

_LEAST: Final = 0.1  # of a score
_PLAIN: Final = 0.8  # of the score of what computes nothing: it stores, copies, or reads a parameter
_LEAST_MENDED: Final = 0.1  # of the wrong elements, that a change must mend to speak for its line


class Suspected(NamedTuple):
    """A line that goes with what is wrong.

    Attributes:
        op: Its instruction.
        score: How well, the more the better.
        reached: How many of the wrong elements become others if the instruction is disturbed.
        beside: How many of the others.
        mended: How many of the wrong elements its best change makes right.
        change: That change; None if no change makes any right.
    """

    op: Op
    score: float
    reached: int
    beside: int
    mended: int = 0
    change: Change | None = None


class Ranking:
    """What the trials of changes say of the lines.

    Args:
        wrong: (elements of all compared arrays,) which are wrong with no change, of those that trials show.
        others: (elements of all compared arrays,) which are right, of those.
    """

    def __init__(self, wrong: NDArray[np.bool_], others: NDArray[np.bool_]) -> None:
        self._wrong = wrong
        self._others = others
        self._best: dict[int, tuple[float, int, Change]] = {}

    def note(self, change: Change, after: Judged) -> None:
        """Note what a change made right and wrong."""
        if not after.ran:
            return
        mended = int(np.count_nonzero(self._wrong & ~after.wrong))
        if not mended:
            return
        spoilt = int(np.count_nonzero(self._others & after.wrong))
        share = mended / int(np.count_nonzero(self._wrong))
        score = share - spoilt / max(int(np.count_nonzero(self._others)), 1)
        site = change.op.site
        if share >= _LEAST_MENDED and score > 0 and (site not in self._best or score > self._best[site][0]):
            self._best[site] = score, mended, change

    def suspected(self, ops: Sequence[Op], evidence: Evidence, program: Program) -> list[Suspected]:
        """The best instruction of each line, the best line first."""
        lines: dict[object, Suspected] = {}
        for op in ops:
            one = self._of(op, evidence)
            if one is not None and one.score >= _LEAST:
                named = told_at(op, program)
                line = home_line(program.module, named.node.start) or named.line
                if line not in lines or one.score > lines[line].score:
                    lines[line] = one._replace(op=named)
        return sorted(lines.values(), key=lambda one: (-round(one.score, 2), -one.op.site))

    def _of(self, op: Op, evidence: Evidence) -> Suspected | None:
        reached = evidence.reached(op)
        best = self._best.get(op.site)
        if reached is None and best is None:
            return None
        both = beside = 0
        score = 0.0
        if reached is not None:
            both = int(np.count_nonzero(reached & self._wrong))
            beside = int(np.count_nonzero(reached & self._others))
            score = both / max(int(np.count_nonzero(self._wrong)) * (both + beside), 1) ** 0.5
        if stores(op.node) or is_copy(op) or op.has("param"):
            score *= _PLAIN
        if best is None:
            return Suspected(op, score, both, beside)
        return Suspected(op, score + best[0], both, beside, best[1], best[2])
