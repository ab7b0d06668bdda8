/* Functions whose arguments are those of a function of the driver, passed on as they came. */
#include "runtime.h"

#define FORWARD0(name, target) \
    int target(void);          \
    EXPORTED int name(void) {  \
        START();               \
        return told(target()); \
    }
#define FORWARD1(name, target)  \
    int target(word);           \
    EXPORTED int name(word a) { \
        START();                \
        return told(target(a)); \
    }
#define FORWARD2(name, target)          \
    int target(word, word);             \
    EXPORTED int name(word a, word b) { \
        START();                        \
        return told(target(a, b));      \
    }
#define FORWARD3(name, target)                  \
    int target(word, word, word);               \
    EXPORTED int name(word a, word b, word c) { \
        START();                                \
        return told(target(a, b, c));           \
    }
#define FORWARD4(name, target)                          \
    int target(word, word, word, word);                 \
    EXPORTED int name(word a, word b, word c, word d) { \
        START();                                        \
        return told(target(a, b, c, d));                \
    }
#define FORWARD5(name, target)                                  \
    int target(word, word, word, word, word);                   \
    EXPORTED int name(word a, word b, word c, word d, word e) { \
        START();                                                \
        return told(target(a, b, c, d, e));                     \
    }
#define FORWARD6(name, target)                                          \
    int target(word, word, word, word, word, word);                     \
    EXPORTED int name(word a, word b, word c, word d, word e, word f) { \
        START();                                                        \
        return told(target(a, b, c, d, e, f));                          \
    }
#define FORWARD7(name, target)                                                  \
    int target(word, word, word, word, word, word, word);                       \
    EXPORTED int name(word a, word b, word c, word d, word e, word f, word g) { \
        START();                                                                \
        return told(target(a, b, c, d, e, f, g));                               \
    }
#define FORWARD8(name, target)                                                          \
    int target(word, word, word, word, word, word, word, word);                         \
    EXPORTED int name(word a, word b, word c, word d, word e, word f, word g, word h) { \
        START();                                                                        \
        return told(target(a, b, c, d, e, f, g, h));                                    \
    }

/* devices */
FORWARD2(cudaDeviceSetLimit, cuCtxSetLimit)
FORWARD2(cudaDeviceGetLimit, cuCtxGetLimit)
FORWARD1(cudaDeviceGetCacheConfig, cuCtxGetCacheConfig)
FORWARD1(cudaDeviceSetCacheConfig, cuCtxSetCacheConfig)
FORWARD2(cudaDeviceGetStreamPriorityRange, cuCtxGetStreamPriorityRange)
FORWARD2(cudaDeviceGetByPCIBusId, cuDeviceGetByPCIBusId)
FORWARD3(cudaDeviceGetPCIBusId, cuDeviceGetPCIBusId)
FORWARD4(cudaDeviceGetP2PAttribute, cuDeviceGetP2PAttribute)
FORWARD3(cudaDeviceCanAccessPeer, cuDeviceCanAccessPeer)
FORWARD2(cudaDeviceGetDefaultMemPool, cuDeviceGetDefaultMemPool)
FORWARD2(cudaDeviceGetMemPool, cuDeviceGetMemPool)
FORWARD2(cudaDeviceSetMemPool, cuDeviceSetMemPool)
FORWARD0(cudaCtxResetPersistingL2Cache, cuCtxResetPersistingL2Cache)
FORWARD0(cudaProfilerStart, cuProfilerStart)
FORWARD0(cudaProfilerStop, cuProfilerStop)
FORWARD2(cudaDeviceFlushGPUDirectRDMAWrites, cuFlushGPUDirectRDMAWrites)
FORWARD4(cudaDeviceGetHostAtomicCapabilities, cuDeviceGetHostAtomicCapabilities)
FORWARD5(cudaDeviceGetP2PAtomicCapabilities, cuDeviceGetP2PAtomicCapabilities)
FORWARD4(cudaDeviceRegisterAsyncNotification, cuDeviceRegisterAsyncNotification)
FORWARD2(cudaDeviceUnregisterAsyncNotification, cuDeviceUnregisterAsyncNotification)

/* parts of a device */
FORWARD3(cudaDeviceGetDevResource, cuDeviceGetDevResource)
FORWARD6(cudaDevSmResourceSplit, cuDevSmResourceSplit)
FORWARD6(cudaDevSmResourceSplitByCount, cuDevSmResourceSplitByCount)
FORWARD3(cudaDevResourceGenerateDesc, cuDevResourceGenerateDesc)
FORWARD3(cudaStreamGetDevResource, cuStreamGetDevResource)

