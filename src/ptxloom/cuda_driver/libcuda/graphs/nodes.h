/* The contents of a node of each kind, as programs pass them. */
#ifndef PTXLOOM_NODES_H
#define PTXLOOM_NODES_H

#include "code/launches.h"
#include "graphs/graphs.h"

struct kernel_node {
    void *function;
    struct shape shape;
    void **parameters, **extra;
    void *kernel, *context;
};
struct fill_node {
    device_pointer to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
struct host_node {
    void (*function)(void *);
    void *argument;
};

/* The work of such a node, which the caller then owns; or an error. */
int kernel_work(const struct kernel_node *p, int version, struct work *work);
int copy_work(const struct copy3d *p, struct work *work);
int fill_work(const struct fill_node *p, struct work *work);
int host_work(const struct host_node *p, struct work *work);

/* Both take the work over. */
int node_add(void **node, void *graph, void *const *after, size_t count, struct work *work);
int node_set(struct work *place, struct work *work, enum work_kind kind);
struct work *work_of_node(const void *handle);

/* Functions of the API. */
int cuGraphNodeGetType(void *node, int *type);
int cuGraphKernelNodeGetParams_v2(void *node, struct kernel_node *p);
int cuGraphMemcpyNodeGetParams(void *node, struct copy3d *p);
int cuGraphMemsetNodeGetParams(void *node, struct fill_node *p);
int cuGraphHostNodeGetParams(void *node, struct host_node *p);

#endif
