"""From text to the first result, in a fresh process: `python bench/cold.py [--beside TREE] [--repeat 3] [--longest N]`.

Twenty kernels from 38 instructions to 30,000: a row each, with an empty cache of machine code and with a full one, in
milliseconds of CPU (this process and the compilers that it starts), the best of several; what imports take is not in
it, and Python keeps the bytecode of what is imported late, whatever the environment says. `--beside` runs another tree
of ptxloom by turns, on the same texts. Numbers among the arguments are 64, arrays hold zeros, and one CTA runs: a row
is what it takes to make a kernel ready.
"""

from __future__ import annotations

import argparse
import gc
import lzma
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import ptxloom as pl

ROOT = Path(__file__).parents[1]
BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
PTX = "tests/kernels/ptx"
#: A file and a kernel of it; or a number of instructions, for a kernel without branches.
KERNELS: tuple[tuple[str, str, int], ...] = (
    (f"{PTX}/narrow-sm_80.ptx", "matvec_int8", 64),
    ("examples/vector_add.ptx", "vector_add", 256),
    (f"{PTX}/graphs-sm_80.ptx", "floyd_warshall", 8),
    (f"{PTX}/histograms-sm_80.ptx", "histogram", 64),
    (f"{PTX}/triton_softmax-sm_80.ptx", "softmax", 128),
    (f"{PTX}/images-sm_80.ptx", "sobel", 64),
    ("examples/reduce.ptx", "reduce", 256),
    ("examples/sgemm.ptx", "sgemm", 256),
    (f"{PTX}/scans-sm_80.ptx", "compact", 64),
    (f"{PTX}/physics-sm_80.ptx", "nbody", 16),
    (f"{PTX}/triton_matmul-sm_80.ptx", "matmul", 64),
    ("examples/hgemm.ptx", "hgemm", 128),
    (f"{PTX}/triton_attention-sm_80.ptx", "attention", 64),
    (f"{PTX}/dense-sm_80.ptx.xz", "sgemm_registers", 64),
    (f"{PTX}/hashes-sm_80.ptx.xz", "sha256", 64),
    ("", "38", 8),
    ("", "500", 64),
    ("", "3000", 64),
    ("", "10000", 64),
    ("", "30000", 64),
)


def text_of(file: str, name: str) -> str:
    """The text of a kernel's module."""
    if not file:
        sys.path.insert(0, str(Path(__file__).parent))
        from machine import random_kernel  # noqa: PLC0415 - NumPy, for these alone

        return random_kernel(8, int(name))
    content = (ROOT / file).read_bytes()
    return (lzma.decompress(content) if file.endswith(".xz") else content).decode()


def one(file: str, name: str, block: int) -> None:
    """Print the milliseconds of CPU from a text to the end of a kernel's first launch."""
    import numpy as np  # noqa: PLC0415 - only the process that measures

    import ptxloom as pl  # noqa: PLC0415 - likewise

    make, text = pl.kernel, text_of(file, name)
    array = np.zeros(1 << 20, np.uint8)
    gc.collect()  # of what imports have left: it would be due somewhere behind the clock's start
    start = spent()
    module = pl.parse(text)
    kernel = make(module, name if file else "k")
    args = [array if parameter.size == 8 else 64 for parameter in parameters_of(kernel)]
    kernel.launch(1, block, args, 1 << 16, threads=1)
    print((spent() - start) * 1e3)


def parameters_of(kernel: pl.Kernel) -> Sequence[Any]:
    """A kernel's parameters, which only its program had once."""
    return kernel.parameters if hasattr(kernel, "parameters") else kernel.program.parameters


def spent() -> float:
    """Seconds of CPU of this process and of those that it started and has seen the end of."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def measured(tree: Path, kernel: tuple[str, str, int], repeat: int) -> tuple[float, float]:
    """The best milliseconds of a tree for a kernel: with an empty cache, and with a full one."""
    command = [sys.executable, __file__, "--one", *map(str, kernel)]
    empty: list[float] = []
    full: list[float] = []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "PTXLOOM_CACHE": folder, "PYTHONPATH": str(tree / "src"), **BYTECODE}
            for found in (empty, full):
                out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
                found.append(float(out.stdout))
    return min(empty), min(full)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--longest", type=int, default=30_000)
    parser.add_argument("--one", nargs=3)
    options = parser.parse_args()
    if options.one is not None:
        one(options.one[0], options.one[1], int(options.one[2]))
        return
    trees = [ROOT] if options.beside is None else [options.beside.absolute(), ROOT]
    titles = "empty cache    full cache" if len(trees) == 1 else "empty: before       now          full: before     now"
    print(f"{'ms of CPU to the first result':32s}{titles}")
    rows: list[list[float]] = []
    for kernel in KERNELS:
        if not kernel[0] and int(kernel[1]) > options.longest:
            continue
        times = [measured(tree, kernel, options.repeat) for tree in trees]
        rows.append([time_ for state in zip(*times, strict=True) for time_ in state])
        show(kernel[1] if kernel[0] else f"{int(kernel[1]):,} instructions", rows[-1])
    for title, choose in (("the median", statistics.median), ("the largest", max)):
        show(title, [choose(column) for column in zip(*rows, strict=True)])


def show(title: str, times: list[float]) -> None:
    """Print a row; with two trees also how much faster the second one is."""
    if len(times) == 2:
        print(f"{title:32s}{times[0]:11.1f}   {times[1]:11.1f}", flush=True)
        return
    pairs = (f"{a:13.1f}{b:10.1f} {a / b:6.1f} x" for a, b in (times[:2], times[2:]))
    print(f"{title:32s}{''.join(pairs)}", flush=True)


if __name__ == "__main__":
    main()
