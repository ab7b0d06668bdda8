"""A launch that is repeated, each time from the same arrays, and compared with the same references."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ptxloom.comparison.compare import differing, wide
from ptxloom.dataclass import dataclass
from ptxloom.diagnosis.suspects.changes import CHOICE
from ptxloom.machine.analysis.precision import precision_of
from ptxloom.machine.launch.expected import references_of
from ptxloom.machine.launch.options import DEFAULT_CHECKS
from ptxloom.machine.memory.tensor_map import MappedArray
from ptxloom.machine.results.outcome import LaunchError
from ptxloom.syntax.tree import Declaration

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from ptxloom.comparison import Reference
    from ptxloom.comparison.rounding import Precision
    from ptxloom.machine.kernel import Kernel
    from ptxloom.machine.launch.expected import Expected
    from ptxloom.machine.results.hazard import Hazard
    from ptxloom.machine.results.outcome import LaunchResult

    Launch = Callable[..., LaunchResult]


_WORD: Final = 0xFFFFFFFF
_MOST_KNOWN: Final = 1 << 24  # bytes of results that are remembered
_NUMBERS: Final = frozenset(f"{kind}{bits}" for kind in "bsuf" for bits in (8, 16, 32, 64))


class Judged(NamedTuple):
    """The compared arrays after a trial.

    Attributes:
        wrong: (elements of all compared arrays,) which are wrong.
        ran: Whether the kernel finished, and no tool found anything.
        instructions: The number of executed warp instructions.
        values: (elements of all compared arrays,) their values.
        promising: Whether the trial found nothing wrong.
        finished: Whether the kernel finished, whatever a tool found.
    """

    wrong: NDArray[np.bool_]
    ran: bool
    instructions: int
    values: NDArray[Any]
    promising: bool = False
    finished: bool = True


@dataclass(eq=False, slots=True)
class Trials:
    """A launch with its initial arrays, and their required results.

    Attributes:
        launch: Launches a kernel on the arrays: it takes the kernel and options.
        arguments: What the launch passes, the arrays among it.
        references: The required arrays, by their places among the arguments.
        numbers: The integers that the launch passes, and those of its grid and its CTAs.
        ctas: How many CTAs its grid has.
        hazards: What the tools found with no change: a change must silence them, too.
        checks: The tools that watch the trials.
        initial: (elements of all compared arrays,) their values before it.
    """

    launch: Launch
    arguments: Sequence[object]
    references: Mapping[str | int, Reference]
    kernel: Kernel
    numbers: tuple[int, ...] = ()
    ctas: int = 1
    hazards: Sequence[Hazard] = ()
    checks: tuple[str, ...] = DEFAULT_CHECKS
    initial: NDArray[Any] = field(init=False)
    _known: dict[bytes, tuple[NDArray[np.bool_], NDArray[Any]]] = field(init=False, default_factory=dict)
    _before: list[tuple[NDArray[Any], NDArray[Any]]] = field(init=False)
    _expected: list[tuple[Expected, Precision | None]] = field(init=False)
    _of: tuple[Kernel, list[tuple[NDArray[Any], NDArray[Any]]]] | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        arrays = [one.array if isinstance(one, MappedArray) else one for one in self.arguments]
        self._before = [(one, one.copy()) for one in arrays if isinstance(one, np.ndarray)]
        expected = references_of(self.references, self.kernel.needs.parameters, self.arguments)
        precision = precision_of(self.kernel.program)
        self._expected = [(one, precision and precision.given(one.others)) for one in expected]
        self.initial = self._values()

    def run(self, kernel: Kernel, choice: tuple[int, ...] | None = None, **options: Any) -> Judged:
        """Run a kernel; if it has variants, with the chosen one."""
        for array, before in self._before:
            array[...] = before
        self._variables_as_before(kernel)
        if choice is not None:
            kernel.global_array(CHOICE)[...] = [one & _WORD for one in choice]
        instructions, ran, finished = 0, False, False
        try:
            result = self.launch(kernel, checks=self.checks, **options)
            instructions, ran, finished = result.instructions, not result.hazards, True
        except LaunchError:
            pass
        wrong, values = self._judged()
        return Judged(wrong, ran, instructions, values, ran and not wrong.any(), finished)

    def _judged(self) -> tuple[NDArray[np.bool_], NDArray[Any]]:
        """Which elements are wrong, and their values; equal results of several changes are judged once."""
        key = b"".join(one.array.tobytes() for one, _ in self._expected)
        known = self._known.get(key)
        if known is None:
            differ = [differing(one.array, one.reference, precision=known).ravel() for one, known in self._expected]
            known = np.concatenate(differ), self._values()
            if len(self._known) * len(key) < _MOST_KNOWN:
                self._known[key] = known
        return known

    def _values(self) -> NDArray[Any]:
        return np.concatenate([wide(one.array).ravel() for one, _ in self._expected])

    @property
    def wanted(self) -> NDArray[Any]:
        """(elements of all compared arrays,) what they must be."""
        return np.concatenate([wide(np.asarray(one.reference.array)).ravel() for one, _ in self._expected])

    @property
    def arrays(self) -> list[NDArray[Any]]:
        """The arrays that the launch passes."""
        return [array for array, _ in self._before]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the compared arrays."""
        return tuple(one.name for one, _ in self._expected)

    @property
    def compared(self) -> list[tuple[str, NDArray[Any], NDArray[Any]]]:
        """The compared arrays: names, contents, and required contents."""
        return [(one.name, one.array, one.reference.array) for one, _ in self._expected]

    def _variables_as_before(self, kernel: Kernel) -> None:
        """Reset the variables of a kernel's module to their values before its first run here."""
        if self._of is None or self._of[0] is not kernel:
            own = [kernel.global_array(name) for name in _variables(kernel)]
            self._of = kernel, [(one, one.copy()) for one in own]
        for array, before in self._of[1]:
            array[...] = before


def _variables(kernel: Kernel) -> list[str]:
    """The variables of a kernel's module that it may write, and whose size is known."""
    return [
        declarator.name
        for one in kernel.module.statements
        if isinstance(one, Declaration) and one.space == "global" and one.linkage != "extern" and one.type in _NUMBERS
        for declarator in one.declarators
    ]
