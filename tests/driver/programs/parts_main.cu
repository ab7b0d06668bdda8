// One half of a program whose device code is linked: the function and the variable that it uses are in the other.
#include <cstdio>

extern __device__ int shared_by_both;
extern __device__ int thrice(int value);

__global__ void use(int *to) {
    *to = thrice(10);
    shared_by_both += 5;
}

int read_other();

int main() {
    int *device = nullptr, host = 0;
    cudaMalloc(&device, 4);
    use<<<1, 1>>>(device);
    cudaMemcpy(&host, device, 4, cudaMemcpyDeviceToHost);
    std::printf("%d %d\n", host, read_other());
    return cudaGetLastError();
}
