"""Provenance through what moves more than a lane's registers: wmma, tensor copies, bulk copies, atomics, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ptxloom as pl
from kernels.catalog import cases
from kernels.launching import launch
from kernels.tiles import array_of
from ptxloom.machine import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine import LaunchResult, ProvenanceRecord

HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"


def record_of(result: LaunchResult) -> ProvenanceRecord:
    assert result.provenance is not None
    return result.provenance


def followed(text: str, *args: Any) -> ProvenanceRecord:
    return record_of(pl.kernel(pl.parse(HEAD + text), "k").launch(1, 32, list(args), provenance=True))


def numbers(count: int) -> NDArray[np.uint32]:
    return np.arange(1, count + 1, dtype=np.uint32)


@pytest.mark.parametrize(
    ("name", "n", "k"), [("wmma_gemm", 32, 64), ("hgemm_half", 64, 48), ("stmatrix_epilogue", 0, 0)]
)
def test_operands_of_compiled_products_agree_in_k(name: str, n: int, k: int) -> None:
    case = next(c for c in cases() if c.kernel == name)
    record = record_of(launch(case, "sm_90", case.arguments(), provenance=True))
    assert len(record.products) > 0
    for event in record.products if n else ():
        a, b = event.operand("a").origins, event.operand("b").origins
        assert (a["kind"] == Kind.EXACT).all()
        assert (b["kind"] == Kind.EXACT).all()
        assert (a["element"] % k == (b["element"] // n)[:, :1].T).all()
    stored = record.contents(record.arrays[-1].number)
    assert (stored.stored_at >= 0).any()


@pytest.mark.parametrize("name", ["gemm_f16", "gemm_int8", "pointers_tf32"])
def test_factors_of_wgmma_in_shared_memory_agree_in_k(name: str) -> None:
    """B lies along K in the first two kernels' arrays, and is one of Triton's, with A in registers, in the last."""
    case = next(c for c in cases() if c.kernel == name)
    record = record_of(launch(case, "sm_90a", case.arguments(), provenance=True))
    assert len(record.products) > 0
    rows: set[tuple[int, ...]] = set()
    for event in record.products:
        assert event.form.opcode == "wgmma"
        a, b = event.operand("a"), event.operand("b")
        assert (a.shape, b.shape) == ((16, event.form.k), (event.form.k, event.form.n))
        assert (a.origins["kind"] == Kind.EXACT).all()
        assert (b.origins["kind"] == Kind.EXACT).all()
        m, k = np.divmod(a.origins["element"], a.arrays[int(a.origins["array"][0, 0])].shape[-1])
        n, other = np.divmod(b.origins["element"], b.arrays[int(b.origins["array"][0, 0])].shape[-1])
        along_k = (other == other[:, :1]).all()
        assert (m == m[:, :1]).all()
        assert (k == (other if along_k else n)[:, :1].T).all()
        rows.add(tuple(m[:, 0].tolist()))
    assert all(row == tuple(range(row[0], row[0] + 16)) for row in rows)
    stored = record.contents(next(a for a in record.arrays if a.parameter in case.outputs or a.number == 2).number)
    assert np.isin(stored.origins["kind"], (Kind.PRODUCT, Kind.COMPUTED)).all()


def halves(argument: Any) -> Any:
    """An array as what its kernel moves."""
    return argument.view(np.uint16) if hasattr(argument, "view") else argument


@pytest.mark.parametrize("architecture", ["sm_90"])
@pytest.mark.parametrize(
    "name", ["transpose_padded", "transpose_ldmatrix", "transpose_movmatrix", "transpose_stmatrix", "async_zero_fill"]
)
def test_kernels_that_move_leave_what_their_origins_say(name: str, architecture: str) -> None:
    case = next(c for c in cases() if c.kernel == name)
    arguments = tuple(halves(argument) for argument in case.arguments())
    record = record_of(launch(case, architecture, arguments, provenance=True))
    for position in case.outputs:
        known = next(a for a in record.arrays if a.parameter == position)
        found = record.contents(known.number)
        exact = (found.stored_at >= 0) & (found.origins["kind"] == Kind.EXACT)
        assert exact.any()
        for source in record.arrays:
            here = exact & (found.origins["array"] == source.number)
            assert source.parameter is not None
            given = array_of(arguments[source.parameter]).ravel()
            assert (array_of(arguments[position])[here] == given[found.origins["element"][here]]).all()


BOX = (8, 4)
TENSOR = """.visible .entry k(.param .u64 out, .param .align 64 .b8 map[128]) {
.reg .pred p<4>; .reg .b32 r<16>; .reg .b64 d<8>;
.shared .align 1024 .b8 tile[1024]; .shared .align 8 .b64 bar;
mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0; ld.param.u64 d1, [out]; mov.b64 d2, map; cvta.param.u64 d2, d2;
@p0 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; bar.sync 0; mov.u32 r3, 4; mov.u32 r4, 3;
@p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], 128;
@p0 cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [tile], [d2, {r3, r4}], [bar];
W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W;
mov.u32 r1, tile; mad.lo.u32 r1, r0, 4, r1; ld.shared.u32 r2, [r1];
mad.wide.u32 d1, r0, 4, d1; st.global.u32 [d1], r2; fence.proxy.async; bar.sync 0; mov.u32 r3, 8; mov.u32 r4, 0;
@p0 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [d2, {r3, r4}], [tile];
ret; }
"""


@pytest.mark.parametrize("swizzle", ["none", "32B"])
def test_tensor_copies_take_elements_along(swizzle: str) -> None:
    array, out = numbers(6 * 16).reshape(6, 16), np.zeros(32, np.uint32)
    before = array.ravel().copy()
    record = followed(TENSOR, out, pl.tensor_map(array, BOX, swizzle=swizzle))
    found = record.contents("out")
    inside = out != 0
    assert inside.sum() == 24
    assert (found.origins["kind"][inside] == Kind.EXACT).all()
    assert (before[found.origins["element"][inside]] == out[inside]).all()
    assert (found.origins["kind"][~inside] == Kind.NONE).all()
    stored = record.contents(1)
    box = np.s_[0:4, 8:16]
    whole = (stored.origins["kind"][box] == Kind.EXACT) & (stored.stored_at[box] >= 0)
    assert whole.sum() == 24
    assert (before[stored.origins["element"][box][whole]] == array[box][whole]).all()
    assert (stored.stored_at >= 0).sum() == 32


def test_the_widest_row_of_a_box_takes_its_elements_along() -> None:
    """256 elements of 8 bytes; of each eighth one the high word comes out."""
    text = TENSOR
    for old, new in (
        ("tile[1024]", "tile[2048]"), ("r3, 4; mov.u32 r4, 3", "r3, 0; mov.u32 r4, 1"), ("[bar], 128", "[bar], 2048"),
        ("r0, 4, r1; ld.shared.u32 r2, [r1]", "r0, 64, r1; ld.shared.u32 r2, [r1+60]"),
    ):  # fmt: skip
        assert old in text
        text = text.replace(old, new)
    array, out = numbers(2 * 512).view(np.uint64).reshape(2, 256), np.zeros(32, np.uint32)
    record = followed(text, out, pl.tensor_map(array, (256, 1), swizzle="none"))
    origins = record.contents("out").origins
    assert (origins["kind"] == Kind.EXACT).all()
    assert (origins["element"] == 256 + np.arange(7, 256, 8)).all()
    assert (origins["byte"] == 4).all()
    assert (out == 2 * origins["element"] + 2).all()


def test_bulk_copies_go_there_and_back() -> None:
    text = """.visible .entry k(.param .u64 in, .param .u64 out) { .reg .pred p<4>; .reg .b32 r<8>; .reg .b64 d<8>;
    .shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar; mov.u32 r0, %tid.x; setp.eq.u32 p0, r0, 0;
    ld.param.u64 d1, [in]; ld.param.u64 d2, [out]; @p0 mbarrier.init.shared.b64 [bar], 1; fence.proxy.async; bar.sync 0;
    @p0 mbarrier.arrive.expect_tx.shared.b64 d3, [bar], 64;
    @p0 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [d1], 64, [bar];
    W: mbarrier.try_wait.parity.shared.b64 p1, [bar], 0; @!p1 bra W; fence.proxy.async; bar.sync 0;
    @p0 cp.async.bulk.global.shared::cta.bulk_group [d2+16], [tile+16], 32; @p0 cp.async.bulk.commit_group;
    @p0 cp.async.bulk.wait_group 0; ret; }"""
    out = np.zeros(32, np.uint32)
    found = followed(text, numbers(32), out).contents("out")
    moved = found.stored_at >= 0
    assert moved.tolist() == [4 <= n < 12 for n in range(32)]
    assert (found.origins["element"][moved] + 1 == out[moved]).all()


@pytest.mark.parametrize("size", [16, 32, 80, 112])
def test_every_element_that_a_bulk_reduction_combines_is_computed(size: int) -> None:
    text = f""".visible .entry k(.param .u64 out) {{ .reg .pred p; .reg .b32 r<4>; .reg .b64 d<4>;
    .shared .align 16 .b8 tile[128]; ld.param.u64 d0, [out]; mov.u32 r0, %tid.x; setp.eq.u32 p, r0, 0;
    mov.u32 r1, tile; mad.lo.u32 r1, r0, 4, r1; st.shared.u32 [r1], r0; fence.proxy.async; bar.sync 0;
    @p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [d0+16], [tile], {size};
    @p cp.async.bulk.commit_group; @p cp.async.bulk.wait_group 0; ret; }}"""
    found = followed(text, np.zeros(32, np.uint32)).contents("out")
    combined = [16 <= 4 * n < 16 + size for n in range(32)]
    assert (found.stored_at >= 0).tolist() == combined
    assert (found.origins["kind"] == Kind.COMPUTED).tolist() == combined


def test_an_atomic_gives_what_was_there_and_leaves_what_is_computed() -> None:
    text = """.visible .entry k(.param .u64 in, .param .u64 sums, .param .u64 out) { .reg .b32 r<8>; .reg .b64 d<8>;
    ld.param.u64 d1, [in]; ld.param.u64 d2, [sums]; ld.param.u64 d3, [out]; mov.u32 r0, %tid.x;
    mad.wide.u32 d1, r0, 4, d1; mad.wide.u32 d3, r0, 4, d3; mad.wide.u32 d4, r0, 4, d2; ld.global.u32 r1, [d1];
    atom.global.add.u32 r2, [d4], r1; st.global.u32 [d3], r2; red.global.add.u32 [d4], 3;
    atom.global.exch.b32 r4, [d4+128], r1; ret; }"""
    record = followed(text, numbers(32), np.zeros(64, np.uint32), np.zeros(32, np.uint32))
    out, sums = record.contents("out").origins, record.contents("sums")
    assert (out["kind"] == Kind.EXACT).all()
    assert (out["array"] == 1).all()
    assert (out["element"] == np.arange(32)).all()
    assert (sums.origins["kind"][:32] == Kind.COMPUTED).all()
    assert (sums.origins["kind"][32:] == Kind.EXACT).all()
    assert (sums.origins["element"][32:] == np.arange(32)).all()
    assert not sums.stored_twice.any()
    first = record.nodes[sums.origins["node"][:32]]["sources"][:, 0]
    inner = record.nodes[first["node"]]["sources"]
    assert (inner["element"][:, :2] == np.arange(32)[:, None]).all()
    assert (inner["array"][:, :2] == [1, 0]).all()


def test_calls_take_arguments_and_results_along() -> None:
    text = """.func (.param .b32 back) f(.param .b32 first, .param .align 8 .b8 both[8]) { .reg .b32 r<4>;
    ld.param.b32 r1, [first]; ld.param.b32 r2, [both+4]; mov.b32 r3, r2; st.param.b32 [back], r3;
    ret; }
    .func (.reg .b32 back) g(.reg .b32 given) { mov.b32 back, given; ret; }
    .visible .entry k(.param .u64 in, .param .u64 out) { .reg .b32 r<8>; .reg .b64 d<8>; ld.param.u64 d1, [in];
    ld.param.u64 d2, [out]; mov.u32 r0, %tid.x; mad.wide.u32 d2, r0, 4, d2; mad.wide.u32 d1, r0, 4, d1;
    ld.global.b32 r1, [d1]; ld.global.b32 r2, [d1+128];
    { .param .b32 a; .param .align 8 .b8 p[8]; .param .b32 x; st.param.b32 [a], r1; st.param.b32 [p+4], r2;
    call (x), f, (a, p); ld.param.b32 r3, [x]; } call (r4), g, (r3); st.global.b32 [d2], r4; ret; }"""
    out = np.zeros(32, np.uint32)
    found = followed(text, numbers(64), out).contents("out").origins
    assert (found["kind"] == Kind.EXACT).all()
    assert (found["element"] + 1 == out).all()


ON_DEVICE = """.visible .entry k(.param .u64 in, .param .u64 out) {
.reg .b64 %p, %o; .reg .b32 %t, %r<4>;
mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; ld.param.u64 %o, [out];
mad.wide.u32 %p, %t, 4, %p; mad.wide.u32 %o, %t, 4, %o;
ld.global.u32 %r1, [%p]; st.global.u32 [%o], %r1; ret; }
"""


@pytest.mark.parametrize("named_too", [False, True])
def test_arrays_of_a_device_are_named(*, named_too: bool) -> None:
    """Allocations by the byte, registered arrays by their elements; one among the arguments is the parameter."""
    device = pl.Device("sm_90")
    weights, given = device.alloc(512, "weights"), numbers(32)
    device.register(given, "given")
    out = np.zeros(64, np.uint32)
    found = device.kernel(HEAD + ON_DEVICE, "k")
    for source, name, step, item in (
        (weights.address, "weights", 4, "uint8"),
        (given.ctypes.data, "given", 1, "uint32"),
    ):
        argument: object = given if named_too and name == "given" else source
        record = record_of(found.launch(1, 32, [argument, out], memory=device, provenance=True))
        origins = record.contents("out").origins[:32]
        wanted = "in" if argument is given else name
        arrays: list[int] = origins["array"].tolist()
        assert {record.arrays[number].name for number in arrays} == {wanted}
        assert record.array(wanted).dtype == np.dtype(item)
        assert origins["element"].tolist() == [step * n for n in range(32)]
        assert sum(one.nbytes == given.nbytes for one in record.arrays) == 1


ADDED = """.visible .entry k(.param .u64 given, .param .u64 out) {
.reg .b32 r<8>; .reg .b64 d<8>; .shared .align 4 .b8 room[128];
mov.u32 r0, %tid.x; mul.wide.u32 d2, r0, 4; ld.param.u64 d0, [given]; add.s64 d0, d0, d2; ld.param.u64 d1, [out];
add.s64 d1, d1, d2; mov.u32 r1, room; mad.lo.u32 r1, r0, 4, r1; ld.global.u32 r2, [d0]; mov.u32 r3, 5;
st.shared.u32 [r1], FIRST; atom.shared.add.u32 r4, [r1], SECOND; ld.shared.u32 r5, [r1]; st.global.u32 [d1], r5; ret; }
"""


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [("r3", "r3", Kind.NONE), ("r2", "r3", Kind.COMPUTED), ("r3", "r2", Kind.COMPUTED), ("r2", "r2", Kind.COMPUTED)],
)
def test_a_sum_of_numbers_without_origins_has_none(first: str, second: str, kind: Kind) -> None:
    text = ADDED.replace("FIRST", first).replace("SECOND", second)
    record = followed(text, numbers(32), np.zeros(32, np.uint32))
    assert (record.contents("out").origins["kind"] == kind).all()
