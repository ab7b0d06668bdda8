"""A variant of a kernel is compiled when warps first need it; what cannot run is refused before anything runs."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import HEAD, entry, of_any_target
from ptxloom.machine import UnsupportedInstruction
from ptxloom.machine.native import jit


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize(
    ("block", "variants"), [(1, {False}), (31, {False}), (32, {True}), (64, {True}), (33, {True, False})]
)
def test_code_is_made_for_the_warps_that_run(block: int, variants: set[bool]) -> None:
    kernel = entry("st.global.u32 [%rd0], %r0;")
    assert not kernel.code.variants
    out = np.zeros(block, np.uint32)
    kernel.launch(1, block, [out])
    assert out.tolist() == list(range(block))
    assert {whole for whole, _ in kernel.code.variants} == variants


@pytest.mark.usefixtures("no_cache")
def test_whole_warps_may_come_after_parts_of_warps() -> None:
    kernel = entry("st.global.u32 [%rd0], %r0;")
    for block in (5, 40, 64):
        out = np.zeros(block, np.uint32)
        kernel.launch(1, block, [out])
        assert out.tolist() == list(range(block))
    assert {whole for whole, _ in kernel.code.variants} == {True, False}


@pytest.mark.usefixtures("no_cache")
@pytest.mark.parametrize(("directive", "whole"), [("", True), (".maxntid 4, 4", False), (".reqntid 16, 2", True)])
def test_what_is_translated_first_is_what_a_launch_needs(directive: str, whole: bool) -> None:
    kernel = of_any_target(f"{HEAD}.visible .entry k() {directive} {{ ret; }}", "k")
    assert kernel.code.accepted is not None
    assert kernel.code.accepted.builder.whole is whole
    kernel.launch(1, (16, 2) if whole else 16)
    assert kernel.code.accepted is None


@pytest.mark.usefixtures("no_cache")
def test_what_cannot_run_is_refused_without_llvm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "compiled", None)
    entry("st.global.u32 [%rd0], %r0;")
    with pytest.raises(UnsupportedInstruction):
        entry("fabric.submit.op_restrict::fetching;", unchecked=True)


@pytest.fixture
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", "")
