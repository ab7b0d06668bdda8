"""The run-time is compiled without optimisation first; optimised functions replace these once warps have run long."""

from __future__ import annotations

import zlib
from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest

import ptxloom as pl
from machine.compile.waiting import wait
from ptxloom.machine.launch import worker
from ptxloom.machine.native import beside, emission, jit, optimiser
from ptxloom.machine.runtime import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ptxloom.machine.kernel import Kernel

CHECKS: Final = frozenset({"memcheck", "synccheck"})
TEXT: Final = """.version 9.0 .target sm_90 .address_size 64
.visible .entry k(.param .u64 p) { .reg .b32 %r<9>; .reg .b64 %d<4>;
mov.u32 %r1, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.u32 %r1, %r4, %r5, %r1;
ld.param.u64 %d1, [p]; mad.wide.u32 %d1, %r1, 4, %d1; ld.global.u32 %r2, [%d1]; bar.sync 0; add.u32 %r2, %r2, %r1;
st.global.u32 [%d1], %r2; ret; }"""
CTAS: Final = 2048


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is loaded or kept, no process is at work, and few instructions are long."""
    monkeypatch.setenv("PTXLOOM_TIER", "auto")
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path / "cache"))
    forget(monkeypatch)
    monkeypatch.setattr(jit, "LONG", 1)
    monkeypatch.setattr(optimiser._Work, "making", None)
    monkeypatch.setattr(optimiser._Work, "failed", set[str]())
    at_work: list[beside.Making] = []
    monkeypatch.setattr(beside, "_AT_WORK", at_work)
    yield
    for one in at_work:
        one.end()
    worker._entry.cache_clear()


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a process that has loaded nothing of the run-time."""
    for name in ("_RUNTIME", "_LIGHT"):
        monkeypatch.setattr(jit, name, {})
    monkeypatch.setattr(jit, "_REPLACED", [])
    monkeypatch.setattr(jit, "_WORTH", set[str]())
    monkeypatch.setattr(jit._Patience, "before", None)
    monkeypatch.setattr(jit._Patience, "here", 0)
    worker._entry.cache_clear()


def launched(kernel: Kernel, **options: float) -> list[int]:
    out = np.arange(32 * CTAS, dtype=np.uint32)
    kernel.launch(CTAS, 32, [out], threads=1, **options)  # pyright: ignore[reportArgumentType] - a time limit
    return out.tolist()


def known(kernel: Kernel) -> int:
    return kernel.code.known_address(whole=True, checks=CHECKS)


def test_functions_are_optimised_beside_and_taken_up_by_kernels_that_are_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = pl.kernel(pl.parse(TEXT), "k")
    assert launched(kernel) == list(range(0, 64 * CTAS, 2))
    first, functions = known(kernel), dict(jit._RUNTIME)
    assert jit._LIGHT
    while jit._LIGHT:
        wait()
        assert launched(kernel) == list(range(0, 64 * CTAS, 2))
    assert jit.replaced() == len({code.address for code in functions.values()})
    assert known(kernel) not in {0, first}
    assert all(jit._RUNTIME[key].address != code.address for key, code in functions.items())
    forget(monkeypatch)
    again = pl.kernel(pl.parse(TEXT), "k")
    assert launched(again) == list(range(0, 64 * CTAS, 2))
    assert jit._RUNTIME
    assert not jit._LIGHT, "what is kept is taken"


def test_a_launch_goes_on_in_functions_that_come_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def made(modules: Mapping[str, Callable[[], bytes]]) -> Mapping[str, bytes] | None:
        asked.append(jit.replaced())
        if len(asked) < 3:
            return {}
        texts = {key: zlib.decompress(kept()).decode() for key, kept in modules.items()}
        return {key: emission.object_file(ir, 2) for key, ir in texts.items()}

    monkeypatch.setattr(optimiser, "made", made)
    monkeypatch.setattr(turns, "SLICE_CYCLES", 0)
    kernel = pl.kernel(pl.parse(TEXT), "k")
    assert launched(kernel) == list(range(0, 64 * CTAS, 2))
    assert len(asked) == 3, "while the launch ran, and no more once there is nothing left"
    assert jit.replaced() > 0


