/* Instantiated graphs. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"

static void executable_drop(struct executable *one) {
    struct executable old = *one;
    *one = (struct executable){0}; /* the program may see it while its user objects are destroyed */
    for (size_t i = 0; old.works && i < old.nodes.count; i++) retire(&old.works[i], NULL);
    free(old.works);
    free(old.edges);
    list_drop(&old.nodes);
    condition_values_drop(&old.conditions);
    retire(NULL, &old.kept);
}

/* The works of a graph in a valid order; copies, so that the graph may change or be destroyed. */
static int executable_fill(struct executable *one, const struct graph *graph) {
    void **order = graph_order(graph);
    *one = (struct executable){0};
    if (!order) return INVALID_VALUE;
    one->works = calloc(graph->nodes.count + 1, sizeof *one->works);
    one->edges = calloc(graph->nodes.count + 1, sizeof *one->edges);
    int error = one->works && one->edges ? user_objects_keep(&one->kept, &graph->kept) : OUT_OF_MEMORY;
    if (!error) error = condition_values_keep(&one->conditions, &graph->conditions);
    for (size_t i = 0; !error && i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, order[i]);
        error = list_add(&one->nodes, order[i]);
        one->edges[i] = node->after.count;
        if (!error && node->work.kind == CONDITION_WORK) error = condition_legal(node->work.handle);
        if (!error) error = work_copy(&one->works[i], &node->work);
        if (!error) error = work_own(&one->works[i]);
    }
    free(order);
    if (!error) error = executable_memory(one);
    if (error) executable_drop(one);
    return error;
}

/* Whether a graph has an executable: one that allocates may have only one, as its memory exists once. */
static int is_ready_once(const void *graph) {
    size_t place = 0;
    for (void *handle; (handle = handle_next(AN_EXECUTABLE, &place));)
        if (((struct executable *)object_of(AN_EXECUTABLE, handle))->graph == graph) return 1;
    return 0;
}

EXPORTED int cuGraphInstantiateWithFlags(void **made, void *handle, uint64_t flags) {
    CONTEXT;
    struct graph *graph = object_of(A_GRAPH, handle);
    enum { FROM_DEVICE = 4, NODE_PRIORITY = 8 };
    if (!made || !graph || flags & ~(uint64_t)(AUTO_FREE | FROM_DEVICE | NODE_PRIORITY)) return INVALID_VALUE;
    if (graph->recording.is_recorded) return capture_invalidate(handle);
    if (flags & FROM_DEVICE) return INVALID_VALUE; /* no kernel here launches graphs */
    static unsigned ready;
    if (graph->is_given || (graph_allocates(handle) && is_ready_once(handle))) return NOT_SUPPORTED;
    void *found = handle_new(AN_EXECUTABLE, sizeof(struct executable));
    struct executable *one = object_of(AN_EXECUTABLE, found);
    if (!one) return OUT_OF_MEMORY;
    int error = executable_fill(one, graph);
    if (error) {
        handle_free(found);
        return error;
    }
    one->id = ++ready;
    one->flags = flags & AUTO_FREE;
    one->graph = handle;
    *made = found;
    return SUCCESS;
}
EXPORTED int cuGraphInstantiate(void **made, void *graph, void **node, char *log, size_t log_bytes) {
    if (node) *node = NULL;
    if (log && log_bytes) *log = 0;
    return cuGraphInstantiateWithFlags(made, graph, 0);
}
SAME(cuGraphInstantiate_v2, cuGraphInstantiate);

EXPORTED int cuGraphUpload(void *handle, void *where);

struct instantiation {
    uint64_t flags;
    void *stream, *node;
    int result;
};
EXPORTED int cuGraphInstantiateWithParams(void **made, void *graph, struct instantiation *how) {
    const uint64_t upload = 2; /* for this call only */
    GIVEN(how);
    CONTEXT;
    struct stream *stream;
    how->node = NULL;
    int error = (how->flags & upload) ? stream_of(how->stream, &stream) : SUCCESS;
    if (!error) error = cuGraphInstantiateWithFlags(made, graph, how->flags & ~upload);
    how->result = error ? 1 : 0;
    return error || !(how->flags & upload) ? error : cuGraphUpload(*made, how->stream);
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
    if (stream->capture && one->allocates) return capture_invalidate(stream->capture);
    TRY(executable_prepare(one));
    executable_reserve(one);
    conditions_begin(&one->conditions);
    return works_do(where, one->works, one->nodes.count);
}

EXPORTED int cuGraphUpload(void *handle, void *where) {
    CONTEXT;
    struct executable *one = object_of(AN_EXECUTABLE, handle);
    struct stream *stream;
    if (!one) return INVALID_VALUE;
    TRY(stream_of(where, &stream));
    executable_reserve(one);
    return SUCCESS;
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

/* The first difference that an update cannot make. */
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
    fresh.id = one->id;
    fresh.graph = one->graph;
    fresh.is_uploaded = one->is_uploaded;
    *update = differing(one, &fresh);
    if (update->result != UPDATED) {
        executable_drop(&fresh);
        return GRAPH_EXEC_UPDATE_FAILURE;
    }
    struct executable old = *one;
    *one = fresh;
    executable_drop(&old);
    return SUCCESS;
}
EXPORTED int cuGraphExecUpdate(void *handle, void *graph, void **node, int *result) {
    struct update update = {0};
    if (node) *node = NULL;
    int error = cuGraphExecUpdate_v2(handle, graph, &update);
    if (result) *result = update.result;
    return error;
}
