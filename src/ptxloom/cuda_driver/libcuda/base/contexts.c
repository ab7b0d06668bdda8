/* Contexts: the primary one, others, and the stack of each thread. */
#include <string.h>

#include "base/contexts.h"
#include "base/handles.h"

enum { DEPTH = 64 };
static __thread void *stack[DEPTH];
static __thread int depth;

struct context {
    uint32_t flags;
    int is_green; /* and is destroyed with its green context */
    uint64_t id;
    unsigned attached; /* cuCtxAttach calls */
};

static void *primary; /* keeps its handle, even when it is released and retained again */
static int primary_active;
static uint32_t primary_flags;
static int primary_uses;
static uint64_t made;

/* A context destroyed by another thread, or below the top of the stack, stays on the stack. */
void *current_context(void) { return depth ? stack[depth - 1] : NULL; }

static int is_alive(void *handle) { return object_of(A_CONTEXT, handle) && (handle != primary || primary_active); }

int context_error(void) {
    if (!depth) return INVALID_CONTEXT;
    return is_alive(current_context()) ? failed : CONTEXT_IS_DESTROYED;
}

enum { SCHEDULING = 7, MAPS_HOST = 8, RESIZES = 16, DUMPS = 0x60, DUMPS_ANY = 0x20, SYNCHRONOUS = 0x80 };

static int flags_legal(unsigned flags) {
    unsigned scheduling = flags & SCHEDULING;
    return flags <= (SCHEDULING | MAPS_HOST | RESIZES | DUMPS | SYNCHRONOUS) && !(scheduling & (scheduling - 1));
}

static void *context_new(uint32_t flags) {
    void *handle = handle_new(A_CONTEXT, sizeof(struct context));
    struct context *context = object_of(A_CONTEXT, handle);
    if (context) *context = (struct context){.flags = flags, .id = ++made};
    return handle;
}

void *green_context_new(uint64_t *id) {
    void *handle = context_new(0);
    struct context *context = object_of(A_CONTEXT, handle);
    if (!context) return NULL;
    context->is_green = 1;
    *id = context->id;
    return handle;
}

void context_end(void *handle) {
    if (current_context() == handle) depth--;
    handle_free(handle);
}

static void contexts_forget(void) {
    primary = NULL;
    primary_active = 0;
    primary_uses = 0;
}
FORGETS(contexts_forget)

static int push(void *handle) {
    if (depth == DEPTH) return OUT_OF_MEMORY;
    stack[depth++] = handle;
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRetain(void **context, int which) {
    DRIVER;
    if (!context) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!primary_active) TRY(failed);
    if (!primary && !(primary = context_new(0))) return OUT_OF_MEMORY;
    primary_active = 1;
    primary_uses++;
    *context = primary;
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxRelease_v2(int which) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!primary_uses) return INVALID_CONTEXT;
    if (--primary_uses == 0) primary_active = 0;
    return SUCCESS;
}

SAME(cuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease_v2);

EXPORTED int cuDevicePrimaryCtxReset_v2(int which) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    primary_active = 0; /* each caller that retained it still has to release it */
    return SUCCESS;
}

SAME(cuDevicePrimaryCtxReset, cuDevicePrimaryCtxReset_v2);

EXPORTED int cuDevicePrimaryCtxSetFlags_v2(int which, unsigned flags) {
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    if (!flags_legal(flags) || flags & MAPS_HOST) return INVALID_VALUE;
    primary_flags = flags;
    return SUCCESS;
}

EXPORTED int cuDevicePrimaryCtxSetFlags(int which, unsigned flags) {
    DRIVER;
    return primary_active ? PRIMARY_CONTEXT_ACTIVE : cuDevicePrimaryCtxSetFlags_v2(which, flags);
}

EXPORTED int cuDevicePrimaryCtxGetState(int which, unsigned *flags, int *active) {
    GIVEN(flags && active);
    DRIVER;
    if (!is_device(which)) return INVALID_DEVICE;
    *flags = primary_flags;
    *active = primary_active;
    return SUCCESS;
}

EXPORTED int cuCtxCreate_v2(void **context, unsigned flags, int which) {
    DRIVER;
    if (!context || !flags_legal(flags)) return INVALID_VALUE;
    if (!is_device(which)) return INVALID_DEVICE;
    TRY(failed);
    void *handle = context_new(flags & DUMPS ? (flags & ~DUMPS) | DUMPS_ANY : flags);
    if (!handle || push(handle)) return OUT_OF_MEMORY;
    *context = handle;
    return SUCCESS;
}

EXPORTED int cuCtxCreate_v3(void **context, void *parameters, int count, unsigned flags, int which) {
    return parameters || count ? NOT_SUPPORTED : cuCtxCreate_v2(context, flags, which);
}

struct context_parameters {
    void *affinity;
    int affinity_count;
    void *graphics;
};

EXPORTED int cuCtxCreate_v4(void **context, const struct context_parameters *wanted, unsigned flags, int which) {
    const int is_plain = !wanted || (!wanted->affinity && !wanted->affinity_count && !wanted->graphics);
    return is_plain ? cuCtxCreate_v2(context, flags, which) : NOT_SUPPORTED;
}

