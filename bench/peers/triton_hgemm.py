"""The matmul of examples/triton_matmul.py in Triton's interpreter; TRITON_INTERPRET=1 must be set before the import."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from triton_matmul import matmul


def seconds(n: int) -> float:
    """The time of one product of n x n matrices."""
    a, b = (torch.randint(-4, 5, (n, n)).to(torch.float16) for _ in range(2))
    c = torch.zeros((n, n), dtype=torch.float32)
    start = time.perf_counter()
    matmul[(n // 64, n // 64)](a, b, c, n, n, n, 64, 64, 32)
    took = time.perf_counter() - start
    assert torch.equal(c, a.float() @ b.float())
    return took
