/* Host memory that the program has from elsewhere: kernels see a copy, which is brought up to date around each launch. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"

struct registered {
    unsigned char *start;
    size_t size;
    device_pointer copy; /* 0 until a kernel may see it */
    unsigned flags;
};

static struct registered *all;
static size_t count;

static struct registered *registered_at(const void *address) {
    for (size_t i = 0; i < count; i++)
        if ((uintptr_t)address - (uintptr_t)all[i].start < all[i].size) return &all[i];
    return NULL;
}

void host_memory_forget(void) { count = 0; }

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
    if (!start || !size || flags > 15 || in_device(address) || !reachable(address, size)) return INVALID_VALUE;
    if (registered_at(start)) return HOST_MEMORY_ALREADY_REGISTERED;
    struct registered *moved = realloc(all, (count + 1) * sizeof *moved);
    if (!moved) return OUT_OF_MEMORY;
    all = moved;
    all[count++] = (struct registered){start, size, 0, flags};
    return SUCCESS;
}
EXPORTED int cuMemHostRegister(void *start, size_t size, unsigned flags) { return cuMemHostRegister_v2(start, size, flags); }

EXPORTED int cuMemHostUnregister(void *start) {
    CONTEXT;
    struct registered *one = registered_at(start);
    if (!start) return INVALID_VALUE;
    if (!one || one->start != start) return HOST_MEMORY_NOT_REGISTERED;
    int error = one->copy ? memory_free(one->copy, 1 << HOST_MEMORY) : SUCCESS;
    *one = all[--count];
    return error;
}

/* Where kernels see an address of registered memory. */
int host_memory_seen(void *address, device_pointer *found) {
    struct registered *one = registered_at(address);
    if (!one) return INVALID_VALUE;
    if (!one->copy) TRY(memory_new(one->size, HOST_MEMORY, 0, &one->copy));
    memcpy((void *)(uintptr_t)one->copy, one->start, one->size);
    *found = one->copy + ((device_pointer)(uintptr_t)address - (device_pointer)(uintptr_t)one->start);
    return SUCCESS;
}

int host_memory_flags(void *address, unsigned *flags) {
    struct registered *one = registered_at(address);
    if (one) *flags = one->flags;
    return one ? SUCCESS : INVALID_VALUE;
}
