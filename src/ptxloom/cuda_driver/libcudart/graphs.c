/* Nodes of graphs whose parameters the runtime lays out in its own way; all other functions of graphs are forwarded (forwards.c). */
#include "runtime.h"

int cuCtxGetCurrent(handle *context);
int cuGraphAddKernelNode_v2(handle *node, handle graph, const handle *after, size_t count, const struct driver_kernel_node *asked);
int cuGraphKernelNodeSetParams_v2(handle node, const struct driver_kernel_node *asked);
int cuGraphKernelNodeGetParams_v2(handle node, struct driver_kernel_node *to);
int cuGraphExecKernelNodeSetParams_v2(handle made, handle node, const struct driver_kernel_node *asked);
int cuGraphAddMemcpyNode(handle *node, handle graph, const handle *after, size_t count, const struct copy *copy, handle context);
int cuGraphMemcpyNodeGetParams(handle node, struct copy *to);
int cuGraphMemcpyNodeSetParams(handle node, const struct copy *copy);
int cuGraphExecMemcpyNodeSetParams(handle made, handle node, const struct copy *copy, handle context);
int cuGraphAddMemsetNode(handle *node, handle graph, const handle *after, size_t count, const void *asked, handle context);
int cuGraphExecMemsetNodeSetParams(handle made, handle node, const void *asked, handle context);

int kernel_node_of(const struct kernel_node *from, struct driver_kernel_node *to) {
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

struct kernel_node kernel_node_told(const struct driver_kernel_node *from) {
    const void *function = function_of(from->kernel ? from->kernel : from->function);
    return (struct kernel_node){function, from->grid, from->block, from->shared_bytes, from->arguments, from->extra};
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
    if (!failed) *to = kernel_node_told(&found);
    return told(failed);
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

static int copy_asked(const struct copy_3d *asked, struct copy *copy) {
    *copy = (struct copy){0};
    int failed = asked ? ready() : INVALID_VALUE;
    return failed ? failed : copy_of(asked, copy);
}

EXPORTED int cudaGraphAddMemcpyNode(handle *node, handle graph, const handle *after, size_t count, const struct copy_3d *asked) {
    struct copy copy;
    int failed = copy_asked(asked, &copy);
    return failed ? told(failed) : add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphMemcpyNodeGetParams(handle node, struct copy_3d *to) {
    struct copy found;
    if (!to) return told(INVALID_VALUE);
    START();
    int failed = cuGraphMemcpyNodeGetParams(node, &found);
    return told(failed ? failed : copy_told(&found, to));
}

EXPORTED int cudaGraphMemcpyNodeSetParams(handle node, const struct copy_3d *asked) {
    struct copy copy;
    int failed = copy_asked(asked, &copy);
    return told(failed ? failed : cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphExecMemcpyNodeSetParams(handle made, handle node, const struct copy_3d *asked) {
    struct copy copy;
    int failed = copy_asked(asked, &copy);
    return failed ? told(failed) : change_copy(made, node, &copy);
}

/* A copy of consecutive bytes; either end may be a variable. */
static int row(void *to, const void *from, size_t bytes, int kind, struct copy *copy) {
    int failed = ready();
    return failed ? failed : linear_copy(to, from, bytes, kind, copy);
}

static int row_to(const void *symbol, const void *from, size_t bytes, size_t offset, int kind, struct copy *copy) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? failed : row(address, from, bytes, kind, copy);
}

static int row_from(void *to, const void *symbol, size_t bytes, size_t offset, int kind, struct copy *copy) {
    char *address;
    int failed = part_of(symbol, offset, bytes, &address);
    return failed ? failed : row(to, address, bytes, kind, copy);
}

EXPORTED int cudaGraphAddMemcpyNode1D(handle *node, handle graph, const handle *after, size_t count, void *to, const void *from,
                                      size_t bytes, int kind) {
    struct copy copy;
    int failed = row(to, from, bytes, kind, &copy);
    return failed ? told(failed) : add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphAddMemcpyNodeToSymbol(handle *node, handle graph, const handle *after, size_t count, const void *symbol,
                                            const void *from, size_t bytes, size_t offset, int kind) {
    struct copy copy;
    int failed = row_to(symbol, from, bytes, offset, kind, &copy);
    return failed ? told(failed) : add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphAddMemcpyNodeFromSymbol(handle *node, handle graph, const handle *after, size_t count, void *to, const void *symbol,
                                              size_t bytes, size_t offset, int kind) {
    struct copy copy;
    int failed = row_from(to, symbol, bytes, offset, kind, &copy);
    return failed ? told(failed) : add_copy(node, graph, after, count, &copy);
}

EXPORTED int cudaGraphMemcpyNodeSetParams1D(handle node, void *to, const void *from, size_t bytes, int kind) {
    struct copy copy;
    int failed = row(to, from, bytes, kind, &copy);
    return told(failed ? failed : cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphMemcpyNodeSetParamsToSymbol(handle node, const void *symbol, const void *from, size_t bytes, size_t offset,
                                                  int kind) {
    struct copy copy;
    int failed = row_to(symbol, from, bytes, offset, kind, &copy);
    return told(failed ? failed : cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphMemcpyNodeSetParamsFromSymbol(handle node, void *to, const void *symbol, size_t bytes, size_t offset, int kind) {
    struct copy copy;
    int failed = row_from(to, symbol, bytes, offset, kind, &copy);
    return told(failed ? failed : cuGraphMemcpyNodeSetParams(node, &copy));
}

EXPORTED int cudaGraphExecMemcpyNodeSetParams1D(handle made, handle node, void *to, const void *from, size_t bytes, int kind) {
    struct copy copy;
    int failed = row(to, from, bytes, kind, &copy);
    return failed ? told(failed) : change_copy(made, node, &copy);
}

EXPORTED int cudaGraphExecMemcpyNodeSetParamsToSymbol(handle made, handle node, const void *symbol, const void *from, size_t bytes,
                                                      size_t offset, int kind) {
    struct copy copy;
    int failed = row_to(symbol, from, bytes, offset, kind, &copy);
    return failed ? told(failed) : change_copy(made, node, &copy);
}

EXPORTED int cudaGraphExecMemcpyNodeSetParamsFromSymbol(handle made, handle node, void *to, const void *symbol, size_t bytes, size_t offset,
                                                        int kind) {
    struct copy copy;
    int failed = row_from(to, symbol, bytes, offset, kind, &copy);
    return failed ? told(failed) : change_copy(made, node, &copy);
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
