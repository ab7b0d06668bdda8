"""One budget of host memory for a run: whatever asks for more is named in a sentence, and nothing has run."""

from __future__ import annotations

import contextlib
import gc
import re
import weakref
from typing import Any, Final

import numpy as np
import pytest

from machine.small_kernels import HEAD, entry
from ptxloom.diagnostics import PtxloomError, UsageError
from ptxloom.machine import LaunchError, UnsupportedInstruction, kernel
from ptxloom.machine.launch import launch_state
from ptxloom.machine.memory.arena import Arena, Budget, zeroed
from ptxloom.machine.results.trace import Trace
from ptxloom.syntax import parse

NEEDED: Final = re.compile(r"memory_limit is (\d+); it must be at least ([0-9,]+) bytes: .* for ")
STORE = "st.global.u32 [%rd0], %r0;"
SHARE = "mov.u32 %r1, area; st.shared.u32 [%r1], %r0; "
SHARED = ".shared .align 4 .b8 area[32768];\n"
MALLOC = ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
PRINTF = ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v); .global .b8 form[2] = {65, 0};\n"
PRINT = """mov.u64 %rd4, form; mov.u64 %rd5, 0;
{ .param .b64 f; .param .b64 v; .param .b32 r; st.param.b64 [f], %rd4; st.param.b64 [v], %rd5;
call (r), vprintf, (f, v); }
"""
ALLOCATE = "{ .param .b64 n; .param .b64 r; st.param.b64 [n], %rd1; call (r), malloc, (n); }"


def asked(body: str = STORE, before: str = "", block: int = 1024, **options: Any) -> list[str]:
    """What a launch says when it may have 1 byte, then as many as it says it needs, and so on until it runs."""
    said: list[str] = []
    limit = 1
    while True:
        out = np.zeros(1 << 12, np.uint32)
        try:
            entry(body, before=before).launch(1, block, [out], memory_limit=limit, threads=1, **options)
        except UsageError as error:
            said.append(str(error))
            found = NEEDED.match(said[-1])
            assert found is not None
            assert int(found[1]) == limit < int(found[2].replace(",", ""))
            assert not out.any()
            limit = int(found[2].replace(",", ""))
        else:
            return said


