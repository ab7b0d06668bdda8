/* The table of all streams. */
#include "base/handles.h"
#include "streams/streams.h"

static struct stream defaults[3] = {{.id = 0}, {.id = 1}, {.id = 2}}; /* NULL, legacy, per-thread */
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
