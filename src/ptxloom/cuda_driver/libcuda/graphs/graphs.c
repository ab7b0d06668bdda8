/* Graphs as such: nodes, edges, copies of graphs, and running one. */
#include "graphs/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/handles.h"

static unsigned graphs_made;

void *graph_new(void) {
    void *handle = handle_new(A_GRAPH, sizeof(struct graph));
    struct graph *graph = object_of(A_GRAPH, handle);
    if (graph) graph->id = ++graphs_made;
    return handle;
}

static void node_free(void *handle) {
    struct node *node = object_of(A_NODE, handle);
    if (!node) return;
    inner_drop(&node->work);
    work_drop(&node->work);
    list_drop(&node->after);
    free(node->parameters);
    handle_free(handle);
}

void graph_destroy(void *handle) {
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph) return;
    for (size_t i = 0; i < graph->nodes.count; i++) node_free(graph->nodes.items[i]);
    struct list kept = graph->kept;
    list_drop(&graph->nodes);
    condition_values_drop(&graph->conditions);
    handle_free(handle);
    user_objects_drop(&kept);
}

int graph_append(void *handle, const struct work *work, void *const *after, size_t count, void **made) {
    static uint64_t nodes;
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph || (count && !after)) return INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        if (!list_has(&graph->nodes, after[i])) return INVALID_VALUE;
        for (size_t j = 0; j < i; j++)
            if (after[i] == after[j]) return INVALID_VALUE;
    }
    TRY(nest(handle, work));
    void *node_handle = handle_new(A_NODE, sizeof(struct node));
    struct node *node = object_of(A_NODE, node_handle);
    if (!node || work_copy(&node->work, work)) return OUT_OF_MEMORY;
    node->graph = handle;
    node->id = graph->made++;
    node->number = ++nodes;
    for (size_t i = 0; i < count; i++) TRY(list_add(&node->after, after[i]));
    TRY(list_add(&graph->nodes, node_handle));
    if (made) *made = node_handle;
    return SUCCESS;
}

/* Order what a node waits for before it; an error if they form a cycle. */
static int put_before(struct list *waiting, struct node *node, uint64_t open) {
    node->mark = open;
    for (size_t i = node->after.count; i-- > 0;) {
        const struct node *before = object_of(A_NODE, node->after.items[i]);
        if (before->mark == open) return INVALID_VALUE;
        TRY(list_add(waiting, node->after.items[i]));
    }
    return SUCCESS;
}

void **graph_order(const struct graph *graph) {
    static uint64_t marks;
    const uint64_t open = ++marks, done = ++marks;
    struct list order = {0}, waiting = {0};
    int error = SUCCESS;
    for (size_t i = graph->nodes.count; !error && i-- > 0;) error = list_add(&waiting, graph->nodes.items[i]);
    while (!error && waiting.count) {
        void *handle = waiting.items[waiting.count - 1];
        struct node *node = object_of(A_NODE, handle);
        if (node->mark == open) error = list_add(&order, handle);
        if (node->mark == open) node->mark = done;
        if (node->mark == done) waiting.count--;
        else error = put_before(&waiting, node, open);
    }
    list_drop(&waiting);
    if (error) list_drop(&order);
    return error || order.items ? order.items : calloc(1, sizeof(void *));
}

int graph_run(void *handle) {
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph) return INVALID_HANDLE;
    void **order = graph_order(graph);
    int error = order ? SUCCESS : INVALID_VALUE;
    for (size_t i = 0; !error && i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, order[i]);
        error = work_do(&node->work);
    }
    free(order);
    return error;
}

int graph_copy(void *handle, void **copy) {
    struct list old = {0}, new = {0};
    int error = graph_clone(handle, copy, &old, &new);
    list_drop(&old);
    list_drop(&new);
    return error;
}

