// The other half.
__device__ int shared_by_both = 7;

__device__ int thrice(int value) { return 3 * value; }

int read_other() {
    int value = 0;
    cudaMemcpyFromSymbol(&value, shared_by_both, 4);
    return value;
}
