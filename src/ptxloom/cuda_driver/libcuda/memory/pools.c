/* Memory pools: their location, their sharing, and who may access their memory. */
#include <string.h>

#include "base/contexts.h"
#include "base/handles.h"
#include "memory/pools.h"

enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

static void *default_pools[POOL_MEMORY + 1], *current_pools[POOL_MEMORY + 1]; /* by kind */

static void *the_default(enum memory_kind kind) {
    if (!object_of(A_POOL, default_pools[kind])) default_pools[kind] = pool_new(kind, 0);
    return default_pools[kind];
}

static void *the_current(enum memory_kind kind) {
    if (!object_of(A_POOL, current_pools[kind])) current_pools[kind] = the_default(kind);
    return current_pools[kind];
}

static int give_pool(void **pool, void *handle) {
    if (!pool) return INVALID_VALUE;
    if (!handle) return OUT_OF_MEMORY;
    *pool = handle;
    return SUCCESS;
}

static int take_current(enum memory_kind kind, void *handle) {
    const struct pool *pool = object_of(A_POOL, handle);
    if (!pool || pool->is_opened || pool->kind != kind) return INVALID_VALUE;
    current_pools[kind] = handle;
    return SUCCESS;
}

EXPORTED int cuDeviceGetDefaultMemPool(void **pool, int which) {
    DRIVER;
    return is_device(which) ? give_pool(pool, the_default(POOL_MEMORY)) : pool ? INVALID_DEVICE : INVALID_VALUE;
}

EXPORTED int cuDeviceGetMemPool(void **pool, int which) {
    DRIVER;
    return is_device(which) ? give_pool(pool, the_current(POOL_MEMORY)) : pool ? INVALID_DEVICE : INVALID_VALUE;
}

EXPORTED int cuDeviceSetMemPool(int which, void *pool) {
    DRIVER;
    return is_device(which) ? take_current(POOL_MEMORY, pool) : INVALID_VALUE;
}

/* -- by location and sharing -------------------------------------------------------------------------- */

static int is_on_host(const struct location *where) {
    return where->type == ON_HOST || where->type == ON_HOST_NODE || where->type == ON_HOST_NODE_NEAR;
}

/* The kind of memory of a pool at a location, if pools there exist. */
static int kind_of(const struct location *where, int type, enum memory_kind *kind) {
    if (!where || (type != PINNED && type != MANAGED)) return INVALID_VALUE;
    if (where->type == ON_DEVICE && !is_device(where->id)) return INVALID_VALUE;
    int known = where->type == ON_DEVICE || is_on_host(where) || (where->type == NOWHERE && type == MANAGED);
    *kind = type == MANAGED ? MANAGED_MEMORY : where->type == ON_DEVICE ? POOL_MEMORY : HOST_MEMORY;
    return known ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuMemGetDefaultMemPool(void **pool, struct location *where, int type) {
    DRIVER;
    enum memory_kind kind;
    TRY(kind_of(where, type, &kind));
    return give_pool(pool, the_default(kind));
}

EXPORTED int cuMemGetMemPool(void **pool, struct location *where, int type) {
    DRIVER;
    enum memory_kind kind;
    TRY(kind_of(where, type, &kind));
    return give_pool(pool, the_current(kind));
}

EXPORTED int cuMemSetMemPool(struct location *where, int type, void *pool) {
    DRIVER;
    enum memory_kind kind;
    TRY(kind_of(where, type, &kind));
    return take_current(kind, pool);
}

/* Memory shared with other processes has a fixed location. */
static int may_go(const struct pool_properties *wanted) {
    int is_placed = wanted->where.type == ON_DEVICE || (wanted->where.type == ON_HOST_NODE && wanted->where.id == 0);
    return wanted->type == PINNED && is_placed;
}

EXPORTED int cuMemPoolCreate(void **pool, const struct pool_properties *wanted) {
    enum { FABRIC = 8 };
    DRIVER;
    enum memory_kind kind;
    if (!pool || !wanted) return INVALID_VALUE;
    TRY(kind_of(&wanted->where, wanted->type, &kind));
    if (wanted->handles == FABRIC) return NOT_SUPPORTED;
    if (wanted->handles & ~POOL_TO_FILE || (wanted->handles && !may_go(wanted))) return INVALID_VALUE;
    void *made = pool_new(kind, wanted->limit);
    if (made) ((struct pool *)object_of(A_POOL, made))->handles = wanted->handles;
    return give_pool(pool, made);
}

EXPORTED int cuMemPoolDestroy(void *pool) {
    DRIVER;
    const struct pool *one = object_of(A_POOL, pool);
    if (!one || pool == default_pools[one->kind]) return INVALID_VALUE;
    handle_free(pool);
    return SUCCESS;
}

EXPORTED int cuMemPoolTrimTo(void *pool, size_t least) {
    DRIVER;
    (void)least;
    return own_pool(pool) ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuMemPoolGetAttribute(void *handle, int attribute, void *value) {
    DRIVER;
    struct pool *pool = own_pool(handle);
    if (!pool || !value) return INVALID_VALUE;
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        memcpy(value, &pool->reuse[attribute - 1], sizeof *pool->reuse);
        return SUCCESS;
    }
    const uint64_t numbers[] = {pool->threshold, pool->used, pool->high, pool->used, pool->high};
    if (attribute < RELEASE_THRESHOLD || attribute > USED_HIGH) return INVALID_VALUE;
    memcpy(value, &numbers[attribute - RELEASE_THRESHOLD], sizeof *numbers);
    return SUCCESS;
}

EXPORTED int cuMemPoolSetAttribute(void *handle, int attribute, const void *value) {
    DRIVER;
    struct pool *pool = own_pool(handle);
    if (!pool || !value) return INVALID_VALUE;
    if (attribute >= REUSE_FIRST && attribute <= REUSE_LAST) {
        int32_t wanted;
        memcpy(&wanted, value, sizeof wanted);
        pool->reuse[attribute - 1] = wanted != 0;
        return SUCCESS;
    }
    uint64_t number;
    memcpy(&number, value, sizeof number);
    if (attribute == RELEASE_THRESHOLD) pool->threshold = number;
    else if ((attribute == RESERVED_HIGH || attribute == USED_HIGH) && number == 0) pool->high = pool->used;
    else return INVALID_VALUE;
    return SUCCESS;
}

/* Whether a location may access the memory of a pool. */
static int reaches(const struct location *where, const struct pool *pool) {
    return where->type == ON_DEVICE ? is_device(where->id) : is_on_host(where) && pool->kind != POOL_MEMORY;
}

EXPORTED int cuMemPoolSetAccess(void *pool, const struct access *wanted, size_t count) {
    DRIVER;
    enum { NONE = 0, READ_WRITE = 3 };
    const struct pool *one = object_of(A_POOL, pool);
    if (!one || !count || !wanted) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].where.type != ON_DEVICE && !reaches(&wanted[i].where, one)) return NOT_SUPPORTED;
        if (!reaches(&wanted[i].where, one) || wanted[i].flags == NONE) return INVALID_DEVICE; /* it always has access */
        if (wanted[i].flags != READ_WRITE) return NOT_SUPPORTED;
    }
    return SUCCESS;
}

EXPORTED int cuMemPoolGetAccess(int *flags, void *pool, struct location *where) {
    DRIVER;
    const struct pool *one = object_of(A_POOL, pool);
    if (!flags || !where || !one) return INVALID_VALUE;
    if (!is_on_host(where) && (where->type != ON_DEVICE || !is_device(where->id))) return INVALID_VALUE;
    *flags = reaches(where, one) ? 3 : 0;
    return SUCCESS;
}
