/* Nodes that launch a kernel. */
#include <stdlib.h>
#include <string.h>

#include "base/handles.h"
#include "code/attributes.h"
#include "code/functions.h"
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

static int copy_attributes(struct launch *to, const struct launch *from) {
    TRY(launch_clusters(to, from->cluster));
    to->hints = from->hints;
    to->flags = from->flags;
    return SUCCESS;
}

/* Also in an executable, if one is passed. */
static int set_kernel(void *exec, void *node, const struct kernel_node *p, int version) {
    LOCKED;
    struct work work, *place = exec ? work_in(exec, node) : work_of_node(node);
    GIVEN(place && p);
    TRY(driver_error());
    CURRENT;
    TRY(kernel_work(p, version, &work));
    int error = place->kind == KERNEL_WORK ? copy_attributes(&work.launch, &place->launch) : SUCCESS;
    if (!error) return node_set(place, &work, KERNEL_WORK);
    work_drop(&work);
    return error;
}
EXPORTED int cuGraphKernelNodeSetParams(void *node, const struct kernel_node *p) { return set_kernel(NULL, node, p, 1); }
EXPORTED int cuGraphKernelNodeSetParams_v2(void *node, const struct kernel_node *p) { return set_kernel(NULL, node, p, 2); }
EXPORTED int cuGraphExecKernelNodeSetParams(void *exec, void *node, const struct kernel_node *p) {
    GIVEN(exec);
    return set_kernel(exec, node, p, 1);
}
EXPORTED int cuGraphExecKernelNodeSetParams_v2(void *exec, void *node, const struct kernel_node *p) {
    GIVEN(exec);
    return set_kernel(exec, node, p, 2);
}

/* The parameters in a form that a program may pass again: pointers into the node. */
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

/* -- attributes of nodes ------------------------------------------------------------------------ */

union attribute_value {
    unsigned char bytes[64];
    int number;
    uint32_t cluster[3];
    struct {
        int is_updatable;
        void *node;
    } updatable;
};

static struct launch *launch_of_node(const void *handle) {
    struct work *work = work_of_node(handle);
    return work && work->kind == KERNEL_WORK ? &work->launch : NULL;
}

static int tell_number(union attribute_value *value, int number) {
    value->number = number;
    return SUCCESS;
}

EXPORTED int cuGraphKernelNodeGetAttribute(void *node, int attribute, union attribute_value *value) {
    DRIVER;
    const struct launch *launch = launch_of_node(node);
    if (!launch || !value) return INVALID_VALUE;
    switch ((enum attribute)attribute) {
    case WINDOW: memcpy(value, &launch->hints.window, sizeof launch->hints.window); return SUCCESS;
    case COOPERATIVE_LAUNCH:
        return tell_number(value, launch->hints.cooperative ? launch->hints.cooperative : (launch->flags & COOPERATIVE) != 0);
    case CLUSTER: memcpy(value, launch->cluster, sizeof launch->cluster); return SUCCESS;
    case POLICY: return tell_number(value, launch->hints.policy);
    case PRIORITY: return tell_number(value, launch->hints.priority);
    case MEMORY_DOMAIN_MAP: memcpy(value, launch->hints.domains, sizeof launch->hints.domains); return SUCCESS;
    case MEMORY_DOMAIN: return tell_number(value, launch->hints.domain);
    case CARVEOUT: return tell_number(value, launch->hints.carveout);
    case UPDATABLE: value->updatable.node = NULL; return tell_number(value, 0);
    default: return INVALID_VALUE;
    }
}

EXPORTED int cuGraphKernelNodeSetAttribute(void *node, int attribute, const union attribute_value *value) {
    DRIVER;
    struct launch *launch = launch_of_node(node);
    if (!launch || !value) return INVALID_VALUE;
    switch ((enum attribute)attribute) {
    case COOPERATIVE_LAUNCH:
        launch->hints.cooperative = value->number;
        launch->flags = (launch->flags & ~(uint32_t)COOPERATIVE) | (value->number ? COOPERATIVE : 0);
        return SUCCESS;
    case CLUSTER: return launch_clusters(launch, value->cluster);
    case UPDATABLE: return value->number ? NOT_SUPPORTED : SUCCESS; /* no kernel here changes nodes */
    case NVLINK: return SUCCESS;
    default: return hint_of(&launch->hints, (enum attribute)attribute, value) ? INVALID_VALUE : SUCCESS;
    }
}

EXPORTED int cuGraphKernelNodeCopyAttributes(void *to, void *from) {
    DRIVER;
    struct launch *target = launch_of_node(to);
    const struct launch *source = launch_of_node(from);
    if (!target || !source) return INVALID_VALUE;
    return copy_attributes(target, source);
}
