/* Nodes that programs add to graphs by hand, and change there or in what was made ready. */
#include <stdlib.h>
#include <string.h>

#include "graphs/graphs.h"

/* Adds work that is then no longer needed. */
static int add(void **node, void *graph, void *const *after, size_t count, struct work *work) {
    int error = node ? graph_append(graph, work, after, count, node) : INVALID_VALUE;
    work_drop(work);
    return error;
}

static int set(struct work *place, struct work *work, enum work_kind kind) {
    if (!place || place->kind != kind) {
        work_drop(work);
        return INVALID_VALUE;
    }
    work_drop(place);
    work->is_off = place->is_off;
    *place = *work;
    return SUCCESS;
}

static struct work *work_of_node(const void *handle) {
    struct node *node = object_of(A_NODE, handle);
    return node ? &node->work : NULL;
}

struct work *work_in(const void *handle, const void *node) {
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    for (size_t i = 0; one && i < one->nodes.count; i++)
        if (one->nodes.items[i] == node) return &one->works[i];
    return NULL;
}

struct kernel_node {
    void *function;
    struct shape shape;
    void **parameters, **extra;
    void *kernel, *context;
};

static int kernel_work(const struct kernel_node *p, int version, struct work *work) {
    if (!p) return INVALID_VALUE;
    void *function = p->function ? p->function : version > 1 ? p->kernel : NULL;
    return launch_of(function, &p->shape, p->parameters, p->extra, work);
}

static int add_kernel(void **node, void *graph, void *const *after, size_t count, const struct kernel_node *p, int version) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work;
    TRY(kernel_work(p, version, &work));
    return add(node, graph, after, count, &work);
}
EXPORTED int cuGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count, const struct kernel_node *p) {
    return add_kernel(node, graph, after, count, p, 1);
}
EXPORTED int cuGraphAddKernelNode_v2(void **node, void *graph, void *const *after, size_t count, const struct kernel_node *p) {
    return add_kernel(node, graph, after, count, p, 2);
}

static int set_kernel(struct work *place, const struct kernel_node *p, int version) {
    GIVEN(place && p);
    CONTEXT;
    struct work work;
    TRY(kernel_work(p, version, &work));
    return set(place, &work, KERNEL_WORK);
}
EXPORTED int cuGraphKernelNodeSetParams(void *node, const struct kernel_node *p) { return set_kernel(work_of_node(node), p, 1); }
EXPORTED int cuGraphKernelNodeSetParams_v2(void *node, const struct kernel_node *p) { return set_kernel(work_of_node(node), p, 2); }
EXPORTED int cuGraphExecKernelNodeSetParams(void *exec, void *node, const struct kernel_node *p) {
    GIVEN(exec);
    return set_kernel(work_in(exec, node), p, 1);
}
EXPORTED int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct kernel_node *p) {
    GIVEN(exec);
    return set_kernel(work_in(exec, node), p, 2);
}

/* The parameters as a program may give them back: pointers into the node. */
static int tell_kernel(void *handle, struct kernel_node *p, int version) {
    GIVEN(handle && p);
    DRIVER;
    struct node *node = object_of(A_NODE, handle);
    if (!node || !p || node->work.kind != KERNEL_WORK) return INVALID_VALUE;
    const struct launch *launch = &node->work.launch;
    struct function *function = object_of(A_FUNCTION, launch->handle);
    if (!function) return INVALID_HANDLE;
    void **pointers = realloc(node->parameters, (function->parameter_count + 1) * sizeof *pointers);
    if (!pointers) return OUT_OF_MEMORY;
    node->parameters = pointers;
    for (uint32_t i = 0; i < function->parameter_count; i++) pointers[i] = launch->parameters + function->parameters[i].offset;
    p->function = launch->handle;
    memcpy(p->shape.grid, launch->grid, sizeof launch->grid);
    memcpy(p->shape.block, launch->block, sizeof launch->block);
    p->shape.shared_bytes = launch->shared_bytes;
    p->parameters = pointers;
    p->extra = NULL;
    if (version > 1) p->kernel = NULL, p->context = current_context();
    return SUCCESS;
}
EXPORTED int cuGraphKernelNodeGetParams(void *node, struct kernel_node *p) { return tell_kernel(node, p, 1); }
EXPORTED int cuGraphKernelNodeGetParams_v2(void *node, struct kernel_node *p) { return tell_kernel(node, p, 2); }

static int copy_work(const struct copy3d *p, struct work *work) {
    *work = (struct work){.kind = COPY_WORK};
    return p && p->width && p->height && p->depth ? copy_of_box(p, &work->copy) : INVALID_VALUE;
}
/* What a driver does not exchange in a graph that is ready. */
static int has_rows(const struct copy *copy) { return copy->height > 1 || copy->depth > 1; }

