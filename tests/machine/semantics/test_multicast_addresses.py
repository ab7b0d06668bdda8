"""`multimem` on one device, whose multicast object has one member: its own memory (PTX ISA 9.7.9.13)."""

from __future__ import annotations

import numpy as np
import pytest

from machine.small_kernels import entry
from ptxloom.machine import LaunchError
from ptxloom.machine.launch.options import CHECKS


@pytest.mark.parametrize(
    ("reduce", "store", "registers"),
    [
        ("relaxed.gpu.global.add.u32", "relaxed.gpu.global.u32", "%r1"),
        ("acquire.sys.global.and.b32", "release.sys.global.b32", "%r1"),
        ("weak.global.add.f32", "weak.global.f32", "%f1"),
        ("global.add.acc::f32.f16x2", "global.f16x2", "%r1"),
        ("min.bf16x2", "bf16x2", "%r1"),
    ],
)
def test_what_is_combined_of_one_member_is_its_value(reduce: str, store: str, registers: str) -> None:
    data = np.random.default_rng(1).integers(0, 1 << 31, 128, dtype=np.uint64).astype(np.uint32)
    wanted = np.concatenate((data[:64], data[:64]))
    body = f"multimem.ld_reduce.{reduce} {registers}, [%rd0]; multimem.st.{store} [%rd0+256], {registers};"
    done = entry(body).launch(1, 64, [data], checks=CHECKS)
    assert data.tolist() == wanted.tolist()
    assert done.hazards == ()


def test_vectors_move_16_bytes() -> None:
    data = np.arange(128, dtype=np.float32)
    body = """mul.wide.u32 %rd2, %r0, 16; add.u64 %rd2, %rd1, %rd2;
    multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2];
    multimem.red.relaxed.sys.global.add.v4.f32 [%rd2], {%f1, %f1, %f1, %f1};
    multimem.st.relaxed.sys.global.v2.f32 [%rd2+8], {%f2, %f1};"""
    entry(body).launch(1, 32, [data], checks=CHECKS)
    first = np.arange(0, 128, 4)
    assert (data.reshape(32, 4) == np.stack([2 * first, 2 * first + 1, first + 1, first], 1)).all()


def test_reductions_of_all_ctas_meet() -> None:
    data = np.zeros(2, np.uint32)
    body = """multimem.red.relaxed.gpu.global.add.u32 [%rd1], 3; multimem.red.release.gpu.global.max.u32 [%rd1+4], %r0;
    multimem.red.async.release.gpu.global.add.u32 [%rd1], %r0;"""
    assert entry(body).launch(8, 64, [data], checks=CHECKS).hazards == ()
    assert data.tolist() == [8 * 64 * 3 + 8 * sum(range(64)), 63]


def test_a_bulk_copy_goes_by_shared_memory() -> None:
    data = np.arange(64, dtype=np.uint32)
    body = """mov.u32 %r1, room; shl.b32 %r2, %r0, 2; add.u32 %r2, %r2, %r1; ld.global.u32 %r3, [%rd0];
    st.shared.u32 [%r2], %r3; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p1, %r0, 0; @%p1 ret;
    multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], 128;
    multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1+128], [%r1], 128;
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"""
    entry(body, before=".shared .align 128 .b8 room[256];").launch(1, 64, [data])
    assert data.tolist() == [2 * n for n in range(32)] + [*range(32)]


def test_a_plain_access_beside_a_reduction_races() -> None:
    data = np.zeros(1, np.uint32)
    done = entry("multimem.red.relaxed.gpu.global.add.u32 [%rd1], 1; st.global.u32 [%rd1], 5;").launch(
        2, 32, [data], checks=["racecheck:global"]
    )
    assert {one.kind for one in done.hazards} <= {"write-after-write", "read-after-write", "write-after-read"}
    assert done.hazards


@pytest.mark.parametrize("statement", ["multimem.ld_reduce.add.u32 %r1, [%rd3];", "multimem.st.u32 [%rd3], %r1;"])
def test_no_other_space_has_multicast_addresses(statement: str) -> None:
    body = f"mov.u64 %rd2, room; cvta.shared.u64 %rd3, %rd2; mov.u32 %r1, 0; {statement}"
    with pytest.raises(LaunchError) as caught:
        entry(body, before=".shared .align 16 .b8 room[16];").launch(1, 1, [np.zeros(1, np.uint32)])
    assert caught.value.hazards[0].kind == "wrong-space"
