"""The kernel of Triton's first tutorial in short, for `launches.py`: Triton reads a kernel's source from its file."""

# ruff: noqa: ANN001, ANN201, N803 - device code, in Triton's dialect of Python

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
