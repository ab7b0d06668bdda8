/* Devices and contexts: each thread has a device, whose primary context is made current on first use. */
#include <pthread.h>

#include "runtime.h"

enum { MAX_DEVICES = 64 };

int cuInit(unsigned flags);
int cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxRetain(handle *context, int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
int cuCtxGetCurrent(handle *context);
int cuCtxSetCurrent(handle context);
int cuCtxGetDevice(int *device);
int cuCtxSynchronize(void);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static handle primary[MAX_DEVICES];
static __thread int chosen;

static void initialise(void) { initialised = cuInit(0); }

static int valid(int device) {
    int count = 0, failed;
    pthread_once(&once, initialise);
    if (initialised) return initialised;
    if ((failed = cuDeviceGetCount(&count))) return failed;
    return device >= 0 && device < count && device < MAX_DEVICES ? SUCCESS : INVALID_DEVICE;
}

int primary_of(int device, handle *context) {
    int failed = valid(device);
    if (failed) return failed;
    pthread_mutex_lock(&lock);
    if (!primary[device]) failed = cuDevicePrimaryCtxRetain(&primary[device], device);
    *context = primary[device];
    pthread_mutex_unlock(&lock);
    return failed;
}

static int enter(int device) {
    handle context;
    int failed = primary_of(device, &context);
    return failed ? failed : cuCtxSetCurrent(context);
}

int ready(void) {
    handle context = NULL;
    pthread_once(&once, initialise);
    if (initialised) return initialised;
    int failed = cuCtxGetCurrent(&context);
    if (failed || context) return failed;
    return enter(chosen);
}

int current_device(int *device) {
    handle context = NULL;
    pthread_once(&once, initialise);
    if (initialised) return initialised;
    int failed = cuCtxGetCurrent(&context);
    if (failed) return failed;
    if (context) return cuCtxGetDevice(device);
    *device = chosen;
    return SUCCESS;
}

EXPORTED int cudaSetDevice(int device) {
    int failed = enter(device);
    if (!failed) chosen = device;
    return told(failed);
}

EXPORTED int cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    handle context;
    (void)device_flags;
    (void)flags;
    return told(primary_of(device, &context));
}

EXPORTED int cudaGetDevice(int *device) { return told(device ? current_device(device) : INVALID_VALUE); }

EXPORTED int cudaGetDeviceCount(int *count) {
    pthread_once(&once, initialise);
    if (initialised) return told(initialised);
    return told(count ? cuDeviceGetCount(count) : INVALID_VALUE);
}

EXPORTED int cudaSetValidDevices(int *devices, int count) {
    if (!devices || count < 1) return told(count ? INVALID_VALUE : SUCCESS);
    chosen = devices[0];
    return told(valid(devices[0]));
}

EXPORTED int cudaSetDeviceFlags(unsigned flags) {
    enum { MAP_HOST = 8 }; /* every device does: the driver has no such flag */
    int device = 0, failed = current_device(&device);
    return told(failed ? failed : cuDevicePrimaryCtxSetFlags_v2(device, flags & ~(unsigned)MAP_HOST));
}

EXPORTED int cudaGetDeviceFlags(unsigned *flags) {
    int device = 0, active, failed = current_device(&device);
    if (!flags) return told(INVALID_VALUE);
    return told(failed ? failed : cuDevicePrimaryCtxGetState(device, flags, &active));
}

int reset(void (*first)(void)) {
    int device = 0, failed = current_device(&device);
    if (failed) return failed;
    pthread_mutex_lock(&lock);
    if (device < MAX_DEVICES && primary[device]) {
        first();
        cuCtxSetCurrent(NULL);
        failed = cuDevicePrimaryCtxReset_v2(device);
        primary[device] = NULL;
    }
    pthread_mutex_unlock(&lock);
    return failed;
}

EXPORTED int cudaDeviceSynchronize(void) {
    START();
    return told(cuCtxSynchronize());
}

SAME(cudaThreadSynchronize, cudaDeviceSynchronize);
