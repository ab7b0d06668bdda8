// Cooperative groups: tiles, coalesced groups, reductions, scans, grid synchronisation, asynchronous copies.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *in, int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    int value = in[block.thread_rank()];
    out[block.thread_rank()] = cg::reduce(tile, value, cg::plus<int>()) + cg::reduce(warp, value, cg::greater<int>()) + cg::reduce(warp, value, cg::bit_xor<int>());
    out[block.thread_rank() + 256] = cg::inclusive_scan(tile, value) + cg::exclusive_scan(warp, value, cg::less<int>()) + tile.shfl_down(value, 1) + tile.any(value > 3) + warp.match_any(value);
    if (value & 1) {
        cg::coalesced_group active = cg::coalesced_threads();
        out[active.thread_rank() + 512] = active.size() + active.shfl(value, 0) + cg::reduce(active, value, cg::plus<int>());
    }
    auto parts = cg::labeled_partition(warp, value % 3);
    out[block.thread_rank() + 768] = parts.size();
    block.sync();
}
extern "C" __global__ void whole_grid(int *data, int rounds) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < rounds; ++r) {
        int neighbour = data[(grid.thread_rank() + 1) % grid.size()];
        grid.sync();
        data[grid.thread_rank()] += neighbour;
        grid.sync();
    }
}
extern "C" __global__ void copies(const int4 *in, int4 *out) {
    __shared__ __align__(16) int4 stage[128];
    cg::thread_block block = cg::this_thread_block();
    cg::memcpy_async(block, stage, in + blockIdx.x * 128, sizeof(stage));
    cg::wait(block);
    out[blockIdx.x * 128 + threadIdx.x] = stage[127 - threadIdx.x];
}
