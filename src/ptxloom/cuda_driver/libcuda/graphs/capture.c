/* Stream capture: work submitted to captured streams becomes nodes of a graph. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"

enum { NOT_CAPTURING, CAPTURING, INVALIDATED };

static const struct recorder recorder = {.append = graph_append, .destroy = graph_destroy};
__attribute__((constructor)) static void record_nodes(void) { recorded_by(&recorder); }

static int begin(void *handle, void *graph, int is_own, void *const *after, size_t count, int mode) {
    struct stream *stream;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    if ((uintptr_t)handle < 2) return STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return ILLEGAL_STATE;
    TRY(stream_follows(stream, after, count));
    recording_begin(stream, handle, graph, is_own, mode);
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
    int is_own = recording_stop(recorded);
    if (lost || (is_own && !graph)) graph_destroy(recorded); /* if lost, even a program's graph, as on silicon */
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
EXPORTED int cuStreamGetCaptureInfo_v3(void *stream, int *status, uint64_t *id, void **graph, void *const **last, const void **data,
                                       size_t *count) {
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
    if (flags) return stream_follows(stream, nodes, count);
    for (size_t i = 0; i < count; i++) TRY(capture_join(stream, stream->capture, stream->origin, nodes[i]));
    return SUCCESS;
}
EXPORTED int cuStreamUpdateCaptureDependencies_v2(void *stream, void **nodes, const void *data, size_t count, unsigned flags) {
    (void)data;
    return cuStreamUpdateCaptureDependencies(stream, nodes, count, flags);
}
