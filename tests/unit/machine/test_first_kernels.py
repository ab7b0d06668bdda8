"""The first kernels end to end: vector add, tiled product, shuffle reduction, compiled by nvcc."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ptxloom.machine import IllegalPtx, LaunchError, UnsupportedInstruction, kernel
from ptxloom.syntax import load, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES = Path(__file__).parents[3] / "examples"


def floats(rng: np.random.Generator, *shape: int) -> NDArray[Any]:
    return rng.integers(-4, 5, shape).astype(np.float32)


def test_vector_add_writes_what_numpy_writes_and_nothing_past_the_end() -> None:
    rng = np.random.default_rng(1)
    a, b = rng.random(3000, np.float32), rng.random(3000, np.float32)
    c = np.full(4000, 7, np.float32)
    out = kernel(load(EXAMPLES / "vector_add.ptx"), "vector_add").launch(12, 256, [a, b, c, 3000])
    assert (c[:3000] == a + b).all()
    assert (c[3000:] == 7).all()
    assert out.instructions > 12 * 8 * 10


@pytest.mark.parametrize("seed", [0, 1, 99])
def test_tiled_product_is_exact_on_small_integers_for_any_schedule(seed: int) -> None:
    rng = np.random.default_rng(2)
    a, b, c = floats(rng, 48, 32), floats(rng, 32, 64), np.zeros((48, 64), np.float32)
    kernel(load(EXAMPLES / "sgemm.ptx"), "sgemm").launch((4, 3), (16, 16), [a, b, c, 48, 64, 32], schedule_seed=seed)
    assert (c == a @ b).all()


def test_shuffle_reduction_adds_every_element_once() -> None:
    values = floats(np.random.default_rng(3), 10_000)
    partial = np.zeros(7, np.float32)
    kernel(load(EXAMPLES / "reduce.ptx"), "reduce").launch(7, 192, [values, partial, len(values)])
    assert partial.sum() == values.sum()


def test_out_of_bounds_names_the_place_and_leaves_the_neighbours_alone() -> None:
    a, whole = np.ones(64, np.float32), np.zeros(64, np.float32)
    with pytest.raises(LaunchError) as caught:
        kernel(load(EXAMPLES / "vector_add.ptx"), "vector_add").launch(1, 64, [a, a, whole[:40], 64])
    (hazard,) = caught.value.hazards
    assert (hazard.tool, hazard.kind) == ("memcheck", "out-of-bounds")
    assert (hazard.warp, hazard.lanes) == (1, tuple(range(8, 32)))
    assert hazard.instruction.startswith("st.global")
    assert (whole[40:] == 0).all()


def test_unknown_instruction_is_refused_before_anything_runs() -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n\tfrobnicate.u32 1;\n\tret;\n}\n"
    with pytest.raises(UnsupportedInstruction, match=r"line 6: `frobnicate\.u32 1;`"):
        kernel(parse(text), "k", unchecked=True)
    with pytest.raises(IllegalPtx, match=r":6:2: error: `frobnicate` is not an instruction of PTX"):
        kernel(parse(text), "k")
