/* Streams. All work is done when it is given to a stream, so that streams wait for nothing. */
#include <stdlib.h>
#include <string.h>

#include "graphs/graphs.h"

static struct stream defaults[3] = {{.id = 0}, {.id = 1}, {.id = 2}}; /* NULL, the legacy one, that of a thread */
static uint64_t made = 3;

int stream_of(void *handle, struct stream **stream) {
    uintptr_t number = (uintptr_t)handle;
    *stream = number < 3 ? &defaults[number] : object_of(A_STREAM, handle);
    if (*stream) return SUCCESS;
    return handle_gone(handle) ? INVALID_CONTEXT : INVALID_HANDLE;
}

static void leave(struct stream *stream, void *graph) {
    if (stream->capture != graph) return;
    stream->capture = NULL;
    stream->last_count = 0;
}

void streams_leave(void *graph) {
    size_t place = 0;
    for (void *handle; (handle = handle_next(A_STREAM, &place));) leave(object_of(A_STREAM, handle), graph);
    for (int i = 0; i < 3; i++) leave(&defaults[i], graph);
}

int stream_new(void **handle, unsigned flags, int priority, void *context) {
    void *made_handle = handle_new(A_STREAM, sizeof(struct stream));
    struct stream *stream = object_of(A_STREAM, made_handle);
    if (!stream) return OUT_OF_MEMORY;
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    *stream = (struct stream){.flags = flags, .priority = priority, .synchronization = -1, .id = made++, .context = context};
    *handle = made_handle;
    return SUCCESS;
}

EXPORTED int cuStreamCreateWithPriority(void **handle, unsigned flags, int priority) {
    GIVEN(handle);
    CONTEXT;
    return flags > 1 ? INVALID_VALUE : stream_new(handle, flags, priority, current_context());
}

EXPORTED int cuStreamCreate(void **handle, unsigned flags) { return cuStreamCreateWithPriority(handle, flags, 0); }

EXPORTED int cuStreamDestroy_v2(void *handle) {
    HANDLE(handle);
    DRIVER;
    struct stream *stream = object_of(A_STREAM, handle);
    if (!stream) return handle_gone(handle) ? INVALID_CONTEXT : INVALID_HANDLE;
    TRY(failed);
    if (stream->capture && stream->origin == handle) capture_drop(stream->capture); /* nobody else can */
    free(stream->last);
    handle_free(handle);
    return SUCCESS;
}

/* What a stream that is recorded may not be asked: asking ends the recording. */
static int recorded_not(const struct stream *stream) { return stream->capture ? capture_invalidate(stream->capture) : SUCCESS; }

static int asked(void *handle, const void *into, struct stream **stream) {
    TRY(context_error());
    if (!into) return INVALID_VALUE;
    return stream_of(handle, stream);
}

EXPORTED int cuStreamGetPriority(void *handle, int *priority) {
    GIVEN(priority);
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, priority, &stream));
    TRY(capture_lost(stream));
    *priority = stream->priority;
    return SUCCESS;
}

EXPORTED int cuStreamGetFlags(void *handle, unsigned *flags) {
    GIVEN(flags);
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, flags, &stream));
    TRY(recorded_not(stream));
    *flags = stream->flags;
    return SUCCESS;
}

EXPORTED int cuStreamGetId(void *handle, uint64_t *id) {
    GIVEN(id);
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, id, &stream));
    TRY(recorded_not(stream));
    *id = stream->id;
    return SUCCESS;
}

EXPORTED int cuStreamGetCtx(void *handle, void **context) {
    GIVEN(context);
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, context, &stream));
    TRY(capture_lost(stream));
    *context = stream->context ? stream->context : current_context();
    return SUCCESS;
}

EXPORTED int cuStreamGetDevice(void *handle, int *which) {
    GIVEN(which);
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, which, &stream));
    *which = 0;
    return SUCCESS;
}

