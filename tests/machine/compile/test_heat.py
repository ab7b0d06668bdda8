"""A kernel that has run long is compiled once more, beside: when, by which process, and that results do not show it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import ptxloom as pl
from machine.compile.waiting import ENDED, wait
from ptxloom.machine import semantics
from ptxloom.machine.compile import kept_code, tiers
from ptxloom.machine.compile.beside import HotRequest, request_of
from ptxloom.machine.compile.kept_code import hot_content
from ptxloom.machine.native import beside, jit
from ptxloom.machine.native.beside import started
from ptxloom.machine.plan.hot_maker import made
from ptxloom.machine.plan.planner import plan
from ptxloom.machine.runtime import turns
from ptxloom.syntax.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ptxloom.machine.kernel import Kernel

CHECKS: Final = frozenset({"memcheck", "synccheck"})
LOOP: Final = """.version 9.0 .target sm_90 .address_size 64
.visible .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<4>; .reg .pred %p1;
mov.u32 %r1, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r1, %r4, %r5, %r1;
mov.u32 %r2, 0; mov.u32 %r3, 0; L: mad.lo.u32 %r2, %r2, 5, %r1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 300;
@%p1 bra L; ld.param.u64 %d1, [p]; mad.wide.u32 %d1, %r1, 4, %d1; st.global.u32 [%d1], %r2; ret; }"""
#: A function of the run-time finds its registers by number.
RARE: Final = LOOP.replace("st.global", "bar.red.popc.u32 %r2, 0, %p1; st.global")
CTAS: Final = 2048


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing hot is kept, no process is at work, and few instructions are long."""
    monkeypatch.setenv("PTXLOOM_TIER", "auto")
    monkeypatch.setattr(tiers, "LONG", 1)
    monkeypatch.setattr(tiers, "START", 0)
    monkeypatch.setattr(jit, "LONG", 1 << 60)  # else a process may optimise the run-time

    def key(called: str, *_: object) -> str:
        return f"hot {tmp_path} {called}"

    monkeypatch.setattr(kept_code, "_hot_key", key)
    at_work: list[beside.Making] = []
    monkeypatch.setattr(beside, "_AT_WORK", at_work)
    yield
    for one in at_work:
        one.end()


def launched(kernel: Kernel, **options: float) -> list[int]:
    out = np.zeros(32 * CTAS, np.uint32)
    kernel.launch(CTAS, 32, [out], threads=1, **options)  # pyright: ignore[reportArgumentType] - a time limit
    return out.tolist()


def known(kernel: Kernel) -> int:
    return kernel.code.known_address(whole=True, checks=CHECKS)


def test_hot_code_that_a_process_has_made_is_taken_up_by_the_next_launch_and_by_the_next_kernel() -> None:
    kernel = pl.kernel(pl.parse(LOOP), "k")
    results = launched(kernel)
    first = known(kernel)
    wait()
    assert launched(kernel) == results
    hot = known(kernel)
    assert hot not in {0, first}
    assert launched(kernel) == results  # a warm one
    assert known(kernel) == hot
    again = pl.kernel(pl.parse(LOOP + "\n"), "k")
    assert launched(again) == results
    assert len(beside._AT_WORK) == 1, "what is kept is taken"


def test_it_is_what_happens_where_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTXLOOM_TIER")
    launched(pl.kernel(pl.parse(LOOP), "k"))
    assert len(beside._AT_WORK) == 1


def test_a_launch_goes_on_in_code_that_comes_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    hot = hot_content(plan(pl.parse(LOOP), "k", semantics.BlockCuts()), CHECKS)

    def comes(self: tiers.Heat, checks: frozenset[str], instructions: int) -> bytes | None:
        asked.append(instructions)
        return hot if len(asked) == 3 and checks == CHECKS else None

    def never(*_: object) -> None:
        pass

    kernel = pl.kernel(pl.parse(LOOP), "k")
    monkeypatch.setattr(tiers.Heat, "made", never)
    monkeypatch.setattr(turns, "SLICE_CYCLES", 0)
    results = launched(kernel)
    first = known(kernel)
    monkeypatch.setattr(tiers.Heat, "made", comes)
    assert launched(kernel) == results
    assert known(kernel) != first
    assert len(asked) > 4
    assert min(asked[1:3]) > 0, "it came while the launch ran"


@pytest.mark.parametrize(("tier", "timeout"), [("auto", 100.0), ("first", None)])
def test_nothing_is_made_in_a_launch_with_a_time_limit_nor_for_the_first_tier(
    monkeypatch: pytest.MonkeyPatch, tier: str, timeout: float | None
) -> None:
    monkeypatch.setenv("PTXLOOM_TIER", tier)
    kernel = pl.kernel(pl.parse(LOOP), "k")
    launched(kernel, **({} if timeout is None else {"timeout": timeout}))
    assert beside._AT_WORK == []


def test_a_kernel_that_runs_shortly_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "LONG", 1 << 20)
    launched(pl.kernel(pl.parse(LOOP), "k"))
    assert beside._AT_WORK == []


def test_a_process_that_fails_leaves_the_first_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HotRequest, "maker", "ptxloom.no_such_module")
    kernel = pl.kernel(pl.parse(LOOP), "k")
    results = launched(kernel)
    first = known(kernel)
    wait()
    assert launched(kernel) == results == launched(kernel)
    assert known(kernel) == first
    assert len(beside._AT_WORK) == 1, "it is asked once"


