/* Launches, and attributes of kernels. */
#include "runtime.h"

enum { MAX_NESTED = 64 };

int cuLaunchKernel(handle kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                   unsigned shared_bytes, handle stream, void **arguments, void **extra);
int cuLaunchCooperativeKernel(handle kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                              unsigned block_z, unsigned shared_bytes, handle stream, void **arguments);
int cuLaunchKernelEx(const struct driver_config *config, handle kernel, void **arguments, void **extra);
int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuKernelGetAttribute(int *value, int attribute, handle kernel, int device);
int cuKernelSetAttribute(int attribute, int value, handle kernel, int device);
int cuKernelSetCacheConfig(handle kernel, int config, int device);
int cuKernelGetName(const char **name, handle kernel);
int cuKernelGetParamInfo(handle kernel, size_t index, size_t *offset, size_t *bytes);
int cuKernelGetParamCount(handle kernel, size_t *count);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, handle kernel, int block_size, size_t shared_bytes, unsigned flags);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, handle kernel, int blocks, int block_size);
int cuOccupancyMaxPotentialClusterSize(int *size, handle kernel, const struct driver_config *config);
int cuOccupancyMaxActiveClusters(int *clusters, handle kernel, const struct driver_config *config);

static __thread struct {
    struct dim3 grid, block;
    size_t shared_bytes;
    handle stream;
} pushed[MAX_NESTED]; /* `<<<...>>>` is pushed before the arguments are evaluated, which may launch, too */
static __thread int depth;

EXPORTED unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block, size_t shared_bytes, handle stream) {
    if (depth == MAX_NESTED) return (unsigned)told(INVALID_CONFIGURATION);
    pushed[depth].grid = grid;
    pushed[depth].block = block;
    pushed[depth].shared_bytes = shared_bytes;
    pushed[depth].stream = stream;
    depth++;
    return SUCCESS;
}

EXPORTED int __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block, size_t *shared_bytes, handle *stream) {
    if (depth == 0) return told(INVALID_CONFIGURATION);
    depth--;
    *grid = pushed[depth].grid;
    *block = pushed[depth].block;
    *shared_bytes = pushed[depth].shared_bytes;
    *stream = pushed[depth].stream;
    return SUCCESS;
}

/* The runtime distinguishes shapes that no device supports from other wrong values. */
static int launchable(struct dim3 grid, struct dim3 block) {
    enum { MAX_THREADS = 1, MAX_BLOCK_X = 2 }; /* those of the grid follow those of the block */
    const unsigned asked[] = {block.x, block.y, block.z, grid.x, grid.y, grid.z};
    int device = 0, limit = 0, failed = current_device(&device);
    for (int i = 0; i < 6 && !failed; i++) {
        failed = cuDeviceGetAttribute(&limit, MAX_BLOCK_X + i, device);
        if (asked[i] == 0 || asked[i] > (unsigned)limit) return INVALID_CONFIGURATION;
    }
    if (!failed) failed = cuDeviceGetAttribute(&limit, MAX_THREADS, device);
    if (failed) return failed;
    return (uint64_t)block.x * block.y * block.z <= (uint64_t)limit ? SUCCESS : INVALID_CONFIGURATION;
}

EXPORTED int cudaLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes,
                              handle stream) {
    handle kernel;
    START();
    int failed = kernel_of(function, &kernel);
    if (!failed) failed = launchable(grid, block);
    if (failed) return told(failed);
    if (shared_bytes > UINT32_MAX) return told(INVALID_VALUE);
    return told(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared_bytes, stream, arguments, NULL));
}

SAME(__cudaLaunchKernel, cudaLaunchKernel);

EXPORTED int cudaLaunchCooperativeKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments, size_t shared_bytes,
                                         handle stream) {
    handle kernel;
    START();
    int failed = kernel_of(function, &kernel);
    if (!failed) failed = launchable(grid, block);
    if (failed) return told(failed);
    return told(
        cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared_bytes, stream, arguments));
}

