"""What provenance costs: `python bench/provenance.py [--repeat 7] [--only sgemm]`, one thread, CPU time.

Each kernel runs without it and with it in turn, so that a busy host slows all alike; a ratio is the median of those of
the turns. Two turns come before, in which code is made. At most 10 times is wanted.
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
    from collections.abc import Callable, Iterator

    Launch = Callable[..., object]

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = Path(__file__).parents[1] / "tests" / "kernels" / "ptx"
FIGURE = 10
WARM = 2  # turns


def launches() -> Iterator[tuple[str, Launch]]:
    """The kernels, each with its arguments."""
    rng = np.random.default_rng(1)
    n = 256
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    halves = [one.astype(np.float16) for one in (a, b)]
    c = np.zeros((n, n), np.float32)
    yield "sgemm 256^3", launch(EXAMPLES / "sgemm.ptx", "sgemm", (16, 16), (16, 16), [a, b, c, n, n, n])
    assert (c == a @ b).all()
    yield "hgemm 256^3", launch(EXAMPLES / "hgemm.ptx", "hgemm", (4, 4), 128, [*halves, c, n, n, n])
    assert (c == a @ b).all()
    triton = KERNELS / "triton_hopper_pointers-sm_90a.ptx"
    yield "wgmma 256^3", launch(triton, "pointers", (4, 4), 128, [*halves, c, n, n, n, 0, 0], shared_bytes=24_576)
    assert (c == a @ b.T).all()
    square, turned = np.ones((512, 512), np.float32), np.zeros((512, 512), np.float32)
    yield (
        "transpose 512^2",
        launch(EXAMPLES / "transpose.ptx", "transpose", (16, 16), (32, 8), [square, turned, 512, 512]),
    )
    bodies, moved = rng.random(4 * 1024, np.float32), np.zeros(4 * 1024, np.float32)
    physics = KERNELS / "physics-sm_90.ptx"
    yield "n-body 1,024", launch(physics, "nbody", 16, 64, [bodies, moved, 1024, 0.001])
    cube, smooth = rng.random(64**3), np.zeros(64**3)
    yield "stencil 64^3, f64", launch(physics, "stencil_3d", 16, (64, 4), [cube, smooth, 64])
    whole, partial = np.ones(1 << 20, np.float32), np.zeros(1024, np.float32)
    yield "reduction 2^20", launch(EXAMPLES / "reduce.ptx", "reduce", 1024, 256, [whole, partial, 1 << 20])
    total = np.zeros(1 << 20, np.float32)
    added = [whole, whole, total, 1 << 20]
    yield "vector add 2^20", launch(EXAMPLES / "vector_add.ptx", "vector_add", 4096, 256, added)


def launch(file: Path, name: str, grid: Any, block: Any, args: list[Any], *, shared_bytes: int = 0) -> Launch:
    """Launches of a kernel, with provenance or without."""
    kernel = pl.kernel(pl.load(file), name)
    args = args[: len(kernel.parameters)]
    return lambda provenance: kernel.launch(grid, block, args, shared_bytes, threads=1, provenance=provenance)


def report(name: str, run: Launch) -> None:
    """Time a launch without and with provenance."""
    plain, followed = [], []
    for _ in range(REPEAT + WARM):
        for provenance, times in ((False, plain), (True, followed)):
            start = time.process_time()
            run(provenance=provenance)
            times.append(time.process_time() - start)
    turns = list(zip(plain[WARM:], followed[WARM:], strict=True))
    ratio = median(with_ / without for without, with_ in turns)
    times = [median(times[WARM:]) * 1e3 for times in (plain, followed)]
    print(f"{name:18s} {times[0]:8.2f} ms {times[1]:9.2f} ms {ratio:6.1f} x   at most {FIGURE}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    REPEAT: int = given.repeat
    for name, run in launches():
        if given.only in name:
            report(name, run)
        else:
            run(provenance=False)  # its result is looked at
