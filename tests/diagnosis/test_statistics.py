"""Results that are normalised by sums and maxima of rows or columns: what these lack."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.diagnosis import Examination

FOLDER = Path(__file__).parent
MODULE = pl.parse((FOLDER / "ptx" / "statistics.ptx").read_text())
SOURCE = (FOLDER / "src" / "statistics.cu").read_text().splitlines()


class Kernel(NamedTuple):
    """How a kernel is launched: the shapes of its arrays, numbers, and their names."""

    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    grid: int
    block: int | tuple[int, ...]
    names: str


KERNELS = {
    "rms": Kernel(((4, 256), (256,), (4, 256)), (256,), 1, 128, "XwY"),
    "columns": Kernel(((24, 64), (24, 64)), (24, 64), 2, (32, 8), "XY"),
    "entropy": Kernel(((4, 200), (4,), (4,)), (200,), 4, 128, "XtL"),
}


def examined(name: str, bug: int) -> Examination:
    kernel = KERNELS[name]
    rng = np.random.default_rng(3)
    arrays: list[NDArray[Any]] = [rng.standard_normal(shape).astype(np.float32) for shape in kernel.shapes]
    arrays[-1][...] = 0
    if name == "entropy":
        arrays[1] = rng.integers(0, 200, 4).astype(np.int32)
    made = pl.kernel(MODULE, f"{name}{bug}", target="sm_90a")
    result = made.launch(kernel.grid, kernel.block, [*arrays, *kernel.numbers], provenance=True, threads=1)
    assert result.provenance is not None
    return examine(result.provenance, names=dict(enumerate(kernel.names)))


def line_of(name: str, bug: int) -> int:
    """The line that bears the bug's comment, behind the head of its kernel."""
    start = next(number for number, line in enumerate(SOURCE) if f"__device__ void {name}(" in line)
    return next(n + 1 for n in range(start, len(SOURCE)) if re.search(rf"// bug {bug}\b", SOURCE[n]))


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_accused_of_nothing_and_not_acquitted(name: str) -> None:
    found = examined(name, 0)
    assert (found.found, found.verdict) == ((), "unjudged")


TOLD = [
    ("rms", 1, "k-missing"),
    ("rms", 2, "k-missing"),
    ("rms", 3, "k-missing"),
    ("columns", 1, "k-missing"),
    ("columns", 2, "k-missing"),
    ("entropy", 1, "k-missing"),
]
NOT_TOLD = [("rms", 4), ("columns", 3)]


@pytest.mark.parametrize(("name", "bug", "cause"), TOLD)
def test_what_a_statistic_lacks_is_named_at_its_line_and_not_certain(name: str, bug: int, cause: str) -> None:
    first, *_ = examined(name, bug).found
    assert first.origin is not None
    assert (first.cause, first.origin.home.line, first.certain) == (cause, line_of(name, bug), False)


@pytest.mark.parametrize(("name", "bug"), NOT_TOLD)
def test_what_laws_cannot_tell_of_statistics_is_not_acquitted(name: str, bug: int) -> None:
    assert examined(name, bug).verdict == "unjudged"
