/* Functions with the arguments of a driver function, to which they are forwarded unchanged. */
#include "runtime.h"

/* FORWARD(3, name, target): a function with three word-sized arguments, which `target` takes. */
#define PARAMETERS_0 void
#define PARAMETERS_1 word a
#define PARAMETERS_2 word a, word b
#define PARAMETERS_3 word a, word b, word c
#define PARAMETERS_4 word a, word b, word c, word d
#define PARAMETERS_5 word a, word b, word c, word d, word e
#define PARAMETERS_6 word a, word b, word c, word d, word e, word f
#define PARAMETERS_7 word a, word b, word c, word d, word e, word f, word g
#define PARAMETERS_8 word a, word b, word c, word d, word e, word f, word g, word h
#define ARGUMENTS_0
#define ARGUMENTS_1 a
#define ARGUMENTS_2 a, b
#define ARGUMENTS_3 a, b, c
#define ARGUMENTS_4 a, b, c, d
#define ARGUMENTS_5 a, b, c, d, e
#define ARGUMENTS_6 a, b, c, d, e, f
#define ARGUMENTS_7 a, b, c, d, e, f, g
#define ARGUMENTS_8 a, b, c, d, e, f, g, h
#define FORWARD(count, name, target)            \
    int target(PARAMETERS_##count);             \
    EXPORTED int name(PARAMETERS_##count) {     \
        START();                                \
        return told(target(ARGUMENTS_##count)); \
    }

/* devices */
FORWARD(2, cudaDeviceSetLimit, cuCtxSetLimit)
FORWARD(2, cudaDeviceGetLimit, cuCtxGetLimit)
FORWARD(1, cudaDeviceGetCacheConfig, cuCtxGetCacheConfig)
FORWARD(1, cudaDeviceSetCacheConfig, cuCtxSetCacheConfig)
FORWARD(2, cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange)
FORWARD(2, cudaDeviceGetByPCIBusId, cuDeviceGetByPCIBusId)
FORWARD(3, cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId)
FORWARD(4, cudaDeviceGetP2PAttribute, cuDeviceGetP2PAttribute)
FORWARD(3, cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer)
FORWARD(2, cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)
FORWARD(2, cudaDeviceGetMemPool, cuDeviceGetMemPool)
FORWARD(2, cudaDeviceSetMemPool, cuDeviceSetMemPool)
FORWARD(0, cudaCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache)
FORWARD(0, cudaProfilerStart, cuProfilerStart)
FORWARD(0, cudaProfilerStop, cuProfilerStop)
FORWARD(2, cudaDeviceFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites)
FORWARD(4, cudaDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities)
FORWARD(5, cudaDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities)
FORWARD(4, cudaDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification)
FORWARD(2, cudaDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification)

/* parts of a device */
FORWARD(3, cudaDeviceGetDevResource, cuDeviceGetDevResource)
FORWARD(6, cudaDevSmResourceSplit, cuDevSmResourceSplit)
FORWARD(6, cudaDevSmResourceSplitByCount, cuDevSmResourceSplitByCount)
FORWARD(3, cudaDevResourceGenerateDesc, cuDevResourceGenerateDesc)
FORWARD(3, cudaStreamGetDevResource, cuStreamGetDevResource)

/* the driver's data */
FORWARD(2, cudaLogsCurrent, cuLogsCurrent)
FORWARD(3, cudaLogsDumpToFile, cuLogsDumpToFile)
FORWARD(4, cudaLogsDumpToMemory, cuLogsDumpToMemory)
FORWARD(3, cudaLogsRegisterCallback, cuLogsRegisterCallback)
FORWARD(1, cudaLogsUnregisterCallback, cuLogsUnregisterCallback)

/* streams */
FORWARD(2, cudaStreamCreateWithFlags, cuStreamCreate)
FORWARD(3, cudaStreamCreateWithPriority, cuStreamCreateWithPriority)
FORWARD(1, cudaStreamDestroy, cuStreamDestroy_v2)
FORWARD(2, cudaStreamGetPriority, cuStreamGetPriority)
FORWARD(2, cudaStreamGetFlags, cuStreamGetFlags)
FORWARD(2, cudaStreamGetId, cuStreamGetId)
FORWARD(2, cudaStreamGetDevice, cuStreamGetDevice)
FORWARD(2, cudaStreamCopyAttributes, cuStreamCopyAttributes)
FORWARD(3, cudaStreamGetAttribute, cuStreamGetAttribute)
FORWARD(3, cudaStreamSetAttribute, cuStreamSetAttribute)
FORWARD(3, cudaStreamWaitEvent, cuStreamWaitEvent)
FORWARD(4, cudaStreamAddCallback, cuStreamAddCallback)
FORWARD(3, cudaLaunchHostFunc, cuLaunchHostFunc)
FORWARD(4, cudaLaunchHostFunc_v2, cuLaunchHostFunc_v2)
FORWARD(1, cudaStreamSynchronize, cuStreamSynchronize)
FORWARD(1, cudaStreamQuery, cuStreamQuery)
FORWARD(4, cudaStreamAttachMemAsync, cuStreamAttachMemAsync)
FORWARD(2, cudaStreamBeginCapture, cuStreamBeginCapture_v2)
FORWARD(6, cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph)
FORWARD(2, cudaStreamEndCapture, cuStreamEndCapture)
FORWARD(2, cudaStreamIsCapturing, cuStreamIsCapturing)
FORWARD(7, cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3)
FORWARD(5, cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2)
FORWARD(1, cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)

/* events */
FORWARD(2, cudaEventCreateWithFlags, cuEventCreate)
FORWARD(2, cudaEventRecord, cuEventRecord)
FORWARD(3, cudaEventRecordWithFlags, cuEventRecordWithFlags)
FORWARD(1, cudaEventQuery, cuEventQuery)
FORWARD(1, cudaEventSynchronize, cuEventSynchronize)
FORWARD(1, cudaEventDestroy, cuEventDestroy_v2)
FORWARD(3, cudaEventElapsedTime, cuEventElapsedTime)

/* memory */
FORWARD(2, cudaMemGetInfo, cuMemGetInfo_v2)
FORWARD(1, cudaHostUnregister, cuMemHostUnregister)
FORWARD(3, cudaHostGetDevicePointer, cuMemHostGetDevicePointer_v2)
FORWARD(2, cudaHostGetFlags, cuMemHostGetFlags)
FORWARD(2, cudaFreeAsync, cuMemFreeAsync)
FORWARD(4, cudaMallocFromPoolAsync, cuMemAllocFromPoolAsync)
FORWARD(2, cudaMemPoolCreate, cuMemPoolCreate)
FORWARD(1, cudaMemPoolDestroy, cuMemPoolDestroy)
FORWARD(3, cudaMemGetDefaultMemPool, cuMemGetDefaultMemPool)
FORWARD(3, cudaMemGetMemPool, cuMemGetMemPool)
FORWARD(3, cudaMemSetMemPool, cuMemSetMemPool)
FORWARD(4, cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle)
FORWARD(4, cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle)
FORWARD(2, cudaMemPoolExportPointer, cuMemPoolExportPointer)
FORWARD(3, cudaMemPoolImportPointer, cuMemPoolImportPointer)
FORWARD(5, cudaMemGetLocationInfo, cuMemGetLocationInfo)
FORWARD(2, cudaMemPoolTrimTo, cuMemPoolTrimTo)
FORWARD(3, cudaMemPoolSetAttribute, cuMemPoolSetAttribute)
FORWARD(3, cudaMemPoolGetAttribute, cuMemPoolGetAttribute)
FORWARD(3, cudaMemPoolSetAccess, cuMemPoolSetAccess)
FORWARD(3, cudaMemPoolGetAccess, cuMemPoolGetAccess)
FORWARD(5, cudaMemPrefetchAsync, cuMemPrefetchAsync_v2) /* a location is eight bytes, passed in a register */
FORWARD(4, cudaMemAdvise, cuMemAdvise_v2)
FORWARD(5, cudaMemRangeGetAttribute, cuMemRangeGetAttribute)
FORWARD(6, cudaMemRangeGetAttributes, cuMemRangeGetAttributes)
FORWARD(2, cudaIpcGetMemHandle, cuIpcGetMemHandle)
FORWARD(1, cudaIpcCloseMemHandle, cuIpcCloseMemHandle)
FORWARD(2, cudaIpcGetEventHandle, cuIpcGetEventHandle)

/* arrays, textures, surfaces */
FORWARD(1, cudaFreeMipmappedArray, cuMipmappedArrayDestroy)
FORWARD(3, cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel)
FORWARD(3, cudaArrayGetMemoryRequirements, cuArrayGetMemoryRequirements)
FORWARD(3, cudaMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements)
FORWARD(2, cudaArrayGetSparseProperties, cuArrayGetSparseProperties)
FORWARD(2, cudaMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties)
FORWARD(3, cudaArrayGetPlane, cuArrayGetPlane)
FORWARD(1, cudaDestroyTextureObject, cuTexObjectDestroy)
FORWARD(2, cudaGetTextureObjectResourceViewDesc, cuTexObjectGetResourceViewDesc)
FORWARD(1, cudaDestroySurfaceObject, cuSurfObjectDestroy)

/* libraries of code */
FORWARD(8, cudaLibraryLoadData, cuLibraryLoadData)
FORWARD(8, cudaLibraryLoadFromFile, cuLibraryLoadFromFile)
FORWARD(1, cudaLibraryUnload, cuLibraryUnload)
FORWARD(4, cudaLibraryGetGlobal, cuLibraryGetGlobal)
FORWARD(4, cudaLibraryGetManaged, cuLibraryGetManaged)
FORWARD(3, cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction)
FORWARD(2, cudaLibraryGetKernelCount, cuLibraryGetKernelCount)
FORWARD(3, cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels)
FORWARD(5, cudaGetDriverEntryPointByVersion, cuGetProcAddress_v2)

/* graphs */
FORWARD(2, cudaGraphCreate, cuGraphCreate)
FORWARD(1, cudaGraphDestroy, cuGraphDestroy)
FORWARD(2, cudaGraphClone, cuGraphClone)
FORWARD(1, cudaGraphDestroyNode, cuGraphDestroyNode)
FORWARD(3, cudaGraphNodeFindInClone, cuGraphNodeFindInClone)
FORWARD(2, cudaGraphNodeGetType, cuGraphNodeGetType)
FORWARD(3, cudaGraphGetNodes, cuGraphGetNodes)
FORWARD(3, cudaGraphGetRootNodes, cuGraphGetRootNodes)
FORWARD(5, cudaGraphGetEdges, cuGraphGetEdges_v2)
FORWARD(4, cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2)
FORWARD(4, cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2)
FORWARD(5, cudaGraphAddDependencies, cuGraphAddDependencies_v2)
FORWARD(5, cudaGraphRemoveDependencies, cuGraphRemoveDependencies_v2)
FORWARD(4, cudaGraphAddEmptyNode, cuGraphAddEmptyNode)
FORWARD(5, cudaGraphAddHostNode, cuGraphAddHostNode)
FORWARD(2, cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams)
FORWARD(2, cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams)
FORWARD(5, cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode)
FORWARD(2, cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph)
FORWARD(5, cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode)
FORWARD(5, cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode)
FORWARD(2, cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent)
FORWARD(2, cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent)
FORWARD(2, cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent)
FORWARD(2, cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent)
FORWARD(3, cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent)
FORWARD(3, cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent)
FORWARD(2, cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams)
FORWARD(2, cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams)
FORWARD(5, cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode)
FORWARD(5, cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode)
FORWARD(2, cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes)
FORWARD(3, cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute)
FORWARD(3, cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute)
FORWARD(3, cudaGraphInstantiate, cuGraphInstantiateWithFlags)
FORWARD(3, cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)
FORWARD(3, cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams)
FORWARD(2, cudaGraphExecGetFlags, cuGraphExecGetFlags)
FORWARD(3, cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams)
FORWARD(3, cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams)
FORWARD(3, cudaGraphExecUpdate, cuGraphExecUpdate_v2)
FORWARD(3, cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled)
FORWARD(3, cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled)
FORWARD(2, cudaGraphUpload, cuGraphUpload)
FORWARD(2, cudaGraphLaunch, cuGraphLaunch)
FORWARD(1, cudaGraphExecDestroy, cuGraphExecDestroy)
FORWARD(3, cudaGraphDebugDotPrint, cuGraphDebugDotPrint)
FORWARD(2, cudaGraphGetId, cuGraphGetId)
FORWARD(2, cudaGraphExecGetId, cuGraphExecGetId)
FORWARD(2, cudaGraphNodeGetContainingGraph, cuGraphNodeGetContainingGraph)
FORWARD(2, cudaGraphNodeGetLocalId, cuGraphNodeGetLocalId)
FORWARD(2, cudaGraphNodeGetToolsId, cuGraphNodeGetToolsId)
FORWARD(2, cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams)
FORWARD(2, cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams)
FORWARD(5, cudaUserObjectCreate, cuUserObjectCreate)
FORWARD(2, cudaUserObjectRetain, cuUserObjectRetain)
FORWARD(2, cudaUserObjectRelease, cuUserObjectRelease)
FORWARD(4, cudaGraphRetainUserObject, cuGraphRetainUserObject)
FORWARD(3, cudaGraphReleaseUserObject, cuGraphReleaseUserObject)
FORWARD(1, cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim)
FORWARD(3, cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute)
FORWARD(3, cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute)

/* functions with one argument less than the driver's */
int cuCtxEnablePeerAccess(handle context, unsigned flags);
int cuCtxDisablePeerAccess(handle context);
int cuDevicePrimaryCtxRetain(handle *context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);

EXPORTED int cudaStreamCreate(word stream) { return cudaStreamCreateWithFlags(stream, 0); }

EXPORTED int cudaEventCreate(word event) { return cudaEventCreateWithFlags(event, 0); }

EXPORTED int cudaDeviceEnablePeerAccess(int device, unsigned flags) {
    handle context;
    START();
    int failed = cuDevicePrimaryCtxRetain(&context, device);
    if (!failed) failed = cuCtxEnablePeerAccess(context, flags);
    return told(failed);
}

EXPORTED int cudaDeviceDisablePeerAccess(int device) {
    handle context;
    START();
    int failed = cuDevicePrimaryCtxRetain(&context, device);
    if (failed) return told(failed);
    failed = cuCtxDisablePeerAccess(context);
    cuDevicePrimaryCtxRelease_v2(device);
    return told(failed);
}

extern const int runtime_version;

EXPORTED int cudaGetDriverEntryPoint(word name, word address, word flags, word status) {
    return cudaGetDriverEntryPointByVersion(name, address, (word)runtime_version, flags, status);
}

/* Handles of other processes are 64 bytes, passed by value. */
struct ipc_handle {
    char bytes[64];
};
int cuIpcOpenMemHandle_v2(char **address, struct ipc_handle given, unsigned flags);
int cuIpcOpenEventHandle(handle *event, struct ipc_handle given);

EXPORTED int cudaIpcOpenMemHandle(char **address, struct ipc_handle given, unsigned flags) {
    START();
    return told(cuIpcOpenMemHandle_v2(address, given, flags));
}

EXPORTED int cudaIpcOpenEventHandle(handle *event, struct ipc_handle given) {
    START();
    return told(cuIpcOpenEventHandle(event, given));
}

/* batches */
FORWARD(8, cudaMemcpyBatchAsync, cuMemcpyBatchAsync_v2)
FORWARD(5, cudaMemcpyWithAttributesAsync, cuMemcpyWithAttributesAsync)
FORWARD(3, cudaMemcpy3DWithAttributesAsync, cuMemcpy3DWithAttributesAsync)
FORWARD(4, cudaMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_v2)
FORWARD(8, cudaMemPrefetchBatchAsync, cuMemPrefetchBatchAsync)
FORWARD(8, cudaMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync)
FORWARD(5, cudaMemDiscardBatchAsync, cuMemDiscardBatchAsync)
