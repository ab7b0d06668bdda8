/* Contexts: the primary one, others, and the stack of each thread. */
#include <string.h>

#include "driver.h"

enum { DEPTH = 64 };
static __thread void *stack[DEPTH];
static __thread int depth;

struct context {
    uint32_t flags;
    uint64_t id;
};

static void *primary;
static uint32_t primary_flags;
static int primary_uses;
static uint64_t made;
static size_t limits[16] = {[0] = 16384, [1] = 1 << 20, [2] = 8 << 20, [3] = 2, [4] = 2048, [5] = 128, [6] = 0};

void *current_context(void) {
    while (depth && !object_of(A_CONTEXT, stack[depth - 1])) depth--; /* those that were destroyed */
    return depth ? stack[depth - 1] : NULL;
}

int context_error(void) {
    if (!current_context()) return INVALID_CONTEXT;
    return failed;
}

static void *context_new(uint32_t flags) {
    void *handle = handle_new(A_CONTEXT, sizeof(struct context));
    struct context *context = object_of(A_CONTEXT, handle);
    if (context) *context = (struct context){flags, ++made};
    return handle;
}

void contexts_forget(void) {
    primary = NULL;
    primary_uses = 0;
}

static int push(void *handle) {
    if (depth == DEPTH) return OUT_OF_MEMORY;
    stack[depth++] = handle;
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRetain(void **context, int which) {
    DRIVER;
    if (!context) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!primary && !(primary = context_new(primary_flags))) return OUT_OF_MEMORY;
    primary_uses++;
    *context = primary;
    return SUCCESS;
}

static void primary_end(void) {
    handle_free(primary);
    primary = NULL;
    primary_uses = 0;
    failed = SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRelease_v2(int which) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!primary_uses) return INVALID_CONTEXT;
    if (--primary_uses == 0) primary_end();
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRelease(int which) { return cuDevicePrimaryCtxRelease_v2(which); }

EXPORTED int cuDevicePrimaryCtxReset_v2(int which) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (primary) primary_end();
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxReset(int which) { return cuDevicePrimaryCtxReset_v2(which); }

EXPORTED int cuDevicePrimaryCtxSetFlags_v2(int which, unsigned flags) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (flags > 0xff) return INVALID_VALUE;
    primary_flags = flags;
    struct context *context = object_of(A_CONTEXT, primary);
    if (context) context->flags = flags;
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxSetFlags(int which, unsigned flags) { return cuDevicePrimaryCtxSetFlags_v2(which, flags); }

EXPORTED int cuDevicePrimaryCtxGetState(int which, unsigned *flags, int *active) {
    DRIVER;
    if (!flags || !active) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *flags = primary_flags;
    *active = primary != NULL;
    return SUCCESS;
}

EXPORTED int cuCtxCreate_v2(void **context, unsigned flags, int which) {
    DRIVER;
    if (!context || flags > 0xff) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    void *handle = context_new(flags);
    if (!handle || push(handle)) return OUT_OF_MEMORY;
    *context = handle;
    return SUCCESS;
}

EXPORTED int cuCtxCreate_v3(void **context, void *parameters, int count, unsigned flags, int which) {
    return parameters || count ? NOT_SUPPORTED : cuCtxCreate_v2(context, flags, which);
}

EXPORTED int cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int which) {
    return parameters ? NOT_SUPPORTED : cuCtxCreate_v2(context, flags, which);
}

EXPORTED int cuCtxDestroy_v2(void *handle) {
    DRIVER;
    if (!object_of(A_CONTEXT, handle)) return INVALID_CONTEXT;
    if (handle == primary) return INVALID_CONTEXT;
    handle_free(handle);
    failed = SUCCESS;
    current_context();
    return SUCCESS;
}

EXPORTED int cuCtxPushCurrent_v2(void *handle) {
    DRIVER;
    return object_of(A_CONTEXT, handle) ? push(handle) : INVALID_CONTEXT;
}

EXPORTED int cuCtxPopCurrent_v2(void **handle) {
    DRIVER;
    void *current = current_context();
    if (!current) return INVALID_CONTEXT;
    depth--;
    if (handle) *handle = current;
    return SUCCESS;
}

