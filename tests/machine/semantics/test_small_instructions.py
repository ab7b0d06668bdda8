"""Stack memory, special registers, hints, wide vectors and qualifiers."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine import IllegalPtx, LaunchError, UnsupportedInstruction

TAKE = """
.func (.param .b32 result) total(.param .b32 n)
{
.reg .pred %p; .reg .b32 %a<8>;
ld.param.u32 %a0, [n]; mul.lo.u32 %a1, %a0, 4; alloca.u32 %a2, %a1; mov.u32 %a3, 0; mov.u32 %a5, %a2;
FILL: st.local.u32 [%a5], %a3; add.u32 %a5, %a5, 4; add.u32 %a3, %a3, 1; setp.lt.u32 %p, %a3, %a0; @%p bra FILL;
mov.u32 %a4, 0; mov.u32 %a5, %a2; mov.u32 %a3, 0;
SUM: ld.local.u32 %a6, [%a5]; add.u32 %a4, %a4, %a6; add.u32 %a5, %a5, 4; add.u32 %a3, %a3, 1;
setp.lt.u32 %p, %a3, %a0; @%p bra SUM;
st.param.b32 [result], %a4; ret;
}
"""
CALL = "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r5; call (y), total, (x); ld.param.b32 %r6, [y]; }"


def test_memory_on_the_stack_is_each_lane_s_own_and_goes_back_when_the_function_returns() -> None:
    out = np.zeros(40, np.uint32)
    body = f"""alloca.u32 %r1, 4, 16; add.u32 %r2, %r0, 1000; st.local.u32 [%r1], %r2; and.b32 %r5, %r0, 31;
    add.u32 %r5, %r5, 1; mov.u32 %r8, 0; mov.u32 %r9, 0;
    AGAIN: {CALL} add.u32 %r9, %r9, %r6; add.u32 %r8, %r8, 1; setp.lt.u32 %p1, %r8, 50; @%p1 bra AGAIN;
    ld.local.u32 %r2, [%r1]; mad.lo.u32 %r9, %r9, 10000, %r2; st.global.u32 [%rd0], %r9;"""
    entry(body, before=TAKE).launch(1, 40, [out], stack_bytes=1024)
    assert out.tolist() == [sum(range(n % 32 + 1)) * 50 * 10000 + n + 1000 for n in range(40)]


def test_what_is_restored_is_given_out_again() -> None:
    out = np.zeros(4, np.uint32)
    body = """stacksave.u32 %r1; mov.u32 %r4, 0;
    AGAIN: alloca.u32 %r2, 512, 32; and.b32 %r5, %r2, 31; stackrestore.u32 %r1;
    add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 100; @%p1 bra AGAIN;
    alloca.u32 %r3, 16; sub.u32 %r6, %r3, %r2; st.global.v2.u32 [%rd1], {%r5, %r6};"""
    entry(body).launch(1, 1, [out], stack_bytes=1024)
    assert out[0] == 0
    assert 512 - 16 <= out[1] < 512 - 16 + 32


def test_each_lane_restores_its_own_stack() -> None:
    out = np.zeros((40, 2), np.uint32)
    body = """mul.wide.u32 %rd2, %r0, 8; add.u64 %rd3, %rd1, %rd2; mad.lo.u32 %r5, %r0, 16, 16; alloca.u32 %r1, %r5;
    stacksave.u64 %rd4; mov.u32 %r4, 0;
    AGAIN: alloca.u32 %r2, 64; stackrestore.u64 %rd4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 100; @%p1 bra AGAIN;
    alloca.u32 %r3, 64; st.global.v2.u32 [%rd3], {%r2, %r3};"""
    entry(body).launch(1, 40, [out], stack_bytes=1024)
    assert (out[:, 0] == out[:, 1]).all()
    assert len({*out[:, 0].tolist()}) == 40


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize(
    "masks", [(0xFFFFFFFF,), (0x55555555, 0xAAAAAAAA), (0x11111111, 0xEEEEEEEE, 0xEEEEEEEE, 0xEEEEEEEE)]
)
@pytest.mark.parametrize("kinds", [1, 2, 9])
def test_members_match_those_of_their_group_that_hold_the_same_value(
    bits: int, masks: tuple[int, ...], kinds: int
) -> None:
    rng = np.random.default_rng(kinds)
    values = rng.integers(0, 1 << bits, kinds, np.uint64)[rng.integers(0, kinds, 32)]
    members = np.resize(np.array(masks, np.uint32), 32)
    out = np.zeros((3, 32), np.uint32)
    given = values.astype(f"u{bits // 8}")
    body = f"""ld.param.u64 %rd2, [values]; mad.wide.u32 %rd3, %r0, {bits // 8}, %rd2; ld.global.b{bits} %rd4, [%rd3];
    .reg .b{bits} %v; cvt.u{bits}.u64 %v, %rd4;
    ld.param.u64 %rd5, [members]; mad.wide.u32 %rd6, %r0, 4, %rd5; ld.global.u32 %r1, [%rd6];
    match.any.sync.b{bits} %r2, %v, %r1; match.all.sync.b{bits} %r3|%p1, %v, %r1; selp.b32 %r4, 1, 0, %p1;
    st.global.u32 [%rd0], %r2; st.global.u32 [%rd0+128], %r3; st.global.u32 [%rd0+256], %r4;"""
    entry(body, ".param .u64 out, .param .u64 values, .param .u64 members").launch(1, 32, [out, given, members])
    groups = [[other for other in range(32) if int(members[lane]) >> other & 1] for lane in range(32)]
    same = [[other for other in group if values[other] == values[lane]] for lane, group in enumerate(groups)]
    alike = [len(group) == len(found) for group, found in zip(groups, same, strict=True)]
    assert out[0].tolist() == [sum(1 << other for other in found) for found in same]
    assert out[1].tolist() == [int(members[lane]) * one for lane, one in enumerate(alike)]
    assert out[2].tolist() == [int(one) for one in alike]


def test_too_much_is_a_stack_overflow() -> None:
    with pytest.raises(LaunchError) as caught:
        entry("L: alloca.u32 %r2, 512; bra L;").launch(1, 1, [np.zeros(1, np.uint32)], stack_bytes=4096)
    assert caught.value.hazards[0].kind == "stack-overflow"


@pytest.mark.parametrize("alignment", [0, 3, 24, 1 << 24, (1 << 23) + 8, -8])
def test_stack_memory_is_aligned_to_a_power_of_two_that_is_not_too_large(alignment: int) -> None:
    with pytest.raises((IllegalPtx, UnsupportedInstruction), match="power of two"):
        entry(f"alloca.u32 %r1, 4, {alignment};", unchecked=True).launch(1, 1, [np.zeros(1, np.uint32)])


@pytest.mark.parametrize("alignment", [1, 8, 1 << 10])
def test_stack_memory_is_aligned_as_it_is_asked_for(alignment: int) -> None:
    out = np.zeros(2, np.uint32)
    body = f"alloca.u32 %r1, 3, {alignment}; alloca.u32 %r2, 4, {alignment}; st.global.v2.u32 [%rd1], {{%r1, %r2}};"
    entry(body).launch(1, 1, [out], stack_bytes=1 << 13)
    assert (out % alignment).tolist() == [0, 0]


@pytest.mark.parametrize(
    "form",
    [
        "membar.gl;", "membar.sys;", "membar.proxy.alias;", "fence.acq_rel.gpu;", "fence.sc.sys;", "fence.acquire.cta;",
        "fence.proxy.async;", "fence.proxy.async.shared::cta;", "fence.proxy.tensormap::generic.release.gpu;",
        "fence.mbarrier_init.release.cluster;", "fence.acquire.sync_restrict::shared::cluster.cluster;",
        "griddepcontrol.wait;", "griddepcontrol.launch_dependents;", "setmaxnreg.inc.sync.aligned.u32 160;",
        "nanosleep.u32 100;", "nanosleep.u32 %r0;", "pmevent 1;", "pmevent.mask 3;", "brkpt;",
        "discard.global.L2 [%rd1], 128;", "applypriority.global.L2::evict_normal [%rd1], 128;",
        "prefetch.global.L1 [%rd1];", "prefetch.global.L2::evict_last [%rd1];", "prefetchu.L1 [%rd1];",
        "cp.async.bulk.prefetch.L2.global [%rd1], 16;",
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %rd9, 0.5;",
        "createpolicy.range.global.L2::evict_last.b64 %rd9, [%rd1], 64, 128;",
        "createpolicy.cvt.L2.b64 %rd9, 0x10000000;",
    ],
)  # fmt: skip
def test_hints_and_fences_change_nothing(form: str) -> None:
    out = np.zeros(64, np.uint32)
    entry(f"{form} add.u32 %r1, %r0, 5; st.global.u32 [%rd0], %r1;").launch(1, 64, [out])
    assert out.tolist() == list(range(5, 69))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("load", [
    "ld.global.nc.u32", "ld.volatile.global.u32", "ld.relaxed.gpu.global.u32", "ld.acquire.sys.global.u32",
    "ldu.global.u32",
    "ld.global.ca.u32", "ld.global.lu.u32", "ld.weak.global.cg.u32", "ld.mmio.relaxed.sys.global.u32", "ld.u32",
    "ld.global.L1::no_allocate.L2::128B.u32", "ld.global.L1::evict_first.u32", "ld.relaxed.cluster.u32",
])  # fmt: skip
@pytest.mark.parametrize("store", [
    "st.global.u32", "st.volatile.global.u32", "st.relaxed.gpu.global.u32", "st.release.sys.global.u32", "st.u32",
    "st.global.wt.u32", "st.weak.global.cs.u32", "st.mmio.relaxed.sys.global.u32", "st.global.L1::evict_last.u32",
])  # fmt: skip
def test_qualifiers_of_order_and_cache_move_the_same_bytes(load: str, store: str) -> None:
    out = np.arange(40, dtype=np.uint32)
    entry(f"{load} %r1, [%rd0]; add.u32 %r1, %r1, 7; {store} [%rd0], %r1;").launch(1, 40, [out])
    assert out.tolist() == list(range(7, 47))


def test_a_cache_policy_rides_along() -> None:
    out = np.arange(80, dtype=np.uint32)
    body = """createpolicy.fractional.L2::evict_last.b64 %rd9, 1.0; add.u64 %rd0, %rd0, 160;
    ld.global.L2::cache_hint.u32 %r1, [%rd0+-160], %rd9; st.global.L2::cache_hint.u32 [%rd0], %r1, %rd9;"""
    entry(body).launch(1, 40, [out])
    assert out.tolist() == [*range(40)] * 2


@pytest.mark.parametrize("base", ["%rd3", "%rd4"])
def test_the_widest_vectors_move_32_bytes_a_lane(base: str) -> None:
    data = np.arange(40 * 16, dtype=np.uint32)
    body = f"""mul.wide.u32 %rd2, %r0, 64; add.u64 %rd3, %rd1, %rd2; xor.b64 %rd2, %rd2, 64; add.u64 %rd4, %rd1, %rd2;
    ld.global.v8.b32 {{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}}, [{base}]; add.u32 %r8, %r8, 1;
    st.global.v8.b32 [{base}+32], {{%r8, %r7, %r6, %r5, %r4, %r3, %r2, %r1}};
    ld.global.v4.b64 {{%rd5, %rd6, %rd7, %rd8}}, [{base}+32]; st.global.v4.u64 [{base}], {{%rd8, %rd7, %rd6, %rd5}};"""
    entry(body).launch(1, 40, [data])
    rows = data.reshape(40, 16).astype(np.int64)
    first = np.arange(40)[:, None] * 16
    swapped = np.array([[8, 6, 5, 4, 3, 2, 1, 0]]) + first
    assert (rows[:, 8:] == swapped).all()
    assert (rows[:, :8] == swapped.reshape(40, 4, 2)[:, ::-1].reshape(40, 8)).all()


@pytest.mark.parametrize(("count", "bits"), [(2, 8), (4, 8), (2, 16), (4, 16), (2, 32), (4, 32), (2, 64)])
def test_vectors_of_a_parameter_are_its_elements_one_after_the_other(count: int, bits: int) -> None:
    given = np.arange(3, 67, dtype=np.uint8)
    out = np.zeros((40, count), np.uint64)
    names = ", ".join(f"%rd{10 + n}" for n in range(count))
    stores = "\n".join(f"st.global.u64 [%rd3+{8 * n}], %rd{10 + n};" for n in range(count))
    size = count * bits // 8
    body = f"""mul.wide.u32 %rd2, %r0, {8 * count}; add.u64 %rd3, %rd1, %rd2;
    ld.param.v{count}.u{bits} {{{names}}}, [given+{size}]; {stores}"""
    entry(body, ".param .u64 out, .param .align 32 .b8 given[64]").launch(1, 40, [out, given])
    assert (out == given[size : 2 * size].view(f"u{bits // 8}")).all()


def test_128_bit_values_move_whole() -> None:
    data = np.arange(40 * 8, dtype=np.uint32)
    body = """.reg .b128 %q<3>; mul.wide.u32 %rd2, %r0, 32; add.u64 %rd3, %rd1, %rd2;
    ld.global.b128 %q1, [%rd3]; mov.b128 {%rd5, %rd6}, %q1; add.u64 %rd5, %rd5, 1; mov.b128 %q2, {%rd6, %rd5};
    st.global.b128 [%rd3+16], %q2;"""
    entry(body).launch(1, 40, [data])
    rows = data.reshape(40, 8)
    assert (rows[:, 4:] == rows[:, [2, 3, 0, 1]] + np.array([0, 0, 1, 0], np.uint32)).all()


def test_special_registers_of_a_launch() -> None:
    names = ["%ntid.x", "%nctaid.y", "%nwarpid", "%nsmid", "%smid", "%envreg3", "%clusterid.y"]
    names += ["%cluster_ctaid.x", "%cluster_nctarank", "%nclusterid.x", "%dynamic_smem_size", "%total_smem_size"]
    names += ["%lanemask_lt", "%pm0", "%reserved_smem_offset_begin", "%warpid", "%ctaid.x"]
    out = np.zeros((4, len(names)), np.uint32)
    reads = "\n".join(f"mov.u32 %r1, {name}; st.global.u32 [%rd2+{4 * n}], %r1;" for n, name in enumerate(names))
    body = f"""mov.u32 %r2, %ctaid.x; mul.wide.u32 %rd2, %r2, {4 * len(names)}; add.u64 %rd2, %rd1, %rd2;
    setp.ne.u32 %p1, %r0, 33; @%p1 ret; {reads}"""
    entry(body, before=".shared .b8 fixed[48];").launch((4, 1), 64, [out], 100, cluster=2)
    for block, row in enumerate(out.tolist()):
        assert row == [64, 1, 2, 1, 0, 0, 0, block % 2, 2, 2, 100, 256, 1, 0, 0, 1, block]


def test_the_masks_of_a_lane() -> None:
    names = ("eq", "lt", "le", "gt", "ge")
    out = np.zeros((64, len(names)), np.uint32)
    reads = "\n".join(
        f"mov.u32 %r1, %lanemask_{name}; st.global.u32 [%rd3+{4 * n}], %r1;" for n, name in enumerate(names)
    )
    entry(f"mul.wide.u32 %rd2, %r0, {4 * len(names)}; add.u64 %rd3, %rd1, %rd2; {reads}").launch(1, 64, [out])
    lane, other = np.arange(64)[:, None] % 32, np.arange(32)
    masks = (other == lane, other < lane, other <= lane, other > lane, other >= lane)
    assert np.array_equal(out.T, [(mask << other).sum(1) for mask in masks])


@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
def test_a_shuffle_within_segments_is_the_same_by_literals_and_by_registers(mode: str) -> None:
    cases = [(by, segment << 8 | clamp) for by in (1, 2, 5) for segment in (0, 16, 24, 28) for clamp in (0, 3, 31)]
    out = np.zeros((len(cases), 2, 32), np.uint32)
    shuffles = "\n".join(
        f"shfl.sync.{mode}.b32 %r1, %r0, {by}, {clamp}, -1; mov.u32 %r2, {by}; mov.u32 %r3, {clamp};"
        f"shfl.sync.{mode}.b32 %r4, %r0, %r2, %r3, -1;"
        f"st.global.u32 [%rd0+{256 * n}], %r1; st.global.u32 [%rd0+{256 * n + 128}], %r4;"
        for n, (by, clamp) in enumerate(cases)
    )
    entry(shuffles).launch(1, 32, [out])
    assert np.array_equal(out[:, 0], out[:, 1])
    assert len({row.tobytes() for row in out[:, 0]}) > 4


def test_the_system_has_the_first_kilobyte_of_shared_memory() -> None:
    """What an H100 says, and what it keeps apart: the variables of the kernel and the dynamic memory lie behind."""
    names = ["fixed", "more", "%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size"]
    names += [f"%reserved_smem_offset_{name}" for name in ("begin", "end", "cap", "0", "1")]
    out = np.zeros(len(names) + 1, np.uint32)
    reads = "\n".join(f"mov.u32 %r1, {name}; st.global.u32 [%rd1+{4 * n}], %r1;" for n, name in enumerate(names))
    body = f"""st.shared.u32 [fixed], 5; mov.u32 %r2, %reserved_smem_offset_1; st.shared.u32 [%r2], 7;
    {reads} ld.shared.u32 %r3, [fixed]; st.global.u32 [%rd1+{4 * len(names)}], %r3;"""
    before = ".shared .align 16 .b8 fixed[48];\n.extern .shared .align 16 .b8 more[];"
    entry(body, before=before).launch(1, 1, [out], 512)
    assert out.tolist() == [1024, 1072, 640, 512, 1584, 0, 288, 1024, 0, 0, 5]
    entry(body, before=before).launch(1, 1, [out], 227 * 1024 - 48)


def test_clocks_go_on() -> None:
    out = np.zeros((32, 4), np.uint64)
    body = """mul.wide.u32 %rd2, %r0, 32; add.u64 %rd2, %rd1, %rd2; mov.u64 %rd3, %clock64; mov.u64 %rd4, %globaltimer;
    mov.u32 %r1, %clock; mov.u32 %r2, %clock_hi; mov.u32 %r3, %globaltimer_lo; mov.u64 %rd5, %clock64;
    mov.u64 %rd6, %globaltimer; st.global.v4.u64 [%rd2], {%rd3, %rd5, %rd4, %rd6};"""
    entry(body).launch(1, 32, [out])
    assert (out[:, 0] < out[:, 1]).all()
    assert (out[:, 2] <= out[:, 3]).all()


@pytest.mark.parametrize("joined", ["and", "or", "xor"])
def test_both_halves_of_a_packed_comparison_are_joined_with_the_predicate(joined: str) -> None:
    out = np.zeros((64, 2), np.uint32)
    body = f"""and.b32 %r4, %r0, 1; setp.eq.u32 %p1, %r4, 1; mov.b32 %r2, 0x40003C00; mov.b32 %r3, 0x3C004000;
    set.lt.{joined}.f16x2.f16x2 %r5, %r2, %r3, %p1; set.lt.{joined}.u32.f16x2 %r6, %r2, %r3, !%p1;
    mul.wide.u32 %rd2, %r0, 8; add.u64 %rd1, %rd1, %rd2; st.global.v2.u32 [%rd1], {{%r5, %r6}};"""
    entry(body).launch(1, 64, [out])
    odd = np.arange(64) % 2 == 1
    join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}[joined]
    assert np.array_equal(out[:, 0], join(True, odd) * 0x3C00 + join(False, odd) * 0x3C000000)
    assert np.array_equal(out[:, 1], join(True, ~odd) * 0xFFFF + join(False, ~odd) * 0xFFFF0000)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("5 > 3 ? 1 : 2", 1), ("2 <= 1 ? 1 : 2", 2), ("(7 == 7) + (1 != 1) + (3 && 2) + (0 || 0)", 2), ("-7 / 2", -3),
        ("-7 % 3", 0), ("1 << 4 | 1", 17), ("1 << 64", 1), ("256 >> 4", 16), ("!5", 0), ("!0", 1), ("~7", ~7),
        ("(.s64) 0xFFFFFFFFFFFFFFFF >> 60", -1), ("(.u64) (-1) >> 60", 15),
    ],
)  # fmt: skip
def test_constant_expressions(expression: str, value: int) -> None:
    out = np.zeros(4, np.int32)
    entry(f"mov.s32 %r1, {expression}; st.global.s32 [%rd1], %r1;").launch(1, 1, [out])
    assert out[0] == value


@pytest.mark.parametrize("cluster", [None, 1, 2])
def test_a_predicate_says_whether_the_launch_has_clusters(cluster: int | None) -> None:
    out = np.zeros(4, np.uint32)
    body = "mov.pred %p1, %is_explicit_cluster; selp.u32 %r1, 1, 0, %p1; st.global.u32 [%rd1], %r1;"
    entry(body).launch(2, 1, [out], cluster=cluster)
    assert out[0] == (cluster is not None)


@pytest.mark.parametrize("half", ["lo", "hi"])
def test_carryless_products(half: str) -> None:
    rng = np.random.default_rng(4)
    given = rng.integers(0, 1 << 64, (64, 4), dtype=np.uint64, endpoint=False)
    given[:4, :2] = [[0, 5], [2**64 - 1, 2**64 - 1], [1 << 63, 1 << 63], [1, 2**64 - 1]]
    out = given.copy()
    body = f"""mul.wide.u32 %rd2, %r0, 32; add.u64 %rd2, %rd1, %rd2; ld.global.v2.u64 {{%rd3, %rd4}}, [%rd2];
    ld.global.u64 %rd5, [%rd2+16]; clmad.{half}.u64 %rd6, %rd3, %rd4, %rd5; st.global.u64 [%rd2+24], %rd6;"""
    entry(body).launch(1, 64, [out])
    for (a, b, c, _), (*_, d) in zip(given.tolist(), out.tolist(), strict=True):
        product = 0
        for place in range(64):
            product ^= (b << place) * (a >> place & 1)
        assert d == (product >> 64 if half == "hi" else product & 2**64 - 1) ^ c
