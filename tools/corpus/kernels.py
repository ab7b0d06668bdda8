"""Compile the machine's kernels: `python tools/corpus/kernels.py [SOURCE ...]`, for the sources named or for all.

The PTX in `tests/kernels/ptx` is committed. The machine code in `build/kernels` is what `tools/record/kernel_cases.py`
runs on a GPU: each PTX file, sm_80's too, assembled for sm_90 without contracting a multiplication and an addition that
stand apart.
"""

from __future__ import annotations

import lzma
import re
import sys
from pathlib import Path

import toolchain

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "tests" / "kernels"
LARGE_BYTES = 65_536
ASSEMBLER_OPTIONS = ("-fmad=false",)
ARCHITECTURES = ("sm_80", "sm_90")
ONLY = {  # sources of what only one architecture has
    "hopper": "sm_90a",
    "hopper_attention": "sm_90a",
    "triton_hopper": "sm_90a",
    "triton_scaled": "sm_120a",
    "triton_single": "sm_100a",
    "work_stealing": "sm_100a",
}


def _texts(wanted: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for source in sorted((KERNELS / "src").glob("*.cu")):
        if wanted and source.stem not in wanted:
            continue
        for architecture in _architectures(source):
            texts[f"{source.stem}-{architecture}"] = toolchain.nvcc(source, architecture, ("-lineinfo",))
    for source in sorted((KERNELS / "src").glob("triton_*.py")):
        if wanted and source.stem not in wanted:
            continue
        for kernel in toolchain.triton_kernels(source):
            for architecture in _architectures(source):
                name = f"{source.stem.removesuffix('_kernels')}_{kernel}-{architecture}"
                texts[name] = toolchain.triton(source, kernel, architecture)
    if not wanted or "dsl_hopper_gemm" in wanted:
        texts["dsl_hopper_gemm-sm_90a"] = _from_dsl("hopper_gemm", "Float16", "sm_90a")
    return texts


def _from_dsl(kernel: str, element: str, architecture: str) -> str:
    """The PTX of a kernel in the CuTe DSL, which mangles types and layouts into its name, under its own name."""
    text = toolchain.cute_dsl(Path(__file__).with_name("dsl_kernels.py"), kernel, element, architecture)
    mangled = re.findall(r"\.entry (\w+)", text)[0]
    return text.replace(mangled, kernel)


def _architectures(source: Path) -> tuple[str, ...]:
    return (ONLY[source.stem],) if source.stem in ONLY else ARCHITECTURES


def _machine_code(text: str) -> bytes:
    architecture = next((one for one in ("sm_120a", "sm_100a", "sm_90a") if f".target {one}" in text), "sm_90")
    return toolchain.ptxas(text, architecture, ASSEMBLER_OPTIONS)


def main(wanted: list[str]) -> int:
    """Write the PTX and the machine code; 1 if a path of this machine got into a file."""
    failed = 0
    cubins = ROOT / "build" / "kernels"
    cubins.mkdir(parents=True, exist_ok=True)
    for name, text in _texts(wanted).items():
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
    sys.exit(main(sys.argv[1:]))