/* what the driver has to tell */
FORWARD2(cudaLogsCurrent, cuLogsCurrent)
FORWARD3(cudaLogsDumpToFile, cuLogsDumpToFile)
FORWARD4(cudaLogsDumpToMemory, cuLogsDumpToMemory)
FORWARD3(cudaLogsRegisterCallback, cuLogsRegisterCallback)
FORWARD1(cudaLogsUnregisterCallback, cuLogsUnregisterCallback)

/* streams */
FORWARD2(cudaStreamCreateWithFlags, cuStreamCreate)
FORWARD3(cudaStreamCreateWithPriority, cuStreamCreateWithPriority)
FORWARD1(cudaStreamDestroy, cuStreamDestroy_v2)
FORWARD2(cudaStreamGetPriority, cuStreamGetPriority)
FORWARD2(cudaStreamGetFlags, cuStreamGetFlags)
FORWARD2(cudaStreamGetId, cuStreamGetId)
FORWARD2(cudaStreamGetDevice, cuStreamGetDevice)
FORWARD2(cudaStreamCopyAttributes, cuStreamCopyAttributes)
FORWARD3(cudaStreamGetAttribute, cuStreamGetAttribute)
FORWARD3(cudaStreamSetAttribute, cuStreamSetAttribute)
FORWARD3(cudaStreamWaitEvent, cuStreamWaitEvent)
FORWARD4(cudaStreamAddCallback, cuStreamAddCallback)
FORWARD3(cudaLaunchHostFunc, cuLaunchHostFunc)
FORWARD4(cudaLaunchHostFunc_v2, cuLaunchHostFunc_v2)
FORWARD1(cudaStreamSynchronize, cuStreamSynchronize)
FORWARD1(cudaStreamQuery, cuStreamQuery)
FORWARD4(cudaStreamAttachMemAsync, cuStreamAttachMemAsync)
FORWARD2(cudaStreamBeginCapture, cuStreamBeginCapture_v2)
FORWARD6(cudaStreamBeginCaptureToGraph, cuStreamBeginCaptureToGraph)
FORWARD2(cudaStreamEndCapture, cuStreamEndCapture)
FORWARD2(cudaStreamIsCapturing, cuStreamIsCapturing)
FORWARD7(cudaStreamGetCaptureInfo, cuStreamGetCaptureInfo_v3)
FORWARD5(cudaStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v2)
FORWARD1(cudaThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode)

/* events */
FORWARD2(cudaEventCreateWithFlags, cuEventCreate)
FORWARD2(cudaEventRecord, cuEventRecord)
FORWARD3(cudaEventRecordWithFlags, cuEventRecordWithFlags)
FORWARD1(cudaEventQuery, cuEventQuery)
FORWARD1(cudaEventSynchronize, cuEventSynchronize)
FORWARD1(cudaEventDestroy, cuEventDestroy_v2)
FORWARD3(cudaEventElapsedTime, cuEventElapsedTime)

/* memory */
FORWARD2(cudaMemGetInfo, cuMemGetInfo_v2)
FORWARD1(cudaHostUnregister, cuMemHostUnregister)
FORWARD3(cudaHostGetDevicePointer, cuMemHostGetDevicePointer_v2)
FORWARD2(cudaHostGetFlags, cuMemHostGetFlags)
FORWARD2(cudaFreeAsync, cuMemFreeAsync)
FORWARD4(cudaMallocFromPoolAsync, cuMemAllocFromPoolAsync)
FORWARD2(cudaMemPoolCreate, cuMemPoolCreate)
FORWARD1(cudaMemPoolDestroy, cuMemPoolDestroy)
FORWARD3(cudaMemGetDefaultMemPool, cuMemGetDefaultMemPool)
FORWARD3(cudaMemGetMemPool, cuMemGetMemPool)
FORWARD3(cudaMemSetMemPool, cuMemSetMemPool)
FORWARD4(cudaMemPoolExportToShareableHandle, cuMemPoolExportToShareableHandle)
FORWARD4(cudaMemPoolImportFromShareableHandle, cuMemPoolImportFromShareableHandle)
FORWARD2(cudaMemPoolExportPointer, cuMemPoolExportPointer)
FORWARD3(cudaMemPoolImportPointer, cuMemPoolImportPointer)
FORWARD5(cudaMemGetLocationInfo, cuMemGetLocationInfo)
FORWARD2(cudaMemPoolTrimTo, cuMemPoolTrimTo)
FORWARD3(cudaMemPoolSetAttribute, cuMemPoolSetAttribute)
FORWARD3(cudaMemPoolGetAttribute, cuMemPoolGetAttribute)
FORWARD3(cudaMemPoolSetAccess, cuMemPoolSetAccess)
FORWARD3(cudaMemPoolGetAccess, cuMemPoolGetAccess)
FORWARD5(cudaMemPrefetchAsync, cuMemPrefetchAsync_v2) /* a location is eight bytes, and travels in a register */
FORWARD4(cudaMemAdvise, cuMemAdvise_v2)
FORWARD5(cudaMemRangeGetAttribute, cuMemRangeGetAttribute)
FORWARD6(cudaMemRangeGetAttributes, cuMemRangeGetAttributes)
FORWARD2(cudaIpcGetMemHandle, cuIpcGetMemHandle)
FORWARD1(cudaIpcCloseMemHandle, cuIpcCloseMemHandle)
FORWARD2(cudaIpcGetEventHandle, cuIpcGetEventHandle)

