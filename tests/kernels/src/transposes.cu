// Transposes: a padded tile, and 8x8 half tiles through ldmatrix.trans, movmatrix and, on sm_90, stmatrix.trans.
extern "C" __global__ void transpose_padded(const float *in, float *out, int rows, int columns) {
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < columns && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * columns + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) if (x < rows && y + j < columns) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void transpose_ldmatrix(const unsigned short *in, unsigned short *out) {
    __shared__ __align__(16) unsigned short tile[16 * 16];
    int lane = threadIdx.x;
    for (int i = 0; i < 8; ++i) tile[i * 32 + lane] = in[blockIdx.x * 256 + i * 32 + lane];
    __syncwarp();
    unsigned r[4], address = static_cast<unsigned>(__cvta_generic_to_shared(tile + lane % 16 * 16 + lane / 16 * 8));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
    unsigned *words = reinterpret_cast<unsigned *>(out + blockIdx.x * 256);
    int row = lane / 4, pair = lane % 4;
    words[row * 8 + pair] = r[0];
    words[row * 8 + pair + 4] = r[1];
    words[(row + 8) * 8 + pair] = r[2];
    words[(row + 8) * 8 + pair + 4] = r[3];
}
extern "C" __global__ void transpose_movmatrix(const unsigned *in, unsigned *out) {
    unsigned r = in[blockIdx.x * 32 + threadIdx.x];
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(r));
    out[blockIdx.x * 32 + threadIdx.x] = r;
}
#if __CUDA_ARCH__ >= 900
extern "C" __global__ void transpose_stmatrix(const unsigned *in, unsigned *out) {
    __shared__ __align__(16) unsigned tile[128];
    int lane = threadIdx.x;
    unsigned r[4];
    for (int i = 0; i < 4; ++i) r[i] = in[blockIdx.x * 128 + i * 32 + lane];
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile + (lane ^ lane / 8) * 4));
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%4], {%0, %1, %2, %3};" ::"r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(address) : "memory");
    __syncwarp();
    for (int i = 0; i < 4; ++i) out[blockIdx.x * 128 + i * 32 + lane] = tile[i * 32 + lane];
}
#endif
