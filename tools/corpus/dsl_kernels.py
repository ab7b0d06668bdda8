"""Kernels in the CuTe DSL for the acceptance corpus: elements, rows, and products by mma, wgmma with TMA, and tcgen05.

`python dsl_kernels.py KERNEL TYPE` compiles one; `CUTE_DSL_ARCH`, `CUTE_DSL_KEEP=ptx` and `CUTE_DSL_DUMP_DIR` say for
what and where to. The products' pipelines are meant to compile and to be read, not to be fast.
"""

import sys

import cutlass
from cutlass import cute, memory, pipeline
from cutlass.cute.nvgpu import OperandMajorMode, cpasync, tcgen05, warp, warpgroup
from cutlass.cute.runtime import make_fake_compact_tensor
from cutlass.tensor_utils import LayoutEnum
from cutlass.utils import blackwell_helpers, hopper_helpers


@cute.kernel
def scale_add_kernel(a: cute.Tensor, b: cute.Tensor, factor: cutlass.Float32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    mine_a = cute.local_tile(a, (8,), (block * 128 + thread,))
    mine_b = cute.local_tile(b, (8,), (block * 128 + thread,))
    mine_b.store((mine_a.load().to(cutlass.Float32) * factor + mine_b.load().to(cutlass.Float32)).to(b.element_type))


@cute.jit
def scale_add(a: cute.Tensor, b: cute.Tensor, factor: cutlass.Float32):
    scale_add_kernel(a, b, factor).launch(grid=(cute.size(a) // 1024, 1, 1), block=(128, 1, 1))


@cute.kernel
def row_softmax_kernel(a: cute.Tensor, width: cutlass.Constexpr):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    row = cute.local_tile(a, (1, width // 32), (block, thread))
    values = row.load().to(cutlass.Float32)
    top = values.reduce(cute.ReductionOp.MAX, -cutlass.Float32.inf, reduction_profile=0)
    for step in cutlass.range_constexpr(5):
        top = cutlass.max(top, cute.arch.shuffle_sync_bfly(top, offset=1 << step))
    powers = cute.math.exp(values - top, fastmath=True)
    total = powers.reduce(cute.ReductionOp.ADD, cutlass.Float32(0.0), reduction_profile=0)
    for step in cutlass.range_constexpr(5):
        total += cute.arch.shuffle_sync_bfly(total, offset=1 << step)
    row.store((powers / total).to(a.element_type))


@cute.jit
def row_softmax(a: cute.Tensor):
    row_softmax_kernel(a, 1024).launch(grid=(cute.size(a, mode=[0]), 1, 1), block=(32, 1, 1))


TILE = (128, 128, 32)
STAGES = 3


@cute.kernel
def warp_gemm_kernel(
    a: cute.Tensor,
    b: cute.Tensor,
    c: cute.Tensor,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
    copy: cute.TiledCopy,
    product: cute.TiledMma,
):
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    tile_a = cute.local_tile(a, (TILE[0], TILE[2]), (block_m, None))
    tile_b = cute.local_tile(b, (TILE[1], TILE[2]), (block_n, None))
    tile_c = cute.local_tile(c, (TILE[0], TILE[1]), (block_m, block_n))
    space = memory.SmemAllocator()
    shared_a = space.allocate_tensor(a.element_type, layout_a, 16)
    shared_b = space.allocate_tensor(b.element_type, layout_b, 16)
    mine = copy.get_slice(thread)
    from_a, to_a = mine.partition_S(tile_a), mine.partition_D(shared_a)
    from_b, to_b = mine.partition_S(tile_b), mine.partition_D(shared_b)
    count = cute.size(tile_a, mode=[2])
    for stage in cutlass.range_constexpr(STAGES - 1):
        cute.copy(copy, from_a[None, None, None, stage], to_a[None, None, None, stage])
        cute.copy(copy, from_b[None, None, None, stage], to_b[None, None, None, stage])
        cute.arch.cp_async_commit_group()
    part = product.get_slice(thread)
    fragment_a = product.make_fragment_A(part.partition_A(shared_a[None, None, 0]))
    fragment_b = product.make_fragment_B(part.partition_B(shared_b[None, None, 0]))
    fragment_c = product.make_fragment_C(part.partition_C(tile_c))
    fragment_c.fill(0.0)
    load_a = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), a.element_type)
    load_b = cute.make_copy_atom(warp.LdMatrix8x8x16bOp(False, 4), b.element_type)
    tiled_a, tiled_b = cute.make_tiled_copy_A(load_a, product), cute.make_tiled_copy_B(load_b, product)
    lane_a, lane_b = tiled_a.get_slice(thread), tiled_b.get_slice(thread)
    source_a, source_b = lane_a.partition_S(shared_a), lane_b.partition_S(shared_b)
    view_a, view_b = lane_a.retile(fragment_a), lane_b.retile(fragment_b)
    for k in cutlass.range(count):
        cute.arch.cp_async_wait_group(STAGES - 2)
        cute.arch.barrier()
        stage = k % STAGES
        coming = k + STAGES - 1
        if coming < count:
            cute.copy(copy, from_a[None, None, None, coming], to_a[None, None, None, coming % STAGES])
            cute.copy(copy, from_b[None, None, None, coming], to_b[None, None, None, coming % STAGES])
        cute.arch.cp_async_commit_group()
        for step in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
            cute.copy(tiled_a, source_a[None, None, step, stage], view_a[None, None, step])
            cute.copy(tiled_b, source_b[None, None, step, stage], view_b[None, None, step])
            cute.gemm(product, fragment_c, fragment_a[None, None, step], fragment_b[None, None, step], fragment_c)
    result = part.partition_C(tile_c)
    result.store(fragment_c.load().to(c.element_type))


@cute.jit
def warp_gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    atom = cute.make_composed_layout(cute.make_swizzle(2, 3, 3), 0, cute.make_layout((8, 32), stride=(32, 1)))
    layout_a = cute.tile_to_shape(atom, (TILE[0], TILE[2], STAGES), (0, 1, 2))
    layout_b = cute.tile_to_shape(atom, (TILE[1], TILE[2], STAGES), (0, 1, 2))
    bulk = cute.make_copy_atom(cpasync.CopyG2SOp(), a.element_type, num_bits_per_copy=128)
    copy = cute.make_tiled_copy_tv(bulk, cute.make_layout((32, 4), stride=(4, 1)), cute.make_layout((1, 8)))
    product = cute.make_tiled_mma(
        warp.MmaF16BF16Op(a.element_type, cutlass.Float32, (16, 8, 16)),
        cute.make_layout((2, 2, 1)),
        permutation_mnk=(32, 32, 16),
    )
    grid = (cute.size(a, mode=[0]) // TILE[0], cute.size(b, mode=[0]) // TILE[1], 1)
    warp_gemm_kernel(a, b, c, layout_a, layout_b, copy, product).launch(grid=grid, block=(128, 1, 1))


HOPPER = (128, 128, 64)


@cute.kernel
def hopper_gemm_kernel(
    tma_a: cute.CopyAtom,
    a: cute.Tensor,
    tma_b: cute.CopyAtom,
    b: cute.Tensor,
    c: cute.Tensor,
    product: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
):
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    warp_index = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    space = memory.SmemAllocator()
    barriers = space.allocate_array(cutlass.Int64, STAGES * 2)
    shared_a = space.allocate_tensor(c.element_type, layout_a.outer, 1024, layout_a.inner)
    shared_b = space.allocate_tensor(c.element_type, layout_b.outer, 1024, layout_b.inner)
    one_stage = cute.size_in_bytes(c.element_type, cute.slice_(layout_a, (None, None, 0)))
    one_stage += cute.size_in_bytes(c.element_type, cute.slice_(layout_b, (None, None, 0)))
    pipe = pipeline.PipelineTmaAsync.create(
        barrier_storage=barriers,
        num_stages=STAGES,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, 4),
        tx_count=one_stage,
        cta_layout_vmnk=cute.make_layout((1, 1, 1, 1)),
    )
    tile_a = cute.local_tile(a, (HOPPER[0], HOPPER[2]), (block_m, None))
    tile_b = cute.local_tile(b, (HOPPER[1], HOPPER[2]), (block_n, None))
    tile_c = cute.local_tile(c, (HOPPER[0], HOPPER[1]), (block_m, block_n))
    to_a, from_a = cpasync.tma_partition(
        tma_a, 0, cute.make_layout(1), cute.group_modes(shared_a, 0, 2), cute.group_modes(tile_a, 0, 2)
    )
    to_b, from_b = cpasync.tma_partition(
        tma_b, 0, cute.make_layout(1), cute.group_modes(shared_b, 0, 2), cute.group_modes(tile_b, 0, 2)
    )
    part = product.get_slice(thread)
    fragment_a = product.make_fragment_A(part.partition_A(shared_a))
    fragment_b = product.make_fragment_B(part.partition_B(shared_b))
    target = part.partition_C(tile_c)
    sums = product.make_fragment_C(target.shape)
    count = cute.size(tile_a, mode=[2])
    write = pipeline.make_pipeline_state(pipeline.PipelineUserType.Producer, STAGES)
    read = pipeline.make_pipeline_state(pipeline.PipelineUserType.Consumer, STAGES)
    product.set(warpgroup.Field.ACCUMULATE, False)
    for k in cutlass.range(count + STAGES - 1, unroll=1):
        if warp_index == 0 and k < count:
            pipe.producer_acquire(write)
            bar = pipe.producer_get_barrier(write)
            cute.copy(tma_a, from_a[None, k], to_a[None, write.index], tma_bar_ptr=bar)
            cute.copy(tma_b, from_b[None, k], to_b[None, write.index], tma_bar_ptr=bar)
            pipe.producer_commit(write)
            write.advance()
        if k >= STAGES - 1:
            pipe.consumer_wait(read)
            warpgroup.fence()
            for step in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                at = (None, None, step, read.index)
                cute.gemm(product, sums, fragment_a[at], fragment_b[at], sums)
                product.set(warpgroup.Field.ACCUMULATE, True)
            warpgroup.commit_group()
            warpgroup.wait_group(0)
            pipe.consumer_release(read)
            read.advance()
    target.store(sums.load().to(c.element_type))


@cute.jit
def hopper_gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    major_a, major_b = LayoutEnum.from_tensor(a), LayoutEnum.from_tensor(b)
    product = hopper_helpers.make_trivial_tiled_mma(
        a.element_type,
        b.element_type,
        major_a.sm90_mma_major_mode(),
        major_b.sm90_mma_major_mode(),
        cutlass.Float32,
        (1, 1, 1),
        (64, HOPPER[1]),
    )
    layout_a = hopper_helpers.make_smem_layout_a(major_a, HOPPER, a.element_type, STAGES)
    layout_b = hopper_helpers.make_smem_layout_b(major_b, HOPPER, b.element_type, STAGES)
    load = cpasync.CopyBulkTensorTileG2SOp()
    tma_a, tensor_a = cpasync.make_tiled_tma_atom(
        load, a, cute.slice_(layout_a, (None, None, 0)), (HOPPER[0], HOPPER[2])
    )
    tma_b, tensor_b = cpasync.make_tiled_tma_atom(
        load, b, cute.slice_(layout_b, (None, None, 0)), (HOPPER[1], HOPPER[2])
    )
    grid = (cute.size(a, mode=[0]) // HOPPER[0], cute.size(b, mode=[0]) // HOPPER[1], 1)
    hopper_gemm_kernel(tma_a, tensor_a, tma_b, tensor_b, c, product, layout_a, layout_b).launch(
        grid=grid, block=(128, 1, 1)
    )


BLACKWELL = (128, 128, 64)


@cute.kernel
def blackwell_gemm_kernel(
    tma_a: cute.CopyAtom,
    a: cute.Tensor,
    tma_b: cute.CopyAtom,
    b: cute.Tensor,
    c: cute.Tensor,
    product: cute.TiledMma,
    layout_a: cute.ComposedLayout,
    layout_b: cute.ComposedLayout,
):
    thread, _, _ = cute.arch.thread_idx()
    block_m, block_n, _ = cute.arch.block_idx()
    warp_index = cute.arch.make_warp_uniform(cute.arch.warp_idx())
    space = memory.SmemAllocator()
    barriers = space.allocate_array(cutlass.Int64, STAGES * 2)
    done = space.allocate_array(cutlass.Int64, 2)
    columns = space.allocate_array(cutlass.Int32, 1)
    shared_a = space.allocate_tensor(c.element_type, layout_a.outer, 1024, layout_a.inner)
    shared_b = space.allocate_tensor(c.element_type, layout_b.outer, 1024, layout_b.inner)
    one_stage = cute.size_in_bytes(c.element_type, cute.select(layout_a, mode=[0, 1, 2]))
    one_stage += cute.size_in_bytes(c.element_type, cute.select(layout_b, mode=[0, 1, 2]))
    producer, consumer = pipeline.PipelineTmaUmma.create(
        barrier_storage=barriers,
        num_stages=STAGES,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        tx_count=one_stage,
    ).make_participants()
    writer, reader = pipeline.PipelineUmmaAsync.create(
        barrier_storage=done,
        num_stages=1,
        producer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread),
        consumer_group=pipeline.CooperativeGroup(pipeline.Agent.Thread, 128),
    ).make_participants()
    if warp_index == 0:
        cute.arch.alloc_tmem(128, columns)
    cute.arch.barrier()
    tmem = cute.arch.retrieve_tmem_ptr(cutlass.Float32, 16, columns)
    tile = product.get_slice(0)
    tile_a = tile.partition_A(cute.local_tile(a, (BLACKWELL[0], BLACKWELL[2]), (block_m, None)))
    tile_b = tile.partition_B(cute.local_tile(b, (BLACKWELL[1], BLACKWELL[2]), (block_n, None)))
    target = tile.partition_C(cute.local_tile(c, (BLACKWELL[0], BLACKWELL[1]), (block_m, block_n)))
    to_a, from_a = cpasync.tma_partition(
        tma_a, 0, cute.make_layout(1), cute.group_modes(shared_a, 0, 3), cute.group_modes(tile_a, 0, 3)
    )
    to_b, from_b = cpasync.tma_partition(
        tma_b, 0, cute.make_layout(1), cute.group_modes(shared_b, 0, 3), cute.group_modes(tile_b, 0, 3)
    )
    fragment_a, fragment_b = product.make_fragment_A(shared_a), product.make_fragment_B(shared_b)
    shape = product.partition_shape_C(BLACKWELL[:2])
    sums = cute.make_tensor(tmem, product.make_fragment_C(shape).layout)
    count = cute.size(from_a, mode=[1])
    if warp_index == 0:
        full = writer.acquire_and_advance()
        for k in cutlass.range(count, prefetch_stages=STAGES - 2):
            free = producer.acquire_and_advance()
            cute.copy(tma_a, from_a[None, free.count], to_a[None, free.index], tma_bar_ptr=free.barrier)
            cute.copy(tma_b, from_b[None, free.count], to_b[None, free.index], tma_bar_ptr=free.barrier)
            ready = consumer.wait_and_advance()
            for step in cutlass.range_constexpr(cute.size(fragment_a, mode=[2])):
                at = (None, None, step, ready.index)
                cute.gemm(product, sums, fragment_a[at], fragment_b[at], sums)
                product.set(tcgen05.Field.ACCUMULATE, True)
            ready.release()
        full.commit()
    finished = reader.wait_and_advance()
    load = cute.make_copy_atom(tcgen05.Ld32x32bOp(tcgen05.Repetition.x64), cutlass.Float32)
    parts = cute.zipped_divide(sums, ((BLACKWELL[0], 64),))
    pieces = cute.zipped_divide(target, ((BLACKWELL[0], 64),))
    copy = tcgen05.make_tmem_copy(load, parts[None, 0])
    lane = copy.get_slice(thread)
    source, result = lane.partition_S(parts), lane.partition_D(pieces)
    registers = cute.make_rmem_tensor(result[None, None, 0].shape, cutlass.Float32)
    for piece in cutlass.range(cute.size(source, mode=[2])):
        cute.copy(copy, source[None, None, piece], registers)
        result[None, None, piece].store(registers.load().to(c.element_type))
    finished.release()
    cute.arch.barrier()
    if warp_index == 0:
        cute.arch.dealloc_tmem(tmem, 128)


@cute.jit
def blackwell_gemm(a: cute.Tensor, b: cute.Tensor, c: cute.Tensor):
    operation = tcgen05.MmaF16BF16Op(
        a.element_type,
        cutlass.Float32,
        (128, 128, 16),
        tcgen05.CtaGroup.ONE,
        tcgen05.OperandSource.SMEM,
        OperandMajorMode.K,
        OperandMajorMode.K,
    )
    product = cute.make_tiled_mma(operation)
    layout_a = blackwell_helpers.make_smem_layout_a(product, BLACKWELL, a.element_type, STAGES)
    layout_b = blackwell_helpers.make_smem_layout_b(product, BLACKWELL, b.element_type, STAGES)
    load = cpasync.CopyBulkTensorTileG2SOp(tcgen05.CtaGroup.ONE)
    tma_a, tensor_a = cute.nvgpu.make_tiled_tma_atom_A(
        load, a, cute.select(layout_a, mode=[0, 1, 2]), BLACKWELL, product
    )
    tma_b, tensor_b = cute.nvgpu.make_tiled_tma_atom_B(
        load, b, cute.select(layout_b, mode=[0, 1, 2]), BLACKWELL, product
    )
    grid = (cute.size(a, mode=[0]) // BLACKWELL[0], cute.size(b, mode=[0]) // BLACKWELL[1], 1)
    blackwell_gemm_kernel(tma_a, tensor_a, tma_b, tensor_b, c, product, layout_a, layout_b).launch(
        grid=grid, block=(128, 1, 1)
    )


def tensor(dtype, *shape):
    return make_fake_compact_tensor(dtype, shape, stride_order=tuple(range(len(shape)))[::-1], assumed_align=16)


if __name__ == "__main__":
    name, dtype = sys.argv[1], getattr(cutlass, sys.argv[2])
    match name:
        case "scale_add":
            cute.compile(scale_add, tensor(dtype, 65536), tensor(dtype, 65536), cutlass.Float32(2))
        case "row_softmax":
            cute.compile(row_softmax, tensor(dtype, 512, 1024))
        case "hopper_gemm":
            cute.compile(hopper_gemm, tensor(dtype, 256, 320), tensor(dtype, 128, 320), tensor(dtype, 256, 128))
        case _:
            function = {"warp_gemm": warp_gemm, "blackwell_gemm": blackwell_gemm}[name]
            cute.compile(function, tensor(dtype, 512, 256), tensor(dtype, 512, 256), tensor(dtype, 512, 512))
