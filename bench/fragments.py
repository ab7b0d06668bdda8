"""`pl.ldmatrix` and `pl.stmatrix` over many warps, beside a memcpy of as many bytes, turn about in the same run.

Bytes are counted alike for both: what is read and what is written. For a load these are the addressed rows, the
addresses and the registers. Both write memory that is there already (`out=`).
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from ptxloom.fragments.execute import ldmatrix, stmatrix

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = ("m8n8.x1.b16", "m8n8.x4.b16", "m8n8.x4.trans.b16", "m16n16.x2.trans.b8", "m8n16.x4.b8x16.b6x16_p32")


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(name: str, call: Callable[[], object], moved: int, repeats: int) -> None:
    """Print the rate of a call and of memcpy, the fastest of some runs of each, taken in turn."""
    source, target = np.ones(moved // 2, np.uint8), np.ones(moved // 2, np.uint8)
    call()
    times = [(seconds(call), seconds(lambda: np.copyto(target, source))) for _ in range(repeats)]
    ours, copy = (moved / min(column) / 1e9 for column in zip(*times, strict=True))
    print(f"  {name:38} {ours / copy:5.2f} x memcpy: {ours:6.2f} of {copy:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warps", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    warps: int = options.warps
    rng = np.random.default_rng(0)
    print(f"{warps} warps; GB/s of bytes read and written")
    for shared in (True, False):
        memory = rng.integers(0, 256, 65_536 if shared else (warps, 1024), np.uint8)
        picked = np.argsort(rng.random((warps, 64)), axis=-1)[:, :32]
        addresses = (16 * picked).astype(np.uint32)
        print("one memory for all warps" if shared else "a memory for each warp")
        for form in FORMS:
            registers = ldmatrix(form, memory, addresses)
            used = {1: 8, 2: 16, 4: 32}[registers.shape[-1]] * warps
            moved = 16 * used + 4 * used + registers.nbytes
            compare(
                f"ldmatrix {form}",
                lambda f=form, m=memory, a=addresses, r=registers: ldmatrix(f, m, a, out=r),
                moved,
                options.repeats,
            )
        if not shared:
            registers = ldmatrix("m8n8.x4.b16", memory, addresses)
            moved = warps * (512 + 128) + registers.nbytes
            compare(
                "stmatrix m8n8.x4.b16",
                lambda m=memory, a=addresses, r=registers: stmatrix("m8n8.x4.b16", m, a, r),
                moved,
                options.repeats // 3,
            )


if __name__ == "__main__":
    main()