@pytest.mark.parametrize("timeout", [None, 100.0])
def test_the_next_process_optimises_what_one_before_was_too_short_for(
    timeout: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[int] = []

    def made(modules: Mapping[str, object]) -> None:
        begun.append(len(modules))

    monkeypatch.setattr(optimiser, "made", made)
    for long, is_begun in ((1 << 40, False), (1, True)):  # what is short asks for nothing; what is long ends too early
        forget(monkeypatch)
        monkeypatch.setattr(jit, "LONG", long)
        launched(pl.kernel(pl.parse(TEXT), "k"))
        assert bool(begun) == is_begun
        assert jit._LIGHT
    forget(monkeypatch)
    launched(pl.kernel(pl.parse(TEXT), "k"), **({} if timeout is None else {"timeout": timeout}))
    assert bool(jit._LIGHT) == (timeout is not None)


@pytest.mark.parametrize(("little", "begun"), [(1, [False, False, True, False]), (1 << 40, [False] * 4)])
def test_what_short_processes_have_run_adds_up(little: int, begun: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def made(modules: Mapping[str, object]) -> Mapping[str, bytes]:
        asked.append(len(modules))
        return {}

    keep_as = jit._keep_as

    def unless_worth_it(stage: bytes, key: str, content: bytes) -> None:
        if stage != jit._WORTH_IT:
            keep_as(stage, key, content)

    monkeypatch.setattr(optimiser, "made", made)
    monkeypatch.setattr(jit, "_keep_as", unless_worth_it)  # else the next process makes them
    monkeypatch.setattr(jit, "LITTLE", little)
    monkeypatch.setattr(jit, "LONG", 1 << 40)
    launched(pl.kernel(pl.parse(TEXT), "k"))
    monkeypatch.setattr(jit, "LONG", jit._Patience.here * 5 // 2)
    seen: list[bool] = []
    for _ in begun:
        forget(monkeypatch)
        launched(pl.kernel(pl.parse(TEXT), "k"))
        jit.leave_count()  # as at its end
        seen.append(bool(asked))
        asked.clear()
    assert seen == begun


def test_they_are_as_before_where_a_process_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser.OptimisedRequest, "maker", "ptxloom.no_such_module")
    kernel = pl.kernel(pl.parse(TEXT), "k")
    results = launched(kernel)
    wait()
    lights = set(jit._LIGHT)
    assert launched(kernel) == results == launched(kernel)
    assert set(jit._LIGHT) == lights
    assert jit.replaced() == 0


def test_nothing_is_begun_by_short_runs_nor_with_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = pl.kernel(pl.parse(TEXT), "k")
    launched(kernel, timeout=100.0)
    monkeypatch.setattr(jit, "LONG", 1 << 40)
    launched(kernel)
    assert jit._LIGHT
    assert beside._AT_WORK == []


@pytest.mark.parametrize(("variable", "value"), [("TIER", "first"), ("TIER", "hot"), ("CACHE", "")])
def test_they_are_optimised_at_once_where_a_tier_is_named_or_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(f"PTXLOOM_{variable}", value)
    launched(pl.kernel(pl.parse(TEXT), "k"))
    assert not jit._LIGHT


def test_a_function_by_itself_is_optimised_at_once() -> None:
    jit.helper_address("ptxloom_alone", "define i32 @ptxloom_alone(i32 %a) { ret i32 %a }", light=False)
    assert not jit._LIGHT


def test_modules_are_optimised_as_many_at_a_time_as_are_soon_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optimiser, "_MOST_BYTES", 10)
    sizes = {"one": 5, "lost": 0, "two": 5, "three": 1}
    batch = optimiser._batch({key: partial(bytes, size) if size else nothing for key, size in sizes.items()})
    assert list(batch) == ["one", "two"]
    assert optimiser._Work.failed == {"lost"}
    assert list(optimiser._batch({"large": partial(bytes, 11), "next": partial(bytes, 1)})) == ["large"]


def nothing() -> None:
    """What is lost."""
