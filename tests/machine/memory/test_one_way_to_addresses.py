"""A generic address where `.shared` is named ends every kernel alike, and the report says what was to be done there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.codegen import addresses

HEAD = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .f32 %f<12>; .reg .b64 %rd<8>; .reg .b16 %h<2>;
  .shared .align 128 .b8 tile[1024]; .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [out]; cvta.shared.u64 %rd2, tile; mov.b32 %r1, 16; mov.b16 %h1, 1;
"""
BULK = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
# What is tried, and what memcheck calls it.
CASES = {
    "ld.shared.v2.u32 {%r2, %r3}, [%rd2];": "read of 8 bytes",
    "st.shared.u32 [%rd2], %r1;": "write of 4 bytes",
    "atom.shared.add.u64 %rd3, [%rd2], 1;": "write of 8 bytes",
    "red.shared.add.u32 [%rd2], 1;": "write of 4 bytes",
    "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%rd2];": "read of 16 bytes",
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd2], {%r2};": "write of 16 bytes",
    "mbarrier.init.shared.b64 [%rd2], 1;": "write of 8 bytes",
    "cp.async.cg.shared.global [%rd2], [%rd1], 16;": "write of 16 bytes",
    "cp.async.mbarrier.arrive.shared.b64 [%rd2];": "write of 8 bytes",
    f"{BULK} [%rd2], [%rd1], %r1, [bar];": "write of 16 bytes",
    f"{BULK} [tile], [%rd1], 16, [%rd2];": "write of 8 bytes",
    "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%rd2], 32;": "read of 32 bytes",
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%rd2], 16;": "read of 16 bytes",
    "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {%r1}], [%rd2];": "read",
    "wmma.load.a.sync.aligned.row.m8n32k16.shared.s8 {%r2}, [%rd2];": "read of 4 bytes",
    "wmma.store.d.sync.aligned.row.m8n32k16.shared.s32 [%rd2], {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9};": "write of 4 bytes",
    "tensormap.replace.tile.rank.shared::cta.b1024.b32 [%rd2], 1;": "write of 128 bytes",
    "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%rd2], [bar];":
        "write of 16 bytes",
}  # fmt: skip


@pytest.mark.parametrize(("text", "called"), CASES.items())
def test_a_generic_address_is_refused_wherever_a_space_is_named(text: str, called: str) -> None:
    target = "sm_100a" if text.startswith("cluster") else "sm_90a"
    module = pl.parse(HEAD.replace("sm_90a", target) + f"  {text}\n  ret;\n}}\n")
    with pytest.raises(pl.LaunchError) as caught:
        pl.kernel(module, "k").launch(1, 32, [np.zeros(64, np.uint32)])
    [hazard] = caught.value.hazards
    assert hazard.rule == "memcheck.wrong-space"
    assert hazard.message.startswith(f"{called} at ")
    assert "generic address" in hazard.message
    assert "wants one within shared memory" in hazard.message


@pytest.mark.parametrize("lane", [0, 3, 14, 31])
def test_the_size_that_is_said_is_that_of_the_first_lane_at_fault(lane: int) -> None:
    body = f"""  .reg .pred %p; mov.u32 %r2, %tid.x; setp.ne.u32 %p, %r2, {lane};
  cvt.u32.u64 %r3, %rd2; cvt.u64.u32 %rd3, %r3;
  selp.b64 %rd4, %rd3, %rd2, %p; mad.lo.u32 %r1, %r2, 16, 16;
  cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%rd4], %r1;
  ret;
}}
"""
    with pytest.raises(pl.LaunchError) as caught:
        pl.kernel(pl.parse(HEAD + body), "k").launch(1, 32, [np.zeros(128, np.uint32)])
    [hazard] = caught.value.hazards
    assert hazard.rule == "memcheck.wrong-space"
    assert hazard.message.startswith(f"read of {16 * (lane + 1)} bytes at ")


def test_only_one_function_looks_at_the_window() -> None:
    folder = Path(addresses.__file__).parents[1]
    files = [*(folder / "codegen").glob("*.py"), *(folder / "semantics").rglob("*.py")]
    found = {path.name for path in files if "WRONG_SPACE" in path.read_text(encoding="utf-8")}
    assert found == {"addresses.py"}
