/* Nodes and edges of graphs. */
#include <string.h>

#include "base/handles.h"
#include "graphs/graphs.h"

static int add_edges(void *handle, void *const *from, void *const *to, size_t count, int gone) {
    GIVEN(handle);
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph || (count && (!from || !to))) return INVALID_VALUE;
    if (gone && count && graph_allocates(handle)) return NOT_SUPPORTED;
    for (size_t i = 0; i < count; i++) {
        if (!list_has(&graph->nodes, from[i]) || !list_has(&graph->nodes, to[i])) return INVALID_VALUE;
        struct node *node = object_of(A_NODE, to[i]);
        if (list_has(&node->after, from[i]) != gone || from[i] == to[i]) return INVALID_VALUE;
        if (gone) list_remove(&node->after, from[i]);
        else TRY(list_add(&node->after, from[i]));
    }
    return SUCCESS;
}

EXPORTED int cuGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return add_edges(graph, from, to, count, 0);
}
EXPORTED int cuGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const void *data, size_t count) {
    (void)data;
    return add_edges(graph, from, to, count, 0);
}
EXPORTED int cuGraphRemoveDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return add_edges(graph, from, to, count, 1);
}
EXPORTED int cuGraphRemoveDependencies_v2(void *graph, void *const *from, void *const *to, const void *data, size_t count) {
    (void)data;
    return add_edges(graph, from, to, count, 1);
}

/* Return a list in CUDA's way: up to `*count` of its items, and their number. */
static int give(const struct list *list, void **items, size_t *count) {
    if (!count || (items && !*count)) return INVALID_VALUE;
    for (size_t i = 0; items && i < *count; i++) items[i] = i < list->count ? list->items[i] : NULL;
    if (!items || *count > list->count) *count = list->count;
    return SUCCESS;
}

EXPORTED int cuGraphGetNodes(void *handle, void **nodes, size_t *count) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    return graph ? give(&graph->nodes, nodes, count) : INVALID_VALUE;
}

EXPORTED int cuGraphGetRootNodes(void *handle, void **nodes, size_t *count) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    struct list roots = {0};
    if (!graph) return INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        if (!node->after.count) TRY(list_add(&roots, graph->nodes.items[i]));
    }
    int error = give(&roots, nodes, count);
    list_drop(&roots);
    return error;
}

/* Edges have no data: fill the caller's array with zeros, if there is one. */
static int without_data(int error, unsigned char *data, const size_t *count) {
    if (!error && data) memset(data, 0, 8 * *count);
    return error;
}

EXPORTED int cuGraphGetEdges(void *handle, void **from, void **to, size_t *count) {
    DRIVER;
    struct graph *graph = object_of(A_GRAPH, handle);
    struct list firsts = {0}, lasts = {0};
    if (!graph || !count || !from != !to) return INVALID_VALUE;
    size_t room = *count;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *node = object_of(A_NODE, graph->nodes.items[i]);
        for (size_t j = 0; j < node->after.count; j++) {
            TRY(list_add(&firsts, node->after.items[j]));
            TRY(list_add(&lasts, graph->nodes.items[i]));
        }
    }
    int error = give(&firsts, from, count);
    *count = from ? room : *count;
    error = error ? error : give(&lasts, to, count);
    list_drop(&firsts);
    list_drop(&lasts);
    return error;
}

EXPORTED int cuGraphGetEdges_v2(void *graph, void **from, void **to, unsigned char *data, size_t *count) {
    return without_data(cuGraphGetEdges(graph, from, to, count), from ? data : NULL, count);
}

EXPORTED int cuGraphNodeGetDependencies(void *handle, void **nodes, size_t *count) {
    DRIVER;
    struct node *node = object_of(A_NODE, handle);
    return node ? give(&node->after, nodes, count) : INVALID_VALUE;
}
EXPORTED int cuGraphNodeGetDependencies_v2(void *handle, void **nodes, unsigned char *data, size_t *count) {
    return without_data(cuGraphNodeGetDependencies(handle, nodes, count), nodes ? data : NULL, count);
}

EXPORTED int cuGraphNodeGetDependentNodes(void *handle, void **nodes, size_t *count) {
    DRIVER;
    struct node *node = object_of(A_NODE, handle);
    struct graph *graph = node ? object_of(A_GRAPH, node->graph) : NULL;
    struct list found = {0};
    if (!graph) return INVALID_VALUE;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        struct node *other = object_of(A_NODE, graph->nodes.items[i]);
        if (list_has(&other->after, handle)) TRY(list_add(&found, graph->nodes.items[i]));
    }
    int error = give(&found, nodes, count);
    list_drop(&found);
    return error;
}
EXPORTED int cuGraphNodeGetDependentNodes_v2(void *handle, void **nodes, unsigned char *data, size_t *count) {
    return without_data(cuGraphNodeGetDependentNodes(handle, nodes, count), nodes ? data : NULL, count);
}
