"""Large grids take bounded memory, large kernels code and work in proportion; what is too large is refused."""

from __future__ import annotations

import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Kernel, LaunchError, semantics
from ptxloom.machine.compile import variant
from ptxloom.machine.native import jit
from ptxloom.machine.plan.planner import plan
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from types import FrameType

    from ptxloom.machine.program.model import Program

CHECKS = frozenset(("memcheck", "synccheck"))
STEPS = (
    "add.u32 %r{0}, %r{1}, %r{2};",
    "xor.b32 %r{0}, %r{1}, 77;",
    "mad.lo.u32 %r{0}, %r{1}, 3, %r{2};",
    "setp.lt.u32 %p{0}, %r{1}, %r{2}; selp.b32 %r{0}, %r{1}, 5, %p{0};",
)
SUMMING = """
.shared .align 4 .b8 area[1024];
"""
TOTAL = """
mov.u32 %r2, area; shl.b32 %r3, %r0, 2; add.u32 %r3, %r3, %r2; mov.u32 %r4, %ctaid.x;
st.shared.u32 [%r3], %r4; bar.sync 0; xor.b32 %r3, %r3, 128; ld.shared.u32 %r5, [%r3];
atom.global.add.u32 %r6, [%rd0], %r5;
"""


def straight_line(count: int) -> Program:
    """A program of `count` steps, each with a register of its own."""
    steps = (STEPS[n % 4].format(n + 1, n, max(0, n - 7)) for n in range(count))
    text = (
        ".version 8.0\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out)\n{\n"
        f".reg .b32 %r<{count + 1}>; .reg .pred %p<{count + 1}>; .reg .b64 %rd;\n"
        f"mov.u32 %r0, %tid.x;\nld.param.u64 %rd, [out];\n{chr(10).join(steps)}\n"
        f"st.global.u32 [%rd], %r{count};\nret;\n}}\n"
    )
    return plan(parse(text), "k", semantics.BlockCuts())


def code(count: int) -> str:
    return variant.translate(straight_line(count), whole=True, checks=CHECKS).ir


def calls(count: int) -> int:
    """Python functions called to make the IR of a kernel."""
    made = 0

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal made
        made += event == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        code(count)
    finally:
        sys.setprofile(before)
    return made


def peak(kernel: Kernel, grid: int, out: Any) -> int:
    """The most bytes held at a time during a launch, beyond those held before.

    It has a time limit, so that no process that makes better code begins in it: what goes to it is held meanwhile.
    """
    tracemalloc.start()
    try:
        kernel.launch(grid, 64, [out], 64 * 1024, threads=2, timeout=300)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_grid_of_4096_blocks_holds_no_more_memory_than_one_of_16() -> None:
    kernel = entry(TOTAL, before=SUMMING)
    out = np.zeros(64, np.uint32)
    kernel.launch(16, 64, [out])  # what is made once is made here
    small = peak(kernel, 16, out)
    out[:] = 0
    large = peak(kernel, 4096, out)
    assert (out == 4096 * 4095 // 2).all()
    assert small > 64 * 1024  # the shared memory of a block is counted
    assert large <= small + 64 * 1024


@pytest.mark.parametrize("count", [625, 5000])  # the longer ones are outlined
def test_code_is_in_proportion_to_the_instructions(count: int) -> None:
    few, twice, four = (code(count * n).count("\n") for n in (1, 2, 4))
    assert four - twice == pytest.approx(2 * (twice - few), rel=0.02)


def test_the_work_to_translate_a_kernel_grows_with_its_size() -> None:
    code(100)  # what is cached for good
    few, many = calls(500), calls(2000)
    assert many < 4.4 * few


def test_machine_code_grows_with_the_kernel_s_size() -> None:
    few, many = (len(jit.compile_ir(code(count), 0)) for count in (400, 1600))
    assert many < 4.4 * few


@pytest.mark.parametrize("grid", [2**31 - 1, (1, 65535, 65535), (2**31 - 1, 65535, 65535), np.int64(2**31 - 1)])
def test_a_grid_at_the_limits_starts(grid: Any) -> None:
    with pytest.raises(LaunchError, match=r"memcheck\.trap"):
        entry("trap;").launch(grid, 1, [np.zeros(1, np.uint32)])


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid": 2**31},
        {"grid": (1, 65536)},
        {"grid": (1, 1, 65536)},
        {"grid": (1, 1, 1, 1)},
        {"grid": ()},
        {"grid": 1.5},
        {"grid": None},
        {"grid": True},
        {"grid": -1},
        {"block": 1025},
        {"block": (1, 1, 65)},
        {"block": (16, 16, 8)},
        {"grid": 64, "cluster": 32},
        {"grid": (4, 4, 4), "cluster": (4, 4, 4)},
        {"grid": 9, "cluster": 2},
        {"shared_bytes": 227 * 1024},
        {"shared_bytes": -1},
        {"shared_bytes": 1.5},
        {"stack_bytes": 1 << 40},
        {"stack_bytes": -1},
        {"threads": 0},
        {"threads": "two"},
        {"timeout": "soon"},
        {"timeout": -1.0},
        {"timeout": float("nan")},
        {"schedule_seed": "a"},
        {"checks": ["valgrind"]},
    ],
    ids=str,
)
def test_a_launch_beyond_the_limits_is_refused_by_name(wrong: dict[str, Any]) -> None:
    out = np.zeros(1, np.uint32)
    kernel = entry("st.global.u32 [%rd1], 1;", before=SUMMING + ".shared .b8 more[4];")
    arguments: dict[str, Any] = {"grid": 1, "block": 1, "args": [out], **wrong}
    with pytest.raises(UsageError, match=rf"^{list(wrong)[-1]} is "):
        kernel.launch(**arguments)
    assert out[0] == 0


def test_progress_tells_how_many_blocks_have_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ptxloom.machine.launch.grid.PROGRESS_SECONDS", 0.0)
    told: list[tuple[int, int]] = []
    lines = "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100000; @%p1 bra L;"

    def note(started: int, total: int) -> None:
        told.append((started, total))

    entry(lines, params="").launch(64, 32, [], progress=note)
    assert {total for _, total in told} == {64}
    assert [s for s, _ in told] == sorted(s for s, _ in told)
    assert all(0 <= s <= 64 for s, _ in told)