int graph_clone(void *handle, void **clone, struct list *of_old, struct list *of_new) {
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph) return INVALID_VALUE;
    void *made = graph_new();
    if (!made) return OUT_OF_MEMORY;
    struct graph *new_graph = object_of(A_GRAPH, made);
    int error = user_objects_keep(&new_graph->kept, &graph->kept);
    error = error ? error : condition_values_keep(&new_graph->conditions, &graph->conditions);
    for (size_t i = 0; !error && i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        struct work work = node->work;
        void *copy;
        error = work_own(&work);
        error = error ? error : graph_append(made, &work, NULL, 0, &copy);
        if (!error) ((struct node *)object_of(A_NODE, copy))->cloned_from = graph->nodes.items[i];
        error = error ? error : list_add(of_old, graph->nodes.items[i]);
        error = error ? error : list_add(of_new, copy);
    }
    for (size_t i = 0; !error && i < of_old->count; i++) {
        struct node *old = object_of(A_NODE, of_old->items[i]), *new = object_of(A_NODE, of_new->items[i]);
        for (size_t j = 0; !error && old && new && j < old->after.count; j++)
            for (size_t k = 0; !error && k < of_old->count; k++)
                if (of_old->items[k] == old->after.items[j]) error = list_add(&new->after, of_new->items[k]);
    }
    if (error) graph_destroy(made);
    else *clone = made;
    return error;
}

static int run(const struct work *work) { return graph_run(work->handle); }
static const struct way runs = {.run = run};
WORK(GRAPH_WORK, runs)

static struct inner itself(const struct work *work) { return (struct inner){(void *const *)&work->handle, 1}; }
static const struct nesting nests = {itself, graph_copy, graph_destroy};
NESTS(GRAPH_WORK, nests)

/* -- the API ---------------------------------------------------------------------------------------- */

EXPORTED int cuGraphCreate(void **handle, unsigned flags) {
    DRIVER;
    if (!handle || flags) return INVALID_VALUE;
    *handle = graph_new();
    return *handle ? SUCCESS : OUT_OF_MEMORY;
}

EXPORTED int cuGraphDestroy(void *handle) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph || graph->is_child) return INVALID_VALUE;
    graph_destroy(handle);
    return SUCCESS;
}

EXPORTED int cuGraphDestroyNode(void *handle) {
    DRIVER;
    struct node *node = object_of(A_NODE, handle);
    struct graph *graph = node ? object_of(A_GRAPH, node->graph) : NULL;
    if (!graph) return INVALID_VALUE;
    if (graph_allocates(node->graph)) return NOT_SUPPORTED;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *other = object_of(A_NODE, graph->nodes.items[i]);
        list_remove(&other->after, handle);
    }
    list_remove(&graph->nodes, handle);
    node_free(handle);
    return SUCCESS;
}

/* As in NVIDIA's driver: graphs with unique resources cannot be copied. */
static int can_clone(const struct graph *graph) {
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        if (node->work.kind == CONDITION_WORK) return 0;
    }
    return 1;
}

EXPORTED int cuGraphClone(void **clone, void *handle) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!clone || !graph) return INVALID_VALUE;
    if (!can_clone(graph) || graph_allocates(handle)) return NOT_SUPPORTED;
    TRY(graph_copy(handle, clone));
    ((struct graph *)object_of(A_GRAPH, *clone))->cloned_from = handle;
    return SUCCESS;
}

EXPORTED int cuGraphNodeGetType(void *handle, int *type) {
    static const int types[] = {[NOTHING] = 5,    [KERNEL_WORK] = 0,    [COPY_WORK] = 1,   [FILL_WORK] = 2,
                                [HOST_WORK] = 3,  [RECORD_WORK] = 7,    [WAIT_WORK] = 6,   [GRAPH_WORK] = 4,
                                [FREE_WORK] = 11, [ALLOCATE_WORK] = 10, [VALUE_WORK] = 12, [CONDITION_WORK] = 13};
    DRIVER;
    struct node *node = object_of(A_NODE, handle);
    if (!node || !type) return INVALID_VALUE;
    *type = types[node->work.kind];
    return SUCCESS;
}
