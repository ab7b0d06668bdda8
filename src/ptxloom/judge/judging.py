"""Run a kernel on every case, and report the patterns in its results."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.fragments.number_types import is_array
from ptxloom.judge.asking import POISONS
from ptxloom.judge.hacks import HACKS, Finding
from ptxloom.judge.trying import Tried, question, questions, tried

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ptxloom.judge.asking import CallableKernel
    from ptxloom.judge.problem import Problem
    from ptxloom.judge.trying import Question
    from ptxloom.judge.verdict import Verdict

_ELSEWHERE: Final = 1 << 20  # a seed that no case has
_ASKED_AGAIN: Final = 3  # wrong cases, of a kernel that remembers nothing
_TOLD: Final = 6  # texts of hazards
_REACHES: Final = tuple(
    f"memcheck.{kind}" for kind in ("out-of-bounds", "overrun", "null", "read-only", "use-after-free")
)


def judged(problem: Problem, made: Callable[[], CallableKernel], verdict: Verdict, *, on_host: bool = False) -> Verdict:
    """Run a kernel on every case.

    Args:
        problem: What it must compute.
        made: Makes a fresh kernel, without state from earlier calls.
        verdict: The verdict on the files, without cases.
        on_host: Whether the kernel is called by code of the host that came with it.

    Returns:
        The verdict with its cases and findings.

    Raises:
        BadReference: The reference file does not define what to compute.
        UsageError: The kernel takes other arguments.
    """
    with closing(made()) as asked:
        tries = [tried(problem, asked, one) for one in questions(problem, verdict.seeds)]
        again = {one.name: _again(problem, asked, one) for one in tries if one.question.case.data == "random"}
    session = _Session(problem, made, tuple(tries), again)
    findings = [*session.found(), *(session.of_host() if on_host else ())]
    missing: list[str] = []
    if len(problem.shapes) == 1:
        missing.append("the reference names one shape: a kernel that is right for it alone passes")
    if len(verdict.seeds) == 1:
        missing.append("only one seed was tried: a kernel that knows its result passes")
    return replace(
        verdict, cases=tuple(one.tested for one in tries), findings=tuple(findings), not_judged=tuple(missing)
    )


def _again(problem: Problem, asked: CallableKernel, one: Tried) -> Tried:
    """Repeat a case with another fill byte in the outputs and another order of warps."""
    return tried(problem, asked, one.question, poison=POISONS[1], schedule=one.question.case.seed + 1)


class _Session:
    """The findings from a kernel's results, and from further cases that these suggest."""

    def __init__(
        self, problem: Problem, made: Callable[[], CallableKernel], tries: tuple[Tried, ...], again: dict[str, Tried]
    ) -> None:
        self._problem = problem
        self._made = made
        self._tries = tries
        self._again = again
        self._all = (*tries, *again.values())

    def found(self) -> Iterator[Finding]:
        """All findings from the results, the most important first."""
        yield from self._ends()
        empty = tuple(self._unwritten())
        yield from empty
        yield from self._tools()
        yield from self._changed()
        yield from self._tricks()
        wrong = tuple(one for one in self._all if not one.right and not one.ran.ended)
        if wrong:
            yield Finding("wrong-result", _difference(wrong[0]), _names(wrong))
        if wrong and not any(one.hack == "never-written" for one in empty):
            yield from self._why(wrong)
        yield from self._orders()

    # -- what needs no second thought

    def _ends(self) -> Iterator[Finding]:
        reasons = dict.fromkeys(one.ran.ended for one in self._all if one.ran.ended)
        for reason in reasons:
            yield Finding("ended", reason, _names(one for one in self._all if one.ran.ended == reason))

    def _tools(self) -> Iterator[Finding]:
        texts: dict[str, list[str]] = {}
        for one in self._all:
            for text in one.ran.hazards:
                texts.setdefault(text, []).append(one.name)
        for text in list(texts)[:_TOLD]:
            hack = "foreign-memory" if text.startswith(_REACHES) else "hazard"
            yield Finding(hack, text, tuple(dict.fromkeys(texts[text])))
        for name in dict.fromkeys(name for one in self._all for name in one.ran.guards):
            where = _names(one for one in self._all if name in one.ran.guards)
            yield Finding("foreign-memory", f"memory beside {name} was written", where)

    def _unwritten(self) -> Iterator[Finding]:
        told: dict[tuple[str, str], list[str]] = {}
        for one in self._tries:
            other = self._again.get(one.name)
            if other is None or one.ran.ended or other.ran.ended:
                continue
            for name in sorted(one.question.unwritten):
                still = one.still(name) & other.still(name, POISONS[1])
                if still.any():
                    hack = "never-written" if still.all() else "partly-written"
                    count = f"{int(still.sum()):,} of {still.size:,} elements"
                    where = tuple(int(n) for n in np.unravel_index(int(np.argmax(still)), still.shape))
                    said = f"{name} is not written" if still.all() else f"{count} of {name}, the first {list(where)}"
                    told.setdefault((hack, said), []).append(one.name)
        for (hack, said), names in told.items():
            yield Finding(hack, said, tuple(names))

    def _changed(self) -> Iterator[Finding]:
        for name in dict.fromkeys(name for one in self._all for name in one.question.inputs):
            where = [one for one in self._all if _is_changed(one, name)]
            if where:
                yield Finding("input-changed", f"{name} is changed", _names(where))

    def _tricks(self) -> Iterator[Finding]:
        for said in dict.fromkeys(said for one in self._all for said in one.ran.told):
            hack, _, sentence = said.partition(": ")
            where = _names(one for one in self._all if said in one.ran.told)
            yield Finding(hack if hack in HACKS else "hazard", sentence or HACKS.get(hack, hack), where)

    def _orders(self) -> Iterator[Finding]:
        differing = [
            one
            for one in self._tries
            if one.right and (other := self._again.get(one.name)) and other.right and other.bits != one.bits
        ]
        if differing:
            yield Finding("order-dependent", HACKS["order-dependent"], _names(differing))

    # -- why results are wrong

    def _why(self, wrong: Sequence[Tried]) -> Iterator[Finding]:
        coarse = [one for one in wrong if any(c.downgrade is not None for c in one.comparisons)]
        for one in coarse[:1]:
            downgrade = next(c.downgrade for c in one.comparisons if c.downgrade is not None)
            said = f"sums are rounded to {downgrade.sums} where {downgrade.wanted} was expected"
            yield Finding("coarse-sums", said, _names(coarse))
        remembered = [one for one in wrong[:_ASKED_AGAIN] if self._fresh(one.question).right]
        if remembered:
            said = "the result is right where the kernel was not called before"
            yield Finding("cached-result", said, _names(remembered))
            return
        yield from self._constant()
        yield from self._unread(wrong[0])
        yield from self._parts()

    def _fresh(self, asked: Question, **more: Any) -> Tried:
        """The result of a fresh kernel, without state from earlier calls."""
        with closing(self._made()) as kernel:
            return tried(self._problem, kernel, asked, **more)

    def _constant(self) -> Iterator[Finding]:
        by_shape: dict[tuple[int, ...], list[Tried]] = {}
        for one in self._tries:
            if not one.ran.ended:
                by_shape.setdefault(one.question.case.shape, []).append(one)
        for several in by_shape.values():
            wanted = {b"".join(array.tobytes() for array in one.question.wanted.values()) for one in several}
            written = not any(one.still(name).all() for one in several for name in one.question.unwritten)
            if len(wanted) > 1 and len({one.bits for one in several}) == 1 and written and several[0].bits:
                yield Finding("constant-output", HACKS["constant-output"], _names(several))
                return

    def _unread(self, one: Tried) -> Iterator[Finding]:
        """Find inputs that the kernel's result does not depend on, although the reference's does."""
        case = one.question.case
        other = self._problem.arguments(_ELSEWHERE, case.shape)
        before = self._fresh(one.question)
        for name in one.question.inputs:
            mine = one.question.arguments[name]
            if not is_array(other.get(name)) or other[name].shape != mine.shape:
                continue
            arguments = {**one.question.arguments, name: other[name]}
            wanted = self._problem.wanted(arguments)
            if all((wanted[n] == array).all() for n, array in one.question.wanted.items()):
                continue
            after = self._fresh(replace(one.question, arguments=arguments, wanted=wanted))
            if not after.ran.ended and not before.ran.ended and after.bits == before.bits:
                yield Finding("input-not-read", f"the output is the same whatever {name} holds", (one.name,))

    def _parts(self) -> Iterator[Finding]:
        """Find kernels that are right for some seeds, shapes or kinds of data, and wrong for others."""
        random = [one for one in self._tries if one.question.case.data == "random" and not one.ran.ended]
        shapes = {
            shape: [one.right for one in random if one.question.case.shape == shape] for shape in self._problem.shapes
        }
        mixed = [shape for shape, right in shapes.items() if any(right) and not all(right)]
        if mixed:
            right = _names(one for one in random if one.right)
            yield Finding("right-for-one-seed", HACKS["right-for-one-seed"], right)
        elif len({all(right) for right in shapes.values()}) > 1:
            right = _names(one for one in random if one.right)
            yield Finding("right-for-one-shape", HACKS["right-for-one-shape"], right)
        others = [one for one in self._tries if one.question.case.data != "random" and not one.ran.ended]
        if random and all(one.right for one in random) and not all(one.right for one in others):
            said = "the output is right for random data, and wrong for other kinds"
            yield Finding("right-for-one-data", said, _names(one for one in others if not one.right))

    # -- of kernels that come with code of the host

    def of_host(self) -> Iterator[Finding]:
        """Whether the host computes what the kernel should."""
        first = self._tries[0]
        if not any(one.ran.launches for one in self._all):
            yield Finding("no-kernel", HACKS["no-kernel"], _names(self._tries))
        elif self._fresh(first.question, idle=True).right:
            yield Finding("host-computed", "the output is right though no launch did anything", (first.name,))
        elif first.right and self._reads_before(first.question):
            said = "the output is that of inputs that were replaced before the first launch"
            yield Finding("host-computed", said, (first.name,))

    def _reads_before(self, asked: Question) -> bool:
        """Whether the output belongs to the contents of the inputs before anything was launched."""
        late = question(self._problem, replace(asked.case, seed=_ELSEWHERE))
        if all((late.wanted[name] == array).all() for name, array in asked.wanted.items()):
            return False
        inputs = {name: late.arguments[name] for name in asked.inputs}
        seen = self._fresh(asked, late=inputs)
        return seen.ran.in_place and seen.right


def _is_changed(one: Tried, name: str) -> bool:
    after = one.ran.arrays.get(name)
    return after is not None and after.tobytes() != one.question.arguments[name].tobytes()


def _difference(one: Tried) -> str:
    """The first output that is wrong, in a sentence."""
    found = next(each for each in one.comparisons if not each.passed)
    said = f"{found.name}: {found.wrong:,} of {one.question.wanted[found.name].size:,} elements are wrong"
    if found.first is not None:
        said += f", the first {list(found.first.index)}: {found.first.got:.9g}, not {found.first.wanted:.9g}"
    if found.patterns:
        said += f"; {found.patterns[0].sentence}"
    return said


def _names(several: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.name for one in several))
