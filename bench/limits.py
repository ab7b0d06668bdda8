"""What the processor could do beside what kernels take: `python bench/limits.py [--repeat 9] [--only sgemm]`.

Each row runs a kernel on one thread, memcheck and synccheck on, and beside it, by turns, what computes the same on the
processor: plain loops in C (`peers/limits.c`, by the system's `cc -O3 -march=native`), NumPy, or a memory copy. Times
are those of the process; a ratio is the median of the turns' ratios, so that it holds on a machine that others use.
"""

from __future__ import annotations

import argparse
import ctypes
import lzma
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported: one thread on each side

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Sides = dict[str, Callable[[], object]]

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
KERNELS = HERE.parent / "tests" / "kernels" / "ptx"
MANY = 1 << 24


def compiled(folder: str) -> ctypes.CDLL:
    """The loops, compiled."""
    library = Path(folder) / "limits.so"
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", str(HERE / "peers" / "limits.c"), "-lm", "-o"]
    subprocess.run([*command, str(library)], check=True)
    return ctypes.CDLL(str(library))


def kernel(file: Path, name: str) -> Any:
    """A kernel of a file, packed or not."""
    text = lzma.decompress(file.read_bytes()).decode() if file.suffix == ".xz" else file.read_text(encoding="utf-8")
    return pl.kernel(pl.parse(text), name)


def call(function: Any, *given: Any) -> Callable[[], object]:
    """A call of C: arrays by their addresses, whole numbers as `long`, others as `float`."""
    kinds: dict[type, Callable[[Any], Any]] = {
        np.ndarray: lambda a: ctypes.c_void_p(a.ctypes.data),
        int: ctypes.c_long,
        float: ctypes.c_float,
    }
    passed = [kinds[type(one)](one) for one in given]
    return lambda: function(*passed)


