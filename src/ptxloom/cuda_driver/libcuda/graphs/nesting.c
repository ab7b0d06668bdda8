/* Graphs within graphs. */
#include "base/handles.h"
#include "graphs/graphs.h"

enum { MOST_NESTED = 256 };

static const struct nesting *nestings[WORK_KINDS];

void nesting_is(enum work_kind kind, const struct nesting *nesting) { nestings[kind] = nesting; }

struct inner graphs_in(const struct work *work) {
    const struct nesting *nesting = nestings[work->kind];
    return nesting ? nesting->inner(work) : (struct inner){0};
}

static unsigned depth_of(const struct work *work) {
    const struct inner all = graphs_in(work);
    unsigned most = 0;
    for (uint32_t i = 0; i < all.count; i++) {
        const struct graph *graph = object_of(A_GRAPH, all.graphs[i]);
        for (size_t j = 0; graph && j < graph->nodes.count; j++) {
            const struct node *node = object_of(A_NODE, graph->nodes.items[j]);
            unsigned depth = 1 + depth_of(&node->work);
            if (depth > most) most = depth;
        }
    }
    return most;
}

static int has(const struct inner *all, const void *graph) {
    for (uint32_t i = 0; i < all->count; i++)
        if (all->graphs[i] == graph) return 1;
    return 0;
}

int nest(void *within, const struct work *work) {
    const struct inner all = graphs_in(work);
    const struct graph *graph;
    unsigned depth = all.count ? depth_of(work) : 0;
    for (void *handle = within; all.count && (graph = object_of(A_GRAPH, handle)); handle = graph->outer, depth++)
        if (has(&all, handle)) return INVALID_VALUE; /* it would run itself */
    if (depth > MOST_NESTED) return NOT_SUPPORTED;
    for (uint32_t i = 0; i < all.count; i++) {
        struct graph *inner = object_of(A_GRAPH, all.graphs[i]);
        if (!inner) continue;
        inner->is_child = 1;
        inner->outer = within;
    }
    return SUCCESS;
}

int work_own(struct work *work) {
    const struct nesting *nesting = nestings[work->kind];
    void *copy = NULL;
    if (!nesting) return SUCCESS;
    int error = nesting->copy(work->handle, &copy);
    if (error) work->kind = NOTHING;
    else work->handle = copy;
    return error;
}

void inner_drop(const struct work *work) {
    const struct nesting *nesting = nestings[work->kind];
    if (nesting) nesting->drop(work->handle);
}
