/* The one device, which the server describes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/connection.h"
#include "base/loading.h"
#include "names.h"

int is_device(int ordinal) { return ordinal == 0; }

EXPORTED int cuInit(unsigned flags) {
    LOCKED;
    return flags ? INVALID_VALUE : connect_device();
}

EXPORTED int cuDeviceGetCount(int *count) {
    DRIVER;
    if (!count) return INVALID_VALUE;
    *count = 1;
    return SUCCESS;
}

EXPORTED int cuDeviceGet(int *found, int ordinal) {
    DRIVER;
    if (!found) return INVALID_VALUE;
    if (!is_device(ordinal)) return INVALID_DEVICE;
    *found = ordinal;
    return SUCCESS;
}

EXPORTED int cuDeviceGetName(char *name, int length, int which) {
    DRIVER;
    if (!name || !length) return INVALID_VALUE; /* a negative length is large if unsigned */
    if (!is_device(which)) return INVALID_DEVICE;
    snprintf(name, length < 0 ? sizeof device.name : (size_t)length, "%s", device.name);
    return SUCCESS;
}

EXPORTED int cuDeviceGetUuid_v2(unsigned char *uuid, int which) {
    DRIVER;
    if (!uuid) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    memcpy(uuid, device.uuid, sizeof device.uuid);
    return SUCCESS;
}

SAME(cuDeviceGetUuid, cuDeviceGetUuid_v2);

EXPORTED int cuDeviceGetAttribute(int *value, int attribute, int which) {
    GIVEN(value);
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (attribute <= 0 || attribute > last_device_attribute) return INVALID_VALUE;
    *value = device.attributes[attribute];
    return SUCCESS;
}

EXPORTED int cuDeviceComputeCapability(int *major, int *minor, int which) {
    DRIVER;
    TRY(cuDeviceGetAttribute(major, 75, which));
    return cuDeviceGetAttribute(minor, 76, which);
}

EXPORTED int cuDeviceTotalMem_v2(size_t *bytes, int which) {
    DRIVER;
    if (!bytes) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *bytes = device.capacity;
    return SUCCESS;
}

static const char bus[] = "0000:00:00.0";

EXPORTED int cuDeviceGetPCIBusId(char *text, int length, int which) {
    DRIVER;
    if (!text || length <= (int)strlen(bus)) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    strcpy(text, bus);
    return SUCCESS;
}

EXPORTED int cuDeviceGetByPCIBusId(int *which, const char *text) {
    DRIVER;
    if (!which || !text) return INVALID_VALUE;
    unsigned domain, number, slot, function;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &number, &slot, &function) != 4) return INVALID_VALUE;
    if (domain || number || slot || function) return INVALID_DEVICE;
    *which = 0;
    return SUCCESS;
}

EXPORTED int cuDeviceGetLuid(char *luid, unsigned *nodes, int which) {
    DRIVER;
    if (!luid || !nodes) return INVALID_VALUE;
    return is_device(which) ? NOT_SUPPORTED : INVALID_DEVICE;
}

struct properties {
    int threads_per_block, block[3], grid[3], shared_per_block, constant_bytes, warp, pitch, registers, clock, alignment;
};

EXPORTED int cuDeviceGetProperties(struct properties *found, int which) {
    DRIVER;
    const int32_t *a = device.attributes;
    if (!found) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *found = (struct properties){a[1], {a[2], a[3], a[4]}, {a[5], a[6], a[7]}, a[8], a[9], a[10], a[11], a[12], a[13], a[14]};
    return SUCCESS;
}

EXPORTED int cuDeviceCanAccessPeer(int *can, int which, int peer) {
    DRIVER;
    if (!can) return INVALID_VALUE;
    if (!is_device(which) || !is_device(peer)) return INVALID_DEVICE;
    *can = 0;
    return SUCCESS;
}

EXPORTED int cuDeviceGetExecAffinitySupport(int *supported, int type, int which) {
    DRIVER;
    if (!supported || type < 0) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    *supported = 0;
    return SUCCESS;
}

EXPORTED int cuGetExportTable(const void **table, const void *id) {
    static int told;
    LOCKED;
    Dl_info asks = {0};
    if (!table || !id) return INVALID_VALUE;
    *table = NULL;
    if (!dladdr(__builtin_return_address(0), &asks) || !asks.dli_fname) asks.dli_fname = "this program";
    if (!has_a_front(asks.dli_fname) && !told++)
        fprintf(stderr,
                "ptxloom: NVIDIA's own CUDA runtime in %s checks that the driver is NVIDIA's; if it fails, "
                "build with `nvcc -cudart shared`, or see what docs/driver.md says of its framework\n",
                asks.dli_fname);
    return NOT_FOUND;
}

EXPORTED int cuProfilerStart(void) { return SUCCESS; }
EXPORTED int cuProfilerStop(void) { return SUCCESS; }
