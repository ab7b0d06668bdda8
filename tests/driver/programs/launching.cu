// Kernels that launch kernels: what the device run-time says, and what comes of it.
#include <cstdio>
#include <cstring>

__global__ void add(int *values, int by) { values[blockIdx.x * blockDim.x + threadIdx.x] += by; }
__global__ void append(int *log, int what) { log[++log[0]] = what; }
template <typename T> __global__ void fill(T *values, T with, double scale) { values[threadIdx.x] = with * scale; }
__global__ void wild(int *values) { values[1 << 20] = 1; }

__global__ void order(int *log) {
    append<<<1, 1, 0, cudaStreamTailLaunch>>>(log, 4);
    append<<<1, 1>>>(log, 1);
    cudaStream_t stream;
    cudaEvent_t event;
    log[40] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) | cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    append<<<1, 1, 0, stream>>>(log, 2);
    log[40] |= cudaEventRecord(event, stream) | cudaStreamWaitEvent(0, event, 0);
    append<<<1, 1, 0, cudaStreamFireAndForget>>>(log, 3);
    log[40] |= cudaStreamDestroy(stream) | cudaEventDestroy(event);
}

__global__ void copies(unsigned char *to, const unsigned char *from, int *errors) {
    errors[0] = cudaMemcpyAsync(to, from, 1000, cudaMemcpyDeviceToDevice, 0);
    errors[1] = cudaMemsetAsync(to + 10, 7, 20, 0);
    errors[2] = cudaMemcpy2DAsync(to + 2000, 50, from, 100, 5, 4, cudaMemcpyDeviceToDevice, 0);
    errors[3] = cudaMemset2DAsync(to + 2001, 50, 9, 2, 3, 0);
    errors[4] = cudaMemcpyAsync(to, from, 0, cudaMemcpyDeviceToDevice, 0);
    errors[5] = cudaGetDevice(errors + 6) | cudaGetDeviceCount(errors + 7);
}

__global__ void own(float *out) {
    float *mine = nullptr;
    out[0] = cudaMalloc((void **)&mine, 64);
    mine[3] = 2.5f;
    out[1] = mine[3];
    out[2] = cudaFree(mine);
    fill<<<1, 8, 0, cudaStreamTailLaunch>>>(out + 8, 3.0f, 0.5);
}

__global__ void wrong(int *errors, char *text) {
    add<<<1, 4096>>>(errors, 1);
    errors[0] = cudaPeekAtLastError();
    errors[1] = cudaGetLastError();
    errors[2] = cudaGetLastError();
    const char *word = cudaGetErrorString(cudaErrorInvalidConfiguration), *name = cudaGetErrorName(cudaSuccess);
    for (int i = 0; (text[i] = word[i]) != 0; i++) {}
    for (int i = 0; (text[100 + i] = name[i]) != 0; i++) {}
}

__global__ void many(int *count) {
    add<<<1, 1>>>(count, 1);
    if (cudaGetLastError() == cudaErrorLaunchPendingCountExceeded) atomicAdd(count + 1, 1);
}

__global__ void goes_wild(int *values) { wild<<<1, 1>>>(values); }

static int failed;
static void claim(bool holds, const char *what) {
    if (!holds) printf("%s\n", what);
    failed += !holds;
}

int main(int argc, char **argv) {
    unsigned char *bytes;
    cudaMallocManaged(&bytes, 1 << 16);
    int *numbers = (int *)(bytes + 4096);
    auto again = [&] { memset(bytes, 0, 1 << 16); };
    auto end = [] { return cudaDeviceSynchronize() == cudaSuccess; };
    if (argc > 1 && !strcmp(argv[1], "wild")) {
        goes_wild<<<1, 1>>>(numbers);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    again();
    order<<<1, 1>>>(numbers);
    claim(end() && numbers[0] == 4 && numbers[40] == 0, "four launches and no error");
    for (int i = 1; i <= 4; i++) claim(numbers[i] == i, "in order");
    again();
    for (int i = 0; i < 1000; i++) bytes[32768 + i] = i;
    copies<<<1, 1>>>(bytes, bytes + 32768, numbers);
    claim(end(), "copies end");
    for (int i = 0; i < 6; i++) claim(numbers[i] == 0, "copies return no error");
    claim(numbers[6] == 0 && numbers[7] == 1, "one device");
    for (int i = 0; i < 1000; i++) claim(bytes[i] == (i >= 10 && i < 30 ? 7 : i % 256), "copied and filled");
    for (int row = 0; row < 4; row++)
        for (int i = 0; i < 6; i++)
            claim(bytes[2000 + 50 * row + i] == (i == 5 ? 0 : row < 3 && (i == 1 || i == 2) ? 9 : (100 * row + i) % 256), "rows");
    again();
    own<<<1, 1>>>((float *)numbers);
    float *reals = (float *)numbers;
    claim(end() && reals[0] == 0 && reals[1] == 2.5f && reals[2] == 0, "memory of its own");
    claim(reals[8] == 1.5f && reals[15] == 1.5f && reals[16] == 0, "a template's parameters");
    again();
    wrong<<<1, 1>>>(numbers, (char *)bytes);
    claim(end() && numbers[0] == 9 && numbers[1] == 9 && numbers[2] == 0, "errors of a thread");
    claim(!strcmp((char *)bytes, "invalid configuration argument") && !strcmp((char *)bytes + 100, "cudaSuccess"), "in words");
    again();
    many<<<3, 1000>>>(numbers);
    claim(end() && numbers[0] == 2048 && numbers[1] == 952, "2048 launches wait");
    again();
    size_t limit = 0;
    claim(!cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, 4096), "the limit can be set");
    claim(!cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount) && limit == 4096, "and asked for");
    many<<<3, 1000>>>(numbers);
    claim(end() && numbers[0] == 3000 && numbers[1] == 0, "more wait if the program says so");
    printf("%d claims failed\n", failed);
}
