// Images: separable and square convolutions, Sobel, sums of absolute differences, Mandelbrot, the game of life.
__constant__ float weights[9] = {0.0625f, 0.125f, 0.0625f, 0.125f, 0.25f, 0.125f, 0.0625f, 0.125f, 0.0625f};
extern "C" __global__ void convolve_1d(const float *in, const float *taps, float *out, int n) {
    __shared__ float tile[128 + 14];
    int start = blockIdx.x * 128 - 7;
    for (int i = threadIdx.x; i < 142; i += 128) tile[i] = start + i >= 0 && start + i < n ? in[start + i] : 0;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 15; ++k) sum += tile[threadIdx.x + k] * taps[k];
    if (blockIdx.x * 128 + threadIdx.x < n) out[blockIdx.x * 128 + threadIdx.x] = sum;
}
extern "C" __global__ void convolve_2d(const float *in, float *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i) sum += weights[(j + 1) * 3 + i + 1] * in[min(max(y + j, 0), height - 1) * width + min(max(x + i, 0), width - 1)];
    out[y * width + x] = sum;
}
extern "C" __global__ void sobel(const unsigned char *in, unsigned char *out, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x == 0 || y == 0 || x >= width - 1 || y >= height - 1) {
        if (x < width && y < height) out[y * width + x] = 0;
        return;
    }
#define P(i, j) int(in[(y + (j)) * width + x + (i)])
    int gx = P(1, -1) + 2 * P(1, 0) + P(1, 1) - P(-1, -1) - 2 * P(-1, 0) - P(-1, 1), gy = P(-1, 1) + 2 * P(0, 1) + P(1, 1) - P(-1, -1) - 2 * P(0, -1) - P(1, -1);
    out[y * width + x] = min(int(sqrtf(float(gx * gx + gy * gy))), 255);
}
extern "C" __global__ void differences(const unsigned *a, const unsigned *b, unsigned *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned d = __vabsdiffu4(a[i], b[i]), worst = __vmaxu4(a[i], b[i]), sum = __vsadu4(a[i], b[i]);
    out[i] = d ^ __vaddus4(worst, d) ^ (sum << 3) ^ __vavgu4(a[i], b[i]) ^ __vcmpgtu4(a[i], b[i]) ^ __vsubss2(a[i], b[i]);
}
extern "C" __global__ void mandelbrot(unsigned short *out, int width, int height, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float cx = x * (3.0f / width) - 2.25f, cy = y * (2.5f / height) - 1.25f, zx = 0, zy = 0;
    int n = 0;
    while (n < limit && zx * zx + zy * zy < 4.0f) {
        float next = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy;
        zx = next;
        ++n;
    }
    out[y * width + x] = n;
}
extern "C" __global__ void life(const unsigned char *in, unsigned char *out, int width, int height, int rounds) {
    __shared__ unsigned char board[2][32 * 32];
    int x = threadIdx.x, y = threadIdx.y;
    board[0][y * width + x] = in[y * width + x];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        const unsigned char *now = board[r & 1];
        int alive = 0;
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) if (i || j) alive += now[(y + j + height) % height * width + (x + i + width) % width];
        board[~r & 1][y * width + x] = alive == 3 || (alive == 2 && now[y * width + x]);
        __syncthreads();
    }
    out[y * width + x] = board[rounds & 1][y * width + x];
}
