/* Launches in the old way: block, shared memory and parameters are set one by one, then a grid is launched. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "code/functions.h"
#include "code/launches.h"
#include "streams/recordings.h"

enum { ROOM = 32764 }; /* for parameters */

struct old_launch {
    struct shape shape;
    uint32_t size;
    unsigned char parameters[ROOM];
};

static int state_of(void *handle, struct function **f) {
    *f = object_of(A_FUNCTION, handle);
    HANDLE(*f);
    if (!(*f)->old) (*f)->old = calloc(1, sizeof *(*f)->old);
    if (!(*f)->old) return OUT_OF_MEMORY;
    if (!(*f)->old->shape.block[0]) (*f)->old->shape = (struct shape){{1, 1, 1}, {1, 1, 1}, 0};
    return SUCCESS;
}

#define OLD_FUNCTION    \
    CONTEXT;            \
    struct function *f; \
    TRY(state_of(handle, &f))

static int block_legal(const struct function *f, const struct shape *shape) {
    const int32_t *d = device.attributes, *required = f->attributes + REQUIRED_BLOCK;
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!shape->block[i] || shape->block[i] > (uint32_t)d[MAX_BLOCK_DIM_X + i]) return INVALID_VALUE;
        if (required[0] && shape->block[i] != (uint32_t)required[i]) return INVALID_VALUE;
        threads *= shape->block[i];
    }
    return threads > (uint32_t)f->attributes[MAX_THREADS] ? INVALID_VALUE : SUCCESS;
}

EXPORTED int cuFuncSetBlockShape(void *handle, int x, int y, int z) {
    OLD_FUNCTION;
    struct shape shape = {.block = {(uint32_t)x, (uint32_t)y, (uint32_t)z}};
    TRY(block_legal(f, &shape));
    memcpy(f->old->shape.block, shape.block, sizeof shape.block);
    return SUCCESS;
}

EXPORTED int cuFuncSetSharedSize(void *handle, unsigned size) {
    OLD_FUNCTION;
    if (size > (uint32_t)f->attributes[MAX_DYNAMIC_SHARED]) return INVALID_VALUE;
    f->old->shape.shared_bytes = size;
    return SUCCESS;
}

EXPORTED int cuParamSetSize(void *handle, unsigned size) {
    OLD_FUNCTION;
    if (size > ROOM) return INVALID_VALUE;
    f->old->size = size;
    return SUCCESS;
}

EXPORTED int cuParamSetv(void *handle, int offset, const void *data, unsigned size) {
    OLD_FUNCTION;
    if (!data || offset < 0 || offset > ROOM || size > (uint32_t)(ROOM - offset)) return INVALID_VALUE;
    memcpy(f->old->parameters + offset, data, size);
    return SUCCESS;
}

EXPORTED int cuParamSeti(void *handle, int offset, unsigned value) { return cuParamSetv(handle, offset, &value, sizeof value); }
EXPORTED int cuParamSetf(void *handle, int offset, float value) { return cuParamSetv(handle, offset, &value, sizeof value); }

/* References reach kernels without being parameters. */
EXPORTED int cuParamSetTexRef(void *handle, int unit, void *reference) {
    OLD_FUNCTION;
    (void)unit;
    HANDLE(object_of(A_REFERENCE, reference));
    return INVALID_VALUE;
}

EXPORTED int cuLaunchGridAsync(void *handle, int width, int height, void *stream) {
    OLD_FUNCTION;
    struct stream *found;
    TRY(stream_of(stream, &found));
    if (found->capture) return capture_invalidate(found->capture);
    struct old_launch *old = f->old;
    if (old->size > f->parameter_bytes) return LAUNCH_OUT_OF_RESOURCES;
    unsigned char nothing = 0; /* unset parameters are zero */
    size_t size = old->size ? old->size : sizeof nothing;
    enum { BUFFER = 1, BUFFER_BYTES = 2 }; /* CU_LAUNCH_PARAM_BUFFER_POINTER and its size */
    void *all[] = {(void *)(uintptr_t)BUFFER, old->size ? old->parameters : &nothing, (void *)(uintptr_t)BUFFER_BYTES, &size, NULL};
    old->shape.grid[0] = (uint32_t)width;
    old->shape.grid[1] = (uint32_t)height;
    return launch_plain(handle, &old->shape, stream, NULL, f->parameter_bytes ? all : NULL, 0);
}

EXPORTED int cuLaunchGrid(void *function, int width, int height) { return cuLaunchGridAsync(function, width, height, NULL); }
EXPORTED int cuLaunch(void *function) { return cuLaunchGridAsync(function, 1, 1, NULL); }

/* -- over several devices, of which there is one -------------------------------------------------------------------- */

struct device_launch {
    void *function;
    struct shape shape;
    void *stream;
    void **parameters;
};

EXPORTED int cuLaunchCooperativeKernelMultiDevice(const struct device_launch *all, unsigned count, unsigned flags) {
    enum { NO_WAITING_BEFORE = 1, NO_WAITING_BEHIND = 2 };
    DRIVER;
    GIVEN(all && count == 1 && flags <= (NO_WAITING_BEFORE | NO_WAITING_BEHIND));
    HANDLE(object_of(A_STREAM, all->stream));
    return launch_plain(all->function, &all->shape, all->stream, all->parameters, NULL, COOPERATIVE);
}