static struct driver_config config_of(const struct launch_config *from) {
    return (struct driver_config){from->grid,   from->block,      (unsigned)from->shared_bytes,
                                  from->stream, from->attributes, from->attribute_count};
}

EXPORTED int cudaLaunchKernelExC(const struct launch_config *config, const void *function, void **arguments) {
    handle kernel;
    if (!config) return told(INVALID_VALUE);
    START();
    int failed = kernel_of(function, &kernel);
    if (!failed) failed = launchable(config->grid, config->block);
    if (failed) return told(failed);
    struct driver_config asked = config_of(config);
    return told(cuLaunchKernelEx(&asked, kernel, arguments, NULL));
}

EXPORTED int cudaFuncGetAttributes(struct function_attributes *to, const void *function) {
    /* the driver's numbers of the attributes, in the order of the structure's ints */
    static const int numbers[] = {0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 14, 16, 17};
    enum { SHARED_BYTES = 1, CONST_BYTES = 2, LOCAL_BYTES = 3 };
    handle kernel;
    int device = 0, value = 0;
    if (!to) return told(INVALID_VALUE);
    START();
    int failed = kernel_of(function, &kernel);
    if (!failed) failed = current_device(&device);
    if (failed) return told(failed);
    *to = (struct function_attributes){0};
    size_t *const bytes[] = {&to->shared_bytes, &to->const_bytes, &to->local_bytes};
    for (int i = SHARED_BYTES; i <= LOCAL_BYTES; i++) {
        if ((failed = cuKernelGetAttribute(&value, i, kernel, device))) return told(failed);
        *bytes[i - SHARED_BYTES] = (size_t)value;
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!cuKernelGetAttribute(&value, numbers[i], kernel, device)) to->of_function[i] = value;
    return SUCCESS;
}

static int with_kernel(const void *function, handle *kernel, int *device) {
    int failed = ready();
    if (!failed) failed = kernel_of(function, kernel);
    return failed ? failed : current_device(device);
}

EXPORTED int cudaFuncSetAttribute(const void *function, int attribute, int value) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuKernelSetAttribute(attribute, value, kernel, device));
}

EXPORTED int cudaKernelSetAttributeForDevice(handle kernel, int attribute, int value, int device) {
    START();
    return told(cuKernelSetAttribute(attribute, value, kernel, device));
}

EXPORTED int cudaFuncSetCacheConfig(const void *function, int config) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuKernelSetCacheConfig(kernel, config, device));
}

EXPORTED int cudaFuncGetName(const char **name, const void *function) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuKernelGetName(name, kernel));
}

EXPORTED int cudaFuncGetParamInfo(const void *function, size_t index, size_t *offset, size_t *bytes) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuKernelGetParamInfo(kernel, index, offset, bytes));
}

EXPORTED int cudaFuncGetParamCount(const void *function, size_t *count) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuKernelGetParamCount(kernel, count));
}

EXPORTED int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int block_size, size_t shared_bytes,
                                                                    unsigned flags) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    if (failed) return told(failed);
    return told(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, kernel, block_size, shared_bytes, flags));
}

EXPORTED int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int block_size, size_t shared_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, 0);
}

EXPORTED int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *function, int blocks, int block_size) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    return told(failed ? failed : cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, block_size));
}

EXPORTED int cudaOccupancyMaxPotentialClusterSize(int *size, const void *function, const struct launch_config *config) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    if (failed || !config) return told(failed ? failed : INVALID_VALUE);
    struct driver_config asked = config_of(config);
    return told(cuOccupancyMaxPotentialClusterSize(size, kernel, &asked));
}

EXPORTED int cudaOccupancyMaxActiveClusters(int *clusters, const void *function, const struct launch_config *config) {
    handle kernel;
    int device, failed = with_kernel(function, &kernel, &device);
    if (failed || !config) return told(failed ? failed : INVALID_VALUE);
    struct driver_config asked = config_of(config);
    return told(cuOccupancyMaxActiveClusters(clusters, kernel, &asked));
}
