/* Settings of a context: the call depth of kernels, what they may print and allocate, caches and shared memory. */
#include "base/contexts.h"
#include "base/limits.h"

static int cache_config;
static size_t limits[16] = {
    [STACK_LIMIT] = 16384, [PRINTF_LIMIT] = 1 << 20, [HEAP_LIMIT] = 8 << 20, [PENDING_LAUNCHES] = 2048, [FETCH_GRANULARITY] = 64};

uint64_t context_limit(int which) { return limits[which]; }

static int limit_legal(int limit) {
    if (limit < 0 || limit >= LIMITS) return INVALID_VALUE;
    return limit == SYNC_DEPTH || limit == GRAPHICS_DRAWS ? UNSUPPORTED_LIMIT : SUCCESS;
}

EXPORTED int cuCtxGetLimit(size_t *value, int limit) {
    CONTEXT;
    if (!value) return INVALID_VALUE;
    TRY(limit_legal(limit));
    *value = limit == SHARED_MEMORY ? (size_t)device.attributes[MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] : limits[limit];
    return SUCCESS;
}

static size_t at_least(size_t value, size_t least) { return value < least ? least : value; }
static size_t at_most(size_t value, size_t most) { return value > most ? most : value; }

EXPORTED int cuCtxSetLimit(int limit, size_t value) {
    CONTEXT;
    TRY(limit_legal(limit));
    switch (limit) {
    case STACK_LIMIT:
        if (value > 512u << 10) return INVALID_VALUE;
        value = (value + 15) / 16 * 16;
        break;
    case PRINTF_LIMIT: value = at_most(at_least(value, 512u << 10), 1u << 30); break;
    case HEAP_LIMIT: value = at_most(at_least(value, 4u << 20), 1u << 30); break;
    case FETCH_GRANULARITY:
        if (value > 128) return INVALID_VALUE;
        break;
    case PERSISTING_L2: value = at_most(value, (size_t)device.attributes[MAX_PERSISTING_L2_CACHE_SIZE]); break;
    case SHARED_MEMORY:
    case GRAPHICS: return NOT_PERMITTED;
    default: break;
    }
    limits[limit] = value;
    return SUCCESS;
}

EXPORTED int cuCtxGetCacheConfig(int *config) {
    CONTEXT;
    if (!config) return INVALID_VALUE;
    *config = cache_config;
    return SUCCESS;
}

EXPORTED int cuCtxSetCacheConfig(int config) {
    CONTEXT;
    if (config < 0 || config > 3) return INVALID_VALUE;
    cache_config = config;
    return SUCCESS;
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
