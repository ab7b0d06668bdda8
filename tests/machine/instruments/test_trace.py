from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from kernels.catalog import cases
from ptxloom.diagnostics import UsageError
from ptxloom.machine import kernel, tensor_map
from ptxloom.machine.results.trace import Trace
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.machine import Kernel
    from ptxloom.machine.results.trace import Request, TraceRecord

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
N = 128
LOOP = """
.visible .entry k(.param .u64 p) {
.reg .pred %q; .reg .b32 %t, %n, %i; .reg .b64 %p, %x;
ld.param.u64 %p, [p];
mov.u32 %t, %tid.x;
mov.u32 %i, 0;
and.b32 %n, %t, 3;
AGAIN:
add.u32 %i, %i, 10;
sub.s32 %n, %n, 1;
setp.ge.s32 %q, %n, 0;
@%q bra AGAIN;
mul.wide.u32 %x, %t, 4;
add.u64 %p, %p, %x;
@!%q st.global.b32 [%p+8], %i;
ret;
}
"""


@cache
def loaded(name: str) -> Kernel:
    return kernel(parse((EXAMPLES / f"{name}.ptx").read_text(), name), name)


def run(text: str, *trace: Request, grid: int = 1, block: int = 32, **rest: Any) -> tuple[TraceRecord, ...]:
    room = np.zeros(1024, np.uint32)
    return kernel(parse(HEAD + text, "test.ptx"), "k").launch(grid, block, [room], trace=trace, **rest).trace


def hgemm(*trace: Request) -> tuple[tuple[TraceRecord, ...], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-4, 5, (N, N)).astype(np.float16) for _ in range(2))
    c = np.zeros((N, N), np.float32)
    result = loaded("hgemm").launch((2, 2), 128, [a, b, c, N, N, N], trace=trace)
    assert (c == a.astype(np.float32) @ b.astype(np.float32)).all()
    return result.trace, a, b


def test_ldmatrix_holds_the_corner_of_its_matrix() -> None:
    records, a, b = hgemm(Trace("ldmatrix", warps=[0], limit=1))
    first = records[0].filled("f16").values
    assert (np.block([[first[0], first[2]], [first[1], first[3]]]) == a[:16, :16]).all()
    trans = next(r for r in records if ".trans" in r.instruction).filled("f16").values
    assert (np.block([[trans[0], trans[2]], [trans[1], trans[3]]]) == b[:16, :16]).all()
    assert records[0].addresses is not None
    assert records[0].addresses.max() < 16384
    assert records[0].places[:3] == ("tiles", "tiles+0x40", "tiles+0x90")
    assert str(records[0].origin) == "hgemm.cu:33, inlined at hgemm.cu:90"


def test_every_traced_mma_multiplies() -> None:
    records, _, _ = hgemm(Trace("mma", blocks=[(1, 1), 2], warps=(1, 3), limit=3))
    assert {r.block for r in records} == {(1, 1, 0), (0, 1, 0)}
    assert {r.warp for r in records} == {1, 3}
    assert {r.number for r in records} == {0, 1, 2}
    for record in records:
        a, b, c, d = (record.filled(operand=name).values[0].astype(np.float64) for name in "abcd")
        assert (d == a @ b + c).all()


def test_records_stand_in_the_order_of_execution() -> None:
    records = run(LOOP, "add.u32", "sub", Trace("bra"))
    assert [r.instruction.split()[0] for r in records] == ["add.u32", "sub.s32", "@%q"] * 4
    assert [r.order for r in records] == list(range(12))
    lanes = [len(r.lanes) for r in records if r.instruction.startswith("add")]
    assert lanes == [32, 24, 16, 8]


def test_registers_before_and_after() -> None:
    records = run(LOOP, Trace("add.u32", first=1, limit=2), "st")
    second = records[0]
    assert second.number == 1
    assert [second.before["%i"][lane] for lane in second.lanes] == [10] * 24
    assert [second.after["%i"][lane] for lane in second.lanes] == [20] * 24
    store = records[-1]
    assert store.lanes == tuple(range(32))
    assert store.addresses is not None
    assert np.diff(store.addresses.astype(np.int64)).tolist() == [4] * 31
    assert store.addresses[0] == store.before["%p"][0] + 8
    assert store.places == tuple(f"args[0]+{8 + 4 * lane:#x}" for lane in range(32))
    assert store.before["%i"].tolist() == [10, 20, 30, 40] * 8 or store.before["%i"].tolist() == [10, 10, 20, 30] * 8
    assert not store.before["%q"].any()
    assert store.after == {}