def moved(c: ctypes.CDLL) -> Iterator[tuple[str, Sides]]:
    """What memory limits."""
    rng = np.random.default_rng(0)
    a, b, out = rng.random(MANY, np.float32), rng.random(MANY, np.float32), np.zeros(MANY, np.float32)
    ours, there = np.zeros(MANY, np.float32), np.zeros(MANY, np.float32)
    add = kernel(EXAMPLES / "vector_add.ptx", "vector_add")
    yield (
        "vector add 2^24",
        {
            "ptxloom": lambda: add.launch(MANY // 256, 256, [a, b, ours, MANY], threads=1),
            "NumPy": lambda: np.add(a, b, out=out),
            "C": call(c.add, a, b, there, MANY),
            "memcpy": call(c.copy, a, there, MANY),
        },
    )
    assert (ours == out).all()
    whole = np.ones(MANY, np.float32)
    partial = np.zeros(4096, np.float32)
    reduce = kernel(EXAMPLES / "reduce.ptx", "reduce")
    c.sum.restype = ctypes.c_float
    yield (
        "reduction 2^24",
        {
            "ptxloom": lambda: reduce.launch(4096, 256, [whole, partial, MANY], threads=1),
            "NumPy": whole.sum,
            "C": call(c.sum, whole, MANY),
        },
    )
    assert partial.sum() == MANY
    n = 1024
    square, turned, beside = rng.random((n, n), np.float32), np.zeros((n, n), np.float32), np.zeros((n, n), np.float32)
    transpose = kernel(KERNELS / "transposes-sm_90.ptx", "transpose_padded")
    yield (
        "transpose 1024^2",
        {
            "ptxloom": lambda: transpose.launch((n // 32, n // 32), (32, 8), [square, turned, n, n], threads=1),
            "C": call(c.transpose, square, beside, n),
            "memcpy": call(c.copy, square, beside, n * n),
        },
    )
    assert (turned == square.T).all()
    n = 128
    cube, smooth, other = rng.random(n**3), np.zeros(n**3), np.zeros(n**3)
    stencil = kernel(KERNELS / "physics-sm_90.ptx", "stencil_3d")
    yield (
        "stencil 128^3, f64",
        {
            "ptxloom": lambda: stencil.launch(n // 4, (n, 4), [cube, smooth, n], threads=1),
            "C": call(c.stencil, cube, other, n),
        },
    )
    assert np.allclose(smooth, other)


def computed(c: ctypes.CDLL) -> Iterator[tuple[str, Sides]]:
    """What arithmetic limits."""
    rng = np.random.default_rng(1)
    for n in (256, 1024):
        yield from single(c, n)
    n = 2048
    bodies, moved_, there = rng.random(4 * n, np.float32), np.zeros(4 * n, np.float32), np.zeros(4 * n, np.float32)
    nbody = kernel(KERNELS / "physics-sm_90.ptx", "nbody")
    yield (
        "n-body 2048",
        {
            "ptxloom": lambda: nbody.launch(n // 64, 64, [bodies, moved_, n, 0.001], threads=1),
            "C": call(c.nbody, bodies, there, n, 0.001),
        },
    )
    assert np.allclose(moved_, there, atol=1e-3)
    count, length = 1 << 14, 50
    data = rng.integers(0, 256, count * length, dtype=np.uint8)
    digests, known = np.zeros(8 * count, np.uint32), np.zeros(8 * count, np.uint32)
    sha256 = kernel(KERNELS / "hashes-sm_90.ptx.xz", "sha256")
    yield (
        "SHA-256 of 16,384 messages",
        {
            "ptxloom": lambda: sha256.launch(count // 64, 64, [data, digests, length], threads=1),
            "C": call(c.sha256, data, known, count, length),
        },
    )
    assert (digests == known).all()
    for n in (256, 1024):
        yield from half(n)


def single(c: ctypes.CDLL, n: int) -> Iterator[tuple[str, Sides]]:
    """A product of two square matrices in `.f32`."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (n, n)).astype(np.float32) for _ in range(2))
    product, plain, blas = (np.zeros((n, n), np.float32) for _ in range(3))
    sgemm = kernel(EXAMPLES / "sgemm.ptx", "sgemm")
    yield (
        f"sgemm {n}^3",
        {
            "ptxloom": lambda: sgemm.launch((n // 16, n // 16), (16, 16), [a, b, product, n, n, n], threads=1),
            "C": call(c.sgemm, a, b, plain, n),
            "NumPy": lambda: np.matmul(a, b, out=blas),
        },
    )
    assert (product == plain).all()


def half(n: int) -> Iterator[tuple[str, Sides]]:
    """The same by tensor cores: numbers that fill their significands, and small integers."""
    rng = np.random.default_rng(2)
    few = [rng.integers(-4, 5, (n, n)).astype(np.float16) for _ in range(2)]
    full = [rng.standard_normal((n, n)).astype(np.float16) for _ in range(2)]
    into = np.zeros((n, n), np.float32)
    hgemm = kernel(EXAMPLES / "hgemm.ptx", "hgemm")
    grid = (n // 64, n // 64)
    yield (
        f"hgemm {n}^3, full significands",
        {
            "ptxloom": lambda: hgemm.launch(grid, 128, [*full, into, n, n, n], threads=1),
            "small integers": lambda: hgemm.launch(grid, 128, [*few, into, n, n, n], threads=1),
        },
    )


def by_turns(sides: Sides, repeat: int) -> dict[str, list[float]]:
    """What each side takes, in each of several turns, behind one that is not counted; short ones several times."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(repeat + 1):
        for name, run in sides.items():
            times, start = 0, time.process_time()
            while not times or time.process_time() - start < 0.02:
                run()
                times += 1
            if turn:
                taken[name].append((time.process_time() - start) / times)
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        c = compiled(folder)
        for family in (moved, computed):
            for name, sides in family(c):
                taken = by_turns(sides, options.repeat if options.only in name else 0)
                if not taken["ptxloom"]:
                    continue
                ours = taken.pop("ptxloom")
                print(f"{name:32} {statistics.median(ours) * 1e3:9.3f} ms", end="")
                for other, times in taken.items():
                    ratio = statistics.median(mine / its for mine, its in zip(ours, times, strict=True))
                    print(f"   {ratio:6.2f} x {other} ({statistics.median(times) * 1e3:.3f} ms)", end="")
                print(flush=True)


if __name__ == "__main__":
    main()
