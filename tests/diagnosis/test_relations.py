"""Results that no matrix product gives: sums, stencils, reductions, vectors that join; and right ones."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.sums.laws import is_padded

if TYPE_CHECKING:
    from ptxloom.diagnosis import Examination

FOLDER = Path(__file__).parent
MODULE = pl.parse((FOLDER / "ptx" / "elementwise.ptx").read_text())
SOURCE = (FOLDER / "src" / "elementwise.cu").read_text().splitlines()


class Kernel(NamedTuple):
    """How a kernel is launched: shapes, numbers, and what it is said to compute."""

    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    grid: tuple[int, ...]
    block: tuple[int, ...]
    names: str
    said: str = ""
    clean: bool = True
    """Whether a right one is clean without a word on what it computes: nothing, a product or a convolution."""


KERNELS = {
    "sum": Kernel(((1000,), (1000,), (1000,)), (1000,), (4,), (256,), "ABC", "C = A + B", clean=False),
    "transpose": Kernel(((33, 70), (70, 33)), (33, 70), (3, 2), (32, 8), "XY", "Y = X.T"),
    "stencil": Kernel(((40, 52), (40, 52)), (40, 52), (2, 5), (32, 8), "XY", clean=False),
    "rows": Kernel(((20, 300), (20,)), (300,), (20,), (128,), "XY", "Y = sum(X, axis=1)", clean=False),
    "added": Kernel(((20, 300), (20,)), (300,), (20,), (64,), "XY", "Y = sum(X, axis=1)", clean=False),
    "biased": Kernel(((20, 100), (100,), (20, 100)), (20, 100), (8,), (256,), "XbY", "Y = relu(X + b)", clean=False),
    "filtered": Kernel(((500,), (9,), (500,)), (500,), (4,), (128,), "XFY"),
    "tiled": Kernel(((40, 50), (50, 36), (40, 36)), (40, 36, 50), (3, 3), (16, 16), "ABC", "C = A @ B"),
}


def examined(name: str, bug: int, said: str = "") -> Examination:
    kernel = KERNELS[name]
    rng = np.random.default_rng(3)
    arrays = [rng.integers(1, 9, shape).astype(np.float32) for shape in kernel.shapes]
    arrays[-1][:] = 0
    made = pl.kernel(MODULE, f"{name}{bug}", target="sm_90a")
    args: list[Any] = [*arrays, *kernel.numbers]
    result = made.launch(kernel.grid, kernel.block, args, provenance=True, threads=1)
    assert result.provenance is not None
    return examine(result.provenance, said or None, names=dict(enumerate(kernel.names)))


def line_of(name: str, bug: int) -> int:
    """The line that bears the bug's comment, behind the head of its kernel."""
    start = next(number for number, line in enumerate(SOURCE) if f"__device__ void {name}(" in line)
    return next(n + 1 for n in range(start, len(SOURCE)) if re.search(rf"// bug {bug}\b", SOURCE[n]))


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_accused_of_nothing_and_judged_as_far_as_laws_go(name: str) -> None:
    found = examined(name, 0)
    assert found.found == ()
    assert found.verdict == ("clean" if KERNELS[name].clean else "unjudged")
    assert all("in the same way" in one.why for one in found.unjudged)


@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.said])
def test_a_right_kernel_is_clean_if_it_is_said_what_it_computes(name: str) -> None:
    found = examined(name, 0, KERNELS[name].said)
    assert (found.found, found.verdict) == ((), "clean")


ALONE = [
    ("stencil", 1, "leading-dimension"),
    ("stencil", 2, "columns-shifted"),
    ("rows", 1, "k-missing"),
    ("rows", 2, "k-missing"),
    ("rows", 3, "leading-dimension"),
    ("rows", 4, "k-missing"),
    ("added", 1, "k-missing"),
    ("biased", 1, "order-exchanged"),
    ("filtered", 1, "columns-shifted"),
    ("tiled", 1, "leading-dimension"),
    ("tiled", 2, "rows-repeated"),
    ("tiled", 3, "order-exchanged"),
    ("tiled", 4, "rows-permuted"),
]


@pytest.mark.parametrize(("name", "bug", "cause"), ALONE)
def test_what_extents_and_the_other_elements_tell_is_named_at_its_line_and_not_certain(
    name: str, bug: int, cause: str
) -> None:
    (one,) = examined(name, bug).found
    assert one.origin is not None
    assert (one.cause, one.origin.home.line, one.certain) == (cause, line_of(name, bug), False)


SAID = [
    ("sum", 1, "not-copied", False),
    ("sum", 2, "columns-permuted", False),
    ("transpose", 1, "leading-dimension", True),
    ("rows", 1, "k-missing", False),
    ("rows", 3, "leading-dimension", True),
    ("rows", 4, "k-missing", False),
    ("added", 1, "k-missing", False),
    ("biased", 1, "order-exchanged", True),
    ("tiled", 1, "leading-dimension", True),
]


@pytest.mark.parametrize(("name", "bug", "cause", "certain"), SAID)
def test_what_contradicts_what_is_said_is_named_at_its_line(name: str, bug: int, cause: str, *, certain: bool) -> None:
    first, *_ = examined(name, bug, KERNELS[name].said).found
    assert first.origin is not None
    assert (first.cause, first.origin.home.line, first.certain) == (cause, line_of(name, bug), certain)


@pytest.mark.parametrize(("name", "bug"), [("sum", 1), ("sum", 2)])
def test_what_laws_cannot_tell_is_not_acquitted(name: str, bug: int) -> None:
    assert examined(name, bug).verdict != "clean"


@pytest.mark.parametrize(
    ("present", "given", "padded"),
    [
        (24, [32], False),
        (24, [24, 32], True),
        (24, [7], True),
        (32, [32], False),
        (16, [16, 32], False),
        (16, [16, 16, 32], True),
    ],
)
def test_rows_that_end_early_are_padded_only_if_their_length_is_given_beside_their_pitch(
    present: int, given: list[int], *, padded: bool
) -> None:
    assert is_padded(np.arange(present), 32, (16, 8), Counter(given)) is padded
