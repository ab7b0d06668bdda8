"""How kernels grow with threads: `python bench/growth.py [--repeat 9] [--only sgemm] [--threads 1 2 4 8 16]`.

Seconds of the clock, memcheck and synccheck on, in turns: one of each number of threads, and again. What is printed is
the median time on one thread, how many times as fast the others are (the median of the turns' ratios), and how much
more of the processor the largest number takes than one thread does: a core that is half of a pair, or memory that is
busy, makes work dearer, while what waits takes nothing. Only a quiet machine says anything.

Beside it, what the machine can give: plain C loops (`peers/limits.c`), as many copies as threads, each on arrays of its
own. Its figure is how much work gets done in the time of one.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from limits import EXAMPLES, KERNELS, call, compiled, kernel

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Callable, Iterator

    Run = Callable[[int], object]
    """Does the work on a number of threads."""


def kernels() -> Iterator[tuple[str, Run]]:
    """What runs on our machine; each checks what it has computed once it is done with."""
    rng = np.random.default_rng(3)
    for n in (768, 1024, 1536):
        yield from single(n)
    for n in (1024, 2048):
        yield from half(f"{n}^3, small integers", *(rng.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2)))
        yield from half(
            f"{n}^3, full significands", *(rng.standard_normal((n, n)).astype(np.float16) for _ in range(2))
        )
    for n in (8192, 32768):
        yield from bodies(n)
    n = 1 << 26
    ones, partial = np.ones(n, np.float32), np.zeros(4096, np.float32)
    reduce = kernel(EXAMPLES / "reduce.ptx", "reduce")
    yield "reduction 2^26", lambda threads: reduce.launch(4096, 256, [ones, partial, n], threads=threads)
    assert partial.sum() == n
    a, b = rng.random(n, np.float32), rng.random(n, np.float32)
    c = np.zeros(n, np.float32)
    add = kernel(EXAMPLES / "vector_add.ptx", "vector_add")
    yield "vector add 2^26", lambda threads: add.launch(n // 256, 256, [a, b, c, n], threads=threads)
    assert (c == a + b).all()


def single(n: int) -> Iterator[tuple[str, Run]]:
    """A product of square matrices in `.f32`."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    sgemm = kernel(EXAMPLES / "sgemm.ptx", "sgemm")
    given = [a, b, c, n, n, n]
    yield f"sgemm {n}^3", lambda threads: sgemm.launch((n // 16, n // 16), (16, 16), given, threads=threads)
    assert (c == a @ b).all()


def half(name: str, a: np.ndarray, b: np.ndarray) -> Iterator[tuple[str, Run]]:
    """The same by tensor cores."""
    n = len(a)
    c = np.zeros((n, n), np.float32)
    hgemm = kernel(EXAMPLES / "hgemm.ptx", "hgemm")
    grid = (n // 64, n // 64)
    yield f"hgemm {name}", lambda threads: hgemm.launch(grid, 128, [a, b, c, n, n, n], threads=threads)
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)


def bodies(n: int) -> Iterator[tuple[str, Run]]:
    """Bodies that attract each other."""
    places, moved = np.random.default_rng(2).random(4 * n, np.float32), np.zeros(4 * n, np.float32)
    nbody = kernel(KERNELS / "physics-sm_90.ptx", "nbody")
    yield f"n-body {n:,}", lambda threads: nbody.launch(n // 64, 64, [places, moved, n, 0.001], threads=threads)
    assert np.isfinite(moved).all()


def loops(c: ctypes.CDLL, pool: ThreadPoolExecutor, most: int) -> Iterator[tuple[str, Run]]:
    """What the machine can give: copies of loops, side by side."""
    n, count = 512, 1 << 23
    rng = np.random.default_rng(4)
    squares = [[rng.random((n, n), np.float32) for _ in range(3)] for _ in range(most)]
    lines = [[rng.random(count, np.float32) for _ in range(3)] for _ in range(most)]
    multiplied = [call(c.sgemm, *three, n) for three in squares]
    added = [call(c.add, *three, count) for three in lines]
    yield f"C, sgemm {n}^3", lambda threads: [one.result() for one in [pool.submit(f) for f in multiplied[:threads]]]
    yield "C, vector add 2^23", lambda threads: [one.result() for one in [pool.submit(f) for f in added[:threads]]]


def by_turns(run: Run, threads: list[int], repeat: int) -> dict[int, list[tuple[float, float]]]:
    """Seconds of the clock and of the processor for each number of threads, in each of several turns."""
    taken: dict[int, list[tuple[float, float]]] = {number: [] for number in threads}
    for turn in range(repeat + 2):
        for number in threads:
            clock, processor = time.perf_counter(), time.process_time()
            run(number)
            if turn > 1:
                taken[number].append((time.perf_counter() - clock, time.process_time() - processor))
    return taken


def told(name: str, taken: dict[int, list[tuple[float, float]]], *, copies: bool = False) -> str:
    """A line: milliseconds of one, times as fast, and times as much of the processor on most."""
    first, most = min(taken), max(taken)
    line = f"{name:32} {statistics.median(clock for clock, _ in taken[first]) * 1e3:9.2f} ms"
    for number, times in taken.items():
        work = number if copies else 1
        ratio = statistics.median(work * a / b for (a, _), (b, _) in zip(taken[first], times, strict=True))
        line += f"  {number:2}: {ratio:5.2f}"
    spent = [b / a / (most if copies else 1) for (_, a), (_, b) in zip(taken[first], taken[most], strict=True)]
    return f"{line}   processor {statistics.median(spent):.2f} x"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    options = parser.parse_args()
    threads: list[int] = options.threads
    print(f"{len(os.sched_getaffinity(0))} cores; PTXLOOM_TIER={os.environ.get('PTXLOOM_TIER', 'auto')}")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(max(threads)) as pool:
        for name, run in loops(compiled(folder), pool, max(threads)):
            if options.only in name:
                print(told(name, by_turns(run, threads, options.repeat), copies=True), flush=True)
        for name, run in kernels():
            if options.only in name:
                print(told(name, by_turns(run, threads, options.repeat)), flush=True)


if __name__ == "__main__":
    main()
