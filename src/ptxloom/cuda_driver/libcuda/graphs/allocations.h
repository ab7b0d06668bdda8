/* Memory that graphs allocate and free. */
#ifndef PTXLOOM_ALLOCATIONS_H
#define PTXLOOM_ALLOCATIONS_H

#include "graphs/graphs.h"
#include "memory/pools.h"

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

/* Memory that was allocated becomes a graph's, and is there no longer; whoever adopts it uses it. */
int graph_memory_adopt(device_pointer start, void *graph, size_t access_count, void **handle);
/* The work of a graph that frees it, if that may be. */
int graph_memory_freeing(device_pointer start, const void *graph, struct work *work);

#endif
