"""Arrays of more than two axes that are read with a wrong stride: the one coefficient of the address that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import examine
from ptxloom.diagnosis.wrong_strides import Axis, of_strides

if TYPE_CHECKING:
    from ptxloom.diagnosis import Examination
    from ptxloom.diagnosis.origins.permutations import Named
    from ptxloom.diagnosis.origins.tiles import Integers

PTX: Final = (Path(__file__).parent / "ptx" / "strides.ptx").read_text()
Shape = tuple[int, ...]
BLOCKS: Final[tuple[Shape, Shape, Shape]] = ((16, 64), (3, 64, 8), (16, 24))
HEADS: Final[tuple[Shape, Shape, Shape]] = ((16, 64), (64, 3, 8), (16, 24))
IMAGE: Final[tuple[Shape, Shape, Shape]] = ((1, 4, 8, 16), (3, 3, 16, 8), (1, 4, 8, 8))


def _examined(kernel: str, shapes: tuple[Shape, Shape, Shape]) -> Examination:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in shapes[:2])
    c = np.zeros(shapes[2], np.float32)
    height, width = shapes[0][1:3] if shapes is IMAGE else (1, 1)
    n, k = shapes[2][-1], 9 * 16 if shapes is IMAGE else 64
    made = pl.kernel(pl.parse(PTX), kernel, target="sm_90a")
    grid = n // 8, c.size // n // 16
    record = made.launch(grid, 32, [a, b, c, n, k, height, width], provenance=True, threads=1).provenance
    assert record is not None
    return examine(record, names=dict(enumerate("ABC")))


@pytest.mark.parametrize(("kernel", "shapes"), [("blocks", BLOCKS), ("heads", HEADS), ("image", IMAGE)])
def test_right_strides_break_no_law(kernel: str, shapes: tuple[Shape, Shape, Shape]) -> None:
    found = _examined(kernel, shapes)
    assert not found.found
    assert found.elements == np.prod(shapes[2])


@pytest.mark.parametrize(
    ("kernel", "shapes", "array", "cause", "detail"),
    [
        ("blocks_too_near", BLOCKS, "B", "leading-dimension", "blocks of 8 columns are taken to be 256 elements apart"),
        ("first_head", HEADS, "B", "columns-repeated", "one of the blocks of 8 columns stands for all"),
        ("image_of_columns", IMAGE, "A", "leading-dimension", "rows are taken to be 64 elements apart; they are 128"),
        ("taps_turned", IMAGE, "A", "order-exchanged", "rows of taps and taps are exchanged"),
    ],
)
def test_a_wrong_stride_is_told(
    kernel: str, shapes: tuple[Shape, Shape, Shape], array: str, cause: str, detail: str
) -> None:
    (one,) = _examined(kernel, shapes).found
    assert (one.array, one.cause) == (array, cause)
    assert one.detail.startswith(detail)
    assert one.instruction.split()[0].split(".")[0] in {"ld", "mad", "mul", "shl", "add"}


AXES: Final = [Axis("rows", "planes", 60), Axis("rows", "rows", 12), Axis("columns", "columns", 1)]
INDEX: Final = np.stack([axis.ravel() for axis in np.indices((4, 5, 12))])


def _read(strides: tuple[int, int, int], start: int = 0) -> Named | None:
    return of_strides(np.array(strides) @ INDEX + start, INDEX, AXES)


def test_right_offsets_have_no_wrong_stride() -> None:
    assert _read((60, 12, 1)) is None


@pytest.mark.parametrize(
    ("strides", "said"),
    [
        ((72, 12, 1), "planes are taken to be 72 elements apart; they are 60"),
        ((60, 16, 1), "rows are taken to be 16 elements apart; they are 12"),
        ((60, 0, 1), "one of the rows stands for all"),
        ((12, 60, 1), "planes and rows are exchanged"),
        ((80, 16, 1), "planes and rows are taken to be 80 and 16 elements apart; they are 60 and 12"),
    ],
)
def test_one_or_two_strides_are_solved_for(strides: tuple[int, int, int], said: str) -> None:
    named = _read(strides)
    assert named is not None
    assert named.detail == said


@pytest.mark.parametrize(("strides", "start"), [((7, 5, 3), 0), ((60, 12, 1), 12), ((72, 12, 1), 1), ((61, 11, 1), 0)])
def test_what_no_stride_explains_is_left(strides: tuple[int, int, int], start: int) -> None:
    assert _read(strides, start) is None


def test_one_element_elsewhere_is_no_stride() -> None:
    held: Integers = np.array((72, 12, 1)) @ INDEX
    held[-1] += 1
    assert of_strides(held, INDEX, AXES) is None
