// Branches of every kind: jump tables, loops, early exits, divergence hints, short circuits.
extern "C" __global__ void choose(const int *in, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = in[i];
    switch (v) {
    case 0: v = n * 3; break;
    case 1: v = in[n - 1]; break;
    case 2: out[0] = 1; [[fallthrough]];
    case 3: v += 17; break;
    case 4: for (int k = 0; k < n; ++k) v ^= in[k]; break;
    case 5: asm volatile("exit;"); break;
    case 6: v = -v; break;
    case 7: v = v / n; break;
    case 8: do { v = v * 3 + 1; } while (v % 2 && v < 1000); break;
    default: if (__builtin_expect(v > 100, 0)) { out[1] = v; return; } v = 9;
    }
#pragma unroll 4
    for (int k = 0; k < n && (in[k] > 3 || out[k] < 4); ++k) {
        if (in[k] == 5) continue;
        if (in[k] == 6) break;
        v += in[k] * k;
    }
#pragma unroll 1
    while (v > 1000) v -= 7;
    if (v < -5) __builtin_unreachable();
    out[i] = v;
    if (threadIdx.x == 31) asm volatile("trap;");
}
__global__ void __launch_bounds__(256, 2) bounded(float *x) { x[threadIdx.x] *= 2; }
#if __CUDA_ARCH__ >= 900
__global__ void __launch_bounds__(1024, 1, 2) bounded_cluster(float *x) { x[threadIdx.x] += 2; }
#endif
__global__ void __maxnreg__(64) few_registers(float *x) { x[threadIdx.x] -= 2; }