EXPORTED int cuCtxDestroy_v2(void *handle) {
    GIVEN(handle);
    DRIVER;
    if (handle == primary) return INVALID_CONTEXT;
    struct context *context = object_of(A_CONTEXT, handle);
    if (!context) return handle_gone(handle) ? CONTEXT_IS_DESTROYED : INVALID_CONTEXT;
    if (context->is_green) return INVALID_CONTEXT;
    context_end(handle);
    return SUCCESS;
}

/* As in old versions: each cuCtxAttach needs its cuCtxDetach, and the last one destroys the context. */
EXPORTED int cuCtxAttach(void **handle, unsigned flags) {
    CONTEXT;
    if (!handle || flags) return INVALID_VALUE;
    ((struct context *)object_of(A_CONTEXT, current_context()))->attached++;
    *handle = current_context();
    return SUCCESS;
}
EXPORTED int cuCtxDetach(void *handle) {
    CONTEXT;
    struct context *context = object_of(A_CONTEXT, handle);
    if (!context || handle != current_context()) return INVALID_CONTEXT;
    if (context->attached) context->attached--;
    else if (handle != primary && !context->is_green) context_end(handle);
    return SUCCESS;
}

EXPORTED int cuCtxPushCurrent_v2(void *handle) {
    DRIVER;
    if (!handle) return INVALID_VALUE;
    return object_of(A_CONTEXT, handle) ? push(handle) : INVALID_CONTEXT;
}

EXPORTED int cuCtxPopCurrent_v2(void **handle) {
    DRIVER;
    void *current = current_context();
    if (!current) return INVALID_CONTEXT;
    depth--;
    if (handle) *handle = current;
    return SUCCESS;
}

EXPORTED int cuCtxSetCurrent(void *handle) {
    DRIVER;
    if (handle && !object_of(A_CONTEXT, handle)) return INVALID_CONTEXT;
    if (current_context()) depth--;
    return handle ? push(handle) : SUCCESS;
}

EXPORTED int cuCtxGetCurrent(void **handle) {
    DRIVER;
    if (!handle) return INVALID_VALUE;
    *handle = current_context();
    return SUCCESS;
}

EXPORTED int cuCtxGetDevice(int *which) {
    GIVEN(which);
    DRIVER;
    if (!current_context()) return INVALID_CONTEXT;
    *which = 0;
    return SUCCESS;
}

static int chosen(void *handle, struct context **context) {
    if (!handle) handle = current_context();
    *context = object_of(A_CONTEXT, handle);
    if (!handle) return INVALID_CONTEXT;
    return is_alive(handle) ? SUCCESS : CONTEXT_IS_DESTROYED;
}

EXPORTED int cuCtxGetDevice_v2(int *which, void *handle) {
    GIVEN(which);
    DRIVER;
    struct context *context;
    TRY(chosen(handle, &context));
    *which = 0;
    return SUCCESS;
}

EXPORTED int cuCtxGetFlags(unsigned *flags) {
    GIVEN(flags);
    DRIVER;
    struct context *context;
    TRY(chosen(NULL, &context));
    *flags = current_context() == primary ? primary_flags | MAPS_HOST : context->flags;
    return SUCCESS;
}

EXPORTED int cuCtxSetFlags(unsigned flags) {
    DRIVER;
    struct context *context;
    if (!flags_legal(flags)) return INVALID_VALUE;
    TRY(chosen(NULL, &context));
    unsigned settable = flags & ~(unsigned)(DUMPS | MAPS_HOST);
    if (current_context() == primary) primary_flags = settable;
    else context->flags = settable | (context->flags & (DUMPS | MAPS_HOST));
    return SUCCESS;
}

EXPORTED int cuCtxGetId(void *handle, uint64_t *id) {
    GIVEN(id);
    DRIVER;
    struct context *context;
    TRY(chosen(handle, &context));
    *id = context->id;
    return SUCCESS;
}

EXPORTED int cuCtxGetApiVersion(void *handle, unsigned *version) {
    DRIVER;
    struct context *context;
    TRY(chosen(handle, &context));
    if (!version) return INVALID_VALUE;
    *version = 3020;
    return SUCCESS;
}

EXPORTED int cuCtxSynchronize_v2(void *handle) {
    DRIVER;
    struct context *context;
    TRY(chosen(handle, &context));
    return failed;
}

EXPORTED int cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CONTEXT;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return SUCCESS;
}

EXPORTED int cuCtxResetPersistingL2Cache(void) {
    CONTEXT;
    return SUCCESS;
}

EXPORTED int cuCtxEnablePeerAccess(void *peer, unsigned flags) {
    CONTEXT;
    if (flags) return INVALID_VALUE;
    return object_of(A_CONTEXT, peer) ? PEER_ACCESS_UNSUPPORTED : INVALID_CONTEXT;
}

EXPORTED int cuCtxDisablePeerAccess(void *peer) {
    CONTEXT;
    return object_of(A_CONTEXT, peer) ? PEER_ACCESS_NOT_ENABLED : INVALID_CONTEXT;
}
