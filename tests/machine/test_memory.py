"""State spaces, addresses and arguments: what is reached, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ptxloom as pl
from machine.small_kernels import entry
from ptxloom.diagnostics import TOOLS, UsageError
from ptxloom.machine import LaunchError, UnsupportedInstruction

STORE = "st.global.u32 [%rd0], %r1;"
WIDTHS = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def fault(body: str, *args: Any, params: str = ".param .u64 out", before: str = "", block: int = 1) -> tuple[str, int]:
    with pytest.raises(LaunchError) as caught:
        entry(body, params, before).launch(1, block, args)
    (hazard,) = caught.value.hazards
    assert hazard.tool == "memcheck"
    return hazard.kind, hazard.lanes[0]


def cell() -> Any:
    return np.zeros(64, np.uint32)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("ld.global.u32 %r1, [%rd1+256];", "out-of-bounds"),
        ("ld.global.u32 %r1, [%rd1+-4];", "out-of-bounds"),
        ("ld.global.u64 %rd2, [%rd1+252];", "misaligned"),
        ("ld.global.u32 %r1, [%rd1+2];", "misaligned"),
        ("ld.global.v2.u32 {%r1, %r2}, [%rd1+4];", "misaligned"),
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+256];", "out-of-bounds"),
        ("mov.u64 %rd2, 0; ld.u32 %r1, [%rd2];", "null"),
        ("mov.u64 %rd2, 0; st.global.u32 [%rd2], %r0;", "null"),
        ("ld.shared.u32 %r1, [area+32];", "out-of-bounds"),
        ("mov.u32 %r2, area; st.shared.u32 [%r2+30], %r2;", "misaligned"),
        ("mov.u32 %r2, -4; st.shared.u32 [%r2], %r2;", "out-of-bounds"),
        ("mov.u64 %rd2, area; cvta.shared.u64 %rd2, %rd2; ld.u32 %r1, [%rd2+32];", "out-of-bounds"),
        ("mov.u64 %rd2, area; cvta.shared.u64 %rd2, %rd2; ld.global.u32 %r1, [%rd2];", "wrong-space"),
        (".local .align 4 .b8 a[16]; mov.u64 %rd2, a; ld.local.u32 %r1, [%rd2+4096];", "out-of-bounds"),
        ("ld.const.u32 %r1, [%rd1];", "out-of-bounds"),
        ("trap;", "trap"),
    ],
)
def test_each_illegal_access_ends_the_kernel_under_its_name(body: str, kind: str) -> None:
    assert fault(body, cell(), before=".shared .align 8 .b8 area[32];") == (kind, 0)


@pytest.mark.parametrize("access", ["ld.global.u32 %r1, [%rd2]", "st.global.u32 [%rd2], %r1", "ld.u32 %r1, [%rd2]"])
def test_every_lane_at_fault_is_named(access: str) -> None:
    body = f"and.b32 %r2, %r0, 7; setp.eq.u32 %p1, %r2, 3; selp.b64 %rd2, 8, %rd0, %p1; mov.u32 %r1, 0; {access};"
    with pytest.raises(LaunchError) as caught:
        entry(body).launch(1, 32, [cell()])
    (hazard,) = caught.value.hazards
    assert (hazard.kind, hazard.lanes) == ("null", (3, 11, 19, 27))


def test_an_illegal_lane_is_named_and_an_inactive_one_is_not_judged() -> None:
    body = "setp.ne.u32 %p1, %r0, 40; selp.b64 %rd2, %rd0, 8, %p1;"
    assert fault(body + "ld.global.u32 %r1, [%rd2];", cell(), block=64) == ("null", 8)
    entry(body + "@%p1 ld.global.u32 %r1, [%rd2];").launch(1, 64, [cell()])


def test_an_address_far_from_every_array_is_told_as_it_is() -> None:
    """A row too far is reported with the array; what lies a megabyte away from one has nothing to do with it."""
    near, far = (f"ld.global.u32 %r1, [%rd1+{distance}];" for distance in (4096, 1 << 20))
    for body, symbol in ((near, "args[0]+0x1000"), (far, "")):
        with pytest.raises(LaunchError) as caught:
            entry(body).launch(1, 1, [np.zeros(1, np.uint32)])
        assert caught.value.hazards[0].symbol == symbol
    assert "address 0x" in str(caught.value)


def test_a_read_only_array_is_read_but_not_written() -> None:
    array = cell()
    array.flags.writeable = False
    entry("ld.global.u32 %r1, [%rd0];").launch(1, 64, [array])
    assert fault("st.global.u32 [%rd0], %r0;", array) == ("read-only", 0)


def test_an_array_next_to_another_is_not_reached_through_it() -> None:
    whole = np.zeros(128, np.uint32)
    body = "ld.param.u64 %rd2, [b]; st.global.u32 [%rd2], %r0;" + STORE
    entry(body, ".param .u64 out, .param .u64 b").launch(1, 1, [whole[:64], whole[64:]])
    assert fault("st.global.u32 [%rd1+256], %r0;", whole[:64]) == ("out-of-bounds", 0)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        ((), "it must be 2, one for each parameter: "),
        ((np.zeros(4, np.uint32), 1, 2), "it must be 2, one for each parameter: "),
        ((np.zeros((4, 4), np.uint32)[:, ::2], 1), "C-contiguous"),
        ((np.zeros(4, np.uint32), 1 << 32), "range"),
        ((np.zeros(4, np.uint32), -(1 << 31) - 1), "range"),
        ((np.zeros(4, np.uint32), "x"), "a number"),
        ((np.zeros(4, np.uint32), 1.5), "a number"),
        ((np.zeros(4, np.uint32), np.zeros(2)), "not an array"),
        ((np.zeros(4, object), 1), "plain values"),
    ],
)
def test_a_wrong_argument_is_refused_by_name(args: tuple[Any, ...], part: str) -> None:
    with pytest.raises(UsageError, match=part):
        entry("", ".param .u64 out, .param .u32 n").launch(1, 1, args)


@pytest.mark.parametrize(
    ("grid", "block", "shared"),
    [(0, 1, 0), (1, 1025, 0), (1, (32, 33), 0), ((1, 65536), 1, 0), (1, (1, 1, 65), 0), (1, 1, 1 << 20), ("x", 1, 0)],
)
def test_extents_beyond_the_hardware_are_refused(grid: Any, block: Any, shared: int) -> None:
    with pytest.raises(UsageError):
        entry("").launch(grid, block, [cell()], shared)


def test_parameters_by_value_take_numbers_bytes_and_numpy_values() -> None:
    out = np.zeros(8, np.uint32)
    pair = np.array([(5, 2.5)], np.dtype([("a", "<i4"), ("b", "<f4")]))[0]
    body = """
    ld.param.u32 %r1, [s]; st.global.u32 [%rd1], %r1;
    ld.param.b32 %r1, [s+4]; st.global.u32 [%rd1+4], %r1;
    ld.param.f64 %fd1, [d]; st.global.f64 [%rd1+8], %fd1;
    ld.param.s8 %r1, [c]; st.global.u32 [%rd1+16], %r1;
    mov.u64 %rd2, s; cvta.param.u64 %rd2, %rd2; ld.u32 %r1, [%rd2+4]; st.global.u32 [%rd1+20], %r1;
    """
    params = ".param .u64 out, .param .align 4 .b8 s[8], .param .f64 d, .param .s8 c"
    kernel = entry(body, params)
    for value in (pair, pair.tobytes()):
        out[:] = 0
        kernel.launch(1, 1, [out, value, 0.1, -3])
        assert out[0] == 5
        assert out[1:2].view(np.float32)[0] == 2.5
        assert out[2:4].view(np.float64)[0] == 0.1
        assert out[4:6].tolist() == [0xFFFFFFFD, out[1]]


def test_module_variables_start_as_written_and_are_shared_by_the_kernels_of_a_module() -> None:
    before = """
    .global .align 8 .b8 bytes[4] = {1, 2, 3};
    .global .align 4 .u32 matrix[2][3] = {{1, 2, 3}, {4, 5, 6}};
    .global .align 8 .u64 pointer = generic(matrix)+8;
    .const .align 4 .f32 half = 0f3F000000;
    """
    kernel = entry("ld.global.u64 %rd2, [pointer]; ld.u32 %r1, [%rd2]; st.global.u32 [matrix], %r1;", before=before)
    assert kernel.global_array("bytes").tolist() == [1, 2, 3, 0]
    assert kernel.global_array("matrix").tolist() == [[1, 2, 3], [4, 5, 6]]
    assert kernel.global_array("half").tolist() == [0.5] or kernel.global_array("half") == 0.5
    kernel.global_array("matrix")[0, 2] = 77
    kernel.launch(1, 1, [cell()])
    assert kernel.global_array("matrix")[0, 0] == 77
    with pytest.raises(UsageError, match="matrix"):
        kernel.global_array("nothing")


def test_a_function_has_global_and_const_variables_of_its_own() -> None:
    module = pl.parse("""
