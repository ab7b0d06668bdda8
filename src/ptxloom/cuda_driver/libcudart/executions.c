/* Execution contexts: a device's primary one, and green ones, which own a part of it. Their handles are the contexts of the
   driver; the current context does not matter. */
#include <pthread.h>
#include <stdlib.h>

#include "runtime.h"

enum { DRIVER_DEFAULT_STREAM = 1, NON_BLOCKING = 1 };

int cuGreenCtxCreate(handle *green, handle description, int device, unsigned flags);
int cuGreenCtxDestroy(handle green);
int cuGreenCtxRecordEvent(handle green, handle event);
int cuGreenCtxStreamCreate(handle *stream, handle green, unsigned flags, int priority);
int cuCtxFromGreenCtx(handle *context, handle green);
int cuCtxGetDevResource(handle context, void *resource, int type);
int cuCtxGetDevice_v2(int *device, handle context);
int cuCtxGetId(handle context, uint64_t *id);
int cuCtxSynchronize_v2(handle context);
int cuCtxRecordEvent(handle context, handle event);
int cuCtxWaitEvent(handle context, handle event);
int cuCtxPushCurrent_v2(handle context);
int cuCtxPopCurrent_v2(handle *context);
int cuStreamCreateWithPriority(handle *stream, unsigned flags, int priority);

struct part { /* made by this runtime, which may destroy it */
    handle context, green;
    struct part *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct part *parts;

static handle green_of(handle context) {
    handle found = NULL;
    pthread_mutex_lock(&lock);
    for (const struct part *part = parts; part; part = part->next)
        if (part->context == context) found = part->green;
    pthread_mutex_unlock(&lock);
    return found;
}

static handle forget(handle context) {
    handle found = NULL;
    pthread_mutex_lock(&lock);
    for (struct part **link = &parts; *link; link = &(*link)->next) {
        if ((*link)->context != context) continue;
        struct part *part = *link;
        found = part->green;
        *link = part->next;
        free(part);
        break;
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static int remember(handle context, handle green) {
    struct part *part = malloc(sizeof *part);
    if (!part) return MEMORY_ALLOCATION;
    pthread_mutex_lock(&lock);
    *part = (struct part){context, green, parts};
    parts = part;
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

EXPORTED int cudaDeviceGetExecutionCtx(handle *context, int device) {
    handle found;
    if (!context) return told(INVALID_VALUE);
    int failed = primary_of(device, &found);
    if (!failed) *context = found;
    return told(failed);
}

EXPORTED int cudaGreenCtxCreate(handle *context, handle description, int device, unsigned flags) {
    handle primary, green, made;
    if (!context || flags) return told(INVALID_VALUE);
    int failed = primary_of(device, &primary);
    if (!failed) failed = cuGreenCtxCreate(&green, description, device, DRIVER_DEFAULT_STREAM);
    if (failed) return told(failed);
    failed = cuCtxFromGreenCtx(&made, green);
    if (!failed) failed = remember(made, green);
    if (failed) cuGreenCtxDestroy(green);
    if (!failed) *context = made;
    return told(failed);
}

EXPORTED int cudaExecutionCtxDestroy(handle context) {
    handle green = context ? forget(context) : NULL;
    return told(green ? cuGreenCtxDestroy(green) : INVALID_VALUE); /* a primary context stays */
}

/* A null context, which the driver takes for the current one, is an error here. */
#define GIVEN(context)                          \
    if (!(context)) return told(INVALID_VALUE); \
    START()

EXPORTED int cudaExecutionCtxGetDevResource(handle context, void *resource, int type) {
    GIVEN(context);
    return told(cuCtxGetDevResource(context, resource, type));
}

EXPORTED int cudaExecutionCtxGetDevice(int *device, handle context) {
    GIVEN(context);
    return told(cuCtxGetDevice_v2(device, context));
}

EXPORTED int cudaExecutionCtxGetId(handle context, uint64_t *id) {
    GIVEN(context);
    return told(cuCtxGetId(context, id));
}

EXPORTED int cudaExecutionCtxSynchronize(handle context) {
    GIVEN(context);
    return told(cuCtxSynchronize_v2(context));
}

EXPORTED int cudaExecutionCtxRecordEvent(handle context, handle event) {
    GIVEN(context);
    const handle green = green_of(context);
    return told(green ? cuGreenCtxRecordEvent(green, event) : cuCtxRecordEvent(context, event));
}

EXPORTED int cudaExecutionCtxWaitEvent(handle context, handle event) {
    GIVEN(context);
    return told(cuCtxWaitEvent(context, event));
}

EXPORTED int cudaExecutionCtxStreamCreate(handle *stream, handle context, unsigned flags, int priority) {
    if (!stream || flags > NON_BLOCKING) return told(INVALID_VALUE);
    GIVEN(context);
    const handle green = green_of(context);
    if (green) return told(cuGreenCtxStreamCreate(stream, green, NON_BLOCKING, priority)); /* whatever the flags */
    int failed = cuCtxPushCurrent_v2(context);
    if (failed) return told(failed);
    handle popped;
    failed = cuStreamCreateWithPriority(stream, flags, priority);
    cuCtxPopCurrent_v2(&popped);
    return told(failed);
}