def test_places_can_be_named_by_line_pattern_and_source() -> None:
    line = next(n for n, text in enumerate((HEAD + LOOP).splitlines(), 1) if text.startswith("mul.wide"))
    (record,) = run(LOOP, line)
    assert record.line == line
    assert {r.node.opcode for r in run(LOOP, Trace("*.u32", limit=1))} >= {"add", "mul"}
    assert {r.origin.line for r in hgemm("hgemm.cu:70")[0] if r.origin} == {70}
    assert all("hgemm.cu:79" in str(r.origin) for r in hgemm(Trace("hgemm.cu:79", limit=1))[0])


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ("wgmma", "trace"),
        (9999, "trace"),
        ("other.cu:3", "trace"),
        (f"other.cu:{'9' * 5000}", "trace"),
        (Trace("add", blocks=[7]), "blocks"),
        (Trace("add", blocks=[(0, 1)]), "blocks"),
        (Trace("add", blocks=[(0, 0, 0, 0)]), "blocks"),
        (Trace("add", blocks="some"), "blocks"),
        (Trace("add", warps=[1]), "warps"),
        (Trace("add", first=-1), "first"),
        (Trace("add", limit=0), "limit"),
        (Trace("add", blocks="all", limit=1 << 40), "memory_limit"),
    ],
)
def test_what_is_not_there_is_refused(wrong: Request, named: str) -> None:
    with pytest.raises(UsageError, match=f"^{named} is "):
        run(LOOP, wrong)


def test_all_blocks_and_any_number_of_threads() -> None:
    def texts(threads: int) -> list[object]:
        return [
            (r.block, r.warp, r.number, r.line, r.lanes, {n: v.tolist() for n, v in r.after.items()})
            for r in run(LOOP, Trace("sub", blocks="all"), grid=6, block=48, threads=threads)
        ]

    assert len(texts(1)) == 6 * 2 * 4
    assert texts(1) == texts(2)


def test_a_warp_that_waits_is_recorded_once() -> None:
    text = """
.visible .entry k(.param .u64 p) {
.reg .pred %q; .reg .b32 %t, %n;
mov.u32 %t, %tid.x;
setp.lt.u32 %q, %t, 5;
@%q bra MEET;
add.u32 %t, %t, 100;
MEET:
shfl.sync.idx.b32 %n, %t, 31, 31, 0xffffffff;
ret;
}
"""
    (record,) = run(text, "shfl", profile=True)
    assert record.lanes == tuple(range(32))
    assert record.before["%t"].tolist() == [*range(5), *range(105, 132)]
    assert record.after["%n"].tolist() == [131] * 32


def test_a_tensor_copy_shows_its_coordinates_too() -> None:
    text = """
.visible .entry k(.param .align 64 .b8 map[128]) {
.reg .b32 %x, %y; .reg .b64 %m;
mov.b64 %m, map; cvta.param.u64 %m, %m;
mov.u32 %x, 8;
mov.u32 %y, 3;
cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%m, {%x, %y}];
ret;
}
"""
    tiles = tensor_map(np.zeros((16, 16), np.float32), (8, 4))
    result = kernel(parse(HEAD + text), "k").launch(1, 1, [tiles], threads=1, trace=["cp"])
    (record,) = result.trace
    assert {name: int(values[0]) for name, values in record.before.items() if name != "%m"} == {"%x": 8, "%y": 3}


@pytest.mark.parametrize("name", ["tensor.stmatrix_epilogue", "tensor.mma_int8", "transposes.transpose_movmatrix"])
def test_matrices_of_real_kernels_can_be_filled(name: str) -> None:
    (case,) = (one for one in cases() if one.name == name)
    arguments = case.arguments()
    compiled = kernel(parse(case.ptx("sm_90"), name), case.kernel)
    opcode = {"stmatrix_epilogue": "stmatrix", "mma_int8": "mma"}.get(case.kernel, "movmatrix")
    trace = [Trace(opcode, limit=1)]
    result = compiled.launch(case.grid, case.block, list(arguments), case.shared_bytes, trace=trace, profile=True)
    assert result.trace
    for record in result.trace:
        for operand in record.operands:
            assert record.filled(operand=operand).values.size >= 64
        if opcode == "movmatrix":
            before, after = (record.filled("u16", operand).values for operand in "ad")
            assert (after == before).all()  # the same matrix, dealt out along its columns
    for value, wanted in zip((arguments[n] for n in case.outputs), case.expected("sm_90").arrays, strict=True):
        assert value.tobytes() == wanted.tobytes()