.version 8.0
.target sm_80
.address_size 64
.global .u32 x = 5;
.visible .entry k(.param .u64 out)
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    .global .u32 x = 7; .const .u32 c = 9; .global .align 8 .b8 room[8]; .global .u64 at = generic(x);
    { .global .u32 x = 8; ld.global.u32 %r3, [x]; st.global.u32 [x], 80; }
    ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [x]; ld.const.u32 %r2, [c];
    ld.global.u64 %rd2, [at]; ld.u32 %r4, [%rd2];
    st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4}; st.global.u32 [room+4], %r2;
    ret;
}
.visible .entry other(.param .u64 out)
{
    .reg .b64 %rd<4>; .reg .b32 %r<9>;
    ld.param.u64 %rd1, [out]; ld.global.u32 %r1, [x]; st.global.u32 [%rd1], %r1; st.global.u32 [x], 6; ret;
}
""")
    out = np.zeros(4, np.uint32)
    pl.kernel(module, "k").launch(1, 1, [out])
    assert out.tolist() == [7, 9, 8, 7]
    assert pl.global_array(module, "k.room").tolist() == [0, 0, 0, 0, 9, 0, 0, 0]
    assert [int(pl.global_array(module, name).item()) for name in ("x", "k.x", "k.x#2", "k.c")] == [5, 7, 80, 9]
    pl.kernel(module, "other").launch(1, 1, [out])
    assert out[0] == 5
    assert pl.global_array(module, "x").item() == 6
    pl.global_array(module, "x")[...] = 12
    pl.kernel(module, "other").launch(1, 1, [out])
    assert out[0] == 12
    with pytest.raises(UsageError, match=r"k\.room"):
        pl.global_array(module, "room")


@pytest.mark.parametrize("lanes", [0xFFFFFFFF, 0xAAAA5550])
@pytest.mark.parametrize(("bits", "parts"), [(b, n) for b in (8, 16, 32, 64) for n in (1, 2, 4) if b * n <= 128])
def test_lanes_reach_their_own_place_in_local_memory(bits: int, parts: int, lanes: int) -> None:
    kind, size = f".v{parts}.b{bits}" if parts > 1 else f".b{bits}", bits // 8 * parts
    names = ", ".join(f"%w{n}" for n in range(parts))
    moved = f"{{{names}}}" if parts > 1 else names
    body = f"""
    .reg .b64 %w<4>; .local .align 16 .b8 own[128]; shr.u32 %r3, {lanes}, %r0; and.b32 %r3, %r3, 1;
    setp.ne.u32 %p1, %r3, 0; mul.lo.u32 %r2, %r0, 48; and.b32 %r2, %r2, 112; mov.u64 %rd3, own;
    mad.wide.u32 %rd2, %r2, 1, %rd3; mad.wide.u32 %rd4, %r0, {size}, %rd1; mov.b64 %w0, 0; mov.b64 %w1, 0;
    st.local.v2.b64 [%rd2], {{%w0, %w1}};
    {" ".join(f"mad.wide.u32 %w{n}, %r0, 7, {n + 1};" for n in range(parts))}
    @%p1 st.local{kind} [%rd2], {moved}; {" ".join(f"mov.b64 %w{n}, 99;" for n in range(parts))}
    @!%p1 st.local{kind} [%rd3+{size}], {moved}; ld.local{kind} {moved}, [%rd2]; st.global{kind} [%rd4], {moved};"""
    out = np.zeros(32 * parts, WIDTHS[bits])
    entry(body).launch(1, 32, [out])
    given = np.arange(32)[:, None] * 7 + np.arange(parts) + 1
    at = np.arange(32) * 48 & 112
    kept = np.where(at == size, 99, 0)[:, None]
    assert out.reshape(32, parts).tolist() == np.where(lanes >> np.arange(32) & 1, given.T, kept.T).T.tolist()


def test_each_thread_has_its_own_local_memory() -> None:
    out = np.zeros(70, np.uint32)
    body = """
    .local .align 4 .b8 a[64]; mov.u64 %rd2, a; cvta.local.u64 %rd3, %rd2;
    and.b32 %r2, %r0, 15; mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd3, %rd4; add.u64 %rd6, %rd2, %rd4;
    st.u32 [%rd5], %r0; ld.local.u32 %r1, [%rd6]; st.local.v2.u32 [%rd2], {%r1, %r0}; ld.local.u32 %r1, [a+4];
    """
    entry(body + STORE).launch(1, 70, [out])
    assert out.tolist() == list(range(70))


@settings(max_examples=30, deadline=None)
@given(
    bits=st.sampled_from([8, 16, 32, 64]),
    parts=st.sampled_from([1, 2, 4]),
    shared=st.booleans(),
    indices=st.one_of(
        st.lists(st.integers(0, 63), min_size=32, max_size=32),
        st.integers(0, 31).map(lambda n: [n] * 32),
        st.integers(0, 31).map(lambda n: [n + i for i in range(32)]),
        st.tuples(st.integers(0, 31), st.integers(0, 31)).map(lambda p: [p[i // 16] + i % 16 for i in range(32)]),
        st.tuples(st.integers(0, 31), st.integers(0, 31)).map(lambda p: [p[i // 16] for i in range(32)]),
    ),
    mask=st.sampled_from([0xFFFFFFFF, 0xFFFF, 0xFFF0, 1 << 31, 0x55555555]),
)
def test_a_load_reads_what_each_active_lane_names(
    bits: int, parts: int, shared: bool, indices: list[int], mask: int
) -> None:
    parts = min(parts, 128 // bits)  # a lane moves at most 16 bytes
    kind = WIDTHS[bits]
    data = np.random.default_rng(5).integers(0, 1 << 63, 64 * parts, np.uint64).astype(kind).reshape(64, parts)
    out = np.zeros((32, parts), kind)
    where = np.array(indices, np.uint32)
    size = bits * parts // 8
    registers = {8: "h", 16: "h", 32: "r", 64: "rd"}[bits]
    names = [f"%{registers}{n}" for n in ((4, 5, 6, 7) if bits < 32 else (20, 21, 22, 23))[:parts]]
    vector = f".v{parts}" if parts > 1 else ""
    listed = f"{{{', '.join(names)}}}" if parts > 1 else names[0]
    clear = " ".join(f"mov.b{max(bits, 16)} {n}, 0;" for n in names)
    copy = f"ld.global{vector}.b{bits} {listed}, [%rd5]; st.shared{vector}.b{bits} [%r5], {listed};"
    space, base = ("shared", "%r6") if shared else ("global", "%rd6")
    body = f"""
    ld.param.u64 %rd2, [data]; ld.param.u64 %rd3, [where]; ld.param.u32 %r2, [mask];
    mad.wide.u32 %rd5, %r0, {size}, %rd2; mov.u32 %r7, room; mad.lo.u32 %r5, %r0, {size}, %r7;
    {copy} add.u64 %rd5, %rd5, {32 * size}; add.u32 %r5, %r5, {32 * size}; {copy}
    mul.wide.u32 %rd4, %r0, 4; add.u64 %rd4, %rd4, %rd3; ld.global.u32 %r8, [%rd4];
    mad.lo.u32 %r6, %r8, {size}, %r7; mad.wide.u32 %rd6, %r8, {size}, %rd2;
    shr.u32 %r2, %r2, %r0; and.b32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, 0; {clear}
    @%p1 ld.{space}{vector}.b{bits} {listed}, [{base}];
    mad.wide.u32 %rd7, %r0, {size}, %rd1; st.global{vector}.b{bits} [%rd7], {listed};
    """
    params = ".param .u64 out, .param .u64 data, .param .u64 where, .param .u32 mask"
    kernel = entry(body, params, f".shared .align 32 .b8 room[{64 * size}];")
    kernel.launch(1, 32, [out, data, where, mask])
    for lane in range(32):
        assert out[lane].tolist() == (data[indices[lane]].tolist() if mask >> lane & 1 else [0] * parts)


def test_an_unsupported_directive_is_named_with_its_line() -> None:
    with pytest.raises(UnsupportedInstruction, match=r"line 11: `sust\.p"):
        entry("sust.p.1d.b32.trap [out, {%r0}], %r1;", unchecked=True)


@pytest.mark.parametrize(
    ("declared", "load", "expected"),
    [
        (".b32 s[8]", "ld.shared.u32 %r1, s[2]", 0x0B0A0908),
        (".b32 s[8]", "ld.shared.u8 %r1, s[2]", 8),
        (".b8 s[32]", "ld.shared.u32 %r1, s[4]", 0x07060504),
        (".b16 s[16]", "ld.shared.u16 %r1, s[3]", 0x0706),
        (".v2 .b16 s[8]", "ld.shared.u16 %r1, s[3]", 0x0706),
        (".b32 s[2][4]", "ld.shared.u32 %r1, s[5]", 0x17161514),
    ],
)
def test_an_index_counts_elements_of_the_type_declared(declared: str, load: str, expected: int) -> None:
    out = np.zeros(1, np.uint32)
    body = f"""mov.u32 %r2, s; add.u32 %r2, %r2, %r0; st.shared.u8 [%r2], %r0; bar.warp.sync -1;
    setp.ne.u32 %p1, %r0, 0; @%p1 bra END; {load}; st.global.u32 [%rd1], %r1; END:"""
    entry(body, before=f".shared .align 16 {declared};").launch(1, 32, [out])
    assert out[0] == expected


@pytest.mark.parametrize(
    ("text", "first", "step"),
    [
        ("ld.shared.u32 %r2, s[%r0]", 0, 1),
        ("ld.shared.u32 %r2, s[%r0+4]", 4, 1),
        ("ld.u32 %r2, s[%rd5+4+1]", 5, 1),
        ("ld.shared.u32 %r2, s[behind+44]", 44, -1),  # 16 signed bits
        ("ld.shared.u8 %r2, s[%r0]", 0, 1),  # elements of what is declared, not of what is loaded
        ("ld.global.u32 %r2, g[%r0+4]", 4, 1),
        ("mov.u32 %r3, s[%r0+4]; ld.shared.u32 %r2, [%r3]", 4, 1),
        ("mov.u64 %rd6, g[4]; mad.wide.u32 %rd6, %r0, 4, %rd6; ld.global.u32 %r2, [%rd6]", 4, 1),
        ("cvta.shared.u64 %rd6, s[4]; mad.wide.u32 %rd6, %r0, 4, %rd6; ld.u32 %r2, [%rd6]", 4, 1),
        ("cvta.global.u64 %rd6, g[%r0+4]; ld.u32 %r2, [%rd6]", 4, 1),
        ("st.local.u32 l[%r0], %r0; ld.local.u32 %r2, l[%r0]", 0, 1),
        ("ld.param.u32 %r2, p[%r0]", 0, 1),
    ],
)
def test_a_register_counts_elements(text: str, first: int, step: int) -> None:
    out = np.zeros(32, np.uint32)
    body = f""".reg .s16 behind; .local .b32 l[32];
    cvt.u64.u32 %rd5, %r0; cvt.s16.s32 behind, %r0; neg.s16 behind, behind; mad.wide.u32 %rd7, %r0, 4, %rd1;
    st.shared.u32 s[%r0], %r0; st.shared.u32 s[%r0+32], %r0; bar.warp.sync -1; {text}; st.global.u32 [%rd7], %r2;"""
    numbers = ", ".join(str(n % 32) for n in range(64))
    before = f".shared .b32 s[64]; .global .b32 g[64] = {{{numbers}}};"
    given = np.arange(32, dtype=np.uint32).tobytes()
    ready = entry(body, ".param .u64 out, .param .b32 p[32]", before)
    result = ready.launch(1, 32, [out, given], checks=TOOLS)
    assert out.tolist() == [(first + step * lane) % 32 for lane in range(32)]
    assert result.hazards == ()
