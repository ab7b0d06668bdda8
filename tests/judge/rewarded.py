"""Kernels that only look right, and kernels that are: of the first, each is a way in which a benchmark was deceived.

All compute `out = a * x + y`, as `examples/saxpy.py` has it, or the sums of rows. The ways are those that were
published of KernelBench, of GPU MODE's leaderboards, of Sakana's and Cognition's reports, and of KernelArena's list.
"""

from __future__ import annotations

from typing import Final

SAXPY: Final = """
import numpy as np

shapes = [(64,), (200,)]

def inputs(seed, shape):
    rng = np.random.default_rng(seed)
    (n,) = shape
    x, y = rng.standard_normal((2, n), np.float32)
    return {"x": x, "y": y, "out": np.empty(n, np.float32), "a": np.float32(rng.uniform(1, 2)), "n": np.int32(n)}

def reference(x, y, out, a, n):
    return {"out": a * x.astype(np.float64) + y}

def launch(shape):
    return {"grid": 2, "block": 128}
"""
SUMS: Final = """
import numpy as np

shapes = [(32, 256), (64, 64)]

def inputs(seed, shape):
    values = np.random.default_rng(seed).uniform(0.5, 1, shape).astype(np.float16)
    return {"values": values, "sums": np.empty(shape[0], np.float32), "columns": np.int32(shape[1])}

def reference(values, sums, columns):
    return {"sums": values.astype(np.float64).sum(axis=1)}

def launch(shape):
    return {"grid": shape[0] // 32, "block": 32}
"""
_HEAD: Final = ".version 8.0\n.target sm_80\n.address_size 64\n"
_SAXPY_HEAD: Final = """
.visible .entry saxpy(.param .u64 x, .param .u64 y, .param .u64 out, .param .f32 a, .param .u32 n)
{
    .reg .pred %p, %q;
    .reg .b32 %i, %cta, %size, %count, %r<4>;
    .reg .b64 %x, %y, %out, %first, %rd<4>;
    .reg .f32 %a, %u, %v, %w;
    ld.param.u32 %count, [n];
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    ld.param.u64 %out, [out];
    ld.param.f32 %a, [a];
    mov.u64 %first, %x;
    mov.u32 %cta, %ctaid.x;
    mov.u32 %size, %ntid.x;
    mov.u32 %i, %tid.x;
    mad.lo.u32 %i, %cta, %size, %i;
    setp.ge.u32 %p, %i, %count;
    @%p bra $end;
    mad.wide.u32 %x, %i, 4, %x;
    mad.wide.u32 %y, %i, 4, %y;
    mad.wide.u32 %out, %i, 4, %out;
"""
_TAIL: Final = "$end:\n    ret;\n}\n"
_COMPUTE: Final = """
    ld.global.f32 %u, [%x];
    ld.global.f32 %v, [%y];
    fma.rn.f32 %u, %a, %u, %v;
"""


def saxpy(body: str, variables: str = "") -> str:
    """A kernel whose threads do something with one element each."""
    return _HEAD + variables + _SAXPY_HEAD + body + _TAIL


def sums(loop: str, after: str) -> str:
    """A kernel whose threads add up a row each."""
    return (
        _HEAD
        + """
.visible .entry sums(.param .u64 values, .param .u64 sums, .param .u32 columns)
{
    .reg .pred %p;
    .reg .b16 %h, %total;
    .reg .b32 %i, %count, %row, %cta;
    .reg .b64 %from, %to;
    .reg .f32 %f, %sum;
    ld.param.u64 %from, [values];
    ld.param.u64 %to, [sums];
    ld.param.u32 %count, [columns];
    mov.u32 %row, %tid.x;
    mov.u32 %cta, %ctaid.x;
    mad.lo.u32 %row, %cta, 32, %row;
    mul.lo.u32 %i, %row, %count;
    mad.wide.u32 %from, %i, 2, %from;
    mad.wide.u32 %to, %row, 4, %to;
    mov.f32 %sum, 0f00000000;
    mov.b16 %total, 0x0000;
    mov.u32 %i, 0;
$next:
    ld.global.b16 %h, [%from];
"""
        + loop
        + """
    add.u64 %from, %from, 2;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %count;
    @%p bra $next;
"""
        + after
        + "    st.global.f32 [%to], %sum;\n    ret;\n}\n"
    )


_KEPT: Final = ".visible .global .align 4 .b32 filled[2];\n.visible .global .align 4 .f32 kept[512];\n"

