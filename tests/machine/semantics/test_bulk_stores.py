"""`st.bulk` sets a region of shared memory to zero, which all tools receive (PTX ISA 9.7.9.13; not run on silicon)."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.launch.options import CHECKS

_KERNEL = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 size) {{
  .reg .pred p<4>; .reg .b32 r<8>; .reg .b64 d<8>;
  .shared .align 16 .b8 room[512];
  mov.u32 r0, %tid.x; ld.param.u64 d0, [out]; ld.param.u64 d3, [size]; cvt.u32.u64 r3, d3; setp.eq.u32 p0, r0, 0;
  mul.wide.u32 d1, r0, 4; mov.u64 d2, room; add.u64 d4, d2, d1; add.u64 d0, d0, d1; cvta.shared.u64 d5, d2;
  {body}
  bar.sync 0;
  ld.shared.u32 r1, [d4]; st.global.u32 [d0], r1; ret;
}}
"""
_FILL = "st.shared.u32 [d4], -1; bar.sync 0;"


def launched(body: str, size: int, checks: tuple[str, ...] = CHECKS) -> tuple[list[int], list[str]]:
    """The words of shared memory after all, and the hazards."""
    out = np.zeros(128, np.uint32)
    done = pl.kernel(pl.parse(_KERNEL.format(body=body)), "k").launch(1, 128, [out, size], checks=checks)
    return [int(word) for word in out], [hazard.rule for hazard in done.hazards]


@pytest.mark.parametrize(
    "statement",
    [
        "@p0 st.bulk.weak.shared::cta [d2+16], d3, 0;",
        "@p0 st.bulk.shared::cta [d2+16], r3, 0;",
        "@p0 st.bulk [d5+16], d3, 0;",
        "@p0 st.bulk.weak [d5+16], r3, 0;",
    ],
)
@pytest.mark.parametrize("size", [0, 8, 64, 496])
def test_a_region_becomes_zero(statement: str, size: int) -> None:
    words, hazards = launched(f"{_FILL} {statement}", size)
    wanted = np.full(512, 255, np.uint8)
    wanted[16 : 16 + size] = 0
    assert words == wanted.view(np.uint32).tolist()
    assert hazards == []


def test_what_is_set_is_written() -> None:
    assert launched("@p0 st.bulk.shared::cta [d2], d3, 0;", 512) == ([0] * 128, [])
    words, hazards = launched("@p0 st.bulk.shared::cta [d2], d3, 0;", 504)
    assert words == [0] * 128
    assert hazards == ["initcheck.uninitialised"] * len(hazards) != []


def test_lanes_may_set_the_same_to_zero_and_nothing_else() -> None:
    assert launched("st.bulk.shared::cta [d2], d3, 0;", 512) == ([0] * 128, [])
    body = f"{_FILL} setp.eq.u32 p1, r0, 64; @p0 st.bulk.shared::cta [d2], d3, 0; @p1 st.shared.u32 [d2+508], 7;"
    assert launched(body, 512)[1] == ["racecheck.write-after-write"]
    body = f"{_FILL} setp.eq.u32 p1, r0, 64; @p1 ld.shared.u32 r2, [d2+508]; @p0 st.bulk.shared::cta [d2], d3, 0;"
    assert launched(body, 512)[1] in (["racecheck.write-after-read"], ["racecheck.read-after-write"])
    body = f"{_FILL} setp.eq.u32 p1, r0, 64; @p1 ld.shared.u32 r2, [d2+508]; bar.sync 0;"
    body += " @p0 st.bulk.shared::cta [d2], d3, 0;"
    assert launched(body, 512)[1] == []


@pytest.mark.parametrize(
    ("statement", "size", "rule"),
    [
        ("@p0 st.bulk.shared::cta [d2], d3, 0;", 12, "memcheck.invalid"),
        ("@p0 st.bulk.shared::cta [d2], d3, 0;", (1 << 24) + 8, "memcheck.invalid"),
        ("@p0 st.bulk.shared::cta [d2], d3, 0;", 1 << 32, "memcheck.invalid"),
        ("@p0 st.bulk.shared::cta [d2+16], d3, 0;", 512, "memcheck.out-of-bounds"),
        ("@p0 st.bulk [d0], d3, 0;", 64, "memcheck.wrong-space"),
    ],
)
def test_what_is_no_region_ends_the_kernel(statement: str, size: int, rule: str) -> None:
    with pytest.raises(pl.LaunchError) as caught:
        launched(statement, size, ("memcheck",))
    assert caught.value.hazards[0].rule == rule


def test_the_profile_counts_its_bytes() -> None:
    out = np.zeros(128, np.uint32)
    text = _KERNEL.format(body=f"{_FILL} @p0 st.bulk.shared::cta [d2], d3, 0;")
    done = pl.kernel(pl.parse(text), "k").launch(1, 128, [out, 256], profile=True)
    assert done.profile is not None
    (row,) = [row for row in done.profile.rows if "st.bulk" in row.instruction]
    assert (row.counts.bulk_global_bytes, row.counts.bulk_shared_bytes) == (0, 256)
