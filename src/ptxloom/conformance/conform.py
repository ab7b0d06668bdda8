"""Runs paths on a judge, over the available workers, and recomputes a judge's results on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.campaigns import Killed, Share, carried_out
from ptxloom.confirmed import BITS, is_recorded, level_of
from ptxloom.conformance.question import Question
from ptxloom.conformance.report import Report, verdict_of
from ptxloom.conformance.verdicts import Verdict
from ptxloom.conformance.waivers import waiver_of
from ptxloom.conformance.work import Task, done
from ptxloom.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ptxloom.campaigns import Shards, Workers
    from ptxloom.conformance.suite import Subject
    from ptxloom.conformance.waivers import Waiver

A_SHARE: Final = 16
"""The paths that a worker takes at once: one module for the judge's compiler."""


def asked(
    question: Question, paths: Sequence[Subject], workers: Workers, shards: Shards | None = None
) -> Iterator[Verdict]:
    """Yield the verdicts on paths as they arrive.

    Args:
        question: The question for each.
        paths: The paths.
        workers: The workers.
        shards: The folder of results; those found there are not computed again.
    """
    found = shards.done(_kept) if shards is not None else {}
    yield from (found[path.name] for path in paths if path.name in found)
    names = [path.name for path in paths if path.name not in found]
    shares = (Share(names[at], Task(question, tuple(names[at : at + A_SHARE]))) for at in range(0, len(names), A_SHARE))
    for share, result in carried_out(done, shares, workers):
        for verdict in _one_by_one(share.payload, workers) if isinstance(result, Killed) else result:
            if shards is not None:
                shards.append(verdict.path, verdict.record())
            yield verdict


def _kept(path: str, row: Any) -> Verdict:
    """Read a verdict from a campaign's folder; raises ValueError, among others, if it is not one on this path."""
    verdict = verdict_of(row)
    if verdict.path != path:
        raise ValueError(path)
    return verdict


def _one_by_one(task: Task, workers: Workers) -> Iterator[Verdict]:
    """Run the paths of a share that killed its worker one by one, so that only the guilty one is reported."""
    shares = (Share(name, Task(task.question, (name,))) for name in task.names)
    for share, result in carried_out(done, shares, workers):
        if isinstance(result, Killed):
            yield Verdict(share.id, task.question.cases, refused=f"the worker died: {result.why}")
        else:
            yield from result


@dataclass(frozen=True, slots=True)
class Verified:
    """A judge's report compared with this machine.

    Attributes:
        report: The report.
        unequal: Paths for which the judge's bits differ from this machine's.
        waived: Paths that differ in a known way, which the reported cases confirm.
        unknown: Paths that this version does not have, or does not run.
        new: Instructions that only this report confirms.
    """

    report: Report
    unequal: tuple[str, ...]
    waived: tuple[str, ...]
    unknown: tuple[str, ...]
    new: tuple[str, ...]


def verified(report: Report, paths: Sequence[Subject], workers: Workers) -> Verified:
    """Check a report with this machine's results for `paths`, all that the report's target has."""
    by_name = {path.name: path for path in paths}
    theirs = {one.path: one.digest for one in report.verdicts if one.digest}
    known = {one.path for one in report.verdicts if _is_waived(report, one)}
    wanted = [by_name[name] for name in theirs if name in by_name]
    question = Question("here", report.target, report.version, report.cases)
    ours = {one.path: one for one in asked(question, wanted, workers)}
    other = [name for name, one in sorted(ours.items()) if not one.refused and one.digest != theirs[name]]
    unknown = tuple(sorted(name for name in theirs if name not in ours or ours[name].refused))
    equal = {by_name[name].form.spelling for name in ours if name not in other and name not in unknown}
    waived, unequal = tuple(name for name in other if name in known), tuple(name for name in other if name not in known)
    same = is_recorded(report.target)
    new = (one for one in equal if report.judge == "gpu" and level_of(one, is_recorded_target=same) != BITS)
    return Verified(report, unequal, waived, unknown, tuple(sorted(new)))


def _is_waived(report: Report, verdict: Verdict) -> bool:
    """Whether all differences of a path in a report are waived, by a waiver that is accepted here."""
    waiver = waiver_of(verdict.path, report.driver, report.target, report.level)
    if report.judge != "gpu" or waiver is None or verdict.differ or verdict.waiver != waiver.id:
        return False
    return all(_shows(waiver, one.given, one.expected) for one in verdict.first)


def _shows(waiver: Waiver, given: tuple[str, ...], expected: tuple[str, ...]) -> bool:
    try:
        theirs, ours = (np.array([[int(word, 16) for word in words]], np.uint64) for words in (given, expected))
    except (ValueError, OverflowError):
        return False
    return theirs.shape == ours.shape and bool(waiver.waives(theirs, ours).all())
