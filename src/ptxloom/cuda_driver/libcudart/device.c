/* The structure of a device's properties, filled from the attributes of the driver. */
#include <string.h>

#include "tables.h"

int cuDeviceGetAttribute(int *value, int attribute, int device);
int cuDeviceGetName(char *name, int room, int device);
int cuDeviceGetUuid_v2(void *uuid, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuDriverGetVersion(int *version);
EXPORTED int cudaGetDeviceCount(int *count);

static int judged(int device) {
    int count = 0, failed = cudaGetDeviceCount(&count);
    if (failed) return failed;
    return device >= 0 && device < count ? SUCCESS : INVALID_DEVICE;
}

EXPORTED int cudaGetDeviceProperties(char *to, int device) {
    int failed = judged(device);
    if (failed || !to) return told(failed ? failed : INVALID_VALUE);
    memset(to, 0, properties_bytes);
    if ((failed = cuDeviceGetName(to, 256, device))) return told(failed);
    cuDeviceGetUuid_v2(to + uuid_offset, device);
    if ((failed = cuDeviceTotalMem_v2((size_t *)(to + memory_offset), device))) return told(failed);
    for (int i = 0; i < property_count; i++) {
        int value = 0;
        if (cuDeviceGetAttribute(&value, properties[i].attribute, device)) continue; /* unknown to this driver */
        size_t wide = (size_t)value;
        memcpy(to + properties[i].offset, properties[i].bytes == 8 ? (void *)&wide : (void *)&value, (size_t)properties[i].bytes);
    }
    return SUCCESS;
}

SAME(cudaGetDeviceProperties_v2, cudaGetDeviceProperties);

EXPORTED int cudaDeviceGetAttribute(int *value, int attribute, int device) {
    int failed = judged(device);
    return told(failed ? failed : cuDeviceGetAttribute(value, attribute, device));
}

EXPORTED int cudaChooseDevice(int *device, const void *wanted) {
    if (!device || !wanted) return told(INVALID_VALUE);
    *device = 0; /* all devices are alike */
    return SUCCESS;
}

EXPORTED int cudaDriverGetVersion(int *version) { return told(version ? cuDriverGetVersion(version) : INVALID_VALUE); }

EXPORTED int cudaRuntimeGetVersion(int *version) {
    if (!version) return told(INVALID_VALUE);
    *version = runtime_version;
    return SUCCESS;
}

/* Banks of shared memory are four bytes wide on every device since Maxwell: settings are accepted and ignored. */
EXPORTED int cudaDeviceGetSharedMemConfig(int *bytes) {
    if (!bytes) return told(INVALID_VALUE);
    *bytes = 1; /* cudaSharedMemBankSizeFourByte */
    return SUCCESS;
}

EXPORTED int cudaDeviceSetSharedMemConfig(int bytes) {
    (void)bytes;
    return SUCCESS;
}

EXPORTED int cudaFuncSetSharedMemConfig(const void *function, int bytes) {
    handle kernel;
    (void)bytes;
    START();
    return told(kernel_of(function, &kernel));
}