/* arrays, textures, surfaces */
FORWARD1(cudaFreeMipmappedArray, cuMipmappedArrayDestroy)
FORWARD3(cudaGetMipmappedArrayLevel, cuMipmappedArrayGetLevel)
FORWARD3(cudaArrayGetMemoryRequirements, cuArrayGetMemoryRequirements)
FORWARD3(cudaMipmappedArrayGetMemoryRequirements, cuMipmappedArrayGetMemoryRequirements)
FORWARD2(cudaArrayGetSparseProperties, cuArrayGetSparseProperties)
FORWARD2(cudaMipmappedArrayGetSparseProperties, cuMipmappedArrayGetSparseProperties)
FORWARD3(cudaArrayGetPlane, cuArrayGetPlane)
FORWARD1(cudaDestroyTextureObject, cuTexObjectDestroy)
FORWARD2(cudaGetTextureObjectResourceViewDesc, cuTexObjectGetResourceViewDesc)
FORWARD1(cudaDestroySurfaceObject, cuSurfObjectDestroy)

/* libraries of code */
FORWARD8(cudaLibraryLoadData, cuLibraryLoadData)
FORWARD8(cudaLibraryLoadFromFile, cuLibraryLoadFromFile)
FORWARD1(cudaLibraryUnload, cuLibraryUnload)
FORWARD4(cudaLibraryGetGlobal, cuLibraryGetGlobal)
FORWARD4(cudaLibraryGetManaged, cuLibraryGetManaged)
FORWARD3(cudaLibraryGetUnifiedFunction, cuLibraryGetUnifiedFunction)
FORWARD2(cudaLibraryGetKernelCount, cuLibraryGetKernelCount)
FORWARD3(cudaLibraryEnumerateKernels, cuLibraryEnumerateKernels)
FORWARD5(cudaGetDriverEntryPointByVersion, cuGetProcAddress_v2)

