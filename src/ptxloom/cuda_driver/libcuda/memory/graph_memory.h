/* Memory that graphs allocate and free. */
#ifndef PTXLOOM_GRAPH_MEMORY_H
#define PTXLOOM_GRAPH_MEMORY_H

#include "memory/pools.h"
#include "streams/work.h"

struct graph_memory {
    device_pointer start;
    uint64_t size;
    enum memory_kind kind;
    const void *graph; /* that allocates it */
    int uses;          /* works that allocate or free it */
    int is_there, is_freed_by_own, is_freed_by_others;
    struct pool_properties properties; /* as a program gave them */
    size_t access_count;
    struct access access[];
};

struct graph_memory *graph_memory_of(const void *handle);
int graph_memory_near(device_pointer address, uint64_t size); /* whether these bytes are of such memory, there or not */
int graph_memory_take(void *handle);                          /* it is there */
int graph_memory_end(void *handle);                           /* and is no longer */
void graph_memory_use(void *handle, int times);               /* that works have */
/* Memory that was allocated becomes a graph's, and is there no longer; the code that adopts it uses it. */
int graph_memory_adopt(device_pointer start, void *graph, size_t access_count, void **handle);
/* The work of a graph that frees it, if that may be. */
int graph_memory_freeing(device_pointer start, const void *graph, struct work *work);
int graph_memory_record(void *stream, device_pointer start); /* what was allocated becomes the recorded graph's */
int graph_memory_record_free(void *stream, device_pointer start);

#endif