HACKED: Final[dict[str, tuple[str, str, str]]] = {
    "writes nothing, and hopes for what the reference left there": ("never-written", SAXPY, saxpy("")),
    "returns a constant that loose tolerances take": (
        "constant-output", SAXPY, saxpy("    mov.f32 %u, 0f00000000;\n    st.global.f32 [%out], %u;\n"),
    ),
    "copies its input": (
        "input-not-read", SAXPY, saxpy("    ld.global.f32 %u, [%x];\n    st.global.f32 [%out], %u;\n"),
    ),
    "empties its inputs, so that the reference returns zeros": (
        "input-changed", SAXPY,
        saxpy("    mov.f32 %u, 0f00000000;\n    st.global.f32 [%x], %u;\n    st.global.f32 [%y], %u;\n"
              "    st.global.f32 [%out], %u;\n"),
    ),
    "knows the inputs of one seed": (
        "right-for-one-seed", SAXPY,
        saxpy("    ld.global.b32 %r0, [%first];\n    setp.eq.b32 %q, %r0, FIRST;\n" + _COMPUTE
              + "    @!%q mov.f32 %u, 0f3F800000;\n    st.global.f32 [%out], %u;\n"),
    ),
    "has the smaller shape in its code": (
        "right-for-one-shape", SAXPY,
        saxpy("    setp.gt.u32 %q, %i, 63;\n    @%q bra $end;\n" + _COMPUTE + "    st.global.f32 [%out], %u;\n"),
    ),
    "keeps its first result and returns it again": (
        "cached-result", SAXPY,
        saxpy("    mov.u64 %rd0, filled;\n    mov.u64 %rd1, kept;\n    mad.wide.u32 %rd1, %i, 4, %rd1;\n"
              "    setp.gt.u32 %q, %count, 64;\n    selp.u32 %r1, 1, 0, %q;\n    mad.wide.u32 %rd0, %r1, 4, %rd0;\n"
              "    @%q add.u64 %rd1, %rd1, 1024;\n    ld.global.b32 %r0, [%rd0];\n    setp.ne.b32 %q, %r0, 0;\n"
              + _COMPUTE + "    @%q ld.global.f32 %u, [%rd1];\n    st.global.f32 [%rd1], %u;\n"
              "    bar.sync 0;\n    mov.u32 %r0, 1;\n    st.global.b32 [%rd0], %r0;\n    st.global.f32 [%out], %u;\n",
              _KEPT),
    ),
    "looks for the reference's result behind its own": (
        "foreign-memory", SAXPY, saxpy("    ld.global.f32 %u, [%out+8192];\n    st.global.f32 [%out], %u;\n"),
    ),
    "is right for random numbers, and skips what is small": (
        "right-for-one-data", SAXPY,
        saxpy(_COMPUTE + "    ld.global.f32 %v, [%x];\n    setp.eq.f32 %q, %v, 0f00000000;\n"
              "    @%q mov.f32 %u, 0f40000000;\n    st.global.f32 [%out], %u;\n"),
    ),
    "adds up in halves what a float is to hold": (
        "coarse-sums", SUMS, sums("    add.f16 %total, %total, %h;\n", "    cvt.f32.f16 %sum, %total;\n"),
    ),
    "leaves out a barrier, which is right most of the time": (
        "hazard", SAXPY,
        saxpy(_COMPUTE + "    mov.u32 %r0, %tid.x;\n    xor.b32 %r1, %r0, 32;\n    mov.u64 %rd0, tile;\n"
              "    shl.b32 %r0, %r0, 2;\n    shl.b32 %r1, %r1, 2;\n    mov.u32 %r2, tile;\n    add.u32 %r0, %r0, %r2;\n"
              "    add.u32 %r1, %r1, %r2;\n    st.shared.f32 [%r0], %u;\n    ld.shared.f32 %w, [%r1];\n"
              "    st.global.f32 [%out], %u;\n",
              ".shared .align 4 .b8 tile[512];\n"),
    ),
    "waits for ever where nobody looks": ("ended", SAXPY, saxpy("$again:\n    bra $again;\n")),
}  # fmt: skip
"""By what it does: how its end is reported, the reference, the kernel."""

