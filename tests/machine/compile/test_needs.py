"""What launches have to know is kept by a kernel's text: a text known from before is not planned to run."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pytest

from kernels.catalog import cases
from machine.small_kernels import HEAD
from ptxloom.machine import IllegalPtx, Kernel, LaunchError
from ptxloom.machine import kernel as make
from ptxloom.machine.compile.needs import packed, unpacked
from ptxloom.machine.compile.needs_of import needs_of
from ptxloom.machine.plan import afresh
from ptxloom.syntax import Module, parse, tree

if TYPE_CHECKING:
    from pathlib import Path

    from kernels.case import KernelCase

TEXT = (
    HEAD
    + """
.entry k(.param .u64 out, .param .f32 by) {
  .reg .b64 %a; .reg .b32 %t; .reg .f32 %f;
  ld.param.u64 %a, [out]; ld.param.f32 %f, [by]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %a;
  st.global.f32 [%a], %f; ret;
}"""
)
TRAPS = TEXT.replace("st.global.f32 [%a], %f;", "st.global.f32 [%a], %f; trap;")
CASES = {c.source: c for c in cases() if "sm_90" in c.architectures}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTXLOOM_CACHE", str(tmp_path))


def _unplanned(*_: object) -> NoReturn:
    raise AssertionError("it was planned")


def _launched(text: str) -> list[float]:
    ready = Kernel(parse(text), "k")
    ready.launch(1, 32, [out := np.zeros(32, np.float32), 2.5])
    return out.tolist()


def test_a_text_known_from_before_runs_without_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    first = _launched(TEXT)
    monkeypatch.setattr(afresh, "plan", _unplanned)
    assert _launched(TEXT) == first == [2.5] * 32
    with pytest.raises(AssertionError, match="planned"):
        _launched(TEXT + "\n")


def test_what_a_kernel_says_of_itself_is_the_same() -> None:
    first, second = Kernel(parse(TEXT), "k"), Kernel(parse(TEXT), "k")
    assert first.parameters == second.parameters
    assert (first.parameter_bytes, repr(first)) == (second.parameter_bytes, repr(second))
    assert first.local_bytes(64) == second.local_bytes(64)
    assert [op.text for op in first.program.ops] == [op.text for op in second.program.ops]


def test_a_kernel_that_is_ended_is_told_of_as_before() -> None:
    told: list[str] = []
    for _ in range(2):
        with pytest.raises(LaunchError) as caught:
            _launched(TRAPS)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "trap" in told[0]


def test_what_is_no_legal_ptx_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(IllegalPtx):
            _launched(TEXT.replace("%f; ret;", "%nothing; ret;"))


def test_target_contract_and_name_have_entries_of_their_own() -> None:
    text = TEXT + TEXT.removeprefix(HEAD).replace(".entry k", ".entry other").replace("%f; ret;", "0f00000000; ret;")
    other = Kernel(parse(text), "other")
    other.launch(1, 32, [out := np.ones(32, np.float32), 2.5])
    assert (_launched(text), out.tolist()) == ([2.5] * 32, [0.0] * 32)
    assert Kernel(parse(text), "k", "sm_75").needs.target == "sm_75"
    assert Kernel(parse(text), "k", "sm_120").needs.target == "sm_120"


def test_a_module_that_is_not_as_its_text_says_is_looked_at() -> None:
    assert _launched(TEXT) == [2.5] * 32
    module = parse(TEXT)
    entry = module.functions["k"]
    assert entry.body is not None
    body = [one for one in entry.body.statements if not (isinstance(one, tree.Instruction) and one.opcode == "st")]
    statements = (*module.statements[:-1], entry.replace(body=entry.body.replace(statements=tuple(body))))
    make(Module(module.source, statements), "k").launch(1, 32, [out := np.zeros(32, np.float32), 2.5])
    assert not out.any()


@pytest.mark.sample(every=4)
@pytest.mark.parametrize("case", CASES.values(), ids=lambda c: c.source)
def test_what_is_kept_is_read_back(case: KernelCase) -> None:
    needs = needs_of(Kernel(parse(case.ptx("sm_90")), case.kernel).program)
    again = unpacked(packed(needs))
    assert packed(again) == packed(needs)
    assert (again.code, again.variables, again.runtime_calls) == (needs.code, needs.variables, needs.runtime_calls)
    assert [p.wanted for p in again.parameters] == [p.wanted for p in needs.parameters]
