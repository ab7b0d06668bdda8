/* Functions and kernels: their attributes, and their occupancy. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "code/functions.h"
#include "code/modules.h"

static struct function *function_of(const void *handle) { return object_of(A_FUNCTION, handle); }

static int function_new(void **handle, void *module, const char *name, const struct answer *answer) {
    struct {
        uint64_t number;
        int32_t attributes[FUNCTION_ATTRIBUTES];
        uint32_t parameter_bytes, parameter_count;
    } head;
    if (answer->size < sizeof head) return DEVICE_UNAVAILABLE;
    memcpy(&head, answer->data, sizeof head);
    size_t bytes = head.parameter_count * sizeof(*((struct function *)0)->parameters);
    if (answer->size - sizeof head != bytes) return DEVICE_UNAVAILABLE;
    void *made = handle_new(A_FUNCTION, sizeof(struct function));
    struct function *function = object_of(A_FUNCTION, made);
    if (!function) return OUT_OF_MEMORY;
    function->number = head.number;
    function->module = module;
    memcpy(function->attributes, head.attributes, sizeof head.attributes);
    function->parameter_bytes = head.parameter_bytes;
    function->parameter_count = head.parameter_count;
    function->name = strdup(name);
    function->parameters = malloc(bytes ? bytes : 1);
    if (!function->name || !function->parameters) return OUT_OF_MEMORY;
    memcpy(function->parameters, answer->data + sizeof head, bytes);
    *handle = made;
    return SUCCESS;
}

int function_get(void **handle, void *module, const char *name) {
    struct answer answer;
    uint64_t number;
    size_t place = 0;
    for (void *known; (known = handle_next(A_FUNCTION, &place));) {
        struct function *function = function_of(known);
        if (function->module == module && !strcmp(function->name, name)) {
            *handle = known;
            return SUCCESS;
        }
    }
    TRY(module_number(module, &number));
    const struct part parts[] = {{&number, sizeof number}, {name, strlen(name)}};
    TRY(ask(GET_FUNCTION, parts, 2, &answer));
    return function_new(handle, module, name, &answer);
}

void functions_forget(const void *module) {
    size_t place = 0;
    for (void *handle; (handle = handle_next(A_FUNCTION, &place));) {
        struct function *function = function_of(handle);
        if (function->module != module) continue;
        free(function->name);
        free(function->parameters);
        free(function->old);
        handle_free(handle);
    }
}

/* -- attributes ---------------------------------------------------------------------------------------------------- */

enum { CARVEOUT = 9, CLUSTER_IS_REQUIRED = 10, SCHEDULING = 15, LAST_SETTABLE = SCHEDULING, KNOWN_ATTRIBUTES };

static int attribute_get(int *value, int attribute, const void *handle) {
    struct function *function = function_of(handle);
    if (!function) return INVALID_HANDLE;
    if (!value || attribute < 0 || attribute >= KNOWN_ATTRIBUTES) return INVALID_VALUE;
    *value = function->attributes[attribute];
    return SUCCESS;
}

static int attribute_set(void *handle, int attribute, int value) {
    struct function *function = function_of(handle);
    if (!function) return INVALID_HANDLE;
    if (attribute < MAX_DYNAMIC_SHARED || attribute > LAST_SETTABLE || attribute == CLUSTER_IS_REQUIRED) return INVALID_VALUE;
    if (attribute == MAX_DYNAMIC_SHARED &&
        (value < 0 || value > device.attributes[MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] - function->attributes[STATIC_SHARED]))
        return INVALID_VALUE;
    if (attribute == CARVEOUT && (value < -1 || value > 100)) return INVALID_VALUE;
    if (attribute == NON_PORTABLE_CLUSTER) value = value != 0;
    if (attribute == SCHEDULING && (value < 0 || value > 2)) return INVALID_VALUE;
    function->attributes[attribute] = value;
    return SUCCESS;
}

