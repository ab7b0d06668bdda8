/* The table of streams. */
#ifndef PTXLOOM_STREAMS_H
#define PTXLOOM_STREAMS_H

#include "base/contexts.h"

struct stream {
    uint32_t flags;
    int32_t priority, synchronization;
    uint64_t id;
    void *context;
    void *capture; /* the graph that it is recorded in */
    void *origin;  /* the stream with which that capture began */
    uint64_t capture_id;
    void **last; /* nodes on which the next one depends */
    size_t last_count;
};
int stream_new(void **handle, unsigned flags, int priority, void *context);
int stream_of(void *handle, struct stream **stream);
void streams_leave(void *graph); /* the streams that joined its recording */

#endif
