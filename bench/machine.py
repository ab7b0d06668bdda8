"""How fast the machine runs kernels, beside a NumPy loop of this host: `python bench/machine.py [--repeat 20]`.

Times are the best of several runs, one thread, memcheck and synccheck on. The figures to reach are DESIGN 5's. Where
numba (its CUDA simulator) and Triton (its interpreter) are installed, they run in the same process on small sizes,
which the rows state, and the ratio is per element of work.
"""

from __future__ import annotations

import argparse
import importlib
import lzma
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).parents[1] / "examples"
HOPPER = Path(__file__).parents[1] / "tests" / "kernels" / "ptx" / "hopper-sm_90a.ptx.xz"
REGISTERS = ".reg .pred %p<8>; .reg .b32 %r<99>; .reg .f32 %f<99>; .reg .b64 %rd<99>;"


def best(action: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The shortest time of an action in seconds, and its last result."""
    shortest, result = float("inf"), None
    for _ in range(repeat):
        start = time.perf_counter()
        result = action()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def row(name: str, seconds: float, figure: float, note: str = "") -> None:
    print(f"{name:44s} {seconds * 1e3:10.3f} ms   at most {figure * 1e3:7.2f}   {note}")


def vector_add(repeat: int) -> float:
    n = 1 << 20
    rng = np.random.default_rng(0)
    a, b, c = rng.random(n, np.float32), rng.random(n, np.float32), np.zeros(n, np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "vector_add.ptx"), "vector_add")
    seconds, out = best(lambda: kernel.launch(n // 256, 256, [a, b, c, n], threads=1), repeat)
    assert (c == a + b).all()
    row("vector add 1M", seconds, 2.4e-3, f"{seconds / out.instructions * 1e9:.2f} ns a warp instruction")
    return seconds


def sgemm(repeat: int) -> float:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(np.float32) for _ in range(2))
    c = np.zeros_like(a)
    kernel = pl.kernel(pl.load(EXAMPLES / "sgemm.ptx"), "sgemm")
    seconds, out = best(lambda: kernel.launch((16, 16), (16, 16), [a, b, c, 256, 256, 256], threads=1), repeat)
    assert (c == a @ b).all()
    row("tiled sgemm 256^3", seconds, 16.8e-3, f"{seconds / out.instructions * 1e9:.2f} ns a warp instruction")
    return seconds


def reduce(repeat: int) -> float:
    n = 1 << 20
    values = np.random.default_rng(2).integers(-4, 5, n).astype(np.float32)
    partial = np.zeros(256, np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "reduce.ptx"), "reduce")
    seconds, out = best(lambda: kernel.launch(256, 256, [values, partial, n], threads=1), repeat)
    assert partial.sum() == values.sum()
    row("shuffle reduction 1M", seconds, 4e-3, f"{seconds / out.instructions * 1e9:.2f} ns a warp instruction")
    return seconds


def hgemm(repeat: int) -> float:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, (256, 256)).astype(np.float16) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "hgemm.ptx"), "hgemm")
    seconds, out = best(lambda: kernel.launch((4, 4), 128, [a, b, c, 256, 256, 256], threads=1), repeat)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    row("hgemm 256^3 (ldmatrix, exact mma)", seconds, 1.8e-3, f"{seconds / out.instructions * 1e9:.2f} ns")
    return seconds


def wgmma(repeat: int) -> None:
    """The same work as Hopper does it: tensor copies into a ring of stages, wgmma, warpgroups of their own."""
    rng = np.random.default_rng(5)
    integers = [rng.integers(-4, 5, (256, 256)).astype(np.float16) for _ in range(2)]
    normal = [rng.standard_normal((256, 256)).astype(np.float16) for _ in range(2)]
    wgmma_of("small integers", *integers, repeat)
    wgmma_of("standard normal", *normal, repeat)


def wgmma_of(name: str, a: Any, b: Any, repeat: int) -> None:
    kernel = pl.kernel(pl.parse(lzma.decompress(HOPPER.read_bytes()).decode()), "gemm_f16")
    other = pl.kernel(pl.load(EXAMPLES / "hgemm.ptx"), "hgemm")
    c, d = np.zeros((256, 256), np.float16), np.zeros((256, 256), np.float32)
    boxes = ((a, (64, 128)), (np.ascontiguousarray(b.T), (64, 64)), (c, (64, 64)))
    maps = [pl.tensor_map(array, box, swizzle="128B") for array, box in boxes]
    seconds, _ = best(lambda: kernel.launch((2, 2), 384, [*maps, 256], 163_840, threads=1), repeat)
    beside, _ = best(lambda: other.launch((4, 4), 128, [a, b, d, 256, 256, 256], threads=1), repeat)
    assert np.allclose(c.astype(np.float32), d, rtol=1e-3, atol=1e-3)
    row(f"hgemm 256^3 (wgmma, TMA), {name}", seconds, 1.5 * beside, f"{seconds / beside:.2f} x mma.sync's")


def hgemm_normal(repeat: int) -> None:
    """The same on normally distributed numbers, whose products are cut by the tensor cores."""
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal((256, 256)).astype(np.float16) for _ in range(2))
    c = np.zeros((256, 256), np.float32)
    kernel = pl.kernel(pl.load(EXAMPLES / "hgemm.ptx"), "hgemm")
    seconds, _ = best(lambda: kernel.launch((4, 4), 128, [a, b, c, 256, 256, 256], threads=1), repeat)
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-3)
    print(f"{'the same, standard normal numbers':44s} {seconds * 1e3:10.3f} ms")


def empty_launch(repeat: int) -> None:
    kernel = pl.kernel(pl.parse(module("")), "k")
    seconds, _ = best(lambda: kernel.launch(1, 32, [], threads=1), 10 * repeat)
    print(f"{'an empty launch':44s} {seconds * 1e3:10.3f} ms")


def compile_times() -> None:
    """LLVM's and our own time for kernels of many instructions, nothing from the cache."""
    before = os.environ.get("PTXLOOM_CACHE")
    os.environ["PTXLOOM_CACHE"] = ""
    pl.kernel(pl.parse(random_kernel(8, 100)), "k").launch(1, 64, [], threads=1)  # the run-time's own functions
    for count in (2_500, 5_000, 10_000, 20_000):
        text = random_kernel(8, count)
        start = time.perf_counter()
        pl.kernel(pl.parse(text), "k").launch(1, 64, [], threads=1)
        seconds = time.perf_counter() - start
        each = seconds / count * 1e6
        print(f"{f'from text to code, {count:,} instructions':44s} {seconds:10.2f} s    {each:.0f} us an instruction")
    del os.environ["PTXLOOM_CACHE"]
    if before is not None:
        os.environ["PTXLOOM_CACHE"] = before


def straight_line(repeat: int) -> None:
    """Plain instructions on 32-bit registers, unrolled; the loop around them is 1 % of the work."""
    lines = [
        line.format(a=10 + n % 30, b=10 + (7 * n + 3) % 30, c=10 + (11 * n + 5) % 30)
        for n in range(50)
        for line in (
            "add.f32 %f{a}, %f{b}, %f{c};",
            "fma.rn.f32 %f{b}, %f{a}, %f{c}, %f{b};",
            "add.s32 %r{a}, %r{b}, %r{c};",
            "xor.b32 %r{c}, %r{a}, %r{b};",
        )
    ]
    setup = "mov.u32 %r1, %tid.x; " + " ".join(
        f"add.u32 %r{n}, %r1, {n}; cvt.rn.f32.u32 %f{n}, %r{n};" for n in range(10, 40)
    )
    around = "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 2000; @%p1 bra L;"
    text = module(f"{setup} mov.u32 %r2, 0;\nL: {' '.join(lines)}\n{around}")
    kernel = pl.kernel(pl.parse(text), "k")
    seconds, out = best(lambda: kernel.launch(1, 32, [], threads=1), repeat)
    each = seconds / out.instructions
    print(f"{'straight-line code':44s} {each * 1e9:10.2f} ns   at most    5.00   a warp instruction")


def module(body: str) -> str:
    return f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n{REGISTERS}\n{body}\nret;\n}}\n"


