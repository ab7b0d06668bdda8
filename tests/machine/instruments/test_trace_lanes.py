"""What a trace shows of chosen lanes, of lanes that fulfil a condition, and of products of warps and warpgroups."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernels.catalog import cases
from ptxloom.diagnostics import UsageError
from ptxloom.machine import kernel
from ptxloom.machine.results import recording
from ptxloom.machine.results.trace import Trace, TraceRecord, TraceRecords
from ptxloom.machine.results.trace_condition import condition
from ptxloom.syntax import parse
from ptxloom.views.core.json_text import to_text
from ptxloom.views.runs import trace_records, traces

CORPUS = Path(__file__).parents[2] / "corpus"
COUNTING = """.version 8.3
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .pred %q; .reg .b32 %i, %l; .reg .s32 %n; .reg .f32 %f; .reg .b64 %p, %x;
ld.param.u64 %p, [p];
mov.u32 %l, %laneid;
mov.u32 %i, 0;
AGAIN:
add.u32 %i, %i, 1;
sub.s32 %n, %i, 50;
cvt.rn.f32.s32 %f, %n;
add.f32 %f, %f, 0f3F000000;
setp.lt.u32 %q, %i, 100;
@%q bra AGAIN;
mad.wide.u32 %x, %l, 4, %p;
st.global.b32 [%x], %i;
ret;
}
"""


def run(*trace: Trace, grid: Any = 1, block: Any = 64) -> TraceRecords:
    found = kernel(parse(COUNTING, "k.ptx"), "k").launch(grid, block, [np.zeros(64, np.uint32)], trace=trace).trace
    assert isinstance(found, TraceRecords)
    return found


def test_lanes_are_those_that_were_named() -> None:
    records = run(Trace("mov", lanes=(0, 5, 31), warps=[1]))
    assert [record.chosen for record in records] == [(0, 5, 31)] * 2
    assert records[0].lanes == tuple(range(32))


@pytest.mark.parametrize(
    ("when", "numbers"),
    [
        ("%i > 98", [98 + n for n in range(2)]),  # as it was read, by execution
        ("i == 3 || i == 5", [3, 5]),
        ("execution % 40 == 7", [7, 47, 87]),
        ("!(i >= 2)", [0, 1]),
        ("i & 3 == 3 and i < 8", [3, 7]),
        ("i / 0 == 1 or i == 1", []),
        ("i << 64 != 0 and i < 2", [1]),
        ("i << 128 != 0", []),
    ],
)
def test_executions_are_those_that_fulfil_a_condition(when: str, numbers: list[int]) -> None:
    records = run(Trace("add.u32", when=when, warps=[0]))
    wanted = numbers if when != "%i > 98" else [99]
    assert [record.number for record in records] == wanted
    assert [int(record.before["%i"][0]) for record in records] == wanted


@pytest.mark.parametrize(
    ("what", "when", "count"),
    [
        ("sub.s32", "%n < -48", 1),  # as its declared type: signed
        ("sub.s32", "u32(%n) > 0xfffffff0", 15),
        ("add.f32", "%f == 49.0", 1),
        ("add.f32", "f32(%f) > 4.85e1", 0),  # a register of floats is a number already
        ("sub.s32", "%n > 1000", 0),
    ],
)
def test_registers_are_numbers_of_their_type(what: str, when: str, count: int) -> None:
    assert len(run(Trace(what, when=when, warps=[0], limit=100))) == count


def test_lanes_are_those_that_fulfil_a_condition() -> None:
    records = run(Trace("st", when="%tid.x % 16 == 3 && ctaid == 1", blocks="all"), grid=3)
    assert [(record.block, record.warp, record.chosen) for record in records] == [
        ((1, 0, 0), 0, (3, 19)),
        ((1, 0, 0), 1, (3, 19)),
    ]
    (record,) = run(Trace("st", when="tid.y == 1 and tid.x < 2"), block=(8, 4))
    assert record.chosen == (8, 9)
    (record,) = run(Trace("st", when="address % 16 == 8", lanes=range(16)), block=32)
    assert len(record.chosen) == 4


def test_the_limit_counts_what_fulfils_the_condition() -> None:
    records = run(Trace("add.u32", when="%i >= 90", limit=2, warps=[0]))
    assert [record.number for record in records] == [90, 91]


def test_what_was_not_looked_at_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "_LOOKED_AT", 20)
    assert run(Trace("add.u32", when="%i >= 90", limit=2, warps=[0])).unseen == 80
    assert run(Trace("add.u32", when="%i >= 10", limit=2, warps=[0])).unseen == 0


@pytest.mark.parametrize(
    "wrong",
    [
        "%i >", "", "%i = 3", "a b", "'x'", "__import__('os')", "%i.__class__", "[1][0]", "%i if 1 else 2", "lambda: 1",
        "%i ** 2", "(" * 200 + "%i", "-" * 499, "%i" + " + 1" * 200, "1 < %i < 3", "f32()", "f32(%i, 1)", "0x", "\0",
        "é",
        "%i in (1, 2)", "%i is 3", "x := 3", "f'{1}'", "b'a'", "None", "...",
    ],
)  # fmt: skip
def test_what_is_no_expression_is_refused(wrong: str) -> None:
    if wrong:
        with pytest.raises(UsageError, match="when"):
            run(Trace("add.u32", when=wrong))


@pytest.mark.parametrize("wrong", [(), (32,), (-1, 3)])
def test_lanes_that_are_none_are_refused(wrong: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="lanes"):
        run(Trace("add.u32", lanes=wrong))


def test_a_name_the_instruction_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(UsageError, match=r"'%z' it has not.*%i, "):
        run(Trace("add.u32", when="%z > 1"))
    records = run(Trace("add", when="%i == 4", warps=[0]))  # one of the two additions has it
    assert [record.instruction for record in records] == ["add.u32 %i, %i, 1;"]


def test_sums_stay_of_a_size() -> None:
    assert not condition("1 << %a").holds({"%a": 10**9})
    assert not condition("%a % 0").holds({"%a": 1})
    assert not condition("%a | 1").holds({"%a": 0.5})


def test_uniform_columns_and_equal_executions_are_folded_and_nothing_is_lost() -> None:
    records = run(Trace("add.u32", limit=3), Trace("st"))
    text = traces.full(records)
    assert "all lanes: %i 0x0, %i after 0x1\n" in text
    assert "the same in 1 more: block (0, 0, 0), warp 1, execution 0\n" in text
    assert text.count("line 10: add.u32") == 3
    assert text.count("T31") == 1  # the store: its addresses differ by lane, its value does not
    assert "all lanes: %i 0x64\n" in text
    as_json = json.loads(to_text(trace_records.records(records)))
    assert len(as_json) == len(records) == 8
    for one, record in zip(as_json, records, strict=True):
        assert one["chosen"] == list(record.chosen)
        assert one["before"] == {name: values.tolist() for name, values in record.before.items()}


def products(record: TraceRecord) -> None:
    """D is A * B + C."""
    a, b, c, d = (record.filled(operand=name).values[0].astype(np.float64) for name in "abcd")
    assert (a @ b + c == d).all()


@pytest.mark.parametrize(
    ("name", "type_"), [("wmma_half", np.float16), ("wmma_integer", np.int8), ("wmma_double", None)]
)
def test_a_traced_wmma_multiplies_what_was_loaded(name: str, type_: Any) -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, 1024).astype(type_ or np.float64) for _ in range(2))
    if name == "wmma_integer":
        b = b.view(np.uint8)
    out = [np.zeros(4096, np.float32 if type_ else np.float64), np.zeros(4096, np.float16)]
    arguments = [a, b, *out[: 2 if name == "wmma_half" else 1]]
    module = parse((CORPUS / "wmma-sm_80.ptx").read_text(encoding="utf-8"))
    result = kernel(module, name).launch(1, 256, arguments, trace=[Trace("wmma", warps=[0], limit=1)])
    multiplied = [record for record in result.trace if "wmma.mma" in record.instruction]
    assert len(multiplied) >= 1
    for record in multiplied:
        products(record)
    moved = [record for record in result.trace if "wmma.mma" not in record.instruction]
    for record in moved:
        assert record.operands == ("r",)
        assert record.filled().type in record.instruction
    first = next(record for record in moved if ".load.a" in record.instruction)
    assert {*np.unique(first.filled().values.astype(np.float64))} <= {*np.unique(a.astype(np.float64))} | {0.0}


def test_the_warps_of_a_warpgroup_show_their_rows_of_d() -> None:
    (case,) = (one for one in cases() if one.name == "triton_hopper_pointers.pointers")
    arguments = case.arguments()
    compiled = kernel(parse(case.ptx("sm_90a"), case.name), case.kernel)
    trace = [Trace("wgmma.mma_async", limit=1000)]
    result = compiled.launch(case.grid, case.block, list(arguments), case.shared_bytes, trace=trace)
    last = {record.warp: record for record in result.trace}
    assert sorted(last) == [0, 1, 2, 3]
    for warp, record in last.items():
        held = record.filled()
        assert (held.first_row, held.values.shape[1]) == (16 * warp, 16)
        rows, columns = held.first_row + np.arange(16), held.values.shape[2]
        assert (held.values[0] == arguments[2][rows, :columns]).all()
    assert f"\n{'48':>3}  " in traces.one(last[3])
