/* Streams that are recorded: in what mode, and what may not be asked meanwhile. */
#ifndef PTXLOOM_RECORDINGS_H
#define PTXLOOM_RECORDINGS_H

#include "streams/streams.h"
#include "streams/work.h"

/* What a graph begins with: whether streams are recorded in it. */
struct recording {
    int is_recorded, is_invalid; /* by a stream; no longer, as something was asked that does not go with it */
    int mode, is_own;            /* as made by the recording; destroyed if it is not taken */
    const void *thread;          /* that began to record it */
};
struct recording *recording_of(const void *graph); /* NULL if it is no graph */

/* Operations on the nodes of a graph; implemented in graphs/capture.c. */
struct recorder {
    int (*append)(void *graph, const struct work *work, void *const *after, size_t count, void **node);
    void (*destroy)(void *graph);
};
void recorded_by(const struct recorder *recorder);

void recording_begin(struct stream *stream, void *origin, void *graph, int is_own, int mode);
int recording_stop(void *graph); /* no stream is recorded in it from now on; whether a recording made it */
int record_work(struct stream *stream, const struct work *work); /* as a node behind its last ones */
int stream_follows(struct stream *stream, void *const *nodes, size_t count); /* its next node depends on these */
int capture_join(struct stream *stream, void *graph, void *origin, void *node); /* a stream that waits for a recorded event */
int capture_invalidate(void *graph); /* what is recorded is lost; returns the error for a call that cannot be recorded */
int capture_lost(const struct stream *stream); /* an error if what it records is lost */
void capture_drop(void *graph); /* its recording ends, and the graph goes if the recording made it */
int capture_forbids(void); /* whether this thread may not do now what waits for the device: an error, if so */
int capture_forbids_all(void); /* the same, in any mode */

#endif
