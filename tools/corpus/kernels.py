"""Compile the machine's kernels: `python tools/corpus/kernels.py` writes `tests/kernels/ptx` and `build/kernels`.

The PTX is committed. The machine code under `build/kernels` is what `tools/record/kernel_cases.py` runs on a GPU: each
PTX file, sm_80's too, assembled for sm_90 without contracting a multiplication and an addition that stand apart.
"""

from __future__ import annotations

import lzma
import sys
from pathlib import Path

import toolchain

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests" / "kernels"
LARGE_BYTES = 65_536
ASSEMBLER_OPTIONS = ("-fmad=false",)
ARCHITECTURES = ("sm_80", "sm_90")
BLACKWELL = ("work_stealing",)  # sources of what only sm_100a has: no GPU here runs them


def _texts() -> dict[str, str]:
    texts: dict[str, str] = {}
    for source in sorted((KERNELS / "src").glob("*.cu")):
        for architecture in ("sm_100a",) if source.stem in BLACKWELL else ARCHITECTURES:
            texts[f"{source.stem}-{architecture}"] = toolchain.nvcc(source, architecture, ("-lineinfo",))
    source = KERNELS / "src" / "triton_kernels.py"
    for kernel in toolchain.triton_kernels(source):
        for architecture in ARCHITECTURES:
            texts[f"triton_{kernel}-{architecture}"] = toolchain.triton(source, kernel, architecture)
    return texts


def _machine_code(text: str) -> bytes:
    architecture = next((one for one in ("sm_100a", "sm_90a") if f".target {one}" in text), "sm_90")
    return toolchain.ptxas(text, architecture, ASSEMBLER_OPTIONS)


def main() -> int:
    """Write the PTX and the machine code; 1 if a path of this machine got into a file."""
    failed = 0
    cubins = ROOT / "build" / "kernels"
    cubins.mkdir(parents=True, exist_ok=True)
    for name, text in _texts().items():
        (cubins / f"{name}.cubin").write_bytes(_machine_code(text))
        if paths := toolchain.paths_in(text):
            print(f"{name}: the PTX names {', '.join(paths)}", file=sys.stderr)
            failed = 1
        plain, packed = KERNELS / "ptx" / f"{name}.ptx", KERNELS / "ptx" / f"{name}.ptx.xz"
        plain.unlink(missing_ok=True)
        packed.unlink(missing_ok=True)
        if len(text) > LARGE_BYTES:
            packed.write_bytes(lzma.compress(text.encode()))
        else:
            plain.write_text(text)
        print(f"{name}: {len(text)} bytes")
    (cubins / "provenance.txt").write_text(" ".join(f"{k} {v}" for k, v in sorted(toolchain.versions().items())))
    return failed


if __name__ == "__main__":
    sys.exit(main())
