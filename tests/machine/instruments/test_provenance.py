"""Provenance says of every byte where it comes from: told by what hardware's rules make of distinct values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ptxloom.diagnostics import UsageError
from ptxloom.machine import Kind, Provenance, kernel
from ptxloom.syntax import load, parse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ptxloom.machine import LaunchResult, ProvenanceRecord

EXAMPLES = Path(__file__).parents[3] / "examples"
HEAD = ".version 8.3\n.target sm_90\n.address_size 64\n"
M, N, K = 192, 128, 96


def record_of(result: LaunchResult) -> ProvenanceRecord:
    assert result.provenance is not None
    return result.provenance


def hgemm(provenance: bool | Provenance) -> tuple[LaunchResult, NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((M, K), (K, N)))
    c = np.zeros((M, N), np.float32)
    found = kernel(load(EXAMPLES / "hgemm.ptx"), "hgemm")
    return found.launch(grid=(2, 3), block=128, args=[a, b, c, M, N, K], provenance=provenance), c


def body(text: str, *, ins: int = 1, registers: str = "") -> str:
    """A kernel of one warp: `%p` points to lane's 16 bytes of `in`, `%o` to its 16 bytes of `out`."""
    return (
        HEAD
        + ".visible .entry k(.param .u64 in, .param .u64 out) {\n"
        + ".reg .b64 %p, %o, %x, %y; .reg .b32 %t, %r<20>; .reg .b16 %h<20>; .reg .f32 %f<20>; .reg .pred %q<4>;\n"
        + f".shared .align 16 .b8 room[1024];\n{registers}\n"
        + "mov.u32 %t, %tid.x; ld.param.u64 %p, [in]; ld.param.u64 %o, [out];\n"
        + f"mad.wide.u32 %p, %t, {16 * ins}, %p; mad.wide.u32 %o, %t, 16, %o;\n"
        + text
        + "\nret;\n}"
    )


def run(text: str, dtype: Any = np.uint32, **options: Any) -> tuple[ProvenanceRecord, NDArray[Any], NDArray[Any]]:
    """Run such a kernel over 512 random bytes."""
    given = np.random.default_rng(1).integers(0, 256, 512, dtype=np.uint8).view(dtype)
    out = np.zeros(512, np.uint8).view(dtype)
    result = kernel(parse(body(text, **options)), "k").launch(1, 32, [given, out], provenance=True)
    return record_of(result), given, out


def test_every_operand_of_an_hgemm_is_what_the_product_needs() -> None:
    record = record_of(hgemm(provenance=True)[0])
    assert [(a.name, a.shape) for a in record.arrays] == [
        ("A", (M, K)), ("B", (K, N)), ("C", (M, N))
    ]  # fmt: skip
    assert len(record.products) == M * N * K // (16 * 8 * 16)
    triples: set[tuple[int, int, int]] = set()
    for event in record.products:
        a, b = event.operand("a").origins, event.operand("b").origins
        assert (a["kind"] == Kind.EXACT).all()
        assert (b["kind"] == Kind.EXACT).all()
        assert (a["array"] == 0).all()
        assert (b["array"] == 1).all()
        rows, left = np.divmod(a["element"], K)
        right, columns = np.divmod(b["element"], N)
        assert (left == right[:, :1].T).all()
        assert (rows == rows[:, :1]).all()
        assert (columns == columns[:1]).all()
        triples.add((int(rows[0, 0]), int(columns[0, 0]), int(left[0, 0])))
        assert event.operand("a").index(3, 5) == (rows[3, 5], left[3, 5])
    assert len(triples) == len(record.products)


def test_accumulators_lead_from_product_to_product_and_into_the_array() -> None:
    record = record_of(hgemm(provenance=True)[0])
    contents = record.contents("hgemm_param_2")
    assert (contents.origins["kind"] == Kind.PRODUCT).all()
    assert not contents.stored_twice.any()
    for row, column in ((0, 0), (77, 55), (191, 127)):
        chain: list[int] = []
        origin: Any = contents.origins[row, column]
        while origin["kind"] == Kind.PRODUCT:
            event = record.products[int(origin["node"])]
            m, n = divmod(int(origin["item"]), event.form.n)
            a, b = event.operand("a"), event.operand("b")
            left, right = a.index(m, 0), b.index(0, n)
            assert left is not None
            assert right is not None
            assert (left[0], right[1]) == (row, column)
            assert left[1] == right[0]
            chain.append(left[1])
            origin = event.operand("c").origins[m, n]
        assert origin["kind"] == Kind.NONE
        assert sorted(chain) == list(range(0, K, 16))


