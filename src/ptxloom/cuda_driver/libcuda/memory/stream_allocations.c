/* Stream-ordered allocation: each allocation of a pool is one of its kind of memory. */
#include "base/contexts.h"
#include "base/handles.h"
#include "memory/graph_memory.h"
#include "memory/memory.h"
#include "memory/pools.h"
#include "streams/recordings.h"

int cuDeviceGetMemPool(void **pool, int which);

static int may_take(const void *into, size_t size, void *handle, void *where, enum memory_kind *kind) {
    CONTEXT;
    struct stream *stream;
    struct pool *pool = own_pool(handle);
    if (!into || !pool) return INVALID_VALUE;
    TRY(stream_of(where, &stream));
    *kind = pool->kind;
    return size > device.capacity || (pool->limit && size > pool->limit - pool->used) ? OUT_OF_MEMORY : SUCCESS;
}

static int taken(device_pointer start, size_t size, void *handle, void *where) {
    CONTEXT;
    struct stream *stream;
    struct pool *pool = object_of(A_POOL, handle);
    struct allocation *one = allocation_at(start);
    TRY(stream_of(where, &stream));
    if (stream->capture) return graph_memory_record(where, start);
    if (one) one->context = NULL; /* a pool has no context */
    if (one) one->pool = handle;
    if (pool) {
        pool->used += size;
        pool->high = pool->used > pool->high ? pool->used : pool->high;
    }
    return SUCCESS;
}

EXPORTED int cuMemAllocFromPoolAsync(device_pointer *start, size_t size, void *pool, void *stream) {
    enum memory_kind kind;
    TRY(may_take(start, size, pool, stream, &kind));
    if (!size) {
        *start = 0;
        return SUCCESS;
    }
    TRY(memory_new(size, kind, 0, start));
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
    TRY(stream_of(where, &stream));
    if (!start) return SUCCESS;
    if (stream->capture) return graph_memory_record_free(where, start);
    return memory_free(start, 1 << DEVICE_MEMORY | 1 << POOL_MEMORY);
}
