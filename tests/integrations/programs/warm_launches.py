"""How many functions a warm launch calls, with few tensors on the device and with many."""

from __future__ import annotations

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def calls_of_a_launch() -> int:
    count = 0

    def seen(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call"

    for _ in range(3):
        add[(1,)](x, y, out, 256, BLOCK=256)
    sys.setprofile(seen)
    add[(1,)](x, y, out, 256, BLOCK=256)
    sys.setprofile(None)
    return count


x, y, out = (torch.full((256,), value, device="cuda") for value in (1.0, 2.0, 0.0))
few = calls_of_a_launch()
live = [torch.ones(64, device="cuda") for _ in range(300)]
many = calls_of_a_launch()
x.fill_(5.0)  # the same memory holds other values
add[(1,)](x, y, out, 256, BLOCK=256)
print("right" if bool((out == 7.0).all()) else "wrong", few, many)