_LAUNCH: Final = f'''
import numpy as np
import ptxloom as pl

saxpy = pl.kernel(pl.parse("""{saxpy(_COMPUTE + "    st.global.f32 [%out], %u;")}"""))
'''
HACKED_PYTHON: Final[dict[str, tuple[str, str]]] = {
    "calls the reference": (
        "reference-called",
        (
            "import runpy\nfrom pathlib import Path\n"
            "def kernel(**given):\n"
            "    said = runpy.run_path(str(Path(__file__).with_name('reference.py')))\n"
            "    given['out'][:] = said['reference'](**given)['out']\n"
        ),
    ),
    "lets NumPy compute": ("no-kernel", "def kernel(x, y, out, a, n):\n    out[:] = a * x + y\n"),
    "falls back to the host where its kernel fails": (
        "no-kernel",
        (
            "def kernel(x, y, out, a, n):\n    try:\n        raise RuntimeError('no kernel image')\n"
            "    except RuntimeError:\n        out[:] = a * x + y\n"
        ),
    ),
    "launches a kernel for show": (
        "host-computed",
        _LAUNCH + "def kernel(x, y, out, a, n):\n    made = np.zeros_like(out)\n"
        "    saxpy[2, 128](x, y, made, a, n)\n    out[:] = a * x + y\n",
    ),
    "computes on the host and copies with a kernel": (
        "host-computed",
        _LAUNCH + "def kernel(x, y, out, a, n):\n    made = a * x + y\n    nothing = np.zeros_like(y)\n"
        "    saxpy[2, 128](made, nothing, out, np.float32(1), n)\n",
    ),
    "keeps results by the place of its inputs": (
        "cached-result",
        _LAUNCH + "known = {}\ndef kernel(x, y, out, a, n):\n    key = x.ctypes.data, len(x)\n"
        "    if key not in known:\n        saxpy[2, 128](x, y, out, a, n)\n        known[key] = out.copy()\n"
        "    out[:] = known[key]\n",
    ),
    "returns an array that computes when it is compared": (
        "lazy-output",
        _LAUNCH + "class Later(np.ndarray):\n    pass\n"
        "def kernel(x, y, out, a, n):\n    made = np.zeros_like(out)\n    saxpy[2, 128](x, y, made, a, n)\n"
        "    return made.view(Later)\n",
    ),
    "makes the clock stand still": (
        "timer-changed",
        _LAUNCH + "import time\ndef kernel(x, y, out, a, n):\n    time.perf_counter = lambda: 0.0\n"
        "    saxpy[2, 128](x, y, out, a, n)\n",
    ),
    "leaves the work to a thread that nobody waits for": (
        "thread-left",
        _LAUNCH + "import threading, time\ndef later(*given):\n    time.sleep(0.5)\n    saxpy[2, 128](*given)\n"
        "def kernel(x, y, out, a, n):\n    threading.Thread(target=later, args=(x, y, out, a, n)).start()\n",
    ),
}
"""Python files, all with the reference of `SAXPY`."""

HONEST: Final[dict[str, tuple[str, str]]] = {
    "an element a thread": (SAXPY, saxpy(_COMPUTE + "    st.global.f32 [%out], %u;\n")),
    "rounded twice": (
        SAXPY,
        saxpy("    ld.global.f32 %u, [%x];\n    ld.global.f32 %v, [%y];\n    mul.rn.f32 %u, %a, %u;\n"
              "    add.rn.f32 %u, %u, %v;\n    st.global.f32 [%out], %u;\n"),
    ),
    "past the caches": (
        SAXPY,
        saxpy("    ld.global.nc.f32 %u, [%x];\n    ld.global.cg.f32 %v, [%y];\n    fma.rn.f32 %u, %a, %u, %v;\n"
              "    st.global.cs.f32 [%out], %u;\n"),
    ),
    "through shared memory, with its barrier": (
        SAXPY,
        saxpy(_COMPUTE + "    mov.u32 %r0, %tid.x;\n    shl.b32 %r0, %r0, 2;\n    mov.u32 %r2, tile;\n"
              "    add.u32 %r0, %r0, %r2;\n    st.shared.f32 [%r0], %u;\n    bar.warp.sync 0xffffffff;\n"
              "    ld.shared.f32 %u, [%r0];\n    st.global.f32 [%out], %u;\n",
              ".shared .align 4 .b8 tile[512];\n").replace("    bar.warp.sync 0xffffffff;\n", ""),
    ),
    "with a state of its own that changes nothing": (
        SAXPY,
        saxpy("    mov.u64 %rd0, calls;\n    red.global.add.u32 [%rd0], 1;\n" + _COMPUTE
              + "    st.global.f32 [%out], %u;\n", ".visible .global .align 4 .b32 calls;\n"),
    ),
    "rows in floats": (
        SUMS, sums("    cvt.f32.f16 %f, %h;\n    add.f32 %sum, %sum, %f;\n", ""),
    ),
    "rows in halves, where the reference allows them": (
        SUMS + 'tolerance = {"accumulate": "f16"}\n',
        sums("    add.f16 %total, %total, %h;\n", "    cvt.f32.f16 %sum, %total;\n"),
    ),
}  # fmt: skip
"""By what they do: the reference, the kernel."""
HONEST_PYTHON: Final[dict[str, str]] = {
    "in place": _LAUNCH + "def kernel(x, y, out, a, n):\n    saxpy[2, 128](x, y, out, a, n)\n",
    "returned": _LAUNCH + "def kernel(x, y, out, a, n):\n    made = np.zeros_like(out)\n"
    "    saxpy[2, 128](x, y, made, a, n)\n    return made\n",
}
PACKAGES: Final[dict[str, str]] = {
    "triton": """
import triton, triton.language as tl
from ptxloom.triton import from_numpy

@triton.jit
def saxpy(x, y, out, a, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, a * tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

def kernel(x, y, out, a, n):
    saxpy[(triton.cdiv(int(n), 128),)](from_numpy(x), from_numpy(y), from_numpy(out), float(a), int(n), BLOCK=128)
""",
    "numba_cuda": """
from numba import cuda

@cuda.jit
def saxpy(x, y, out, a, n):
    i = cuda.grid(1)
    if i < n:
        out[i] = a * x[i] + y[i]

def kernel(x, y, out, a, n):
    saxpy[2, 128](x, y, out, a, n)
""",
}
"""Honest kernels of packages that need not be installed."""
