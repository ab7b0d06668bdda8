"""What reaches into a cluster's shared memory, one kernel each, for launches without clusters and with clusters of one.

The recorder (`tools/record/clusters.py`) and the replay both take their kernels from here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

RECORDING: Final = Path(__file__).parent / "clusters.json"
HEADS: Final = {"none": "", "one": " .reqnctapercluster 1"}
THREADS: Final = 32
ILLEGAL: Final = "illegal instruction"

_KERNEL: Final = """.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 out){head}
{{
    .shared .align 16 .b8 there[128]; .shared .align 16 .b8 here[128]; .shared .align 8 .b64 bar;
    .reg .b32 t, own, at, value, given, to, mb, rank, far; .reg .pred first, ready; .reg .b64 o, given_by, state;
    .reg .b16 ctas;
    mov.u32 t, %tid.x; mov.u32 rank, %cluster_ctarank; setp.eq.u32 first, t, 0; mov.u16 ctas, 1;
    mov.u32 given, here; mov.u32 to, there; mov.u32 mb, bar; ld.param.u64 o, [out];
    mad.lo.u32 at, t, 4, given; add.u32 value, t, 100; st.shared.u32 [at], value;
    mad.lo.u32 own, t, 4, to; st.shared.u32 [own], t;
    @first mbarrier.init.shared.b64 [mb], 1; fence.proxy.async; bar.sync 0;
    mapa.shared::cluster.u32 far, mb, rank; mapa.shared::cluster.u32 to, to, rank;
{body}
    bar.sync 0; fence.proxy.async; ld.shared.u32 value, [own];
    mul.wide.u32 state, t, 4; add.u64 o, o, state; st.global.u32 [o], value;
    ret;
}}
"""
_EXPECT: Final = "@first mbarrier.arrive.expect_tx.shared.b64 state, [mb], {bytes}; bar.sync 0;\n"
_WAIT: Final = "\nWAIT: mbarrier.try_wait.parity.shared.b64 ready, [mb], 0; @!ready bra WAIT;"
_TELLS: Final = "mbarrier::complete_tx::bytes"
_REDUCTIONS: Final = ("add.u32", "min.s32", "inc.u32", "xor.b32", "add.u64")
_TOLD: Final = {  # what tells an mbarrier of its bytes, and of how many
    f"cp.async.bulk.shared::cluster.global.{_TELLS} [to], [o], 16, [far];": 16,
    f"cp.async.bulk.shared::cluster.global.{_TELLS}.multicast::cluster [to], [o], 16, [mb], ctas;": 16,
    f"cp.async.bulk.shared::cluster.shared::cta.{_TELLS} [to], [given], 16, [far];": 16,
    **{
        f"cp.reduce.async.bulk.shared::cluster.shared::cta.{_TELLS}.{r} [to], [given], 16, [far];": 16
        for r in _REDUCTIONS
    },
    f"st.async.shared::cluster.{_TELLS}.u32 [to], 7, [far];": 4,
    f"st.async.shared::cluster.{_TELLS}.v2.b32 [to], {{7, 8}}, [far];": 8,
    f"red.async.relaxed.cluster.shared::cluster.{_TELLS}.add.u32 [to], 7, [far];": 4,
    f"red.async.relaxed.cluster.shared::cluster.{_TELLS}.or.b32 [to], 7, [far];": 4,
}
_OTHER: Final = (
    "ld.shared::cluster.u32 value, [to]; add.u32 value, value, 1000; st.shared.u32 [own], value;",
    "st.shared::cluster.u32 [to], 5;",
    "atom.shared::cluster.add.u32 value, [to], 5;",
    "red.shared::cluster.add.u32 [to], 5;",
    "@first mbarrier.arrive.release.cluster.shared::cluster.b64 _, [far];" + _WAIT,
    "barrier.cluster.arrive; barrier.cluster.wait;",
    "getctarank.shared::cluster.u32 value, to; st.shared.u32 [own], value;",
    "mov.pred ready, %is_explicit_cluster; selp.u32 value, 1, 0, ready; st.shared.u32 [own], value;",
)
BODIES: Final = {
    **{text: f"{_EXPECT.format(bytes=size)}@first {text}{_WAIT}" for text, size in _TOLD.items()},
    **{text: text for text in _OTHER},
}


def kernel(body: str, head: str) -> str:
    """A module whose kernel `k` stores what a word of shared memory for each of its threads holds in the end."""
    return _KERNEL.format(head=HEADS[head], body=BODIES[body])
