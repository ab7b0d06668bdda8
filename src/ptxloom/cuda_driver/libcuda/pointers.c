/* What is known of an address. */
#include <string.h>

#include "driver.h"

enum attribute {
    CONTEXT_OF = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    SYNC_MEMOPS = 6,
    BUFFER_ID = 7,
    IS_MANAGED = 8,
    DEVICE_ORDINAL = 9,
    IS_LEGACY_IPC_CAPABLE = 10,
    RANGE_START = 11,
    RANGE_SIZE = 12,
    MAPPED = 13,
    ALLOWED_HANDLE_TYPES = 14,
    IS_GPU_DIRECT_RDMA_CAPABLE = 15,
    ACCESS_FLAGS = 16,
    MEMPOOL_HANDLE = 17,
};
enum { HOST_TYPE = 1, DEVICE_TYPE = 2 };

static int put(void *into, const void *value, size_t size) {
    memcpy(into, value, size);
    return SUCCESS;
}

static int put_number(void *into, uint32_t value) { return put(into, &value, sizeof value); }
static int put_address(void *into, uint64_t value) { return put(into, &value, sizeof value); }
static int put_flag(void *into, int value) {
    unsigned char flag = value != 0;
    return put(into, &flag, 1);
}

static int is_host(const struct allocation *one) { return one->kind == HOST_MEMORY || one->kind == MANAGED_MEMORY; }

static int answer_for(void *into, int attribute, const struct allocation *one, device_pointer address) {
    switch (attribute) {
    case CONTEXT_OF: return put(into, &one->context, sizeof one->context);
    case MEMORY_TYPE: return put_number(into, one->kind == HOST_MEMORY ? HOST_TYPE : DEVICE_TYPE);
    case DEVICE_POINTER: return put_address(into, address);
    case HOST_POINTER: return is_host(one) ? put_address(into, address) : INVALID_VALUE;
    case SYNC_MEMOPS: return put_number(into, 1);
    case BUFFER_ID: return put_address(into, one->id);
    case IS_MANAGED: return put_flag(into, one->kind == MANAGED_MEMORY);
    case DEVICE_ORDINAL: return put_number(into, 0);
    case IS_LEGACY_IPC_CAPABLE: return put_flag(into, one->kind == DEVICE_MEMORY);
    case RANGE_START: return put_address(into, one->start);
    case RANGE_SIZE: return put_address(into, one->size);
    case MAPPED: return put_flag(into, 1);
    case ALLOWED_HANDLE_TYPES: return put_address(into, 0);
    case IS_GPU_DIRECT_RDMA_CAPABLE: return put_flag(into, 0);
    case ACCESS_FLAGS: return put_number(into, 3);
    case MEMPOOL_HANDLE: return put_address(into, 0);
    default: return INVALID_VALUE;
    }
}

EXPORTED int cuPointerGetAttribute(void *into, int attribute, device_pointer address) {
    DRIVER;
    struct allocation *one = allocation_at(address);
    return into && one ? answer_for(into, attribute, one, address) : INVALID_VALUE;
}

/* What is not known of an address is answered with zeros. */
EXPORTED int cuPointerGetAttributes(unsigned count, const int *attributes, void **into, device_pointer address) {
    DRIVER;
    struct allocation *one = allocation_at(address);
    if (!attributes || !into || count == 0) return INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!into[i] || attributes[i] < CONTEXT_OF || attributes[i] > MEMPOOL_HANDLE) return INVALID_VALUE;
        if (one && answer_for(into[i], attributes[i], one, address) == SUCCESS) continue;
        switch (attributes[i]) {
        case MEMORY_TYPE:
        case SYNC_MEMOPS:
        case ACCESS_FLAGS: put_number(into[i], 0); break;
        case DEVICE_ORDINAL: put_number(into[i], (uint32_t)-2); break;
        case IS_MANAGED:
        case IS_LEGACY_IPC_CAPABLE:
        case MAPPED:
        case IS_GPU_DIRECT_RDMA_CAPABLE: put_flag(into[i], 0); break;
        default: put_address(into[i], 0); break;
        }
    }
    return SUCCESS;
}

EXPORTED int cuPointerSetAttribute(const void *value, int attribute, device_pointer address) {
    DRIVER;
    return value && attribute == SYNC_MEMOPS && allocation_at(address) ? SUCCESS : INVALID_VALUE;
}
