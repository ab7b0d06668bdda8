/* Stream capture: work submitted to captured streams becomes nodes of a graph. */
#include "streams/recordings.h"

#include <stdlib.h>
#include <string.h>

#include "base/handles.h"

enum { GLOBAL, THREAD_LOCAL, RELAXED };
static __thread int own_mode;
static uint64_t captures;
static const struct recorder *recorder;

void recorded_by(const struct recorder *theirs) { recorder = theirs; }

/* A graph starts with its recording. */
struct recording *recording_of(const void *graph) { return object_of(A_GRAPH, graph); }

int stream_follows(struct stream *stream, void *const *nodes, size_t count) {
    void **kept = malloc((count ? count : 1) * sizeof *kept);
    if (!kept) return OUT_OF_MEMORY;
    if (count) memcpy(kept, nodes, count * sizeof *kept);
    free(stream->last);
    stream->last = kept;
    stream->last_count = count;
    return SUCCESS;
}

int capture_invalidate(void *handle) {
    struct recording *graph = recording_of(handle);
    if (graph) graph->is_invalid = 1;
    return STREAM_CAPTURE_UNSUPPORTED;
}

int capture_lost(const struct stream *stream) {
    const struct recording *graph = recording_of(stream->capture);
    return graph && graph->is_invalid ? STREAM_CAPTURE_INVALIDATED : SUCCESS;
}

static int forbidden(int in_any_mode) {
    size_t place = 0;
    int error = SUCCESS;
    for (void *handle; (handle = handle_next(A_GRAPH, &place));) {
        struct recording *graph = recording_of(handle);
        if (!graph->is_recorded) continue;
        int is_own = graph->thread == &own_mode;
        int minds = graph->mode == GLOBAL ? is_own || own_mode == GLOBAL : graph->mode == THREAD_LOCAL && is_own;
        if (in_any_mode || (minds && own_mode != RELAXED)) error = capture_invalidate(handle);
    }
    return error;
}

int capture_forbids(void) { return forbidden(0); }
int capture_forbids_all(void) { return forbidden(1); }

int record_work(struct stream *stream, const struct work *work) {
    void *node;
    TRY(capture_lost(stream));
    TRY(recorder->append(stream->capture, work, stream->last, stream->last_count, &node));
    return stream_follows(stream, &node, 1);
}

int capture_join(struct stream *stream, void *graph, void *origin, void *node) {
    if (stream->capture && stream->capture != graph) {
        capture_invalidate(stream->capture);
        capture_invalidate(graph);
        return STREAM_CAPTURE_MERGE;
    }
    if (!stream->capture && !stream->id) {
        capture_invalidate(graph);
        return STREAM_CAPTURE_IMPLICIT;
    }
    if (!stream->capture) {
        struct stream *first = object_of(A_STREAM, origin);
        stream->capture = graph;
        stream->origin = origin;
        stream->capture_id = first ? first->capture_id : 0;
        stream->last_count = 0;
    }
    for (size_t i = 0; i < stream->last_count; i++)
        if (stream->last[i] == node) return SUCCESS;
    if (!node) return SUCCESS;
    size_t count = stream->last_count + 1;
    void **larger = realloc(stream->last, count * sizeof *larger);
    if (!larger) return OUT_OF_MEMORY;
    larger[count - 1] = node;
    stream->last = larger;
    stream->last_count = count;
    return SUCCESS;
}

void recording_begin(struct stream *stream, void *origin, void *graph, int is_own, int mode) {
    struct recording *recorded = recording_of(graph);
    recorded->is_recorded = 1;
    recorded->is_own = is_own;
    recorded->mode = mode;
    recorded->thread = &own_mode;
    stream->capture = graph;
    stream->origin = origin;
    stream->capture_id = ++captures;
}

int recording_stop(void *graph) {
    streams_leave(graph);
    struct recording *made = recording_of(graph);
    if (made) made->is_recorded = made->is_invalid = 0;
    return made && made->is_own;
}

void capture_drop(void *graph) {
    if (recording_stop(graph)) recorder->destroy(graph);
}

EXPORTED int cuThreadExchangeStreamCaptureMode(int *mode) {
    DRIVER;
    if (!mode) return INVALID_VALUE;
    int before = own_mode;
    own_mode = *mode;
    *mode = before;
    return SUCCESS;
}