def test_a_path_leads_line_by_line_from_the_load() -> None:
    found, _ = hgemm(provenance=True)
    record = record_of(found)
    program = kernel(load(EXAMPLES / "hgemm.ptx"), "hgemm").program
    path = record.path(int(record.products[0].operand("b").origins["path"][0, 0]))
    assert [program.ops[site].opcode for site in path] == ["cp", "ldmatrix"]
    stored = record.contents(2).stored_at
    assert {program.ops[site].opcode for site in stored.ravel().tolist()} == {"st"}


def test_a_run_with_provenance_gives_the_same_bits() -> None:
    plain, expected = hgemm(provenance=False)
    followed, got = hgemm(provenance=True)
    assert plain.provenance is None
    assert got.tobytes() == expected.tobytes()
    assert followed.hazards == ()


def test_chosen_products_are_recorded() -> None:
    record = record_of(hgemm(Provenance(warps=[1], ctas=[(1, 2)]))[0])
    assert {(event.cta, event.warp) for event in record.products} == {((1, 2, 0), 1)}
    assert [event.sequence for event in record.products] == list(range(len(record.products)))
    kinds = record.contents(2).origins["kind"]
    assert (kinds == Kind.PRODUCT).sum() == 32 * 32
    assert (kinds == Kind.COMPUTED).sum() == M * N - 32 * 32


