/* Memory: allocations on the device and on the host, and the attributes of pointers. */
#include <string.h>

#include "runtime.h"

int cuMemAlloc_v2(char **address, size_t bytes);
int cuMemAllocPitch_v2(char **address, size_t *pitch, size_t width_bytes, size_t height, unsigned element_bytes);
int cuMemAllocManaged(char **address, size_t bytes, unsigned flags);
int cuMemAllocAsync(char **address, size_t bytes, handle stream);
int cuMemFree_v2(char *address);
int cuMemHostAlloc(char **address, size_t bytes, unsigned flags);
int cuMemFreeHost(char *address);
int cuMemHostRegister_v2(char *address, size_t bytes, unsigned flags);
int cuPointerGetAttribute(void *value, int attribute, const char *address);

EXPORTED int cudaMalloc(char **address, size_t bytes) {
    if (!address) return told(INVALID_VALUE);
    START();
    *address = NULL;
    return told(bytes ? cuMemAlloc_v2(address, bytes) : SUCCESS);
}

EXPORTED int cudaMallocPitch(char **address, size_t *pitch, size_t width_bytes, size_t height) {
    if (!address || !pitch) return told(INVALID_VALUE);
    START();
    *address = NULL;
    *pitch = 0;
    return told(width_bytes && height ? cuMemAllocPitch_v2(address, pitch, width_bytes, height, 4) : SUCCESS);
}

EXPORTED int cudaMalloc3D(struct pitched_pointer *to, struct extent extent) {
    if (!to) return told(INVALID_VALUE);
    *to = (struct pitched_pointer){NULL, 0, extent.width, extent.height};
    if (extent.depth && extent.height > SIZE_MAX / extent.depth) return told(INVALID_VALUE);
    return cudaMallocPitch(&to->pointer, &to->pitch, extent.width, extent.height * extent.depth);
}

EXPORTED int cudaMallocManaged(char **address, size_t bytes, unsigned flags) {
    if (!address || !bytes) return told(INVALID_VALUE);
    START();
    return told(cuMemAllocManaged(address, bytes, flags));
}

EXPORTED int cudaMallocAsync(char **address, size_t bytes, handle stream) {
    if (!address) return told(INVALID_VALUE);
    START();
    *address = NULL;
    return told(bytes ? cuMemAllocAsync(address, bytes, stream) : SUCCESS);
}

EXPORTED int cudaFree(char *address) {
    START();
    return told(address ? cuMemFree_v2(address) : SUCCESS);
}

EXPORTED int cudaHostAlloc(char **address, size_t bytes, unsigned flags) {
    if (!address) return told(INVALID_VALUE);
    START();
    *address = NULL;
    return told(bytes ? cuMemHostAlloc(address, bytes, flags) : SUCCESS);
}

EXPORTED int cudaMallocHost(char **address, size_t bytes) { return cudaHostAlloc(address, bytes, 0); }

EXPORTED int cudaFreeHost(char *address) {
    START();
    return told(address ? cuMemFreeHost(address) : SUCCESS);
}

EXPORTED int cudaHostRegister(char *address, size_t bytes, unsigned flags) {
    START();
    return told(cuMemHostRegister_v2(address, bytes, flags));
}

EXPORTED int cudaPointerGetAttributes(struct pointer_attributes *to, const char *address) {
    enum { MEMORY_TYPE = 2, DEVICE_POINTER = 3, HOST_POINTER = 4, IS_MANAGED = 8, DEVICE_ORDINAL = 9 };
    enum { UNREGISTERED = 0, MANAGED = 3, NO_DEVICE = -2 };
    int managed = 0;
    if (!to) return told(INVALID_VALUE);
    START();
    *to = (struct pointer_attributes){.type = UNREGISTERED, .device = NO_DEVICE, .host_pointer = (char *)(word)address};
    if (cuPointerGetAttribute(&to->type, MEMORY_TYPE, address)) {
        to->type = UNREGISTERED;
        return SUCCESS;
    }
    cuPointerGetAttribute(&managed, IS_MANAGED, address);
    if (managed) to->type = MANAGED;
    to->host_pointer = NULL;
    cuPointerGetAttribute(&to->device, DEVICE_ORDINAL, address);
    cuPointerGetAttribute(&to->device_pointer, DEVICE_POINTER, address);
    if (managed || to->type == HOST) cuPointerGetAttribute(&to->host_pointer, HOST_POINTER, address);
    return SUCCESS;
}
