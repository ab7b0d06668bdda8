"""Record what a GPU does with copies by tensor maps, right ones and wrong ones.

Run from the repository root on a machine with an NVIDIA GPU of sm_90, its driver and ptxas (and `src` on PYTHONPATH):
`python3 tools/record/tensor_copies.py OUT` writes OUT/tensor_copies.json.gz and OUT/slices.json.gz, which belong into
tests/recorded/tensor_maps, and for each a .bin.xz, what each right copy has changed, to look into. A wrong copy ends
its process: the cases behind it go on in another one. With a name behind OUT (`slices`) only that one is recorded.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import lzma
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "src"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from recorded.tensor_maps.tensor_copy_cases import (
    CTAS,
    GIVEN,
    RECORDING,
    ROOM,
    SLICES_RECORDING,
    TENSOR,
    THREADS,
    Case,
    cases,
    digest,
    module_text,
    slice_cases,
)

RECORDINGS = {path.name.partition(".")[0]: made for path, made in ((RECORDING, cases), (SLICES_RECORDING, slice_cases))}
WORKERS = 8
TIMEOUT = 60


class Driver:
    """The CUDA driver, with one context."""

    def __init__(self, cubin: bytes) -> None:
        self.library: Any = ctypes.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self("cuDeviceGet", ctypes.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self("cuCtxSetCurrent", context)
        self.module = ctypes.c_void_p()
        self("cuModuleLoadData", ctypes.byref(self.module), cubin)
        self.start, self.tensor, self.given = self.take(ROOM), self.take(TENSOR), self.take(CTAS * GIVEN)

    def __call__(self, name: str, *arguments: Any) -> None:
        """Call a function of the driver.

        Raises:
            RuntimeError: With the name of the error.
        """
        code = getattr(self.library, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{text.value.decode() if text.value else code}")

    def take(self, size: int) -> ctypes.c_uint64:
        """A number of bytes of global memory."""
        at = ctypes.c_uint64()
        self("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(size))
        return at

    def give(self, at: ctypes.c_uint64, size: int) -> bytes:
        """What lies there."""
        room = (ctypes.c_char * size)()
        self("cuMemcpyDtoH_v2", room, at, ctypes.c_size_t(size))
        return bytes(room)

    def run(self, case: Case, number: int) -> tuple[bytes, bytes]:
        """What a case leaves behind."""
        start, tensor = case.before(number)
        self("cuMemcpyHtoD_v2", self.start, start, ctypes.c_size_t(ROOM))
        self("cuMemcpyHtoD_v2", self.tensor, tensor, ctypes.c_size_t(TENSOR))
        self("cuMemsetD8_v2", self.given, ctypes.c_ubyte(0), ctypes.c_size_t(CTAS * GIVEN))
        function = ctypes.c_void_p()
        self("cuModuleGetFunction", ctypes.byref(function), self.module, case.kernel.encode())
        values = [
            ctypes.create_string_buffer(case.map_bytes(self.tensor.value), 128), self.start, self.given,
            ctypes.c_uint32(case.near), ctypes.c_uint32(case.expected),
            ctypes.create_string_buffer(case.place_bytes(), 32), self.tensor,
        ]  # fmt: skip
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        self("cuLaunchKernel", function, case.ctas, 1, 1, THREADS, 1, 1, 0, None, pointers, None)
        self("cuCtxSynchronize")
        return self.give(self.given, CTAS * GIVEN), self.give(self.tensor, TENSOR)


def work(name: str, cubin: Path, first: int, step: int) -> None:
    """Run every `step`th case from one on, a line each, until one ends the process."""
    driver = Driver(cubin.read_bytes())
    every = RECORDINGS[name]()
    for number in range(first, len(every), step):
        print(number, flush=True)
        try:
            given, tensor = driver.run(every[number], number)
        except RuntimeError as error:
            print(f"! {error}", flush=True)
            return
        print(f"= {given.hex()} {tensor.hex()}", flush=True)


def outcomes(name: str, cubin: Path, first: int) -> dict[int, tuple[str, bytes]]:
    """What the cases of one worker leave behind, or how they end."""
    found: dict[int, tuple[str, bytes]] = {}
    going, count = first, len(cases_of(name))
    while going < count:
        command = [sys.executable, __file__, "work", name, str(cubin), str(going), str(WORKERS)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
            text, said = done.stdout, done.stderr[-300:]
        except subprocess.TimeoutExpired as error:
            text, said = (error.stdout or b"").decode(), "timeout"
        lines = text.splitlines()
        number = going
        for line in lines:
            if line[0] == "=":
                given, tensor = (bytes.fromhex(part) for part in line[2:].split())
                found[number] = (digest(given, tensor), changes(name, number, given + tensor))
            elif line[0] == "!":
                found[number] = (line[2:], b"")
            else:
                number = int(line)
        if number not in found:
            found[number] = (f"no answer: {said}", b"")
        going = max(found) + WORKERS
    return found


def changes(name: str, number: int, after: bytes) -> bytes:
    """What a case leaves behind, as the bits that it has changed."""
    start, tensor = cases_of(name)[number].before(number)
    before = start + bytes(CTAS * GIVEN - ROOM) + tensor
    size = len(before)
    return (int.from_bytes(before, "big") ^ int.from_bytes(after, "big")).to_bytes(size, "big")


@cache
def cases_of(name: str) -> list[Case]:
    """All cases of a recording, made once."""
    return RECORDINGS[name]()


def record(name: str, out: Path) -> None:
    """Record every case."""
    source, cubin = out / "cases.ptx", out / "cases.cubin"
    source.write_text(module_text())
    subprocess.run(["ptxas", "-arch=sm_90a", "-o", str(cubin), str(source)], check=True)
    found: dict[int, tuple[str, bytes]] = {}
    with ThreadPoolExecutor(WORKERS) as workers:
        for part in workers.map(lambda first: outcomes(name, cubin, first), range(WORKERS)):
            found |= part
    source.unlink()
    cubin.unlink()
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    gpu, driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()[0].split(", ")
    ptxas = subprocess.run(["ptxas", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    recording = {"gpu": gpu, "driver": driver, "ptxas": ptxas, "outcomes": [found[n][0] for n in sorted(found)]}
    data = gzip.compress(json.dumps(recording, indent=1).encode(), mtime=0)
    (out / f"{name}.json.gz").write_bytes(data)
    whole = b"".join(found[n][1] for n in sorted(found))
    (out / f"{name}.bin.xz").write_bytes(lzma.compress(whole, preset=0))
    print(name, len(found), "cases;", sum(not data for _, data in found.values()), "ended")


if __name__ == "__main__":
    if sys.argv[1] == "work":
        work(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        for chosen in sys.argv[2:] or RECORDINGS:
            record(chosen, Path(sys.argv[1]))
