/* Nodes of graphs whose parameters the runtime lays out in its own way; all else of graphs is passed on (forwards.c). */
#include "runtime.h"

int cuCtxGetCurrent(handle *context);
int cuGraphAddKernelNode_v2(handle *node, handle graph, const handle *after, size_t count, const struct driver_kernel_node *asked);
int cuGraphKernelNodeSetParams_v2(handle node, const struct driver_kernel_node *asked);
int cuGraphKernelNodeGetParams_v2(handle node, struct driver_kernel_node *to);
int cuGraphExecKernelNodeSetParams_v2(handle made, handle node, const struct driver_kernel_node *asked);
int cuGraphAddMemcpyNode(handle *node, handle graph, const handle *after, size_t count, const struct copy *copy, handle context);
int cuGraphMemcpyNodeSetParams(handle node, const struct copy *copy);
int cuGraphExecMemcpyNodeSetParams(handle made, handle node, const struct copy *copy, handle context);
int cuGraphAddMemsetNode(handle *node, handle graph, const handle *after, size_t count, const void *asked, handle context);
int cuGraphExecMemsetNodeSetParams(handle made, handle node, const void *asked, handle context);

static int kernel_node_of(const struct kernel_node *from, struct driver_kernel_node *to) {
    handle kernel;
    if (!from) return INVALID_VALUE;
    int failed = ready();
    if (!failed) failed = kernel_of(from->function, &kernel);
    if (!failed)
        *to = (struct driver_kernel_node){.kernel = kernel,
                                          .grid = from->grid,
                                          .block = from->block,
                                          .shared_bytes = from->shared_bytes,
                                          .arguments = from->arguments,
                                          .extra = from->extra};
    return failed;
}

EXPORTED int cudaGraphAddKernelNode(handle *node, handle graph, const handle *after, size_t count, const struct kernel_node *asked) {
    struct driver_kernel_node given;
    int failed = kernel_node_of(asked, &given);
    return told(failed ? failed : cuGraphAddKernelNode_v2(node, graph, after, count, &given));
}

EXPORTED int cudaGraphKernelNodeSetParams(handle node, const struct kernel_node *asked) {
    struct driver_kernel_node given;
    int failed = kernel_node_of(asked, &given);
    return told(failed ? failed : cuGraphKernelNodeSetParams_v2(node, &given));
}

EXPORTED int cudaGraphExecKernelNodeSetParams(handle made, handle node, const struct kernel_node *asked) {
    struct driver_kernel_node given;
    int failed = kernel_node_of(asked, &given);
    return told(failed ? failed : cuGraphExecKernelNodeSetParams_v2(made, node, &given));
}

EXPORTED int cudaGraphKernelNodeGetParams(handle node, struct kernel_node *to) {
    struct driver_kernel_node found;
    if (!to) return told(INVALID_VALUE);
    START();
    int failed = cuGraphKernelNodeGetParams_v2(node, &found);
    if (failed) return told(failed);
    const void *function = function_of(found.kernel ? found.kernel : found.function);
    *to = (struct kernel_node){function, found.grid, found.block, found.shared_bytes, found.arguments, found.extra};
    return SUCCESS;
}

static int add_copy(handle *node, handle graph, const handle *after, size_t count, const struct copy *copy) {
    handle context;
    int failed = cuCtxGetCurrent(&context);
    return told(failed ? failed : cuGraphAddMemcpyNode(node, graph, after, count, copy, context));
}

static int change_copy(handle made, handle node, const struct copy *copy) {
    handle context;
    int failed = cuCtxGetCurrent(&context);
    return told(failed ? failed : cuGraphExecMemcpyNodeSetParams(made, node, copy, context));
}

EXPORTED int cudaGraphAddMemcpyNode(handle *node, handle graph, const handle *after, size_t count, const struct copy_3d *asked) {
    struct copy copy = {0};
    START();
    int failed = asked ? copy_of(asked, &copy) : INVALID_VALUE;
    return failed ? told(failed) : add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphMemcpyNodeSetParams(handle node, const struct copy_3d *asked) {
    struct copy copy = {0};
    START();
    int failed = asked ? copy_of(asked, &copy) : INVALID_VALUE;
    return told(failed ? failed : cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphExecMemcpyNodeSetParams(handle made, handle node, const struct copy_3d *asked) {
    struct copy copy = {0};
    START();
    int failed = asked ? copy_of(asked, &copy) : INVALID_VALUE;
    return failed ? told(failed) : change_copy(made, node, &copy);
}

EXPORTED int cudaGraphAddMemcpyNode1D(handle *node, handle graph, const handle *after, size_t count, void *to, const void *from,
                                      size_t bytes, int kind) {
    struct copy copy = linear_copy(to, from, bytes, kind);
    START();
    return add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphMemcpyNodeSetParams1D(handle node, void *to, const void *from, size_t bytes, int kind) {
    struct copy copy = linear_copy(to, from, bytes, kind);
    START();
    return told(cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphExecMemcpyNodeSetParams1D(handle made, handle node, void *to, const void *from, size_t bytes, int kind) {
    struct copy copy = linear_copy(to, from, bytes, kind);
    START();
    return change_copy(made, node, &copy);
}

EXPORTED int cudaGraphAddMemcpyNodeToSymbol(handle *node, handle graph, const handle *after, size_t count, const void *symbol,
                                            const void *from, size_t bytes, size_t offset, int kind) {
    char *address;
    START();
    int failed = part_of(symbol, offset, bytes, &address);
    if (failed) return told(failed);
    struct copy copy = linear_copy(address, from, bytes, kind);
    return add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphAddMemcpyNodeFromSymbol(handle *node, handle graph, const handle *after, size_t count, void *to,
                                              const void *symbol, size_t bytes, size_t offset, int kind) {
    char *address;
    START();
    int failed = part_of(symbol, offset, bytes, &address);
    if (failed) return told(failed);
    struct copy copy = linear_copy(to, address, bytes, kind);
    return add_copy(node, graph, after, count, &copy);
}

/* cudaMemsetParams and CUDA_MEMSET_NODE_PARAMS are the same. */
EXPORTED int cudaGraphAddMemsetNode(handle *node, handle graph, const handle *after, size_t count, const void *asked) {
    handle context;
    START();
    int failed = cuCtxGetCurrent(&context);
    return told(failed ? failed : cuGraphAddMemsetNode(node, graph, after, count, asked, context));
}

EXPORTED int cudaGraphExecMemsetNodeSetParams(handle made, handle node, const void *asked) {
    handle context;
    START();
    int failed = cuCtxGetCurrent(&context);
    return told(failed ? failed : cuGraphExecMemsetNodeSetParams(made, node, asked, context));
}
