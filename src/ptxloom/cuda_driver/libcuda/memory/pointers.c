/* Queries about addresses. */
#include <string.h>

#include "base/connection.h"
#include "base/handles.h"
#include "memory/host_memory.h"
#include "memory/pools.h"
#include "memory/virtual.h"

enum attribute {
    CONTEXT_OF = 1,
    MEMORY_TYPE = 2,
    DEVICE_POINTER = 3,
    HOST_POINTER = 4,
    PEER_TOKENS = 5,
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
    MAPPING_SIZE = 18,
    MAPPING_START = 19,
    MEMORY_BLOCK_ID = 20,
    CAN_DECOMPRESS = 21,
    LAST_ATTRIBUTE = CAN_DECOMPRESS,
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

static uint64_t handle_types(const struct allocation *one) {
    const struct pool *pool = object_of(A_POOL, one->pool);
    return pool ? (uint64_t)pool->handles : 0;
}

/* Memory is mapped in pieces of fixed size, which may hold several allocations. */
static uint64_t mapping_bytes(const struct allocation *one) {
    enum { PIECE = 2 << 20 };
    return one->kind == MAPPED_MEMORY ? one->size : (one->size + PIECE - 1) / PIECE * PIECE;
}

static int answer_for(void *into, int attribute, const struct allocation *one, device_pointer address) {
    device_pointer start = one->start;
    switch (attribute) {
    case CONTEXT_OF: return put(into, &one->context, sizeof one->context);
    case MEMORY_TYPE: return put_number(into, one->kind == HOST_MEMORY ? HOST_TYPE : DEVICE_TYPE);
    case DEVICE_POINTER: return put_address(into, allocation_at(address) ? address : host_memory_device(address));
    case PEER_TOKENS: return one->kind == HOST_MEMORY ? INVALID_VALUE : put(into, (uint64_t[2]){0}, 2 * sizeof(uint64_t));
    case HOST_POINTER: return is_host(one) ? put_address(into, address) : INVALID_VALUE;
    case SYNC_MEMOPS: return put_number(into, one->copies == NOT_TOLD ? one->kind != HOST_MEMORY : one->copies == WAIT);
    case MEMORY_BLOCK_ID:
    case BUFFER_ID: return put_address(into, one->id);
    case IS_MANAGED: return put_flag(into, one->kind == MANAGED_MEMORY);
    case DEVICE_ORDINAL: return put_number(into, 0);
    case IS_LEGACY_IPC_CAPABLE: return put_flag(into, one->kind == DEVICE_MEMORY);
    case MAPPING_START: return put_address(into, one->start);
    case RANGE_START: virtual_extent(address, &start); return put_address(into, start);
    case MAPPING_SIZE: return put_address(into, mapping_bytes(one));
    case RANGE_SIZE: return put_address(into, one->kind == MAPPED_MEMORY ? virtual_extent(address, &start) : one->size);
    case MAPPED: return put_flag(into, 1);
    case ALLOWED_HANDLE_TYPES: return put_address(into, handle_types(one));
    case CAN_DECOMPRESS: return put_number(into, 0);
    case IS_GPU_DIRECT_RDMA_CAPABLE: return put_flag(into, 0);
    case ACCESS_FLAGS: return put_number(into, 3);
    case MEMPOOL_HANDLE: return put_address(into, (uint64_t)(uintptr_t)one->pool);
    default: return INVALID_VALUE;
    }
}

static struct allocation *known_at(device_pointer address, struct allocation *registered) {
    struct allocation *one = allocation_at(address);
    return one ? one : host_memory_known(address, registered) ? registered : NULL;
}

EXPORTED int cuPointerGetAttribute(void *into, int attribute, device_pointer address) {
    DRIVER;
    struct allocation registered, *one = known_at(address, &registered);
    return into && one ? answer_for(into, attribute, one, address) : INVALID_VALUE;
}

/* Attributes of an unknown address are zeros, or not written. */
static void put_nothing(void *into, int attribute, device_pointer address) {
    switch (attribute) {
    case RANGE_START:
    case RANGE_SIZE: break;
    case HOST_POINTER: put_address(into, address); break;
    case MEMORY_TYPE:
    case SYNC_MEMOPS:
    case ACCESS_FLAGS: put_number(into, 0); break;
    case DEVICE_ORDINAL: put_number(into, (uint32_t)-2); break;
    case IS_MANAGED:
    case IS_LEGACY_IPC_CAPABLE:
    case MAPPED:
    case CAN_DECOMPRESS:
    case IS_GPU_DIRECT_RDMA_CAPABLE: put_flag(into, 0); break;
    default: put_address(into, 0); break;
    }
}

EXPORTED int cuPointerGetAttributes(unsigned count, const int *attributes, void **into, device_pointer address) {
    DRIVER;
    struct allocation registered, *one = known_at(address, &registered);
    if (!attributes || !into || count == 0) return INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!into[i] || attributes[i] < CONTEXT_OF || attributes[i] > LAST_ATTRIBUTE || attributes[i] == PEER_TOKENS) return INVALID_VALUE;
        if (!one || answer_for(into[i], attributes[i], one, address)) put_nothing(into[i], attributes[i], one ? 0 : address);
    }
    return SUCCESS;
}

EXPORTED int cuPointerSetAttribute(const unsigned *value, int attribute, device_pointer address) {
    DRIVER;
    struct allocation registered, *one = known_at(address, &registered);
    if (!value || attribute != SYNC_MEMOPS || !one) return INVALID_VALUE;
    one->copies = *value ? WAIT : MAY_OVERLAP; /* not kept for registered memory */
    return SUCCESS;
}
