// A small program that is compiled with debug information: inlined functions, scopes, lambdas, structures.
struct Particle { float position[3]; float mass; Particle *next; };
__device__ __forceinline__ float square(float x) { return x * x; }
__device__ float energy(const Particle &p) {
    float sum = 0;
    for (int axis = 0; axis < 3; ++axis) sum += square(p.position[axis]);
    return 0.5f * p.mass * sum;
}
template <typename T> __device__ T largest(T a, T b) { return a > b ? a : b; }
__global__ void energies(const Particle *particles, float *out, int n) {
    __shared__ float best;
    if (threadIdx.x == 0) best = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        auto scaled = [=](float by) { return energy(particles[i]) * by; };
        float value = scaled(2.0f);
        out[i] = value;
        best = largest(best, value);
    }
    __syncthreads();
    out[n] = best;
}
