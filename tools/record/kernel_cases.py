"""Run real kernels on an sm_90 GPU and record their outputs: `OUT=folder python3 tools/record/kernel_cases.py kernels`.

The argument names the recording: `kernels`, or `hopper_kernels` for what only sm_90a has.

The machine code comes from `build/kernels`, which `python tools/corpus/kernels.py` writes; nothing but NumPy and the
driver is needed here. Each case runs three times, with the outputs of a case that claims that every bit is defined
compared between the runs, and with NumPy's result where the case has one. Writes `NAME.npz` and `NAME.json`.
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
from kernels.tiles import SWIZZLE_128B, Tiles, array_of  # noqa: E402 - likewise

if TYPE_CHECKING:
    from kernels.case import Arguments, Array, KernelCase

CUBINS = ROOT / "build" / "kernels"
STACK_BYTES = 16_384
MAX_DYNAMIC_SHARED_BYTES = 8  # of `CUfunction_attribute`
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

    def describe(self, tiles: Tiles, pointer: ctypes.c_uint64) -> ctypes.Array[ctypes.c_char]:
        """The tensor map of an array that lies in device memory."""
        tensor_map = ctypes.create_string_buffer(256)
        at = -ctypes.addressof(tensor_map) % 64
        rows, row = tiles.array.shape
        ones = (ctypes.c_uint32 * 2)(1, 1)
        self.call(
            "cuTensorMapEncodeTiled",
            ctypes.byref(tensor_map, at),
            tiles.data_type,
            2,
            pointer,
            (ctypes.c_uint64 * 2)(row, rows),
            (ctypes.c_uint64 * 1)(row * tiles.array.itemsize),
            (ctypes.c_uint32 * 2)(*reversed(tiles.box)),
            ones,
            *(0, SWIZZLE_128B, 0, 0),
        )
        return ctypes.create_string_buffer(tensor_map[at : at + 128], 128)

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
    driver.call("cuFuncSetAttribute", function, MAX_DYNAMIC_SHARED_BYTES, case.shared_bytes)
    held: list[Any] = []
    uploaded: list[tuple[Array, ctypes.c_uint64]] = []
    types = parameter_types(case.ptx(architecture), case.kernel)
    for value, kind in zip(arguments, types, strict=True):
        if isinstance(value, np.void | int | float):
            held.append(ctypes.create_string_buffer(to_bytes(value, kind)))
            continue
        uploaded.append((array_of(value), driver.upload(array_of(value))))
        held.append(driver.describe(value, uploaded[-1][1]) if isinstance(value, Tiles) else uploaded[-1][1])
    pointers = (ctypes.c_void_p * len(held))(*(ctypes.addressof(item) for item in held))
    sizes = [*case.grid, 1, 1][:3] + [*case.block, 1, 1][:3]
    geometry = [ctypes.c_uint(size) for size in (*sizes, case.shared_bytes)]
    extra = () if case.cooperative else (None,)
    entry = "cuLaunchCooperativeKernel" if case.cooperative else "cuLaunchKernel"

    def run() -> None:
        driver.call(entry, function, *geometry, None, pointers, *extra)
        driver.call("cuCtxSynchronize")

    text = _printed(run)
    for array, pointer in uploaded:
        driver.download(pointer, array)
    driver.call("cuModuleUnload", module)
    return arguments, text


def _record(driver: Driver, case: KernelCase, architecture: str, out: dict[str, Array], complaints: list[str]) -> None:
    runs = [launch(driver, case, architecture) for _ in range(3)]
    arguments, text = runs[0]
    name = f"{case.name} ({architecture})"
    references = case.reference(*case.arguments()) if case.reference else (None,) * len(case.outputs)
    for position, reference in zip(case.outputs, references, strict=True):
        found = array_of(arguments[position])
        key, earlier = f"{case.name}/{architecture}/{position}", f"{case.name}/{case.architectures[0]}/{position}"
        if earlier not in out or differs(found, out[earlier], 0.0):
            out[key] = found
        said = [differs(array_of(other[0][position]), found, case.tolerance) for other in runs[1:]]
        complaints += [f"{name}: argument {position}: two runs: {problem}" for problem in said if problem]
        if reference is not None and (problem := differs(found, reference, case.reference_tolerance)):
            complaints.append(f"{name}: argument {position}: NumPy: {problem}")
    if text:
        out[f"{case.name}/{architecture}/text"] = np.frombuffer(text.encode(), np.uint8)


def main(recording: str) -> int:
    """Record; 1 if runs differ among each other or from NumPy (what was recorded is written anyway)."""
    driver = Driver()
    out: dict[str, Array] = {}
    complaints: list[str] = []
    for case, architecture in [
        (one, each) for one in cases() if one.recording == recording for each in one.architectures
    ]:
        print(case.name, architecture, flush=True)
        try:
            _record(driver, case, architecture, out, complaints)
        except (RuntimeError, ValueError, OSError) as error:
            complaints.append(f"{case.name} ({architecture}): {error}; nothing after it was run")
            break
    folder = Path(os.environ.get("OUT", "."))
    np.savez_compressed(folder / f"{recording}.npz", **out)  # pyright: ignore[reportArgumentType]
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().splitlines()[0]
    compilers = (CUBINS / "provenance.txt").read_text()
    facts = {"gpu": gpu, "cuda": driver.version(), "compilers": compilers, "assembled": "for sm_90 with -fmad=false"}
    (folder / f"{recording}.json").write_text(json.dumps({**facts, "complaints": complaints}, indent=1) + "\n")
    print("\n".join(complaints) or "no complaints")
    print(f"{len(out)} arrays, {(folder / f'{recording}.npz').stat().st_size} bytes, {gpu}")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
