"""A campaign: programs with consecutive numbers, kernel by kernel, over the available workers."""

from __future__ import annotations

from dataclasses import asdict, field, replace
from itertools import takewhile
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from ptxloom.campaigns import Killed, Share, carried_out
from ptxloom.dataclass import dataclass
from ptxloom.fuzzing.generate import A_KERNEL
from ptxloom.fuzzing.work import Result, Task, done, result_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ptxloom.campaigns import Shards, Workers


def tasks(asked: Task) -> Iterator[Task]:
    """The shares of a campaign: one per kernel of programs."""
    first, last = asked.cases.start, asked.cases.stop
    for start in range(first - first % A_KERNEL, last, A_KERNEL):
        yield replace(asked, cases=range(max(first, start), min(last, start + A_KERNEL)))


def said(asked: Task) -> dict[str, Any]:
    """What identifies a campaign, as JSON: everything except the number of programs and the path of ptxas."""
    jury = {name: value for name, value in asdict(asked.jury).items() if name != "ptxas"}
    shape = asdict(asked.shape)
    return {"seed": asked.seed, "shape": shape, "jury": jury, "idioms": sorted(asked.idioms), "only": asked.only}


def fuzzed(
    asked: Task, workers: Workers, shards: Shards | None = None, seconds: float | None = None
) -> Iterator[Result]:
    """Yield the results of a campaign's kernels as they arrive; stored ones are not computed again.

    Args:
        asked: The campaign.
        workers: The workers.
        shards: The folder of results.
        seconds: After this time no more kernels are started.
    """
    ends = inf if seconds is None else monotonic() + seconds
    kept = shards.done(lambda _, row: result_of(row)) if shards is not None else {}
    every = list(tasks(asked))
    yield from (kept[one.id] for one in every if one.id in kept)
    left = takewhile(lambda _: monotonic() < ends, (one for one in every if one.id not in kept))
    shares = (Share(one.id, one) for one in left)
    for share, result in carried_out(done, shares, workers):
        if isinstance(result, Killed):
            whose = f"programs {share.id}: the worker died: {result.why}"
            result = Result(0, 0, refused=(whose,))  # noqa: PLW2901 - stands for the lost result
        if shards is not None:
            shards.append(share.id, result.record())
        yield result


@dataclass(slots=True)
class Summary:
    """The result of a campaign.

    Attributes:
        programs: The number of programs that this machine ran.
        comparisons: Programs times judges.
        words: The number of 32-bit words compared.
        steps: The number of nodes of the programs.
        differ: The number of programs that differ.
        unread: The number of programs that the interpreter does not support.
        refused: The reasons of programs that did not run.
        findings: Programs that differ, shrunk: the first of each kernel.
    """

    programs: int = 0
    comparisons: int = 0
    words: int = 0
    steps: int = 0
    differ: int = 0
    unread: int = 0
    refused: list[str] = field(default_factory=list[str])
    findings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])


def summary(results: Iterable[Result]) -> Summary:
    """The sum of results."""
    found = Summary()
    for one in results:
        found.programs += one.programs
        found.comparisons += one.comparisons
        found.words += one.words
        found.steps += one.steps
        found.differ += one.differ
        found.unread += one.unread
        found.refused += one.refused
        found.findings += one.findings
    found.findings.sort(key=lambda one: one["case"])
    return found
