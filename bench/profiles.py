"""What a profile costs: `python bench/profiles.py [--repeat 15]`, one thread.

Each kernel runs with and without it in turn, so that a busy host slows both alike; ratios are of medians. The figure
to reach: at most twice the time on both matrix products.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples"
MOST = 2.0


def products(name: str, element: type[np.generic], grid: tuple[int, int], block: int | tuple[int, int]) -> None:
    """A matrix product of 256 x 256 x 256."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(element) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / f"{name}.ptx"), name)
    report(name, lambda profile: kernel.launch(grid, block, [a, b, c, 256, 256, 256], threads=1, profile=profile))
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def reduction() -> None:
    """A reduction of 1M values with shuffles."""
    n = 1 << 20
    values, partial = np.ones(n, np.float32), np.zeros(256, np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "reduce.ptx"), "reduce")
    report("reduce", lambda profile: kernel.launch(256, 256, [values, partial, n], threads=1, profile=profile))
    assert partial.sum() == n


def transpose() -> None:
    """A transpose of 1024 x 1024 values whose columns conflict."""
    values = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
    out = np.zeros_like(values)
    kernel = pl.kernel(pl.load(EXAMPLES / "transpose.ptx"), "transpose")
    arguments = [values, out, 1024]
    report("transpose", lambda profile: kernel.launch((32, 32), (32, 8), arguments, threads=1, profile=profile))
    assert (out == values.T).all()


def vector_add() -> None:
    """A sum of vectors of 1M values: nothing but global memory."""
    n = 1 << 20
    a, b, c = (np.ones(n, np.float32) for _ in range(3))
    kernel = pl.kernel(pl.load(EXAMPLES / "vector_add.ptx"), "vector_add")
    report("add", lambda profile: kernel.launch(n // 256, 256, [a, b, c, n], threads=1, profile=profile))
    assert (c == 2).all()


def report(name: str, launch: Callable[[bool], pl.LaunchResult]) -> None:
    """Both in turn."""
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for _ in range(REPEAT + 1):
        for profile, times in seconds.items():
            start = time.perf_counter()
            result = launch(profile)
            assert result.profile is None or result.profile.totals.executions
            times.append(time.perf_counter() - start)
    plain, profiled = (median(times[1:]) for times in seconds.values())
    ratio = f"{profiled / plain:5.2f} x   at most {MOST:.0f}"
    print(f"{name:10s} {plain * 1e3:9.2f} ms   with a profile {profiled * 1e3:9.2f} ms   {ratio}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=15)
    REPEAT: int = parser.parse_args().repeat
    products("sgemm", np.float32, (16, 16), (16, 16))
    products("hgemm", np.float16, (4, 4), 128)
    reduction()
    transpose()
    vector_add()
