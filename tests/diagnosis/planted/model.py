"""What a planted bug is: a kernel that is right, and a small edit of its text that people really make by mistake.

Lines that edits and expectations name bear a mark, a comment at their end: `... // a-load`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ptxloom.machine import MappedArray

Array: TypeAlias = NDArray[Any]
Argument: TypeAlias = "Array | MappedArray | int"


@dataclass(frozen=True, slots=True)
class RightKernel:
    """A kernel that computes what NumPy computes, bit by bit.

    Args:
        name: What the catalogue calls it.
        text: Its PTX, with marks.
        grid: CTAs.
        block: Threads.
        make: Gives its arguments, the same at each call.
        names: What the arguments are called.
        output: Which argument it writes.
        reference: The array it must leave there, of its arguments.
        shared_bytes: Dynamic shared memory.
        entry: The kernel's name in the module.
        target: What it is compiled for.
        says: What the output is of the inputs, such as "Y = X.T"; nothing where no such word can say it.
    """

    name: str
    text: str
    grid: tuple[int, ...]
    block: int
    make: Callable[[], Sequence[Argument]]
    names: tuple[str, ...]
    output: int
    reference: Callable[..., Array]
    shared_bytes: int = 0
    entry: str = "k"
    target: str | None = None
    says: str | None = None

    def lines(self, *marks: str) -> frozenset[int]:
        """The numbers, from 1, of the lines that bear one of the marks.

        Raises:
            KeyError: No line bears a mark.
        """
        found = {mark: _marked(self.text.split("\n"), mark) for mark in marks}
        return frozenset(number + 1 for numbers in found.values() for number in numbers)


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the lines that bear a mark: as of one line of the source that was compiled to them.

    Args:
        mark: The lines.
        old: What is changed in those of them that contain it.
        new: What stands there then.
    """

    mark: str
    old: str
    new: str

    def apply(self, text: str) -> str:
        """The changed text: the number of lines stays as it is.

        Raises:
            KeyError: No line bears the mark.
            ValueError: No line that bears it contains the old text.
        """
        lines = text.split("\n")
        numbers = [number for number in _marked(lines, self.mark) if self.old in lines[number].rpartition("//")[0]]
        if not numbers:
            raise ValueError(f"`{self.old}` is in no line marked {self.mark}")
        for number in numbers:
            code, mark = lines[number].rsplit("//", 1)
            lines[number] = f"{code.replace(self.old, self.new)}//{mark}"
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class PlantedBug:
    """One mistake in a kernel that is otherwise right.

    Args:
        name: What was done, in a few words with hyphens.
        kernel: Where.
        cause: The id that the diagnosis must name first.
        operand: Which matrix is wrong, as the instruction calls it: a, b, c, d; or the array that is stored wrongly.
        edits: How the text is changed.
        marks: The lines of which one must be named first.
        other_causes: Ids that say the same of this kernel.
        make: Other arguments than the kernel's own: those that hide the bug, such as a matrix of ones.
        shows: Whether the result is wrong on these arguments.
    """

    name: str
    kernel: RightKernel
    cause: str
    operand: str
    edits: tuple[Edit, ...]
    marks: tuple[str, ...]
    other_causes: tuple[str, ...] = ()
    make: Callable[[], Sequence[Argument]] | None = None
    shows: bool = True

    @property
    def text(self) -> str:
        """The broken PTX."""
        text = self.kernel.text
        for edit in self.edits:
            text = edit.apply(text)
        return text

    @property
    def lines(self) -> frozenset[int]:
        """The numbers, from 1, of the lines of which one must be named."""
        return self.kernel.lines(*self.marks)

    @property
    def id(self) -> str:
        """`gemm-16x8-f16/a-trans-forgotten`."""
        return f"{self.kernel.name}/{self.name}"


def _marked(lines: list[str], mark: str) -> list[int]:
    found = [number for number, line in enumerate(lines) if line.rpartition("// ")[2].strip() == mark and "//" in line]
    if not found:
        raise KeyError(mark)
    return found
