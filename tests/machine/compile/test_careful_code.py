"""Long code is outlined until many warps have run it: then it is made with care, which later processes find."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from machine.small_kernels import HEAD, of_any_target
from ptxloom.machine.codegen import lengths
from ptxloom.machine.compile.needs import SYMBOL
from ptxloom.machine.native import jit

if TYPE_CHECKING:
    from pathlib import Path

    from ptxloom.machine import Kernel

MANY = 8
MIX = "\n".join(
    f"mad.lo.u32 %r{n % 5}, %r{(n + 1) % 5}, {n}, %r{(n + 3) % 5}; xor.b32 %r{(n + 2) % 5}, %r{n % 5}, %r{(n + 4) % 5};"
    for n in range(20)
)
TEXT = f"""{HEAD}.visible .entry k(.param .u64 out) {{
.reg .b32 %r<5>; .reg .b64 %rd<2>;
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, 7; mov.u32 %r3, %r1; mov.u32 %r4, %r0;
ld.param.u64 %rd0, [out]; mad.wide.u32 %rd0, %r0, 4, %rd0;
{MIX}
st.global.u32 [%rd0], %r2; ret; }}"""


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each kernel's code that LLVM was asked for was outlined; the cache is empty, and little is long."""
    asked: list[bool] = []
    compiled = jit.compiled

    def noted(ir: str, level: int) -> bytes:
        if SYMBOL in ir:
            asked.append("call void @ptxloom_outlined" in ir)
        return compiled(ir, level)

    monkeypatch.setattr(jit, "compiled", noted)
    monkeypatch.setattr(lengths, "LONG", 4)
    monkeypatch.setattr(lengths, "MANY", MANY)
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    return asked


def new() -> Kernel:
    """The kernel, as a process that knows nothing of it has it."""
    return of_any_target(TEXT, "k")


def run(kernel: Kernel, warps: int, timeout: float | None = None) -> list[int]:
    out = np.zeros(64, np.uint32)
    kernel.launch(warps // 2, 64, [out], timeout=timeout, threads=1)
    return out.tolist()


def test_what_many_warps_run_is_made_with_care_from_then_on(made: list[bool]) -> None:
    kernel = new()
    first = [run(kernel, 2) for _ in range(3)]
    assert made == [True]
    assert run(kernel, 2) == first[0] == first[1] == first[2]
    assert made == [True, False]
    assert [run(kernel, 2) for _ in range(3)] == first
    assert made == [True, False]
    assert len(set(first[0])) > 32


def test_what_was_made_with_care_is_found_by_others(made: list[bool]) -> None:
    wanted = run(new(), MANY)
    assert run(new(), MANY) == run(new(), MANY)
    made.clear()
    kernel = new()
    assert run(kernel, 2) == run(new(), 2)
    assert run(kernel, MANY) == wanted
    assert made == []


def test_a_first_launch_of_many_warps_waits_for_one_code_alone(made: list[bool]) -> None:
    run(new(), MANY)
    assert made == [False]


def test_a_time_limit_is_not_spent_on_better_code(made: list[bool]) -> None:
    kernel = new()
    for _ in range(3):
        run(kernel, MANY, timeout=600)
    assert made == [True]
    run(kernel, MANY)
    assert made == [True, False]


def test_of_code_that_is_not_outlined_there_is_no_better(made: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lengths, "LONG", 1000)
    kernel = new()
    for _ in range(3):
        run(kernel, MANY)
    assert made == [False]


def test_a_long_kernel_that_a_loop_repeats_is_made_once(made: list[bool]) -> None:
    loop = "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p0, %r3, 9; @%p0 bra L;"
    text = f"{HEAD}.visible .entry k() {{ .reg .b32 %r<5>; .reg .pred %p0; mov.u32 %r3, 0; {loop} ret; }}"
    for _ in range(2):
        kernel = of_any_target(text, "k")
        for _ in range(3):
            kernel.launch(MANY // 2, 64, threads=1)
    assert made == [False]
