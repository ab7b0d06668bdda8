"""Record what kernels compute as ptxas assembles them by default, products and sums fused: in two steps.

`python tools/record/fused.py assemble` writes machine code to `build/fused`: of the real kernels' PTX whatever differs
from that which is assembled with `-fmad=false`, and of the random programs of `recorded/ptxas/contraction_cases.py`.
`OUT=folder python3 tools/record/fused.py` runs it on an sm_90 GPU and writes `fused.npz`: the outputs of real kernels
that differ from those in `kernels.npz`, and what each random program stores.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools" / "record")]
CUBINS = Path(os.environ.get("CUBINS", ROOT / "build" / "fused"))

if TYPE_CHECKING:
    from kernel_cases import Driver


def assemble() -> None:
    """Write the machine code."""
    from kernels.case import read_ptx  # noqa: PLC0415
    from kernels.catalog import cases  # noqa: PLC0415
    from oracle.cubin import code_sections  # noqa: PLC0415
    from recorded.ptxas.contraction_cases import MIXTURES, module_text  # noqa: PLC0415
    from recorded.ptxas.contraction_cases import cases as programs  # noqa: PLC0415

    CUBINS.mkdir(parents=True, exist_ok=True)
    for source, architecture in sorted({(one.source, each) for one in cases() for each in one.architectures}):
        text = read_ptx(source, architecture)
        target = "sm_90a" if ".target sm_90a" in text else "sm_90"
        fused, apart = (_assembled(text, target, option) for option in ("-fmad=true", "-fmad=false"))
        before, after = code_sections(apart), code_sections(fused)
        changed = [name.removeprefix(".text.") for name in after if after[name] != before.get(name)]
        if changed:
            (CUBINS / f"{source}-{architecture}.cubin").write_bytes(fused)
            (CUBINS / f"{source}-{architecture}.txt").write_text(" ".join(changed), encoding="utf-8")
    for name, mixture in MIXTURES.items():
        if mixture.target == "sm_90":
            (CUBINS / f"{name}.cubin").write_bytes(_assembled(module_text(programs(mixture)), "sm_90", "-fmad=true"))


def _assembled(text: str, target: str, option: str) -> bytes:
    from oracle.ptxas import find_ptxas  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder) / "in.ptx", Path(folder) / "out.cubin"
        source.write_text(text, encoding="utf-8")
        command = [find_ptxas() or "ptxas", f"-arch={target}", option, str(source), "-o", str(cubin)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ValueError(done.stderr)
        return cubin.read_bytes()


def _kernels(driver: Driver) -> dict[str, Any]:
    """The outputs of real kernels that fusing changes."""
    import kernel_cases  # noqa: PLC0415 - it looks for a driver

    from kernels.case import differs  # noqa: PLC0415
    from kernels.catalog import cases  # noqa: PLC0415

    kernel_cases.CUBINS = CUBINS
    found: dict[str, Any] = {}
    for case in cases():
        for architecture in case.architectures:
            changed_code = CUBINS / f"{case.source}-{architecture}.txt"
            if not changed_code.exists() or case.kernel not in changed_code.read_text(encoding="utf-8").split():
                continue
            arguments, _ = kernel_cases.launch(driver, case, architecture)
            for position, apart in zip(case.outputs, case.expected(architecture).arrays, strict=True):
                changed = differs(arguments[position], apart, 0.0)
                print(case.name, architecture, position, case.tolerance, changed, flush=True)
                if changed:
                    found[f"{case.name}/{architecture}/{position}"] = arguments[position]
    return found


def _programs(driver: Driver) -> dict[str, Any]:
    """What the random programs store, a program a row."""
    from recorded.ptxas.contraction_cases import MIXTURES, cases, given, stored_bytes  # noqa: PLC0415

    found: dict[str, Any] = {}
    for name, mixture in MIXTURES.items():
        if mixture.target != "sm_90":
            continue
        module = ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), (CUBINS / f"{name}.cubin").read_bytes())
        for number, program in enumerate(cases(mixture)):
            function = ctypes.c_void_p()
            driver.call("cuModuleGetFunction", ctypes.byref(function), module, f"k{number}".encode())
            out = np.zeros(stored_bytes(program), np.uint8)
            held = [driver.upload(given(mixture)), driver.upload(out)]
            pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(one) for one in held))
            sizes = [ctypes.c_uint(one) for one in (1, 1, 1, 1, 1, 1, 0)]
            driver.call("cuLaunchKernel", function, *sizes, None, pointers, None)
            driver.call("cuCtxSynchronize")
            driver.download(held[1], out)
            driver.call("cuMemFree_v2", held[0])
            found[f"{name}/{number}"] = out
        print(name, flush=True)
    return found


def main() -> None:
    """Run it."""
    from kernel_cases import Driver  # noqa: PLC0415

    driver = Driver()
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip()
    found = {**_programs(driver), **_kernels(driver), "gpu": np.array(f"{gpu}, CUDA {driver.version()}")}
    path = Path(os.environ.get("OUT", ".")) / "fused.npz"
    np.savez_compressed(path, **found)  # pyright: ignore[reportArgumentType]
    print(path.stat().st_size, gpu)


if __name__ == "__main__":
    assemble() if sys.argv[1:] == ["assemble"] else main()
