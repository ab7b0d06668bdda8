"""Run the emitted CUDA wrappers of the 16-bit matrix moves on a GPU: `OUT=folder python3 tools/record/emitted.py`.

Needs nvcc, CuPy and NumPy; ptxloom and its tests are found beside this file. Writes `emitted.npz`: for each form the
words that its kernel wrote, and what ran them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

from ptxloom.atoms.wrappers.parts import c_name  # noqa: E402 - the folder is put on the path above
from recorded.kernels.emitted_cases import atoms, inputs, output_words, source  # noqa: E402 - likewise


def main() -> None:
    """Compile all wrappers at once, run one warp of each."""
    import cupy  # noqa: PLC0415 - only where there is a GPU

    cp: Any = cupy
    out = Path(os.environ["OUT"])
    file, cubin = out / "emitted_wrappers.cu", out / "emitted_wrappers.cubin"
    file.write_text(source(), encoding="utf-8")
    subprocess.run(["nvcc", "-arch=sm_90", "-cubin", str(file), "-o", str(cubin)], check=True)
    module = cp.RawModule(path=str(cubin))
    found: dict[str, Any] = {}
    for atom in atoms():
        written = cp.zeros(output_words(atom), cp.uint32)
        module.get_function(f"run_{c_name(atom)}")((1,), (32,), (cp.asarray(inputs(atom)), written))
        found[c_name(atom)] = cp.asnumpy(written)
    version = subprocess.run(["nvcc", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    device = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    about = {"gpu": device, "driver": cp.cuda.runtime.driverGetVersion(), "nvcc": version}
    np.savez_compressed(out / "emitted.npz", about=json.dumps(about), **found)
    file.unlink()
    cubin.unlink()
    print(f"{len(found)} wrappers on {device}: {(out / 'emitted.npz').stat().st_size} bytes")


if __name__ == "__main__":
    main()
