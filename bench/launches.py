"""What a warm launch takes: `python bench/launches.py [--beside TREE] [--rounds 15]`.

An empty kernel of one CTA of 32 threads, and `vector_add` of one of 256: launched directly, with its arrays and with
bytes on a `pl.Device`; through libcuda and its process, alone and with `cuCtxSynchronize` behind each; by Triton, with
arrays of NumPy and, where PyTorch is installed, tensors of its device "cuda", without and with 400 others. A row is the
least and the median of several rounds of 300 launches, microseconds of the clock a launch. `--beside` runs another tree
of ptxloom by turns, three times each, and tells the ratio of the medians.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from ctypes import byref, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
EMPTY = ".version 8.0 .target sm_80 .address_size 64 .visible .entry empty() { ret; }"
EACH = 300
TURNS = 3
COUNT = 256
LIVE = 400


def microseconds(launch: Callable[[], object], rounds: int) -> list[float]:
    """What a launch takes, in each of several rounds, behind one that is not counted."""
    taken: list[float] = []
    for _ in range(rounds + 1):
        start = time.perf_counter()
        for _ in range(EACH):
            launch()
        taken.append((time.perf_counter() - start) / EACH * 1e6)
    return taken[1:]


def direct(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Launches in this process."""
    import numpy as np  # noqa: PLC0415

    import ptxloom as pl  # noqa: PLC0415

    text = (ROOT / "examples/vector_add.ptx").read_text(encoding="utf-8")
    empty, add = pl.kernel(pl.parse(EMPTY)), pl.kernel(pl.parse(text))
    yield "direct, an empty kernel", microseconds(lambda: empty.launch(1, 32), rounds)
    arrays = [np.zeros(COUNT, np.float32) for _ in range(3)]
    yield "direct, three arrays and a number", microseconds(lambda: add.launch(1, COUNT, [*arrays, COUNT]), rounds)
    device = pl.Device()
    on_device = device.kernel(text)
    places = b"".join(device.alloc(4 * COUNT).address.to_bytes(8, "little") for _ in range(3))
    params = (places + COUNT.to_bytes(4, "little")).ljust(on_device.parameter_bytes, b"\0")
    yield "direct, bytes on a device", microseconds(lambda: on_device.launch(1, COUNT, params, memory=device), rounds)


def through_driver(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Launches by `cuLaunchKernel`."""
    import ptxloom as pl  # noqa: PLC0415

    with pl.driver("sm_80"):
        cuda = ctypes.CDLL("libcuda.so.1")
        must(cuda.cuInit(0))
        must(cuda.cuCtxCreate_v2(byref(c_void_p()), 0, 0))
        text = (ROOT / "examples/vector_add.ptx").read_bytes()
        places = [c_uint64() for _ in range(3)]
        for place in places:
            must(cuda.cuMemAlloc_v2(byref(place), c_size_t(4 * COUNT)))
        arguments = [*places, c_uint32(COUNT)]
        for name, ptx, threads, given in (("empty", EMPTY.encode(), 32, []), ("vector_add", text, COUNT, arguments)):
            module, function = c_void_p(), c_void_p()
            must(cuda.cuModuleLoadData(byref(module), ctypes.c_char_p(ptx)))
            must(cuda.cuModuleGetFunction(byref(function), module, name.encode()))
            pointers = (c_void_p * len(given))(*map(ctypes.addressof, given))
            asked = (function, 1, 1, 1, threads, 1, 1, 0, None, pointers, None)

            def launch(asked: tuple[Any, ...] = asked) -> None:
                must(cuda.cuLaunchKernel(*asked))

            def and_wait(asked: tuple[Any, ...] = asked) -> None:
                must(cuda.cuLaunchKernel(*asked))
                must(cuda.cuCtxSynchronize())

            yield f"driver, {name}, with a wait", microseconds(and_wait, rounds)
            yield f"driver, {name}", microseconds(launch, rounds)


def by_triton(rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Launches by Triton, where it is installed."""
    if importlib.util.find_spec("triton") is None:
        return
    os.environ |= {"PTXLOOM_TORCH_CUDA": "1", "TRITON_DEFAULT_BACKEND": "ptxloom", "TRITON_DEFAULT_FP_FUSION": "1"}
    torch: Any = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    import numpy as np  # noqa: PLC0415

    from ptxloom.triton import from_numpy  # noqa: PLC0415

    add: Any = importlib.import_module("peers.triton_add").add
    arrays = [from_numpy(np.ones(COUNT, np.float32)) for _ in range(3)]
    yield "Triton, arrays of NumPy", microseconds(lambda: add[1,](*arrays, COUNT, BLOCK=COUNT), rounds)
    if torch is None:
        return
    tensors = [torch.ones(COUNT, device="cuda") for _ in range(3)]
    yield "Triton, tensors", microseconds(lambda: add[1,](*tensors, COUNT, BLOCK=COUNT), rounds)
    live = [torch.ones(64, device="cuda") for _ in range(LIVE)]
    yield f"Triton, with {LIVE} other tensors", microseconds(lambda: add[1,](*tensors, COUNT, BLOCK=COUNT), rounds)
    del live


def must(error: int) -> None:
    """Refuse an error of the driver's."""
    if error:
        sys.exit(f"the driver answers {error}")


def measured(tree: Path, rounds: int) -> dict[str, list[float]]:
    """Every row, by a process of a tree."""
    command = [sys.executable, __file__, "--alone", "--rounds", str(rounds)]
    environment = os.environ | {"PYTHONPATH": str(tree / "src")}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        rows = (row for kind in (direct, through_driver, by_triton) for row in kind(options.rounds))
        sys.stdout.write(json.dumps(dict(rows)))
        return
    trees = [ROOT] if options.beside is None else [ROOT, options.beside.resolve()]
    found: list[dict[str, list[float]]] = [{} for _ in trees]
    for _ in range(TURNS if len(trees) > 1 else 1):
        for rows, tree in zip(found, trees, strict=True):
            for name, taken in measured(tree, options.rounds).items():
                rows.setdefault(name, []).extend(taken)
    for name, here in found[0].items():
        print(f"{name:42} {min(here):6.1f} {statistics.median(here):6.1f}", end="")
        for rows in found[1:]:
            there = rows[name]
            ratio = statistics.median(there) / statistics.median(here)
            print(f"   beside {min(there):6.1f} {statistics.median(there):6.1f}   {ratio:.2f} times", end="")
        print()


if __name__ == "__main__":
    main()