EXPORTED int cuFuncGetAttribute(int *value, int attribute, void *function) {
    GIVEN(value);
    DRIVER;
    TRY(failed);
    return attribute_get(value, attribute, function);
}
EXPORTED int cuFuncSetAttribute(void *function, int attribute, int value) {
    DRIVER;
    HANDLE(function);
    CURRENT;
    return attribute_set(function, attribute, value);
}
EXPORTED int cuKernelGetAttribute(int *value, int attribute, void *kernel, int which) {
    HANDLE(kernel);
    DRIVER;
    return is_device(which) ? attribute_get(value, attribute, kernel) : INVALID_DEVICE;
}
EXPORTED int cuKernelSetAttribute(int attribute, int value, void *kernel, int which) {
    HANDLE(kernel);
    DRIVER;
    return is_device(which) ? attribute_set(kernel, attribute, value) : INVALID_DEVICE;
}
EXPORTED int cuFuncSetCacheConfig(void *function, int config) {
    DRIVER;
    HANDLE(function);
    CURRENT;
    if (!function_of(function)) return INVALID_HANDLE;
    return config < 0 || config > 3 ? INVALID_VALUE : SUCCESS;
}
EXPORTED int cuKernelSetCacheConfig(void *kernel, int config, int which) {
    HANDLE(kernel);
    return is_device(which) ? cuFuncSetCacheConfig(kernel, config) : INVALID_DEVICE;
}
EXPORTED int cuFuncSetSharedMemConfig(void *function, int config) {
    DRIVER;
    HANDLE(function);
    CURRENT;
    if (!function_of(function)) return INVALID_HANDLE;
    return config < 0 || config > 2 ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuFuncGetName(const char **name, void *handle) {
    GIVEN(name && handle);
    DRIVER;
    struct function *function = function_of(handle);
    if (!function) return INVALID_HANDLE;
    *name = function->name;
    return SUCCESS;
}
SAME(cuKernelGetName, cuFuncGetName);

EXPORTED int cuFuncGetModule(void **module, void *handle) {
    DRIVER;
    struct function *function = function_of(handle);
    if (!module) return INVALID_VALUE;
    if (!function) return INVALID_HANDLE;
    *module = function->module;
    return SUCCESS;
}
EXPORTED int cuKernelGetLibrary(void **library, void *kernel) {
    GIVEN(library);
    return cuFuncGetModule(library, kernel);
}

/* A kernel is its own function. */
EXPORTED int cuKernelGetFunction(void **function, void *kernel) {
    GIVEN(function);
    CONTEXT;
    if (!function_of(kernel)) return INVALID_HANDLE;
    *function = kernel;
    return SUCCESS;
}

EXPORTED int cuFuncGetParamInfo(void *handle, size_t index, size_t *offset, size_t *size) {
    GIVEN(offset);
    DRIVER;
    struct function *function = function_of(handle);
    if (!function) return INVALID_HANDLE;
    if (index >= function->parameter_count) return INVALID_VALUE;
    *offset = function->parameters[index].offset;
    if (size) *size = function->parameters[index].size;
    return SUCCESS;
}
EXPORTED int cuKernelGetParamInfo(void *kernel, size_t index, size_t *offset, size_t *size) {
    GIVEN(offset);
    CONTEXT; /* the kernel's */
    return cuFuncGetParamInfo(kernel, index, offset, size);
}
EXPORTED int cuFuncGetParamCount(void *handle, size_t *count) {
    DRIVER;
    struct function *function = function_of(handle);
    if (!count) return INVALID_VALUE;
    if (!function) return INVALID_HANDLE;
    *count = function->parameter_count;
    return SUCCESS;
}
EXPORTED int cuKernelGetParamCount(void *kernel, size_t *count) {
    CONTEXT;
    return cuFuncGetParamCount(kernel, count);
}

EXPORTED int cuFuncIsLoaded(int *state, void *handle) {
    GIVEN(state);
    DRIVER;
    if (!function_of(handle)) return INVALID_HANDLE;
    *state = 1;
    return SUCCESS;
}
EXPORTED int cuFuncLoad(void *handle) {
    HANDLE(handle);
    DRIVER;
    return function_of(handle) ? SUCCESS : INVALID_HANDLE;
}

/* -- occupancy: limited by threads, shared memory and registers. Registers are those that PTX needs before
   spilling: they always allow one CTA, as launches do ------------------------------------------------ */

enum { SHARED_UNIT = 128 }; /* the granularity of a CTA's shared memory */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static int fits(const struct function *f, int64_t threads, int64_t shared_bytes) {
    const int32_t *d = device.attributes;
    int64_t warps = (threads + 31) / 32, count = d[MAX_BLOCKS_PER_MULTIPROCESSOR];
    count = least(count, d[MAX_THREADS_PER_MULTIPROCESSOR] / 32 / warps);
    int64_t shared = (f->attributes[STATIC_SHARED] + shared_bytes + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    shared += d[RESERVED_SHARED_MEMORY_PER_BLOCK];
    count = least(count, d[MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] / (shared > 0 ? shared : 1));
    int64_t registers = (f->attributes[REGISTERS] + 7) / 8 * 8 * 32 * warps;
    int64_t most = d[MAX_REGISTERS_PER_MULTIPROCESSOR];
    return (int)(registers ? least(count, most > registers ? most / registers : 1) : count);
}

int resident(const void *handle, int64_t threads, int64_t shared_bytes) {
    struct function *f = function_of(handle);
    return f ? fits(f, threads, shared_bytes) : 0;
}

EXPORTED int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *count, void *handle, int threads, size_t shared_bytes,
                                                                  unsigned flags) {
    CONTEXT;
    struct function *f = function_of(handle);
    if (!count || threads <= 0 || flags > 1) return INVALID_VALUE;
    if (!f) return INVALID_HANDLE;
    int possible = threads <= device.attributes[MAX_THREADS_PER_BLOCK] && shared_bytes <= (size_t)f->attributes[MAX_DYNAMIC_SHARED];
    *count = possible ? fits(f, threads, (int64_t)shared_bytes) : 0;
    return SUCCESS;
}
EXPORTED int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, void *function, int threads, size_t shared_bytes) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, threads, shared_bytes, 0);
}

