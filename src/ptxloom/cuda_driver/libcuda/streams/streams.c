/* Streams. All work is done when it is submitted, so streams never wait. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "streams/recordings.h"

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
    if (stream->capture && stream->origin == handle) capture_drop(stream->capture); /* nothing else can */
    free(stream->last);
    handle_free(handle);
    return SUCCESS;
}

/* Calls that are not permitted on a recorded stream invalidate the recording. */
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

EXPORTED int cuCtxSynchronize(void) {
    CONTEXT;
    return capture_forbids_all();
}