def first_launch() -> None:
    """The first launch of a kernel of 500 instructions in a fresh process: compiled, then from the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "PTXLOOM_CACHE": folder}
        other = [sys.executable, __file__, "--one-launch"]
        subprocess.run([*other, "7"], env=environment, check=True, capture_output=True)  # the run-time, once a machine
        for state, figure in (
            ("cold", 0.3),
            ("cached", 0.05),
        ):
            out = subprocess.run([*other, "8"], env=environment, check=True, capture_output=True, text=True)
            row(f"first launch, 500 instructions, {state}", float(out.stdout), figure)


def one_launch(seed: int) -> None:
    """Print the seconds from PTX text to the end of the first launch."""
    launch = pl.kernel  # imported before the clock starts
    text = random_kernel(seed, 500)
    start = time.perf_counter()
    launch(pl.parse(text), "k").launch(1, 64, [], threads=1)
    print(time.perf_counter() - start)


def random_kernel(seed: int, count: int) -> str:
    """PTX of a kernel of `count` common instructions, without branches."""
    rng = np.random.default_rng(seed)
    forms = (
        "add.f32 %f{0}, %f{1}, %f{2};",
        "fma.rn.f32 %f{0}, %f{1}, %f{2}, %f{3};",
        "mad.lo.s32 %r{0}, %r{1}, %r{2}, %r{3};",
        "xor.b32 %r{0}, %r{1}, %r{2};",
        "setp.lt.s32 %p1, %r{1}, %r{2};",
        "selp.b32 %r{0}, %r{1}, %r{2}, %p1;",
        "ld.shared.f32 %f{0}, [area+{4}];",
        "st.shared.f32 [area+{4}], %f{1};",
    )
    chosen = [
        forms[rng.integers(len(forms))].format(*rng.integers(10, 60, 4), 4 * rng.integers(64)) for _ in range(count)
    ]
    return module(".shared .align 16 .b8 area[256];\n" + "\n".join(chosen))


def beside(peer: str, switch: str, n: int, mine: float) -> None:
    """A peer's product of n x n matrices, and how much faster ours is for each multiplication."""
    os.environ[switch] = "1"
    sys.path.insert(0, str(Path(__file__).parent / "peers"))
    try:
        seconds = importlib.import_module(peer).seconds(n)
    except ImportError as missing:
        print(f"{peer:44s} not run: {missing.name} is not installed")
        return
    times = seconds * (256 / n) ** 3 / mine
    print(f"{f'{peer}, {n}^3':44s} {seconds * 1e3:10.3f} ms   ours is {times:,.0f} x as fast, scaled to 256^3")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--one-launch", type=int)
    options = parser.parse_args()
    if options.one_launch is not None:
        one_launch(options.one_launch)
        return
    n = np.zeros(1 << 14, np.float32)
    seconds, _ = best(lambda: np.add(n, n, out=n), 200)
    print(f"{'this host: NumPy adds 16,384 floats':44s} {seconds * 1e6:10.2f} us")
    vector_add(options.repeat)
    mine = sgemm(options.repeat)
    reduce(options.repeat)
    tensor = hgemm(options.repeat)
    hgemm_normal(options.repeat)
    wgmma(options.repeat)
    straight_line(options.repeat)
    empty_launch(options.repeat)
    first_launch()
    compile_times()
    beside("numba_sgemm", "NUMBA_ENABLE_CUDASIM", 32, mine)
    beside("triton_hgemm", "TRITON_INTERPRET", 128, tensor)


if __name__ == "__main__":
    main()