EXPORTED int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *handle, size_t (*shared_of)(int), size_t shared_bytes,
                                                       int limit, unsigned flags) {
    CONTEXT;
    struct function *f = function_of(handle);
    int best = 0, most = 0, blocks = 0;
    if (!grid || !block || limit < 0 || flags > 1) return INVALID_VALUE;
    if (!f) return INVALID_HANDLE;
    int from = limit && limit < f->attributes[MAX_THREADS] ? limit : f->attributes[MAX_THREADS];
    for (int threads = (from + 31) / 32 * 32; threads > 0; threads -= 32) {
        int given = threads < from ? threads : from;
        size_t bytes = shared_of ? shared_of(given) : shared_bytes;
        int count = bytes <= (size_t)f->attributes[MAX_DYNAMIC_SHARED] ? fits(f, given, (int64_t)bytes) : 0;
        if (count * given > most) best = given, blocks = count, most = count * given;
    }
    *block = best;
    *grid = blocks * device.attributes[MULTIPROCESSOR_COUNT];
    return SUCCESS;
}
EXPORTED int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *function, size_t (*shared_of)(int), size_t shared_bytes,
                                              int limit) {
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, function, shared_of, shared_bytes, limit, 0);
}

EXPORTED int cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, void *handle, int blocks, int threads) {
    CONTEXT;
    struct function *f = function_of(handle);
    const int32_t *d = device.attributes;
    if (!f) return handle ? INVALID_HANDLE : INVALID_VALUE;
    if (!bytes || blocks <= 0 || threads <= 0) return INVALID_VALUE;
    if (blocks > d[MAX_BLOCKS_PER_MULTIPROCESSOR] || threads > d[MAX_THREADS_PER_BLOCK]) return INVALID_VALUE;
    int64_t each = d[MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] / blocks / SHARED_UNIT * SHARED_UNIT - f->attributes[STATIC_SHARED];
    int64_t most = f->attributes[MAX_DYNAMIC_SHARED];
    *bytes = (size_t)(each < 0 ? 0 : least(each, most));
    return SUCCESS;
}