EXPORTED int cuGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t count, const struct copy3d *p, void *context) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work;
    (void)context;
    TRY(copy_work(p, &work));
    return add(node, graph, after, count, &work);
}
EXPORTED int cuGraphMemcpyNodeGetParams(void *node, struct copy3d *p) {
    DRIVER;
    const struct work *work = work_of_node(node);
    if (!p || !work || work->kind != COPY_WORK) return INVALID_VALUE;
    *p = copy_as_given(&work->copy);
    return SUCCESS;
}
EXPORTED int cuGraphMemcpyNodeSetParams(void *node, const struct copy3d *p) {
    GIVEN(node);
    CONTEXT;
    struct work work;
    TRY(copy_work(p, &work));
    return set(work_of_node(node), &work, COPY_WORK);
}
/* What was made ready may copy elsewhere, but not from or to another kind of memory. */
static int same_kind(device_pointer a, device_pointer b) {
    struct allocation *first = allocation_at(a), *second = allocation_at(b);
    return (first && first->kind != HOST_MEMORY) == (second && second->kind != HOST_MEMORY);
}

EXPORTED int cuGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct copy3d *p, void *context) {
    GIVEN(exec);
    CONTEXT;
    struct work work;
    (void)context;
    TRY(copy_work(p, &work));
    struct work *place = work_in(exec, node);
    if (place && place->kind == COPY_WORK && (has_rows(&place->copy) || has_rows(&work.copy))) return INVALID_VALUE;
    if (place && place->kind == COPY_WORK && !same_kind(place->copy.to, work.copy.to)) return INVALID_VALUE;
    if (place && place->kind == COPY_WORK && !same_kind(place->copy.from, work.copy.from)) return INVALID_VALUE;
    return set(place, &work, COPY_WORK);
}

struct fill_node {
    device_pointer to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height;
};
static int fill_work(const struct fill_node *p, struct work *work) {
    if (!p) return INVALID_VALUE;
    *work = (struct work){.kind = FILL_WORK, .fill = {p->to, p->pitch, p->width, p->height, p->value, p->element_bytes}};
    return p->width && p->height ? fill_legal(&work->fill) : INVALID_VALUE;
}
EXPORTED int cuGraphAddMemsetNode(void **node, void *graph, void *const *after, size_t count, const struct fill_node *p, void *context) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work;
    (void)context;
    TRY(fill_work(p, &work));
    return add(node, graph, after, count, &work);
}
EXPORTED int cuGraphMemsetNodeGetParams(void *handle, struct fill_node *p) {
    DRIVER;
    struct work *work = work_of_node(handle);
    if (!work || !p || work->kind != FILL_WORK) return INVALID_VALUE;
    const struct fill *f = &work->fill;
    *p = (struct fill_node){f->to, f->pitch, f->value, f->element_bytes, f->width, f->height};
    return SUCCESS;
}
EXPORTED int cuGraphMemsetNodeSetParams(void *node, const struct fill_node *p) {
    GIVEN(node);
    CONTEXT;
    struct work work;
    TRY(fill_work(p, &work));
    return set(work_of_node(node), &work, FILL_WORK);
}
EXPORTED int cuGraphExecMemsetNodeSetParams(void *exec, void *node, const struct fill_node *p, void *context) {
    GIVEN(exec);
    CONTEXT;
    struct work work;
    (void)context;
    TRY(fill_work(p, &work));
    struct work *place = work_in(exec, node);
    if (place && place->kind == FILL_WORK && (place->fill.height > 1) != (work.fill.height > 1)) return INVALID_VALUE;
    return set(place, &work, FILL_WORK);
}

struct host_node {
    void (*function)(void *);
    void *argument;
};
static int host_work(const struct host_node *p, struct work *work) {
    if (!p || !p->function) return INVALID_VALUE;
    *work = (struct work){.kind = HOST_WORK, .host = {p->function, p->argument}};
    return SUCCESS;
}
EXPORTED int cuGraphAddHostNode(void **node, void *graph, void *const *after, size_t count, const struct host_node *p) {
    GIVEN(graph);
    CONTEXT;
    struct work work;
    TRY(host_work(p, &work));
    return add(node, graph, after, count, &work);
}
EXPORTED int cuGraphHostNodeGetParams(void *handle, struct host_node *p) {
    GIVEN(handle && p);
    DRIVER;
    struct work *work = work_of_node(handle);
    if (!work || work->kind != HOST_WORK) return INVALID_VALUE;
    *p = (struct host_node){work->host.function, work->host.argument};
    return SUCCESS;
}
EXPORTED int cuGraphHostNodeSetParams(void *node, const struct host_node *p) {
    GIVEN(node);
    CONTEXT;
    struct work work;
    TRY(host_work(p, &work));
    return set(work_of_node(node), &work, HOST_WORK);
}
EXPORTED int cuGraphExecHostNodeSetParams(void *exec, void *node, const struct host_node *p) {
    GIVEN(exec);
    CONTEXT;
    struct work work;
    TRY(host_work(p, &work));
    return set(work_in(exec, node), &work, HOST_WORK);
}

EXPORTED int cuGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count) {
    GIVEN(graph);
    DRIVER;
    struct work work = {.kind = NOTHING};
    return add(node, graph, after, count, &work);
}