def test_what_there_is_no_room_for_is_told() -> None:
    result, _ = hgemm(Provenance(budget=1 << 20))
    record = record_of(result)
    assert 0 < len(record.products) < 1152
    assert any("no room for" in line and "matrix products" in line for line in record.limits)
    assert any("matrix products" in line for line in result.hazards.limits)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (Provenance(warps=[4]), "warps"),
        (Provenance(ctas=[(9, 0)]), "ctas"),
        (Provenance(budget=5), "budget"),
        ("yes", "provenance"),
    ],
)
def test_what_cannot_be_chosen_is_refused(given: Any, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        hgemm(given)


def test_too_much_memory_is_refused_in_a_sentence() -> None:
    found = kernel(parse(HEAD + ".visible .entry k(.param .u64 p) { ret; }"), "k")
    with pytest.raises(UsageError, match="provenance's tags of global memory"):
        found.launch(1, 32, [np.zeros(1 << 22, np.uint8)], provenance=Provenance(budget=1 << 20), memory_limit=1 << 25)


#: Programs that move bytes: each byte of 16 a lane is at once known by its value.
MOVES = {
    "a vector": "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p]; st.global.v4.b32 [%o], {%r3, %r1, %r4, %r2};",
    "apart and together": "ld.global.v2.b64 {%x, %y}, [%p]; mov.b64 {%r1, %r2}, %x; mov.b32 {%h1, %h2}, %r2;"
    "mov.b32 %r3, {%h2, %h1}; mov.b64 %x, {%r3, %r1}; st.global.v2.b64 [%o], {%y, %x};",
    "exchanged": "ld.global.v2.b32 {%r1, %r2}, [%p]; mov.b64 %x, {%r2, %r1}; mov.b64 {%r1, %r2}, %x;"
    "st.global.v2.b32 [%o+8], {%r1, %r2};",
    "in place": "ld.global.v2.b32 {%r1, %r2}, [%p]; mov.b32 %r1, %r1; cvt.u32.u32 %r2, %r2; bfi.b32 %r1, %r1, 0, 8, 16;"
    "mov.b32 {%h1, %h2}, %r2; mov.b32 %r2, {%h2, %h2}; st.global.v2.b32 [%o], {%r1, %r2};",
    "bytes": "ld.global.b8 %h1, [%p+3]; ld.global.b8 %h2, [%p+9]; st.global.b8 [%o+5], %h1; st.global.b8 [%o], %h2;",
    "shared": "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 16, %r9; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p];"
    "st.shared.v4.b32 [%r8], {%r1, %r2, %r3, %r4}; bar.warp.sync -1; xor.b32 %r7, %t, 5; mad.lo.u32 %r8, %r7, 16, %r9;"
    "ld.shared.v2.b64 {%x, %y}, [%r8]; st.global.v2.b64 [%o], {%y, %x};",
    "asynchronously": "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 16, %r9; cp.async.ca.shared.global [%r8], [%p], 8;"
    "cp.async.ca.shared.global [%r8+8], [%p+4], 4; cp.async.wait_all;"
    "ld.shared.b32 %r1, [%r8+4]; ld.shared.b32 %r2, [%r8+8]; st.global.v2.b32 [%o+8], {%r2, %r1};",
    "between lanes": "ld.global.b32 %r1, [%p]; shfl.sync.bfly.b32 %r2, %r1, 7, 31, -1; and.b32 %r5, %t, 13;"
    "shfl.sync.idx.b32 %r3|%q1, %r1, %r5, 31, -1; shfl.sync.up.b32 %r1, %r1, 3, 0, -1;"
    "st.global.v4.b32 [%o], {%r1, %r2, %r3, 0};",
    "chosen": "ld.global.v2.b32 {%r1, %r2}, [%p]; setp.lt.u32 %q1, %t, 11; selp.b32 %r1, %r2, %r1, %q1;"
    "selp.b32 %r3, 0, %r2, %q1; @%q1 ld.global.b32 %r2, [%p+12]; st.global.v4.b32 [%o], {%r1, %r2, %r3, %r2};",
    "matrices": "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 16, %r9; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p];"
    "st.shared.v4.b32 [%r8], {%r1, %r2, %r3, %r4}; bar.warp.sync -1;"
    "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%r8];"
    "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r2; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%r8];"
    "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r4};",
    "matrices stored": "mov.u32 %r9, room; mad.lo.u32 %r8, %t, 16, %r9; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p];"
    "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r8], {%r1, %r4, %r3, %r2}; bar.warp.sync -1;"
    "ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r8]; st.global.v4.b32 [%o], {%r4, %r3, %r2, %r1};",
    "cut and extended": "ld.global.v2.b32 {%r1, %r2}, [%p]; cvt.u16.u32 %h1, %r1; cvt.u32.u16 %r3, %h1;"
    "cvt.u64.u32 %x, %r2; st.global.b32 [%o], %r3; st.global.b64 [%o+8], %x;",
    "of two sizes": "ld.global.b32 %r1, [%p]; cvt.u64.u32 %x, %r1; setp.lt.u32 %q1, %t, 11;"
    "@%q1 ld.global.b64 %x, [%p+8]; st.global.b64 [%o], %x;",
    "stack": ".local .align 16 .b8 own[32]; mov.u32 %r9, own; and.b32 %r8, %t, 3; mad.lo.u32 %r8, %r8, 4, %r9;"
    "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p]; st.local.v4.b32 [%r9], {%r1, %r2, %r3, %r4};"
    "ld.local.b32 %r5, [%r8]; st.global.v2.b32 [%o], {%r5, %r2};",
}  # fmt: skip


@pytest.mark.parametrize("text", MOVES.values(), ids=MOVES)
def test_bytes_are_followed_to_where_their_values_go(text: str) -> None:
    record, given, out = run(text, np.uint8)
    contents = record.contents("out")
    written = contents.stored_at >= 0
    exact = written & (contents.origins["kind"] == Kind.EXACT)
    assert (contents.origins["array"][exact] == 0).all()
    assert exact.sum() >= 32 * 2
    assert (out[exact] == given[contents.origins["element"][exact]]).all()
    nothing = written & (contents.origins["kind"] == Kind.NONE)
    assert (exact | nothing)[written].all()
    assert (out[nothing] == 0).all()
    # other data go the same way, and differ where they came from elsewhere
    steps = np.arange(512) % 256
    told = steps[contents.origins["element"][exact]]
    again = np.zeros(512, np.uint8)
    kernel(parse(body(text)), "k").launch(1, 32, [steps.astype(np.uint8), again])
    assert (again[exact] == told).all()


def test_a_conversion_keeps_the_element() -> None:
    record, _, _ = run(
        "ld.global.v2.f32 {%f1, %f2}, [%p]; cvt.rn.f16x2.f32 %r1, %f2, %f1; st.global.b32 [%o], %r1;", np.float16
    )
    origins = record.contents("out").origins.reshape(32, 8)[:, :2]
    assert (origins["kind"] == Kind.CONVERTED).all()
    assert (origins["element"] == 8 * np.arange(32)[:, None] + [0, 2]).all()


def test_a_computed_value_tells_of_what_it_is_made() -> None:
    record, _, _ = run(
        "ld.global.v2.f32 {%f1, %f2}, [%p]; fma.rn.f32 %f3, %f1, 0f40000000, %f2; st.global.f32 [%o+4], %f3;",
        np.float32,
    )
    origins = record.contents("out").origins.reshape(32, 4)[:, 1]
    assert (origins["kind"] == Kind.COMPUTED).all()
    sources = record.nodes[origins["node"]]["sources"]
    assert (sources["kind"][:, :2] == Kind.EXACT).all()
    assert (sources["element"][:, :2] == 4 * np.arange(32)[:, None] + [0, 1]).all()


def test_bytes_of_two_elements_in_one_are_mixed_and_stores_of_nothing_are_told() -> None:
    text = "ld.global.b16 %h1, [%p]; ld.global.b16 %h2, [%p+4]; st.global.b16 [%o], %h2; st.global.b16 [%o+2], %h1;"
    record, _, _ = run(text + "st.global.b32 [%o+4], 7; st.global.b32 [%o+4], 8;")
    contents = record.contents("out")
    assert (contents.origins["kind"].reshape(32, 4) == [Kind.MIXED, Kind.NONE, Kind.EXACT, Kind.EXACT]).all()
    assert (contents.stored_twice.reshape(32, 4) == [False, True, False, False]).all()
    assert (contents.stored_at.reshape(32, 4)[:, 2:] == -1).all()


def test_a_loop_does_not_lengthen_a_path() -> None:
    text = "ld.global.b32 %r1, [%p]; mov.u32 %r2, 0; AGAIN: mov.b32 %r3, %r1; mov.b32 %r1, %r3; add.u32 %r2, %r2, 1;"
    record, _, _ = run(text + "setp.lt.u32 %q1, %r2, 100; @%q1 bra AGAIN; st.global.b32 [%o], %r1;")
    assert len(record.path(int(record.contents("out").origins["path"][0]))) == 4


NEIGHBOUR = """bar.warp.sync -1; st.shared.b32 [%r18+4], {one}; st.shared.b8 [%r18+{byte}], {other}; bar.warp.sync -1;
xor.b32 %r8, %t, 3; mad.lo.u32 %r8, %r8, 16, %r19; ld.shared.b32 {to}, [%r8+4];"""


BY_LANE = "and.b32 %r9, %t, 7; shl.b32 %r9, %r9, 3; {shift} {to}, {one}, %r9;"
FUNNEL = "shl.b32 %r9, %t, 3; shf.{side}.{mode}.b32 {to}, {one}, {other}, %r9;"
WIDE = """and.b32 %r9, %t, 15; shl.b32 %r9, %r9, 3;
mov.b64 %x, {{{one}, {other}}}; shr.u64 %x, %x, %r9; cvt.u32.u64 {to}, %x;"""


def random_moves(rng: np.random.Generator) -> str:
    """A program that moves bytes about between registers, lanes and shared memory; it changes none."""
    lines = ["mov.u32 %r19, room; mad.lo.u32 %r18, %t, 16, %r19; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%p];"]

    def register() -> str:
        return f"%r{rng.integers(1, 7)}"

    lines.append("ld.global.b32 %r5, [%p+4]; mov.b32 %r6, 0;")
    for _ in range(12):
        to, one, other = register(), register(), register()
        amount, byte = 8 * rng.integers(0, 5), rng.integers(0, 4)
        lines.append(
            rng.choice(
                [
                    f"prmt.b32 {to}, {one}, {other}, {rng.integers(0, 8) | rng.integers(0, 8) << 4 | 0x4700};",
                    f"and.b32 %r9, %t, 7; prmt.b32 {to}, {one}, {other}, %r9;",
                    f"shl.b32 {to}, {one}, {amount};",
                    f"shr.u32 {to}, {one}, {amount};",
                    f"shf.{'lr'[byte % 2]}.wrap.b32 {to}, {one}, {other}, {amount};",
                    BY_LANE.format(shift=("shr.u32", "shl.b32")[byte % 2], to=to, one=one),
                    FUNNEL.format(side="lr"[byte % 2], mode=("wrap", "clamp")[byte // 2], to=to, one=one, other=other),
                    WIDE.format(to=to, one=one, other=other),
                    f"bfe.u32 {to}, {one}, {8 * byte}, 8;",
                    f"bfi.b32 {to}, {one}, {other}, {8 * byte}, 8;",
                    f"and.b32 {to}, {one}, 0xff00ff;",
                    f"mov.b32 {to}, {one};",
                    f"mov.b32 {{%h1, %h2}}, {one}; mov.b32 {to}, {{%h2, %h1}};",
                    f"mov.b64 %x, {{{one}, {other}}}; shr.u64 %x, %x, {amount}; cvt.u32.u64 {to}, %x;",
                    f"shfl.sync.bfly.b32 {to}, {one}, {rng.integers(1, 32)}, 31, -1;",
                    f"setp.gt.u32 %q1, %t, {rng.integers(1, 31)}; selp.b32 {to}, {one}, {other}, %q1;",
                    NEIGHBOUR.format(to=to, one=one, other=other, byte=byte),
                    f"movmatrix.sync.aligned.m8n8.trans.b16 {to}, {other};",
                ]
            )
        )
    return "\n".join([*lines, "st.global.v4.b32 [%o], {%r1, %r2, %r3, %r6};"])


@pytest.mark.parametrize("seed", range(12))
def test_random_programs_of_moves_are_followed_byte_by_byte(seed: int) -> None:
    text = random_moves(np.random.default_rng(seed))
    found = kernel(parse(body(text)), "k")
    for fill in range(3):
        given = np.random.default_rng(fill).integers(1, 256, 512, dtype=np.uint8)
        out, plain = np.zeros(512, np.uint8), np.zeros(512, np.uint8)
        origins = record_of(found.launch(1, 32, [given, out], provenance=True)).contents("out").origins
        found.launch(1, 32, [given, plain])
        assert (out == plain).all()
        assert np.isin(origins["kind"], (Kind.EXACT, Kind.NONE)).all()
        exact = origins["kind"] == Kind.EXACT
        assert (out[exact] == given[origins["element"][exact]]).all()
        assert (out[~exact] == 0).all()


#: How bits of a byte are unpacked, and where the lowest that is kept then lies: (text, bit, at).
NIBBLES = {
    "low": ("and.b32 %r2, %r1, 0x0f0f0f0f;", 0, 0),
    "high": ("shr.u32 %r2, %r1, 4; and.b32 %r2, %r2, 0x0f0f0f0f;", 4, 0),
    "high, masked before": ("and.b32 %r2, %r1, 0xf0f0f0f0; shr.u32 %r2, %r2, 4;", 4, 0),
    "high, by a register": ("mov.u32 %r3, 4; shr.u32 %r2, %r1, %r3; and.b32 %r2, %r2, 0x0f0f0f0f;", 4, 0),
    "high, by a field": ("bfe.u32 %r2, %r1, 4, 4;", 4, 0),
    "low for e2m1": ("shl.b32 %r2, %r1, 2; and.b32 %r2, %r2, 0x3c3c3c3c;", 0, 2),
    "high for e2m1": ("shr.u32 %r2, %r1, 2; and.b32 %r2, %r2, 0x3c3c3c3c;", 4, 2),
    "by lop3": ("lop3.b32 %r2, %r1, 0x000f000f, 0x64006400, 0xea;", 0, 0),
    "apart": ("prmt.b32 %r1, %r1, 0, 0x0123; shr.u32 %r2, %r1, 4; and.b32 %r2, %r2, 0x0f0f0f0f;", 4, 0),
    "apart, upwards": ("prmt.b32 %r1, %r1, 0, 0x0123; shl.b32 %r2, %r1, 4; and.b32 %r2, %r2, 0xf0f0f0f0;", 0, 4),
}


@pytest.mark.parametrize(("text", "bit", "at"), NIBBLES.values(), ids=NIBBLES)
def test_parts_of_a_byte_are_found_in_it(text: str, bit: int, at: int) -> None:
    record, given, out = run(f"ld.global.b32 %r1, [%p]; {text} st.global.b32 [%o], %r2;", np.uint8)
    origins = record.contents("out").origins
    kept = origins["kind"] == Kind.CONVERTED
    assert kept.sum() in {32, 64, 128}
    assert (origins["bit"][kept] == bit).all()
    assert (origins["at"][kept] == at).all()
    assert ((out[kept] >> at & 15) == (given[origins["element"][kept]] >> bit & 15)).all()


@pytest.mark.parametrize(
    "text",
    [
        "lop3.b32 %r2, %r1, 0x000f000f, 0x64006400, 0xea; mov.b32 %r3, 0x64006400; sub.f16x2 %r2, %r2, %r3;",
        "and.b32 %r2, %r1, 0x000f000f; mov.b32 %r3, 0x2c002c00; fma.rn.f16x2 %r2, %r2, %r3, %r3;",
        "mov.b32 %r3, 0x64646464; prmt.b32 %r2, %r1, %r3, 0x4240; mov.b32 %r4, 0x64006400; sub.f16x2 %r2, %r2, %r4;",
        "mov.b32 {%h1, %h2}, %r1; cvt.rn.f16x2.e4m3x2 %r2, %h1;",
    ],
)
def test_elements_that_are_unpacked_stay_what_they_are(text: str) -> None:
    record, _, _ = run(f"ld.global.b32 %r1, [%p]; {text} st.global.b32 [%o], %r2;", np.uint8)
    origins = record.contents("out").origins.reshape(32, 16)[:, :4]
    assert (origins["kind"] == Kind.CONVERTED).all()
    assert (origins["element"][:, 0] == 16 * np.arange(32)).all()


def test_shared_memory_is_kept_at_chosen_moments() -> None:
    found = kernel(load(EXAMPLES / "hgemm.ptx"), "hgemm")
    site = next(op.site for op in found.program.ops if op.opcode == "ldmatrix")
    line = found.program.ops[site].line
    record = record_of(hgemm(Provenance(shared_at=[line], shared_of=[(1, 0), 3]))[0])
    first, last = record.shared((1, 0), site), record.shared(3)
    assert first is not None
    assert last is not None
    assert len(first) == len(last) == found.program.shared_bytes
    for origins, tiles in ((first, {0, 1}), (last, {1, 2})):
        halves = origins.reshape(-1, 2)
        left = halves[(halves["kind"][:, 0] == Kind.EXACT) & (halves["array"][:, 0] == 0)]
        assert (left["element"][:, 0] == left["element"][:, 1]).all()
        assert (left["byte"] == [0, 1]).all()
        assert set((left["element"][:, 0] % K // 32).tolist()) == tiles
    with pytest.raises(UsageError, match="shared_of"):
        record.shared(0)
    with pytest.raises(UsageError, match="shared_at"):
        record.shared(3, site + 1)
    with pytest.raises(UsageError, match="shared_at"):
        hgemm(Provenance(shared_at=["nothing.like.it"]))


def test_nibbles_that_ldmatrix_unpacks_are_known_by_their_bit() -> None:
    text = (
        HEAD.replace("8.3", "8.8").replace("sm_90", "sm_120a")
        + """.visible .entry k(.param .u64 in, .param .u64 out) {
    .reg .b64 %p, %o; .reg .b32 %t, %a, %r<4>; .shared .align 16 .b8 room[128]; mov.u32 %t, %tid.x;
    ld.param.u64 %p, [in]; ld.param.u64 %o, [out]; mad.wide.u32 %p, %t, 4, %p; mad.wide.u32 %o, %t, 8, %o;
    mov.u32 %a, room; mad.lo.u32 %r0, %t, 4, %a; ld.global.b32 %r1, [%p]; st.shared.b32 [%r0], %r1; bar.warp.sync -1;
    and.b32 %r0, %t, 7; mad.lo.u32 %r0, %r0, 16, %a;
    ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r1}, [%r0]; shl.b32 %r2, %r1, 2;
    st.global.v2.b32 [%o], {%r1, %r2}; ret; }"""
    )
    given = np.random.default_rng(3).integers(0, 256, 128, dtype=np.uint8)
    out = np.zeros(256, np.uint8)
    record = record_of(kernel(parse(text), "k").launch(1, 32, [given, out], provenance=True))
    found = record.contents("out").origins
    assert (found["kind"] == Kind.CONVERTED).all()
    assert (found["at"].reshape(32, 2, 4) == [[0], [2]]).all()
    assert (found["bit"].reshape(64, 4) == [0, 4, 0, 4]).all()
    assert ((out >> found["at"]) & 15 == given[found["element"]] >> found["bit"] & 15).all()
