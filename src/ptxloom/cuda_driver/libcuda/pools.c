/* Memory pools and allocation in the order of a stream: each allocation of a pool is one of the device. */
#include <string.h>

#include "driver.h"

enum { REUSE_FIRST = 1, REUSE_LAST = 3, RELEASE_THRESHOLD = 4, RESERVED = 5, RESERVED_HIGH = 6, USED = 7, USED_HIGH = 8 };

struct pool {
    int32_t reuse[3];
    uint64_t threshold, used, high, limit;
};

static void *default_pool, *current_pool;

static void *pool_new(uint64_t limit) {
    void *handle = handle_new(A_POOL, sizeof(struct pool));
    struct pool *pool = object_of(A_POOL, handle);
    if (pool) *pool = (struct pool){.reuse = {1, 1, 1}, .limit = limit};
    return handle;
}

static void *the_default(void) {
    if (!object_of(A_POOL, default_pool)) default_pool = pool_new(0);
    return default_pool;
}

static void *the_current(void) {
    if (!object_of(A_POOL, current_pool)) current_pool = the_default();
    return current_pool;
}

static int give_pool(void **pool, int which, void *handle) {
    if (!pool) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!handle) return OUT_OF_MEMORY;
    *pool = handle;
    return SUCCESS;
}

EXPORTED int cuDeviceGetDefaultMemPool(void **pool, int which) {
    DRIVER;
    return give_pool(pool, which, the_default());
}

EXPORTED int cuDeviceGetMemPool(void **pool, int which) {
    DRIVER;
    return give_pool(pool, which, the_current());
}

EXPORTED int cuDeviceSetMemPool(int which, void *pool) {
    DRIVER;
    if (!object_of(A_POOL, pool) || !is_device(which)) return INVALID_VALUE;
    current_pool = pool;
    return SUCCESS;
}

enum { ON_DEVICE = 1, ON_HOST = 2, ON_HOST_NODE = 3, PINNED = 1 };

static int on_device(const struct location *where, int type) {
    return where && where->type == ON_DEVICE && is_device(where->id) && type == PINNED;
}

EXPORTED int cuMemGetDefaultMemPool(void **pool, struct location *where, int type) {
    DRIVER;
    if (!pool || !where) return INVALID_VALUE;
    return on_device(where, type) ? give_pool(pool, 0, the_default()) : NOT_SUPPORTED;
}

EXPORTED int cuMemGetMemPool(void **pool, struct location *where, int type) {
    DRIVER;
    if (!pool || !where) return INVALID_VALUE;
    return on_device(where, type) ? give_pool(pool, 0, the_current()) : NOT_SUPPORTED;
}

struct pool_properties {
    int type, handles;
    struct location where;
    void *security;
    size_t limit;
    unsigned short usage;
    unsigned char reserved[54];
};

EXPORTED int cuMemPoolCreate(void **pool, const struct pool_properties *wanted) {
    DRIVER;
    if (!pool || !wanted || wanted->type != PINNED) return INVALID_VALUE;
    if (wanted->handles || wanted->where.type != ON_DEVICE) return NOT_SUPPORTED;
    return is_device(wanted->where.id) ? give_pool(pool, 0, pool_new(wanted->limit)) : INVALID_VALUE;
}

EXPORTED int cuMemPoolDestroy(void *pool) {
    DRIVER;
    if (!object_of(A_POOL, pool) || pool == default_pool) return INVALID_VALUE;
    handle_free(pool);
    return SUCCESS;
}

EXPORTED int cuMemPoolTrimTo(void *pool, size_t least) {
    DRIVER;
    (void)least;
    return object_of(A_POOL, pool) ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuMemPoolGetAttribute(void *handle, int attribute, void *value) {
    DRIVER;
    struct pool *pool = object_of(A_POOL, handle);
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
    struct pool *pool = object_of(A_POOL, handle);
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

struct access {
    struct location where;
    int flags;
};

EXPORTED int cuMemPoolSetAccess(void *pool, const struct access *wanted, size_t count) {
    DRIVER;
    enum { NONE = 0, READ_WRITE = 3 };
    if (!object_of(A_POOL, pool) || !count || !wanted) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].where.type != ON_DEVICE) return NOT_SUPPORTED;
        if (!is_device(wanted[i].where.id) || wanted[i].flags == NONE) return INVALID_DEVICE; /* its own device always may */
        if (wanted[i].flags != READ_WRITE) return NOT_SUPPORTED;
    }
    return SUCCESS;
}

EXPORTED int cuMemPoolGetAccess(int *flags, void *pool, struct location *where) {
    DRIVER;
    if (!flags || !where || !object_of(A_POOL, pool)) return INVALID_VALUE;
    if (where->type < ON_DEVICE || where->type > ON_HOST_NODE || (where->type == ON_DEVICE && !is_device(where->id))) return INVALID_VALUE;
    *flags = where->type == ON_DEVICE ? 3 : 0;
    return SUCCESS;
}

/* -- in the order of a stream ----------------------------------------------------------------------------------------- */

static int may_take(const void *into, size_t size, void *handle, void *where) {
    CONTEXT;
    struct stream *stream;
    struct pool *pool = object_of(A_POOL, handle);
    if (!into || !pool) return INVALID_VALUE;
    TRY(stream_of(where, &stream));
    return size > device.capacity || (pool->limit && size > pool->limit - pool->used) ? OUT_OF_MEMORY : SUCCESS;
}

static int taken(device_pointer start, size_t size, void *handle, void *where) {
    CONTEXT;
    struct stream *stream;
    struct pool *pool = object_of(A_POOL, handle);
    struct allocation *one = allocation_at(start);
    TRY(stream_of(where, &stream));
    if (one) one->context = NULL; /* a pool is of no context */
    if (one) one->pool = handle;
    if (pool) {
        pool->used += size;
        pool->high = pool->used > pool->high ? pool->used : pool->high;
    }
    struct work work = {.kind = ALLOCATE_WORK, .memory = {start, size}};
    return stream->capture ? work_submit(where, &work) : SUCCESS;
}

EXPORTED int cuMemAllocFromPoolAsync(device_pointer *start, size_t size, void *pool, void *stream) {
    TRY(may_take(start, size, pool, stream));
    if (!size) {
        *start = 0;
        return SUCCESS;
    }
    TRY(memory_new(size, POOL_MEMORY, 0, start));
    return taken(*start, size, pool, stream);
}

EXPORTED int cuMemAllocAsync(device_pointer *start, size_t size, void *stream) {
    void *pool;
    TRY(cuDeviceGetMemPool(&pool, 0));
    return cuMemAllocFromPoolAsync(start, size, pool, stream);
}

EXPORTED int cuMemFreeAsync(device_pointer start, void *where) {
    CONTEXT;
    struct stream *stream;
    struct allocation *one = allocation_at(start);
    TRY(stream_of(where, &stream));
    if (!start) return SUCCESS;
    if (!one || one->start != start || (stream->capture && !graph_holds(stream->capture, start))) return INVALID_VALUE;
    struct work work = {.kind = FREE_WORK, .memory = {start, one->size}};
    if (stream->capture) return work_submit(where, &work);
    struct pool *pool = object_of(A_POOL, one->pool);
    if (pool) pool->used -= one->size;
    return memory_free(start, 1 << DEVICE_MEMORY | 1 << POOL_MEMORY);
}
