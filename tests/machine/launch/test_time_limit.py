"""A time limit and Ctrl-C end whatever a run is at: planning, translating, LLVM, waiting for another thread's."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from late import launched_late
from machine.small_kernels import HEAD, entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import Kernel, LaunchError, LaunchResult, kernel
from ptxloom.machine.launch import host_calls
from ptxloom.machine.native import interrupts, jit
from ptxloom.machine.native.interrupts import TimeIsUp
from ptxloom.machine.native.llvm import LOCK
from ptxloom.syntax import parse

SERVICES = """.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);
.extern .func (.param .b64 r) malloc(.param .b64 n); .extern .func free(.param .b64 p);
"""
PRINT = """{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [v], %rd1;
call (r), vprintf, (f, v); }"""
ALLOCATE = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call (r), malloc, (n); }"
FREE = "{ .param .b64 p; st.param.b64 [p], %rd1; call free, (p); }"


def branches(count: int) -> str:
    """A kernel that LLVM takes a minute for, and Python a few seconds."""
    lines = (f"setp.lt.u32 %p, %r1, {n}; @%p bra L{n}; add.u32 %r1, %r1, {n}; L{n}:\n" for n in range(count))
    registers = ".reg .b32 %r<9>; .reg .pred %p; mov.u32 %r1, %tid.x;\n"
    return f"{HEAD}.visible .entry k()\n{{\n{registers}{''.join(lines)}ret;\n}}\n"


def minutes() -> str:
    """IR that LLVM takes minutes for."""
    blocks = 40_000
    labels = ", ".join(f"label %B{n}" for n in range(blocks))
    lines = "\n".join(f"B{n}:\nindirectbr ptr %p, [{labels if n < 20 else 'label %B0'}]" for n in range(blocks))
    return f"define void @f(ptr %p) {{\nindirectbr ptr %p, [{labels}]\n{lines}\n}}\n"


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", "")


@pytest.mark.parametrize(("number", "called"), [(0, "_print"), (1, "_allocate"), (2, "_free")])
def test_the_limit_ends_calls_of_the_host_between_two_lanes(
    number: int, called: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = (PRINT, ALLOCATE, FREE)[number]
    made = entry(f"mov.u64 %rd1, 0; L: {call} bra L;", before=SERVICES)
    now, lanes = [1000.0], list[int]()

    def slow(_: object, lane: int) -> None:
        lanes.append(lane)
        now[0] += 10

    monkeypatch.setattr(host_calls, called, slow)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    with pytest.raises(LaunchError, match="time limit"):
        made.launch(1, 32, [np.zeros(32, np.uint32)], threads=1, timeout=15)
    assert lanes == [0, 1]


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.5])
def test_the_limit_ends_planning_and_translating(seconds: float) -> None:
    with pytest.raises(TimeIsUp, match="the time limit came before the kernel was translated and compiled"):
        kernel(parse(branches(3000)), "k", timeout=seconds)


@pytest.mark.usefixtures("no_cache")
def test_the_limit_ends_llvm() -> None:
    with interrupts.until(time.monotonic() + 0.5), pytest.raises(TimeIsUp):
        jit.compile_ir(minutes(), 0)


def test_what_a_child_compiles_is_what_is_compiled_here() -> None:
    body = "\n".join(f"%v{n + 1} = add i32 %v{n}, {n}" for n in range(300))
    ir = f"define i32 @f(i32 %v0) {{\n{body}\nret i32 %v300\n}}\n"
    longer = f"{ir}; {'x' * jit._LARGE}\n"
    assert jit.compile_ir(longer, 0) == jit.compile_ir(ir, 0)
    with pytest.raises(RuntimeError, match=r"^the compiler ended with 1: "):
        jit.compile_ir(f"nonsense {'x' * jit._LARGE}", 0)


@pytest.mark.usefixtures("no_cache")
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C comes otherwise there")
def test_ctrl_c_ends_llvm() -> None:
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt), interrupts.guarded():
        jit.compile_ir(minutes(), 0)
    timer.join()


@pytest.mark.usefixtures("no_cache")
def test_code_for_other_tools_belongs_to_the_time_of_a_launch() -> None:
    ready = entry("st.global.u32 [%rd0], %r0;" + "add.u32 %r1, %r1, %r0;" * 400)
    with pytest.raises(LaunchError, match="the time limit came before the kernel was translated and compiled"):
        ready.launch(1, 32, [np.zeros(32, np.uint32)], checks=["initcheck"], timeout=0.0)


def test_who_waits_for_another_s_compiling_heeds_the_limit() -> None:
    held, enough = threading.Event(), threading.Event()

    def hold() -> None:
        with LOCK:
            held.set()
            enough.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait(60)
    try:
        with pytest.raises(TimeIsUp):
            kernel(parse(HEAD + ".visible .entry waits() { ret; }"), "waits", timeout=0.1)
    finally:
        enough.set()
        holder.join()


@pytest.mark.parametrize("wrong", [-1.0, "soon", float("nan"), True])
def test_a_limit_that_is_none_is_refused(wrong: object) -> None:
    with pytest.raises(UsageError, match=r"^timeout is "):
        Kernel(parse(HEAD + ".visible .entry k() { ret; }"), "k", timeout=wrong)  # pyright: ignore[reportArgumentType]


FORKING = """
import os, threading
from ptxloom.machine import kernel
from ptxloom.syntax import parse
text = ".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry k() {{ .reg .b32 %r; {0} ret; }}"
ended = threading.Event()
def compile(number):
    module = parse(text.format(f"mov.u32 %r, {number};" * 50))
    kernel(module, "k").launch(1, 32)
def work():
    number = 0
    while not ended.is_set():
        number += 1
        compile(number)
compile(0)
threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for turn in range(24):
    child = os.fork()
    if child == 0:
        compile(-turn - 1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
ended.set()
for thread in threads:
    thread.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_while_others_compile_compiles() -> None:
    environment = {**os.environ, "PTXLOOM_CACHE": ""}
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=120, env=environment)


GUARDED = """
import os, signal, threading
from ptxloom.machine.native import interrupts
before = signal.getsignal(signal.SIGINT)
found = []
def fork():
    child = os.fork()
    if child == 0:
        os._exit(signal.getsignal(signal.SIGINT) is not before)
    found.append(os.waitpid(child, 0)[1])
with interrupts.guarded():
    other = threading.Thread(target=fork)
    other.start()
    other.join()
assert found == [0]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_of_another_thread_hears_ctrl_c() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", GUARDED], check=True, timeout=60)


@pytest.mark.usefixtures("no_cache")
def test_a_launch_that_is_to_end_late_is_given_the_time_to_begin() -> None:
    asked: list[float] = []

    def launch(limit: float) -> LaunchResult:
        asked.append(limit)
        body = "add.u32 %r1, %r1, %r0;" * 400 + "L: bra L;"
        return entry(body).launch(1, 32, [np.zeros(32, np.uint32)], timeout=0.0 if len(asked) == 1 else limit)

    with pytest.raises(LaunchError, match="did not end within its time limit") as raised:
        launched_late(launch, 0.5)
    assert (asked[:2], len(raised.value.hazards)) == ([0.5, 2.0], 1)
