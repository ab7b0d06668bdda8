"""Launches that others make are examined: watched ones, and those on memory that was allocated as bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis.watched import Watcher
from ptxloom.machine.launch.watching import watching

SGEMM: Final = (Path(__file__).parents[2] / "examples" / "sgemm.ptx").read_text()
M, N, K = 32, 48, 64
STEP: Final = re.compile(r"(fma\.rn\.f32\s+(%f\d+), (%f\d+), (%f\d+), %f\d+;)")


def _twice() -> str:
    """The kernel with one product of each tile added twice."""
    found = STEP.search(SGEMM)
    assert found is not None
    return SGEMM.replace(found[1], f"{found[1]} fma.rn.f32 {found[2]}, {found[3]}, {found[4]}, {found[2]};")


def _launch(text: str) -> None:
    """Launch it on memory of a device, as programs do: pointers alone, no types, no shapes."""
    device = pl.Device("sm_80")
    rng = np.random.default_rng(3)
    places = [device.alloc(4 * size, f"array {number}").address for number, size in enumerate((M * K, K * N, M * N))]
    for place, size in zip(places, (M * K, K * N), strict=False):
        device.write(place, rng.standard_normal(size).astype(np.float32).tobytes())
    device.kernel(text, "sgemm").launch((N // 16, M // 16), (16, 16), [*places, M, N, K], memory=device)


@pytest.mark.parametrize(("text", "causes"), [(SGEMM, []), (_twice(), ["k-twice"])], ids=["right", "twice"])
def test_launches_on_plain_memory_are_examined(text: str, causes: list[str]) -> None:
    watcher = Watcher()
    with watching(("memcheck",), watcher.tell, provenance=True):
        _launch(text)
        _launch(text)  # the same again, which is told once
    (seen,) = watcher.seen
    assert (watcher.launches, seen.kernel, seen.is_wrong) == (2, "sgemm", bool(causes))
    assert [one.cause for one in seen.examined.found] == causes
    assert seen.examined.terms == M * N * (K + 4 * len(causes))
    assert str(seen).startswith(causes[0] if causes else "no law that could be asked is broken")


def test_nobody_follows_where_nobody_watches() -> None:
    watcher = Watcher()
    with watching(("memcheck",), watcher.tell):
        _launch(SGEMM)
    assert (watcher.launches, watcher.seen) == (1, [])
