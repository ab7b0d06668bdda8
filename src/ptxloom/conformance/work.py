"""One share of a campaign: paths by name, a judge by name; a pure function of them, for a worker of any executor."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ptxloom.conformance.gpu import Driver, GpuError, Lacking
from ptxloom.conformance.ptxas import assembled
from ptxloom.conformance.suite import cases_of, run_here, suite
from ptxloom.conformance.verdicts import Verdict, compared, digest
from ptxloom.conformance.waivers import waiver_of
from ptxloom.dataclass import dataclass
from ptxloom.diagnostics import PtxloomError
from ptxloom.isa.target import Target
from ptxloom.isa.version import PtxVersion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ptxloom.conformance.inputs import Words
    from ptxloom.conformance.question import Question
    from ptxloom.conformance.suite import Subject


@dataclass(frozen=True, slots=True)
class Task:
    """The work of a worker: a question, and its paths."""

    question: Question
    names: tuple[str, ...]


def done(task: Task) -> list[Verdict]:
    """The verdicts on a share's paths, in their order."""
    question = task.question
    target, version = Target.parse(question.target), PtxVersion.parse(question.version)
    known = _known(question.target, question.version)
    wanted = [known[name] for name in task.names]
    if question.judge == "here":
        return [_here(question, path) for path in wanted]
    if question.judge == "gpu":
        return list(_on_gpu(question, wanted))
    refused = assembled(question.judge, wanted, target, version, question.level)
    return [Verdict(path.name, 1, refused=refused.get(path.name, "")) for path in wanted]


def _ours(question: Question, path: Subject) -> Words | str:
    """The results of this machine, or why it cannot run the path."""
    try:
        return run_here(path, Target.parse(question.target), PtxVersion.parse(question.version), question.cases)
    except PtxloomError as error:
        return f"ptxloom cannot run it: {str(error).partition(chr(10))[0]}"


def _here(question: Question, path: Subject) -> Verdict:
    left = _ours(question, path)
    if isinstance(left, str):
        return Verdict(path.name, cases_of(path, question.cases), refused=left)
    return compared(path, question.cases, left, left)


def _on_gpu(question: Question, wanted: list[Subject]) -> Iterator[Verdict]:
    """The GPU's verdicts; if a kernel does not finish, each half is tried again, down to the guilty path."""
    driver = _driver(question.level)
    try:
        left = list(driver.run(wanted, question.cases))
    except Lacking as reason:
        left = []
        if len(wanted) == 1:
            yield Verdict(wanted[0].name, 0, refused=str(reason))
            return
    except GpuError as error:
        left = []
        driver.reset()
        _driver.cache_clear()
        if len(wanted) == 1:
            yield Verdict(wanted[0].name, cases_of(wanted[0], question.cases), refused=f"the GPU: {error}")
            return
    if not left:
        half = len(wanted) // 2
        yield from _on_gpu(question, wanted[:half])
        yield from _on_gpu(question, wanted[half:])
        return
    for path, given in left:
        if isinstance(given, str):
            yield Verdict(path.name, cases_of(path, question.cases), refused=given)
            continue
        expected = _ours(question, path)
        if isinstance(expected, str):
            yield Verdict(path.name, cases_of(path, question.cases), digest=digest(given), refused=expected)
        else:
            waiver = waiver_of(path.name, driver.gpu.driver, question.target, question.level)
            yield compared(path, question.cases, given, expected, waiver)


@cache
def _known(target: str, version: str) -> Mapping[str, Subject]:
    return {path.name: path for path in suite(Target.parse(target), PtxVersion.parse(version))}


@cache
def _driver(level: int | None) -> Driver:
    return Driver(level)
