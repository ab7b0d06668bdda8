// What newer programs ask of the CUDA runtime: nodes of any kind, conditions, execution contexts.
#include <cstdint>

#include "claims.h"

__device__ int kept[4] = {1, 2, 3, 4};

template <typename T> __global__ void filled(T *values, T value) { values[threadIdx.x] = value; }

__global__ void count_down(int *left, cudaGraphConditionalHandle again) {
    *left -= 1;
    cudaGraphSetConditional(again, *left > 0);
}

static cudaGraphNodeParams node_of(cudaGraphNodeType type) {
    cudaGraphNodeParams params = {};
    params.type = type;
    return params;
}

static void launched(cudaGraph_t graph) {
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaGraphExecDestroy(executable));
}

static void nodes() {
    int *values = nullptr, host[32] = {}, seven = 7;
    OK(cudaMalloc(&values, sizeof host));
    cudaGraph_t graph;
    cudaGraphNode_t fill, run, copy, wrong;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = node_of(cudaGraphNodeTypeMemset);
    params.memset.dst = values;
    params.memset.elementSize = 4;
    params.memset.width = 32;
    params.memset.height = 1;
    OK(cudaGraphAddNode(&fill, graph, nullptr, nullptr, 0, &params));
    void *arguments[] = {&values, &seven};
    params = node_of(cudaGraphNodeTypeKernel);
    params.kernel.func = (void *)filled<int>;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(16);
    params.kernel.kernelParams = arguments;
    OK(cudaGraphAddNode(&run, graph, &fill, nullptr, 1, &params));
    cudaKernelNodeParams known;
    OK(cudaGraphKernelNodeGetParams(run, &known));
    CLAIM(known.func == (void *)filled<int> && known.blockDim.x == 16);
    params = node_of(cudaGraphNodeTypeMemcpy);
    params.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(values, sizeof host, sizeof host, 1);
    params.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(host, sizeof host, sizeof host, 1);
    params.memcpy.copyParams.extent = make_cudaExtent(sizeof host, 1, 1);
    params.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
    OK(cudaGraphAddNode(&copy, graph, &run, nullptr, 1, &params));
    cudaMemcpy3DParms told;
    OK(cudaGraphMemcpyNodeGetParams(copy, &told));
    CLAIM(told.srcPtr.ptr == values && told.dstPtr.ptr == host && told.kind == cudaMemcpyDeviceToHost);
    CLAIM(told.extent.width == sizeof host && told.srcArray == nullptr && told.dstPos.x == 0);
    launched(graph);
    CLAIM(host[0] == 7 && host[15] == 7 && host[16] == 0);

    cudaKernel_t kernel;
    OK(cudaGetKernel(&kernel, (const void *)filled<int>));
    cudaGraphNodeParams of_kernel = node_of(cudaGraphNodeTypeKernel);
    of_kernel.kernel.kern = kernel;
    of_kernel.kernel.functionType = cudaKernelFunctionTypeKernel;
    of_kernel.kernel.gridDim = dim3(1);
    of_kernel.kernel.blockDim = dim3(32);
    of_kernel.kernel.kernelParams = arguments;
    OK(cudaGraphNodeSetParams(run, &of_kernel));
    seven = 8; /* copied when it was asked for */
    launched(graph);
    CLAIM(host[31] == 7);

    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphExecNodeSetParams(executable, run, &of_kernel));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(host[31] == 8);
    params.memcpy.copyParams.extent.width = 4; /* to another place, and fewer of them */
    params.memcpy.copyParams.dstPtr.ptr = host + 1;
    OK(cudaGraphExecNodeSetParams(executable, copy, &params));
    host[1] = host[2] = 0;
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(host[1] == 8 && host[2] == 0);
    CLAIM(cudaGraphExecNodeSetParams(executable, copy, nullptr) == cudaErrorInvalidValue);
    CLAIM(cudaGraphExecNodeSetParams(nullptr, copy, &params) == cudaErrorInvalidValue);
    OK(cudaGraphExecDestroy(executable));

    params.type = cudaGraphNodeTypeMemset;
    CLAIM(cudaGraphNodeSetParams(run, &params) == cudaErrorInvalidValue);
    params.type = (cudaGraphNodeType)77;
    CLAIM(cudaGraphAddNode(&wrong, graph, nullptr, nullptr, 0, &params) != cudaSuccess);
    CLAIM(cudaGraphAddNode(&wrong, graph, nullptr, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    of_kernel.kernel.functionType = cudaKernelFunctionTypeDeviceEntry;
    of_kernel.kernel.func = (void *)&host;
    CLAIM(cudaGraphAddNode(&wrong, graph, nullptr, nullptr, 0, &of_kernel) == cudaErrorInvalidDeviceFunction);
    of_kernel.kernel.functionType = (cudaKernelFunctionType)9;
    CLAIM(cudaGraphAddNode(&wrong, graph, nullptr, nullptr, 0, &of_kernel) == cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
}

static void variables() {
    int host[4] = {5, 6, 7, 8}, back[2] = {};
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaGraphNode_t in, out;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, kept, host, 8, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, back, kept, 8, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphMemcpyNodeSetParamsToSymbol(in, kept, host + 2, 8, 8, cudaMemcpyHostToDevice));
    OK(cudaGraphMemcpyNodeSetParamsFromSymbol(out, back, kept, 8, 4, cudaMemcpyDeviceToHost));
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(back[0] == 2 && back[1] == 7); /* of 1, 2, 7, 8 */
    OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, in, kept, host, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, out, back, kept, 8, 0, cudaMemcpyDeviceToHost));
    OK(cudaGraphLaunch(executable, 0));
    OK(cudaDeviceSynchronize());
    CLAIM(back[0] == 5 && back[1] == 2);
    CLAIM(cudaGraphMemcpyNodeSetParamsToSymbol(in, kept, host, 8, 12, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CLAIM(cudaGraphMemcpyNodeSetParamsToSymbol(in, host, host, 8, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    CLAIM(cudaGraphMemcpyNodeSetParams1D(in, back, host, 8, (cudaMemcpyKind)9) == cudaErrorInvalidMemcpyDirection);
}

static void conditions() {
    int *left = nullptr, start = 5, host = -1;
    cudaGraph_t graph;
    cudaGraphNode_t loop, run;
    cudaGraphConditionalHandle again;
    cudaExecutionContext_t context;
    OK(cudaMalloc(&left, 4));
    OK(cudaMemcpy(left, &start, 4, cudaMemcpyHostToDevice));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams params = node_of(cudaGraphNodeTypeConditional);
    params.conditional.handle = again;
    params.conditional.type = cudaGraphCondTypeWhile;
    params.conditional.size = 1;
    OK(cudaGraphAddNode(&loop, graph, nullptr, nullptr, 0, &params));
    cudaGraph_t body = params.conditional.phGraph_out[0];
    void *arguments[] = {&left, &again};
    cudaGraphNodeParams kernel = node_of(cudaGraphNodeTypeKernel);
    kernel.kernel.func = (void *)count_down;
    kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
    kernel.kernel.kernelParams = arguments;
    OK(cudaGraphAddNode(&run, body, nullptr, nullptr, 0, &kernel));
    launched(graph);
    OK(cudaMemcpy(&host, left, 4, cudaMemcpyDeviceToHost));
    CLAIM(host == 0);
    OK(cudaDeviceGetExecutionCtx(&context, 0));
    OK(cudaGraphConditionalHandleCreate_v2(&again, graph, context, 0, 0));
    CLAIM(cudaGraphConditionalHandleCreate(&again, graph, 0, 2) == cudaErrorInvalidValue);
    CLAIM(cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0) == cudaErrorInvalidValue);
    CLAIM(cudaGraphConditionalHandleCreate(&again, nullptr, 0, 0) == cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
}

static void contexts() {
    cudaExecutionContext_t primary, same, part, wild = (cudaExecutionContext_t)0x1234;
    cudaDevResource all, groups[2], rest, known;
    cudaDevResourceDesc_t description;
    cudaStream_t stream, other;
    cudaEvent_t event;
    unsigned count = 2, flags = 9;
    unsigned long long id = 0, other_id = 0;
    int device = -1, *values = nullptr, host = 0;
    OK(cudaDeviceGetExecutionCtx(&primary, 0));
    OK(cudaDeviceGetExecutionCtx(&same, 0));
    CLAIM(primary == same);
    OK(cudaDeviceGetDevResource(0, &all, cudaDevResourceTypeSm));
    OK(cudaDevSmResourceSplitByCount(groups, &count, &all, &rest, 0, 2));
    CLAIM(count == 2 && groups[0].sm.smCount == 2 && groups[1].sm.smCount == 2);
    OK(cudaDevResourceGenerateDesc(&description, groups, 1));
    OK(cudaGreenCtxCreate(&part, description, 0, 0));
    OK(cudaExecutionCtxGetDevice(&device, part));
    OK(cudaExecutionCtxGetId(primary, &id));
    OK(cudaExecutionCtxGetId(part, &other_id));
    CLAIM(device == 0 && id && other_id && id != other_id);
    OK(cudaExecutionCtxGetDevResource(part, &known, cudaDevResourceTypeSm));
    CLAIM(known.sm.smCount == 2);
    OK(cudaExecutionCtxGetDevResource(primary, &known, cudaDevResourceTypeSm));
    CLAIM(known.sm.smCount == all.sm.smCount);
    OK(cudaExecutionCtxStreamCreate(&stream, part, cudaStreamDefault, 0));
    OK(cudaStreamGetFlags(stream, &flags));
    CLAIM(flags == cudaStreamNonBlocking);
    OK(cudaStreamGetDevResource(stream, &known, cudaDevResourceTypeSm));
    CLAIM(known.sm.smCount == 2);
    OK(cudaExecutionCtxStreamCreate(&other, primary, cudaStreamNonBlocking, 0));
    OK(cudaMalloc(&values, 128));
    filled<int><<<1, 32, 0, stream>>>(values, 9);
    OK(cudaGetLastError());
    OK(cudaEventCreate(&event));
    OK(cudaExecutionCtxRecordEvent(part, event));
    OK(cudaExecutionCtxWaitEvent(primary, event));
    OK(cudaExecutionCtxRecordEvent(primary, event));
    OK(cudaExecutionCtxSynchronize(part));
    OK(cudaMemcpy(&host, values + 31, 4, cudaMemcpyDeviceToHost));
    CLAIM(host == 9);
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));

    cudaGraph_t lost;
    OK(cudaExecutionCtxStreamCreate(&stream, part, cudaStreamDefault, 0));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CLAIM(cudaExecutionCtxRecordEvent(part, event) == cudaErrorStreamCaptureUnsupported);
    CLAIM(cudaStreamEndCapture(stream, &lost) == cudaErrorStreamCaptureInvalidated);
    OK(cudaStreamDestroy(stream));

    CLAIM(cudaExecutionCtxDestroy(primary) == cudaErrorInvalidValue);
    OK(cudaExecutionCtxDestroy(part));
    CLAIM(cudaExecutionCtxDestroy(part) == cudaErrorInvalidValue);
    CLAIM(cudaExecutionCtxDestroy(wild) == cudaErrorInvalidValue && cudaExecutionCtxDestroy(nullptr) == cudaErrorInvalidValue);
    CLAIM(cudaExecutionCtxSynchronize(nullptr) == cudaErrorInvalidValue && cudaExecutionCtxSynchronize(wild) != cudaSuccess);
    CLAIM(cudaExecutionCtxGetId(wild, &id) != cudaSuccess && cudaExecutionCtxRecordEvent(wild, event) != cudaSuccess);
    CLAIM(cudaExecutionCtxGetDevResource(part, &known, cudaDevResourceTypeSm) != cudaSuccess);
    CLAIM(cudaGreenCtxCreate(&part, description, 0, 1) == cudaErrorInvalidValue);
    CLAIM(cudaGreenCtxCreate(&part, description, 7, 0) == cudaErrorInvalidDevice);
    CLAIM(cudaDeviceGetExecutionCtx(&part, 7) == cudaErrorInvalidDevice);
}

static cudaError_t split(cudaDevSmResourceGroupParams wanted, cudaDevResource *part, cudaDevResource *rest, unsigned *got) {
    cudaDevResource all;
    OK(cudaDeviceGetDevResource(0, &all, cudaDevResourceTypeSm));
    cudaError_t answer = cudaDevSmResourceSplit(part, 1, &all, rest, 0, &wanted);
    *got = wanted.smCount;
    return answer;
}

static void groups() {
    cudaDevResource part, rest, all;
    unsigned got = 0;
    OK(cudaDeviceGetDevResource(0, &all, cudaDevResourceTypeSm));
    const unsigned whole = all.sm.smCount;
    OK(split({2, 2}, &part, &rest, &got));
    CLAIM(part.sm.smCount == 2 && rest.sm.smCount == whole - 2 && rest.type == cudaDevResourceTypeSm);
    OK(split({0, 0}, nullptr, &rest, &got));
    CLAIM(got == whole && rest.type == cudaDevResourceTypeInvalid);
    OK(split({2, 4, 0, cudaDevSmResourceGroupBackfill}, nullptr, nullptr, &got));
    CLAIM(split({whole + 2, 2}, &part, &rest, &got) == cudaErrorInvalidResourceConfiguration);
    CLAIM(split({3, 2}, &part, &rest, &got) == cudaErrorInvalidValue);
    CLAIM(split({2, 4}, &part, &rest, &got) == cudaErrorInvalidValue);
    CLAIM(split({2, 2, 0, 64}, &part, &rest, &got) == cudaErrorInvalidValue);
    cudaDevSmResourceGroupParams two[2] = {{whole, 2}, {0, 2}};
    cudaDevResource both[2];
    CLAIM(cudaDevSmResourceSplit(both, 2, &all, nullptr, 0, two) == cudaErrorInvalidResourceConfiguration);
    CLAIM(cudaDevSmResourceSplit(both, 0, &all, nullptr, 0, two) == cudaErrorInvalidValue);
    CLAIM(cudaDevSmResourceSplit(both, 2, &all, nullptr, 1, two) == cudaErrorInvalidValue);
    CLAIM(cudaDevSmResourceSplit(both, 2, nullptr, nullptr, 0, two) == cudaErrorInvalidValue);
    CLAIM(cudaDevSmResourceSplit(both, 1u << 31, &all, nullptr, 0, two) == cudaErrorInvalidResourceConfiguration);
}

static void between() {
    unsigned char from[64], to[64] = {}, *linear = nullptr;
    for (int i = 0; i < 64; i++) from[i] = (unsigned char)i;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
    cudaArray_t wide, narrow, box;
    OK(cudaMallocArray(&wide, &format, 16, 4));
    OK(cudaMallocArray(&narrow, &format, 8, 8));
    OK(cudaMemcpy2DToArray(wide, 0, 0, from, 16, 16, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyArrayToArray(narrow, 0, 0, wide, 0, 0, 64, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy2DFromArray(to, 8, narrow, 0, 0, 8, 8, cudaMemcpyDeviceToHost));
    CLAIM(std::memcmp(from, to, 64) == 0);
    OK(cudaMemcpyArrayToArray(narrow, 3, 1, wide, 13, 2, 9, cudaMemcpyDeviceToDevice)); /* across rows of both */
    OK(cudaMemcpy2DFromArray(to, 8, narrow, 0, 0, 8, 8, cudaMemcpyDeviceToHost));
    CLAIM(to[10] == 10 && to[11] == 45 && to[15] == 49 && to[19] == 53 && to[20] == 20);
    CLAIM(cudaMemcpyArrayToArray(narrow, 0, 0, wide, 0, 0, 65, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CLAIM(cudaMemcpyArrayToArray(narrow, 8, 0, wide, 0, 0, 1, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CLAIM(cudaMemcpyArrayToArray(narrow, 0, 9, wide, 0, 0, 1, cudaMemcpyDeviceToDevice) == cudaErrorInvalidValue);
    CLAIM(cudaMemcpyArrayToArray(nullptr, 0, 0, wide, 0, 0, 1, cudaMemcpyDeviceToDevice) != cudaSuccess);

    OK(cudaMalloc(&linear, 64));
    OK(cudaMemcpy(linear, from, 64, cudaMemcpyHostToDevice));
    OK(cudaMalloc3DArray(&box, &format, make_cudaExtent(4, 4, 4)));
    cudaMemcpy3DPeerParms peers = {};
    peers.srcPtr = make_cudaPitchedPtr(linear, 4, 4, 4);
    peers.dstArray = box;
    peers.extent = make_cudaExtent(4, 4, 4);
    OK(cudaMemcpy3DPeer(&peers));
    std::memset(to, 0, 64);
    cudaMemcpy3DParms back = {};
    back.srcArray = box;
    back.srcPos = make_cudaPos(1, 2, 3);
    back.dstPtr = make_cudaPitchedPtr(to, 2, 2, 1);
    back.extent = make_cudaExtent(2, 1, 1);
    back.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&back));
    CLAIM(to[0] == 3 * 16 + 2 * 4 + 1 && to[1] == to[0] + 1 && to[2] == 0);
    peers.dstDevice = 5;
    CLAIM(cudaMemcpy3DPeer(&peers) == cudaErrorInvalidDevice && cudaMemcpy3DPeer(nullptr) == cudaErrorInvalidValue);

    cudaGraph_t graph;
    cudaGraphNode_t node;
    cudaMemcpy3DParms told;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, &back));
    OK(cudaGraphMemcpyNodeGetParams(node, &told));
    CLAIM(told.srcArray == box && told.srcPos.x == 1 && told.srcPos.z == 3 && told.srcPtr.ptr == nullptr);
    CLAIM(told.dstPtr.ptr == to && told.extent.width == 2 && told.kind == cudaMemcpyDeviceToHost);
    CLAIM(cudaGraphMemcpyNodeGetParams(node, nullptr) == cudaErrorInvalidValue);
    CLAIM(cudaGraphMemcpyNodeGetParams(nullptr, &told) == cudaErrorInvalidValue);

    cudaMemcpyAttributes how = {};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    unsigned char *copy = nullptr;
    OK(cudaMalloc(&copy, 64));
    OK(cudaMemcpyWithAttributesAsync(copy, linear, 64, &how, 0));
    OK(cudaMemcpy(to, copy, 64, cudaMemcpyDeviceToHost));
    CLAIM(std::memcmp(from, to, 64) == 0);
    CLAIM(cudaMemcpyWithAttributesAsync(copy, linear, 65, &how, 0) == cudaErrorInvalidValue);
    CLAIM(cudaMemcpyWithAttributesAsync(copy, linear, 64, nullptr, 0) == cudaErrorInvalidValue);
    how.srcAccessOrder = (cudaMemcpySrcAccessOrder)9;
    CLAIM(cudaMemcpyWithAttributesAsync(copy, linear, 64, &how, 0) == cudaErrorInvalidValue);
}

static void batches() {
    unsigned short from[24], to[24] = {}, *linear = nullptr;
    for (int i = 0; i < 24; i++) from[i] = (unsigned short)(100 + i);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned short>(), wider = cudaCreateChannelDesc<int>();
    cudaArray_t array, other;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMalloc(&linear, 48));
    OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(6, 4, 0)));
    OK(cudaMalloc3DArray(&other, &wider, make_cudaExtent(6, 4, 0)));
    OK(cudaMemcpy(linear, from, 48, cudaMemcpyHostToDevice));
    cudaMemcpy3DBatchOp in = {}, out = {};
    in.src.type = cudaMemcpyOperandTypePointer;
    in.src.op.ptr.ptr = linear;
    in.dst.type = cudaMemcpyOperandTypeArray;
    in.dst.op.array.array = array;
    in.extent = make_cudaExtent(6, 4, 1);
    in.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemcpy3DBatchAsync(1, &in, 0, stream));
    out.src = in.dst;
    out.src.op.array.offset = {4, 1, 0};
    out.dst.type = cudaMemcpyOperandTypePointer;
    out.dst.op.ptr.ptr = to;
    out.dst.op.ptr.rowLength = 3;
    out.extent = make_cudaExtent(2, 3, 1);
    out.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    OK(cudaMemcpy3DWithAttributesAsync(&out, 0, stream));
    CLAIM(to[0] == 110 && to[1] == 111 && to[2] == 0 && to[3] == 116 && to[7] == 123);
    CLAIM(cudaMemcpy3DWithAttributesAsync(nullptr, 0, stream) == cudaErrorInvalidValue);
    CLAIM(cudaMemcpy3DWithAttributesAsync(&out, 1, stream) == cudaErrorInvalidValue);
    out.src.op.array.offset.x = 5; /* beyond the row */
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue);
    out.src.op.array.offset.x = SIZE_MAX / 2 + 1;
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue);
    out.src.op.array.offset.x = 0;
    out.dst.op.ptr.rowLength = 1;
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue);
    out.dst.type = cudaMemcpyOperandTypeArray;
    out.dst.op.array.array = other;
    out.dst.op.array.offset = {0, 0, 0};
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue); /* other elements */
    out.dst.op.array.array = (cudaArray_t)linear;
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue);
    out.dst.type = (cudaMemcpy3DOperandType)5;
    CLAIM(cudaMemcpy3DBatchAsync(1, &out, 0, stream) == cudaErrorInvalidValue);
}

