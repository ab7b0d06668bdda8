"""Every instruction that has an address, as a kernel that uses one given from outside; and the addresses to give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attack.guarded import ROOM_BYTES, Attack, Room, room
from ptxloom.machine.runtime.state import (
    CLUSTER_SHIFT,
    CODE_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_BYTES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD: Final = ".version 9.4\n.target sm_107a\n.address_size 64\n"
_HOPPER: Final = ".version 9.4\n.target sm_90a\n.address_size 64\n"  # no other has wgmma
REGISTERS: Final = """.reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<48>; .reg .b64 %rd<32>; .reg .b128 %q<4>;
.reg .f32 %f<16>; .reg .f64 %fd<8>;
"""
SHARED_BYTES: Final = 1024 + 8
BEFORE: Final = """.shared .align 128 .b8 area[1024]; .shared .align 8 .b8 bar[8];
.const .align 16 .b8 con[64]; .global .align 16 .b8 glo[64];
"""
LOCAL_BYTES: Final = 64

# The lane's address is in %rd9, its low half in %r9; %rd1 is a good array, %r1 points to `area`, %r2 to `bar`.
_START: Final = f""".local .align 16 .b8 own[{LOCAL_BYTES}];
mov.u32 %r0, %tid.x; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [edge]; ld.param.u64 %rd3, [stride];
ld.param.u32 %r3, [which]; ld.param.u32 %r4, [base]; ld.param.u32 %r5, [count]; ld.param.u64 %rd12, [good];
ld.param.u32 %r6, [kind];
mov.u32 %r1, area; mov.u32 %r2, bar; mov.u64 %rd4, own; st.local.u32 [%rd4], %r0;
setp.eq.u32 %p1, %r4, 1; mov.u64 %rd5, con; selp.b64 %rd5, %rd5, 0, %p1; add.u64 %rd2, %rd2, %rd5;
setp.eq.u32 %p1, %r4, 2; mov.u64 %rd5, glo; selp.b64 %rd5, %rd5, 0, %p1; add.u64 %rd2, %rd2, %rd5;
cvt.u64.u32 %rd6, %r0; mad.lo.u64 %rd7, %rd6, %rd3, %rd2; mad.lo.u64 %rd8, %rd6, 16, %rd12;
setp.eq.u32 %p1, %r3, %r0; setp.ge.u32 %p2, %r3, 32; or.pred %p1, %p1, %p2;
selp.b64 %rd9, %rd7, %rd8, %p1; cvt.u32.u64 %r9, %rd9; setp.lt.u32 %p3, %r0, %r5;
"""
_PARAMETERS: Final = (
    ".param .u64 out, .param .u64 edge, .param .u64 stride, .param .u64 good, .param .u32 which, .param .u32 base, "
    ".param .u32 count, .param .u32 kind"
)

_VALUES: Final = {
    "u8": "%r8", "u16": "%h1", "u32": "%r8", "b64": "%rd10", "b128": "%q1",
    "v2.u32": "{%r8, %r10}", "v4.f32": "{%f1, %f2, %f3, %f4}", "v4.u8": "{%h1, %h2, %h3, %h4}",
    "v2.b64": "{%rd10, %rd11}",
}  # fmt: skip


def _plain() -> Iterator[str]:
    """Loads and stores; `AT` is the address."""
    for kind, value in _VALUES.items():
        for space in ("global", "", "shared", "local", "const"):
            dot = f".{space}" if space else ""
            if kind == "b128" and space in {"local", "const"}:
                continue
            yield f"ld{dot}.{kind} {value}, [AT];"
            if space != "const":
                yield f"st{dot}.{kind} [AT], {value};"
    yield "ld.global.nc.v4.u32 {%r8, %r10, %r11, %r12}, [AT];"
    yield "ldu.global.u32 %r8, [AT];"
    yield "ld.param.u32 %r8, [AT];"
    yield "ld.param.v2.b64 {%rd10, %rd11}, [AT];"
    yield "ld.volatile.global.u32 %r8, [AT];"
    yield "ld.acquire.gpu.global.u32 %r8, [AT];"
    yield "st.release.cta.shared.u32 [AT], %r8;"
    yield "st.relaxed.sys.u32 [AT], %r8;"
    for offset in (-(2**31), -4, 2**31 - 4, 2**31 - 1):
        yield f"ld.u32 %r8, [AT+{offset}];"
        yield f"st.shared.u32 [AT+{offset}], %r8;"


_ATOMIC: Final = (
    "atom.global.add.v2.f32 {%f1, %f2}, [AT], {%f3, %f4};",
    *(
        text
        for dot in (".global", "", ".shared")
        for text in (
            f"atom{dot}.add.u32 %r8, [AT], 1;",
            f"atom{dot}.cas.b64 %rd10, [AT], %rd11, %rd11;",
            f"atom{dot}.exch.b128 %q1, [AT], %q2;",
            f"red{dot}.add.f32 [AT], %f1;",
            f"red{dot}.add.noftz.f16x2 [AT], %r8;",
        )
    ),
)

_SPECIAL: Final = (
    "cp.async.ca.shared.global [%r1], [AT], 4; cp.async.wait_all;",
    "cp.async.cg.shared.global [%r1], [AT], 16; cp.async.commit_group; cp.async.wait_group 0;",
    "cp.async.ca.shared.global [%r1], [AT], 8, %r5;",
    "cp.async.ca.shared.global [%r1], [AT], 16, %p3;",
    "cp.async.ca.shared.global [AT], [%rd1], 4;",
    "cp.async.cg.shared.global [AT], [%rd1], 16;",
    "mbarrier.init.shared.b64 [%r2], 8; cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.mbarrier.arrive.b64 [AT];",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [AT];",
    "mbarrier.init.shared.b64 [AT], 4; mbarrier.arrive.shared.b64 %rd10, [AT];",
    "mbarrier.init.b64 [AT], 4; mbarrier.arrive.expect_tx.shared.b64 %rd10, [AT], 16; mbarrier.inval.b64 [AT];",
    "mbarrier.try_wait.parity.shared.b64 %p4, [AT], %r5;",
    "mbarrier.test_wait.b64 %p4, [AT], %rd10;",
    "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [AT], %r5;",
    "mbarrier.complete_tx.relaxed.cta.shared::cluster.b64 [AT], %r5;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [AT];",
    "mbarrier.init.layout::v1.shared.b64 [AT], 4; mbarrier.check_layout.layout::v1.shared.b64 %p4, [AT];",
    "mbarrier.test_wait.parity.phase_type::primary.shared.b64 %p4|%p5, [AT], 0;",
    "mbarrier.arrive.release.cluster.shared::cluster.multicast::cluster::32b.b64 _, [AT], %r9;",
    "mbarrier.arrive_drop.expect_tx.relaxed.cta.shared::cluster.multicast::cluster::32b.b64 _, [AT], %r5, %r9;",
    "mbarrier.complete_tx.relaxed.cta.shared::cluster.multicast::cluster::32b.b64 [AT], %r5, %r9;",
    "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [AT];",
    "multimem.ld_reduce.min.u64 %rd10, [AT];",
    "multimem.st.weak.global.v2.f16x2 [AT], {%r8, %r10};",
    "multimem.st.release.gpu.u32 [AT], %r8;",
    "multimem.red.relaxed.gpu.global.add.v4.f32 [AT], {%f1, %f2, %f3, %f4};",
    "multimem.red.max.s32 [AT], %r8;",
    "multimem.st.async.release.gpu.global.u64 [AT], %rd10;",
    "multimem.red.async.release.sys.global.add.u32 [AT], %r8;",
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r8, %r10, %r11, %r12}, [AT];",
    "ldmatrix.sync.aligned.m8n8.x1.trans.b16 {%r8}, [AT];",
    "stmatrix.sync.aligned.m8n8.x2.shared.b16 [AT], {%r8, %r10};",
    "stmatrix.sync.aligned.m8n8.x4.b16 [AT], {%r8, %r10, %r11, %r12};",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r8, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, [AT], %r5;",
    "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 {%r8, %r10, %r11, %r12, %r13, %r14, %r15, %r16}, [AT];",
    "wmma.store.d.sync.aligned.row.m16n16k16.f32 [AT], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r5;",
    "prefetch.global.L1 [AT];",
    "prefetch.L2 [AT];",
    "prefetchu.L1 [AT];",
    "applypriority.global.L2::evict_normal [AT], 128;",
    "discard.global.L2 [AT], 128;",
    "isspacep.shared %p4, %rd9; cvta.to.shared.u64 %rd10, %rd9; ld.shared.u32 %r8, [%rd10];",
    "cvta.shared.u64 %rd10, %rd9; st.u32 [%rd10], %r8;",
    "cvta.to.local.u64 %rd10, %rd9; st.local.u32 [%rd10], %r8;",
    "cvta.local.u64 %rd10, %rd9; ld.u32 %r8, [%rd10];",
    "mapa.shared::cluster.u32 %r8, %r9, 0; st.shared::cluster.u32 [%r8], %r0;",
    "mapa.shared::cluster.u32 %r8, %r1, %r9; atom.shared::cluster.add.u32 %r10, [%r8], 1;",
    "mapa.u64 %rd10, %rd9, 1; ld.u32 %r8, [%rd10]; getctarank.u64 %r10, %rd9;",
)
_INIT: Final = "mbarrier.init.shared.b64 [%r2], 9; "
# Its descriptors are 64 bits of anything.
_MULTIPLY: Final = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f1, %f2, %f3, %f4}}, {}"
_CANCEL: Final = "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
# A tensor map at %rd1: of a row of f32, or of rows that lie so far apart; the words of a box come behind.
_MAP: Final = (
    "st.global.u64 [%rd1+16], 0; st.global.u64 [%rd1+24], 0; st.global.u64 [%rd1+32], 4611686020574871551; "
    "st.global.u64 [%rd1+40], 0; st.global.u64 [%rd1+48], 216172782113783808; "
)
_FETCH: Final = "cp.async.bulk.tensor.{0}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes {1}, {2}, [%r2];"
_SEND: Final = "cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group {1}, {2}; cp.async.bulk.wait_group 0;"
_LINE: Final = f"{_MAP}st.global.u64 [%rd1], %rd1; st.global.u64 [%rd1+8], 896; "
_FAR: Final = f"{_MAP}st.global.u64 [%rd1], %rd9; st.global.u64 [%rd1+8], 896; "
_ROWS: Final = f"{_MAP}st.global.u64 [%rd1], %rd9; st.global.u64 [%rd1+8], 912; st.global.u64 [%rd1+56], 3; "
_LEAPS: Final = f"{_MAP}st.global.u64 [%rd1], %rd1; st.global.u32 [%rd1+12], %r9; st.global.u32 [%rd1+8], 912; "
_PICKS: Final = f"{_MAP}st.global.u64 [%rd1+8], 912; st.global.u64 [%rd1+56], 0; st.global.u64 [%rd1], "
# Rows of 128 elements of 6 bits, of which 64 bytes stay together; of 16 bytes, whose halves change places.
_NARROW: Final = f"{_MAP}st.global.u32 [%rd1+52], 0x7f000000; st.global.u32 [%rd1+8], 0x186690; st.global.u64 [%rd1], "
_FLIPS: Final = f"{_MAP}st.global.u32 [%rd1+52], 0x1f000000; st.global.u32 [%rd1+8], 0x106310; st.global.u64 [%rd1], "
# Pixels of 4 f32 along W, 128 of them, swizzled by 128 bytes; how many more, and from where on, is the address's.
_WIDTH: Final = (
    f"{_MAP}st.global.u64 [%rd1+8], 0x63a1; st.global.u64 [%rd1+56], 0x7f00000000; cvt.u16.u32 %h1, %r9; "
    "st.global.u64 [%rd1], "
)
_ALONG: Final = (
    "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w{0}.mbarrier::complete_tx::bytes "
    "{1}, [%rd1, {{%r5, {2}, %r3}}], [%r2], {{%h1, {3}}};"
)
_PAIR: Final = (
    "cvt.u16.u32 %h1, %r3; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    ".multicast::cluster.cta_group::2 [%r1], [%rd1, {%r5, %r5}], [AT], %h1;"
)
_TENSOR: Final = (
    _INIT + _FETCH.format(1, "[%r1]", "[AT, {%r3}]"),
    _INIT + _LINE + _FETCH.format(1, "[AT]", "[%rd1, {%r5}]"),
    _INIT + _FAR + _FETCH.format(1, "[%r1]", "[%rd1, {%r5}]"),
    _INIT + _ROWS + _FETCH.format(2, "[%r1]", "[%rd1, {%r5, %r5}]"),
    _INIT + _LEAPS + _FETCH.format(2, "[%r1]", "[%rd1, {%r5, %r5}]"),
    _LINE + _FETCH.format(1, "[%r1]", "[%rd1, {%r5}]").replace("[%r2]", "[AT]"),
    _SEND.format(1, "[AT, {%r3}]", "[%r1]"),
    _LINE + _SEND.format(1, "[%rd1, {%r5}]", "[AT]"),
    _FAR + _SEND.format(1, "[%rd1, {%r5}]", "[%r1]"),
    _LEAPS + _SEND.format(2, "[%rd1, {%r5, %r5}]", "[%r1]"),
    _ROWS + "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%rd1, {%r5, %r5}], [%r1];",
    _INIT
    + _PICKS
    + "%rd9; "
    + _FETCH.format(2, "[%r1]", "[%rd1, {%r5, %r3, %r5, %r9, %r5}]").replace("tile", "tile::gather4"),
    _INIT
    + _PICKS
    + "%rd1; "
    + _FETCH.format(2, "[AT]", "[%rd1, {%r5, %r3, %r5, %r9, %r5}]").replace("tile", "tile::gather4"),
    _PICKS + "%rd9; " + _SEND.format(2, "[%rd1, {%r5, %r3, %r5, %r9, %r5}]", "[%r1]").replace("tile", "tile::scatter4"),
    _PICKS + "%rd1; " + _SEND.format(2, "[%rd1, {%r5, %r3, %r5, %r9, %r5}]", "[AT]").replace("tile", "tile::scatter4"),
    *(
        form
        for words in (_NARROW, _FLIPS)
        for form in (
            _INIT + words + "%rd9; " + _FETCH.format(2, "[%r1]", "[%rd1, {%r5, %r5}]"),
            _INIT + words + "%rd1; " + _FETCH.format(2, "[AT]", "[%rd1, {%r3, %r5}]"),
            words + "%rd9; " + _SEND.format(2, "[%rd1, {%r5, %r5}]", "[%r1]"),
            words + "%rd1; " + _SEND.format(2, "[%rd1, {%r3, %r5}]", "[AT]"),
        )
    ),
    *(
        form
        for wide in ("", "::128")
        for form in (
            _INIT + _WIDTH + "%rd9; " + _ALONG.format(wide, "[%r1]", "%r5", "0"),
            _INIT + _WIDTH + "%rd1; " + _ALONG.format(wide, "[AT]", "%r9", "%h1"),
        )
    ),
    _INIT + _PICKS + "%rd1; " + _PAIR,
    "tensormap.replace.tile.swizzle_atomicity.global.b1024.b32 [AT], 2;",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [AT], 4;",
    "tensormap.replace.tile.global_address.global.b1024.b64 [AT], %rd1;",
    "tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [AT], 4, %r5;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [AT], [%r1], 128;",
    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd1], [AT], 128;",
    "fence.proxy.tensormap::generic.acquire.gpu [AT], 128;",
)
_BULK: Final = (
    _INIT + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [AT], %r5, [%r2];",
    _INIT + "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [AT], [%rd1], %r5, [%r2];",
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r5, [AT];",
    _INIT
    + "cvt.u16.u32 %h1, %r9; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
    "[%r1], [%rd1], %r5, [%r2], %h1;",
    "cp.async.bulk.global.shared::cta.bulk_group [AT], [%r1], %r5; cp.async.bulk.wait_group 0;",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [AT], %r5; cp.async.bulk.commit_group;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [AT], [%r1], %r5;",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u64 [%rd1], [AT], %r5;",
    _INIT
    + "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r1], [AT], 32, %r5, %r9, [%r2];",
    _INIT + "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [AT], [%rd1], %r5, 3, 15, [%r2];",
    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r1], [%rd1], 32, 4, 0, [AT];",
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [AT], [%r1], %r5, %h1;",
    "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd1], [AT], %r5, %h1;",
    "multimem.cp.async.bulk.global.shared::cta.bulk_group [AT], [%r1], %r5;",
    "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [AT], [%r1], %r5;",
    "multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%rd1], [AT], %r5;",
    "cp.async.bulk.prefetch.L2.global [AT], %r5;",
    "cvt.u64.u32 %rd10, %r5; st.bulk.weak.shared::cta [AT], %rd10, 0;",
    "st.bulk [AT], %rd9, 0;",
    _INIT + "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [AT], [%r1], %r5, [%r2];",
    _INIT
    + "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%r1], [AT], %r5, [%r2];",
    _INIT + "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [AT], %r8, [%r2];",
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%r1], {%r8, %r10, %r11, %r12}, [AT];",
    _INIT + "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [AT], %r8, [%r2];",
    _INIT + f"{_CANCEL}.b128 [AT], [%r2];",
    f"{_CANCEL}.b128 [%r1], [AT];",
    _INIT + f"{_CANCEL}.multicast::cluster::all.b128 [AT], [%r2];",
    f"{_CANCEL}.multicast::cluster::all.b128 [%r1], [AT];",
    "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 [AT], [%r2];",
    _MULTIPLY.format("AT, %rd9") + ", 1, 1, 1, 0, 0;",
    _MULTIPLY.format("AT, %rd9") + ", 1, 1, 1, 1, 1;",
    _MULTIPLY.format("{%r8, %r10, %r11, %r12}, AT") + ", 1, 1, 1, 0;",
)

_HAVE: Final = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r2], 64; ld.shared.u32 %r8, [%r2]; "
_LET: Final = " tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r8, 64;"
_MMA: Final = "mov.u32 %r10, 0x8100010; tcgen05.mma.cta_group::1.kind::f16 "
# Of tensor memory: its addresses, and descriptors of shared memory, of which any bits may be given.
_OF_TENSOR: Final = (
    "tcgen05.alloc.cta_group::1.sync.aligned.b32 [AT], 32;",
    "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r9, 32;",
    *(
        _HAVE + statement + _LET
        for statement in (
            "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r10, %r11}, [%r9];",
            "tcgen05.ld.sync.aligned.16x64b.x2.pack::16b.b32 {%r10, %r11}, [%r9];",
            "tcgen05.st.sync.aligned.16x32bx2.x2.b32 [%r9], 40, {%r10, %r11};",
            "tcgen05.cp.cta_group::1.128x256b [%r9], %rd10;",
            "tcgen05.cp.cta_group::1.32x128b.warpx4.b8x16.b6x16_p32 [%r8], AT;",
            "tcgen05.shift.cta_group::1.down [%r9];",
            "tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [AT];",
            _MMA + "[%r9], %rd10, %rd10, %r10, %p1;",
            _MMA + "[%r8], AT, %rd10, %r10, %p1;",
            _MMA + "[%r8], [%r9], AT, %r10, %p1;",
        )
    ),
)


def statements() -> tuple[str, ...]:
    """The statements, each with `AT` once at least where the address goes."""
    return (*_plain(), *_ATOMIC, *_SPECIAL, *_BULK, *_TENSOR, *_OF_TENSOR)


def may_be_narrow(statement: str) -> bool:
    """Whether an address of 32 bits is legal: of shared and local memory, where no generic address is meant."""
    if "[AT" not in statement or ".init.b64 [AT]" in statement:  # a matrix descriptor has 64 bits
        return False
    return any(space in statement.removeprefix(_HAVE) for space in (".shared", ".local"))


def kernel_of(together: Sequence[str], *, narrow: bool, guard: bool, head: str = HEAD) -> str:
    """A kernel that executes one of some statements, with the address in 64 bits, or in 32 where it may be (`narrow`).

    `guard`: only the first lanes do, as many as `count` says.
    """
    body: list[str] = []
    for number, statement in enumerate(together):
        text = statement.replace("AT", "%r9" if narrow and may_be_narrow(statement) else "%rd9")
        if guard and ".aligned" not in statement:
            text = " ".join(f"@%p3 {part.strip()};" for part in text.split(";") if part.strip())
        body.append(f"setp.ne.u32 %p5, %r6, {number}; @%p5 bra L{number};\n{text}\nbra DONE;\nL{number}:")
    lines = "\n".join(body)
    return f"{head}{BEFORE}.visible .entry k({_PARAMETERS})\n{{\n{REGISTERS}{_START}{lines}\nDONE: ret;\n}}\n"


def edges() -> tuple[tuple[int, int], ...]:
    """Addresses, and what they are relative to: nothing, the constants, the module's variables."""
    size, bytes_ = 16, 1 << 64
    ends: list[int] = [0, 8, 1 << 31, 1 << 32, 1 << 47, 1 << 63, bytes_]
    for window in (SHARED_WINDOW, LOCAL_WINDOW, PARAM_WINDOW, CODE_WINDOW):
        ends += [window, window + WINDOW_BYTES]
    for rank in (0, 1, 2, 3, 17, 255):
        start = rank << CLUSTER_SHIFT
        ends += [start, start + SHARED_BYTES, SHARED_WINDOW + start, SHARED_WINDOW + start + SHARED_BYTES]
    ends += [LOCAL_BYTES, LOCAL_WINDOW + LOCAL_BYTES, PARAM_WINDOW + 48, 48]
    ends += [room(n, ROOM_BYTES) + by for n in (0, 1) for by in (0, ROOM_BYTES)]
    absolute = [(end + by) % bytes_ for end in ends for by in (0, -size, -8, -4, -1, 1, 4, -size + 1, 512)]
    relative = [(by % bytes_, base) for base in (1, 2) for by in (-16, -4, -1, 0, 1, 48, 56, 60, 61, 64, 1 << 20)]
    return (*((at, 0) for at in dict.fromkeys(absolute)), *relative)


