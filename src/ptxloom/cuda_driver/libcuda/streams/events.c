/* Events: when they were recorded, and in which graph. Waiting for one returns at once: all work is done. */
#include "streams/events.h"

#include "base/handles.h"
#include "streams/recordings.h"

static int unknown_event(const void *handle) { return handle_gone(handle) ? CONTEXT_IS_DESTROYED : INVALID_HANDLE; }

int event_new(void **handle, unsigned flags) {
    void *made_handle = handle_new(AN_EVENT, sizeof(struct event));
    struct event *event = object_of(AN_EVENT, made_handle);
    if (!event) return OUT_OF_MEMORY;
    event->flags = flags;
    event->context = current_context();
    *handle = made_handle;
    return SUCCESS;
}

EXPORTED int cuEventCreate(void **handle, unsigned flags) {
    CONTEXT;
    if (!handle || flags > EVENT_FLAGS || (flags & INTERPROCESS && !(flags & NO_TIMING))) return INVALID_VALUE;
    return event_new(handle, flags);
}

EXPORTED int cuEventDestroy_v2(void *handle) {
    HANDLE(handle);
    DRIVER;
    if (!object_of(AN_EVENT, handle)) return unknown_event(handle);
    TRY(failed);
    handle_free(handle);
    return SUCCESS;
}

void *event_context(const void *handle) {
    const struct event *event = object_of(AN_EVENT, handle);
    return event ? event->context : NULL;
}

int event_record(void *handle) {
    struct event *event = object_of(AN_EVENT, handle);
    if (!event) return INVALID_HANDLE;
    event->recorded = 1;
    event->capture = NULL;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    return SUCCESS;
}

static int record(const struct work *work) { return event_record(work->handle); }
static const struct way records = {.run = record};
WORK(RECORD_WORK, records)

/* An event that is shared with other processes cannot be in a graph. */
static int recordable(const struct event *event, const struct stream *stream) {
    return stream->capture && event->flags & INTERPROCESS ? capture_invalidate(stream->capture) : SUCCESS;
}

/* The event and the stream of a call whose flags decide whether it makes a node of the event itself in a graph. */
static int both_of(void *handle, void *where, unsigned flags, struct event **event, struct stream **stream) {
    *event = object_of(AN_EVENT, handle);
    if (!*event) return unknown_event(handle);
    if (flags > 1) return INVALID_VALUE;
    TRY(stream_of(where, stream));
    return recordable(*event, *stream);
}

EXPORTED int cuEventRecordWithFlags(void *handle, void *where, unsigned flags) {
    CONTEXT;
    struct stream *stream;
    struct event *event;
    TRY(both_of(handle, where, flags, &event, &stream));
    if (!stream->capture) return flags ? ILLEGAL_STATE : event_record(handle);
    if (flags) {
        struct work work = {.kind = RECORD_WORK, .handle = handle};
        return work_submit(where, &work);
    }
    event->capture = stream->capture;
    event->capture_stream = stream->origin;
    event->node = stream->last_count ? stream->last[stream->last_count - 1] : NULL;
    return SUCCESS;
}

EXPORTED int cuEventRecord(void *event, void *stream) { return cuEventRecordWithFlags(event, stream, 0); }

EXPORTED int cuStreamWaitEvent(void *where, void *handle, unsigned flags) {
    CONTEXT;
    struct stream *stream;
    struct event *event;
    TRY(both_of(handle, where, flags, &event, &stream));
    if (object_of(A_GRAPH, event->capture)) return capture_join(stream, event->capture, event->capture_stream, event->node);
    if (flags && !stream->capture) return ILLEGAL_STATE;
    if (flags) {
        struct work work = {.kind = WAIT_WORK, .handle = handle};
        return work_submit(where, &work);
    }
    if (!stream->capture || !event->recorded) return SUCCESS;
    capture_invalidate(stream->capture);
    return STREAM_CAPTURE_ISOLATION;
}

/* Whether its state may be queried. */
static int event_settled(const struct event *event) {
    const struct recording *graph = recording_of(event->capture);
    if (!event->capture) return capture_forbids();
    if (!graph || graph->is_invalid) return INVALID_VALUE;
    capture_invalidate(event->capture);
    return CAPTURED_EVENT;
}

EXPORTED int cuEventQuery(void *handle) {
    HANDLE(handle);
    CONTEXT;
    struct event *event = object_of(AN_EVENT, handle);
    if (!event) return unknown_event(handle);
    return event_settled(event);
}

SAME(cuEventSynchronize, cuEventQuery); /* what was recorded has happened */

EXPORTED int cuEventElapsedTime_v2(float *milliseconds, void *first, void *last) {
    HANDLE(milliseconds && first && last);
    CONTEXT;
    struct event *from = object_of(AN_EVENT, first), *to = object_of(AN_EVENT, last);
    if (!from || !to) return unknown_event(from ? last : first);
    TRY(event_settled(from));
    TRY(event_settled(to));
    if ((from->flags | to->flags) & NO_TIMING || !from->recorded || !to->recorded) return INVALID_HANDLE;
    double seconds = difftime(to->when.tv_sec, from->when.tv_sec);
    *milliseconds = (float)(seconds * 1e3 + (double)(to->when.tv_nsec - from->when.tv_nsec) * 1e-6);
    return SUCCESS;
}

SAME(cuEventElapsedTime, cuEventElapsedTime_v2);
