"""The kernels of the examples folder compute what NumPy computes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ptxloom.machine import Kernel, kernel
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXAMPLES = Path(__file__).parents[2] / "examples"


def load(name: str, entry: str = "") -> Kernel:
    return kernel(parse((EXAMPLES / f"{name}.ptx").read_text(), name), entry or name)


@pytest.mark.parametrize("block", [32, 96, 256])
def test_vector_add(block: int) -> None:
    rng = np.random.default_rng(1)
    n = 1003
    a, b = rng.standard_normal((2, n), np.float32)
    c = np.zeros(n, np.float32)
    load("vector_add").launch(-(-n // block), block, [a, b, c, n])
    assert (c == a + b).all()


@pytest.mark.parametrize("block", [32, 128, 1024])
def test_reduce(block: int) -> None:
    values = np.random.default_rng(2).integers(-100, 100, 5000).astype(np.float32)  # sums are exact in any order
    partial = np.zeros(3, np.float32)
    load("reduce").launch(3, block, [values, partial, values.size])
    assert partial.sum() == values.sum()
    lanes = np.arange(values.size) // block % 3
    assert partial.tolist() == [values[lanes == n].sum() for n in range(3)]


def factors(m: int, n: int, k: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Small integers: every product and sum is exact."""
    rng = np.random.default_rng(3)
    return rng.integers(-4, 5, (m, k)).astype(np.float32), rng.integers(-4, 5, (k, n)).astype(np.float32)


def test_sgemm() -> None:
    a, b = factors(64, 48, 32)
    c = np.zeros((64, 48), np.float32)
    load("sgemm").launch((48 // 16, 64 // 16), (16, 16), [a, b, c, 64, 48, 32])
    assert (c == a @ b).all()


def test_hgemm() -> None:
    a, b = factors(192, 128, 96)
    c = np.zeros((192, 128), np.float32)
    result = load("hgemm").launch((2, 3), 128, [a.astype(np.float16), b.astype(np.float16), c, 192, 128, 96])
    assert (c == a @ b).all()
    assert result.hazards == ()


def test_triton_matmul() -> None:
    a, b = factors(128, 192, 96)
    c = np.zeros((128, 192), np.float32)
    values = [a.astype(np.float16), b.astype(np.float16), c, 128, 192, 96, None, None]
    load("triton_matmul", "matmul").launch((2, 3), 128, values, 8192)
    assert (c == a @ b).all()
