"""Cases of a problem, given to a kernel one by one, and the outcome of each."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ptxloom.comparison import Precision, Reference, compare
from ptxloom.dataclass import dataclass
from ptxloom.fragments.number_types import is_float
from ptxloom.judge import data
from ptxloom.judge.asking import POISONS, Call, unwritten
from ptxloom.judge.verdict import Tested

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ptxloom.comparison import Comparison
    from ptxloom.judge.asking import CallableKernel, Ran
    from ptxloom.judge.problem import Arguments, Problem

_COARSE: Final = ("f16", "bf16")
_LITTLE: Final = 2.0**-6


@dataclass(frozen=True, slots=True)
class Case:
    """The shape, seed and kind of data of a call's inputs."""

    shape: tuple[int, ...]
    seed: int
    data: str = "random"

    def __str__(self) -> str:
        return f"shape {'x'.join(map(str, self.shape))}, seed {self.seed}, {self.data}"


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A case with its arguments and required results."""

    case: Case
    arguments: Arguments
    wanted: dict[str, NDArray[Any]]
    unwritten: frozenset[str]

    def call(self, **more: Any) -> Call:
        """A call of it."""
        return Call(self.case.shape, self.arguments, tuple(self.wanted), self.unwritten, **more)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The arrays that are not outputs."""
        return tuple(
            name for name, value in self.arguments.items() if isinstance(value, np.ndarray) and name not in self.wanted
        )


@dataclass(frozen=True, slots=True)
class Tried:
    """A question, and the effects of a kernel's call.

    Attributes:
        question: The question.
        ran: The effects of the call.
        comparisons: Its outputs compared with the required ones.
    """

    question: Question
    ran: Ran
    comparisons: tuple[Comparison, ...]

    @property
    def name(self) -> str:
        """The name of the case."""
        return str(self.question.case)

    @property
    def right(self) -> bool:
        """Whether it ended, and every output is right."""
        return not self.ran.ended and all(one.passed for one in self.comparisons)

    @property
    def bits(self) -> bytes:
        """The outputs."""
        return b"".join(self.ran.arrays[name].tobytes() for name in self.question.wanted if name in self.ran.arrays)

    def still(self, name: str, poison: int = POISONS[0]) -> NDArray[np.bool_]:
        """Which elements of an output still hold their fill byte."""
        return unwritten(self.ran.arrays[name], poison)

    @property
    def tested(self) -> Tested:
        """As the verdict has it."""
        size = sum(one.size for one in self.question.wanted.values())
        wrong = size if self.ran.ended else sum(one.wrong for one in self.comparisons)
        digest = hashlib.sha256(self.bits).hexdigest()[:16]
        return Tested(self.name, self.right, wrong, size, self.ran.instructions, digest)


def questions(problem: Problem, seeds: Sequence[int]) -> Iterator[Question]:
    """Every shape with every seed, and with the first seed every other kind of data that the reference allows."""
    for shape in problem.shapes:
        for seed in seeds:
            yield question(problem, Case(shape, seed))
        for kind in problem.data[1:]:
            asked = question(problem, Case(shape, seeds[0], kind))
            if kind == "specials" or all(_finite(array) for array in asked.wanted.values()):
                yield asked


def question(problem: Problem, case: Case) -> Question:
    """The launch of a case.

    Raises:
        BadReference: The reference file does not define it.
    """
    given = problem.arguments(case.seed, case.shape)
    outputs = problem.wanted(given)
    arguments = given if case.data == "random" else data.changed(given, case.data, outputs)
    wanted = outputs if arguments is given else problem.wanted(arguments)
    return Question(case, arguments, wanted, frozenset(outputs) - problem.updated)


def tried(problem: Problem, asked: CallableKernel, one: Question, **more: Any) -> Tried:
    """Run a kernel on a question."""
    ran = asked.call(one.call(**more))
    return Tried(one, ran, compared(problem, one, ran))


def compared(problem: Problem, one: Question, ran: Ran) -> tuple[Comparison, ...]:
    """Compare the outputs of a call with the required ones; empty if it did not finish."""
    if ran.ended:
        return ()
    outputs = one.wanted.items()
    return tuple(_compared(problem, name, ran.arrays[name], wanted, ran.precision) for name, wanted in outputs)


def _compared(
    problem: Problem, name: str, got: NDArray[Any], wanted: NDArray[Any], precision: Precision | None
) -> Comparison:
    said = dict(problem.tolerance)
    reference = Reference(wanted, said.get("rtol"), said.get("atol"), accumulate=said.get("accumulate", ""))
    found = compare(got, reference, name=name, precision=precision)
    if found.passed or found.downgrade is not None or not _near(got, wanted):
        return found
    for sums in _COARSE:  # of kernels whose arithmetic is not known
        coarse = compare(got, reference, name=name, precision=Precision(sums))
        if coarse.downgrade is not None:
            return coarse
    return found


def _near(got: NDArray[Any], wanted: NDArray[Any]) -> bool:
    """Whether the differences of two arrays are small enough for rounding in some type to explain them."""
    if not is_float(got.dtype):
        return False
    given, meant = got.astype(np.float64), wanted.astype(np.float64)
    with np.errstate(all="ignore"):
        error, size = np.square(given - meant).mean(), np.square(meant).mean()
    return bool(error <= _LITTLE * _LITTLE * size)


def _finite(array: NDArray[Any]) -> bool:
    return not is_float(array.dtype) or bool(np.isfinite(array.astype(np.float64)).all())
