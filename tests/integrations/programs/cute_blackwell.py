"""The CuTe DSL's products by `tcgen05`: a CTA's own, and one of a pair of CTAs, whose copies tell one barrier."""

from __future__ import annotations

import sys

import cutlass
import numpy as np
from cuda.bindings import driver
from cutlass import cute, memory, pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05
from cutlass.cute.runtime import make_ptr
from cutlass.utils import blackwell_helpers

GROUP = int(sys.argv[1])  # CTAs that make a product
TILE = (128 * GROUP, 128, 64)
STAGES = 3
M, N, K = 2 * TILE[0], 256, 256


@cute.kernel
def product_kernel(
    tma_a: cute.CopyAtom,
    a: cute.Tensor,
    tma_b: cute.CopyAtom,
    b: cute.Tensor,
    c: cute.Tensor,
    product: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
    ctas: cute.Layout,
):
    thread, _, _ = cute.arch.thread_idx()
    across, column, _ = cute.arch.block_idx()
    rank, row = across % GROUP, across // GROUP
    warp = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    space = memory.SmemAllocator()
    barriers, done = space.allocate_array(cutlass.Int64, STAGES * 2), space.allocate_array(cutlass.Int64, 2)
    columns, freed = space.allocate_array(cutlass.Int32, 2), space.allocate_array(cutlass.Int64, 1)
    shared_a = space.allocate_tensor(cutlass.Float16, layout_a.outer, 1024, layout_a.inner)
    shared_b = space.allocate_tensor(cutlass.Float16, layout_b.outer, 1024, layout_b.inner)
    one_stage = cute.size_in_bytes(cutlass.Float16, cute.select(layout_a, mode=[0, 1, 2]))
    one_stage += cute.size_in_bytes(cutlass.Float16, cute.select(layout_b, mode=[0, 1, 2]))
    one, several = (pipeline.CooperativeGroup(pipeline.Agent.Thread, *count) for count in ((), (128 * GROUP,)))
    producer, consumer = pipeline.PipelineTmaUmma.create(
        barrier_storage=barriers,
        num_stages=STAGES,
        producer_group=one,
        consumer_group=one,
        tx_count=one_stage * GROUP,
        cta_layout_vmnk=ctas,
    ).make_participants()
    writer, reader = pipeline.PipelineUmmaAsync.create(
        barrier_storage=done, num_stages=1, producer_group=one, consumer_group=several, cta_layout_vmnk=ctas
    ).make_participants()
    room = memory.TmemAllocator(
        columns,
        barrier_for_retrieve=pipeline.NamedBarrier(barrier_id=1, num_threads=128),
        is_two_cta=GROUP == 2,
        two_cta_tmem_dealloc_mbar_ptr=freed,
    )
    room.allocate(128)
    room.wait_for_alloc()
    tmem = room.retrieve_ptr(cutlass.Float32)
    tile = product.get_slice(rank)
    tile_a = tile.partition_A(cute.local_tile(a, (TILE[0], TILE[2]), (row, None)))
    tile_b = tile.partition_B(cute.local_tile(b, (TILE[1], TILE[2]), (column, None)))
    target = tile.partition_C(cute.local_tile(c, (TILE[0], TILE[1]), (row, column)))
    to_a, from_a = cpasync.tma_partition(
        tma_a, 0, cute.make_layout(1), cute.group_modes(shared_a, 0, 3), cute.group_modes(tile_a, 0, 3)
    )
    to_b, from_b = cpasync.tma_partition(
        tma_b, 0, cute.make_layout(1), cute.group_modes(shared_b, 0, 3), cute.group_modes(tile_b, 0, 3)
    )
    fragment_a, fragment_b = product.make_fragment_A(shared_a), product.make_fragment_B(shared_b)
    sums = cute.make_tensor(tmem, product.make_fragment_C(product.partition_shape_C(TILE[:2])).layout)
    leads = rank == 0
    if warp == 0:
        if leads:
            writer.acquire_and_advance()
        for _ in cutlass.range(cute.size(from_a, mode=[1]), prefetch_stages=STAGES - 2):
            free = producer.acquire_and_advance()
            cute.copy(tma_a, from_a[None, free.count], to_a[None, free.index], tma_bar_ptr=free.barrier)
            cute.copy(tma_b, from_b[None, free.count], to_b[None, free.index], tma_bar_ptr=free.barrier)
            if leads:
                ready = consumer.wait_and_advance()
                for step in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                    at = (None, None, step, ready.index)
                    cute.gemm(product, sums, fragment_a[at], fragment_b[at], sums)
                    product.set(tcgen05.Field.ACCUMULATE, True)
                ready.release()
        if leads:
            writer.commit()
    room.relinquish_alloc_permit()
    finished = reader.wait_and_advance()
    load = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x64), cutlass.Float32)
    part = ((cute.size(sums, mode=[0, 0]), 64),)
    parts, pieces = cute.zipped_divide(sums, part), cute.zipped_divide(target, part)
    copy = tcgen05.make_tmem_copy(load, parts[None, 0])
    source, result = copy.get_slice(thread).partition_S(parts), copy.get_slice(thread).partition_D(pieces)
    registers = cute.make_rmem_tensor(result[None, None, 0].shape, cutlass.Float32)
    for piece in cutlass.range(cute.size(source, mode=[2])):
        cute.copy(copy, source[None, None, piece], registers)
        result[None, None, piece].store(registers.load())
    finished.release()
    if warp == 0:
        producer.tail()
        if leads:
            writer.tail()
    pipeline.sync(barrier_id=1)
    room.free(tmem)


