"""What racecheck and initcheck cost: `python bench/hazards.py [--repeat 15]`, one thread.

Each kernel runs without them and with them in turn, so that a busy host slows all alike; ratios are of medians. The
figures to reach: racecheck at most 10 times slower, initcheck 3; none is set for racecheck:global.
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
PLAIN = ("memcheck", "synccheck")
FIGURES: dict[tuple[str, ...], float] = {
    (): 1,
    ("racecheck",): 10,
    ("initcheck",): 3,
    ("racecheck", "initcheck"): 13,
    ("initcheck:global",): 3,
    ("racecheck:global",): 0,
}


def products(name: str, element: type[np.generic], grid: tuple[int, int], block: int | tuple[int, int]) -> None:
    """A matrix product of 256 x 256 x 256 under each choice of tools."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(element) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / f"{name}.ptx"), name)

    def launch(tools: tuple[str, ...]) -> Callable[[], None]:
        def run() -> None:
            out = kernel.launch(grid, block, [a, b, c, 256, 256, 256], threads=1, checks=(*PLAIN, *tools))
            assert tuple(out.hazards) == ()

        return run

    report(name, {tools: launch(tools) for tools in FIGURES})
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()


def reduction() -> None:
    """A reduction of 1M values with shuffles: little shared memory, many registers."""
    n = 1 << 20
    values, partial = np.ones(n, np.float32), np.zeros(256, np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "reduce.ptx"), "reduce")

    def launch(tools: tuple[str, ...]) -> Callable[[], None]:
        def run() -> None:
            kernel.launch(256, 256, [values, partial, n], threads=1, checks=(*PLAIN, *tools))

        return run

    report("reduce", {tools: launch(tools) for tools in FIGURES})
    assert partial.sum() == n


def stream() -> None:
    """Vector add of 1M values: nearly every place of global memory is met once."""
    n = 1 << 20
    a, b, c = np.ones(n, np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "vector_add.ptx"), "vector_add")

    def launch(tools: tuple[str, ...]) -> Callable[[], None]:
        def run() -> None:
            kernel.launch(n // 256, 256, [a, b, c, n], threads=1, checks=(*PLAIN, *tools))

        return run

    report("add", {tools: launch(tools) for tools in FIGURES})
    assert (c == 2).all()


def report(name: str, actions: dict[tuple[str, ...], Callable[[], None]]) -> None:
    seconds: dict[tuple[str, ...], list[float]] = {tools: [] for tools in actions}
    for _ in range(REPEAT + 1):
        for tools, action in actions.items():
            start = time.perf_counter()
            action()
            seconds[tools].append(time.perf_counter() - start)
    plain = median(seconds[()][1:])
    for tools, times in seconds.items():
        taken = median(times[1:])
        note = f"{taken / plain:6.2f} x" if tools else ""
        note += f"   at most {FIGURES[tools]:3.0f}" if tools and FIGURES[tools] else ""
        print(f"{name:8s} {' and '.join(tools) or 'neither':26s} {taken * 1e3:9.2f} ms {note}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=15)
    REPEAT: int = parser.parse_args().repeat
    products("sgemm", np.float32, (16, 16), (16, 16))
    products("hgemm", np.float16, (4, 4), 128)
    reduction()
    stream()
