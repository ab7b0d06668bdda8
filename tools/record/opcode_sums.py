"""Record sums of what a GPU gives for the cases of tests/machine/opcode_cases.py over all inputs.

Run from the repository root. `python3 tools/record/opcode_sums.py assemble FOLDER [FAMILY ...]` makes cubins there and
needs ptxas alone (`$PTXAS` or that on the path); `... record FOLDER [FAMILY ...]` runs them and needs a GPU and CuPy:
it writes FOLDER/FAMILY.npz.xz, which belong into tests/recorded/opcodes/sums. The cases are those that
tools/record/opcodes.py has recorded, each a kernel of its own. `bulk` is left out: its cases wait for copies, input by
input.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import numpy as np

from machine import opcode_recording
from machine.opcode_cases import families
from machine.opcode_draws import THREADS
from machine.opcode_kernels import HEADER
from machine.opcode_sums import BLOCK, LEVELS, kernel, operands, parts, save, shapes, threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from machine.opcode_cases import Case

CHUNK = 64  # kernels a module
STREAMS = 8
PTXAS = os.environ.get("PTXAS", "ptxas")
LEFT_OUT = ("bulk",)
UNDETERMINED = "shared.add.f64"  # a loop around an addition: which of two NaNs it keeps, ptxas's registers decide


def recorded(wanted: tuple[str, ...]) -> Iterator[tuple[str, list[tuple[Case, ...]]]]:
    """The cases of the families that are named, or of all, module by module."""
    for family, cases in families():
        if family in LEFT_OUT or (wanted and family not in wanted):
            continue
        known = tuple(opcode_recording.load(opcode_recording.FOLDER / f"{family}.npz.xz", cases))
        known = tuple(case for case in known if UNDETERMINED not in case.text)
        yield family, [known[at : at + CHUNK] for at in range(0, len(known), CHUNK)]


def assemble(folder: Path, *wanted: str) -> None:
    """Make the cubins of every case."""
    folder.mkdir(exist_ok=True, parents=True)
    said = subprocess.run([PTXAS, "--version"], capture_output=True, text=True, check=True).stdout
    for family, chunks in recorded(wanted):
        names = [f"{family}{n}" for n in range(len(chunks))]
        with ThreadPoolExecutor() as workers:
            list(workers.map(_assemble, repeat(folder), names, chunks))
        (folder / f"{family}.ptxas").write_text(said.split()[-1])


def _assemble(folder: Path, name: str, cases: tuple[Case, ...]) -> None:
    source = folder / f"{name}.ptx"
    source.write_text(HEADER + "".join(kernel(f"k{n}", (case,)) for n, case in enumerate(cases)))
    subprocess.run([PTXAS, "-arch=sm_90a", "-o", str(folder / f"{name}.cubin"), str(source)], check=True)
    source.unlink()


def record(folder: Path, *wanted: str) -> None:
    """Run the cubins and write the sums, family by family."""
    import cupy  # noqa: PLC0415 # pyright: ignore[reportMissingImports] - `assemble` does without

    provenance = {
        "gpu": cupy.cuda.runtime.getDeviceProperties(0)["name"].decode(),
        "driver": str(cupy.cuda.runtime.driverGetVersion()),
    }
    for family, chunks in recorded(wanted):
        start = time.monotonic()
        sums: dict[Case, np.ndarray] = {}
        for n, cases in enumerate(chunks):
            sums |= _run(cupy, folder / f"{family}{n}.cubin", cases)
        assembler = {"ptxas": (folder / f"{family}.ptxas").read_text()}
        save(folder / f"{family}.npz.xz", provenance | assembler, sums)
        print(f"{family}: {len(sums)} cases, {time.monotonic() - start:.1f} s", flush=True)


def _run(cupy: Any, cubin: Path, cases: tuple[Case, ...]) -> dict[Case, np.ndarray]:
    """The sums of each case of a module, level by level; many launches at a time, except for those that share cells."""
    module = cupy.RawModule(path=str(cubin))
    masks = {operands(case): [cupy.asarray(mask) for mask in shapes(case)] for case in cases}
    out = cupy.zeros((len(cases), len(LEVELS)), cupy.uint64)
    cupy.cuda.Device().synchronize()
    streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(STREAMS)]
    for n, case in enumerate(cases):
        function = module.get_function(f"k{n}")
        alone = threads(case) < THREADS
        for at, (first, rounds) in enumerate(parts(case, LEVELS[-1])):
            share = max(-(-rounds // STREAMS), 1)
            for stream, skipped in enumerate(range(0, rounds, share)):
                begin, count = first + skipped * threads(case), min(share, rounds - skipped)
                arguments = (out[n, at:], np.uint32(begin), np.uint32(count), *masks[operands(case)])
                with streams[0 if alone else stream]:
                    function((threads(case) // BLOCK,), (BLOCK,), arguments)
    cupy.cuda.Device().synchronize()
    found = cupy.asnumpy(out)
    return {case: found[n, : len(tuple(parts(case, LEVELS[-1])))] for n, case in enumerate(cases)}


if __name__ == "__main__":
    {"assemble": assemble, "record": record}[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