/* graphs */
FORWARD2(cudaGraphCreate, cuGraphCreate)
FORWARD1(cudaGraphDestroy, cuGraphDestroy)
FORWARD2(cudaGraphClone, cuGraphClone)
FORWARD1(cudaGraphDestroyNode, cuGraphDestroyNode)
FORWARD3(cudaGraphNodeFindInClone, cuGraphNodeFindInClone)
FORWARD2(cudaGraphNodeGetType, cuGraphNodeGetType)
FORWARD3(cudaGraphGetNodes, cuGraphGetNodes)
FORWARD3(cudaGraphGetRootNodes, cuGraphGetRootNodes)
FORWARD5(cudaGraphGetEdges, cuGraphGetEdges_v2)
FORWARD4(cudaGraphNodeGetDependencies, cuGraphNodeGetDependencies_v2)
FORWARD4(cudaGraphNodeGetDependentNodes, cuGraphNodeGetDependentNodes_v2)
FORWARD5(cudaGraphAddDependencies, cuGraphAddDependencies_v2)
FORWARD5(cudaGraphRemoveDependencies, cuGraphRemoveDependencies_v2)
FORWARD4(cudaGraphAddEmptyNode, cuGraphAddEmptyNode)
FORWARD5(cudaGraphAddHostNode, cuGraphAddHostNode)
FORWARD2(cudaGraphHostNodeGetParams, cuGraphHostNodeGetParams)
FORWARD2(cudaGraphHostNodeSetParams, cuGraphHostNodeSetParams)
FORWARD5(cudaGraphAddChildGraphNode, cuGraphAddChildGraphNode)
FORWARD2(cudaGraphChildGraphNodeGetGraph, cuGraphChildGraphNodeGetGraph)
FORWARD5(cudaGraphAddEventRecordNode, cuGraphAddEventRecordNode)
FORWARD5(cudaGraphAddEventWaitNode, cuGraphAddEventWaitNode)
FORWARD2(cudaGraphEventRecordNodeGetEvent, cuGraphEventRecordNodeGetEvent)
FORWARD2(cudaGraphEventRecordNodeSetEvent, cuGraphEventRecordNodeSetEvent)
FORWARD2(cudaGraphEventWaitNodeGetEvent, cuGraphEventWaitNodeGetEvent)
FORWARD2(cudaGraphEventWaitNodeSetEvent, cuGraphEventWaitNodeSetEvent)
FORWARD3(cudaGraphExecEventRecordNodeSetEvent, cuGraphExecEventRecordNodeSetEvent)
FORWARD3(cudaGraphExecEventWaitNodeSetEvent, cuGraphExecEventWaitNodeSetEvent)
FORWARD2(cudaGraphMemsetNodeGetParams, cuGraphMemsetNodeGetParams)
FORWARD2(cudaGraphMemsetNodeSetParams, cuGraphMemsetNodeSetParams)
FORWARD5(cudaGraphAddMemAllocNode, cuGraphAddMemAllocNode)
FORWARD5(cudaGraphAddMemFreeNode, cuGraphAddMemFreeNode)
FORWARD2(cudaGraphKernelNodeCopyAttributes, cuGraphKernelNodeCopyAttributes)
FORWARD3(cudaGraphKernelNodeGetAttribute, cuGraphKernelNodeGetAttribute)
FORWARD3(cudaGraphKernelNodeSetAttribute, cuGraphKernelNodeSetAttribute)
FORWARD3(cudaGraphInstantiate, cuGraphInstantiateWithFlags)
FORWARD3(cudaGraphInstantiateWithFlags, cuGraphInstantiateWithFlags)
FORWARD3(cudaGraphInstantiateWithParams, cuGraphInstantiateWithParams)
FORWARD2(cudaGraphExecGetFlags, cuGraphExecGetFlags)
FORWARD3(cudaGraphExecHostNodeSetParams, cuGraphExecHostNodeSetParams)
FORWARD3(cudaGraphExecChildGraphNodeSetParams, cuGraphExecChildGraphNodeSetParams)
FORWARD3(cudaGraphExecUpdate, cuGraphExecUpdate_v2)
FORWARD3(cudaGraphNodeSetEnabled, cuGraphNodeSetEnabled)
FORWARD3(cudaGraphNodeGetEnabled, cuGraphNodeGetEnabled)
FORWARD2(cudaGraphUpload, cuGraphUpload)
FORWARD2(cudaGraphLaunch, cuGraphLaunch)
FORWARD1(cudaGraphExecDestroy, cuGraphExecDestroy)
FORWARD3(cudaGraphDebugDotPrint, cuGraphDebugDotPrint)
FORWARD2(cudaGraphGetId, cuGraphGetId)
FORWARD2(cudaGraphExecGetId, cuGraphExecGetId)
FORWARD2(cudaGraphNodeGetContainingGraph, cuGraphNodeGetContainingGraph)
FORWARD2(cudaGraphNodeGetLocalId, cuGraphNodeGetLocalId)
FORWARD2(cudaGraphNodeGetToolsId, cuGraphNodeGetToolsId)
FORWARD2(cudaGraphMemAllocNodeGetParams, cuGraphMemAllocNodeGetParams)
FORWARD2(cudaGraphMemFreeNodeGetParams, cuGraphMemFreeNodeGetParams)
FORWARD5(cudaUserObjectCreate, cuUserObjectCreate)
FORWARD2(cudaUserObjectRetain, cuUserObjectRetain)
FORWARD2(cudaUserObjectRelease, cuUserObjectRelease)
FORWARD4(cudaGraphRetainUserObject, cuGraphRetainUserObject)
FORWARD3(cudaGraphReleaseUserObject, cuGraphReleaseUserObject)
FORWARD1(cudaDeviceGraphMemTrim, cuDeviceGraphMemTrim)
FORWARD3(cudaDeviceGetGraphMemAttribute, cuDeviceGetGraphMemAttribute)
FORWARD3(cudaDeviceSetGraphMemAttribute, cuDeviceSetGraphMemAttribute)

/* those that take one argument less */
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

/* Handles of other processes are 64 bytes, given by value. */
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
FORWARD8(cudaMemcpyBatchAsync, cuMemcpyBatchAsync_v2)
FORWARD5(cudaMemcpyWithAttributesAsync, cuMemcpyWithAttributesAsync)
FORWARD3(cudaMemcpy3DWithAttributesAsync, cuMemcpy3DWithAttributesAsync)
FORWARD4(cudaMemcpy3DBatchAsync, cuMemcpy3DBatchAsync_v2)
FORWARD8(cudaMemPrefetchBatchAsync, cuMemPrefetchBatchAsync)
FORWARD8(cudaMemDiscardAndPrefetchBatchAsync, cuMemDiscardAndPrefetchBatchAsync)
FORWARD5(cudaMemDiscardBatchAsync, cuMemDiscardBatchAsync)
