"""What cannot run is refused before anything runs: illegal PTX in the checker's words, the rest with its line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from machine.small_kernels import HEAD, entry
from ptxloom.diagnostics import UsageError
from ptxloom.machine import IllegalPtx, UnsupportedInstruction, kernel
from ptxloom.machine.semantics import ROWS
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.machine.codegen.builder import Builder
    from ptxloom.machine.program.model import Op

AREA = ".shared .align 16 .b8 area[512]; .const .align 4 .b32 table[4];\n"
OVERRIDDEN = (
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group.override::global_address [%rd1, %rd1, {0}], [area];"
)
MARK = "st.global.u32 [%rd1], 77;\n"


@pytest.mark.parametrize("name", ["nothing", "helper", "", "declared"])
def test_a_kernel_that_is_not_there_is_refused_with_those_that_are(name: str) -> None:
    text = f"{HEAD}.entry first(){{ret;}}\n.func helper(){{ret;}}\n.entry second(){{ret;}}\n.extern .entry declared();"
    with pytest.raises(UsageError, match="first, second"):
        kernel(parse(text), name)


@pytest.mark.parametrize(
    "instruction",
    [
        "tcgen05.ld.red.spcompress.sync.aligned.32x32b.x4.min.sp::2:4.f32.b2 {%r0}, {%r1, %r2}, %f0, [%r3];",
        OVERRIDDEN,
        "fabric.submit.op_restrict::fetching;",
        "fence.proxy.generic::fabric.alias.release.sys;",
        "tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f0}], {%f0}, {%f0};",
        "sust.p.1d.b32.trap [%rd1, {%r0}], {%r1};",
        "st.const.u32 [table], %r1;",
    ],
)
def test_what_the_machine_cannot_run_is_refused_with_its_line_before_anything_runs(instruction: str) -> None:
    with pytest.raises(UnsupportedInstruction, match="cannot run") as caught:
        entry(f"{MARK}bra END;\n{instruction}\nEND:", before=AREA, unchecked=True)
    assert caught.value.line == 14
    assert caught.value.text == instruction


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("fabric.submit.op_restrict::fetching;", "ways to the fabric are not supported"),
        ("fence.proxy.generic::fabric.alias.release.sys;", "ways to the fabric are not supported"),
    ],
)
def test_what_is_left_out_as_a_whole_is_said_so(instruction: str, why: str) -> None:
    with pytest.raises(UnsupportedInstruction, match=why):
        entry(instruction, before=AREA, unchecked=True)


def test_more_shared_memory_than_there_is_is_refused_where_it_is_declared() -> None:
    with pytest.raises(UnsupportedInstruction, match=r"\.shared \.b8 large\[200000\];.* 232448 bytes"):
        entry(MARK, before=".shared .b8 small[40000];\n.shared .b8 large[200000];\n")


DECLARED = ".func (.param .b32 result) declared(.param .b32 value);\n"
ILLEGAL = {
    "add.u32 %r1, %r2;": "operand-count",
    "st.global.v4.u32 [%rd1], {%r1, %r2};": "vector-length",
    "prmt.b32 %r1, %r2, %r3;": "operand-count",
    "add.s64 %rd2, %rd3;": "operand-count",
    "add.u32 5, %r1, %r2;": "not-a-register",
    "bra nowhere;": "undeclared-name",
    "mov.u32 %r1, nowhere;": "undeclared-name",
    "mov.u64 %rd2, function_name;": "undeclared-name",
    "ld.global.u32 %r1, %rd1;": "operand-kind",
    "ld.shared.u8 %r1, area[%r2 - 1];": "address-form",
    "ld.shared.u8 %r1, area[%f1];": "address-form",
    "mov.b32 %r1, 99999999999999999999;": "malformed-number",
    "frobnicate.u32 1;": "unknown-instruction",
}


@pytest.mark.parametrize("instruction", ILLEGAL)
def test_what_does_not_check_is_refused_in_the_words_of_the_checker(instruction: str) -> None:
    for _ in range(2):  # the second time, code might come from the cache
        with pytest.raises(IllegalPtx, match=r"`k` is not legal PTX: .*error: ") as caught:
            entry(instruction, before=DECLARED + AREA)
        assert [one.rule for one in caught.value.diagnostics] == [ILLEGAL[instruction]]


@pytest.mark.parametrize("instruction", ILLEGAL)
def test_what_does_not_check_is_refused_unchecked_too_if_it_has_no_meaning(instruction: str) -> None:
    with pytest.raises((IllegalPtx, UnsupportedInstruction)) as caught:
        entry(instruction, before=DECLARED + AREA, unchecked=True)
    if isinstance(caught.value, UnsupportedInstruction):
        assert caught.value.text == instruction


def test_a_function_with_a_variable_number_of_arguments_is_refused_in_these_words() -> None:
    with pytest.raises(UnsupportedInstruction, match=r"va\[\];` cannot run: .* variable number of arguments"):
        entry("call f, (1);", before=".func f(.param .b32 n, .param .align 4 .b8 va[]) { ret; }")


def test_a_function_that_is_only_declared_is_named() -> None:
    with pytest.raises(UnsupportedInstruction, match="no function `declared` is defined"):
        entry("call (%r1), declared, (%r2);", before=DECLARED + AREA)


def test_errors_in_what_a_kernel_does_not_reach_are_none_of_its() -> None:
    text = f"{HEAD}.entry bad() {{ bra nowhere; }}\n.func worse() {{ bra nowhere; }}\n"
    text += ".func never() { call worse, (); ret; }\n.func reached() { ret; }\n"
    module = parse(f"{text}.entry k() {{ call reached, (); ret; }}\n.entry l() {{ call never, (); ret; }}")
    kernel(module, "k").launch(1, 1, [])
    with pytest.raises(IllegalPtx, match="nowhere"):
        kernel(module, "l")


@pytest.mark.parametrize("planted", [KeyError("popc"), TypeError(), AssertionError(), ValueError("no"), IndexError()])
def test_a_mistake_of_ours_is_never_told_as_the_users(monkeypatch: pytest.MonkeyPatch, planted: Exception) -> None:
    def build(b: Builder, op: Op) -> None:
        raise planted

    row = replace(ROWS["popc"][0], build=build)
    monkeypatch.setitem(ROWS, "popc", (row,))
    monkeypatch.setenv("PTXLOOM_CACHE", "")
    with pytest.raises(type(planted)) as caught:
        entry("popc.b32 %r1, %r2;")
    assert caught.value is planted
    with pytest.raises(IllegalPtx, match="operands") as refused:
        entry("popc.b32 %r1;", unchecked=True)
    assert refused.value.__cause__ is planted
