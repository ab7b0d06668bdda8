"""Layout algebra against pycute (pip install --no-deps nvidia-cutlass), on the same random layouts in the same run.

Prints milliseconds for 1000 layouts; best of five.
"""

from __future__ import annotations

import importlib
import time
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom.layout as mine
from ptxloom.layout import Layout, LayoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COUNT = 1000


def random_layout(rng: Random) -> Layout:
    """Dense, its modes in any order, some of them nested."""
    shape = tuple(
        rng.choice([2, 3, 4, 8]) if rng.random() < 0.7 else (rng.choice([2, 4]), rng.choice([2, 3]))
        for _ in range(rng.randint(1, 4))
    )
    strides = [0] * len(Layout(shape).modes)
    step = 1
    for i in rng.sample(range(len(strides)), len(strides)):
        strides[i] = step
        step *= Layout(shape).modes[i][0]
    rest = iter(strides)
    return Layout(shape, tuple(next(rest) if isinstance(s, int) else (next(rest), next(rest)) for s in shape))


def milliseconds(work: Callable[..., object], cases: Sequence[tuple[Any, ...]]) -> tuple[float, int]:
    """The best time of five over all cases, and how many of them were refused."""
    best = float("inf")
    refused = 0
    for _ in range(5):
        refused = 0
        start = time.perf_counter()
        for case in cases:
            try:
                work(*case)
            except (AssertionError, LayoutError, IndexError, ZeroDivisionError):
                refused += 1
        best = min(best, time.perf_counter() - start)
    return best * 1e3, refused


def main() -> None:
    rng = Random(0)
    ones = [(random_layout(rng),) for _ in range(COUNT)]
    pairs = [(random_layout(rng), random_layout(rng)) for _ in range(COUNT)]
    tiled = [(random_layout(rng), Layout(rng.choice([2, 3, 4]), rng.choice([1, 2]))) for _ in range(COUNT)]
    work = {
        "coalesce": ones,
        "complement": [(a, 256) for (a,) in ones],
        "right_inverse": ones,
        "composition": pairs,
        "logical_divide": tiled,
    }
    try:
        pycute: Any = importlib.import_module("pycute")
    except ImportError:
        pycute = None
    for name, cases in work.items():
        line, refused = milliseconds(getattr(mine, name), cases)
        text = f"{name:15} ptxloom {line:6.2f} ms ({refused} refused)"
        if hasattr(pycute, name):
            theirs = [tuple(pycute.Layout(x.shape, x.stride) if isinstance(x, Layout) else x for x in c) for c in cases]
            other, refused = milliseconds(getattr(pycute, name), theirs)
            text += f"   pycute {other:6.2f} ms ({refused} refused)   ratio {other / line:.2f}"
        print(text)
    tile = Layout(((16, 8), (8, 8, 128)), ((512, 1), (8, 64, 8192)))  # a (thread, value) layout of 128 x 128 x 64
    threads, values = np.arange(tile[0].size)[:, None], np.arange(tile[1].size)
    best, _ = milliseconds(tile.at, [(threads, values)])
    print(f"(thread, value) layout of a 128x128x64 tile, {tile.size} values at once: {best:.2f} ms")


if __name__ == "__main__":
    main()
