/* Host memory that the program registers: kernels see a copy, which is synchronised around each launch. */
#include <stdlib.h>
#include <string.h>

#include "base/contexts.h"
#include "memory/host_memory.h"
#include "memory/memory.h"

enum { PORTABLE = 1, DEVICE_MAPPED = 2, READ_ONLY = 8 };

struct registered {
    unsigned char *start;
    size_t size;
    device_pointer copy; /* 0 until a kernel may access it */
    unsigned flags;
    uint64_t id;
    void *context;
};

static struct registered *all;
static size_t count;

static struct registered *registered_at(const void *address) {
    for (size_t i = 0; i < count; i++)
        if ((uintptr_t)address - (uintptr_t)all[i].start < all[i].size) return &all[i];
    return NULL;
}

static int overlapping(const unsigned char *start, size_t size) {
    for (size_t i = 0; i < count; i++)
        if ((uintptr_t)start - (uintptr_t)all[i].start < all[i].size || (uintptr_t)all[i].start - (uintptr_t)start < size) return 1;
    return 0;
}

static void host_memory_forget(void) { count = 0; }
FORGETS(host_memory_forget)

void host_memory_in(void) {
    for (size_t i = 0; i < count; i++)
        if (all[i].copy) memcpy((void *)(uintptr_t)all[i].copy, all[i].start, all[i].size);
}

void host_memory_out(void) {
    for (size_t i = 0; i < count; i++)
        if (all[i].copy) memcpy(all[i].start, (void *)(uintptr_t)all[i].copy, all[i].size);
}

EXPORTED int cuMemHostRegister_v2(void *start, size_t size, unsigned flags) {
    CONTEXT;
    device_pointer address = (device_pointer)(uintptr_t)start;
    if (!start || !size || flags & ~(unsigned)(PORTABLE | DEVICE_MAPPED | READ_ONLY) || in_device(address) || !reachable(address, size))
        return INVALID_VALUE;
    if (overlapping(start, size)) return HOST_MEMORY_ALREADY_REGISTERED;
    struct registered *moved = realloc(all, (count + 1) * sizeof *moved);
    if (!moved) return OUT_OF_MEMORY;
    all = moved;
    all[count++] = (struct registered){start, size, 0, (flags & PORTABLE) | DEVICE_MAPPED, allocation_id(), current_context()};
    return SUCCESS;
}
SAME(cuMemHostRegister, cuMemHostRegister_v2);

EXPORTED int cuMemHostUnregister(void *start) {
    DRIVER;
    GIVEN(start);
    CURRENT;
    struct registered *one = registered_at(start);
    if (!one) return allocation_at((device_pointer)(uintptr_t)start) ? INVALID_VALUE : HOST_MEMORY_NOT_REGISTERED;
    if (one->start != start) return INVALID_VALUE;
    int error = one->copy ? memory_free(one->copy, 1 << HOST_MEMORY) : SUCCESS;
    *one = all[--count];
    return error;
}

/* The address at which kernels see registered memory. */
static int host_memory_seen(void *address, device_pointer *found) {
    struct registered *one = registered_at(address);
    if (!one) return INVALID_VALUE;
    if (!one->copy) TRY(memory_new(one->size, HOST_MEMORY, 0, &one->copy));
    memcpy((void *)(uintptr_t)one->copy, one->start, one->size);
    *found = one->copy + ((device_pointer)(uintptr_t)address - (device_pointer)(uintptr_t)one->start);
    return SUCCESS;
}

int host_memory_known(device_pointer address, struct allocation *told) {
    struct registered *one = registered_at((void *)(uintptr_t)address);
    if (!one) return 0;
    *told = (struct allocation){.start = (device_pointer)(uintptr_t)one->start,
                                .size = one->size,
                                .kind = HOST_MEMORY,
                                .flags = one->flags,
                                .id = one->id,
                                .context = one->context};
    return 1;
}

device_pointer host_memory_device(device_pointer address) {
    device_pointer found;
    return host_memory_seen((void *)(uintptr_t)address, &found) ? 0 : found;
}

static int host_memory_flags(void *address, unsigned *flags) {
    struct registered *one = registered_at(address);
    if (one) *flags = one->flags;
    return one ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuMemHostGetDevicePointer_v2(device_pointer *found, void *start, unsigned flags) {
    CONTEXT;
    if (!found || !start || flags) return INVALID_VALUE;
    struct allocation *one = allocation_at((device_pointer)(uintptr_t)start);
    if (!one) return host_memory_seen(start, found);
    if (one->kind != HOST_MEMORY) return INVALID_VALUE;
    *found = (device_pointer)(uintptr_t)start;
    return SUCCESS;
}

EXPORTED int cuMemHostGetFlags(unsigned *flags, void *start) {
    GIVEN(flags);
    CONTEXT;
    struct allocation *one = allocation_at((device_pointer)(uintptr_t)start);
    if (!one) return host_memory_flags(start, flags);
    if (one->kind != HOST_MEMORY) return INVALID_VALUE;
    *flags = one->flags;
    return SUCCESS;
}