@cute.jit
def product(a: cute.Pointer, b: cute.Pointer, c: cute.Pointer):
    left = cute.make_tensor(a, cute.make_layout((M, K), stride=(K, 1)))
    right = cute.make_tensor(b, cute.make_layout((N, K), stride=(K, 1)))
    into = cute.make_tensor(c, cute.make_layout((M, N), stride=(N, 1)))
    group = tcgen05.CtaGroup.TWO if GROUP == 2 else tcgen05.CtaGroup.ONE
    operation = tcgen05.MmaF16BF16Op(
        cutlass.Float16,
        cutlass.Float32,
        (*TILE[:2], 16),
        group,
        tcgen05.OperandSource.SMEM,
        OperandMajorMode.K,
        OperandMajorMode.K,
    )
    tiled = cute.make_tiled_mma(operation)
    layout_a = blackwell_helpers.make_smem_layout_a(tiled, TILE, cutlass.Float16, STAGES)
    layout_b = blackwell_helpers.make_smem_layout_b(tiled, TILE, cutlass.Float16, STAGES)
    ctas = cute.tiled_divide(cute.make_layout((GROUP, 1, 1)), (tiled.thr_id,))
    load = cpasync.CopyBulkTensorTileG2SOp(group)
    tma_a, tensor_a = cute.nvgpu.make_tiled_tma_atom_A(
        load, left, cute.select(layout_a, mode=[0, 1, 2]), TILE, tiled, ctas.shape
    )
    tma_b, tensor_b = cute.nvgpu.make_tiled_tma_atom_B(
        load, right, cute.select(layout_b, mode=[0, 1, 2]), TILE, tiled, ctas.shape
    )
    product_kernel(tma_a, tensor_a, tma_b, tensor_b, into, tiled, layout_a, layout_b, ctas).launch(
        grid=(M // TILE[0] * GROUP, N // TILE[1], 1), block=(128, 1, 1), cluster=(GROUP, 1, 1)
    )


def done(answer: tuple) -> object:
    """What a function of the driver returns."""
    if int(answer[0]):
        raise RuntimeError(answer[0])
    return answer[1] if len(answer) > 1 else None


done(driver.cuInit(0))
done(driver.cuCtxSetCurrent(done(driver.cuDevicePrimaryCtxRetain(done(driver.cuDeviceGet(0))))))
random = np.random.default_rng(0)
left, right = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((M, K), (N, K)))
out = np.zeros((M, N), np.float32)
places = [done(driver.cuMemAlloc(array.nbytes)) for array in (left, right, out)]
for place, array in zip(places, (left, right, out), strict=True):
    done(driver.cuMemcpyHtoD(place, array.ctypes.data, array.nbytes))
kinds = cutlass.Float16, cutlass.Float16, cutlass.Float32
product(*(make_ptr(kind, int(at), cute.AddressSpace.gmem, assumed_align=32) for kind, at in zip(kinds, places, strict=True)))
done(driver.cuCtxSynchronize())
done(driver.cuMemcpyDtoH(out.ctypes.data, places[2], out.nbytes))
print("group", GROUP, bool((out == left.astype(np.float32) @ right.astype(np.float32).T).all()))
