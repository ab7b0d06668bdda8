"""Kernels around one `tcgen05.mma`: an image of shared memory, words of tensor memory before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import ptxloom as pl

if TYPE_CHECKING:
    from numpy.typing import NDArray

_HEAD = """
.version 9.0
.target {target}
.address_size 64
.extern .shared .align 1024 .b8 image[];
.visible .entry kernel(.param .u64 bytes, .param .u64 before, .param .u64 after, .param .u32 size)
{{
    .reg .pred %p<8>;
    .reg .b32 %r<32>;
    .reg .b64 %rd<32>;
    .reg .b32 %w<32>;
    .shared .align 16 .b8 slot[16];
    .shared .align 8 .b64 barrier;
    ld.param.u64 %rd1, [bytes];
    ld.param.u64 %rd2, [before];
    ld.param.u64 %rd3, [after];
    ld.param.u32 %r1, [size];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, image;
    shl.b32 %r4, %r2, 4;
fill:
    setp.ge.u32 %p1, %r4, %r1;
    @%p1 bra filled;
    cvt.u64.u32 %rd4, %r4;
    add.u64 %rd4, %rd1, %rd4;
    ld.global.v4.u32 {{%r5, %r6, %r7, %r8}}, [%rd4];
    add.u32 %r9, %r3, %r4;
    st.shared.v4.u32 [%r9], {{%r5, %r6, %r7, %r8}};
    add.u32 %r4, %r4, 2048;
    bra fill;
filled:
    shr.u32 %r10, %r2, 5;
    setp.ne.u32 %p2, %r10, 0;
    mov.u32 %r11, slot;
    @%p2 bra allocated;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r11], 512;
    tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
allocated:
    mov.u32 %r12, barrier;
    setp.ne.u32 %p3, %r2, 0;
    @!%p3 mbarrier.init.shared.b64 [%r12], 1;
    fence.proxy.async;
    bar.sync 0;
    ld.shared.u32 %r13, [slot];
    shl.b32 %r14, %r10, 21;
    add.u32 %r14, %r14, %r13;
    mul.wide.u32 %rd5, %r2, 4;
    add.u64 %rd6, %rd2, %rd5;
    add.u64 %rd7, %rd3, %rd5;
    mov.u32 %r15, 0;
put:
    ld.global.u32 %r16, [%rd6];
    tcgen05.st.sync.aligned.32x32b.x1.b32 [%r14], {{%r16}};
    add.u64 %rd6, %rd6, 512;
    add.u32 %r14, %r14, 1;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p4, %r15, 512;
    @%p4 bra put;
    tcgen05.wait::st.sync.aligned;
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    tcgen05.fence::after_thread_sync;
    @%p3 bra issued;
"""
_TAIL = """
    tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r12];
issued:
wait:
    mbarrier.try_wait.parity.shared.b64 %p5, [%r12], 0;
    @!%p5 bra wait;
    tcgen05.fence::after_thread_sync;
    sub.u32 %r14, %r14, 512;
    mov.u32 %r15, 0;
get:
    tcgen05.ld.sync.aligned.32x32b.x1.b32 {{%r16}}, [%r14];
    tcgen05.wait::ld.sync.aligned;
    st.global.u32 [%rd7], %r16;
    add.u64 %rd7, %rd7, 512;
    add.u32 %r14, %r14, 1;
    add.u32 %r15, %r15, 1;
    setp.lt.u32 %p4, %r15, 512;
    @%p4 bra get;
    tcgen05.fence::before_thread_sync;
    bar.sync 0;
    @%p2 bra done;
    tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r13, 512;
