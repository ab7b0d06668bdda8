"""Record what a GPU gives for every case of tests/machine/opcode_cases.py.

Run from the repository root on a machine with an NVIDIA GPU, CuPy and ptxas:
`python3 tools/record/opcodes.py OUT [FAMILY ...]`. Writes one OUT/FAMILY.npz.xz for each of the families named, or for
all; they belong into tests/recorded/opcodes.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import cupy  # pyright: ignore[reportMissingImports]

from machine.opcode_cases import families
from machine.opcode_inputs import INPUTS, pool
from machine.opcode_kernels import HEADER, kernel, pools
from machine.opcode_recording import save

if TYPE_CHECKING:
    import numpy as np

    from machine.opcode_cases import Case

CHUNK = 64  # kernels a module


def assemble(cases: tuple[Case, ...], folder: Path) -> tuple[Path, tuple[Case, ...]]:
    """The cubin of the cases that ptxas accepts, and those cases."""
    while True:
        kernels = [kernel(f"k{n}", (case,)) for n, case in enumerate(cases)]
        source = folder / "cases.ptx"
        source.write_text(HEADER + "".join(kernels))
        command = ["ptxas", "-arch=sm_90a", "-o", str(folder / "cases.cubin"), str(source)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode == 0:
            return folder / "cases.cubin", cases
        owners = [n for n, text in enumerate(kernels) for _ in range(text.count("\n"))]
        lines = {int(line) for line in re.findall(r"line (\d+); (?:error|fatal)", run.stderr)}
        rejected = {owners[line - 1 - HEADER.count("\n")] for line in lines}
        if not rejected:
            raise SystemExit(run.stderr)
        cases = tuple(c for n, c in enumerate(cases) if n not in rejected)


def run(cubin: Path, cases: tuple[Case, ...]) -> dict[Case, np.ndarray]:
    """The (INPUTS,) uint64 outputs of each case."""
    module = cupy.RawModule(path=str(cubin))
    results = {}
    for n, case in enumerate(cases):
        inputs = [cupy.asarray(pool(kind, at)) for kind, at in pools((case,))]
        out = cupy.full(INPUTS, 0xDEADBEEFDEADBEEF, cupy.uint64)
        module.get_function(f"k{n}")((INPUTS // 256,), (256,), (out, *inputs))
        results[case] = cupy.asnumpy(out)
    return results


def main(out: Path, *wanted: str) -> None:
    """Record the families that are named, or every one."""
    out.mkdir(exist_ok=True, parents=True)
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    assembler = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    provenance = {
        "gpu": properties["name"].decode(),
        "driver": str(cupy.cuda.runtime.driverGetVersion()),
        "ptxas": assembler,
        "header": HEADER,
    }
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as workers:
        for family, cases in families():
            if wanted and family not in wanted:
                continue
            chunks = [cases[at : at + CHUNK] for at in range(0, len(cases), CHUNK)]
            folders = [Path(scratch) / f"{family}{n}" for n in range(len(chunks))]
            for folder in folders:
                folder.mkdir()
            results: dict[Case, np.ndarray] = {}
            for cubin, accepted in workers.map(assemble, chunks, folders):
                results |= run(cubin, accepted)
            save(out / f"{family}.npz.xz", provenance, results)
            print(f"{family}: {len(results)} of {len(cases)} cases, {(out / f'{family}.npz.xz').stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
