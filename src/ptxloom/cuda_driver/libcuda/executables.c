/* Graphs made ready, and the nodes that programs add by hand. */
#include <stdlib.h>
#include <string.h>

#include "graphs.h"

static void executable_drop(struct executable *one) {
    for (size_t i = 0; one->works && i < one->nodes.count; i++) {
        if (one->works[i].kind == GRAPH_WORK) graph_destroy(one->works[i].handle);
        work_drop(&one->works[i]);
    }
    struct list kept = one->kept;
    free(one->works);
    free(one->edges);
    list_drop(&one->nodes);
    *one = (struct executable){0};
    user_objects_drop(&kept);
}

/* The works of a graph in an order in which they can be done; a copy, so that the graph may change or go. */
static int executable_fill(struct executable *one, const struct graph *graph) {
    void **order = graph_order(graph);
    *one = (struct executable){0};
    if (!order) return INVALID_VALUE;
    one->works = calloc(graph->nodes.count + 1, sizeof *one->works);
    one->edges = calloc(graph->nodes.count + 1, sizeof *one->edges);
    int error = one->works && one->edges ? user_objects_keep(&one->kept, &graph->kept) : OUT_OF_MEMORY;
    for (size_t i = 0; !error && i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, order[i]);
        struct list old = {0}, new = {0};
        error = list_add(&one->nodes, order[i]);
        one->edges[i] = node->after.count;
        if (!error) error = work_copy(&one->works[i], &node->work);
        if (!error && node->work.kind == GRAPH_WORK) error = graph_clone(node->work.handle, &one->works[i].handle, &old, &new);
        list_drop(&old);
        list_drop(&new);
    }
    free(order);
    if (error) executable_drop(one);
    return error;
}

EXPORTED int cuGraphInstantiateWithFlags(void **made, void *handle, uint64_t flags) {
    CONTEXT;
    struct graph *graph = object_of(A_GRAPH, handle);
    enum { AUTO_FREE = 1, FROM_DEVICE = 4, NODE_PRIORITY = 8 };
    if (!made || !graph || flags & ~(uint64_t)(AUTO_FREE | FROM_DEVICE | NODE_PRIORITY)) return INVALID_VALUE;
    if (graph->is_recorded) return capture_invalidate(handle);
    if (flags & FROM_DEVICE) return INVALID_VALUE; /* no kernel here launches graphs */
    void *found = handle_new(AN_EXECUTABLE, sizeof(struct executable));
    if (!found) return OUT_OF_MEMORY;
    int error = executable_fill(object_of(AN_EXECUTABLE, found), graph);
    if (error) handle_free(found);
    else *made = found, ((struct executable *)object_of(AN_EXECUTABLE, found))->flags = flags & AUTO_FREE;
    return error;
}
EXPORTED int cuGraphInstantiate(void **made, void *graph, void **node, char *log, size_t log_bytes) {
    if (node) *node = NULL;
    if (log && log_bytes) *log = 0;
    return cuGraphInstantiateWithFlags(made, graph, 0);
}
EXPORTED int cuGraphInstantiate_v2(void **made, void *graph, void **node, char *log, size_t log_bytes) {
    return cuGraphInstantiate(made, graph, node, log, log_bytes);
}

struct instantiation {
    uint64_t flags;
    void *stream, *node;
    int result;
};
EXPORTED int cuGraphInstantiateWithParams(void **made, void *graph, struct instantiation *how) {
    GIVEN(how);
    how->node = NULL;
    int error = cuGraphInstantiateWithFlags(made, graph, how->flags);
    how->result = error ? 1 : 0;
    return error;
}

EXPORTED int cuGraphExecDestroy(void *handle) {
    DRIVER;
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    if (!one) return INVALID_VALUE;
    executable_drop(one);
    handle_free(handle);
    return SUCCESS;
}

EXPORTED int cuGraphLaunch(void *handle, void *where) {
    CONTEXT;
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    struct stream *stream;
    if (!one) return INVALID_VALUE;
    TRY(stream_of(where, &stream));
    for (size_t i = 0; i < one->nodes.count; i++) TRY(stream->capture ? work_submit(where, &one->works[i]) : work_do(&one->works[i]));
    return SUCCESS;
}

EXPORTED int cuGraphUpload(void *handle, void *where) {
    CONTEXT;
    struct stream *stream;
    if (!object_of(AN_EXECUTABLE, handle)) return INVALID_VALUE;
    return stream_of(where, &stream);
}

EXPORTED int cuGraphExecGetFlags(void *handle, uint64_t *flags) {
    DRIVER;
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    if (!one || !flags) return INVALID_VALUE;
    *flags = one->flags;
    return SUCCESS;
}

struct update {
    int result;
    void *node, *from;
};

enum { UPDATED = 0, TOPOLOGY_CHANGED = 2, TYPE_CHANGED = 3 };

/* What is the first thing that an update cannot change. */
static struct update differing(const struct executable *old, const struct executable *fresh) {
    if (old->nodes.count != fresh->nodes.count) return (struct update){TOPOLOGY_CHANGED, NULL, NULL};
    for (size_t i = 0; i < fresh->nodes.count; i++) {
        const struct node *node = object_of(A_NODE, fresh->nodes.items[i]);
        if (old->works[i].kind != fresh->works[i].kind) return (struct update){TYPE_CHANGED, fresh->nodes.items[i], NULL};
        if (node && old->edges[i] != node->after.count) return (struct update){TOPOLOGY_CHANGED, fresh->nodes.items[i], NULL};
    }
    return (struct update){UPDATED, NULL, NULL};
}

EXPORTED int cuGraphExecUpdate_v2(void *handle, void *graph_handle, struct update *update) {
    DRIVER;
    GIVEN(handle && graph_handle);
    CURRENT;
    struct executable *one = object_of(AN_EXECUTABLE, handle), fresh;
    struct graph *graph = object_of(A_GRAPH, graph_handle);
    struct update ignored;
    if (!one || !graph) return INVALID_VALUE;
    if (!update) update = &ignored;
    TRY(executable_fill(&fresh, graph));
    fresh.flags = one->flags;
    *update = differing(one, &fresh);
    if (update->result != UPDATED) {
        executable_drop(&fresh);
        return GRAPH_EXEC_UPDATE_FAILURE;
    }
    executable_drop(one);
    *one = fresh;
    return SUCCESS;
}
EXPORTED int cuGraphExecUpdate(void *handle, void *graph, void **node, int *result) {
    struct update update = {0};
    if (node) *node = NULL;
    int error = cuGraphExecUpdate_v2(handle, graph, &update);
    if (result) *result = update.result;
    return error;
}

/* -- nodes ------------------------------------------------------------------------------------------------------------- */

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
    *place = *work;
    return SUCCESS;
}

static struct work *work_of_node(const void *handle) {
    struct node *node = object_of(A_NODE, handle);
    return node ? &node->work : NULL;
}

static struct work *work_in(const void *handle, const void *node) {
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
    struct list old = {0}, new = {0};
    int error = graph_clone(child, &work.handle, &old, &new);
    list_drop(&old);
    list_drop(&new);
    TRY(error);
    ((struct graph *)object_of(A_GRAPH, work.handle))->is_child = 1;
    error = add(node, graph, after, count, &(struct work){.kind = GRAPH_WORK, .handle = work.handle});
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
