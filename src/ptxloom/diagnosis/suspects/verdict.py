"""The results of the search as diagnoses: the lines whose change makes the whole result right."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.diagnosis.model import Diagnosis, Repair
from ptxloom.diagnosis.pictures import Picture
from ptxloom.diagnosis.suspects.changes import guard_of
from ptxloom.diagnosis.suspects.moved_code import told_at
from ptxloom.machine.kernel import Kernel
from ptxloom.machine.program.unsupported import UnsupportedInstruction
from ptxloom.syntax.places import origins_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis.suspects.changes import Change
    from ptxloom.diagnosis.suspects.ranking import Suspected
    from ptxloom.diagnosis.suspects.search_outcome import Found
    from ptxloom.diagnosis.suspects.trials import Trials
    from ptxloom.machine.program.model import Program

LAW: Final = "reference"
_MOST_LINES: Final = 3  # of the source, that are named
_MOST_CONFIRMED: Final = 4  # changes of a line whose repairs are tried
_SHOWN: Final = 16  # rows and columns of a picture
_LEAST: Final = 4  # elements that a change must mend for its line to be suspected


def diagnoses(found: Found, trials: Trials) -> list[Diagnosis]:
    """A diagnosis for each line whose change mends the whole result; else one for the line that mends the most.

    They are never certain: a change that mends everything shows where to mend the result, not the intention.

    Args:
        found: The result of the search.
        trials: Those of the search.
    """
    program = trials.kernel.program
    several: defaultdict[object, list[Change]] = defaultdict(list)
    for one in found.mends:
        several[_line(one, program)].append(one)
    groups = [sorted(group, key=lambda one: (one.likelihood, -len(one.rewrites))) for group in several.values()]
    ordered = _confirmed(sorted(groups, key=_likelihood), trials)
    wrong = int(np.count_nonzero(found.before.wrong))
    if ordered:
        return [
            _diagnosis(
                group[0],
                _mended(group, found, alone=len(ordered) == 1, hazards=bool(trials.hazards)),
                found,
                trials,
                first=n == 0,
            )
            for n, group in enumerate(ordered[:_MOST_LINES])
        ]
    for mended, change in found.nearly[:1]:
        if mended >= _LEAST and 2 * mended >= wrong:
            detail = f"with {change.what} {mended:,} of the {wrong:,} wrong elements would be right, and none wrong"
            first = _diagnosis(change, detail, found, trials, first=True)
            others = [one for one in found.suspected if one.op.line != first.line][: _MOST_LINES - 1]
            return [first, *(_suspicion(one, found, trials, first=False) for one in others)]
    return [_suspicion(one, found, trials, first=n == 0) for n, one in enumerate(found.suspected[:_MOST_LINES])]


def _suspicion(one: Suspected, found: Found, trials: Trials, *, first: bool) -> Diagnosis:
    """A line that only goes with what is wrong."""
    program = trials.kernel.program
    beside = f" and {one.beside:,} of the others" if one.beside else " and no other"
    reached = f"what is computed here reaches {one.reached:,} wrong elements{beside}"
    detail = f"suspected: no change that was tried mends all; {reached}"
    if one.change is not None:
        detail += f"; with {one.change.what} {one.mended:,} would be right"
    return Diagnosis(
        law=LAW,
        operand="",
        array=" and ".join(trials.names),
        cause="unknown",
        detail=detail,
        certain=False,
        others=(),
        line=one.op.line,
        instruction=one.op.text,
        origin=origins_in(program.module).at(one.op.node.start),
        lines=(one.op.line,),
        wrong=int(np.count_nonzero(found.before.wrong)),
        total=found.before.wrong.size,
        picture=_picture(found, trials) if first else None,
        alternative=not first,
    )


def _likelihood(group: list[Change]) -> tuple[float, int, int]:
    """Sort key: the likeliest first, then the one with the most changes in its favour, then the last."""
    return round(group[0].likelihood, 1), -len(group), -group[0].op.site


def _confirmed(groups: list[list[Change]], trials: Trials) -> list[list[Change]]:
    """The first groups, each from the first change on that mends the whole result by itself, as its repair is written.

    In a loop, the trial may have used another register than the repair names.
    """
    found: list[list[Change]] = []
    for group in groups:
        first = next((n for n, one in enumerate(group[:_MOST_CONFIRMED]) if _mends(one, trials)), None)
        if first is not None:
            found.append([group[first], *group[:first], *group[first + 1 :]])
        if len(found) == _MOST_LINES:
            break
    return found


def _mends(change: Change, trials: Trials) -> bool:
    """Whether the repair of a change mends the whole result."""
    own = trials.kernel
    try:
        made = Kernel(_repair(change, own.program).apply(), own.name, own.needs.target, unchecked=True)
    except UnsupportedInstruction:
        return False
    after = trials.run(made)
    return after.ran and not after.wrong.any()


def _repair(change: Change, program: Program) -> Repair:
    edits = ((op.node, " ".join(new.guarded(guard_of(op.node)))) for op, new in change.rewrites)
    return Repair(program.module, tuple(edits))


def _line(change: Change, program: Program) -> object:
    named = told_at(change.op, program)
    origin = origins_in(program.module).at(named.node.start)
    return named.line if origin is None else origin.home


def _mended(group: list[Change], found: Found, *, alone: bool, hazards: bool) -> str:
    change = group[0]
    count = f" in {len(change.rewrites)} instructions" if len(change.rewrites) > 1 else ""
    others = "" if alone else "; so it would be with a change of another line"
    if alone and found.is_complete:
        others = "; no other line would do"
    silent = "no tool finds anything, and " if hazards else ""
    tried = f"{found.tried:,} changes were tried" + ("" if found.is_complete else ", but not all")
    return f"with {change.what}{count} {silent}the whole result is right{others} ({tried})"


def _diagnosis(change: Change, detail: str, found: Found, trials: Trials, *, first: bool) -> Diagnosis:
    program = trials.kernel.program
    return Diagnosis(
        law=LAW,
        operand="",
        array=" and ".join(trials.names),
        cause=change.cause,
        detail=detail,
        certain=False,
        others=(),
        line=change.op.line,
        instruction=change.op.text,
        origin=origins_in(program.module).at(told_at(change.op, program).node.start),
        lines=tuple(dict.fromkeys(op.line for op, _ in change.rewrites)),
        wrong=int(np.count_nonzero(found.before.wrong)),
        total=found.before.wrong.size,
        repair=_repair(change, program),
        picture=_picture(found, trials) if first else None,
        alternative=not first,
        silences=bool(trials.hazards),
    )


def _picture(found: Found, trials: Trials) -> Picture | None:
    """The part of the first wrong array that holds the most wrong elements, with its values."""
    at = 0
    for name, array, wanted in trials.compared:
        wrong = found.before.wrong[at : at + array.size].reshape(array.shape)
        at += array.size
        if wrong.any() and array.ndim:
            return _of_array(name, found.before.values[at - array.size : at].reshape(array.shape), wanted, wrong)
    return None


def _of_array(name: str, got: NDArray[Any], wanted: NDArray[Any], wrong: NDArray[np.bool_]) -> Picture:
    flat = [one.reshape(-1, one.shape[-1]) for one in (got, wanted, wrong)]
    rows, columns = flat[2].shape
    worst = int(np.argmax(flat[2].sum(axis=1)))
    top = max(min(worst, rows - _SHOWN), 0)
    first = int(np.argmax(flat[2][worst]))
    left = max(min(first, columns - _SHOWN), 0)
    part = [one[top : top + _SHOWN, left : left + _SHOWN] for one in flat]
    words: list[str] = []
    held, meant = np.zeros((*part[0].shape, 1), np.int64), np.zeros((*part[0].shape, 1), np.int64)
    for index in np.ndindex(part[0].shape):
        words.append(f"{part[0][index]:.5g}")
        held[index] = meant[index] = len(words) - 1
        if part[2][index]:
            words.append(f"{part[1][index]:.5g}")
            meant[index] = len(words) - 1
    named = [tuple(str(start + n) for n in range(size)) for start, size in zip((top, left), part[0].shape, strict=True)]
    return Picture(
        f"{name}: as it is | as it should be", held, meant, named[0], named[1], tuple(words), ("row", "column")
    )
