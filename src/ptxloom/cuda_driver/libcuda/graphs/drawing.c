/* Identifiers of graphs and nodes, and drawings in the language of Graphviz. */
#include <stdio.h>

#include "base/handles.h"
#include "code/functions.h"
#include "graphs/nodes.h"
#include "memory/graph_memory.h"

EXPORTED int cuGraphGetId(void *handle, unsigned *id) {
    DRIVER;
    const struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph || !id) return INVALID_VALUE;
    *id = graph->id;
    return SUCCESS;
}

EXPORTED int cuGraphExecGetId(void *handle, unsigned *id) {
    DRIVER;
    const struct executable *one = object_of(AN_EXECUTABLE, handle);
    if (!one || !id) return INVALID_VALUE;
    *id = one->id;
    return SUCCESS;
}

EXPORTED int cuGraphNodeGetLocalId(void *handle, unsigned *id) {
    DRIVER;
    const struct node *node = object_of(A_NODE, handle);
    if (!node || !id) return INVALID_VALUE;
    *id = node->id;
    return SUCCESS;
}

EXPORTED int cuGraphNodeGetToolsId(void *handle, uint64_t *id) {
    DRIVER;
    const struct node *node = object_of(A_NODE, handle);
    if (!node || !id) return INVALID_VALUE;
    *id = node->number;
    return SUCCESS;
}

EXPORTED int cuGraphNodeGetContainingGraph(void *handle, void **graph) {
    DRIVER;
    const struct node *node = object_of(A_NODE, handle);
    if (!node || !graph) return INVALID_VALUE;
    *graph = node->graph;
    return SUCCESS;
}

/* -- a drawing ---------------------------------------------------------------------------------------------------------- */

enum {
    VERBOSE = 1,
    KERNELS = 1 << 2,
    COPIES = 1 << 3,
    FILLS = 1 << 4,
    HOSTS = 1 << 5,
    EVENTS = 1 << 6,
    HANDLES = 1 << 10,
    ALLOCATIONS = 1 << 11,
    FREES = 1 << 12,
    VALUES = 1 << 13
};

static const char *const kinds[] = {
    [NOTHING] = "empty",  [KERNEL_WORK] = "kernel",     [COPY_WORK] = "copy",    [FILL_WORK] = "fill",
    [HOST_WORK] = "host", [RECORD_WORK] = "record",     [WAIT_WORK] = "wait",    [GRAPH_WORK] = "graph",
    [FREE_WORK] = "free", [ALLOCATE_WORK] = "allocate", [VALUE_WORK] = "values", [CONDITION_WORK] = "condition",
};

static void draw_kernel(FILE *out, const struct launch *l, int wordy) {
    const struct function *f = object_of(A_FUNCTION, l->handle);
    if (f && f->name) fprintf(out, " %s", f->name); /* only letters, digits, `_`, `$` and `%` */
    if (!wordy) return;
    fprintf(out, "\\ngrid %u, %u, %u\\nblock %u, %u, %u\\nshared memory %u", l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1],
            l->block[2], l->shared_bytes);
}

static void draw_copy(FILE *out, const struct copy *c) {
    fprintf(out, "\\nto 0x%llx\\nfrom 0x%llx\\n%llu, %llu, %llu", (unsigned long long)c->to, (unsigned long long)c->from,
            (unsigned long long)c->width, (unsigned long long)c->height, (unsigned long long)c->depth);
}

static void draw_fill(FILE *out, const struct fill *f) {
    fprintf(out, "\\nto 0x%llx\\nvalue %u of %u bytes\\n%llu, %llu", (unsigned long long)f->to, f->value, f->element_bytes,
            (unsigned long long)f->width, (unsigned long long)f->height);
}

static void draw_memory(FILE *out, const void *handle) {
    const struct graph_memory *one = object_of(A_GRAPH_MEMORY, handle);
    if (one) fprintf(out, "\\n%llu bytes at 0x%llx", (unsigned long long)one->size, (unsigned long long)one->start);
}

static void draw_values(FILE *out, const struct values *values) {
    for (unsigned i = 0; i < values->count; i++)
        fprintf(out, "\\n%d: 0x%llx, %llu", values->all[i].kind, (unsigned long long)values->all[i].address,
                (unsigned long long)values->all[i].value);
}

static void draw_work(FILE *out, const struct work *work, unsigned flags) {
    fprintf(out, "%s", kinds[work->kind]);
    switch (work->kind) {
    case KERNEL_WORK: draw_kernel(out, &work->launch, (flags & KERNELS) != 0); break;
    case COPY_WORK:
        if (flags & COPIES) draw_copy(out, &work->copy);
        break;
    case FILL_WORK:
        if (flags & FILLS) draw_fill(out, &work->fill);
        break;
    case HOST_WORK:
        if (flags & HOSTS) fprintf(out, "\\nargument %p", work->host.argument);
        break;
    case RECORD_WORK:
    case WAIT_WORK:
        if (flags & EVENTS) fprintf(out, "\\nevent %p", work->handle);
        break;
    case ALLOCATE_WORK:
    case FREE_WORK:
        if (flags & (work->kind == FREE_WORK ? FREES : ALLOCATIONS)) draw_memory(out, work->handle);
        break;
    case VALUE_WORK:
        if (flags & VALUES) draw_values(out, &work->values);
        break;
    default: break;
    }
}

static void draw_graph(FILE *out, const void *handle, unsigned flags);

static void draw_inner(FILE *out, const struct work *work, unsigned flags) {
    const struct inner all = graphs_in(work);
    for (uint32_t i = 0; i < all.count; i++) {
        const struct graph *inner = object_of(A_GRAPH, all.graphs[i]);
        if (!inner) continue;
        fprintf(out, "subgraph cluster_%u {\nlabel=\"graph %u\";\n", inner->id, inner->id);
        draw_graph(out, all.graphs[i], flags);
        fprintf(out, "}\n");
    }
}

static void draw_node(FILE *out, const struct graph *graph, const void *handle, unsigned flags) {
    const struct node *node = object_of(A_NODE, handle);
    fprintf(out, "n%u_%u [label=\"%u: ", graph->id, node->id, node->id);
    draw_work(out, &node->work, flags);
    if (flags & HANDLES) fprintf(out, "\\nnode %p", handle);
    fprintf(out, "\"];\n");
    for (size_t i = 0; i < node->after.count; i++) {
        const struct node *before = object_of(A_NODE, node->after.items[i]);
        if (before) fprintf(out, "n%u_%u -> n%u_%u;\n", graph->id, before->id, graph->id, node->id);
    }
    draw_inner(out, &node->work, flags);
}

static void draw_graph(FILE *out, const void *handle, unsigned flags) {
    const struct graph *graph = object_of(A_GRAPH, handle);
    for (size_t i = 0; i < graph->nodes.count; i++) draw_node(out, graph, graph->nodes.items[i], flags);
}

EXPORTED int cuGraphDebugDotPrint(void *handle, const char *path, unsigned flags) {
    GIVEN(handle && path);
    DRIVER;
    const struct graph *graph = object_of(A_GRAPH, handle);
    if (!graph) return INVALID_VALUE;
    FILE *out = fopen(path, "we");
    if (!out) return OPERATING_SYSTEM;
    fprintf(out, "digraph graph_%u {\nnode [shape=box];\n", graph->id);
    draw_graph(out, handle, flags & VERBOSE ? ~0u : flags);
    fprintf(out, "}\n");
    return fclose(out) ? OPERATING_SYSTEM : SUCCESS;
}
