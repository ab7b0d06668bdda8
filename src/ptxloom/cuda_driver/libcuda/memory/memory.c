/* Memory, which the server allocates. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/contexts.h"
#include "base/origin.h"
#include "memory/advice.h"
#include "memory/graph_memory.h"
#include "memory/memory.h"
#include "memory/pools.h"
#include "memory/virtual.h"
#include "streams/recordings.h"

static int is_own(device_pointer address) { return address - device.start < device.size; }

int in_device(device_pointer address) { return is_own(address) || virtual_holds(address) || allocation_at(address); }

/* Whether there is memory at addresses of the host: msync reports it, and does nothing else when called like this. */
static int is_mapped(device_pointer address, uint64_t size) {
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = address / page * page;
    return msync((void *)(uintptr_t)start, size + (address - start), MS_ASYNC) == 0;
}

/* Within one allocation, or within adjacent mappings. */
static int lies_within(device_pointer address, uint64_t size) {
    struct allocation *one = allocation_at(address);
    while (one) {
        uint64_t there = one->size - (address - one->start);
        if (size <= there) return 1;
        if (one->kind != MAPPED_MEMORY) return 0;
        address += there;
        size -= there;
        one = allocation_at(address);
        if (one && one->kind != MAPPED_MEMORY) return 0;
    }
    return 0;
}

int reachable(device_pointer address, uint64_t size) { return reachable_when(address, size, NOW); }

int reachable_when(device_pointer address, uint64_t size, enum when when) {
    device_pointer last = address + (size - 1);
    if (size == 0) return 1;
    if (address == 0 || last < address || last >= 1ull << 63) return 0;
    if (!in_device(address)) return (last < device.start || address >= device.start) && is_mapped(address, size);
    return lies_within(address, size) || (when == LATER && graph_memory_near(address, size));
}

void memory_written(device_pointer address, uint64_t size) {
    if (device.marks && is_own(address)) memset((void *)(uintptr_t)(address - device.start + device.marks), 0, size);
}

int memory_new(uint64_t size, enum memory_kind kind, uint32_t flags, device_pointer *start) {
    char origin[512] = "";
    struct answer answer;
    call_origin(origin, sizeof origin);
    LOCKED;
    uint64_t wanted[2] = {size, (uint64_t)kind};
    const struct part parts[] = {{wanted, sizeof wanted}, {origin, strlen(origin)}};
    TRY(ask(ALLOCATE, parts, 2, &answer));
    if (answer.size != sizeof *start) return DEVICE_UNAVAILABLE;
    memcpy(start, answer.data, sizeof *start);
    int error = allocation_add(*start, size, kind, 0);
    if (!error) allocation_at(*start)->flags = flags;
    return error;
}

int memory_free(device_pointer start, int kinds) {
    struct allocation *one = allocation_at(start);
    struct part part = {&start, sizeof start};
    if (!one || one->start != start || !(kinds & 1 << (one->pool ? POOL_MEMORY : one->kind))) return INVALID_VALUE;
    if (one->opened) {
        one->opened--;
        return SUCCESS;
    }
    void *graph_memory = one->graph_memory;
    if (one->kind == MANAGED_MEMORY) advice_drop(start, one->size);
    if (one->pool) pool_gets_back(one->pool, one->size);
    allocation_remove(one);
    if (graph_memory) return graph_memory_end(graph_memory);
    return ask(FREE, &part, 1, NULL);
}

/* The checks before every allocation; the lock is not held while `memory_new` looks up the origin of the call. */
static int may_allocate(const void *into, uint64_t size) {
    CONTEXT;
    if (!into || size == 0) return INVALID_VALUE;
    TRY(capture_forbids());
    return size > device.capacity ? OUT_OF_MEMORY : SUCCESS;
}

EXPORTED int cuMemAlloc_v2(device_pointer *start, size_t size) {
    TRY(may_allocate(start, size));
    return memory_new(size, DEVICE_MEMORY, 0, start);
}

EXPORTED int cuMemAllocPitch_v2(device_pointer *start, size_t *pitch, size_t width, size_t height, unsigned element) {
    size_t wide = (width + 511) & ~(size_t)511;
    CONTEXT;
    if (!pitch || width == 0 || height == 0 || wide < width || wide > (size_t)device.attributes[MAX_PITCH]) return INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return INVALID_VALUE;
    if (height > SIZE_MAX / wide) return OUT_OF_MEMORY;
    TRY(cuMemAlloc_v2(start, wide * height));
    *pitch = wide;
    return SUCCESS;
}

EXPORTED int cuMemFree_v2(device_pointer start) {
    DRIVER;
    if (!start) return SUCCESS;
    CURRENT;
    TRY(capture_forbids());
    return memory_free(start, 1 << DEVICE_MEMORY | 1 << MANAGED_MEMORY | 1 << POOL_MEMORY);
}

EXPORTED int cuMemAllocManaged(device_pointer *start, size_t size, unsigned flags) {
    if (flags != 1 && flags != 2) return INVALID_VALUE;
    TRY(may_allocate(start, size));
    return memory_new(size, MANAGED_MEMORY, flags, start);
}

EXPORTED int cuMemHostAlloc(void **start, size_t size, unsigned flags) {
    device_pointer found;
    enum { DEVICE_MAPPED = 2 };
    if (flags > 7) return INVALID_VALUE;
    if (start && !size) {
        CONTEXT;
        *start = NULL;
        return SUCCESS;
    }
    TRY(may_allocate(start, size));
    TRY(memory_new(size, HOST_MEMORY, flags | DEVICE_MAPPED, &found));
    LOCKED;
    memory_written(found, size); /* the host writes there, unseen */
    *start = (void *)(uintptr_t)found;
    return SUCCESS;
}

EXPORTED int cuMemAllocHost_v2(void **start, size_t size) { return cuMemHostAlloc(start, size, 0); }

EXPORTED int cuMemFreeHost(void *start) {
    DRIVER;
    if (!start) return SUCCESS;
    CURRENT;
    TRY(capture_forbids());
    return memory_free((device_pointer)(uintptr_t)start, 1 << HOST_MEMORY);
}

EXPORTED int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    CONTEXT;
    if (total) *total = device.capacity;
    if (free_bytes) *free_bytes = device.capacity - (memory_used() < device.capacity ? memory_used() : device.capacity);
    return SUCCESS;
}

EXPORTED int cuMemGetAddressRange_v2(device_pointer *start, size_t *size, device_pointer address) {
    if (!start && !size) return SUCCESS;
    CONTEXT;
    struct allocation *one = allocation_at(address);
    if (!one) return NOT_FOUND;
    if (start) *start = one->start;
    if (size) *size = one->size;
    return SUCCESS;
}
