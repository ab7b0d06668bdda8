// What programs ask of the CUDA runtime, topic by topic: `./runtime TOPIC` ends with the number of claims that failed.
#include <cooperative_groups.h>
#include <cstdint>
#include <thread>
#include <vector>

#include "claims.h"

__constant__ float scale[2] = {1.0f, 2.0f};
__device__ int counter = 7;
__managed__ int seen = 5;

__global__ void scaled(float *values, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= scale[1];
}

__global__ void count_up() { atomicAdd(&counter, 1); }

__global__ void see(int value) { seen += value; }

__global__ void reversed(int *values) {
    extern __shared__ int room[];
    room[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

__global__ void summed_over_grid(int *parts, int *sum) {
    parts[blockIdx.x] = blockIdx.x + 1;
    cooperative_groups::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (unsigned i = 0; i < gridDim.x; i++) *sum += parts[i];
}

template <typename T> __global__ void filled(T *values, T value) { values[threadIdx.x] = value; }

static void memory() {
    float host[100], *device = nullptr, *page_locked = nullptr;
    for (int i = 0; i < 100; i++) host[i] = i;
    OK(cudaMalloc(&device, sizeof host));
    OK(cudaMallocHost(&page_locked, sizeof host));
    OK(cudaMemcpy(device, host, sizeof host, cudaMemcpyHostToDevice));
    scaled<<<2, 64>>>(device, 100);
    OK(cudaGetLastError());
    OK(cudaMemcpy(page_locked, device, sizeof host, cudaMemcpyDefault));
    CLAIM(page_locked[99] == 198 && page_locked[0] == 0);
    OK(cudaMemset(device, 0x3f, 8));
    OK(cudaMemcpy(host, device, 12, cudaMemcpyDeviceToHost));
    unsigned bits;
    std::memcpy(&bits, host, 4);
    CLAIM(bits == 0x3f3f3f3f && host[2] == 4);

    cudaPointerAttributes known, unknown;
    OK(cudaPointerGetAttributes(&known, device + 3));
    CLAIM(known.type == cudaMemoryTypeDevice && known.device == 0);
    OK(cudaPointerGetAttributes(&known, page_locked));
    CLAIM(known.type == cudaMemoryTypeHost);
    OK(cudaPointerGetAttributes(&unknown, host));
    CLAIM(unknown.type == cudaMemoryTypeUnregistered);

    for (int i = 0; i < 3; i++) scaled<<<2, 64>>>(page_locked, 100);
    OK(cudaMemcpy(host, page_locked, sizeof host, cudaMemcpyHostToHost)); /* behind the kernels */
    CLAIM(host[98] == page_locked[98] && host[99] == 1584);
    CLAIM(cudaMemcpy(host, page_locked, sizeof host, (cudaMemcpyKind)7) == cudaErrorInvalidMemcpyDirection);

    float *empty = device;
    OK(cudaMalloc(&empty, 0));
    CLAIM(empty == nullptr);
    OK(cudaFree(empty));
    OK(cudaFree(device));
    OK(cudaFreeHost(page_locked));
    std::size_t free_bytes, total_bytes;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CLAIM(free_bytes <= total_bytes && total_bytes > 0);

    int *ordered = nullptr, found = 0;
    OK(cudaMallocAsync((void **)&ordered, 4, 0));
    OK(cudaMemsetAsync(ordered, 1, 4, 0));
    OK(cudaMemcpyAsync(&found, ordered, 4, cudaMemcpyDeviceToHost, 0));
    OK(cudaFreeAsync(ordered, 0));
    OK(cudaStreamSynchronize(0));
    CLAIM(found == 0x01010101);
}

static void boxes() {
    char from[4][8], to[4][8];
    for (int i = 0; i < 32; i++) from[i / 8][i % 8] = (char)i;
    std::memset(to, -1, sizeof to);
    char *device = nullptr;
    std::size_t pitch = 0;
    OK(cudaMallocPitch(&device, &pitch, 8, 4));
    CLAIM(pitch >= 8);
    OK(cudaMemcpy2D(device, pitch, from, 8, 8, 4, cudaMemcpyHostToDevice));
    OK(cudaMemset2D(device + 2, pitch, 99, 2, 3));
    OK(cudaMemcpy2D(to, 8, device, pitch, 5, 4, cudaMemcpyDeviceToHost));
    CLAIM(to[0][1] == 1 && to[0][2] == 99 && to[2][3] == 99 && to[3][2] == 26 && to[0][4] == 4 && to[0][5] == -1);
    CLAIM(cudaMemcpy2D(to, 4, device, pitch, 5, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidPitchValue);

    cudaExtent extent = make_cudaExtent(8, 2, 2);
    cudaPitchedPtr box;
    OK(cudaMalloc3D(&box, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(from, 8, 8, 2);
    copy.dstPtr = box;
    copy.extent = extent;
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    OK(cudaMemset3D(box, 1, make_cudaExtent(0, 1, SIZE_MAX))); /* nothing, however often */
    cudaPitchedPtr flat = box;
    flat.ysize = 0;
    CLAIM(cudaMemset3D(flat, 1, make_cudaExtent(1, 1, SIZE_MAX)) == cudaErrorInvalidValue);
    cudaMemcpy3DParms back = {};
    back.srcPtr = box;
    back.srcPos = make_cudaPos(2, 1, 1);
    back.dstPtr = make_cudaPitchedPtr(to, 8, 8, 1);
    back.extent = make_cudaExtent(3, 1, 1);
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&back));
    CLAIM(to[0][0] == 26 && to[0][2] == 28 && to[0][3] == 99);
}

static void symbols() {
    float factors[2] = {0, 3};
    int count = 0;
    void *address = nullptr;
    std::size_t bytes = 0;
    OK(cudaMemcpyToSymbol(scale, &factors[1], 4, 4));
    OK(cudaMemcpyFromSymbol(factors, scale, 8));
    CLAIM(factors[0] == 1 && factors[1] == 3);
    count_up<<<3, 2>>>();
    OK(cudaMemcpyFromSymbol(&count, counter, 4));
    CLAIM(count == 13);
    OK(cudaGetSymbolAddress(&address, counter));
    OK(cudaGetSymbolSize(&bytes, scale));
    CLAIM(address != nullptr && bytes == 8);
    CLAIM(cudaMemcpyToSymbol(scale, factors, 8, 4) == cudaErrorInvalidValue);
    static int no_symbol;
    CLAIM(cudaGetSymbolAddress(&address, no_symbol) == cudaErrorInvalidSymbol);
    CLAIM(seen == 5);
    see<<<1, 1>>>(4);
    OK(cudaDeviceSynchronize());
    CLAIM(seen == 9);
    int *shared = nullptr;
    OK(cudaMallocManaged(&shared, 4 * 32));
    shared[31] = 1;
    filled<int><<<1, 31>>>(shared, 8);
    OK(cudaDeviceSynchronize());
    CLAIM(shared[0] == 8 && shared[30] == 8 && shared[31] == 1);
    OK(cudaFree(shared));
}

static void launches() {
    int *values = nullptr, host[64], sum = 0;
    OK(cudaMalloc(&values, sizeof host));
    for (int i = 0; i < 64; i++) host[i] = i;
    OK(cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&values};
    OK(cudaLaunchKernel((const void *)reversed, dim3(1), dim3(64), arguments, 256, 0));
    OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    CLAIM(host[0] == 63 && host[63] == 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(64);
    config.dynamicSmemBytes = 256;
    OK(cudaLaunchKernelEx(&config, reversed, values));
    OK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    CLAIM(host[0] == 0 && host[63] == 63);

    int *total = nullptr;
    OK(cudaMalloc(&total, 4));
    OK(cudaMemset(total, 0, 4));
    void *of_grid[] = {&values, &total};
    OK(cudaLaunchCooperativeKernel((const void *)summed_over_grid, dim3(4), dim3(32), of_grid, 0, 0));
    OK(cudaMemcpy(&sum, total, 4, cudaMemcpyDeviceToHost));
    CLAIM(sum == 10);

    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, (const void *)reversed));
    CLAIM(attributes.maxThreadsPerBlock > 0 && attributes.maxThreadsPerBlock <= 1024 && attributes.sharedSizeBytes == 0);
    OK(cudaFuncSetAttribute((const void *)reversed, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
    OK(cudaFuncGetAttributes(&attributes, (const void *)reversed));
    CLAIM(attributes.maxDynamicSharedSizeBytes == 64 * 1024);
    int blocks = 0, least = 0, best = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, reversed, 64, 1024));
    CLAIM(blocks >= 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &best, filled<int>));
    CLAIM(least >= 1 && best >= 32);
    reversed<<<1, 64, 64 * 1024>>>(values);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    int from_thread = -1;
    std::thread([&] {
        filled<int><<<1, 1>>>(values, 77);
        from_thread = cudaMemcpy(host, values, 4, cudaMemcpyDeviceToHost);
    }).join();
    CLAIM(from_thread == cudaSuccess && host[0] == 77);
}

static void errors() {
    int *values = nullptr, count = 0, other = -1;
    OK(cudaGetDeviceCount(&count));
    CLAIM(count >= 1);
    CLAIM(cudaSetDevice(count) == cudaErrorInvalidDevice);
    CLAIM(cudaPeekAtLastError() == cudaErrorInvalidDevice && cudaGetLastError() == cudaErrorInvalidDevice);
    CLAIM(cudaGetLastError() == cudaSuccess);
    OK(cudaMalloc(&values, 256));
    filled<int><<<1, 1025>>>(values, 1);
    CLAIM(cudaGetLastError() == cudaErrorInvalidConfiguration);
    filled<int><<<0, 1>>>(values, 1);
    CLAIM(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CLAIM(cudaMemcpy(values, values, 4, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
    CLAIM(cudaMalloc(&values, ~std::size_t(0) / 2) == cudaErrorMemoryAllocation);
    CLAIM(cudaLaunchKernel((const void *)&other, dim3(1), dim3(1), nullptr, 0, 0) == cudaErrorInvalidDeviceFunction);
    std::thread([&] { other = cudaGetLastError(); }).join();
    CLAIM(other == cudaSuccess);  // each thread has its own
    CLAIM(std::strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    CLAIM(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CLAIM(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    cudaExternalMemory_t nobody;
    CLAIM(cudaImportExternalMemory(&nobody, nullptr) == cudaErrorNotSupported);
}

static void device() {
    cudaDeviceProp properties;
    int value = 0, current = -1, driver = 0, runtime = 0;
    OK(cudaGetDeviceProperties(&properties, 0));
    CLAIM(std::strlen(properties.name) > 0 && properties.warpSize == 32 && properties.maxThreadsPerBlock == 1024);
    CLAIM(properties.maxThreadsDim[2] == 64 && properties.maxGridSize[1] == 65535 && properties.totalGlobalMem > 0);
    CLAIM(properties.totalConstMem == 65536 && properties.unifiedAddressing == 1 && properties.managedMemory == 1);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0));
    CLAIM(value == properties.major && value >= 8);
    OK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
    CLAIM(value == properties.multiProcessorCount);
    OK(cudaSetDevice(0));
    OK(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceScheduleSpin));
    CLAIM(cudaSetDeviceFlags(0x100) == cudaErrorInvalidValue);
    OK(cudaGetDevice(&current));
    CLAIM(current == 0);
    OK(cudaDriverGetVersion(&driver));
    OK(cudaRuntimeGetVersion(&runtime));
    CLAIM(driver >= runtime && runtime >= 12000);
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuDriverGetVersion", &entry, 12000, cudaEnableDefault, &found));
    CLAIM(found == cudaDriverEntryPointSuccess && entry != nullptr);
    int *before = nullptr;
    OK(cudaMalloc(&before, 4));
    count_up<<<1, 1>>>();
    OK(cudaDeviceReset());
    OK(cudaMalloc(&before, 4));
    count_up<<<1, 1>>>();  // from the host's address again, in a module that was loaded anew
    OK(cudaMemcpyFromSymbol(&value, counter, 4));
    CLAIM(value == 8);
}

static void streams() {
    cudaStream_t stream, other;
    cudaEvent_t start, end;
    float ms = -1;
    int *values = nullptr, called = 0, host = 0;
    OK(cudaMalloc(&values, 4));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaEventCreate(&start));
    OK(cudaEventCreateWithFlags(&end, cudaEventDefault));
    OK(cudaEventRecord(start, stream));
    filled<int><<<1, 1, 0, stream>>>(values, 42);
    OK(cudaEventRecord(end, stream));
    OK(cudaStreamWaitEvent(other, end, 0));
    OK(cudaMemcpyAsync(&host, values, 4, cudaMemcpyDeviceToHost, other));
    OK(cudaLaunchHostFunc(other, [](void *flag) { *(int *)flag = 1; }, &called));
    OK(cudaStreamSynchronize(other));
    OK(cudaEventSynchronize(end));
    OK(cudaEventElapsedTime(&ms, start, end));
    CLAIM(host == 42 && called == 1 && ms >= 0);
    CLAIM(cudaStreamQuery(stream) == cudaSuccess && cudaEventQuery(end) == cudaSuccess);
    filled<int><<<1, 1, 0, cudaStreamPerThread>>>(values, 43);
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(cudaMemcpy(&host, values, 4, cudaMemcpyDeviceToHost));
    CLAIM(host == 43);
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(end));
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
}

static void graphs() {
    cudaStream_t stream;
    cudaGraph_t captured, built;
    cudaGraphExec_t executable;
    cudaGraphNode_t fill, run, copy;
    std::size_t count = 0;
    float *values = nullptr, host[32];
    OK(cudaMalloc(&values, sizeof host));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    filled<float><<<1, 32, 0, stream>>>(values, 3.0f);
    scaled<<<1, 32, 0, stream>>>(values, 32);
    OK(cudaMemcpyAsync(host, values, sizeof host, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamEndCapture(stream, &captured));
    OK(cudaGraphGetNodes(captured, nullptr, &count));
    CLAIM(count == 3);
    OK(cudaGraphInstantiate(&executable, captured, 0));
    for (int i = 0; i < 2; i++) {
        host[31] = 0;
        OK(cudaGraphLaunch(executable, stream));
        OK(cudaStreamSynchronize(stream));
        CLAIM(host[31] == 6);
    }
    OK(cudaGraphExecDestroy(executable));
    OK(cudaGraphDestroy(captured));

    OK(cudaGraphCreate(&built, 0));
    cudaMemsetParams zeros = {values, 0, 0, 4, 32, 1};
    OK(cudaGraphAddMemsetNode(&fill, built, nullptr, 0, &zeros));
    int lanes = 32;
    float one = 1.0f;
    void *arguments[] = {&values, &one};
    cudaKernelNodeParams kernel = {(void *)filled<float>, dim3(1), dim3(16), 0, arguments, nullptr};
    OK(cudaGraphAddKernelNode(&run, built, &fill, 1, &kernel));
    OK(cudaGraphAddMemcpyNode1D(&copy, built, &run, 1, host, values, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&executable, built, 0));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(host[0] == 1 && host[15] == 1 && host[16] == 0);
    cudaKernelNodeParams known;
    OK(cudaGraphKernelNodeGetParams(run, &known));
    CLAIM(known.func == (void *)filled<float> && known.blockDim.x == 16);
    kernel.blockDim = dim3(lanes);
    OK(cudaGraphExecKernelNodeSetParams(executable, run, &kernel));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(host[31] == 1);
}

__global__ void look(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *seen) {
    int x = threadIdx.x, y = threadIdx.y;
    seen[y * 8 + x] = tex2D<float>(texture, (x + 0.5f) / 8, (y + 1.0f) / 4);
    surf2Dwrite(2.0f * (y * 8 + x), surface, x * 4, y);
}

static void arrays() {
    float from[32], to[32] = {}, *seen = nullptr;
    for (int i = 0; i < 32; i++) from[i] = (float)i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>(), told;
    cudaArray_t array, other;
    cudaExtent extent;
    unsigned flags;
    OK(cudaMallocArray(&array, &format, 8, 4));
    OK(cudaMallocArray(&other, &format, 8, 4, cudaArraySurfaceLoadStore));
    OK(cudaArrayGetInfo(&told, &extent, &flags, other));
    CLAIM(told.x == 32 && told.y == 0 && told.f == cudaChannelFormatKindFloat && extent.width == 8 && extent.height == 4);
    CLAIM(flags == cudaArraySurfaceLoadStore);
    OK(cudaMemcpyToArray(array, 4, 0, from + 1, 27 * 4, cudaMemcpyHostToDevice)); /* across rows */
    OK(cudaMemcpyFromArray(to, array, 8, 1, 14 * 4, cudaMemcpyDeviceToHost));
    CLAIM(to[0] == 10 && to[13] == 23 && to[14] == 0);
    CLAIM(cudaMemcpyToArray(array, 4, 0, from, 32 * 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    OK(cudaMemcpy2DToArray(array, 0, 0, from, 32, 32, 4, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    how.normalizedCoords = 1;
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    cudaTextureDesc known;
    OK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    OK(cudaGetTextureObjectTextureDesc(&known, texture));
    CLAIM(known.normalizedCoords == 1 && known.filterMode == cudaFilterModeLinear && known.readMode == cudaReadModeElementType);
    resource.res.array.array = other;
    OK(cudaCreateSurfaceObject(&surface, &resource));
    OK(cudaMalloc(&seen, 32 * 4));
    look<<<1, dim3(8, 4)>>>(texture, surface, seen);
    OK(cudaMemcpy(to, seen, 32 * 4, cudaMemcpyDeviceToHost));
    CLAIM(to[0] == 4 && to[9] == 13 && to[31] == 31);
    OK(cudaMemcpy2DFromArray(to, 32, other, 0, 0, 32, 4, cudaMemcpyDeviceToHost));
    CLAIM(to[5] == 10 && to[31] == 62);
    OK(cudaDestroySurfaceObject(surface));
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(array));
    CLAIM(cudaFreeArray(array) != cudaSuccess && cudaGetLastError() != cudaSuccess);
    format = cudaCreateChannelDesc<cudaChannelFormatKindUnsignedNormalized16X2>();
    OK(cudaMallocArray(&array, &format, 8, 4));
    OK(cudaGetChannelDesc(&told, array));
    CLAIM(told.x == 16 && told.y == 16 && told.z == 0 && told.f == cudaChannelFormatKindUnsignedNormalized16X2);
    OK(cudaMemcpy2DToArray(array, 0, 0, from, 32, 32, 4, cudaMemcpyHostToDevice));
    std::size_t width = 0;
    format = cudaCreateChannelDesc<float4>();
    OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 0));
    CLAIM(width == 1 << 28);
}

int main(int count, char **arguments) {
    return told({{"memory", memory}, {"boxes", boxes},   {"symbols", symbols}, {"launches", launches},
                 {"errors", errors}, {"device", device}, {"streams", streams}, {"graphs", graphs},
                 {"arrays", arrays}},
                count, arguments);
}
