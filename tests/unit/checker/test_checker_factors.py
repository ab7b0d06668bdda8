"""The warnings about registers of factors: where a slip is certain enough, and where repetition may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from ptxloom.checker import check
from ptxloom.diagnostics import Severity
from ptxloom.syntax import parse

if TYPE_CHECKING:
    from ptxloom.diagnostics import Diagnostic

HEAD: Final = """.version 9.0
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[4096];
.visible .entry k(.param .u64 p, .param .b32 one) {
  .reg .b32 a<8>, b<8>, z, t; .reg .f32 d<16>; .reg .b16 h<8>; .reg .b64 at; .reg .pred again;
  mov.u32 t, %tid.x; mov.b32 z, 0;
"""
LOAD: Final = "ldmatrix.sync.aligned.m8n8"
LOADS: Final = (
    f"{LOAD}.x4.shared.b16 {{a0, a1, a2, a3}}, [tile]; {LOAD}.x4.shared.b16 {{b0, b1, b2, b3}}, [tile+512];\n"
)


def mma(a: str, b: str, d: int = 0) -> str:
    sums = ", ".join(f"d{d + one}" for one in range(4))
    return f"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {{{sums}}}, {{{a}}}, {{{b}}}, {{{sums}}};\n"


def warnings(body: str) -> list[Diagnostic]:
    found = check(parse(f"{HEAD}{body}\nret;\n}}\n"))
    assert all(one.severity is Severity.WARNING for one in found)
    return list(found)


A: Final = "a0, a1, a2, a3"
BOTH: Final = mma(A, "b0, b1") + mma(A, "b2, b3", 4)
WMMA: Final = """
.reg .s32 s<8>;
wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {a0, a1}, [tile];
wmma.load.b.sync.aligned.col.m16n16k16.shared.s8 {b0, b1}, [tile];
wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32
  {s0, s1, s2, s3, s4, s5, s6, s7}, {a0, a0}, {b0, b1}, {s0, s1, s2, s3, s4, s5, s6, s7};
"""
WHOLE: Final = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {d0, d1, d2, d3},"

REPEATED: Final = {
    "the left factor": (LOADS + mma("a0, a1, a2, a2", "b0, b1") + mma(A, "b2, b3", 4), "a2", None),
    "a part that nothing reads": (
        LOADS + mma("a0, a1, a1, a3", "b0, b1") + mma("a0, a1, a1, a3", "b2, b3", 4),
        "a1",
        "a2",
    ),
    "the right factor": (f"{LOAD}.x2.shared.b16 {{b0, b1}}, [tile];" + mma(A, "b0, b0"), "b0", "b1"),
    "of elements loaded one by one": (
        "ld.param.u64 at, [p]; ld.global.b32 a0, [at]; shl.b32 t, t, 2; cvt.u64.u32 at, t; ld.global.b32 a1, [at];"
        + mma("a1, a0, a1, a2", "b0, b1"),
        "a1",
        None,
    ),
    "of a sparse product": (
        LOADS
        + "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {d0, d1, d2, d3}, {a0, a1, a2, a3}, "
        "{b0, b1, b1, b3}, {d0, d1, d2, d3}, z, 0x0;",
        "b1",
        "b2",
    ),
    "of a warpgroup's product": (
        f"{LOADS} mov.b64 at, 0; setp.ne.b32 again, t, 0; {WHOLE} {{a0, a1, a0, a3}}, at, again, 1, 1, 0;" + BOTH,
        "a0",
        None,
    ),
    "of wmma": (
        WMMA,
        "a0",
        "a1",
    ),
}


@pytest.mark.parametrize("name", REPEATED)
def test_a_register_stands_for_two_parts(name: str) -> None:
    body, register, spare = REPEATED[name]
    found = warnings(body)
    assert {one.rule for one in found} == {"repeated-register"}
    assert all(one.span.text == register for one in found)
    assert all(one.related[0].span.text == register and one.related[0].span.start < one.span.start for one in found)
    assert [one.fix and one.fix.replacement for one in found] == [spare] * len(found)


def test_the_repair_is_not_made_unasked() -> None:
    body, *_ = REPEATED["the right factor"]
    (found,) = warnings(body)
    assert found.fix is not None
    assert not found.fix.is_safe
    assert warnings(body.replace("{b0, b0}", "{b0, b1}")) == []


UNREAD: Final = {
    "a neighbour twice": LOADS + mma(A, "b0, b1") + mma(A, "b0, b3", 4),
    "for two rows of tiles": LOADS
    + mma(A, "b0, b1")
    + mma("a3, a2, a1, a0", "b0, b1", 4)
    + mma(A, "b0, b3", 8)
    + mma("a3, a2, a1, a0", "b0, b3", 12),
    "one of two, each product made twice": f"{LOAD}.x2.shared.b16 {{b0, b2}}, [tile];"
    f"{LOAD}.x1.shared.b16 {{b1}}, [tile];" + mma(A, "b0, b1") + mma(A, "b0, b1", 4),
    "both halves": LOADS + mma(A, "b0, b1") + mma(A, "b0, b1", 4),
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_matrix_that_nobody_reads(name: str) -> None:
    (found,) = warnings(UNREAD[name])
    assert (found.rule, found.span.text) == ("unread-matrix", "b2")
    assert found.related[0].span.text == "b0"


SILENT: Final = {
    "each once": LOADS + BOTH,
    "zero": LOADS + mma("a0, z, a2, z", "b0, b1") + mma("a1, z, a3, z", "b2, b3", 4),
    "zero made from another one": LOADS + "mov.b32 a5, z;" + mma("a0, a5, a2, a5", "b0, b1") + mma(A, "b2, b3", 4),
    "ones": LOADS + "mov.b32 a4, 1006648320;" + mma("a4, a4, a4, a4", "b0, b1") + mma(A, "b2, b3", 4),
    "packed ones": LOADS
    + "cvt.rn.f16.f32 h0, 0f3F800000; mov.b32 a4, {h0, h0};"
    + mma("a4, a0, a4, a2", "b0, b1")
    + mma("a4, a1, a4, a3", "b2, b3", 4),
    "what a kernel is given": LOADS + "ld.param.b32 b4, [one];" + mma(A, "b4, b4") + BOTH,
    "a factor split in two": LOADS + "".join(mma(A, f"b{one}, b{one}", 4 * one) for one in range(4)),
    "two halves alike": LOADS + mma("a0, a1, a0, a1", "b0, b1") + mma("a2, a3, a2, a3", "b2, b3", 4),
    "half of a load": LOADS + mma(A, "b0, b1") + mma("a3, a2, a1, a0", "b0, b1", 4),
    "a load that is dropped": LOADS + mma(A, "b0, b1"),
    "read by something else": LOADS + mma(A, "b0, b1") + mma(A, "b0, b3", 4) + "st.shared.b32 [tile], b2;",
    "nothing has been written": mma("a0, a1, a1, a3", "b0, b1"),
    "the sums": LOADS + BOTH + mma(A, "b0, b1").replace("{d0, d1, d2, d3};", "{d0, d0, d0, d1};"),
}


@pytest.mark.parametrize("name", SILENT)
def test_silent(name: str) -> None:
    assert warnings(SILENT[name]) == []
