"""Launches that others make are examined: watched ones, and those on memory that was allocated as bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.diagnosis import watched
from ptxloom.diagnosis.watched import Watcher
from ptxloom.diagnostics import UsageError
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
        _launch(text)  # the same again, which is reported once
    (seen,) = watcher.seen
    assert (watcher.launches, seen.kernel, seen.is_wrong) == (2, "sgemm", bool(causes))
    assert [one.cause for one in seen.examined.found] == causes
    assert seen.examined.terms == M * N * (K + 4 * len(causes))
    assert str(seen).startswith(causes[0] if causes else "no law that could be checked is broken")


def test_nobody_follows_where_nobody_watches() -> None:
    watcher = Watcher()
    with watching(("memcheck",), watcher.tell):
        _launch(SGEMM)
    assert (watcher.launches, watcher.seen) == (1, [])


COPIES: Final = """.version 8.0
.target sm_80
.address_size 64
.visible .entry spread(.param .u64 to, .param .u64 from)
{
    .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<3>; .shared .align 16 .b8 tile[16];
    ld.param.u64 %rd0, [to]; ld.param.u64 %rd1, [from];
    mov.u32 %r0, %tid.x; mov.u32 %r1, tile;
    cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.wait_all; bar.sync 0;
    ld.shared.f32 %f0, [tile]; fma.rn.f32 %f1, %f0, %f0, %f0;
    mul.wide.u32 %rd2, %r0, 4; add.s64 %rd3, %rd0, %rd2;
    st.global.f32 [%rd3], %f1; ret;
}
"""


def _spread() -> Watcher:
    """What is seen of a kernel that stores one number 32 times, to memory that has no name."""
    device, watcher = pl.Device("sm_80"), Watcher()
    to, source = (device.alloc(size).address for size in (128, 4))
    device.write(source, np.float32(3).tobytes())
    with watching((), watcher.tell, provenance=True):
        device.kernel(COPIES, "spread").launch(1, 32, [to, source], memory=device)
    return watcher


def test_neighbours_that_are_equal_are_elements_of_their_own_and_copies_name_no_type() -> None:
    (seen,) = _spread().seen
    assert [one.count for one in seen.examined.unjudged if one.array == "args[0]"] == [32]


def test_memory_without_a_name_is_called_as_the_parameter_that_points_to_it() -> None:
    (seen,) = _spread().seen
    assert {one.array for one in seen.examined.unjudged} <= {"args[0]", "args[1]"}
    assert "alloc[" not in str(seen)


def test_a_launch_of_which_laws_cannot_be_asked_is_told_as_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise UsageError("record", "", "another")

    monkeypatch.setattr(watched, "examine", refuse)
    (seen,) = _spread().seen
    assert seen.examined.verdict == "unjudged"
    assert str(seen).startswith("could not judge\nnot judged: ")


LAUNCHES: Final = """
import numpy as np
import ptxloom as pl
a, b, c = np.ones((32, 64), np.float32), np.ones((64, 48), np.float32), np.zeros((32, 48), np.float32)
kernel = pl.kernel(pl.load("wrong.ptx"), "sgemm")
for _ in range(2):
    kernel.launch((3, 2), (16, 16), [a, b, c, 32, 48, 64])
"""


@pytest.mark.parametrize("asked", [True, False])
def test_kernels_of_python_are_told_once_where_the_environment_asks(asked: bool, tmp_path: Path) -> None:
    (tmp_path / "wrong.ptx").write_text(_twice())
    environment = {name: value for name, value in os.environ.items() if name != "PTXLOOM_WHY"}
    environment |= {"PTXLOOM_WHY": "1"} if asked else {}
    command = [sys.executable, "-c", LAUNCHES]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=tmp_path)
    assert done.stderr.count("ptxloom why: kernel sgemm:\nk-twice: ") == asked
