"""Find inputs for which the machine gives something else than the GPU at hand.

Run from the repository root on a machine with an NVIDIA GPU, CuPy, ptxas and what ptxloom needs:
`python3 tools/record/opcode_differences.py POWER FAMILY TEXT ...` runs the first 2^POWER inputs of the recorded cases
of a family that contain one of the texts, and prints up to 32 differing inputs of each.
tests/recorded/opcodes/test_opcode_sums.py tells which cases to look at.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[2] / "src"))

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np

import ptxloom as pl
from machine import opcode_recording
from machine.opcode_cases import Case, families
from machine.opcode_draws import register
from machine.opcode_kernels import HEADER
from machine.opcode_sums import BLOCK, kernel, level, shapes, threads

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST = 32  # inputs printed


def copies(case: Case) -> tuple[Case, ...]:
    """Cases that give the operands of a case."""
    return tuple(
        Case(f"mov.{register(kind)} {{d}}, {{{letter}}};", "b32" if kind == "count" else kind, case.sources)
        for letter, kind in zip("abc", case.sources, strict=False)
    )


def differing(case: Case, power: int) -> Iterator[str]:
    """The inputs that differ, in words."""
    count = threads(case)
    there = _on_hardware(case)
    here = pl.kernel(pl.parse(HEADER + kernel("k", (case, *copies(case)), whole=True)), "k")
    for first in range(0, 1 << min(power, level(case)), count):
        given = there(first)
        own = np.zeros((1 + len(case.sources), count), np.uint64)
        here.launch(count // BLOCK, BLOCK, [own, first, 1, *shapes(case)])
        for at in np.flatnonzero(own[0] != given):
            operands = " ".join(f"{int(value):#x}" for value in own[1:, at])
            yield f"input {first + int(at)}: {operands}: hardware {int(given[at]):#x}, machine {int(own[0, at]):#x}"


def _on_hardware(case: Case) -> Any:
    with tempfile.TemporaryDirectory() as scratch:
        source, cubin = Path(scratch) / "k.ptx", Path(scratch) / "k.cubin"
        source.write_text(HEADER + kernel("k", (case,), whole=True))
        subprocess.run(["ptxas", "-arch=sm_90a", "-o", str(cubin), str(source)], check=True)
        function = cupy.RawModule(path=str(cubin)).get_function("k")
    masks = [cupy.asarray(mask) for mask in shapes(case)]
    out = cupy.zeros(threads(case), cupy.uint64)

    def run(first: int) -> np.ndarray:
        function((threads(case) // BLOCK,), (BLOCK,), (out, np.uint32(first), np.uint32(1), *masks))
        return cupy.asnumpy(out)

    return run


def main(power: int, family: str, *texts: str) -> None:
    """Compare the cases of a family that contain one of the texts."""
    recorded = opcode_recording.load(opcode_recording.FOLDER / f"{family}.npz.xz", dict(families())[family])
    for case in recorded:
        if any(text in str(case) for text in texts):
            print(case, flush=True)
            for number, line in enumerate(differing(case, power)):
                print("   ", line, flush=True)
                if number + 1 == MOST:
                    break


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
