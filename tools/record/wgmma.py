"""Record what an sm_90 GPU answers to `wgmma.mma_async`: every type, number of columns and layout of its operands.

Run from the repository root on a machine with an NVIDIA GPU of sm_90, CuPy and ptxas:
`PYTHONPATH=src:tests python3 tools/record/wgmma.py OUT` writes OUT/wgmma.npz and OUT/floor.npz, which belong into
tests/recorded/wgmma, and OUT/*_full.npz, which are not kept: results of narrow instructions, to find a rule.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from recorded.wgmma.wgmma_cases import (
    FLOOR_CASES,
    FLOOR_RECORDING,
    RECORDING,
    THREADS,
    Instruction,
    digests,
    floor_instructions,
    inputs,
    instructions,
    module,
)

_FULL_COLUMNS = 64
_MODULE = 24  # instructions


def assembled(cupy: Any, folder: Path, text: str, number: int) -> Any:
    """A module, loaded."""
    source, binary = folder / f"{number}.ptx", folder / f"{number}.cubin"
    source.write_text(text)
    subprocess.run(["ptxas", "-arch=sm_90a", str(source), "-o", str(binary)], check=True)
    return cupy.RawModule(path=str(binary))


def record(gpu: Any, path: Path, chosen: tuple[Instruction, ...], cases: tuple[str, ...] = ()) -> None:
    """Record instructions on their own kinds of numbers, or on others."""
    found: list[Any] = []
    full: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(chosen), _MODULE):
            some = chosen[start : start + _MODULE]
            loaded = assembled(gpu, Path(folder), module(some), start)
            for number, it in enumerate(some):
                given = inputs(it, cases)
                blocks = len(given.scaled)
                d = gpu.zeros((blocks, it.d_registers, THREADS), np.uint32)
                operands = [gpu.asarray(x) for x in (given.image, given.registers, given.descriptors, given.scaled)]
                loaded.get_function(f"k{number}")((blocks,), (THREADS,), (d, *operands))
                result = gpu.asnumpy(d)
                found.append(digests(result, it))
                if it.n <= _FULL_COLUMNS and not it.layouts:
                    full[it.name] = result
    version = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    runtime = gpu.cuda.runtime
    where = [runtime.getDeviceProperties(0)["name"].decode(), str(runtime.driverGetVersion()), version]
    names = np.array([it.name for it in chosen])
    counts = np.array([len(one) for one in found], np.uint32)
    values = np.concatenate(found)
    np.savez_compressed(path, names=names, counts=counts, digests=values, where=np.array(where))
    np.savez_compressed(path.with_stem(f"{path.stem}_full"), **full)
    print(where, len(chosen), "instructions,", len(values), "digests")


def main(out: Path) -> None:
    """Record every instruction."""
    import cupy  # noqa: PLC0415 - only where there is a GPU

    out.mkdir(parents=True, exist_ok=True)
    record(cupy, out / RECORDING.name, instructions())
    record(cupy, out / FLOOR_RECORDING.name, floor_instructions(), FLOOR_CASES)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
