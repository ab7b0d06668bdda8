/* The inputs and outputs of a node that allocates. */
#ifndef PTXLOOM_MEMORY_NODES_H
#define PTXLOOM_MEMORY_NODES_H

#include "graphs/nodes.h"
#include "memory/graph_memory.h"

struct allocation_node {
    struct pool_properties properties;
    struct access *access;
    size_t access_count, size;
    device_pointer start; /* output */
};

int cuGraphAddMemAllocNode(void **node, void *graph, void *const *after, size_t count, struct allocation_node *p);
int cuGraphAddMemFreeNode(void **node, void *graph, void *const *after, size_t count, device_pointer start);
int cuGraphMemAllocNodeGetParams(void *node, struct allocation_node *p);
int cuGraphMemFreeNodeGetParams(void *node, device_pointer *start);

#endif
