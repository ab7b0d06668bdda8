"""`pl.ldmatrix` and `pl.stmatrix` over many warps, beside a memcpy of the same bytes in the same run.

Bytes moved are counted alike for both: what is read and what is written. For a load these are the addressed rows, the
addresses, and the registers.
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


def fastest(call: Callable[[], object], repeats: int) -> float:
    """Seconds of the fastest of some runs."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--warps", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    warps: int = options.warps
    rng = np.random.default_rng(0)
    print(f"{warps} warps; GB/s of bytes read and written; the ratio is to memcpy")
    for shared in (True, False):
        memory = rng.integers(0, 256, 65_536 if shared else (warps, 1024), np.uint8)
        rows = memory.shape[-1] // 16
        picked = np.argsort(rng.random((warps, rows if rows < 100 else 64)), axis=-1)[:, :32]
        addresses = (16 * picked).astype(np.uint32)
        print("one memory for all warps" if shared else "a memory for each warp")
        for form in FORMS:
            registers = ldmatrix(form, memory, addresses)
            source, target = np.zeros(registers.nbytes, np.uint8), np.ones(registers.nbytes, np.uint8)
            used = min(32, 8 * registers.shape[-1]) * warps
            moved = 16 * used + 4 * used + registers.nbytes
            copied = fastest(lambda a=target, b=source: np.copyto(a, b), options.repeats)
            memcpy = 2 * registers.nbytes / copied
            took = fastest(lambda f=form, m=memory, a=addresses: ldmatrix(f, m, a), options.repeats)
            ratio = moved / took / memcpy
            print(f"  ldmatrix {form:26} {ratio:5.2f} x memcpy: {moved / took / 1e9:6.2f} of {memcpy / 1e9:6.2f}")
        if not shared:
            store = "m8n8.x4.b16"
            registers = ldmatrix(store, memory, addresses)
            took = fastest(lambda m=memory, a=addresses, r=registers: stmatrix("m8n8.x4.b16", m, a, r), 3)
            moved = warps * (512 + 128 + 512)
            print(f"  stmatrix {store:26} {moved / took / memcpy:5.2f} x memcpy: {moved / took / 1e9:6.2f}")


if __name__ == "__main__":
    main()
