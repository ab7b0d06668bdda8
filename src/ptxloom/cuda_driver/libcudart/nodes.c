/* Graph nodes of any kind, and conditions. */
#include <string.h>

#include "runtime.h"

enum { KERNEL_NODE = 0, COPY_NODE = 1 };
enum { DEDUCED = 0, DEVICE_ENTRY = 1, OF_KERNEL = 2, OF_FUNCTION = 3 }; /* cudaKernelFunctionType */

int cuCtxGetCurrent(handle *context);
int cuGraphAddNode_v2(handle *node, handle graph, const handle *after, const void *edges, size_t count, struct driver_any_node *asked);
int cuGraphNodeSetParams(handle node, struct driver_any_node *asked);
int cuGraphExecNodeSetParams(handle made, handle node, struct driver_any_node *asked);
int cuGraphNodeGetParams(handle node, struct driver_any_node *to);
int cuGraphConditionalHandleCreate(uint64_t *condition, handle graph, handle context, unsigned first, unsigned flags);

static int kernel_asked(const struct any_node *from, struct driver_kernel_node *to) {
    const struct kernel_node *asked = &from->in.kernel.kernel;
    int failed = SUCCESS;
    switch (from->in.kernel.function_type) {
    case DEDUCED:
    case DEVICE_ENTRY:
        if ((failed = kernel_node_of(asked, to))) return failed;
        break;
    case OF_KERNEL:
    case OF_FUNCTION:
        *to = (struct driver_kernel_node){NULL, asked->grid, asked->block, asked->shared_bytes, asked->arguments, asked->extra, NULL, NULL};
        *(from->in.kernel.function_type == OF_KERNEL ? &to->kernel : &to->function) = (handle)(word)asked->function;
        break;
    default: return INVALID_VALUE;
    }
    to->context = from->in.kernel.context;
    return SUCCESS;
}

/* Convert parameters to the driver's layout; most kinds of nodes have the same in both. */
static int asked_of(const struct any_node *from, struct driver_any_node *to) {
    if (!from) return INVALID_VALUE;
    *to = (struct driver_any_node){.type = from->type, .unused = from->unused};
    memcpy(to->reserved, from->reserved, sizeof to->reserved);
    switch (from->type) {
    case KERNEL_NODE: return kernel_asked(from, &to->in.kernel);
    case COPY_NODE:
        to->in.copy.flags = from->in.copy.flags;
        to->in.copy.reserved = from->in.copy.reserved;
        to->in.copy.context = from->in.copy.context;
        return copy_of(&from->in.copy.copy, &to->in.copy.copy);
    default: memcpy(to->in.room, from->in.room, sizeof to->in.room); return SUCCESS;
    }
}

static int told_of(const struct driver_any_node *from, struct any_node *to) {
    *to = (struct any_node){.type = from->type};
    switch (from->type) {
    case KERNEL_NODE:
        to->in.kernel.kernel = kernel_node_told(&from->in.kernel);
        to->in.kernel.context = from->in.kernel.context;
        to->in.kernel.function_type = from->in.kernel.kernel ? OF_KERNEL : OF_FUNCTION;
        if (to->in.kernel.kernel.function != (from->in.kernel.kernel ? from->in.kernel.kernel : from->in.kernel.function))
            to->in.kernel.function_type = DEVICE_ENTRY;
        return SUCCESS;
    case COPY_NODE:
        to->in.copy.flags = from->in.copy.flags;
        to->in.copy.context = from->in.copy.context;
        return copy_told(&from->in.copy.copy, &to->in.copy.copy);
    default: memcpy(to->in.room, from->in.room, sizeof to->in.room); return SUCCESS;
    }
}

EXPORTED int cudaGraphAddNode(handle *node, handle graph, const handle *after, const void *edges, size_t count, struct any_node *asked) {
    struct driver_any_node given;
    START();
    int failed = asked_of(asked, &given);
    if (!failed) failed = cuGraphAddNode_v2(node, graph, after, edges, count, &given);
    if (!failed && asked->type > COPY_NODE) memcpy(asked->in.room, given.in.room, sizeof given.in.room); /* the caller's parameters */
    return told(failed);
}

EXPORTED int cudaGraphNodeSetParams(handle node, struct any_node *asked) {
    struct driver_any_node given;
    START();
    int failed = asked_of(asked, &given);
    return told(failed ? failed : cuGraphNodeSetParams(node, &given));
}

EXPORTED int cudaGraphExecNodeSetParams(handle made, handle node, struct any_node *asked) {
    struct driver_any_node given;
    START();
    int failed = asked_of(asked, &given);
    return told(failed ? failed : cuGraphExecNodeSetParams(made, node, &given));
}

EXPORTED int cudaGraphNodeGetParams(handle node, struct any_node *to) {
    struct driver_any_node found = {0};
    if (!to) return told(INVALID_VALUE);
    START();
    int failed = cuGraphNodeGetParams(node, &found);
    return told(failed ? failed : told_of(&found, to));
}

EXPORTED int cudaGraphConditionalHandleCreate_v2(uint64_t *condition, handle graph, handle context, unsigned first, unsigned flags) {
    START();
    int failed = context ? SUCCESS : cuCtxGetCurrent(&context);
    return told(failed ? failed : cuGraphConditionalHandleCreate(condition, graph, context, first, flags));
}

EXPORTED int cudaGraphConditionalHandleCreate(uint64_t *condition, handle graph, unsigned first, unsigned flags) {
    return cudaGraphConditionalHandleCreate_v2(condition, graph, NULL, first, flags);
}
