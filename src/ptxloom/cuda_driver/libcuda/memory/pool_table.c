/* The table of pools, and how much each has allocated. */
#include "base/handles.h"
#include "memory/pools.h"

void *pool_new(enum memory_kind kind, uint64_t limit) {
    void *handle = handle_new(A_POOL, sizeof(struct pool));
    struct pool *pool = object_of(A_POOL, handle);
    if (pool) *pool = (struct pool){.kind = kind, .reuse = {1, 1, 1}, .limit = limit};
    return handle;
}

/* A pool of another process only gives access to its memory. */
struct pool *own_pool(const void *handle) {
    struct pool *pool = object_of(A_POOL, handle);
    return pool && !pool->is_opened ? pool : NULL;
}

void pool_gets_back(const void *handle, size_t size) {
    struct pool *pool = own_pool(handle);
    if (pool) pool->used -= size;
}
