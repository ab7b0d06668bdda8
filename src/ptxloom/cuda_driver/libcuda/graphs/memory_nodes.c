/* Nodes that allocate and free memory. */
#include <string.h>

#include "base/handles.h"
#include "graphs/memory_nodes.h"
#include "memory/memory.h"

enum { READ_WRITE = 3, MOST_ACCESS = 1 << 10 };

static int access_legal(const struct access *wanted, size_t count) {
    if (count > MOST_ACCESS || (count && !wanted)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (wanted[i].where.type < ON_DEVICE || wanted[i].where.type > ON_HOST_NODE_NEAR) return INVALID_VALUE;
        if (wanted[i].where.type == ON_DEVICE && !is_device(wanted[i].where.id)) return INVALID_DEVICE;
        if (wanted[i].flags != READ_WRITE) return NOT_SUPPORTED;
    }
    return SUCCESS;
}

static int legal(const struct allocation_node *p) {
    const struct pool_properties *wanted = &p->properties;
    if (!p->size || wanted->type < PINNED || wanted->type > MANAGED) return INVALID_VALUE;
    if (wanted->handles || wanted->where.type > ON_DEVICE) return NOT_SUPPORTED;
    if (wanted->where.type != ON_DEVICE || !is_device(wanted->where.id)) return INVALID_VALUE;
    TRY(access_legal(p->access, p->access_count));
    return p->size > device.capacity ? OUT_OF_MEMORY : SUCCESS;
}

static int after_legal(void *handle, void *const *after, size_t count) {
    const struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph || (count && !after)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!list_has(&graph->nodes, after[i])) return INVALID_VALUE;
    return graph->is_given ? NOT_SUPPORTED : SUCCESS;
}

static int may_add(void **node, void *graph, void *const *after, size_t count, const struct allocation_node *p) {
    DRIVER;
    GIVEN(node && graph && p);
    CURRENT;
    TRY(after_legal(graph, after, count));
    return legal(p);
}

static int added(void **node, void *graph, void *const *after, size_t count, struct allocation_node *p, device_pointer start) {
    DRIVER;
    struct work work = {.kind = ALLOCATE_WORK};
    TRY(graph_memory_adopt(start, graph, p->access_count, &work.handle));
    struct graph_memory *one = object_of(A_GRAPH_MEMORY, work.handle);
    one->properties = p->properties;
    if (p->access_count) memcpy(one->access, p->access, p->access_count * sizeof *p->access);
    TRY(node_add(node, graph, after, count, &work));
    p->start = start;
    return SUCCESS;
}

EXPORTED int cuGraphAddMemAllocNode(void **node, void *graph, void *const *after, size_t count, struct allocation_node *p) {
    device_pointer start;
    TRY(may_add(node, graph, after, count, p));
    TRY(memory_new(p->size, POOL_MEMORY, 0, &start));
    return added(node, graph, after, count, p, start);
}

EXPORTED int cuGraphAddMemFreeNode(void **node, void *graph, void *const *after, size_t count, device_pointer start) {
    DRIVER;
    GIVEN(node && graph);
    CURRENT;
    struct work work;
    TRY(after_legal(graph, after, count));
    TRY(graph_memory_freeing(start, graph, &work));
    return node_add(node, graph, after, count, &work);
}

static struct graph_memory *memory_of_node(const void *handle, enum work_kind kind) {
    const struct work *work = work_of_node(handle);
    return work && work->kind == kind ? object_of(A_GRAPH_MEMORY, work->handle) : NULL;
}

EXPORTED int cuGraphMemAllocNodeGetParams(void *handle, struct allocation_node *p) {
    GIVEN(handle && p);
    DRIVER;
    struct graph_memory *one = memory_of_node(handle, ALLOCATE_WORK);
    if (!one) return INVALID_VALUE;
    *p = (struct allocation_node){one->properties, one->access, one->access_count, one->size, one->start};
    return SUCCESS;
}

EXPORTED int cuGraphMemFreeNodeGetParams(void *handle, device_pointer *start) {
    GIVEN(handle && start);
    DRIVER;
    const struct graph_memory *one = memory_of_node(handle, FREE_WORK);
    if (!one) return INVALID_VALUE;
    *start = one->start;
    return SUCCESS;
}
