"""Reports on kernels for pairs of CTAs in which one waits for what never comes."""

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
    .shared .align 128 .b8 room[128];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, bar;
    setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, 0; and.pred %p2, %p1, %p2;
    @%p1 mbarrier.init.shared.b64 [bar], 1;
    barrier.cluster.arrive; barrier.cluster.wait;
"""
_ALLOC = "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [slot], 64;"


def blamed(body: str, phrase: str) -> int:
    """Of which of two CTAs of a cluster, a warp each, that is said, and nothing else.

    The kernel waits until it is ended: after a second, and if a busy machine has not come as far, after twenty.
    """
    kernel = pl.kernel(pl.parse(f"{_HEAD}{body}\n    ret;\n}}\n"), "k")
    said: list[tuple[str, int]] = []
    for seconds in (1.0, 20.0):
        with pytest.raises(LaunchError) as raised:
            kernel.launch(2, 32, [np.zeros(64, np.uint32)], cluster=2, timeout=seconds)
        said = [(hazard.message, hazard.block[0]) for hazard in raised.value.hazards]
        if any(phrase in message for message, _ in said):
            break
    ((message, cta),) = said
    assert phrase in message
    return cta


def line(body: str, wanted: str) -> int:
    """The line of a statement."""
    return next(n for n, text in enumerate(f"{_HEAD}{body}".splitlines(), 1) if wanted in text)


def test_a_commit_that_does_not_reach_the_peer_is_told() -> None:
    body = """    @%p2 tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%r3];
    @%p3 mbarrier.arrive.shared.b64 _, [other];
W:  mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;
    @!%p3 bra W;"""
    body = f"    setp.ne.u32 %p3, 0, 0;\n{body}"
    where = line(body, "commit")
    blamed(body, f"its phase 0 lacks 1 of 1 arrivals (arrivals could come from line {where})")


def test_an_allocation_that_the_peer_does_not_make_is_told() -> None:
    body = f"    setp.eq.u32 %p3, %r2, 0;\n    @!%p3 bra D;\n    {_ALLOC}\nD:"
    blamed(body, "CTA 1 of the pair has not come to allocate")


_WAIT = """
W:  mbarrier.try_wait.parity.shared.b64 %p3, [bar], {phase};
    @!%p3 bra W;"""


@pytest.mark.parametrize(
    ("body", "phase", "lacks", "who", "source"),
    [
        (  # a copy brings half of the bytes that were announced
            """    ld.param.u64 %rd1, [out]; mov.u32 %r4, room; @%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;
    @%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd1], 32, [%r3];
    setp.ne.u32 %p1, %r2, 0; @%p1 ret;""",
            0, "32 bytes (bytes", 0, "cp.async.bulk",
        ),
        (  # the first CTA arrives at its own mbarrier in place of the peer's
            "    mapa.shared::cluster.u32 %r5, %r3, 0; @%p2 mbarrier.arrive.shared::cluster.b64 _, [%r5];",
            0, "1 of 1 arrivals (arrivals", 1, "mbarrier.arrive",
        ),
        (  # both wait for a phase that has not begun
            "    setp.ne.u32 %p3, %r2, 0; @%p3 ret; @%p1 mbarrier.arrive.shared.b64 _, [bar];",
            1, "1 of 1 arrivals (arrivals", 0, "mbarrier.arrive",
        ),
    ],
    ids=["bytes", "arrivals", "phase"],
)  # fmt: skip
def test_what_a_phase_lacks_is_told_of_the_cta_that_waits(
    body: str, phase: int, lacks: str, who: int, source: str
) -> None:
    body = f"{body}{_WAIT.format(phase=phase)}"
    assert blamed(body, f"its phase {phase} lacks {lacks} could come from line {line(body, source)})") == who
