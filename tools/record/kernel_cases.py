"""Run every real kernel on an sm_90 GPU and record its outputs: `OUT=folder python3 tools/record/kernel_cases.py`.

The machine code comes from `build/kernels`, which `python tools/corpus/kernels.py` writes; nothing but NumPy and the
driver is needed here. Each case runs three times, with the outputs of a case that claims that every bit is defined
compared between the runs, and with NumPy's result where the case has one. Writes `kernels.npz` and `kernels.json`.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from kernels.case import differs  # noqa: E402 - the tests' folder is put on the path above
from kernels.catalog import cases  # noqa: E402 - likewise

if TYPE_CHECKING:
    from kernels.case import Arguments, Array, KernelCase

CUBINS = ROOT / "build" / "kernels"
STACK_BYTES = 16_384
FLOATS = {"f32": np.float32, "f64": np.float64}


class Driver:
    """The CUDA driver's few calls that a launch takes."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuCtxSetLimit", 0, ctypes.c_size_t(STACK_BYTES))

    def call(self, name: str, *arguments: Any) -> None:
        """Call a driver function.

        Raises:
            RuntimeError: It failed.
        """
        status = getattr(self._library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name} failed with status {status}")

    def version(self) -> str:
        """The driver's CUDA version, "13.0"."""
        number = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(number))
        return f"{number.value // 1000}.{number.value % 1000 // 10}"

    def upload(self, array: Array) -> ctypes.c_uint64:
        """Device memory that holds the array."""
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(array.nbytes, 16)))
        self.call("cuMemcpyHtoD_v2", pointer, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes))
        return pointer

    def download(self, pointer: ctypes.c_uint64, array: Array) -> None:
        """Copy back into the array and free the memory."""
        self.call("cuMemcpyDtoH_v2", array.ctypes.data_as(ctypes.c_void_p), pointer, ctypes.c_size_t(array.nbytes))
        self.call("cuMemFree_v2", pointer)


def parameter_types(ptx: str, kernel: str) -> list[str]:
    """The types of a kernel's parameters, read off its text."""
    head = re.search(rf"\.entry\s+{re.escape(kernel)}\s*\((.*?)\)\s*[.{{]", ptx, re.DOTALL)
    return re.findall(r"\.param\s+(?:\.align\s+\d+\s+)?\.(\w+)", head[1]) if head else []


def to_bytes(value: Any, kind: str) -> bytes:
    """A parameter by value."""
    if isinstance(value, np.void):
        return value.tobytes()
    if kind in FLOATS:
        return FLOATS[kind](value).tobytes()
    return (int(value) & 0xFFFFFFFFFFFFFFFF).to_bytes(8, "little")


def _printed(action: Any) -> str:
    """What the driver prints to standard output while `action` runs."""
    with tempfile.TemporaryFile() as file:
        kept = os.dup(1)
        sys.stdout.flush()
        os.dup2(file.fileno(), 1)
        try:
            action()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(kept, 1)
            os.close(kept)
        file.seek(0)
        return file.read().decode()


def launch(driver: Driver, case: KernelCase, architecture: str) -> tuple[Arguments, str]:
    """The arguments as the kernel left them, and what it printed."""
    arguments = case.arguments()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    image = (CUBINS / f"{case.source}-{architecture}.cubin").read_bytes()
    driver.call("cuModuleLoadData", ctypes.byref(module), image)
    driver.call("cuModuleGetFunction", ctypes.byref(function), module, case.kernel.encode())
    held: list[Any] = []
    types = parameter_types(case.ptx(architecture), case.kernel)
    for value, kind in zip(arguments, types, strict=True):
        plain = isinstance(value, np.void | int | float)
        held.append(ctypes.create_string_buffer(to_bytes(value, kind)) if plain else driver.upload(value))
    pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(item) for item in held))
    sizes = [*case.grid, 1, 1][:3] + [*case.block, 1, 1][:3]
    geometry = [ctypes.c_uint(size) for size in (*sizes, case.shared_bytes)]
    extra = () if case.cooperative else (None,)
    entry = "cuLaunchCooperativeKernel" if case.cooperative else "cuLaunchKernel"

    def run() -> None:
        driver.call(entry, function, *geometry, None, pointers, *extra)
        driver.call("cuCtxSynchronize")

    text = _printed(run)
    for value, item in zip(arguments, held, strict=True):
        if not isinstance(value, np.void | int | float):
            driver.download(item, value)
    driver.call("cuModuleUnload", module)
    return arguments, text


def _record(driver: Driver, case: KernelCase, architecture: str, out: dict[str, Array], complaints: list[str]) -> None:
    runs = [launch(driver, case, architecture) for _ in range(3)]
    arguments, text = runs[0]
    name = f"{case.name} ({architecture})"
    references = case.reference(*case.arguments()) if case.reference else (None,) * len(case.outputs)
    for position, reference in zip(case.outputs, references, strict=True):
        found = arguments[position]
        key, earlier = f"{case.name}/{architecture}/{position}", f"{case.name}/{case.architectures[0]}/{position}"
        if earlier not in out or differs(found, out[earlier], 0.0):
            out[key] = found
        said = [differs(other[0][position], found, case.tolerance) for other in runs[1:]]
        complaints += [f"{name}: argument {position}: two runs: {problem}" for problem in said if problem]
        if reference is not None and (problem := differs(found, reference, case.reference_tolerance)):
            complaints.append(f"{name}: argument {position}: NumPy: {problem}")
    if text:
        out[f"{case.name}/{architecture}/text"] = np.frombuffer(text.encode(), np.uint8)


def main() -> int:
    """Record; 1 if runs differ among each other or from NumPy (what was recorded is written all the same)."""
    driver = Driver()
    out: dict[str, Array] = {}
    complaints: list[str] = []
    for case, architecture in [(one, each) for one in cases() for each in one.architectures]:
        print(case.name, architecture, flush=True)
        try:
            _record(driver, case, architecture, out, complaints)
        except (RuntimeError, ValueError, OSError) as error:
            complaints.append(f"{case.name} ({architecture}): {error}; nothing after it was run")
            break
    folder = Path(os.environ.get("OUT", "."))
    np.savez_compressed(folder / "kernels.npz", **out)  # pyright: ignore[reportArgumentType]
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().splitlines()[0]
    compilers = (CUBINS / "provenance.txt").read_text()
    facts = {"gpu": gpu, "cuda": driver.version(), "compilers": compilers, "assembled": "for sm_90 with -fmad=false"}
    (folder / "kernels.json").write_text(json.dumps({**facts, "complaints": complaints}, indent=1) + "\n")
    print("\n".join(complaints) or "no complaints")
    print(f"{len(cases())} cases, {len(out)} arrays, {(folder / 'kernels.npz').stat().st_size} bytes, {gpu}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
