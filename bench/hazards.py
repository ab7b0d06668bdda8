"""What racecheck and initcheck cost: `python bench/hazards.py [--repeat 9] [--only sgemm ...] [--tools racecheck ...]`.

One thread. Each kernel runs without the tools and with each of them by turns; a time is the process's own, so that a
busy host says little, and a ratio is the median of the turns' ratios. The figures to reach are at the end of each line.
"""

from __future__ import annotations

import argparse
import lzma
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

    Launch = Callable[..., Any]

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = Path(__file__).parents[1] / "tests" / "kernels" / "ptx"
PLAIN = ("memcheck", "synccheck")
FIGURES: dict[str, float] = {
    "racecheck": 4,
    "initcheck": 3,
    "racecheck,initcheck": 7,
    "initcheck:global": 3,
    "racecheck:global": 8,
}
HOPPER = 8  # racecheck of products by wgmma: of figures the one that differs


def kernel(file: Path, name: str) -> Any:
    """A kernel of a file, packed or not."""
    text = lzma.decompress(file.read_bytes()).decode() if file.suffix == ".xz" else file.read_text(encoding="utf-8")
    return pl.kernel(pl.parse(text), name)


def product(name: str, element: type[np.generic], grid: tuple[int, int], block: int | tuple[int, int]) -> Launch:
    """A matrix product of 256 x 256 x 256."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(element) for _ in range(2))
    made = kernel(EXAMPLES / f"{name}.ptx", name)
    c = np.zeros((256, 256), np.float32)
    return lambda **how: made.launch(grid, block, [a, b, c, 256, 256, 256], **how)


def reduction() -> Launch:
    """A reduction of 1M values with shuffles: little shared memory, many registers."""
    values, partial = np.ones(1 << 20, np.float32), np.zeros(256, np.float32)
    made = kernel(EXAMPLES / "reduce.ptx", "reduce")
    return lambda **how: made.launch(256, 256, [values, partial, 1 << 20], **how)


def stream() -> Launch:
    """Vector add of 1M values: nearly every place of global memory is met once."""
    n = 1 << 20
    a, b, c = np.ones(n, np.float32), np.ones(n, np.float32), np.zeros(n, np.float32)
    made = kernel(EXAMPLES / "vector_add.ptx", "vector_add")
    return lambda **how: made.launch(n // 256, 256, [a, b, c, n], **how)


def transposed() -> Launch:
    """A transpose of 512 x 512 through padded shared memory."""
    n = 512
    a, b = np.random.default_rng(1).random((n, n), np.float32), np.zeros((n, n), np.float32)
    made = kernel(KERNELS / "transposes-sm_90.ptx", "transpose_padded")
    return lambda **how: made.launch((n // 32, n // 32), (32, 8), [a, b, n, n], **how)


def stencil() -> Launch:
    """A stencil of 64^3 doubles in registers: seven reads of global memory for each write."""
    n = 64
    a, b = np.random.default_rng(1).random(n**3), np.zeros(n**3)
    made = kernel(KERNELS / "physics-sm_90.ptx", "stencil_3d")
    return lambda **how: made.launch(n // 4, (n, 4), [a, b, n], **how)


def hopper() -> Launch:
    """A product of 256 x 256 x 256 halves by wgmma, with tensor copies into a ring of stages."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(np.float16) for _ in range(2))
    boxes = ((a, (64, 128)), (b, (64, 64)), (np.zeros((256, 256), np.float16), (64, 64)))
    maps = [pl.tensor_map(array, box, swizzle="128B") for array, box in boxes]
    made = kernel(KERNELS / "hopper-sm_90a.ptx.xz", "gemm_f16")
    return lambda **how: made.launch((2, 2), 384, [*maps, 256], 163_840, **how)


def triton() -> Launch:
    """A product of 128 x 128 x 512 halves by wgmma, as Triton writes it: copies by `cp.async`."""
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (128, 512)).astype(np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    made = kernel(KERNELS / "triton_hopper_pointers-sm_90a.ptx", "pointers")
    return lambda **how: made.launch((2, 2), 128, [a, b, c, 128, 128, 512, 0, 0], 24_576, **how)


ROWS: dict[str, Callable[[], Launch]] = {
    "sgemm": lambda: product("sgemm", np.float32, (16, 16), (16, 16)),
    "hgemm": lambda: product("hgemm", np.float16, (4, 4), 128),
    "reduce": reduction,
    "add": stream,
    "transpose": transposed,
    "stencil": stencil,
    "wgmma": hopper,
    "triton": triton,
}


def report(name: str, launch: Launch, tools: list[str], repeat: int) -> None:
    """Measure a kernel under each choice of tools."""
    seconds: dict[str, list[float]] = {tool: [] for tool in ("", *tools)}
    for _ in range(repeat + 1):
        for tool, times in seconds.items():
            start = time.process_time()
            out = launch(threads=1, checks=(*PLAIN, *filter(None, tool.split(","))))
            times.append(time.process_time() - start)
            assert not tuple(out.hazards), f"{name} under {tool}"
            del out
    print(f"{name:10s} {'neither':20s} {median(seconds[''][1:]) * 1e3:9.2f} ms", flush=True)
    for tool in tools:
        ratio = median(b / a for a, b in zip(seconds[""][1:], seconds[tool][1:], strict=True))
        most = HOPPER if tool == "racecheck" and name in {"wgmma", "triton"} else FIGURES[tool]
        note = f"{median(seconds[tool][1:]) * 1e3:9.2f} ms {ratio:6.2f} x   at most {most:g}"
        print(f"{name:10s} {tool:20s} {note}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--only", nargs="+", choices=ROWS, default=list(ROWS))
    parser.add_argument("--tools", nargs="+", choices=FIGURES, default=list(FIGURES))
    options = parser.parse_args()
    for row in options.only:
        report(row, ROWS[row](), options.tools, options.repeat)