@pytest.mark.parametrize("what", ["python", "process", "thread"])
def test_where_nothing_can_be_started_the_first_code_stays(monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    asked: list[str] = []

    def refuse(error: type[Exception]) -> Callable[..., None]:
        def refused(*_: object, **__: object) -> None:
            asked.append(what)
            raise error

        return refused

    monkeypatch.setattr(sys, "executable", "/usr/bin/server" if what == "python" else sys.executable)
    if what == "process":
        monkeypatch.setattr(subprocess, "Popen", refuse(PermissionError))
    if what == "thread":
        monkeypatch.setattr(threading.Thread, "start", refuse(RuntimeError))
    kernel = pl.kernel(pl.parse(LOOP), "k")
    results = launched(kernel)
    assert launched(kernel) == results == launched(kernel)
    assert len(asked) == (what != "python"), "it is tried once"
    (making,) = beside._AT_WORK
    assert making.is_over
    if what == "thread":
        assert making._process.returncode is not None


def test_a_kernel_without_hot_code_is_found_so_once(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pl.kernel(pl.parse(RARE), "k")
    launched(kernel)
    wait()
    launched(kernel)
    assert beside._AT_WORK[0].content == b""
    monkeypatch.setattr(beside, "Making", None)
    again = pl.kernel(pl.parse(RARE + "\n"), "k")
    launched(again)
    launched(again)


def test_what_another_process_has_made_meanwhile_is_taken() -> None:
    kernel = pl.kernel(pl.parse(LOOP), "k")
    kernel.code.address(whole=True, checks=CHECKS)
    kept_code.keep_hot(
        hot_content(plan(pl.parse(LOOP), "k", semantics.BlockCuts()), CHECKS), kernel.code.name, CHECKS, None
    )
    first = known(kernel)
    launched(kernel)
    assert known(kernel) not in {0, first}
    assert beside._AT_WORK == []


def test_a_child_of_a_process_asks_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pl.kernel(pl.parse(LOOP), "k")
    launched(kernel)
    (before,) = beside._AT_WORK
    with monkeypatch.context() as here:
        here.setattr(before, "_owner", 0)
        launched(kernel)
        (now,) = beside._AT_WORK
        assert now is not before
    before.end()


@pytest.mark.parametrize(
    ("said", "code"), [("{0}code{0}", "code"), ("hello\n{0}{0}bye", ""), ("{0}co", None), ("", None)]
)
def test_only_what_stands_between_marks_is_code(said: str, code: str | None) -> None:
    request = request_of(LOOP, "k", "sm_90", CHECKS, fused=True)
    mark = bytes.fromhex(request.mark).decode("latin-1")
    found = beside.found(request.mark, said.format(mark).encode("latin-1"))
    assert found == (None if code is None else code.encode())
    assert beside.found(request.mark, beside.marked(request.mark, b"code")) == b"code"


def test_another_ptxloom_makes_nothing() -> None:
    """Whoever changes its sources, or installs another one, while a kernel runs gets no code that does not fit."""
    making = started(request_of(LOOP, "k", "sm_90", CHECKS, fused=False)._replace(package="another"))
    assert making is not None
    wait()
    assert making.content is None


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("how", ["", "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)", "raise KeyboardInterrupt"])
def test_the_process_ends_with_its_maker_however_that_ends_and_says_nothing(tmp_path: Path, how: str) -> None:
    (tmp_path / "endless.py").write_text(
        "import time; print('hello'); main = lambda line: time.sleep(10_000)\n", encoding="utf-8"
    )
    script = (
        f"import os, signal, sys, time; sys.path.append({str(tmp_path)!r}); from ptxloom.machine.native import beside;"
        "from ptxloom.machine.compile.beside import request_of;"
        "request = request_of('', 'k', 'sm_90', frozenset(), fused=False)._replace(maker='endless');"
        f"one = beside.started(request); print(one._process.pid, flush=True); time.sleep(0.3); {how}"
    )
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", script]
    own = subprocess.run(command, capture_output=True, text=True, check=False)
    pid = int(own.stdout)
    ends = time.monotonic() + ENDED
    while is_running(pid) and time.monotonic() < ends:
        time.sleep(0.02)
    left = is_running(pid)
    if left:
        os.kill(pid, signal.SIGKILL)
    assert not left
    assert own.stderr == "" or "KeyboardInterrupt" in how


def is_running(pid: int) -> bool:
    """Whether there is such a process, and it is more than a name: its parent has not waited for it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not state.exists() or state.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


def test_one_process_works_at_a_time_and_is_ended_with_its_maker(monkeypatch: pytest.MonkeyPatch) -> None:
    request = request_of(LOOP, "k", "sm_90", CHECKS, fused=False)
    making = started(request)
    assert making is not None
    assert started(request) is None
    pid = making._process.pid
    monkeypatch.setattr(os, "getpid", lambda: 0)
    making.end()
    monkeypatch.undo()
    os.kill(pid, 0)  # a child of this process would not have ended it
    making.end()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_process_makes_what_this_one_would() -> None:
    request = request_of(LOOP, "k", "sm_90", frozenset(("memcheck",)), fused=True)
    assert HotRequest.unpacked(request.packed())._replace(checks=request.checks) == request
    assert made(request) == hot_content(plan(pl.parse(LOOP), "k", semantics.BlockCuts()), frozenset(request.checks))


def test_a_module_that_differs_from_its_text_is_not_made_again() -> None:
    module = pl.parse(LOOP)
    launched(pl.kernel(Module(module.source, module.statements, module.diagnostics), "k"))
    assert beside._AT_WORK == []
