/* Pools shared with other processes of the program: a file identifies the pool, and bytes its memory. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/connection.h"
#include "base/handles.h"
#include "memory/pools.h"
#include "memory/sharing.h"

enum { MAGIC = 0x504c5850, FAILED = 999, ANY_KIND = 0xf };

struct pool_name {
    uint32_t magic;
    int32_t session;
    uint64_t pool; /* its handle there */
    uint32_t is_on_host, unused;
};

struct pointer_name {
    struct pool_name pool;
    uint64_t start;
    char unused[32];
};

static int file_of(const struct pool_name *name) {
    int file = memfd_create("ptxloom pool", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (write(file, name, sizeof *name) == (ssize_t)sizeof *name) return file;
    close(file);
    return -1;
}

static struct pool_name name_of(const void *handle) {
    const struct pool *pool = object_of(A_POOL, handle);
    return (struct pool_name){MAGIC, device.session, (uint64_t)(uintptr_t)handle, pool && pool->kind == HOST_MEMORY, 0};
}

EXPORTED int cuMemPoolExportToShareableHandle(int *file, void *handle, int kind, uint64_t flags) {
    DRIVER;
    const struct pool *pool = object_of(A_POOL, handle);
    const struct pool_name name = name_of(handle);
    if (!file || !pool || kind != POOL_TO_FILE || flags || !(pool->handles & POOL_TO_FILE)) return INVALID_VALUE;
    int made = file_of(&name);
    if (made < 0) return OUT_OF_MEMORY;
    *file = made;
    return SUCCESS;
}

EXPORTED int cuMemPoolImportFromShareableHandle(void **handle, void *file, int kind, uint64_t flags) {
    DRIVER;
    struct pool_name name;
    if (!handle || kind <= 0 || kind > ANY_KIND || flags) return INVALID_VALUE;
    if (kind != POOL_TO_FILE) return NOT_SUPPORTED;
    if (pread((int)(intptr_t)file, &name, sizeof name, 0) != (ssize_t)sizeof name || name.magic != MAGIC) return FAILED;
    void *made = pool_new(name.is_on_host ? HOST_MEMORY : POOL_MEMORY, 0);
    struct pool *pool = object_of(A_POOL, made);
    if (!pool) return OUT_OF_MEMORY;
    pool->is_opened = 1;
    pool->session = name.session;
    pool->there = name.pool;
    *handle = made;
    return SUCCESS;
}

EXPORTED int cuMemPoolExportPointer(struct pointer_name *name, device_pointer start) {
    DRIVER;
    GIVEN(name);
    const struct allocation *one = allocation_at(start);
    const struct pool *pool = one ? object_of(A_POOL, one->pool) : NULL;
    if (!one || one->start != start || !pool || !(pool->handles & POOL_TO_FILE)) return INVALID_VALUE;
    *name = (struct pointer_name){.pool = name_of(one->pool), .start = start};
    return SUCCESS;
}

/* A process that opens memory of its own pool gets the same memory again. */
static int open_own(const struct pointer_name *name) {
    struct allocation *one = allocation_at(name->start);
    if (!one || one->start != name->start || (uint64_t)(uintptr_t)one->pool != name->pool.pool) return INVALID_VALUE;
    one->opened++;
    return SUCCESS;
}

static int open_theirs(const struct pointer_name *name, void *handle) {
    TRY(memory_open(name->pool.session, name->start));
    struct allocation *one = allocation_at(name->start);
    one->context = NULL; /* a pool has no context */
    one->pool = handle;
    return SUCCESS;
}

EXPORTED int cuMemPoolImportPointer(device_pointer *start, void *handle, const struct pointer_name *name) {
    DRIVER;
    GIVEN(start && name);
    const struct pool *pool = object_of(A_POOL, handle);
    if (!pool || !pool->is_opened || name->pool.magic != MAGIC) return INVALID_VALUE;
    if (name->pool.session != pool->session || name->pool.pool != pool->there) return INVALID_VALUE;
    TRY(pool->session == device.session ? open_own(name) : open_theirs(name, handle));
    *start = name->start;
    return SUCCESS;
}
