// The sum of n floats: a warp shuffle tree, shared memory between the warps, one partial sum a block.
//
// Launch: grid (any), block a multiple of 32 up to 1024. `partial` holds one float a block, in a fixed order, so the
// result is the same in every run; the host adds the partial sums.
__device__ __forceinline__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_down_sync(0xffffffffu, value, distance);
    return value;
}

extern "C" __global__ void reduce(const float *__restrict__ values, float *__restrict__ partial, int n) {
    __shared__ float warps[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += values[i];
    sum = warp_sum(sum);
    if (lane == 0)
        warps[warp] = sum;
    __syncthreads();
    if (warp == 0) {
        sum = warp_sum(lane < (blockDim.x + 31) / 32 ? warps[lane] : 0.0f);
        if (lane == 0)
            partial[blockIdx.x] = sum;
    }
}