@pytest.mark.parametrize(
    ("wanted", "options"),
    [
        ("16,384 for the arrays of args", {}),
        ("1,000,000 for the module's variables", {"before": ".global .b8 many[1000000];\n"}),
        ("for the device heap", {"before": MALLOC, "body": ALLOCATE + STORE}),
        ("2,000,000 for what is printed", {"before": PRINTF, "body": PRINT + STORE, "printf_bytes": 2_000_000}),
        ("for local memory of threads", {"body": ".local .b8 room[8192]; st.local.u32 [room], %r0;" + STORE}),
        ("32,768 for shared memory of CTAs", {"body": SHARE + STORE, "before": SHARED, "block": 32}),
        ("for registers of threads", {}),
        ("for racecheck's record of shared memory",
         {"body": SHARE + STORE, "before": SHARED, "checks": ["racecheck"]}),
        ("for initcheck's marks of shared and local memory",
         {"body": SHARE + STORE, "before": SHARED, "block": 32, "checks": ["initcheck"]}),
        ("for racecheck's record of global memory", {"checks": ["racecheck:global"]}),
        ("for initcheck's marks of global memory", {"checks": ["initcheck:global"], "uninitialised": [0], "block": 32}),
        ("for records of line", {"trace": [Trace("st", limit=1000)]}),
        ("for the counters of the profile", {"block": 32, "profile": True}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_who_asks_for_more_than_there_is_is_named(wanted: str, options: dict[str, Any]) -> None:
    assert wanted in "\n".join(asked(**options))


def test_all_blocks_of_the_largest_grid_cannot_be_traced() -> None:
    with pytest.raises(UsageError, match=r"memory_limit is .* for records of line"):
        entry(STORE).launch((2**31 - 1, 65535, 65535), 32, [np.zeros(1, np.uint32)], trace=[Trace("st", blocks="all")])


@pytest.mark.parametrize("space", ["global", "const"])
@pytest.mark.parametrize("size", [1 << 40, 1 << 62, 1 << 70])
def test_variables_beyond_all_memory_are_refused_with_their_line(space: str, size: int) -> None:
    text = f"{HEAD}.{space} .b8 few[4];\n.{space} .align 8 .b8 many[{size >> 30}][{1 << 30}];\n.entry k() {{ ret; }}\n"
    with pytest.raises(UnsupportedInstruction, match=rf"line 5: `\.{space} .* many.*variables take [0-9,]+ bytes, and"):
        kernel(parse(text), "k", unchecked=True)


def test_threads_of_the_host_are_as_many_as_memory_allows() -> None:
    out = np.zeros(64, np.uint32)
    ready = entry(".local .b8 room[65536]; st.local.u32 [room], %r0; atom.global.add.u32 %r1, [%rd0], 1;")
    ready.launch(64, 64, [out], threads=1024, memory_limit=16 << 20)
    assert out.tolist() == [64] * 64


def test_blocks_that_wait_for_more_blocks_than_fit_are_told_so() -> None:
    body = """
    atom.global.add.u32 %r2, [%rd1], 1;
    L: ld.volatile.global.u32 %r3, [%rd1]; setp.lt.u32 %p1, %r3, 512; @%p1 bra L;
    """
    before = ".shared .align 4 .b8 area[49152];\n"
    with pytest.raises(LaunchError, match=r"waits for CTAs that have no room: memory_limit is 2097152") as caught:
        entry("mov.u32 %r4, area;" + body, before=before).launch(
            64, 8, [np.zeros(64, np.uint32)], memory_limit=2 << 20, threads=1
        )
    assert {h.rule for h in caught.value.hazards} == {"synccheck.no-progress"}


def test_what_the_host_refuses_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(np, "zeros", refuse)
    with pytest.raises(PtxloomError, match=r"^this machine refuses 1,024 bytes for the device heap$"):
        zeroed(1024, 64, "the device heap")


def test_a_budget_counts_to_the_last_byte() -> None:
    budget = Budget(100)
    budget.charge("one", 60)
    budget.charge("another", 40)
    with pytest.raises(UsageError, match=r"at least 101 bytes: 60 for one, 41 for another$"):
        budget.charge("another", 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("threads", 1_000_000),
        ("memory_limit", 0),
        ("memory_limit", 1 << 70),
        ("memory_limit", "4G"),
        ("heap_bytes", -1),
        ("heap_bytes", 1 << 40),
        ("printf_bytes", -1),
        ("printf_bytes", 1 << 40),
    ],
)
def test_limits_without_sense_are_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(UsageError, match=rf"^{name} is "):
        entry(STORE).launch(1, 1, [np.zeros(1, np.uint32)], **{name: value})  # pyright: ignore[reportArgumentType]


class Watched(Arena):
    """Arenas that can be referred to weakly."""

    made: Final[list[weakref.ref[Watched]]] = []

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget)
        self.made.append(weakref.ref(self))


def interrupt(_: int, __: int) -> None:
    raise KeyboardInterrupt


@pytest.mark.sample(every=3)
@pytest.mark.parametrize(
    ("body", "options"),
    [
        (STORE, {}),
        ("st.global.u32 [%rd0+1000000], %r0;", {}),
        ("setp.eq.u32 %p1, %r0, 0; @%p1 bar.sync 1, 64;", {}),
        ("L: bra L;", {"timeout": 0.1}),
        ("L: bra L;", {"progress": interrupt, "timeout": 300}),
    ],
    ids=["done", "fault", "deadlock", "time limit", "interrupt"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_memory_goes_with_the_launch_however_that_ends(
    body: str, options: dict[str, Any], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch_state, "Arena", Watched)
    made = entry(body)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(LaunchError, KeyboardInterrupt):
            made.launch(2, 32, [np.zeros(64, np.uint32)], threads=threads, **options)
        assert Watched.made.pop()() is None
    finally:
        gc.enable()
