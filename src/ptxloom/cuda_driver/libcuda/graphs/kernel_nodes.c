/* Nodes that launch a kernel. */
#include <stdlib.h>
#include <string.h>

#include "graphs/nodes.h"

int kernel_work(const struct kernel_node *p, int version, struct work *work) {
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
    return node_add(node, graph, after, count, &work);
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
    return node_set(place, &work, KERNEL_WORK);
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
