// Physics and signals: FFT in shared memory, n-body, stencils, heat, sphere tracing, option prices.
extern "C" __global__ void fft(float2 *data, const float2 *twiddles) {
    __shared__ float2 a[256];
    int t = threadIdx.x;
    float2 *mine = data + blockIdx.x * 256;
    a[__brev(t) >> 24] = mine[t];
    a[__brev(t + 128) >> 24] = mine[t + 128];
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int k = t & (half - 1), i = 2 * (t - k) + k, j = i + half;
        float2 w = twiddles[k * (128 / half)], u = a[i], v = a[j];
        float re = v.x * w.x - v.y * w.y, im = v.x * w.y + v.y * w.x;
        a[i] = make_float2(u.x + re, u.y + im);
        a[j] = make_float2(u.x - re, u.y - im);
    }
    __syncthreads();
    mine[t] = a[t];
    mine[t + 128] = a[t + 128];
}
extern "C" __global__ void nbody(const float4 *bodies, float4 *out, int n, float step) {
    __shared__ float4 tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    float4 me = bodies[i];
    float ax = 0, ay = 0, az = 0;
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
#pragma unroll 8
        for (int j = 0; j < 64; ++j) {
            float dx = tile[j].x - me.x, dy = tile[j].y - me.y, dz = tile[j].z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f;
            float pull = tile[j].w / (d * sqrtf(d));
            ax += dx * pull, ay += dy * pull, az += dz * pull;
        }
        __syncthreads();
    }
    out[i] = make_float4(me.x + ax * step, me.y + ay * step, me.z + az * step, me.w);
}
extern "C" __global__ void stencil_3d(const double *in, double *out, int n) {
    int x = threadIdx.x, y = threadIdx.y + blockIdx.x * blockDim.y;
    double below = 0, here = in[y * n + x], above;
    for (int z = 0; z < n; ++z, below = here, here = above) {
        above = z + 1 < n ? in[((z + 1) * n + y) * n + x] : 0;
        int i = (z * n + y) * n + x;
        double sum = below + above + (x ? in[i - 1] : 0) + (x + 1 < n ? in[i + 1] : 0) + (y ? in[i - n] : 0) + (y + 1 < n ? in[i + n] : 0);
        out[i] = here + 0.125 * (sum - 6 * here);
    }
}
extern "C" __global__ void heat(float *plate, int rounds) {
    __shared__ float p[2][18][18];
    int x = threadIdx.x + 1, y = threadIdx.y + 1;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 2 * 18 * 18; i += 256) (&p[0][0][0])[i] = 0;
    __syncthreads();
    p[0][y][x] = plate[(y - 1) * 16 + x - 1];
    for (int r = 0; r < rounds; ++r) {
        __syncthreads();
        auto &now = p[r & 1];
        p[~r & 1][y][x] = 0.25f * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
    }
    plate[(y - 1) * 16 + x - 1] = p[rounds & 1][y][x];
}
struct Sphere { float x, y, z, radius; };
struct Scene { Sphere spheres[3]; float background; int width; };
extern "C" __global__ void spheres(const Scene scene, float *out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    float dx = (px - 16) / 16.0f, dy = (py - 16) / 16.0f, dz = 1.0f, length = sqrtf(dx * dx + dy * dy + dz * dz), nearest = 1e30f;
    dx /= length, dy /= length, dz /= length;
    for (int i = 0; i < 3; ++i) {
        Sphere s = scene.spheres[i];
        float b = dx * s.x + dy * s.y + dz * s.z, c = s.x * s.x + s.y * s.y + s.z * s.z - s.radius * s.radius, d = b * b - c;
        if (d < 0) continue;
        float hit = b - sqrtf(d);
        if (hit > 0 && hit < nearest) nearest = hit;
    }
    out[py * scene.width + px] = nearest < 1e30f ? nearest : scene.background;
}
__device__ float normal(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
extern "C" __global__ void options(const float *spot, const float *strike, const float *years, float *call, float *put, float rate, float volatility, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float root = volatility * sqrtf(years[i]), d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / root, d2 = d1 - root, discount = strike[i] * expf(-rate * years[i]);
    call[i] = spot[i] * normal(d1) - discount * normal(d2);
    put[i] = discount * normal(-d2) - spot[i] * normal(-d1);
}
