"""What provenance costs: `python bench/provenance.py [--repeat 7]`, one thread, CPU time, ratios of medians.

Each kernel runs without it and with it in turn, so that a busy host slows all alike. At most 10 times is wanted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples"
FIGURE = 10


def products(name: str, element: type[np.generic], grid: tuple[int, int], block: int | tuple[int, int]) -> None:
    """A matrix product of 256 x 256 x 256."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(element) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / f"{name}.ptx"), name)

    def run(*, provenance: bool) -> object:
        return kernel.launch(grid, block, [a, b, c, 256, 256, 256], threads=1, provenance=provenance)

    report(f"{name} 256^3", run)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def transpose() -> None:
    """A transpose through shared memory: nothing is computed."""
    source, target = np.ones((512, 512), np.float32), np.zeros((512, 512), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "transpose.ptx"), "transpose")
    args: list[Any] = [source, target, 512, 512]

    def run(*, provenance: bool) -> object:
        return kernel.launch((16, 16), (32, 8), args[: len(kernel.parameters)], threads=1, provenance=provenance)

    report("transpose 512^2", run)


def report(name: str, run: Callable[..., object]) -> None:
    """Time a launch without and with provenance."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(REPEAT + 1):
        for provenance, times in seconds.items():
            start = time.process_time()
            run(provenance=provenance)
            times.append(time.process_time() - start)
    plain, followed = (median(times[1:]) for times in seconds.values())
    print(f"{name:18s} {plain * 1e3:8.2f} ms {followed * 1e3:9.2f} ms {followed / plain:6.1f} x   at most {FIGURE}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=7)
    REPEAT: int = parser.parse_args().repeat
    products("sgemm", np.float32, (16, 16), (16, 16))
    products("hgemm", np.float16, (4, 4), 128)
    transpose()