static void allocating() {
    int host[4] = {}, nine = 9;
    cudaGraph_t graph, found = nullptr;
    cudaGraphNode_t get, run, copy, give;
    unsigned id = 0, local = 0;
    unsigned long long tools = 0;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphNodeParams params = node_of(cudaGraphNodeTypeMemAlloc);
    params.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    params.alloc.poolProps.location = {cudaMemLocationTypeDevice, {0}};
    params.alloc.bytesize = sizeof host;
    OK(cudaGraphAddNode(&get, graph, nullptr, nullptr, 0, &params));
    void *place = params.alloc.dptr, *known = nullptr;
    CLAIM(place != nullptr);
    void *arguments[] = {&place, &nine};
    params = node_of(cudaGraphNodeTypeKernel);
    params.kernel.func = (void *)filled<int>;
    params.kernel.gridDim = dim3(1);
    params.kernel.blockDim = dim3(4);
    params.kernel.kernelParams = arguments;
    OK(cudaGraphAddNode(&run, graph, &get, nullptr, 1, &params));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &run, 1, host, place, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddMemFreeNode(&give, graph, &copy, 1, place));
    for (int turn = 0; turn < 2; turn++) {
        std::memset(host, 0, sizeof host);
        launched(graph);
        CLAIM(host[0] == 9 && host[3] == 9);
    }
    cudaMemAllocNodeParams told;
    OK(cudaGraphMemAllocNodeGetParams(get, &told));
    CLAIM(told.bytesize == sizeof host && told.dptr == place);
    OK(cudaGraphMemFreeNodeGetParams(give, &known));
    CLAIM(known == place);
    OK(cudaGraphNodeGetParams(run, &params));
    CLAIM(params.type == cudaGraphNodeTypeKernel && params.kernel.func == (void *)filled<int> && params.kernel.blockDim.x == 4);
    CLAIM(params.kernel.functionType == cudaKernelFunctionTypeDeviceEntry && **(int ***)params.kernel.kernelParams == place);
    OK(cudaGraphNodeGetParams(copy, &params));
    CLAIM(params.memcpy.copyParams.srcPtr.ptr == place && params.memcpy.copyParams.dstPtr.ptr == host);
    CLAIM(params.memcpy.copyParams.kind == cudaMemcpyDeviceToHost && params.memcpy.copyParams.extent.width == sizeof host);
    OK(cudaGraphNodeGetParams(get, &params));
    CLAIM(params.type == cudaGraphNodeTypeMemAlloc && params.alloc.dptr == place);
    CLAIM(cudaGraphNodeGetParams(get, nullptr) == cudaErrorInvalidValue && cudaGraphNodeGetParams(nullptr, &params) != cudaSuccess);
    OK(cudaGraphNodeGetContainingGraph(run, &found));
    OK(cudaGraphGetId(graph, &id));
    OK(cudaGraphNodeGetLocalId(run, &local));
    OK(cudaGraphNodeGetToolsId(run, &tools));
    CLAIM(found == graph && local == 1 && tools != 0);
    std::size_t used = 1;
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
    OK(cudaDeviceGraphMemTrim(0));
    CLAIM(cudaDeviceGraphMemTrim(5) == cudaErrorInvalidDevice);
    OK(cudaGraphDestroy(graph));
}

int main(int count, char **arguments) {
    return told({{"nodes", nodes}, {"variables", variables}, {"conditions", conditions}, {"contexts", contexts},
                 {"groups", groups}, {"between", between}, {"batches", batches}, {"allocating", allocating}},
                count, arguments);
}
