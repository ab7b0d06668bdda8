"""Record what a GPU's approximate functions give over whole octaves.

Run from the repository root on a machine with an NVIDIA GPU, CuPy and ptxas:
`OUT=folder python3 tools/record/approximate.py [NAME...]` (such as `tanh`; by default every function). Writes

* `octaves.json`, digests of every output: it belongs into tests/recorded/opcodes;
* `NAME.xz`, the outputs as first differences (int32): `tools/fit_interpolation.py` turns them into
  `src/ptxloom/machine/interpolation.toml`.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import cupy  # pyright: ignore[reportMissingImports]
import numpy as np

COUNT = 1 << 20
OCTAVE = 1 << 23
ONE = 0x3F800000
RANGES = {  # first argument, arguments, and of how many one is kept in NAME.xz
    "rcp.approx.ftz.f32": (ONE, OCTAVE, 1),
    "sqrt.approx.ftz.f32": (ONE, 2 * OCTAVE, 1),
    "rsqrt.approx.ftz.f32": (ONE, 2 * OCTAVE, 1),
    "lg2.approx.ftz.f32": (ONE, 2 * OCTAVE, 1),
    "ex2.approx.ftz.f32": (ONE, OCTAVE, 1),
    "sin.approx.ftz.f32": (ONE - OCTAVE, 2 * OCTAVE, 1),
    "cos.approx.ftz.f32": (ONE - OCTAVE, 2 * OCTAVE, 1),
    "tanh.approx.f32": (ONE - 8 * OCTAVE, 11 * OCTAVE, 4),  # from 2^-8 up to 8
}
KERNEL = """
.visible .entry {symbol}(.param .u64 out, .param .u32 first)
{{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<3>;
    ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [first];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;
    add.u32 %r6, %r1, %r5; mov.b32 %f1, %r6;
    {name} %f2, %f1;
    mad.wide.u32 %rd2, %r5, 4, %rd1; st.global.f32 [%rd2], %f2;
    ret;
}}
"""


def symbol(name: str) -> str:
    """The kernel of a function."""
    return name.replace(".", "_")


def main() -> None:
    """Record every function."""
    folder = Path(os.environ["OUT"])
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source, cubin = Path(scratch) / "k.ptx", Path(scratch) / "k.cubin"
        kernels = "".join(KERNEL.format(symbol=symbol(name), name=name) for name in RANGES)
        source.write_text(".version 8.0\n.target sm_90\n.address_size 64\n" + kernels)
        subprocess.run(["ptxas", "-arch=sm_90", "-o", str(cubin), str(source)], check=True)
        module = cupy.RawModule(path=str(cubin))
        names = [name for name in RANGES if name.partition(".")[0] in sys.argv[1:] or not sys.argv[1:]]
        found = {name: record(module, name, folder) for name in names}
    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    provenance = (
        f"{device}, sm_90, CUDA driver {cupy.cuda.runtime.driverGetVersion()}: every input from `first` on; "
        "each digest is BLAKE2b-64 of 2^20 outputs, uint32 little-endian"
    )
    (folder / "octaves.json").write_text(json.dumps({"provenance": provenance, "functions": found}, indent=1) + "\n")


def record(module: cupy.RawModule, name: str, folder: Path) -> dict[str, object]:
    """Run one function; write its outputs, give its digests."""
    first, arguments, step = RANGES[name]
    out = cupy.empty(arguments, cupy.uint32)
    module.get_function(symbol(name))((arguments // 1024,), (1024,), (out, np.uint32(first)))
    values = cupy.asnumpy(out)
    pieces = values.reshape(-1, COUNT)
    digests = [hashlib.blake2b(piece.astype("<u4").tobytes(), digest_size=8).hexdigest() for piece in pieces]
    kept = np.diff(values[::step].astype(np.int64), prepend=0).astype("<i4")
    packed = lzma.compress(kept.tobytes(), preset=6)
    (folder / f"{name.partition('.')[0]}.xz").write_bytes(packed)
    print(name, arguments, "arguments,", len(packed), "bytes")
    return {"first": first, "digests": digests}


if __name__ == "__main__":
    main()