EXPORTED int cuCtxSetCurrent(void *handle) {
    DRIVER;
    if (handle && !object_of(A_CONTEXT, handle)) return INVALID_CONTEXT;
    if (current_context()) depth--;
    return handle ? push(handle) : SUCCESS;
}

EXPORTED int cuCtxGetCurrent(void **handle) {
    DRIVER;
    if (!handle) return INVALID_VALUE;
    *handle = current_context();
    return SUCCESS;
}

EXPORTED int cuCtxGetDevice(int *which) {
    DRIVER;
    if (!which) return INVALID_VALUE;
    if (!current_context()) return INVALID_CONTEXT;
    *which = 0;
    return SUCCESS;
}

static int chosen(void *handle, struct context **context) {
    if (!handle) handle = current_context();
    *context = object_of(A_CONTEXT, handle);
    return *context ? SUCCESS : INVALID_CONTEXT;
}

EXPORTED int cuCtxGetDevice_v2(int *which, void *handle) {
    DRIVER;
    struct context *context;
    if (!which) return INVALID_VALUE;
    TRY(chosen(handle, &context));
    *which = 0;
    return SUCCESS;
}

EXPORTED int cuCtxGetFlags(unsigned *flags) {
    DRIVER;
    struct context *context;
    if (!flags) return INVALID_VALUE;
    TRY(chosen(NULL, &context));
    *flags = context->flags;
    return SUCCESS;
}

EXPORTED int cuCtxSetFlags(unsigned flags) {
    DRIVER;
    struct context *context;
    if (flags > 0xff) return INVALID_VALUE;
    TRY(chosen(NULL, &context));
    context->flags = flags;
    return SUCCESS;
}

EXPORTED int cuCtxGetId(void *handle, uint64_t *id) {
    DRIVER;
    struct context *context;
    if (!id) return INVALID_VALUE;
    TRY(chosen(handle, &context));
    *id = context->id;
    return SUCCESS;
}

EXPORTED int cuCtxGetApiVersion(void *handle, unsigned *version) {
    DRIVER;
    struct context *context;
    if (!version) return INVALID_VALUE;
    TRY(chosen(handle, &context));
    *version = 3020;
    return SUCCESS;
}

EXPORTED int cuCtxSynchronize(void) {
    CONTEXT;
    return SUCCESS;
}

EXPORTED int cuCtxSynchronize_v2(void *handle) {
    DRIVER;
    struct context *context;
    TRY(chosen(handle, &context));
    return failed;
}

uint64_t context_limit(int which) { return limits[which]; }

EXPORTED int cuCtxGetLimit(size_t *value, int limit) {
    CONTEXT;
    if (!value) return INVALID_VALUE;
    if (limit < 0 || limit > 6) return UNSUPPORTED_LIMIT;
    *value = limits[limit];
    return SUCCESS;
}

EXPORTED int cuCtxSetLimit(int limit, size_t value) {
    CONTEXT;
    if (limit < 0 || limit > 6) return UNSUPPORTED_LIMIT;
    if (value > (limit == STACK_LIMIT ? 512u << 10 : 1u << 30)) return INVALID_VALUE;
    limits[limit] = value;
    return SUCCESS;
}

EXPORTED int cuCtxGetCacheConfig(int *config) {
    CONTEXT;
    if (!config) return INVALID_VALUE;
    *config = 0;
    return SUCCESS;
}

EXPORTED int cuCtxSetCacheConfig(int config) {
    CONTEXT;
    return config < 0 || config > 3 ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuCtxGetSharedMemConfig(int *config) {
    CONTEXT;
    if (!config) return INVALID_VALUE;
    *config = 1;
    return SUCCESS;
}

EXPORTED int cuCtxSetSharedMemConfig(int config) {
    CONTEXT;
    return config < 0 || config > 2 ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CONTEXT;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return SUCCESS;
}

EXPORTED int cuCtxResetPersistingL2Cache(void) {
    CONTEXT;
    return SUCCESS;
}

EXPORTED int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
    CONTEXT;
    if (flags) return INVALID_VALUE;
    return object_of(A_CONTEXT, peer) ? INVALID_DEVICE : INVALID_CONTEXT;
}

EXPORTED int cuCtxDisablePeerAccess(void *peer) {
    CONTEXT;
    return object_of(A_CONTEXT, peer) ? PEER_ACCESS_NOT_ENABLED : INVALID_CONTEXT;
}