done:
    ret;
}}
"""


def run(
    body: str, image: NDArray[Any], before: NDArray[np.uint32], target: str = "sm_100a", **asked: Any
) -> tuple[NDArray[np.uint32], Any]:
    """What tensor memory holds, `[column][lane]`, after statements that one thread executes, and the outcome.

    Args:
        body: The statements; `%r3` is where the image starts in shared memory, `%r13` where tensor memory does.
        image: Bytes of shared memory.
        before: What tensor memory holds, `(512, 128)`.
        target: For whom.
        asked: Options of the launch.
    """
    text = (_HEAD + body.replace("{", "{{").replace("}", "}}") + _TAIL).format(target=target)
    kernel = pl.kernel(pl.parse(text), "kernel")
    after = np.zeros((512, 128), np.uint32)
    flat = np.ascontiguousarray(image).view(np.uint8).ravel()
    flat = np.concatenate([flat, np.zeros(-flat.size % 16, np.uint8)])
    args = [flat, np.ascontiguousarray(before), after, flat.size]
    outcome = kernel.launch(1, 128, args, shared_bytes=flat.size, **asked)
    return after, outcome


def run_pair(
    body: str, images: NDArray[Any], before: NDArray[np.uint32], target: str = "sm_100a", **asked: Any
) -> tuple[NDArray[np.uint32], Any]:
    """The same for a pair of CTAs: images `(2, bytes)`, tensor memory `(2, 512, 128)`; the first executes `body`."""
    head, tail = (part.replace("cta_group::1", "cta_group::2") for part in (_HEAD, _TAIL))
    head = head.replace("    shl.b32 %r4, %r2, 4;", _OF_RANK, 1)
    meet = "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n"
    head = head.replace(
        "    tcgen05.fence::after_thread_sync;\n    @%p3", f"    tcgen05.fence::after_thread_sync;\n{meet}    @%p3"
    )
    head = head.replace("@%p3 bra issued;", "setp.ne.u32 %p3, %r30, 0; @%p3 bra issued;")
    commit = "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
    tail = tail.replace(f"{commit}.b64 [%r12];", f"mov.u16 %h1, 3; {commit}.multicast::cluster.b64 [%r12], %h1;")
    tail = tail.replace("done:\n", f"done:\n{meet}")
    return _in_cluster(head + body.replace("{", "{{").replace("}", "}}") + tail, images, before, target, asked)


def run_each(
    body: str, images: NDArray[Any], before: NDArray[np.uint32], target: str = "sm_100a", **asked: Any
) -> tuple[NDArray[np.uint32], Any]:
    """The same for CTAs of a cluster that are no pairs, one for each image: each executes `body` for itself."""
    head = _HEAD.replace("    shl.b32 %r4, %r2, 4;", _OF_RANK, 1)
    return _in_cluster(head + body.replace("{", "{{").replace("}", "}}") + _TAIL, images, before, target, asked)


def _in_cluster(
    text: str, images: NDArray[Any], before: NDArray[np.uint32], target: str, asked: dict[str, Any]
) -> tuple[NDArray[np.uint32], Any]:
    kernel = pl.kernel(pl.parse(text.format(target=target)), "kernel")
    after = np.zeros((len(images), 512, 128), np.uint32)
    flat = np.ascontiguousarray(images)
    ctas, size = flat.shape
    args = [flat, np.ascontiguousarray(before), after, size]
    return after, kernel.launch(ctas, 128, args, cluster=ctas, shared_bytes=size, **asked)


_OF_RANK = """    .reg .b16 %h<2>;
    mov.u32 %r29, %cluster_ctarank;
    mul.wide.u32 %rd28, %r29, %r1;
    add.u64 %rd1, %rd1, %rd28;
    mul.wide.u32 %rd28, %r29, 262144;
    add.u64 %rd2, %rd2, %rd28;
    add.u64 %rd3, %rd3, %rd28;
    or.b32 %r30, %r29, %r2;
    shl.b32 %r4, %r2, 4;"""


def lines(matrix: NDArray[Any]) -> NDArray[np.uint8]:
    """A matrix stored along k as core matrices without a swizzle: leading offset 128 bytes, stride as `stride_of`."""
    rows = np.ascontiguousarray(matrix).view(np.uint8)
    count, width = rows.shape
    return rows.reshape(count // 8, 8, width // 16, 16).transpose(0, 2, 1, 3).reshape(-1).copy()


def stride_of(matrix: NDArray[Any]) -> int:
    """The bytes from one group of eight rows of it to the next."""
    return 8 * np.ascontiguousarray(matrix).view(np.uint8).shape[1]


def descriptor(start: str, leading: int, stride: int, into: str, mode: int = 0) -> str:
    """Statements that make a version-1 descriptor of what starts `start` bytes behind the image, in a register."""
    rest = (leading >> 4) << 16 | (stride >> 4) << 32 | 1 << 46 | mode << 61
    return f"""
    add.u32 %r20, %r3, {start};
    shr.u32 %r20, %r20, 4;
    cvt.u64.u32 %rd20, %r20;
    or.b64 {into}, %rd20, {rest:#x};
"""