#: (bytes from lane to lane, which lane has the address: 32 for all, how many lanes execute and how many bytes move)
PATTERNS: Final = (
    (16, 32, 32), (4, 32, 32), (0, 32, 16), (0, 5, 32), (0, 31, 17), ((1 << 64) - 16, 32, 32), (1 << 31, 32, 48),
    (48, 32, 0), (8, 32, 1), (1 << 62, 32, (1 << 32) - 16), (32, 0, 64),
)  # fmt: skip


def launches(together: Sequence[str], number: int, *, every: int, checks: tuple[str, ...], watch: bool) -> list[Attack]:
    """Launches of statements: each `every`th pair of an edge and a pattern, from another one on for each `number`."""
    narrow, guard = number % 2 == 1, number // 2 % 2 == 1
    hopper = tuple(one for one in together if "wgmma" in one)
    others = tuple(one for one in together if one not in hopper)
    texts = {
        one: (kernel_of(ones, narrow=narrow, guard=guard, head=head), which)
        for head, ones in ((_HOPPER, hopper), (HEAD, others))
        for which, one in enumerate(ones)
    }
    pairs = [(edge, pattern) for edge in edges() for pattern in PATTERNS]
    found: list[Attack] = []
    for statement, (text, which) in texts.items():
        cluster = 2 if "cluster" in statement or "mapa" in statement else None
        good = 0 if "shared" in statement or "local" in statement else room(0)
        for (at, base), (stride, lane, count) in pairs[(number * 31 + which * 7) % every :: every]:
            label = (
                f"{statement} narrow={narrow} guard={guard} {at:#x} from {base} by {stride:#x}, lane {lane}, {count}"
            )
            found.append(
                Attack(
                    text,
                    (Room(), at, stride, good, lane, base, count, which),
                    grid=cluster or 1,
                    cluster=cluster,
                    checks=checks,
                    profile=watch,
                    trace=("*",) if watch else (),
                    provenance=watch,
                    label=f"{label}; {checks} {watch}",
                )
            )
    return found
