"""Record what the CUDA driver makes of the parameters of tensor maps: its verdict, and the 128 bytes.

Run from the repository root on a machine with an NVIDIA GPU of sm_90 and its driver:
`python3 tools/record/tensor_maps.py OUT` writes OUT/tensor_maps.json.gz and, of im2col along the width,
OUT/wide_maps.json.gz, which belong into tests/recorded/tensor_maps.
"""

from __future__ import annotations

import ctypes
import gzip
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from recorded.tensor_maps.tensor_map_cases import RECORDING, RECORDING_WIDE, Case, cases, wide_cases

_BUFFER_BYTES = 128 + 64


def open_driver() -> tuple[Any, str, int]:
    """The driver with a context, the GPU's name and the driver's version."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, version, name = ctypes.c_void_p(), ctypes.c_int(), ctypes.create_string_buffer(100)
    done = (
        cuda.cuInit(0),
        cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        cuda.cuCtxSetCurrent(context),
        cuda.cuDeviceGetName(name, 100, 0),
        cuda.cuDriverGetVersion(ctypes.byref(version)),
    )
    if any(done):
        raise SystemExit(f"the driver says {done}")
    return cuda, name.value.decode(), version.value


def encoded(cuda: Any, case: Case) -> tuple[int, str]:
    """What the encoder says, and the bytes in hexadecimal; none where it refuses."""
    buffer = ctypes.create_string_buffer(_BUFFER_BYTES)
    at = -(-ctypes.addressof(buffer) // 64) * 64
    rank = len(case["dim"])
    tiled = "box" in case
    wide = "mode" in case
    if tiled:
        own: tuple[Any, ...] = ((ctypes.c_uint32 * rank)(*case["box"]),)
    elif wide:
        own = ctypes.c_int(case["lower"]), ctypes.c_int(case["upper"])
    else:
        own = (ctypes.c_int * (rank - 2))(*case["lower"]), (ctypes.c_int * (rank - 2))(*case["upper"])
    if not tiled:
        own = *own, ctypes.c_uint32(case["channels"]), ctypes.c_uint32(case["pixels"])
    narrow = cuda.cuTensorMapEncodeTiled if tiled else cuda.cuTensorMapEncodeIm2col
    encode = cuda.cuTensorMapEncodeIm2colWide if wide else narrow
    status = encode(
        ctypes.c_void_p(at),
        ctypes.c_int(case["kind"]),
        ctypes.c_uint32(rank),
        ctypes.c_void_p(case["address"]),
        (ctypes.c_uint64 * rank)(*case["dim"]),
        (ctypes.c_uint64 * max(1, rank - 1))(*case["strides"]),
        *own,
        (ctypes.c_uint32 * rank)(*case["steps"]),
        *(ctypes.c_int(case[name]) for name in ("interleave", *("mode",) * wide, "swizzle", "l2", "fill")),
    )
    return status, "" if status else ctypes.string_at(at, 128).hex()


def main(out: Path) -> None:
    """Record every case."""
    cuda, gpu, driver = open_driver()
    for recording, drawn in ((RECORDING, cases()), (RECORDING_WIDE, wide_cases())):
        found = [{**case, "status": status, "bytes": data} for case in drawn for status, data in [encoded(cuda, case)]]
        with gzip.GzipFile(out / recording.name, "wb", mtime=0) as file:
            file.write(json.dumps({"gpu": gpu, "driver": driver, "maps": found}).encode())
        print(f"{recording.name}: {len(found)} maps, {sum(case['status'] != 0 for case in found)} refused")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
