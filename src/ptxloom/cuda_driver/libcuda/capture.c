/* Streams that are recorded: work given to them becomes nodes of a graph. */
#include <stdlib.h>
#include <string.h>

#include "graphs.h"

enum { NOT_CAPTURING, CAPTURING };
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

int work_submit(void *handle, const struct work *work) {
    struct stream *stream;
    void *node;
    TRY(stream_of(handle, &stream));
    if (!stream->capture) return work_do(work);
    TRY(graph_append(stream->capture, work, stream->last, stream->last_count, &node));
    return set_last(stream, &node, 1);
}

int capture_join(struct stream *stream, void *graph, void *origin, void *node) {
    if (stream->capture && stream->capture != graph) return 905;
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

static int begin(void *handle, void *graph, void *const *after, size_t count, int mode) {
    struct stream *stream;
    if (mode < 0 || mode > 2) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    if ((uintptr_t)handle < 2) return STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture) return ILLEGAL_STATE;
    TRY(set_last(stream, after, count));
    stream->capture = graph;
    stream->origin = handle;
    stream->mode = mode;
    stream->capture_id = ++captures;
    return SUCCESS;
}

EXPORTED int cuStreamBeginCapture_v2(void *stream, int mode) {
    CONTEXT;
    void *graph = handle_new(A_GRAPH, sizeof(struct graph));
    if (!graph) return OUT_OF_MEMORY;
    int error = begin(stream, graph, NULL, 0, mode);
    if (error) graph_destroy(graph);
    return error;
}
EXPORTED int cuStreamBeginCapture(void *stream) { return cuStreamBeginCapture_v2(stream, 0); }

EXPORTED int cuStreamBeginCaptureToGraph(void *stream, void *handle, void *const *after, const void *data, size_t count, int mode) {
    CONTEXT;
    struct graph *graph = object_of(A_GRAPH, handle);
    (void)data;
    if (!graph || (count && !after)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!list_has(&graph->nodes, after[i])) return INVALID_VALUE;
    return begin(stream, handle, after, count, mode);
}

EXPORTED int cuStreamEndCapture(void *handle, void **graph) {
    CONTEXT;
    struct stream *stream;
    if (!graph) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    if (!stream->capture) return ILLEGAL_STATE;
    if (stream->origin != handle) return STREAM_CAPTURE_UNMATCHED;
    *graph = stream->capture;
    stream->capture = NULL;
    stream->last_count = 0;
    streams_leave(*graph);
    return SUCCESS;
}

EXPORTED int cuStreamIsCapturing(void *handle, int *status) {
    CONTEXT;
    struct stream *stream;
    if (!status) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    *status = stream->capture ? CAPTURING : NOT_CAPTURING;
    return SUCCESS;
}

EXPORTED int cuStreamGetCaptureInfo_v2(void *handle, int *status, uint64_t *id, void **graph, void *const **last, size_t *count) {
    CONTEXT;
    struct stream *stream;
    if (!status) return INVALID_VALUE;
    TRY(stream_of(handle, &stream));
    *status = stream->capture ? CAPTURING : NOT_CAPTURING;
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
    static __thread int current;
    DRIVER;
    if (!mode || *mode < 0 || *mode > 2) return INVALID_VALUE;
    int before = current;
    current = *mode;
    *mode = before;
    return SUCCESS;
}
