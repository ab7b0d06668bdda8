"""What tools say of kernels that use tensor memory wrongly."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from machine.semantics import tensor_kernels
from machine.semantics.tensor_kernels import descriptor, run
from ptxloom.machine.results.outcome import LaunchError

_HEAD = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 8 .b8 slot[8];
    ld.param.u64 %rd1, [out]; mov.u32 %r1, slot; mov.u32 %r2, %tid.x;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;
    ld.shared.u32 %r3, [%r1];
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r3], {%r2};
    tcgen05.wait::st.sync.aligned;
"""
_ALLOCATE = "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 32;"
_FREE = "tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r3, 32;\n"


def told(body: str) -> str:
    """The hazards of a warp that has written one column of 32, of which it frees none."""
    kernel = pl.kernel(pl.parse(f"{_HEAD}{body}\n    ret;\n}}\n"), "k")
    try:
        return str(kernel.launch(1, 32, [np.zeros(64, np.uint32)], timeout=300.0).hazards)
    except LaunchError as error:
        return str(error)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (_FREE, "no hazards"),
        ("", "memcheck.tensor-memory-kept"),
        (_FREE + _FREE, "no allocation of as many columns begins there"),
        (_FREE + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%r3];", "memcheck.out-of-bounds"),
        ("tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r4, %r5}, [%r3+31];" + _FREE, "memcheck.out-of-bounds"),
        ("add.u32 %r4, %r3, 0x200000; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r4], {%r2};" + _FREE, "other-quarter"),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 512;" + _FREE, "480 of 512 columns"),
        (
            f"tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned; {_ALLOCATE}",
            "given up the right to allocate",
        ),
    ],
)
def test_tensor_memory_has_owners(body: str, said: str) -> None:
    assert said in told(body)


_PRODUCT = descriptor("0", 128, 256, "%rd8") + (
    "mov.u32 %r21, {:#x}; setp.eq.u32 %p6, 0, 0; tcgen05.mma.cta_group::1.kind::f16 [%r13], %rd8, %rd8, %r21, %p6;"
)


def test_a_descriptor_that_no_product_has_ends_the_kernel() -> None:
    with pytest.raises(LaunchError, match="N is 0, and has to be a multiple of 8 from 8 to 256"):
        run(_PRODUCT.format(0x8000010), np.zeros(4096, np.uint8), np.zeros((512, 128), np.uint32))


@pytest.mark.parametrize("fenced", [True, False])
def test_what_a_product_reads_has_to_be_fenced(fenced: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not fenced:
        monkeypatch.setattr(tensor_kernels, "_HEAD", tensor_kernels._HEAD.replace("fence.proxy.async;", ""))
    image, before = np.zeros(4096, np.uint8), np.zeros((512, 128), np.uint32)
    _, outcome = run(_PRODUCT.format(0x8020010), image, before, checks=("racecheck", "initcheck"), timeout=600.0)
    assert [hazard.rule for hazard in outcome.hazards] == ([] if fenced else ["racecheck.cross-proxy"])


_COPY = "tcgen05.cp.cta_group::1.128x128b"
_MULTIPLY = "tcgen05.mma.cta_group::1.kind::f16"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("tcgen05.cp.cta_group::1.128x256b [%r22], %rd8;", "write of 32 bytes at lane 0, column 510 of tensor memory"),
        (f"{_COPY} [%r23], %rd8;", "its lanes reach beyond"),
        (f"{_COPY} [%r13], %rd9;", "read of 16 bytes at"),
        (f"{_COPY} [%r13], %rd10;", "names a swizzling mode"),
        ("tcgen05.shift.cta_group::1.down [%r22];", "write of 32 bytes at lane 0, column 510 of tensor memory"),
        ("tcgen05.shift.cta_group::1.down [%r24];", "its lanes reach beyond"),
        (f"{_MULTIPLY} [%r22], %rd8, %rd8, %r21, %p6;", "write of 32 bytes at lane 0, column 510 of tensor memory"),
        (f"{_MULTIPLY} [%r23], %rd8, %rd8, %r21, %p6;", "its lanes reach beyond"),
        (f"{_MULTIPLY} [%r13], %rd9, %rd8, %r21, %p6;", "read of 16 bytes at"),
        (f"{_MULTIPLY} [%r13], [%r22], %rd8, %r21, %p6;", "read of 32 bytes at lane 0, column 510 of tensor memory"),
        (f"{_MULTIPLY} [%r13], %rd10, %rd8, %r21, %p6;", "names a swizzling mode"),
    ],
)
def test_the_lane_is_named_whose_instruction_goes_wrong(
    statement: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = tensor_kernels._HEAD.replace("setp.ne.u32 %p3, %r2, 0;", "setp.ne.u32 %p3, %r2, 5;")
    monkeypatch.setattr(tensor_kernels, "_HEAD", head)
    body = descriptor("0", 128, 256, "%rd8") + descriptor("0x30000", 128, 256, "%rd9")
    body += (
        descriptor("0", 128, 256, "%rd10", mode=3)
        + f"""
    mov.u32 %r21, 0x8020010; setp.eq.u32 %p6, 0, 1; add.u32 %r22, %r13, 510; add.u32 %r23, %r13, 0x200000;
    add.u32 %r24, %r13, 0x80000; {statement}"""
    )
    with pytest.raises(LaunchError) as error:
        run(body, np.zeros(8192, np.uint8), np.zeros((512, 128), np.uint32))
    (hazard,) = error.value.hazards
    assert said in hazard.message
    assert hazard.party.lanes == (5,)
