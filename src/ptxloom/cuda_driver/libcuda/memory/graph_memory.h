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
    int uses;          /* the number of works that allocate or free it */
    int is_there, is_freed_by_own, is_freed_by_others;
    struct pool_properties properties; /* as passed by a program */
    size_t access_count;
    struct access access[];
};

struct graph_memory *graph_memory_of(const void *handle);
int graph_memory_near(device_pointer address, uint64_t size); /* whether bytes are in such memory, allocated or not */
int graph_memory_take(void *handle);                          /* allocates it */
int graph_memory_end(void *handle);                           /* frees it */
void graph_memory_use(void *handle, int times);               /* adds references of works */
/* Make allocated memory a graph's, no longer allocated; the caller holds a reference. */
int graph_memory_adopt(device_pointer start, void *graph, size_t access_count, void **handle);
/* The work of a graph that frees it, if permitted. */
int graph_memory_freeing(device_pointer start, const void *graph, struct work *work);
int graph_memory_record(void *stream, device_pointer start); /* makes the allocation the recorded graph's */
int graph_memory_record_free(void *stream, device_pointer start);

#endif
