/* Stream capture: its mode, and the calls that are not permitted meanwhile. */
#ifndef PTXLOOM_RECORDINGS_H
#define PTXLOOM_RECORDINGS_H

#include "streams/streams.h"
#include "streams/work.h"

/* The first member of a graph: whether streams are recorded in it. */
struct recording {
    int is_recorded, is_invalid; /* by a stream; no longer, as a call was not permitted */
    int mode, is_own;            /* made by the recording, so destroyed if not taken */
    const void *thread;          /* that began the recording */
};
struct recording *recording_of(const void *graph); /* NULL if it is not a graph */

/* Operations on the nodes of a graph; implemented in graphs/capture.c. */
struct recorder {
    int (*append)(void *graph, const struct work *work, void *const *after, size_t count, void **node);
    void (*destroy)(void *graph);
};
void recorded_by(const struct recorder *recorder);

void recording_begin(struct stream *stream, void *origin, void *graph, int is_own, int mode);
int recording_stop(void *graph); /* ends all recording in it; returns whether a recording made it */
int record_work(struct stream *stream, const struct work *work); /* as a node after its last ones */
int stream_follows(struct stream *stream, void *const *nodes, size_t count); /* its next node depends on these */
int capture_join(struct stream *stream, void *graph, void *origin, void *node); /* a stream that waits for a recorded event */
int capture_invalidate(void *graph); /* discards the recording; returns the error for an illegal call */
int capture_lost(const struct stream *stream); /* an error if its recording is invalid */
void capture_drop(void *graph); /* ends its recording; destroys the graph if the recording made it */
int capture_forbids(void); /* an error if this thread may not wait for the device now */
int capture_forbids_all(void); /* the same, in any mode */

#endif
