/* Nodes of any kind, in one structure. */
#include <string.h>

#include "base/handles.h"
#include "graphs/memory_nodes.h"
#include "graphs/value_nodes.h"

enum {
    KERNEL_NODE,
    COPY_NODE,
    FILL_NODE,
    HOST_NODE,
    CHILD_NODE,
    EMPTY_NODE,
    WAIT_NODE,
    RECORD_NODE,
    ALLOCATION_NODE = 10,
    FREE_NODE,
    VALUE_NODE,
    CONDITION_NODE
};
enum { CLONED, GIVEN_AWAY };
struct any_node {
    int type, reserved[3];
    union {
        uint64_t room[29];
        struct kernel_node kernel;
        struct {
            int flags, reserved;
            void *context;
            struct copy3d copy;
        } copy;
        struct fill_node fill;
        struct host_node host;
        struct {
            void *graph;
            int ownership;
        } child;
        void *event;
        struct allocation_node allocation;
        device_pointer freed;
        struct value_node values;
        struct condition_params condition;
    };
    uint64_t unused;
};

static const size_t node_bytes[] = {
    [KERNEL_NODE] = sizeof(struct kernel_node),
    [COPY_NODE] = 16 + sizeof(struct copy3d),
    [FILL_NODE] = sizeof(struct fill_node) + 8,
    [HOST_NODE] = sizeof(struct host_node) + 8,
    [CHILD_NODE] = 16,
    [WAIT_NODE] = 8,
    [RECORD_NODE] = 8,
    [ALLOCATION_NODE] = sizeof(struct allocation_node),
    [FREE_NODE] = sizeof(device_pointer),
    [VALUE_NODE] = sizeof(struct value_node),
    [CONDITION_NODE] = sizeof(struct condition_params),
};

/* The bytes after the parameters of a kind must be zero. */
static int any_legal(const struct any_node *p) {
    if (p->type < 0 || p->type > CONDITION_NODE || p->reserved[0] || p->reserved[1] || p->reserved[2] || p->unused) return INVALID_VALUE;
    if (p->type > RECORD_NODE && p->type < ALLOCATION_NODE) return NOT_SUPPORTED;
    const unsigned char *bytes = (const unsigned char *)p->room;
    for (size_t i = node_bytes[p->type]; i < sizeof p->room; i++)
        if (bytes[i]) return INVALID_VALUE;
    return SUCCESS;
}

/* The graph of a node: a copy, or the given graph, which the node then owns. */
static int child_work(void *child, int ownership, struct work *work) {
    struct graph *graph = object_of(A_GRAPH, child);
    *work = (struct work){.kind = GRAPH_WORK, .handle = child};
    if (!graph || ownership < CLONED || ownership > GIVEN_AWAY) return INVALID_VALUE;
    if (graph->is_given || (ownership == CLONED && graph_allocates(child))) return NOT_SUPPORTED;
    if (ownership == CLONED) return graph_copy(child, &work->handle);
    if (graph->is_child || graph->recording.is_recorded) return INVALID_VALUE;
    graph->is_given = 1;
    return SUCCESS;
}

static int any_work(const struct any_node *p, struct work *work) {
    *work = (struct work){.kind = NOTHING};
    switch (p->type) {
    case KERNEL_NODE: return kernel_work(&p->kernel, 2, work);
    case COPY_NODE: return copy_work(&p->copy.copy, work);
    case FILL_NODE: return fill_work(&p->fill, work);
    case HOST_NODE: return host_work(&p->host, work);
    case CHILD_NODE: return child_work(p->child.graph, p->child.ownership, work);
    case WAIT_NODE:
    case RECORD_NODE:
        *work = (struct work){.kind = p->type == WAIT_NODE ? WAIT_WORK : RECORD_WORK, .handle = p->event};
        return object_of(AN_EVENT, p->event) ? SUCCESS : INVALID_VALUE;
    case VALUE_NODE: return value_work(&p->values, work);
    case CONDITION_NODE: return condition_make(&p->condition, work);
    default: return SUCCESS;
    }
}

