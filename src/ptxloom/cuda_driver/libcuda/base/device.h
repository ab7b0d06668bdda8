/* The device that the server provides for this process. */
#ifndef PTXLOOM_DEVICE_H
#define PTXLOOM_DEVICE_H

#include <stdint.h>

enum { ATTRIBUTES = 256 };
/* The values of CUdevice_attribute that this library uses. */
enum device_attribute {
    MAX_THREADS_PER_BLOCK = 1,
    MAX_BLOCK_DIM_X = 2,
    MAX_GRID_DIM_X = 5,
    MAX_SHARED_MEMORY_PER_BLOCK = 8,
    MAX_PITCH = 11,
    TEXTURE_ALIGNMENT = 14,
    MULTIPROCESSOR_COUNT = 16,
    MAX_THREADS_PER_MULTIPROCESSOR = 39,
    MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
    MAX_PERSISTING_L2_CACHE_SIZE = 108,
    RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
    CLUSTER_LAUNCH = 120,
};
struct device {
    uint64_t start, size; /* of the device's addresses */
    uint64_t marks;       /* one byte per byte: whether it has been written; 0 if no tool needs them */
    uint64_t capacity;
    int32_t session;
    int32_t attributes[ATTRIBUTES];
    unsigned char uuid[16];
    char name[256];
};
extern struct device device;
int is_device(int ordinal);

#endif
