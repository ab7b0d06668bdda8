// Block-wide algorithms from CUB: sort, scan, reduce, histogram, exchange.
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_merge_sort.cuh>
extern "C" __global__ void __launch_bounds__(64) block_sort(unsigned *keys) {
    using Sort = cub::BlockRadixSort<unsigned, 64, 2>;
    __shared__ typename Sort::TempStorage storage;
    unsigned mine[2] = {keys[threadIdx.x * 2], keys[threadIdx.x * 2 + 1]};
    Sort(storage).Sort(mine, 0, 8);
    keys[threadIdx.x * 2] = mine[0];
    keys[threadIdx.x * 2 + 1] = mine[1];
}
extern "C" __global__ void __launch_bounds__(128) block_scan(const float *in, float *out) {
    using Scan = cub::BlockScan<float, 128>;
    using Reduce = cub::BlockReduce<float, 128>;
    __shared__ union { typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; } storage;
    float value = in[threadIdx.x], total = Reduce(storage.reduce).Sum(value);
    __syncthreads();
    Scan(storage.scan).InclusiveSum(value, value);
    out[threadIdx.x] = value + total;
}
struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };
extern "C" __global__ void warp_sort(int *keys) {
    using Sort = cub::WarpMergeSort<int, 2, 32>;
    __shared__ typename Sort::TempStorage storage;
    int mine[2] = {keys[threadIdx.x], keys[threadIdx.x + 32]};
    Sort(storage).Sort(mine, Less{});
    keys[threadIdx.x] = mine[0];
    keys[threadIdx.x + 32] = mine[1];
}
