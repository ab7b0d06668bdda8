/* Nodes that programs add to graphs explicitly, and change there or in executables. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "copies/copies.h"
#include "graphs/nodes.h"

/* Adds a node, which takes over the work. */
int node_add(void **node, void *graph, void *const *after, size_t count, struct work *work) {
    int error = node ? graph_append(graph, work, after, count, node) : INVALID_VALUE;
    work_drop(work);
    return error;
}

int node_set(struct work *place, struct work *work, enum work_kind kind) {
    if (!place || place->kind != kind) {
        work_drop(work);
        return INVALID_VALUE;
    }
    work->is_off = place->is_off;
    retire(place, NULL);
    *place = *work;
    return SUCCESS;
}

struct work *work_of_node(const void *handle) {
    struct node *node = object_of(A_NODE, handle);
    return node ? &node->work : NULL;
}

struct work *work_in(const void *handle, const void *node) {
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    for (size_t i = 0; one && i < one->nodes.count; i++)
        if (one->nodes.items[i] == node) return &one->works[i];
    return NULL;
}

int copy_work(const struct copy3d *p, struct work *work) {
    *work = (struct work){.kind = COPY_WORK};
    return p && p->width && p->height && p->depth ? copy_of_box(p, &work->copy, LATER) : INVALID_VALUE;
}
/* A driver does not change this in an executable. */
static int has_rows(const struct copy *copy) { return copy->height > 1 || copy->depth > 1; }

EXPORTED int cuGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t count, const struct copy3d *p, void *context) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work;
    (void)context;
    TRY(copy_work(p, &work));
    return node_add(node, graph, after, count, &work);
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
    return node_set(work_of_node(node), &work, COPY_WORK);
}
/* An executable may copy between other addresses, but not other kinds of memory. */
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
    return node_set(place, &work, COPY_WORK);
}

int fill_work(const struct fill_node *p, struct work *work) {
    if (!p) return INVALID_VALUE;
    *work = (struct work){.kind = FILL_WORK, .fill = {p->to, p->pitch, p->width, p->height, p->value, p->element_bytes}};
    return p->width && p->height ? fill_legal(&work->fill, LATER) : INVALID_VALUE;
}
EXPORTED int cuGraphAddMemsetNode(void **node, void *graph, void *const *after, size_t count, const struct fill_node *p, void *context) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work;
    (void)context;
    TRY(fill_work(p, &work));
    return node_add(node, graph, after, count, &work);
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
    return node_set(work_of_node(node), &work, FILL_WORK);
}
EXPORTED int cuGraphExecMemsetNodeSetParams(void *exec, void *node, const struct fill_node *p, void *context) {
    GIVEN(exec);
    CONTEXT;
    struct work work;
    (void)context;
    TRY(fill_work(p, &work));
    struct work *place = work_in(exec, node);
    if (place && place->kind == FILL_WORK && (place->fill.height > 1) != (work.fill.height > 1)) return INVALID_VALUE;
    return node_set(place, &work, FILL_WORK);
}

int host_work(const struct host_node *p, struct work *work) {
    if (!p || !p->function) return INVALID_VALUE;
    *work = (struct work){.kind = HOST_WORK, .host = {p->function, p->argument}};
    return SUCCESS;
}
EXPORTED int cuGraphAddHostNode(void **node, void *graph, void *const *after, size_t count, const struct host_node *p) {
    GIVEN(graph);
    CONTEXT;
    struct work work;
    TRY(host_work(p, &work));
    return node_add(node, graph, after, count, &work);
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
    return node_set(work_of_node(node), &work, HOST_WORK);
}
EXPORTED int cuGraphExecHostNodeSetParams(void *exec, void *node, const struct host_node *p) {
    GIVEN(exec);
    CONTEXT;
    struct work work;
    TRY(host_work(p, &work));
    return node_set(work_in(exec, node), &work, HOST_WORK);
}

EXPORTED int cuGraphAddEmptyNode(void **node, void *graph, void *const *after, size_t count) {
    GIVEN(graph);
    DRIVER;
    struct work work = {.kind = NOTHING};
    return node_add(node, graph, after, count, &work);
}

EXPORTED int cuGraphAddEventRecordNode(void **node, void *graph, void *const *after, size_t count, void *event) {
    GIVEN(graph);
    CONTEXT;
    struct work work = {.kind = RECORD_WORK, .handle = event};
    return object_of(AN_EVENT, event) ? node_add(node, graph, after, count, &work) : INVALID_VALUE;
}
EXPORTED int cuGraphAddEventWaitNode(void **node, void *graph, void *const *after, size_t count, void *event) {
    GIVEN(graph);
    CONTEXT;
    struct work work = {.kind = WAIT_WORK, .handle = event};
    return object_of(AN_EVENT, event) ? node_add(node, graph, after, count, &work) : INVALID_VALUE;
}

EXPORTED int cuGraphAddChildGraphNode(void **node, void *graph, void *const *after, size_t count, void *child) {
    DRIVER;
    GIVEN(graph);
    CURRENT;
    struct work work = {.kind = GRAPH_WORK};
    if (graph_allocates(child)) return NOT_SUPPORTED;
    TRY(graph_copy(child, &work.handle));
    int error = node_add(node, graph, after, count, &(struct work){.kind = GRAPH_WORK, .handle = work.handle});
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
    return node_set(work, &(struct work){.kind = GRAPH_WORK, .handle = copy}, GRAPH_WORK);
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

/* -- disabled nodes ---------------------------------------------------------------------------------------------- */

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