EXPORTED int cuGraphAddEventRecordNode(void **node, void *graph, void *const *after, size_t count, void *event) {
    GIVEN(graph);
    CONTEXT;
    struct work work = {.kind = RECORD_WORK, .handle = event};
    return object_of(AN_EVENT, event) ? add(node, graph, after, count, &work) : INVALID_VALUE;
}
EXPORTED int cuGraphAddEventWaitNode(void **node, void *graph, void *const *after, size_t count, void *event) {
    GIVEN(graph);
    CONTEXT;
    struct work work = {.kind = WAIT_WORK, .handle = event};
    return object_of(AN_EVENT, event) ? add(node, graph, after, count, &work) : INVALID_VALUE;
}

EXPORTED int cuGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work = {.kind = GRAPH_WORK};
    TRY(graph_copy(child, &work.handle));
    ((struct graph *)object_of(A_GRAPH, work.handle))->is_child = 1;
    int error = add(node, graph, after, count, &(struct work){.kind = GRAPH_WORK, .handle = work.handle});
    if (error) graph_destroy(work.handle);
    return error;
}
EXPORTED int cuGraphChildGraphNodeGetGraph(void *handle, void **graph) {
    DRIVER;
    struct work *work = work_of_node(handle);
    if (!work || !graph || work->kind != GRAPH_WORK) return INVALID_VALUE;
    *graph = work->handle;
    return SUCCESS;
}

/* -- events and children ------------------------------------------------------------------------------------------- */

static int tell_event(void *handle, void **event, enum work_kind kind) {
    GIVEN(handle && event);
    DRIVER;
    struct work *work = work_of_node(handle);
    if (!work || !event || work->kind != kind) return INVALID_VALUE;
    *event = work->handle;
    return SUCCESS;
}
EXPORTED int cuGraphEventRecordNodeGetEvent(void *node, void **event) { return tell_event(node, event, RECORD_WORK); }
EXPORTED int cuGraphEventWaitNodeGetEvent(void *node, void **event) { return tell_event(node, event, WAIT_WORK); }

static int set_event(struct work *work, void *event, enum work_kind kind) {
    if (!work || work->kind != kind || !object_of(AN_EVENT, event)) return INVALID_VALUE;
    work->handle = event;
    return SUCCESS;
}
EXPORTED int cuGraphEventRecordNodeSetEvent(void *node, void *event) {
    GIVEN(node && event);
    DRIVER;
    return set_event(work_of_node(node), event, RECORD_WORK);
}
EXPORTED int cuGraphEventWaitNodeSetEvent(void *node, void *event) {
    GIVEN(node && event);
    DRIVER;
    return set_event(work_of_node(node), event, WAIT_WORK);
}
EXPORTED int cuGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event) {
    GIVEN(exec && node && event);
    DRIVER;
    return set_event(work_in(exec, node), event, RECORD_WORK);
}
EXPORTED int cuGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event) {
    GIVEN(exec && node && event);
    DRIVER;
    return set_event(work_in(exec, node), event, WAIT_WORK);
}

EXPORTED int cuGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child) {
    GIVEN(exec && node && child);
    DRIVER;
    struct work *work = work_in(exec, node);
    struct graph *fresh = object_of(A_GRAPH, child), *old = work ? object_of(A_GRAPH, work->handle) : NULL;
    void *copy;
    if (!work || work->kind != GRAPH_WORK || !fresh || !old) return INVALID_VALUE;
    if (fresh->nodes.count != old->nodes.count) return GRAPH_EXEC_UPDATE_FAILURE;
    TRY(graph_copy(child, &copy));
    graph_destroy(work->handle);
    work->handle = copy;
    return SUCCESS;
}

EXPORTED int cuGraphNodeFindInClone(void **found, void *original, void *clone) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, clone);
    if (!found || !graph) return INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        if (node->cloned_from != original) continue;
        *found = graph->nodes.items[i];
        return SUCCESS;
    }
    return INVALID_VALUE;
}

/* -- nodes switched off ---------------------------------------------------------------------------------------------- */

static struct work *switchable(void *exec, void *node) {
    struct work *work = work_in(exec, node);
    return work && (work->kind == KERNEL_WORK || work->kind == COPY_WORK || work->kind == FILL_WORK) ? work : NULL;
}
EXPORTED int cuGraphNodeSetEnabled(void *exec, void *node, unsigned enabled) {
    GIVEN(exec && node);
    DRIVER;
    struct work *work = switchable(exec, node);
    if (!work) return INVALID_VALUE;
    work->is_off = !enabled;
    return SUCCESS;
}
EXPORTED int cuGraphNodeGetEnabled(void *exec, void *node, unsigned *enabled) {
    GIVEN(exec && node);
    DRIVER;
    struct work *work = switchable(exec, node);
    if (!work || !enabled) return INVALID_VALUE;
    *enabled = !work->is_off;
    return SUCCESS;
}

/* -- nodes of any kind ----------------------------------------------------------------------------------------------- */

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
    int error = add(node, graph, after, count, &work);
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
    error = set(place, &work, work.kind);
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
