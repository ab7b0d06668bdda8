"""What Triton writes for `sm_120`'s scaled products and for `sm_100`'s pairs of floats, against NumPy and all tools.

Where Triton lays elements and scales says again, by itself, which lane and byte holds what.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from kernels.case import read_ptx
from ptxloom.machine import Kernel, kernel
from ptxloom.machine.launch.options import CHECKS
from ptxloom.syntax import parse

M, N, K = 64, 32, 256
Exact = NDArray[np.float64]
UNUSED = np.zeros(1, np.uint8)  # Triton's scratch for profiles


def load(source: str, architecture: str, name: str) -> Kernel:
    return kernel(parse(read_ptx(f"{source}_{name}", architecture)), name)


@dataclass(frozen=True, slots=True)
class Operand:
    """Bytes as a kernel reads them, and the numbers that they mean."""

    data: NDArray[Any]
    exact: Exact


def bytes_of(rng: np.random.Generator, rows: int, type_: Any) -> Operand:
    values = rng.normal(size=(rows, K)).astype(type_)
    return Operand(values.view(np.uint8), values.astype(np.float64))


def nibbles(rng: np.random.Generator, rows: int) -> Operand:
    packed = rng.integers(0, 256, (rows, K // 2), dtype=np.uint8)
    codes = np.stack((packed & 15, packed >> 4), axis=2).reshape(rows, K)
    return Operand(packed, codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64))


def scales(rng: np.random.Generator, rows: int, block: int) -> Operand:
    """Powers of two for 32 elements; for 16, numbers of 4 bits of exponent and 3 of mantissa."""
    if block == 32:
        codes = rng.integers(118, 136, (rows, K // block), dtype=np.uint8)
        return Operand(codes, np.repeat(2.0 ** (codes.astype(np.float64) - 127), block, axis=1))
    values = (np.abs(rng.normal(size=(rows, K // block))) + 1).astype(ml_dtypes.float8_e4m3fn)
    return Operand(values.view(np.uint8), np.repeat(values.astype(np.float64), block, axis=1))


@pytest.mark.parametrize("name", ["mxfp8", "mxfp4", "nvfp4"])
def test_a_scaled_product_is_right_and_silent_under_all_tools(name: str) -> None:
    rng = np.random.default_rng(5)
    if name == "mxfp8":
        a, b = bytes_of(rng, M, ml_dtypes.float8_e4m3fn), bytes_of(rng, N, ml_dtypes.float8_e5m2)
    else:
        a, b = nibbles(rng, M), nibbles(rng, N)
    block = 16 if name == "nvfp4" else 32
    of_a, of_b = scales(rng, M, block), scales(rng, N, block)
    out = np.zeros((M, N), np.float32)
    arguments = [a.data, b.data, out, of_a.data, of_b.data, K, UNUSED, UNUSED]
    result = load("triton_scaled", "sm_120a", name).launch(1, 128, arguments, 65_536, checks=CHECKS)
    exact = (a.exact * of_a.exact) @ (b.exact * of_b.exact).T
    assert np.abs(out - exact).max() < 1e-6 * np.abs(exact).max()
    assert result.hazards == ()


def test_a_softmax_by_pairs_and_extremes_of_warps() -> None:
    rows, width = 6, 1000
    x = np.random.default_rng(6).normal(size=(rows, width)).astype(np.float32)
    y = np.zeros_like(x)
    ready = load("triton_single", "sm_100a", "softmax")
    result = ready.launch(rows, 128, [x, y, width, UNUSED, UNUSED], 4096, checks=CHECKS)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.abs(y - powers / powers.sum(axis=1, keepdims=True)).max() < 1e-7
    assert result.hazards == ()
