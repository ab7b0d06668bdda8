/* What a device can do with the host, and with other devices, of which there are none. */
#include "base/contexts.h"
#include "base/handles.h"

enum { ATOMIC_OPERATIONS = 13 };

EXPORTED int cuDeviceGetP2PAttribute(int *value, int attribute, int from, int to) {
    DRIVER;
    (void)attribute, (void)from, (void)to;
    return value ? INVALID_DEVICE : INVALID_VALUE;
}

static int atomics_asked(const unsigned *capabilities, const int *operations, unsigned count) {
    return capabilities && operations && count ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuDeviceGetP2PAtomicCapabilities(unsigned *capabilities, const int *operations, unsigned count, int from, int to) {
    DRIVER;
    (void)from, (void)to;
    TRY(atomics_asked(capabilities, operations, count));
    return INVALID_DEVICE;
}

EXPORTED int cuDeviceGetHostAtomicCapabilities(unsigned *capabilities, const int *operations, unsigned count, int which) {
    TRY(atomics_asked(capabilities, operations, count));
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    for (unsigned i = 0; i < count; i++)
        if (operations[i] < 0 || operations[i] >= ATOMIC_OPERATIONS) return INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) capabilities[i] = 0; /* as over PCI Express */
    return SUCCESS;
}

/* No other device writes to memory. */
EXPORTED int cuFlushGPUDirectRDMAWrites(int target, int scope) {
    enum { CURRENT_CONTEXT = 0, TO_OWNER = 100, TO_ALL = 200 };
    CONTEXT;
    return target != CURRENT_CONTEXT || (scope != TO_OWNER && scope != TO_ALL) ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuCtxGetExecAffinity(int *affinity, int type) {
    enum { BY_MULTIPROCESSORS = 0 };
    CONTEXT;
    if (!affinity) return INVALID_VALUE;
    if (type != BY_MULTIPROCESSORS) return UNSUPPORTED_EXEC_AFFINITY;
    affinity[0] = type;
    affinity[1] = device.attributes[MULTIPROCESSOR_COUNT];
    return SUCCESS;
}

/* Functions for both host and kernels: PTX has no such functions. */
EXPORTED int cuLibraryGetUnifiedFunction(void **function, void *library, const char *name) {
    DRIVER;
    GIVEN(function && name);
    HANDLE(object_of(A_LIBRARY, library));
    return INVALID_VALUE;
}

/* -- notifications, which never come: memory is never revoked ----------------------------------------------------- */

EXPORTED int cuDeviceRegisterAsyncNotification(int which, void (*function)(void *, void *, void *), void *data, void **handle) {
    DRIVER;
    (void)data;
    GIVEN(function && handle);
    if (!is_device(which)) return INVALID_DEVICE;
    *handle = handle_new(A_NOTIFICATION, 1);
    return *handle ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuDeviceUnregisterAsyncNotification(int which, void *handle) {
    DRIVER;
    if (!object_of(A_NOTIFICATION, handle)) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    handle_free(handle);
    return SUCCESS;
}
