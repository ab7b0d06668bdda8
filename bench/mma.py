"""Exact `pl.mma` beside a Python model that computes each element in integers, in one run; ratios first.

Run: `python bench/mma.py`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import ptxloom as pl
from ptxloom.isa.products import matrix_form

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from mma_reference import F16, F32, fused_sum
from recorded.mma.mma_cases import inputs

WARPS = 10_000
FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
OTHERS = (
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32",
)


def measure(spelling: str) -> float:
    """Seconds a warp, the best of five."""
    form = matrix_form(spelling)
    given = inputs(form, "normal" if form.d_type != "s32" else "bits", 64)
    repeats = WARPS // 64 + 1
    a, b, c = (np.tile(np.swapaxes(x, -1, -2), (repeats, 1, 1))[:WARPS] for x in (given.a, given.b, given.c))
    e = np.tile(given.e, (repeats, 1))[:WARPS] if form.sparse else None
    best = float("inf")
    for _ in range(6):
        start = time.perf_counter()
        pl.mma(form, a, b, c, metadata=e)
        best = min(best, time.perf_counter() - start)
    return best / WARPS


def model() -> float:
    """Seconds for one warp of `FORM` in plain Python."""
    rng = np.random.default_rng(0)
    bits = [int(x) for x in rng.standard_normal(512).astype(np.float16).view(np.uint16)]
    start = time.perf_counter()
    for element in range(128):
        pairs = [(bits[(element + k) % 256], bits[256 + (element * 3 + k) % 256]) for k in range(16)]
        fused_sum(pairs, 0, (F16, F32, F32), 25)
    return time.perf_counter() - start


def main() -> None:
    ours, published, python = measure(FORM), 13e-3, model()
    print(f"{published / ours:10,.0f} x the published per-element model (13 ms a warp)")
    print(f"{python / ours:10,.0f} x our own per-element model ({python * 1e3:.1f} ms a warp, this machine)")
    print(f"{WARPS:,} warps of {FORM}: {ours * WARPS * 1e3:.1f} ms, {ours * 1e9:.0f} ns a warp, one thread")
    for spelling in OTHERS:
        print(f"{measure(spelling) * 1e9:8.0f} ns a warp  {spelling}")


if __name__ == "__main__":
    main()
