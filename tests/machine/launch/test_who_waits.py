"""What is said of kernels for pairs of CTAs in which one waits for what never comes."""

from __future__ import annotations

import numpy as np
import pytest

import ptxloom as pl
from ptxloom.machine.results.outcome import LaunchError

_HEAD = """.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
    .shared .align 8 .b64 bar;
    .shared .align 8 .b64 other;
    .shared .align 8 .b32 slot;
    mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, bar;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; and.pred %p2, %p1, %p2;
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
"""
_ALLOC = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;"


def told(body: str) -> list[str]:
    """What is said of the warps of two CTAs that are a pair, a warp each."""
    kernel = pl.kernel(pl.parse(f"{_HEAD}{body}\n    ret;\n}}\n"), "k")
    with pytest.raises(LaunchError) as raised:
        kernel.launch(2, 32, [np.zeros(64, np.uint32)], cluster=2, timeout=20.0)
    return [hazard.message for hazard in raised.value.hazards]


def line(body: str, wanted: str) -> int:
    """The line of a statement."""
    return next(n for n, text in enumerate(f"{_HEAD}{body}".splitlines(), 1) if wanted in text)


def test_a_commit_that_does_not_reach_the_peer_is_told() -> None:
    body = """    @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r3];
    @%p3 mbarrier.arrive.shared.b64 _, [other];
W:  mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;
    @!%p3 bra W;"""
    body = f"    setp.ne.u32 %p3, 0, 0;\n{body}"
    (said,) = told(body)
    where = line(body, "commit")
    assert f"its phase 0 lacks 1 of 1 arrivals (arrivals could come from line {where})" in said


def test_an_allocation_that_the_peer_does_not_make_is_told() -> None:
    body = f"    setp.eq.u32 %p3, %r2, 0;\n    @!%p3 bra D;\n    {_ALLOC}\nD:"
    (said,) = told(body)
    assert "CTA 1 of the pair has not come to allocate" in said