static int settled(void *handle) {
    struct stream *stream;
    TRY(context_error());
    TRY(stream_of(handle, &stream));
    return recorded_not(stream);
}

EXPORTED int cuStreamSynchronize(void *handle) {
    DRIVER;
    return settled(handle);
}

EXPORTED int cuStreamQuery(void *handle) {
    DRIVER;
    return settled(handle);
}

EXPORTED int cuStreamAttachMemAsync(void *handle, device_pointer start, size_t size, unsigned flags) {
    enum { GLOBAL = 1, HOST = 2, SINGLE = 4 };
    DRIVER;
    TRY(settled(handle));
    struct allocation *one = allocation_at(start);
    if (!one || one->kind != MANAGED_MEMORY || (size && size != one->size)) return INVALID_VALUE;
    if (flags == SINGLE) return (uintptr_t)handle < 3 ? INVALID_VALUE : SUCCESS;
    return flags == GLOBAL || flags == HOST ? SUCCESS : INVALID_VALUE;
}

EXPORTED int cuStreamCopyAttributes(void *to, void *from) {
    DRIVER;
    struct stream *stream;
    TRY(asked(to, to, &stream));
    return stream_of(from, &stream);
}

enum { WINDOW = 1, SYNCHRONIZATION = 3, PRIORITY = 8, MEMORY_DOMAIN_MAP = 9, MEMORY_DOMAIN = 10 };
enum { VALUE_BYTES = 64 };

EXPORTED int cuStreamSetAttribute(void *handle, int attribute, const void *value) {
    DRIVER;
    struct stream *stream;
    int32_t number;
    TRY(asked(handle, value, &stream));
    memcpy(&number, value, sizeof number);
    switch (attribute) {
    case WINDOW:
    case MEMORY_DOMAIN_MAP: return SUCCESS;
    case SYNCHRONIZATION:
        if (number < 1 || number > 4) return INVALID_VALUE;
        stream->synchronization = number;
        return SUCCESS;
    case PRIORITY: stream->priority = number > 0 ? 0 : number < -5 ? -5 : number; return SUCCESS;
    case MEMORY_DOMAIN: return number < 0 || number > 1 ? INVALID_VALUE : SUCCESS;
    default: return INVALID_VALUE;
    }
}

EXPORTED int cuStreamGetAttribute(void *handle, int attribute, void *value) {
    DRIVER;
    struct stream *stream;
    TRY(asked(handle, value, &stream));
    if (attribute != WINDOW && attribute != SYNCHRONIZATION && (attribute < PRIORITY || attribute > MEMORY_DOMAIN)) return INVALID_VALUE;
    memset(value, 0, VALUE_BYTES);
    if (attribute == SYNCHRONIZATION) memcpy(value, &stream->synchronization, sizeof stream->synchronization);
    if (attribute == PRIORITY) memcpy(value, &stream->priority, sizeof stream->priority);
    if (attribute == MEMORY_DOMAIN_MAP) memcpy(value, (unsigned char[]){0, 1}, 2);
    return SUCCESS;
}

/* -- functions of the host ------------------------------------------------------------------------------------- */

EXPORTED int cuLaunchHostFunc(void *stream, void (*function)(void *), void *argument) {
    GIVEN(function);
    CONTEXT;
    struct work work = {.kind = HOST_WORK, .host = {function, argument}};
    return work_submit(stream, &work);
}

EXPORTED int cuLaunchHostFunc_v2(void *stream, void (*function)(void *), void *argument, unsigned mode) {
    (void)mode;
    return cuLaunchHostFunc(stream, function, argument);
}

EXPORTED int cuStreamAddCallback(void *handle, void (*function)(void *, int, void *), void *argument, unsigned flags) {
    GIVEN(function);
    CONTEXT;
    struct stream *stream;
    if (flags) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    TRY(recorded_not(stream));
    int times = lock_release();
    calling_host++;
    function(handle, failed, argument);
    calling_host--;
    lock_take(times);
    return SUCCESS;
}