static void give_back(const struct work *work) {
    struct graph *child = work->kind == GRAPH_WORK ? object_of(A_GRAPH, work->handle) : NULL;
    if (work->kind == CONDITION_WORK) inner_drop(work);
    if (child && child->is_given) child->is_given = 0;
    else if (child) graph_destroy(work->handle);
}

EXPORTED int cuGraphAddNode_v2(void **node, void *graph, void *const *after, const void *data, size_t count, struct any_node *p) {
    GIVEN(graph);
    if (node && p && p->type == ALLOCATION_NODE) { /* releases the lock in between */
        TRY(any_legal(p));
        return cuGraphAddMemAllocNode(node, graph, after, count, &p->allocation);
    }
    CONTEXT;
    struct work work;
    (void)data; /* of edges: all work is done in the order of the nodes */
    if (!node || !p) return INVALID_VALUE;
    TRY(any_legal(p));
    if (p->type == FREE_NODE) return cuGraphAddMemFreeNode(node, graph, after, count, p->freed);
    TRY(any_work(p, &work));
    const struct work owned = work;
    int error = node_add(node, graph, after, count, &work);
    if (error) give_back(&owned);
    if (!error && p->type == CONDITION_NODE) p->condition.bodies = condition_bodies(owned.handle);
    return error;
}
EXPORTED int cuGraphAddNode(void **node, void *graph, void *const *after, size_t count, struct any_node *p) {
    return cuGraphAddNode_v2(node, graph, after, NULL, count, p);
}

static int set_any(void *graph, struct work *place, const struct any_node *p) {
    struct work work;
    if (!place) return INVALID_VALUE;
    TRY(any_legal(p));
    if (p->type == ALLOCATION_NODE) return NOT_SUPPORTED;
    if (p->type == FREE_NODE || p->type == CONDITION_NODE || (p->type == CHILD_NODE && p->child.ownership != CLONED)) return INVALID_VALUE;
    int error = any_work(p, &work);
    if (error) return error == INVALID_HANDLE ? INVALID_VALUE : error;
    void *fresh = work.kind == GRAPH_WORK ? work.handle : NULL;
    error = nest(graph, &work);
    error = error ? error : node_set(place, &work, work.kind);
    if (error) graph_destroy(fresh);
    return error;
}
EXPORTED int cuGraphNodeSetParams(void *node, const struct any_node *p) {
    GIVEN(node && p);
    CONTEXT;
    const struct node *one = object_of(A_NODE, node);
    return set_any(one ? one->graph : NULL, work_of_node(node), p);
}
EXPORTED int cuGraphExecNodeSetParams(void *exec, void *node, const struct any_node *p) {
    GIVEN(node && p);
    CONTEXT;
    return set_any(NULL, work_in(exec, node), p);
}

/* -- queries of such nodes ------------------------------------------------------------------------------------------- */

static int tell(void *node, struct any_node *p) {
    const struct work *work = work_of_node(node);
    switch (p->type) {
    case KERNEL_NODE: return cuGraphKernelNodeGetParams_v2(node, &p->kernel);
    case COPY_NODE: p->copy.context = current_context(); return cuGraphMemcpyNodeGetParams(node, &p->copy.copy);
    case FILL_NODE: return cuGraphMemsetNodeGetParams(node, &p->fill);
    case HOST_NODE: return cuGraphHostNodeGetParams(node, &p->host);
    case CHILD_NODE: p->child.graph = work->handle; return SUCCESS;
    case WAIT_NODE:
    case RECORD_NODE: p->event = work->handle; return SUCCESS;
    case ALLOCATION_NODE: return cuGraphMemAllocNodeGetParams(node, &p->allocation);
    case FREE_NODE: return cuGraphMemFreeNodeGetParams(node, &p->freed);
    case VALUE_NODE: return cuGraphBatchMemOpNodeGetParams(node, &p->values);
    case CONDITION_NODE: return condition_tell(work->handle, &p->condition);
    default: return SUCCESS;
    }
}

EXPORTED int cuGraphNodeGetParams(void *node, struct any_node *p) {
    GIVEN(node && p);
    DRIVER;
    struct any_node told = {0};
    TRY(cuGraphNodeGetType(node, &told.type));
    TRY(tell(node, &told));
    *p = told;
    return SUCCESS;
}
