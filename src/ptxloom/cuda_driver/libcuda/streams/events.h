/* The state of an event. */
#ifndef PTXLOOM_EVENTS_H
#define PTXLOOM_EVENTS_H

#include <time.h>

#include "base/contexts.h"

enum { NO_TIMING = 2, INTERPROCESS = 4, EVENT_FLAGS = 7 };

struct event {
    unsigned flags;
    int recorded, is_opened; /* through a handle of another process */
    struct timespec when;
    void *context;
    void *capture; /* the graph in which it was recorded last, */
    void *node;    /* and the node before it */
    void *capture_stream;
};
int event_new(void **handle, unsigned flags);
int event_record(void *event);
void *event_context(const void *event); /* in which it was created */

#endif
