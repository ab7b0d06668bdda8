/* Streams that are recorded: work given to them becomes nodes of a graph. */
#include <stdlib.h>
#include <string.h>

#include "graphs/graphs.h"

enum { NOT_CAPTURING, CAPTURING, INVALIDATED };
enum { GLOBAL, THREAD_LOCAL, RELAXED };
static __thread int own_mode;
static uint64_t captures;

static int set_last(struct stream *stream, void *const *nodes, size_t count) {
    void **kept = malloc((count ? count : 1) * sizeof *kept);
    if (!kept) return OUT_OF_MEMORY;
    if (count) memcpy(kept, nodes, count * sizeof *kept);
    free(stream->last);
    stream->last = kept;
    stream->last_count = count;
    return SUCCESS;
}

int capture_invalidate(void *handle) {
    struct graph *graph = object_of(A_GRAPH, handle);
    if (graph) graph->is_invalid = 1;
    return STREAM_CAPTURE_UNSUPPORTED;
}

int capture_lost(const struct stream *stream) {
    struct graph *graph = object_of(A_GRAPH, stream->capture);
    return graph && graph->is_invalid ? STREAM_CAPTURE_INVALIDATED : SUCCESS;
}

static int forbidden(int in_any_mode) {
    size_t place = 0;
    int error = SUCCESS;
    for (void *handle; (handle = handle_next(A_GRAPH, &place));) {
        struct graph *graph = object_of(A_GRAPH, handle);
        if (!graph->is_recorded) continue;
        int is_own = graph->thread == &own_mode;
        int minds = graph->mode == GLOBAL ? is_own || own_mode == GLOBAL : graph->mode == THREAD_LOCAL && is_own;
        if (in_any_mode || (minds && own_mode != RELAXED)) error = capture_invalidate(handle);
    }
    return error;
}

int capture_forbids(void) { return forbidden(0); }
int capture_forbids_all(void) { return forbidden(1); }

int work_submit(void *handle, const struct work *work) {
    struct stream *stream;
    void *node;
    TRY(stream_of(handle, &stream));
    if (!stream->capture) return work_do(work);
    TRY(capture_lost(stream));
    TRY(graph_append(stream->capture, work, stream->last, stream->last_count, &node));
    return set_last(stream, &node, 1);
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

static int begin(void *handle, void *graph, int is_own, void *const *after, size_t count, int mode) {
    struct stream *stream;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    if ((uintptr_t)handle < 2) return STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return ILLEGAL_STATE;
    TRY(set_last(stream, after, count));
    struct graph *recorded = object_of(A_GRAPH, graph);
    recorded->is_recorded = 1;
    recorded->is_own = is_own;
    recorded->mode = mode;
    recorded->thread = &own_mode;
    stream->capture = graph;
    stream->origin = handle;
    stream->capture_id = ++captures;
    return SUCCESS;
}

EXPORTED int cuStreamBeginCapture_v2(void *stream, int mode) {
    CONTEXT;
    void *graph = graph_new();
    if (!graph) return OUT_OF_MEMORY;
    int error = begin(stream, graph, 1, NULL, 0, mode);
    if (error) graph_destroy(graph);
    return error;
}
EXPORTED int cuStreamBeginCapture(void *stream) { return cuStreamBeginCapture_v2(stream, 0); }

EXPORTED int cuStreamBeginCaptureToGraph(void *stream, void *handle, void *const *after, const void *data, size_t count, int mode) {
    GIVEN(handle);
    CONTEXT;
    struct graph *graph = object_of(A_GRAPH, handle);
    (void)data;
    if (!graph || (count && !after)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!list_has(&graph->nodes, after[i])) return INVALID_VALUE;
    return begin(stream, handle, 0, after, count, mode);
}

/* No stream is recorded in a graph any more; whether the recording made it. */
static int capture_stop(void *recorded) {
    streams_leave(recorded);
    struct graph *made = object_of(A_GRAPH, recorded);
    if (made) made->is_recorded = made->is_invalid = 0;
    return made && made->is_own;
}

void capture_drop(void *recorded) {
    if (capture_stop(recorded)) graph_destroy(recorded);
}

EXPORTED int cuStreamEndCapture(void *handle, void **graph) {
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    if (!stream->capture) return ILLEGAL_STATE;
    void *recorded = stream->capture;
    int lost = capture_lost(stream);
    if (stream->origin != handle) {
        capture_invalidate(recorded);
        return lost ? lost : STREAM_CAPTURE_UNMATCHED;
    }
    int is_own = capture_stop(recorded);
    if (lost || (is_own && !graph)) graph_destroy(recorded); /* if lost, a program's, too, as on silicon */
    if (graph) *graph = lost ? NULL : recorded;
    return lost;
}

static int status_of(const struct stream *stream) {
    return !stream->capture ? NOT_CAPTURING : capture_lost(stream) ? INVALIDATED : CAPTURING;
}

EXPORTED int cuStreamIsCapturing(void *handle, int *status) {
    GIVEN(status);
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    *status = status_of(stream);
    return SUCCESS;
}

EXPORTED int cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, void **graph, void *const **last, size_t *count) {
    GIVEN(status);
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    *status = status_of(stream);
    if (!stream->capture) return SUCCESS;
    if (id) *id = stream->capture_id;
    if (graph) *graph = stream->capture;
    if (last) *last = stream->last;
    if (count) *count = stream->last_count;
    return SUCCESS;
}
EXPORTED int cuStreamGetCaptureInfo(void *stream, int *status, uint64_t *id) {
    return cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}
EXPORTED int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph, void *const **last,
                                       const void **data, size_t *count) {
    if (data) *data = NULL;
    return cuStreamGetCaptureInfo_v2(stream, status, id, graph, last, count);
}

EXPORTED int cuStreamUpdateCaptureDependencies(void *handle, void **nodes, size_t count, unsigned flags) {
    CONTEXT;
    struct stream *stream;
    TRY(stream_of(handle, &stream));
    if (!stream->capture) return ILLEGAL_STATE;
    struct graph *graph = object_of(A_GRAPH, stream->capture);
    if (flags > 1 || !graph || (count && !nodes)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!list_has(&graph->nodes, nodes[i])) return INVALID_VALUE;
    if (flags) return set_last(stream, nodes, count);
    for (size_t i = 0; i < count; i++) TRY(capture_join(stream, stream->capture, stream->origin, nodes[i]));
    return SUCCESS;
}
EXPORTED int cuStreamUpdateCaptureDependencies_v2(void *stream, void **nodes, const void *data, size_t count, unsigned flags) {
    (void)data;
    return cuStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}

EXPORTED int cuThreadExchangeStreamCaptureMode(int *mode) {
    DRIVER;
    if (!mode) return INVALID_VALUE;
    int before = own_mode;
    own_mode = *mode;
    *mode = before;
    return SUCCESS;
}
