/* Nodes of any kind, in one structure. */
#include "graphs/nodes.h"

enum { KERNEL_NODE, COPY_NODE, FILL_NODE, HOST_NODE, CHILD_NODE, EMPTY_NODE, WAIT_NODE, RECORD_NODE, CONDITION_NODE = 13 };
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
        void *handle;
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
    [CONDITION_NODE] = sizeof(struct condition_params),
};

/* What is behind the parameters of a kind has to be zero. */
static int any_legal(const struct any_node *p) {
    if (p->type < 0 || p->type > CONDITION_NODE || p->reserved[0] || p->reserved[1] || p->reserved[2] || p->unused) return INVALID_VALUE;
    if (p->type > RECORD_NODE && p->type != CONDITION_NODE) return NOT_SUPPORTED;
    const unsigned char *bytes = (const unsigned char *)p->room;
    for (size_t i = node_bytes[p->type]; i < sizeof p->room; i++)
        if (bytes[i]) return INVALID_VALUE;
    return SUCCESS;
}

static int any_work(const struct any_node *p, struct work *work) {
    *work = (struct work){.kind = NOTHING};
    switch (p->type) {
    case KERNEL_NODE: return kernel_work(&p->kernel, 2, work);
    case COPY_NODE: return copy_work(&p->copy.copy, work);
    case FILL_NODE: return fill_work(&p->fill, work);
    case HOST_NODE: return host_work(&p->host, work);
    case CHILD_NODE:
        *work = (struct work){.kind = GRAPH_WORK};
        TRY(graph_copy(p->handle, &work->handle));
        ((struct graph *)object_of(A_GRAPH, work->handle))->is_child = 1;
        return SUCCESS;
    case WAIT_NODE:
    case RECORD_NODE:
        *work = (struct work){.kind = p->type == WAIT_NODE ? WAIT_WORK : RECORD_WORK, .handle = p->handle};
        return object_of(AN_EVENT, p->handle) ? SUCCESS : INVALID_VALUE;
    case CONDITION_NODE: return condition_make(&p->condition, work);
    default: return SUCCESS;
    }
}

EXPORTED int cuGraphAddNode_v2(void **node, void *graph, void *const *after, const void *data, size_t count, struct any_node *p) {
    GIVEN(graph);
    CONTEXT;
    struct work work;
    (void)data; /* of edges: all work is done in the order of the nodes */
    if (!node || !p) return INVALID_VALUE;
    TRY(any_legal(p));
    TRY(any_work(p, &work));
    void *owned = work.kind == GRAPH_WORK || work.kind == CONDITION_WORK ? work.handle : NULL;
    int is_graph = work.kind == GRAPH_WORK;
    int error = node_add(node, graph, after, count, &work);
    if (error && owned) is_graph ? graph_destroy(owned) : condition_drop(owned);
    if (!error && p->type == CONDITION_NODE) p->condition.bodies = condition_bodies(owned);
    return error;
}
EXPORTED int cuGraphAddNode(void **node, void *graph, void *const *after, size_t count, struct any_node *p) {
    return cuGraphAddNode_v2(node, graph, after, NULL, count, p);
}

static int set_any(struct work *place, const struct any_node *p) {
    struct work work;
    if (!place) return INVALID_VALUE;
    TRY(any_legal(p));
    int error = any_work(p, &work);
    if (error) return error == INVALID_HANDLE ? INVALID_VALUE : error;
    if (p->type == CONDITION_NODE) {
        condition_drop(work.handle);
        return INVALID_VALUE;
    }
    void *old = place->kind == GRAPH_WORK ? place->handle : NULL, *fresh = work.kind == GRAPH_WORK ? work.handle : NULL;
    error = node_set(place, &work, work.kind);
    graph_destroy(error ? fresh : old);
    return error;
}
EXPORTED int cuGraphNodeSetParams(void *node, const struct any_node *p) {
    GIVEN(node && p);
    CONTEXT;
    return set_any(work_of_node(node), p);
}
EXPORTED int cuGraphExecNodeSetParams(void *exec, void *node, const struct any_node *p) {
    GIVEN(node && p);
    CONTEXT;
    return set_any(work_in(exec, node), p);
}
